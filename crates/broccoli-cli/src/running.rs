//! Runs a search: when to stop, how many threads, what is shown and what is kept.

use std::cell::{OnceCell, RefCell};
use std::io::{self, IsTerminal};
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::time::{Duration, Instant};

use broccoli_blackbox::Watch;
use broccoli_core::problem::{Problem, SystemFactory};
use broccoli_core::search::{
    Checkpoint, Engine, Event, Explanation, Failure, Observer, Optima, Outcome, Search, StartError,
    Statistics, Status, Stop, StopReason, explain,
};
use broccoli_core::tree::Tree;
use broccoli_export::choices::More;
use broccoli_export::history::{History, Moment};
use broccoli_export::stages::StageJson;
use broccoli_problem::Target;
use clap::Args;

use crate::certificate::CertificateFile;
use crate::checkpoint::{About, CheckpointFile};
use crate::complaint::Complaint;
use crate::keeper::FileKeeper;
use crate::numbers::{finite, memory, time_span, whole};
use crate::progress::{How, Known, Progress};
use crate::remember::{self, RememberOptions, Remembered};
use crate::screen::note;
use crate::stopper::Stopper;
use crate::target::{over_at_reset, over_words, short_check};

/// The most threads that can be asked for.
const MOST_THREADS: u64 = 1024;

/// What the program itself takes of the memory, about.
const OWN_MEMORY: usize = 8 << 20;

/// The options about a run, which a run that goes on with a search has anew.
#[derive(Debug, Args)]
pub struct RunOptions {
    /// Use up to T threads, each with a system of its own; the answer does not depend on it, and there may be more than
    /// cores [default: one for each core; for a program that waits more than half of the time, 8, or twice the cores if
    /// that is more]
    #[arg(long, value_name = "T", env = "BROCCOLI_THREADS", hide_env_values = true,
          allow_hyphen_values = true, value_parser = whole::<usize>(1..=MOST_THREADS))]
    threads: Option<usize>,

    /// Stop after this time, such as 500ms, 30s, 5min or 2h, with the best so far
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = time_span)]
    time_limit: Option<Duration>,

    /// Stop after N queries, with the best so far; the same N gives the same result, unless
    /// several threads share what is remembered
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = whole::<u64>(0..=u64::MAX))]
    query_limit: Option<u64>,

    /// Take at most this much memory, such as 500MB or 2GiB: when it is used up nothing more is remembered, and the
    /// search goes on in a way that keeps nothing; when that does not suffice it stops, with the best so far
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = memory)]
    memory_limit: Option<usize>,

    #[command(flatten)]
    remember: RememberOptions,

    /// What it was before `--remember`.
    #[arg(long, hide = true, allow_hyphen_values = true)]
    cache: Option<String>,

    /// Stop at the first tree that reaches the goal, or survives the whole horizon
    #[arg(long)]
    first: bool,

    /// Stop at the first tree whose value is at least as good: so many steps, or a number
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true, value_parser = finite)]
    good_enough: Option<f64>,

    /// Do not try a foreign system for a moment before relying on it
    #[arg(long)]
    no_check: bool,

    /// Show progress even if standard error is not a terminal; `--progress json` writes events for programs
    #[arg(long, value_name = "HOW", num_args = 0..=1, default_missing_value = "text", hide_possible_values = true)]
    progress: Option<How>,
}

/// What to search, and from where.
#[derive(Default)]
pub struct Plan {
    /// None leaves the choice to the library.
    pub engine: Option<Engine>,
    pub gap: Option<f64>,
    pub start: Option<Tree>,
    /// An earlier search to go on with, instead of all that.
    pub resumed: Option<Checkpoint>,
    /// How long its system is asked again for what it answered.
    pub patience: Duration,
    pub certificate: Option<CertificateFile>,
    pub wanted: Wanted,
}

/// What is wanted of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// The best tree.
    #[default]
    Best,
    /// The best tree of every size.
    Front,
    /// Up to so many optimal trees.
    AllOptimal(NonZeroUsize),
}

impl Wanted {
    /// Runs the search.
    fn run(self, search: Search<'_>) -> Result<(Outcome, More), Box<Failure>> {
        match self {
            Wanted::Best => search.run().map(|outcome| (outcome, More::Nothing)),
            Wanted::Front => search.front().map(|front| (front.outcome, More::Front(front.parts))),
            Wanted::AllOptimal(most) => search.all_optimal(most).map(|optima| {
                let Optima { outcome, trees, is_complete } = optima;
                (outcome, More::AllOptimal { trees, is_complete })
            }),
        }
    }
}

/// Where checkpoints go.
pub struct Kept {
    pub file: CheckpointFile,
    pub interval: Duration,
    pub about: About,
    /// The target, if the search can only be gone on with by naming it.
    pub target: Option<String>,
}

/// A search that has ended.
pub struct Searched {
    pub found: Result<Outcome, Box<Failure>>,
    /// What was asked for besides the best tree.
    pub more: More,
    /// How long it took, those runs included that were gone on with.
    pub seconds: f64,
    pub threads: usize,
    /// Which of several initial states are to blame if no tree exists.
    pub explanation: Option<Explanation>,
    /// When better trees were found and bounds proved.
    pub history: Vec<Moment>,
    /// The searches on coarser grids and the last one, if there were several.
    pub stages: Vec<StageJson>,
    /// Whether the certificate, if there is to be one, was written.
    pub certified: Result<(), Complaint>,
}

/// What several searches of one command share: their limits are for all of them together.
pub struct Session {
    started: Instant,
    stopper: Option<Stopper>,
    /// Those of the searches before.
    queries: u64,
    /// How many threads the first of them had.
    threads: Option<NonZeroUsize>,
    /// Which of several searches is next, from 1; none if there is one only.
    stage: Option<usize>,
}

impl Session {
    /// One search.
    pub fn new() -> Self {
        Session { started: Instant::now(), stopper: None, queries: 0, threads: None, stage: None }
    }

    /// The first of several searches.
    pub fn of_stages() -> Self {
        Session { stage: Some(1), ..Session::new() }
    }

    /// Counts a search that has ended.
    fn end_stage(&mut self, statistics: &Statistics) {
        self.queries += statistics.queries + statistics.replayed;
        self.stage = self.stage.map(|stage| stage + 1);
    }

    /// Why no other search should begin.
    pub fn stop_reason(&self) -> Option<StopReason> {
        self.stopper.as_ref().and_then(Stop::reason)
    }
}

impl RunOptions {
    /// Runs a search.
    pub fn run(
        &self,
        target: &Target,
        problem: &Problem,
        plan: Plan,
        kept: Option<Kept>,
    ) -> Result<Searched, SearchError> {
        self.run_in(&mut Session::new(), target, problem, plan, kept)
    }

    /// Whether the first tree is enough.
    pub fn is_first(&self) -> bool {
        self.first || self.good_enough.is_some()
    }

    /// Runs one of the searches of a session.
    pub fn run_in(
        &self,
        session: &mut Session,
        target: &Target,
        problem: &Problem,
        mut plan: Plan,
        kept: Option<Kept>,
    ) -> Result<Searched, SearchError> {
        let asked = &target.search;
        let time_limit = self.time_limit.or(asked.time_limit);
        let factory = Watch::new(&*target.factory, &target.name);
        let started = session.started;
        let earlier = kept.as_ref().map_or(0.0, |kept| kept.about.seconds);
        let clock = move || earlier + started.elapsed().as_secs_f64();
        let moments = kept.as_ref().map_or_else(Vec::new, |kept| kept.about.history.clone());
        let history = RefCell::new(History::new(problem.objective(), Box::new(clock) as _).after(moments));
        let known = Known::new(problem, time_limit, plan.resumed.as_ref()).after(
            started,
            session.queries,
            session.stage,
        );
        let mut threads = self.threads.and_then(NonZeroUsize::new).unwrap_or_else(cores);

        let engine = plan.engine.unwrap_or(Engine::Behaviour);
        let certificate = plan.certificate.take().map(Rc::new);
        let (wanted, patience, asked_since) = (plan.wanted, plan.patience, OnceCell::new());
        let has_time = || asked_since.get_or_init(Instant::now).elapsed() < patience;
        let mut search = plan.search(problem, &factory, kept.as_ref())?.ask_again_while(&has_time);
        if let Some(queries) = self.query_limit.or(asked.query_limit) {
            search = search.query_limit(queries.saturating_sub(session.queries));
        }
        if self.first || asked.first {
            search = search.first();
        }
        if let Some(value) = self.good_enough {
            search = search.good_enough(value);
        }
        if let Some(bytes) = self.memory() {
            search = search.memory_limit(if target.remembers() { remember::rest(bytes) } else { bytes });
        }
        if let Some(certificate) = &certificate {
            search = search.witness(certificate.witness());
        }
        let is_begun = session.stopper.is_some();
        let stopper = match session.stopper.take() {
            Some(stopper) => stopper,
            None => Stopper::new(time_limit, self.memory_limit)?,
        };
        let stopper = &*session.stopper.insert(stopper);
        let checked = match (is_begun, target.is_foreign, self.no_check) {
            (false, true, false) => workers_after(|| short_check(target, problem)),
            // What fails here fails in the search, which tells it better.
            (false, false, _) => Ok((over_at_reset(target, problem).unwrap_or_default(), threads)),
            _ => Ok((Vec::new(), session.threads.unwrap_or(threads))),
        };
        if let Ok((over, workers)) = &checked {
            for what in over_words(problem, over) {
                note(format_args!("warning: {what}"));
            }
            if self.threads.is_none() {
                threads = *workers;
            }
        }
        session.threads = Some(threads);
        search = search.threads(threads);
        if let Err(error) = checked {
            let failure = Failure { engine, error, best: None, statistics: Statistics::default() };
            return Ok(Searched {
                found: Err(Box::new(failure)),
                more: More::Nothing,
                seconds: earlier,
                threads: threads.get(),
                explanation: None,
                history: history.into_inner().into_moments(),
                stages: Vec::new(),
                certified: Ok(()),
            });
        }
        let mut progress = Progress::start(self.progress, io::stderr().is_terminal(), known);
        let mut keeper =
            kept.map(|kept| FileKeeper::new(kept, &history, Box::new(clock), certificate.clone()));
        if let Some(keeper) = &mut keeper {
            search = search.keeper(keeper);
        }
        let mut observer = |event: Event<'_>| {
            history.borrow_mut().notify(event);
            if let Some(progress) = &mut progress {
                progress.notify(event);
            }
        };
        let (found, more) = match wanted.run(search.observer(&mut observer).stop(stopper)) {
            Ok((outcome, more)) => (Ok(outcome), more),
            Err(failure) => (Err(failure), More::Nothing),
        };
        let seconds = clock();
        let explanation = match &found {
            Ok(Outcome { status: Status::Infeasible, statistics, .. })
                if problem.initial_states().len() > 1 =>
            {
                // One state alone can take as many as the search. Some more, but not less than is soon done.
                let queries = statistics.queries.saturating_add(statistics.queries / 2).max(10_000);
                Some(explain(problem, &factory, queries, Some(stopper)))
            }
            _ => None,
        };
        drop(progress);
        let certified = match (&certificate, &found) {
            (Some(certificate), Ok(outcome)) => certificate.end(problem, &factory, outcome),
            _ => Ok(()),
        };
        if let Some(keeper) = keeper {
            keeper.end(found.as_ref().is_ok_and(|outcome| is_answer(outcome.status)));
        }
        let history = history.into_inner().into_moments();
        session.end_stage(match &found {
            Ok(outcome) => &outcome.statistics,
            Err(failure) => &failure.statistics,
        });
        let stages = Vec::new();
        Ok(Searched { found, more, seconds, threads: threads.get(), explanation, history, stages, certified })
    }

    /// Lets the systems of a target remember what they answer.
    pub fn remember(&self, target: &mut Target, engine: Option<Engine>) -> Result<Remembered, Complaint> {
        if self.cache.is_some() {
            return Err(Complaint::input("there is no option --cache any more").help(
                "what a slow system answers is remembered in memory by itself; --remember FILE keeps it in a file",
            ));
        }
        // The other engines run whole traces again and again: they are for comparison.
        match engine {
            None | Some(Engine::Behaviour) => self.remember.anyhow(target, self.memory()),
            Some(_) => self.remember.in_file(target, self.memory()),
        }
    }

    /// The memory for what grows with a search, if memory is limited.
    fn memory(&self) -> Option<usize> {
        // Memory that is given back is not always free at once.
        self.memory_limit.map(|bytes| bytes.saturating_sub(OWN_MEMORY) / 4 * 3)
    }
}

/// A thread for each core.
pub fn cores() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// How many threads there should be for a program that was tried just now: more than cores if it mostly waited. How busy it
/// was is known on Linux only.
pub fn workers_after<T, E>(tried: impl FnOnce() -> Result<T, E>) -> Result<(T, NonZeroUsize), E> {
    let (started, before) = (Instant::now(), busy_children());
    let told = tried()?;
    let time = started.elapsed().as_secs_f64();
    let busy = before.zip(busy_children()).map(|(before, after)| after - before);
    let waits = busy.is_some_and(|busy| 2.0 * busy < time && time > LEAST_TRIED);
    let many = MANY.max(cores().saturating_mul(NonZeroUsize::MIN.saturating_add(1)));
    Ok((told, if waits { many } else { cores() }))
}

/// A program that has hardly run does not show whether it waits.
const LEAST_TRIED: f64 = 0.05;
/// So many threads at least for one that does.
const MANY: NonZeroUsize = NonZeroUsize::MIN.saturating_add(7);

/// The seconds that all processes took that this one has begun, and that have ended.
fn busy_children() -> Option<f64> {
    /// Linux counts in hundredths of a second here, whatever the machine.
    const TICKS: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name may have spaces; what comes behind it begins with the state, the third field.
    let fields = stat.rsplit_once(") ")?.1.split(' ').skip(13).take(2);
    fields.map(|field| field.parse::<f64>().ok()).sum::<Option<f64>>().map(|ticks| ticks / TICKS)
}

/// Whether there is nothing to go on with: a gap that was asked for is reached once and for all.
fn is_answer(status: Status) -> bool {
    matches!(status, Status::Optimal | Status::Infeasible | Status::Stopped(StopReason::Gap))
}

impl Plan {
    fn search<'a>(
        self,
        problem: &'a Problem,
        factory: &'a dyn SystemFactory,
        kept: Option<&Kept>,
    ) -> Result<Search<'a>, SearchError> {
        let mut search = Search::new(problem, factory);
        if let Some(checkpoint) = self.resumed {
            return search.resume(checkpoint).map_err(|error| match kept {
                Some(kept) => kept.file.complaint(error).into(),
                None => Complaint::input(error.to_string()).into(),
            });
        }
        if let Some(engine) = self.engine {
            search = search.engine(engine);
        }
        if let Some(gap) = self.gap {
            search = search.gap(gap);
        }
        if let Some(tree) = self.start {
            search = search.start(tree)?;
        }
        Ok(search)
    }
}

/// Why a search could not be run.
pub enum SearchError {
    /// The options do not fit together, or something else is wrong.
    Options(Complaint),
    /// The tree to start from is not one of those that are searched.
    Start(StartError),
}

impl From<Complaint> for SearchError {
    fn from(complaint: Complaint) -> Self {
        SearchError::Options(complaint)
    }
}

impl From<StartError> for SearchError {
    fn from(error: StartError) -> Self {
        SearchError::Start(error)
    }
}

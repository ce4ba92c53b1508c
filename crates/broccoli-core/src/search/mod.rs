//! The search: a problem and a factory in, an [`Outcome`] out.
//!
//! Several engines give one answer: they agree on status, value and size, though their trees may
//! differ. [`Engine`] says what each is for.

mod all;
mod backtracking;
mod behaviour;
mod checkpoint;
mod confirm;
mod counts;
mod evidence;
mod exhaustive;
mod explain;
mod flat;
mod forecast;
mod front;
mod observer;
mod outcome;
mod prices;
mod progress;
mod sample;
mod shape;
mod split;
mod start;
mod value;

pub use all::Optima;
pub use behaviour::{HintTuning, Tuning};
pub use checkpoint::{Checkpoint, Keeper, ResumeError};
pub use evidence::{Witness, record_traces};
pub use explain::{Explanation, explain};
pub use forecast::Forecast;
pub use front::{Front, FrontPart};
pub use observer::{Event, Improvement, Observer};
pub use outcome::{Behaviours, Failure, Outcome, Solution, Statistics, Status};
pub use split::{Subproblem, SubproblemError, join};
pub use start::StartError;
pub use value::{Rewards, value};

pub use crate::problem::{Stop, StopReason};

use std::num::NonZeroUsize;
use std::sync::Arc;

use crate::problem::{Gate, Instance, Problem, RunError, SystemFactory};
use crate::tree::Tree;
use behaviour::{KnownTraces, State, Trie};
use prices::After;
use progress::{Conclusion, Progress};

/// Which algorithm searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Every tree, each run to its end. The oracle of the tests, for very small problems.
    Exhaustive,
    /// Trees in increasing size, skipping those that a trace already seen shows to be no better:
    /// the algorithm of the paper, made sound.
    Backtracking {
        /// Whether traces prune. Without, the trees considered are exactly those in which no
        /// predicate is decided by an ancestor and no node has two equal subtrees.
        pruning: bool,
    },
    /// Behaviours instead of trees: trees that act alike are run once.
    Behaviour,
}

impl Engine {
    /// `"exhaustive"`, `"backtracking"` or `"behaviour"`.
    pub fn name(&self) -> &'static str {
        match self {
            Engine::Exhaustive => "exhaustive",
            Engine::Backtracking { .. } => "backtracking",
            Engine::Behaviour => "behaviour",
        }
    }

    /// Whether it can search for what a problem asks: the others than `behaviour` cannot always.
    ///
    /// # Errors
    /// [`RunError::Unsupported`] if it cannot.
    pub fn check(&self, problem: &Problem) -> Result<(), RunError> {
        let only = match self {
            Engine::Backtracking { .. } if !problem.objective().is_plain() => PLAIN_ONLY,
            Engine::Backtracking { .. } | Engine::Exhaustive if problem.without_grid().is_some() => {
                "trees whose thresholds are listed"
            }
            _ => return Ok(()),
        };
        Err(RunError::Unsupported { engine: self.name(), only })
    }
}

/// What `backtracking` searches for.
const PLAIN_ONLY: &str = "for reach and survive from the worst initial state";

/// A search to be run. The example in the [crate's page](crate) shows the whole way.
pub struct Search<'a> {
    problem: &'a Problem,
    factory: &'a dyn SystemFactory,
    engine: Engine,
    observer: Option<&'a mut dyn Observer>,
    stop: Option<&'a dyn Stop>,
    query_limit: Option<u64>,
    gap: f64,
    first: bool,
    good_enough: Option<f64>,
    start: Option<Tree>,
    /// The same, also if it was given before a checkpoint was made.
    given: Option<Tree>,
    /// What it did.
    known: Option<(Tree, Trie)>,
    keeper: Option<&'a mut dyn Keeper>,
    checkpoint: Option<Checkpoint>,
    /// Whether the checkpoint was made just now, by the same system.
    is_going_on: bool,
    /// Whether there is time to ask the system more of what it answered before the checkpoint was made, and the queries
    /// that this took.
    has_time: Option<&'a dyn Fn() -> bool>,
    asked_again: u64,
    /// Whether it is for a [part](Subproblem) of a search, whose best tree need not be that of the whole: then any
    /// of its best trees will do.
    is_part: bool,
    threads: NonZeroUsize,
    memory: Option<usize>,
    tuning: Option<Tuning>,
    witness: Option<Arc<dyn Witness>>,
}

impl<'a> Search<'a> {
    /// A search for `problem` on the systems that `factory` makes, with the default engine.
    pub fn new(problem: &'a Problem, factory: &'a dyn SystemFactory) -> Self {
        Search {
            problem,
            factory,
            engine: Engine::Behaviour,
            observer: None,
            stop: None,
            query_limit: None,
            gap: 0.0,
            first: false,
            good_enough: None,
            start: None,
            given: None,
            known: None,
            keeper: None,
            checkpoint: None,
            is_going_on: false,
            has_time: None,
            asked_again: 0,
            is_part: false,
            threads: NonZeroUsize::MIN,
            memory: None,
            tuning: None,
            witness: None,
        }
    }

    /// A search of the same kind for another problem, from its beginning.
    fn for_problem<'b>(&self, problem: &'b Problem) -> Search<'b>
    where
        'a: 'b,
    {
        Search {
            engine: self.engine,
            stop: self.stop,
            query_limit: self.query_limit,
            threads: self.threads,
            tuning: self.tuning,
            memory: self.memory,
            ..Search::new(problem, self.factory)
        }
    }

    /// Chooses the engine.
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }

    /// Uses up to this many threads, each with a system of its own ([`Engine::Behaviour`]; the others use
    /// one). The answer, and the number of queries, are the same for any number. A search that makes few queries starts
    /// no other thread.
    pub fn threads(mut self, threads: NonZeroUsize) -> Self {
        self.threads = threads;
        self
    }

    /// Searches with other constants ([`Engine::Behaviour`]). What is proved stays the same; of several trees that are
    /// equally good and equally small another one may be found.
    pub fn tuning(mut self, tuning: Tuning) -> Self {
        self.tuning = Some(tuning);
        self
    }

    /// Takes about this much memory at most for what grows with the search: the behaviours that were set aside
    /// ([`Engine::Behaviour`]; the others keep next to nothing). When it is used up the search goes on depth first, which
    /// takes none, but often more queries. Value and size are the same; of several trees that are equally good and equally
    /// small it may change which one is found.
    pub fn memory_limit(mut self, bytes: usize) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// Lets `witness` take down what is walked: the evidence for a certificate ([`Engine::Behaviour`]; the
    /// others have none).
    pub fn witness(mut self, witness: Arc<dyn Witness>) -> Self {
        self.witness = Some(witness);
        self
    }

    /// Tells `observer` what happens during the search.
    pub fn observer(mut self, observer: &'a mut dyn Observer) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Asks `stop` before every query whether to go on. If not, the outcome is
    /// [`Status::Stopped`], with the best tree so far and the bound that is proved.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    /// use broccoli_core::search::{Search, Status, StopReason};
    /// # use broccoli_core::problem::*;
    /// # struct Still;
    /// # impl System for Still {
    /// #     fn reset(&mut self, _: &InitialState, seen: &mut [f64]) -> Result<Reply, SystemError> {
    /// #         seen[0] = 0.0;
    /// #         Ok(Verdict::Running.into())
    /// #     }
    /// #     fn step(&mut self, _: usize, _: &mut [f64]) -> Result<Reply, SystemError> { Ok(Verdict::Running.into()) }
    /// # }
    /// # let problem = Problem::builder().dimension("x", Thresholds::none()).action("a", 0.0).action("b", 1.0)
    /// #     .initial([0.0]).objective(Objective::survive(10)).build()?;
    /// # let factory = || Ok(Box::new(Still) as Box<dyn System>);
    /// let is_cancelled = AtomicBool::new(true); // perhaps another thread sets it
    /// let stop = || is_cancelled.load(Relaxed).then_some(StopReason::Interrupted);
    /// let outcome = Search::new(&problem, &factory).stop(&stop).run()?;
    /// assert_eq!(outcome.status, Status::Stopped(StopReason::Interrupted));
    /// assert_eq!((outcome.best, outcome.bound), (None, Some(10)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stop(mut self, stop: &'a dyn Stop) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Makes at most this many queries, those that only come back to a state included. The same limit
    /// gives the same outcome, with any number of threads, unless the system [remembers](crate::problem::Memory) and they
    /// share what it remembers.
    pub fn query_limit(mut self, queries: u64) -> Self {
        self.query_limit = Some(queries);
        self
    }

    /// Ends the search as soon as the best tree is proved to be within `gap` of the optimum, where
    /// gap = |value - bound| / max(|value|, 1); 0.05 is 5 %. Until then the search is the same as without: within a limit
    /// it finds no worse tree. [`Engine::Exhaustive`] takes no notice.
    pub fn gap(mut self, gap: f64) -> Self {
        self.gap = if gap > 0.0 { gap.min(f64::MAX) } else { 0.0 }; // NaN, too, becomes 0
        self
    }

    /// Ends the search with the first tree that has a value (`reach`) or is perfect (`survive`, `return`).
    pub fn first(mut self) -> Self {
        self.first = true;
        self
    }

    /// Ends the search with the first tree whose value is at least as good as this: steps, or what
    /// [`Objective::number`](crate::problem::Objective::number) makes a number of.
    pub fn good_enough(mut self, value: f64) -> Self {
        self.good_enough = Some(value);
        self
    }

    /// Starts with a tree of the user's: it is run first, and trees that are not better are of no
    /// interest. Value and size of the answer do not depend on it; if the tree is optimal itself, it is the answer.
    ///
    /// # Errors
    /// When the tree is not one of those that are searched: it is too large, or has other thresholds.
    /// [`value()`] tells what it is worth all the same.
    pub fn start(mut self, tree: Tree) -> Result<Self, StartError> {
        start::check(self.problem, &tree)?;
        self.start = Some(tree);
        Ok(self)
    }

    /// Tells `keeper` now and then what is left of the search ([`Engine::Behaviour`]), so that it can be
    /// [resumed](Search::resume).
    pub fn keeper(mut self, keeper: &'a mut dyn Keeper) -> Self {
        self.keeper = Some(keeper);
        self
    }

    /// Goes on where a checkpoint was made, with [`Engine::Behaviour`]. A gap is that of the search that made it;
    /// all else may differ. The answer is the same as if the search had never been interrupted.
    ///
    /// Before anything else the system is asked again for a sample of what it answered then, and for what the
    /// best tree did: [`RunError::Changed`] if it is not the same system any more. The limit on queries is not for this:
    /// however few a run makes, it gets on. [`Search::ask_again_while`] lets it take longer.
    ///
    /// # Errors
    /// When the checkpoint is damaged, or of another problem.
    pub fn resume(mut self, checkpoint: Checkpoint) -> Result<Self, ResumeError> {
        if checkpoint.fingerprint != checkpoint::fingerprint(self.problem) {
            return Err(ResumeError::OtherProblem);
        }
        if !checkpoint.is_of(self.problem) {
            return Err(ResumeError::Damaged);
        }
        self.engine = Engine::Behaviour;
        self.is_part = checkpoint.is_part;
        self = self.gap(checkpoint.gap);
        self.start = None;
        self.checkpoint = Some(checkpoint);
        Ok(self)
    }

    /// When the search is [resumed](Search::resume), asks the system again for more of what it answered before, up to all
    /// that is written down, as long as `has_time`. Without this it is asked for a small part.
    pub fn ask_again_while(mut self, has_time: &'a dyn Fn() -> bool) -> Self {
        self.has_time = Some(has_time);
        self
    }

    /// Runs the search to its end. Unless it was stopped from outside, its tree is then run once more, to
    /// see whether the system does again what it did.
    ///
    /// # Errors
    /// When the system fails, or is not deterministic; the failure keeps the best tree found before.
    pub fn run(mut self) -> Result<Outcome, Box<Failure>> {
        let mut after = self.after();
        let (ended, outcome) = self.search(&mut after);
        self.conclude(ended, outcome, &mut after)
    }

    /// What the passes after the search have in common with it.
    fn after(&mut self) -> After<'a> {
        let gate = Arc::new(Gate::new(self.stop, self.query_limit));
        After { gate, memory: self.memory, observer: self.observer.take() }
    }

    /// Searches by the engine that was chosen.
    fn search(&mut self, after: &mut After<'a>) -> (Result<(), RunError>, Outcome) {
        let (problem, factory) = (self.problem, self.factory);
        let gap = if self.engine == Engine::Exhaustive { 0.0 } else { self.gap };
        let observer = after.observer.as_deref_mut().map(|observer| observer as _);
        let mut progress = Progress::new(problem, observer, Arc::clone(&after.gate), gap, self.first);
        progress.good_enough(self.good_enough);
        if let Some(keeper) = self.keeper.take() {
            progress.keep_by(keeper, checkpoint::fingerprint(problem), self.is_part);
        }
        let checkpoint = self.checkpoint.take();
        let ended = match (self.prepare(&mut progress, checkpoint.as_ref()), self.engine) {
            (Err(error), _) => Err(error),
            (Ok(_), Engine::Exhaustive) => exhaustive::search(problem, factory, &mut progress),
            (Ok(_), Engine::Backtracking { pruning }) => {
                backtracking::search(problem, factory, pruning, &mut progress)
            }
            (Ok(ran_again), Engine::Behaviour) => {
                let (start, witness) = (self.known.take(), self.witness.take());
                let options = behaviour::Options { start, witness, ..self.options() };
                let unsure = checkpoint.clone().filter(|_| ran_again.is_err());
                let saved = checkpoint.map(|checkpoint| checkpoint.saved);
                let ended = behaviour::search(problem, factory, &options, &mut progress, saved);
                if let (Ok(()), Some(checkpoint)) = (&ended, unsure) {
                    // It took no more query to come to the end, but nothing is proved before the system was asked again.
                    progress.keep_again(&checkpoint);
                }
                ended.and(ran_again)
            }
        };
        let stopped = match ended {
            Err(RunError::Stopped(reason)) => Some(reason),
            _ => None,
        };
        let (Conclusion { status, best, bound, estimate }, mut statistics) = progress.finish(stopped);
        statistics.queries_asked_again = self.asked_again;
        let (engine, intervals) = (self.engine, Vec::new());
        (ended, Outcome { engine, status, best, bound, intervals, estimate, statistics })
    }

    /// Takes up a checkpoint, if there is one, and runs the tree to start from. Whether a sample of what the system
    /// answered before was run again to its end: if not, it was stopped.
    fn prepare(
        &mut self,
        progress: &mut Progress<'_>,
        checkpoint: Option<&Checkpoint>,
    ) -> Result<Result<(), RunError>, RunError> {
        let (problem, factory) = (self.problem, self.factory);
        self.engine.check(problem)?;
        let mut untried = self.start.take();
        self.given =
            untried.clone().or_else(|| checkpoint.and_then(|checkpoint| checkpoint.start_tree()).cloned());
        let mut ran_again = Ok(());
        if let Some(checkpoint) = checkpoint {
            progress.resume(checkpoint);
            ran_again = match self.run_again(checkpoint) {
                Err(error) if !matches!(error, RunError::Stopped(_)) => return Err(error),
                ran_again => ran_again,
            };
            untried = checkpoint.untried.clone();
        }
        if let Some(tree) = untried {
            let mut known = KnownTraces::new(problem);
            let started = progress.start(problem, factory, tree.clone(), &mut known);
            if started.is_err() {
                progress.keep_with(State::root(problem, self.chosen_tuning()), Some(tree.clone()));
                started?;
            }
            self.known = Some((tree, known.end()));
        }
        Ok(ran_again)
    }

    /// Chooses among equal answers by their price, and runs the answer once more.
    fn conclude(
        &self,
        mut ended: Result<(), RunError>,
        mut outcome: Outcome,
        after: &mut After<'a>,
    ) -> Result<Outcome, Box<Failure>> {
        if ended.is_ok() && outcome.status == Status::Optimal && !self.is_part {
            ended = self.choose_by_price(after, &mut outcome);
        }
        let confirmed = match ended {
            Ok(()) | Err(RunError::Stopped(StopReason::First | StopReason::Gap)) => {
                self.confirm(&mut outcome)
            }
            other => other,
        };
        match confirmed {
            Ok(()) => {}
            Err(RunError::Stopped(reason)) => outcome.status = Status::Stopped(reason),
            Err(error) => {
                let Outcome { engine, best, statistics, .. } = outcome;
                return Err(Box::new(Failure { engine, error, best, statistics }));
            }
        }
        Ok(outcome)
    }

    /// Sees whether the system is still the one that a checkpoint is about.
    fn run_again(&mut self, checkpoint: &Checkpoint) -> Result<(), RunError> {
        if self.is_going_on {
            return Ok(());
        }
        let mut instance = Instance::gated(self.problem, self.factory, Arc::new(Gate::new(self.stop, None)))?;
        instance.ask_always();
        let has_time = self.has_time.unwrap_or(&|| false);
        let ran_again = instance.guarded(|instance| checkpoint.run_again(self.problem, has_time, instance));
        self.asked_again = instance.queries();
        ran_again
    }

    /// The constants that were chosen, or those for such systems.
    fn chosen_tuning(&self) -> Tuning {
        self.tuning.unwrap_or_else(|| Tuning::of(self.factory))
    }

    /// How a pass by [`Engine::Behaviour`] searches.
    fn options(&self) -> behaviour::Options {
        behaviour::Options {
            threads: self.threads.get(),
            tuning: self.chosen_tuning(),
            memory: self.memory,
            start: None,
            witness: None,
        }
    }

    /// Runs the answer once more. The limit on queries is not for this.
    fn confirm(&self, outcome: &mut Outcome) -> Result<(), RunError> {
        let Outcome { best: Some(best), intervals, statistics, .. } = outcome else { return Ok(()) };
        let gate = Arc::new(Gate::new(self.stop, None));
        let mut instance = Instance::gated(self.problem, self.factory, gate)?;
        instance.ask_always();
        let confirmed = instance.guarded(|instance| {
            confirm::confirm(self.problem, best, instance)?;
            if self.problem.without_grid().is_some() {
                *intervals = confirm::intervals(self.problem, &best.tree, instance)?;
                // A tree that the user gave stays as it is.
                if self.given.as_ref() != Some(&best.tree) {
                    best.tree = best.tree.with_shortest(intervals);
                }
            }
            Ok(())
        });
        statistics.queries_confirming = instance.queries();
        confirmed
    }
}

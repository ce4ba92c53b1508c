//! The options that say how to search and when to stop, and the search itself.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use broccoli_blackbox::Watch;
use broccoli_core::problem::Problem;
use broccoli_core::search::{
    Engine, Event, Explanation, Failure, Observer, Outcome, Search, StartError, Statistics, Status, explain,
};
use broccoli_core::tree::Tree;
use broccoli_export::history::{History, Moment};
use broccoli_problem::Target;
use clap::{Args, ValueEnum};

use crate::complaint::Complaint;
use crate::numbers::{fraction, memory, time_span, whole};
use crate::progress::Progress;
use crate::stopper::Stopper;
use crate::target::short_check;

/// The options about the search.
#[derive(Debug, Args)]
pub struct SearchOptions {
    /// The algorithm; all give the same answer [default: behaviour]
    #[arg(long)]
    engine: Option<EngineName>,

    /// Consider every tree that is not trivially redundant (backtracking only)
    #[arg(long)]
    no_pruning: bool,

    /// Accept any of the best trees, without the pass that always chooses the same one
    #[arg(long)]
    any_optimal: bool,

    /// Remember what the system has answered, in at most this memory, such as 64MiB or 1GiB, and ask
    /// nothing twice: for systems that are slow (behaviour only)
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = memory)]
    cache: Option<usize>,

    /// Stop after this time, such as 500ms, 30s, 5min or 2h, with the best so far
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = time_span)]
    time_limit: Option<Duration>,

    /// Stop after N queries, with the best so far; the same N always gives the same result
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = whole::<u64>(0..=u64::MAX))]
    query_limit: Option<u64>,

    /// Stop when the value is proved to be this close to the optimum, such as 5% or 0.05
    #[arg(long, value_name = "GAP", allow_hyphen_values = true, value_parser = fraction)]
    gap: Option<f64>,

    /// Stop at the first tree that reaches the goal, or survives the whole horizon
    #[arg(long)]
    first: bool,

    /// Do not try a foreign system for a moment before relying on it
    #[arg(long)]
    no_check: bool,

    /// Show progress even if standard error is not a terminal
    #[arg(long)]
    progress: bool,
}

/// The engines by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EngineName {
    /// Behaviours instead of trees: trees that act alike are run once
    Behaviour,
    /// Trees in increasing size, pruned by what earlier runs have shown
    Backtracking,
    /// Every tree, for checking the others on small problems
    Exhaustive,
}

/// A search that has ended.
pub struct Searched {
    pub found: Result<Outcome, Box<Failure>>,
    pub seconds: f64,
    /// Which of several initial states are to blame if no tree exists.
    pub explanation: Option<Explanation>,
    /// When better trees were found and bounds proved.
    pub history: Vec<Moment>,
}

impl SearchOptions {
    /// Runs the search, with a tree to start from if there is one.
    pub fn run(
        &self,
        target: &Target,
        problem: &Problem,
        start: Option<Tree>,
    ) -> Result<Searched, SearchError> {
        let asked = &target.search;
        let factory = Watch::new(&*target.factory, &target.name);
        let mut search = Search::new(problem, &factory);
        let engine = self.engine()?.or(asked.engine);
        if let Some(engine) = engine {
            search = search.engine(engine);
        }
        if self.any_optimal || asked.any_optimal {
            search = search.any_optimal();
        }
        if let Some(bytes) = self.cache {
            search = search.cache(bytes);
        }
        if let Some(queries) = self.query_limit.or(asked.query_limit) {
            search = search.query_limit(queries);
        }
        if let Some(gap) = self.gap.or(asked.gap) {
            search = search.gap(gap);
        }
        if self.first || asked.first {
            search = search.first();
        }
        if let Some(tree) = start {
            search = search.start(tree)?;
        }
        let stopper = Stopper::new(self.time_limit.or(asked.time_limit))?;
        if target.is_foreign
            && !self.no_check
            && let Err(error) = short_check(target, problem)
        {
            let engine = engine.unwrap_or(Engine::Behaviour);
            let failure = Failure { engine, error, best: None, statistics: Statistics::default() };
            return Ok(Searched {
                found: Err(Box::new(failure)),
                seconds: 0.0,
                explanation: None,
                history: Vec::new(),
            });
        }
        let mut progress = Progress::start(self.progress, io::stderr().is_terminal());
        let started = Instant::now();
        let mut history = History::new(move || started.elapsed().as_secs_f64());
        let mut observer = |event: Event<'_>| {
            history.notify(event);
            if let Some(progress) = &mut progress {
                progress.notify(event);
            }
        };
        let found = search.observer(&mut observer).stop(&stopper).run();
        let seconds = started.elapsed().as_secs_f64();
        let explanation = match &found {
            Ok(Outcome { status: Status::Infeasible, statistics, .. })
                if problem.initial_states().len() > 1 =>
            {
                // About as much again, but not less than is soon done.
                let queries = statistics.queries.max(10_000);
                Some(explain(problem, &factory, queries, Some(&stopper)))
            }
            _ => None,
        };
        drop(progress);
        Ok(Searched { found, seconds, explanation, history: history.into_moments() })
    }

    /// The engine that was asked for; none leaves the choice to the library.
    fn engine(&self) -> Result<Option<Engine>, Complaint> {
        let is_behaviour =
            matches!((self.engine, self.no_pruning), (None | Some(EngineName::Behaviour), false));
        if self.cache.is_some() && !is_behaviour {
            return Err(Complaint::input(
                "--cache works with --engine behaviour only: the other engines run whole traces",
            ));
        }
        match (self.engine, self.no_pruning) {
            (None, false) => Ok(None),
            (None | Some(EngineName::Backtracking), no_pruning) => {
                Ok(Some(Engine::Backtracking { pruning: !no_pruning }))
            }
            (Some(EngineName::Behaviour), false) => Ok(Some(Engine::Behaviour)),
            (Some(EngineName::Exhaustive), false) => Ok(Some(Engine::Exhaustive)),
            (Some(_), true) => Err(Complaint::input(
                "--no-pruning works with --engine backtracking only: the other engines have no pruning to leave out",
            )),
        }
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

//! A search cut into subproblems, which can be solved anywhere and in any order.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use super::{Checkpoint, Engine, Failure, Keeper, Outcome, ResumeError, Search, Status, StopReason};
use crate::problem::Objective;

/// A part of a search by [`Engine::Behaviour`]: behaviours that are to be gone on with, each given by its
/// labelled cells, and value and size of a tree that is to be improved on. Any format of serde will do to
/// send it to another machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Subproblem(Checkpoint);

impl Subproblem {
    /// Value and size of the tree that is to be improved on.
    pub fn best(&self) -> Option<(u64, u64)> {
        self.0.best()
    }
}

/// Why a subproblem was not solved.
#[derive(Debug, thiserror::Error)]
pub enum SubproblemError {
    /// It is not a part of this problem.
    #[error(transparent)]
    Misfit(#[from] ResumeError),
    /// The system failed.
    #[error(transparent)]
    Failed(#[from] Box<Failure>),
}

/// The outcome of a search that was [split](Search::split): that so far, and those of its parts.
pub fn join(objective: Objective, so_far: Outcome, parts: impl IntoIterator<Item = Outcome>) -> Outcome {
    let mut parts = parts.into_iter().peekable();
    if parts.peek().is_none() {
        return so_far;
    }
    let mut whole = Outcome { status: Status::Infeasible, bound: None, estimate: None, ..so_far };
    for part in parts {
        whole.statistics = whole.statistics + part.statistics;
        let is_better = match (&part.best, &whole.best) {
            (Some(part), Some(best)) => {
                objective.is_better(part.value, best.value)
                    || part.value == best.value && part.tree.size() < best.tree.size()
            }
            (part, _) => part.is_some(),
        };
        if is_better {
            (whole.best, whole.intervals) = (part.best, part.intervals);
        }
        if let Status::Stopped(_) = part.status {
            whole.status = part.status;
            let is_better = |bound| whole.bound.is_none_or(|best| objective.is_better(bound, best));
            whole.bound = part.bound.filter(|&bound| is_better(bound)).or(whole.bound);
            let is_better = |estimate| whole.estimate.is_none_or(|best| objective.is_better(estimate, best));
            whole.estimate = part.estimate.filter(|&estimate| is_better(estimate)).or(whole.estimate);
        }
    }
    let value = whole.best.as_ref().map(|best| best.value);
    whole.bound = match (whole.bound, value) {
        (Some(bound), Some(value)) if objective.is_better(value, bound) => Some(value),
        (bound, value) => bound.or(value),
    };
    if whole.status == Status::Infeasible && value.is_some() {
        whole.status = Status::Optimal;
    }
    whole
}

/// Keeps the last checkpoint in memory.
struct Last(Option<Checkpoint>);

impl Keeper for Last {
    fn is_due(&mut self) -> bool {
        false
    }

    fn keep(&mut self, checkpoint: &Checkpoint) {
        self.0 = Some(checkpoint.clone());
    }
}

/// The first queries, for each of the parts.
const FIRST_QUERIES: u64 = 8;

impl<'a> Search<'a> {
    /// Searches until what is left can be cut into `parts`, and cuts it into about equal ones, with
    /// [`Engine::Behaviour`]. Returns the outcome so far, and what is left: nothing if the search has come to
    /// its end.
    ///
    /// Each part is [solved](Search::solve_subproblem) by itself, anywhere, and [`join`] puts the outcomes
    /// together. Status, value and size are those of the search as a whole; of several trees that are
    /// equally good it may be any.
    ///
    /// ```
    /// use std::num::NonZeroUsize;
    /// use broccoli_core::search::{Search, Status, join};
    /// # use broccoli_core::problem::*;
    /// # struct Token(f64);
    /// # impl System for Token {
    /// #     fn reset(&mut self, initial: &InitialState, seen: &mut [f64]) -> Result<Reply, SystemError> {
    /// #         self.0 = initial.values()[0];
    /// #         seen[0] = self.0;
    /// #         Ok(Verdict::Running.into())
    /// #     }
    /// #     fn step(&mut self, action: usize, seen: &mut [f64]) -> Result<Reply, SystemError> {
    /// #         self.0 += if action == 0 { -1.0 } else { 2.0 };
    /// #         seen[0] = self.0;
    /// #         Ok(if self.0 == 40.0 { Verdict::Satisfied } else { Verdict::Running }.into())
    /// #     }
    /// # }
    /// # let problem = Problem::builder().dimension("x", Thresholds::grid(0.0, 50.0, 1.0)?)
    /// #     .action("a", 0.0).action("b", 1.0).initial([1.0]).objective(Objective::reach(60)).depth(3).build()?;
    /// # let factory = || Ok(Box::new(Token(0.0)) as Box<dyn System>);
    /// let (so_far, parts) = Search::new(&problem, &factory).split(NonZeroUsize::new(4).unwrap())?;
    /// let mut outcomes = Vec::new();
    /// for part in parts {
    ///     outcomes.push(Search::new(&problem, &factory).solve_subproblem(part)?);
    /// }
    /// let outcome = join(problem.objective(), so_far, outcomes);
    /// assert_eq!(outcome.status, Status::Optimal);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the system fails.
    pub fn split(mut self, parts: NonZeroUsize) -> Result<(Outcome, Vec<Subproblem>), Box<Failure>> {
        let mut observer = self.observer.take();
        let mut checkpoint: Option<Checkpoint> = None;
        let mut queries = FIRST_QUERIES * parts.get() as u64;
        loop {
            let mut last = Last(None);
            let search = Search {
                engine: Engine::Behaviour,
                observer: observer.as_deref_mut().map(|observer| observer as _),
                query_limit: Some(queries),
                start: self.start.take(),
                given: None,
                keeper: Some(&mut last),
                checkpoint: checkpoint.take(),
                is_going_on: true,
                is_part: true,
                witness: None, // the evidence would be that of a part
                known: None,
                ..self
            };
            let outcome = search.run()?;
            let Some(left) = last.0 else { return Ok((outcome, Vec::new())) };
            let is_limit = outcome.status == Status::Stopped(StopReason::QueryLimit);
            let saved = left.saved.clone();
            let is_enough = saved.len() >= parts.get() && left.untried.is_none();
            if !is_limit || is_enough {
                let saved = saved.split(parts.get());
                let subproblem = |saved| {
                    Subproblem(Checkpoint {
                        is_part: true,
                        of_start: (0, 0),
                        counts: Default::default(),
                        saved,
                        ..left.clone()
                    })
                };
                return Ok((outcome, saved.into_iter().map(subproblem).collect()));
            }
            checkpoint = Some(left);
            queries *= 2;
        }
    }

    /// Solves a part of a search: finds its best tree, if that is better than the one to be improved on,
    /// else returns that one. Of several that are equally good it may be any.
    ///
    /// # Errors
    /// When the part is damaged, or of another problem, or when the system fails.
    pub fn solve_subproblem(self, part: Subproblem) -> Result<Outcome, SubproblemError> {
        let mut outcome = Search { witness: None, ..self }.resume(part.0)?.run()?;
        outcome.statistics.necessary_queries = None; // that would be of the whole
        Ok(outcome)
    }
}

//! What a search has to say at its end.

use serde::{Deserialize, Serialize};

use super::Engine;
use crate::problem::{RunError, StopReason};
use crate::tree::{Interval, Tree};

/// What is proved. An enum that keeps *proved* apart from everything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// The tree is optimal, and the smallest among the optimal.
    Optimal,
    /// No tree within the limits has a value.
    Infeasible,
    /// The search ended early, for this reason. The bound is what is proved.
    Stopped(StopReason),
}

/// A tree and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// The tree.
    pub tree: Tree,
    /// Its value over all initial states: steps, or what [`Objective::number`] makes a number of.
    ///
    /// [`Objective::number`]: crate::problem::Objective::number
    pub value: u64,
}

/// What the search did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Trees considered, that is, run from at least one initial state. `behaviour` considers none.
    pub trees: u64,
    /// Traces run, completely or in part.
    pub traces: u64,
    /// Queries: steps of the black box, but those that come back to a state or confirm the answer (below).
    pub queries: u64,
    /// Of the queries, those made for hints: by the local search beside the proof (`behaviour`).
    pub queries_hints: u64,
    /// Queries made again only to come back to a state, because the system can only be reset
    /// (`behaviour`).
    pub replayed: u64,
    /// Steps that were no queries because the system [remembers](crate::problem::Memory) the answers (`behaviour`).
    pub cache_hits: u64,
    /// Queries made at the end to see whether the system does again what it did.
    pub queries_confirming: u64,
    /// Queries made when a search is resumed to see whether the system is the one that it was (`behaviour`).
    pub queries_asked_again: u64,
    /// How many queries any search must make to prove this answer, if the engine knows it
    /// (`behaviour`, one initial state).
    pub necessary_queries: Option<u64>,
    /// What became of behaviours (`behaviour`).
    pub behaviours: Behaviours,
}

impl Statistics {
    /// Adds what another pass of the same search did.
    pub(super) fn add_pass(&mut self, pass: Statistics) {
        *self = Statistics { necessary_queries: self.necessary_queries, ..*self + pass };
    }
}

impl std::ops::Add for Statistics {
    type Output = Statistics;
    /// What two searches did. What was necessary is not known then.
    fn add(self, other: Statistics) -> Statistics {
        Statistics {
            trees: self.trees + other.trees,
            traces: self.traces + other.traces,
            queries: self.queries + other.queries,
            queries_hints: self.queries_hints + other.queries_hints,
            replayed: self.replayed + other.replayed,
            cache_hits: self.cache_hits + other.cache_hits,
            queries_confirming: self.queries_confirming + other.queries_confirming,
            queries_asked_again: self.queries_asked_again + other.queries_asked_again,
            necessary_queries: None,
            behaviours: self.behaviours + other.behaviours,
        }
    }
}

/// What ended the behaviours that were walked, and what became of the labels that were tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Behaviours {
    /// Complete: every trace is satisfied, or survives longer than those of the best before.
    pub complete: u64,
    /// Ended because they could not become better than the best, or by the horizon.
    pub bound: u64,
    /// Ended by a violated trace.
    pub violated: u64,
    /// Labels of new cells that some tree allows.
    pub realisable: u64,
    /// Labels that no tree allows.
    pub unrealisable: u64,
}

impl std::ops::Add for Behaviours {
    type Output = Behaviours;
    fn add(self, other: Behaviours) -> Behaviours {
        Behaviours {
            complete: self.complete + other.complete,
            bound: self.bound + other.bound,
            violated: self.violated + other.violated,
            realisable: self.realisable + other.realisable,
            unrealisable: self.unrealisable + other.unrealisable,
        }
    }
}

/// The answer of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The engine that gave it.
    pub engine: Engine,
    /// What is proved.
    pub status: Status,
    /// The best tree, if there is one.
    pub best: Option<Solution>,
    /// It is proved that no tree has a better value than this: the value itself when optimal, none when
    /// infeasible. When stopped: `reach` takes at least so many steps, `survive` at most so many.
    pub bound: Option<u64>,
    /// Per predicate of the best tree, in preorder, the thresholds that would leave all its traces as they are, if the
    /// predicate may have [any](crate::problem::Thresholds::all). Empty if nothing is known of this: the tree was not
    /// run once more.
    pub intervals: Vec<Option<Interval>>,
    /// By the rewards that were seen no tree has a better value than this: an estimate, and nothing is proved by it. For
    /// returns whose rewards have no bound, if the search was stopped.
    pub estimate: Option<u64>,
    /// What it took.
    pub statistics: Statistics,
}

/// A search that ended because the black box failed. Nothing is proved, nothing found is lost.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{error}")]
pub struct Failure {
    /// The engine that ran.
    pub engine: Engine,
    /// What failed, and where.
    #[source]
    pub error: RunError,
    /// The best tree found before.
    pub best: Option<Solution>,
    /// What was done before.
    pub statistics: Statistics,
}

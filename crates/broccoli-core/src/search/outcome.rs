//! What a search has to say at its end.

use super::Engine;
use crate::problem::RunError;
use crate::tree::Tree;

/// What is proved. An enum that keeps *proved* apart from everything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// The tree is optimal, and the smallest among the optimal.
    Optimal,
    /// No tree within the limits has a value.
    Infeasible,
}

/// A tree and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// The tree.
    pub tree: Tree,
    /// Its value over all initial states, in steps.
    pub value: u64,
}

/// What the search did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Trees considered, that is, run from at least one initial state.
    pub trees: u64,
    /// Traces run, completely or in part.
    pub traces: u64,
    /// Queries: steps of the black box.
    pub queries: u64,
}

/// The answer of a search that came to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The engine that gave it.
    pub engine: Engine,
    /// What is proved.
    pub status: Status,
    /// The best tree, if there is one.
    pub best: Option<Solution>,
    /// No tree has a better value than this; the value itself when optimal, none when infeasible.
    pub bound: Option<u64>,
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

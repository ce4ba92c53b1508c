//! What the walks of a search have done so far, and how large a count can be.

use serde::{Deserialize, Serialize};

use super::Behaviours;

/// More than any search can count.
pub(super) const MOST_PLAUSIBLE: u64 = 1 << 48;

/// What the walks of a search have done so far.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Counts {
    pub(super) traces: u64,
    pub(super) queries: u64,
    /// Those of them that were made for hints.
    pub(super) hints: u64,
    /// Steps whose answers were remembered.
    pub(super) hits: u64,
    pub(super) replayed: u64,
    /// The share of the whole walk that has ended.
    pub(super) ended: f64,
    pub(super) behaviours: Behaviours,
}

impl Counts {
    /// Whether they can be counts: none is so large that more could not be added.
    pub(super) fn are_plausible(&self) -> bool {
        let Behaviours { complete, bound, violated, realisable, unrealisable } = self.behaviours;
        let counts = [self.traces, self.queries, self.hints, self.hits, self.replayed];
        let behaviours = [complete, bound, violated, realisable, unrealisable];
        let is_plausible = |&count: &u64| count < MOST_PLAUSIBLE;
        counts.iter().chain(&behaviours).all(is_plausible) && (0.0..=2.0).contains(&self.ended)
    }
}

impl std::ops::Add for Counts {
    type Output = Counts;
    fn add(self, other: Counts) -> Counts {
        Counts {
            traces: self.traces + other.traces,
            queries: self.queries + other.queries,
            hints: self.hints + other.hints,
            hits: self.hits + other.hits,
            replayed: self.replayed + other.replayed,
            ended: self.ended + other.ended,
            behaviours: self.behaviours + other.behaviours,
        }
    }
}

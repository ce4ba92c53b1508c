//! What a behaviour is worth, and what may still be better.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::version_space::Cost;
use crate::problem::Objective;

/// Value and size of a behaviour. The less, the better: first the value counts, then the size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Score {
    /// The value, so that less is better for every objective.
    rank: u64,
    pub(super) size: Cost,
}

impl Score {
    pub(super) fn new(objective: Objective, value: u64, size: Cost) -> Self {
        Score { rank: rank(objective, value), size }
    }

    pub(super) fn value(self, objective: Objective) -> u64 {
        rank(objective, self.rank)
    }
}

/// A value, so that less is better; and back again.
#[inline(always)]
pub(super) fn rank(objective: Objective, value: u64) -> u64 {
    if objective.is_minimised() { value } else { !value }
}

/// How many predicates a behaviour may have, given the best value that it can still have: all that are allowed if
/// that is better than the incumbent's, one fewer than the incumbent if it is the same, and else none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    most: Cost,
    /// The rank of the incumbent.
    rank: u64,
    /// How many predicates a behaviour of this rank may have.
    with_rank: Option<Cost>,
}

impl Allowance {
    /// Up to `most` predicates, with nothing to improve on.
    pub(super) fn all(most: Cost) -> Self {
        Allowance { most, rank: u64::MAX, with_rank: Some(most) }
    }

    /// What is better than an incumbent.
    pub(super) fn better_than(incumbent: Score, most: Cost) -> Self {
        let fewer = incumbent.size.checked_sub(1).map(|fewer| fewer.min(most));
        Allowance { most, rank: incumbent.rank, with_rank: fewer }
    }

    #[inline(always)]
    pub(super) fn of(&self, rank: u64) -> Option<Cost> {
        match rank.cmp(&self.rank) {
            Ordering::Less => Some(self.most),
            Ordering::Equal => self.with_rank,
            Ordering::Greater => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_better_value_comes_first_and_then_a_smaller_size() {
        let (reach, survive) = (Objective::reach(100), Objective::survive(100));
        for (objective, good, bad) in [(reach, 3, 4), (survive, 4, 3)] {
            let score = |value, size| Score::new(objective, value, size);
            assert!(score(good, 7) < score(bad, 0));
            assert!(score(good, 1) < score(good, 2));
            assert_eq!(score(good, 1).value(objective), good);
            let rank = |value| rank(objective, value);
            let allowance = Allowance::better_than(score(good, 2), 5);
            assert_eq!((allowance.of(rank(good)), allowance.of(rank(bad))), (Some(1), None));
            assert_eq!(Allowance::better_than(score(bad, 2), 5).of(rank(good)), Some(5));
            assert_eq!(Allowance::better_than(score(good, 0), 5).of(rank(good)), None);
            assert_eq!(Allowance::all(5).of(rank(bad)), Some(5));
        }
    }
}

//! How many transitions were asked for, by their number and by what the behaviour then costs.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::version_space::Cost;

/// How many costs are counted apart; greater ones count as the last.
const COSTS: usize = 16;
/// Up to which step transitions are counted apart; later ones count as this one.
const MOST_STEPS: u64 = 1 << 16;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Transitions {
    /// By the number of a step, and the cost of the behaviour after it.
    counts: Vec<[u64; COSTS]>,
}

impl Transitions {
    /// Counts a transition.
    #[inline]
    pub(super) fn count(&mut self, step: u64, cost: Cost) {
        let (step, cost) = place(step, cost);
        if step >= self.counts.len() {
            self.counts.resize(step + step / 2 + 1, [0; COSTS]);
        }
        self.counts[step][cost] += 1;
    }

    /// Takes back the count of a transition that was not asked for after all.
    pub(super) fn take_back(&mut self, step: u64, cost: Cost) {
        let (step, cost) = place(step, cost);
        self.counts[step][cost] -= 1;
    }

    /// Adds what another walk has counted.
    pub(super) fn add(&mut self, other: &Transitions) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), [0; COSTS]);
        }
        for (own, others) in self.counts.iter_mut().zip(&other.counts) {
            for (own, others) in own.iter_mut().zip(others) {
                *own += others;
            }
        }
    }

    /// All of them.
    pub(super) fn all(&self) -> u64 {
        self.counts.iter().flatten().sum()
    }

    /// How many have a number in `steps`, up to a horizon, and leave a behaviour that needs at most
    /// `nodes` predicates; `None` if so many steps or nodes are not counted apart.
    pub(super) fn up_to(&self, steps: RangeInclusive<u64>, horizon: u64, nodes: Cost) -> Option<u64> {
        let costs = match usize::try_from(nodes).ok()? {
            _ if nodes == Cost::MAX => COSTS,
            nodes if nodes + 1 < COSTS => nodes + 1,
            _ => return None,
        };
        if (MOST_STEPS..horizon).contains(steps.end()) {
            return None;
        }
        let counted = self.counts.iter().zip(0..).filter(|(_, step)| steps.contains(step));
        Some(counted.map(|(by_cost, _)| by_cost[..costs].iter().sum::<u64>()).sum())
    }
}

/// Where a transition is counted.
#[inline]
fn place(step: u64, cost: Cost) -> (usize, usize) {
    (step.min(MOST_STEPS) as usize, (cost as usize).min(COSTS - 1))
}

//! How many transitions were asked for, by their number and by what the behaviour then costs.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::task::Found;
use super::version_space::Cost;
use crate::problem::Objective;

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
    #[inline(always)]
    pub(super) fn count(&mut self, step: u64, cost: Cost) {
        let (step, cost) = place(step, cost);
        if step >= self.counts.len() {
            self.make_room(step + step / 2 + 1);
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
        self.make_room(other.counts.len());
        for (own, others) in self.counts.as_flattened_mut().iter_mut().zip(other.counts.as_flattened()) {
            *own += others;
        }
    }

    /// Forgets all, and keeps the room that they took.
    pub(super) fn clear(&mut self) {
        self.counts.clear();
    }

    /// Sees to it that there are so many steps, at least.
    #[cold]
    fn make_room(&mut self, steps: usize) {
        self.counts.resize(self.counts.len().max(steps), [0; COSTS]);
    }

    /// Whether they can be counts: none is so large that they could not be added up.
    pub(super) fn is_plausible(&self) -> bool {
        self.counts.len() <= (MOST_STEPS as usize + 1) * 2
            && self.counts.as_flattened().iter().all(|&count| count < 1 << 40)
    }

    /// All of them.
    pub(super) fn all(&self) -> u64 {
        self.counts.as_flattened().iter().sum()
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
        Some(counted.map(|(by_cost, _)| by_cost.iter().take(costs).sum::<u64>()).sum())
    }
}

/// Where a transition is counted.
#[inline]
fn place(step: u64, cost: Cost) -> (usize, usize) {
    (step.min(MOST_STEPS) as usize, (cost as usize).min(COSTS - 1))
}

/// How many queries any search must make from one initial state, if that is known.
pub(super) fn necessary(
    objective: Objective,
    best: Option<&Found>,
    transitions: &Transitions,
) -> Option<u64> {
    let horizon = objective.horizon();
    let up_to = |steps, nodes| transitions.up_to(steps, horizon, nodes);
    let smaller = |steps, size: Cost| size.checked_sub(1).map_or(Some(0), |most| up_to(steps, most));
    if !objective.is_plain() {
        return None;
    }
    let best = best.map(|best| (best.score.value(objective), best.score.size, best.own_steps));
    match (objective, best) {
        (Objective::Reach { .. }, Some((0, ..))) => Some(0),
        // Every transition number 1 to value - 1, and number `value` of all that a smaller tree can do.
        (Objective::Reach { .. }, Some((value, size, _))) => {
            Some(up_to(1..=value - 1, Cost::MAX)? + smaller(value..=value, size)?)
        }
        (Objective::Reach { .. }, None) => up_to(1..=horizon, Cost::MAX),
        // Its own trace, and all that smaller trees can do.
        (_, Some((value, size, own_steps))) if value == horizon => {
            Some(own_steps + smaller(1..=horizon, size)?)
        }
        _ => Some(transitions.all()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts that lengthen as they go, added up, forgotten, written down and read, against a list.
    #[test]
    fn counts_are_those_of_a_list() {
        let (mut counted, mut all) = (Transitions::default(), Transitions::default());
        let mut list = Vec::new();
        for turn in 0..600_u64 {
            let (step, cost) = (turn * turn % 97, (turn / 40 + turn % 3) as Cost);
            counted.count(step, cost);
            if turn % 7 == 0 {
                counted.take_back(step, cost);
            } else {
                list.push((step, cost));
            }
            if turn % 50 == 0 {
                all.add(&counted);
                counted.clear();
                let json = serde_json::to_string(&all).expect("numbers");
                all = serde_json::from_str(&json).expect("as it was written");
            }
        }
        all.add(&counted);
        assert_eq!(all.all(), list.len() as u64);
        for nodes in [0, 3, 4, 7, 8, 14, Cost::MAX] {
            let expected =
                list.iter().filter(|&&(step, cost)| (5..=60).contains(&step) && cost <= nodes).count();
            assert_eq!(all.up_to(5..=60, 1_000, nodes), Some(expected as u64), "within {nodes}");
        }
    }
}

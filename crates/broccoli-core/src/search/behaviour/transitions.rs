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
    #[inline]
    pub(super) fn count(&mut self, step: u64, cost: Cost) {
        *self.count_of(step, cost) += 1;
    }

    /// Takes back the count of a transition that was not asked for after all.
    pub(super) fn take_back(&mut self, step: u64, cost: Cost) {
        *self.count_of(step, cost) -= 1;
    }

    #[inline]
    fn count_of(&mut self, step: u64, cost: Cost) -> &mut u64 {
        let step = step.min(MOST_STEPS) as usize;
        if step >= self.counts.len() {
            self.make_room(step + 1);
        }
        &mut self.counts[step][(cost as usize).min(COSTS - 1)]
    }

    /// Adds what another walk has counted.
    pub(super) fn add(&mut self, other: &Transitions) {
        self.make_room(other.counts.len());
        for (own, others) in self.counts.as_flattened_mut().iter_mut().zip(other.counts.as_flattened()) {
            *own += others;
        }
    }

    /// Sees to it that there are so many steps, at least.
    #[cold]
    fn make_room(&mut self, steps: usize) {
        self.counts.resize(self.counts.len().max(steps), [0; COSTS]);
    }

    /// Whether they can be counts: none is so large that they could not be added up.
    pub(super) fn is_plausible(&self) -> bool {
        self.counts.len() <= MOST_STEPS as usize + 1
            && self.counts.as_flattened().iter().all(|&count| count < 1 << 40)
    }

    /// How many have a number in `steps`, up to a horizon, and leave a behaviour that needs fewer than `nodes` predicates;
    /// `None` if so many steps or nodes are not counted apart.
    fn fewer(&self, steps: RangeInclusive<u64>, horizon: u64, nodes: Cost) -> Option<u64> {
        let costs = if nodes == Cost::MAX { COSTS } else { nodes as usize };
        let is_apart = costs < COSTS || nodes == Cost::MAX;
        if !is_apart || (MOST_STEPS..horizon).contains(steps.end()) {
            return None;
        }
        let counted = self.counts.iter().zip(0..).filter(|(_, step)| steps.contains(step));
        Some(counted.flat_map(|(by_cost, _)| &by_cost[..costs]).sum())
    }

    /// How many queries any search must make from one initial state, if that is known.
    pub(super) fn necessary(&self, objective: Objective, best: Option<&Found>) -> Option<u64> {
        let horizon = objective.horizon();
        let fewer = |steps, nodes| self.fewer(steps, horizon, nodes);
        let best = best.map(|best| (best.score.value(objective), best.score.size, best.own_steps));
        match (objective, best) {
            _ if !objective.is_plain() => None,
            // Every transition before number `value`, and number `value` of all that a smaller tree can do.
            (Objective::Reach { .. }, Some((value, size, _))) => {
                Some(fewer(1..=value.saturating_sub(1), Cost::MAX)? + fewer(value..=value, size)?)
            }
            // Its own trace, and all that smaller trees can do.
            (_, Some((value, size, own))) if value == horizon => Some(own + fewer(1..=horizon, size)?),
            _ => fewer(1..=horizon, Cost::MAX),
        }
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
            if turn % 50 == 49 {
                all.add(&std::mem::take(&mut counted));
                let json = serde_json::to_string(&all).expect("numbers");
                all = serde_json::from_str(&json).expect("as it was written");
            }
        }
        for nodes in [0, 1, 4, 7, 8, 15, Cost::MAX] {
            let is_one = |&&(step, cost): &&(u64, Cost)| (5..=60).contains(&step) && cost < nodes;
            let expected = list.iter().filter(is_one).count() as u64;
            assert_eq!(all.fewer(5..=60, 1_000, nodes), Some(expected), "fewer than {nodes}");
        }
        assert_eq!(all.fewer(0..=1_000, 1_000, 16), None);
    }
}

//! How many transitions were asked for, by their number and by what the behaviour then costs.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::version_space::Cost;

/// How many costs are counted apart; greater ones count as the last.
const COSTS: usize = 16;
/// Up to which step transitions are counted apart; later ones count as this one.
const MOST_STEPS: u64 = 1 << 16;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Rows", into = "Rows")]
pub(super) struct Transitions {
    /// By the number of a step, and the cost of the behaviour after it: as many costs as there were so far.
    counts: Vec<u64>,
    costs: usize,
}

/// What is written down.
#[derive(Serialize, Deserialize)]
struct Rows {
    counts: Vec<[u64; COSTS]>,
}

impl From<Transitions> for Rows {
    fn from(transitions: Transitions) -> Self {
        let row = |row: &[u64]| std::array::from_fn(|cost| row.get(cost).copied().unwrap_or(0));
        Rows { counts: transitions.rows().map(row).collect() }
    }
}

impl From<Rows> for Transitions {
    fn from(rows: Rows) -> Self {
        Transitions { counts: rows.counts.concat(), costs: COSTS }
    }
}

impl Transitions {
    /// Counts a transition.
    #[inline]
    pub(super) fn count(&mut self, step: u64, cost: Cost) {
        let (step, cost) = place(step, cost);
        if cost >= self.costs || step * self.costs + cost >= self.counts.len() {
            self.make_room(step + step / 2 + 1, cost + 1);
        }
        self.counts[step * self.costs + cost] += 1;
    }

    /// Takes back the count of a transition that was not asked for after all.
    pub(super) fn take_back(&mut self, step: u64, cost: Cost) {
        let (step, cost) = place(step, cost);
        self.counts[step * self.costs + cost] -= 1;
    }

    /// Adds what another walk has counted.
    pub(super) fn add(&mut self, other: &Transitions) {
        self.make_room(other.rows().count(), other.costs);
        let costs = self.costs.max(1);
        for (own, others) in self.counts.chunks_exact_mut(costs).zip(other.rows()) {
            for (own, others) in own.iter_mut().zip(others) {
                *own += others;
            }
        }
    }

    /// Forgets all, and keeps the room that they took.
    pub(super) fn clear(&mut self) {
        self.counts.clear();
    }

    /// By the number of a step, counts by cost.
    fn rows(&self) -> impl Iterator<Item = &[u64]> {
        self.counts.chunks_exact(self.costs.max(1))
    }

    /// Sees to it that there are so many steps and costs, at least.
    #[cold]
    fn make_room(&mut self, steps: usize, costs: usize) {
        if costs > self.costs {
            let costs = costs.next_power_of_two().max(4);
            let mut counts = vec![0; self.rows().count() * costs];
            for (new, old) in counts.chunks_exact_mut(costs).zip(self.rows()) {
                new[..old.len()].copy_from_slice(old);
            }
            (self.counts, self.costs) = (counts, costs);
        }
        self.counts.resize(self.counts.len().max(steps * self.costs), 0);
    }

    /// Whether they can be counts: none is so large that they could not be added up.
    pub(super) fn is_plausible(&self) -> bool {
        self.counts.len() <= (MOST_STEPS as usize + 1) * 2 * COSTS
            && self.counts.iter().all(|&count| count < 1 << 40)
    }

    /// All of them.
    pub(super) fn all(&self) -> u64 {
        self.counts.iter().sum()
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
        let counted = self.rows().zip(0..).filter(|(_, step)| steps.contains(step));
        Some(counted.map(|(by_cost, _)| by_cost.iter().take(costs).sum::<u64>()).sum())
    }
}

/// Where a transition is counted.
#[inline]
fn place(step: u64, cost: Cost) -> (usize, usize) {
    (step.min(MOST_STEPS) as usize, (cost as usize).min(COSTS - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts that widen and lengthen as they go, added up, forgotten, written down and read, against a list.
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

//! How trees are compared, and when one cannot be good enough any more, for every objective.
//!
//! A value is what Broccoli says it is. Trees without one, which `reach` has, are compared by how many initial states
//! do not get there, and then by the steps of those that do: else there is nothing to climb.

use std::cmp::Ordering;

use broccoli_core::problem::{Aim, Objective, Over, Problem};

/// What a tree is worth; less is better.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Score {
    /// How many more initial states would have to get there.
    pub(crate) failed: u32,
    /// The value, with its sign changed if much is wanted; of a tree that fails, the steps of the runs that do not.
    pub(crate) number: f64,
}

impl Score {
    /// Worse than any.
    pub(crate) const WORST: Score = Score { failed: u32::MAX, number: f64::INFINITY };
    /// No worse than any tree that has a value.
    pub(crate) const ANY_VALUE: Score = Score { failed: 0, number: f64::INFINITY };
}

impl PartialEq for Score {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Score {}
impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        self.failed.cmp(&other.failed).then(self.number.total_cmp(&other.number))
    }
}

/// A trace that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// What it is worth, as [`Objective::worth`] says.
    Worth(u64),
    /// It did not get there.
    Failed,
    /// Given up: the tree cannot be as good as needed.
    Hopeless,
}

/// Judges one tree after the other.
pub(crate) struct Judge {
    objective: Objective,
    weights: Vec<f64>,
    /// How many initial states may fail.
    pub(crate) spare: u32,
    /// The best number that a trace can have which has not begun.
    best: f64,
    /// By initial state, of the present tree.
    pub(crate) values: Vec<Option<u64>>,
    is_known: Vec<bool>,
    need: Option<Score>,
    failed: u32,
    steps: f64,
}

impl Judge {
    pub(crate) fn new(problem: &Problem) -> Self {
        let (objective, count) = (problem.objective(), problem.initial_states().len());
        let spare = match objective.over() {
            // The fewest that are at least the share must get there.
            Over::Share(share) => {
                (1..=count).find(|&k| k as f64 / count as f64 >= share).map_or(0, |k| count - k)
            }
            _ => 0,
        };
        let weights = match objective.over() {
            Over::Mean => vec![1.0 / count as f64; count],
            Over::Sum => vec![1.0; count],
            Over::Weighted => problem.weights().to_vec(),
            _ => Vec::new(),
        };
        let mut judge = Judge {
            objective,
            weights,
            spare: spare as u32,
            best: 0.0,
            values: vec![None; count],
            is_known: vec![false; count],
            need: None,
            failed: 0,
            steps: 0.0,
        };
        judge.best = match objective {
            Objective::Reach { .. } => 0.0,
            Objective::Survive { horizon, .. } => -(horizon as f64),
            Objective::Return(_) => judge.at_best(0.0, 0),
        };
        judge
    }

    /// A number of which less is better.
    pub(crate) fn signed(&self, number: f64) -> f64 {
        if self.objective.is_minimised() { number } else { -number }
    }

    /// A tree comes up that is of interest if it is as good as this.
    pub(crate) fn begin(&mut self, need: Option<Score>) {
        self.need = need;
        (self.failed, self.steps) = (0, 0.0);
        self.values.fill(None);
        self.is_known.fill(false);
    }

    /// The worst number that the trace of this initial state may have, given those that are known and the best of the
    /// others. A trace beyond it is hopeless; a little room is left for rounding.
    pub(crate) fn target(&self, initial: usize) -> f64 {
        let Some(need) = self.need.filter(|need| need.failed == 0) else { return f64::INFINITY };
        if self.weights.is_empty() {
            return need.number;
        }
        let weight = self.weights[initial];
        if weight == 0.0 {
            return f64::INFINITY;
        }
        let mut size = need.number.abs();
        let mut left = need.number;
        for (other, &weight) in self.weights.iter().enumerate().filter(|&(other, _)| other != initial) {
            let number = if self.is_known[other] { self.number(other) } else { self.best };
            if weight > 0.0 {
                left -= weight * number;
                size += (weight * number).abs();
            }
        }
        // What is infinite is not known, and allows everything.
        if left.is_finite() { (left + 1e-9 * size.max(1.0)) / weight } else { f64::INFINITY }
    }

    /// The number of a trace that has ended and did not fail.
    fn number(&self, initial: usize) -> f64 {
        let value = self.values[initial].unwrap_or_default();
        let number = match self.objective {
            Objective::Return(_) => broccoli_core::problem::unrank(value),
            _ => value as f64,
        };
        self.signed(number)
    }

    /// The best number that a return can come to which has this total after so many steps.
    pub(crate) fn at_best(&self, total: f64, steps: u64) -> f64 {
        let Objective::Return(wanted) = self.objective else { return f64::NEG_INFINITY };
        let best = match wanted.aim {
            Aim::Maximise => wanted.high.map_or(f64::NEG_INFINITY, |high| -high),
            Aim::Minimise => wanted.low.unwrap_or(f64::NEG_INFINITY),
        };
        let left = wanted.horizon.saturating_sub(steps) as f64;
        // A run may end at once, and a discount only makes less of what comes.
        if left == 0.0 { self.signed(total) } else { self.signed(total) + left * best.min(0.0) }
    }

    /// A trace has ended. False if the tree cannot be as good as needed any more.
    pub(crate) fn ended(&mut self, initial: usize, steps: u64, end: End) -> bool {
        match end {
            End::Hopeless => return false,
            End::Failed => self.failed += 1,
            End::Worth(value) => {
                let target = self.target(initial);
                self.values[initial] = Some(value);
                self.is_known[initial] = true;
                if matches!(self.objective, Objective::Reach { .. }) {
                    self.steps += steps as f64;
                } else if self.number(initial) > target {
                    return false;
                }
            }
        }
        let Some(need) = self.need else { return true };
        let allowed = need.failed.saturating_add(self.spare);
        self.failed < allowed || self.failed == allowed && (need.failed == 0 || self.steps <= need.number)
    }

    /// What the tree is worth, all traces having ended.
    pub(crate) fn score(&self, value: Option<u64>) -> Score {
        match value {
            Some(value) => Score { failed: 0, number: self.signed(self.objective.number(value)) },
            None => Score { failed: self.failed.saturating_sub(self.spare).max(1), number: self.steps },
        }
    }
}

#[cfg(test)]
mod tests {
    use broccoli_core::problem::{Return, Thresholds};

    use super::*;

    fn judge(objective: Objective) -> Judge {
        let builder = Problem::builder().dimension("x", Thresholds::list([1.0]).unwrap());
        let builder = builder.action("a", 0.0).action("b", 1.0).initial([0.0]).initial([0.5]);
        Judge::new(&builder.objective(objective).build().unwrap())
    }

    #[test]
    fn rewards_that_may_still_come_count_at_their_best() {
        let Objective::Return(wanted) = Objective::maximise(20) else { panic!("a return") };
        let gains = judge(Objective::Return(Return { low: Some(0.0), high: Some(1.5), ..wanted }));
        assert_eq!((gains.at_best(5.0, 10), gains.at_best(5.0, 20)), (-20.0, -5.0));
        let losses = judge(Objective::Return(Return { low: Some(-1.0), high: Some(-0.5), ..wanted }));
        assert_eq!(losses.at_best(-5.0, 10), 5.0);
        let costs = Return { aim: Aim::Minimise, low: Some(-2.0), ..wanted };
        assert_eq!(judge(Objective::Return(costs)).at_best(5.0, 10), -15.0);
        assert_eq!(judge(Objective::Return(wanted)).at_best(5.0, 10), f64::NEG_INFINITY);
    }

    #[test]
    fn trees_that_fail_are_compared_by_how_many_get_there() {
        let mut judge = judge(Objective::reach(50));
        let mut run = |ends: [Option<u64>; 2], need| {
            judge.begin(need);
            let mut is_possible = true;
            for (initial, end) in ends.into_iter().enumerate() {
                let ended = end.map_or(End::Failed, End::Worth);
                is_possible = is_possible && judge.ended(initial, end.unwrap_or(50), ended);
            }
            let value = ends[0].zip(ends[1]).map(|(a, b)| a.max(b));
            (judge.score(value), is_possible)
        };
        let (none, both) = (run([None, None], None).0, run([Some(9), Some(30)], None).0);
        let (quick, slow) = (run([Some(9), None], None).0, run([None, Some(30)], None).0);
        assert!(both < quick && quick < slow && slow < none && none < Score::WORST);
        assert!(run([None, Some(9)], Some(slow)).1 && !run([None, Some(31)], Some(slow)).1);
        assert!(!run([None, Some(9)], Some(Score::ANY_VALUE)).1);
    }
}

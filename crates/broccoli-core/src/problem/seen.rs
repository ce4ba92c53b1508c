//! The best rewards that were seen so far. What they would add up to is an estimate of the best return there can be:
//! for people, where nothing is known of rewards beforehand, and never for a proof.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use super::measure::aggregate;
use super::{Aim, Objective, Problem, Return, Verdict, rank, unrank};

/// Of so many steps the rewards are kept one by one; those of later steps together.
const MOST_STEPS: u64 = 4_096;

/// For each step of a trace the best reward that was seen, whichever systems, threads and initial states gave it.
#[derive(Debug)]
pub(crate) struct SeenRewards {
    objective: Objective,
    wanted: Return,
    weights: Vec<f64>,
    initials: usize,
    /// By the number of the step: of those that went on, and of those that ended a trace. The greater, the better; 0 if
    /// there was none.
    went_on: Vec<AtomicU64>,
    ended: Vec<AtomicU64>,
    is_new: AtomicBool,
}

impl SeenRewards {
    /// For a problem whose rewards have no bound.
    pub(crate) fn new(problem: &Problem) -> Option<Self> {
        let objective = problem.objective();
        let Objective::Return(wanted) = objective else { return None };
        let none = || (0..wanted.horizon.min(MOST_STEPS)).map(|_| AtomicU64::new(0)).collect();
        (!wanted.is_bounded()).then(|| SeenRewards {
            objective,
            wanted,
            weights: problem.weights().to_vec(),
            initials: problem.initial_states().len(),
            went_on: none(),
            ended: none(),
            is_new: AtomicBool::new(false),
        })
    }

    /// A step, given by its number from 1, had this reward.
    #[inline]
    pub(crate) fn note(&self, step: u64, reward: f64, verdict: Verdict) {
        let of_kind = if verdict == Verdict::Running { &self.went_on } else { &self.ended };
        let index = (step as usize).min(of_kind.len()).saturating_sub(1);
        let Some(best) = of_kind.get(index) else { return };
        let key = if self.wanted.aim == Aim::Maximise { rank(reward) } else { !rank(reward) };
        if key > best.load(Relaxed) {
            best.fetch_max(key, Relaxed);
            self.is_new.store(true, Relaxed);
        }
    }

    /// Whether something better was seen since this was asked last.
    pub(crate) fn take_news(&self) -> bool {
        self.is_new.swap(false, Relaxed)
    }

    /// The value of a tree whose every step has the best reward that was seen in such a step, and whose traces end where
    /// that is best: at the horizon, or where one has ended. Beyond the longest trace the best reward of all counts.
    pub(crate) fn estimate(&self) -> Option<u64> {
        let reward = |key: &AtomicU64| match key.load(Relaxed) {
            0 => None,
            key if self.wanted.aim == Aim::Maximise => Some(unrank(key)),
            key => Some(unrank(!key)),
        };
        let better = |a: f64, b: f64| if self.wanted.aim == Aim::Maximise { a.max(b) } else { a.min(b) };
        let best = self.went_on.iter().filter_map(reward).reduce(better);
        let (mut total, mut factor, mut value) = (0.0, 1.0, None::<f64>);
        for (went_on, ended) in self.went_on.iter().zip(&self.ended) {
            if let Some(last) = reward(ended) {
                let end = Return::add(total, factor, last);
                value = Some(value.map_or(end, |value| better(value, end)));
            }
            let Some(next) = reward(went_on).or(best) else { break };
            total = Return::add(total, factor, next);
            factor *= self.wanted.discount;
        }
        if let Some(last) = self.went_on.last().and_then(reward).or(best) {
            let left = self.wanted.horizon.saturating_sub(MOST_STEPS) as f64;
            let (one, discount) = (factor * last, self.wanted.discount);
            let rest = if discount < 1.0 { (1.0 - discount.powf(left)) / (1.0 - discount) } else { left };
            let whole = total + one * rest;
            value = Some(value.map_or(whole, |value| better(value, whole)));
        }
        let values = vec![value?; self.initials];
        aggregate(self.objective, &self.weights, &values, &mut Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Over, Thresholds};
    use super::*;

    fn seen(
        horizon: u64,
        aim: Aim,
        discount: f64,
        over: Over,
        rewards: &[(u64, f64, Verdict)],
    ) -> Option<f64> {
        let objective = Objective::Return(Return { horizon, aim, discount, low: None, high: None, over });
        let problem = Problem::builder()
            .dimension("x", Thresholds::none())
            .action("a", 0.0)
            .action("b", 1.0)
            .initial([0.0])
            .initial([1.0])
            .objective(objective)
            .build()
            .unwrap();
        let seen = SeenRewards::new(&problem).unwrap();
        assert!(!seen.take_news());
        rewards.iter().for_each(|&(step, reward, verdict)| seen.note(step, reward, verdict));
        assert_eq!((seen.take_news(), seen.take_news()), (!rewards.is_empty(), false));
        seen.estimate().map(unrank)
    }

    #[test]
    fn what_rewards_add_up_to() {
        use Verdict::{Running, Satisfied, Violated};
        let most = |horizon, rewards: &[_]| seen(horizon, Aim::Maximise, 1.0, Over::Mean, rewards);
        assert_eq!(most(3, &[]), None);
        // The best of each step; and of all steps, where none was made.
        let costs = [(1, -5.0, Running), (1, -4.0, Running), (2, -1.0, Running), (3, -2.0, Running)];
        assert_eq!(most(3, &costs), Some(-7.0));
        assert_eq!(most(5, &costs), Some(-9.0));
        // A trace ended after the first step; it might be the best that does.
        assert_eq!(most(3, &[&costs[..], &[(2, 0.0, Satisfied)]].concat()), Some(-4.0));
        assert_eq!(most(3, &[&costs[..], &[(2, -100.0, Violated)]].concat()), Some(-7.0));
        let long = [(1, 1.0, Running), (2, 1.0, Violated)];
        assert_eq!(most(500, &long), Some(500.0));
        assert_eq!(most(100_000, &long), Some(100_000.0));
        assert_eq!(seen(2, Aim::Minimise, 1.0, Over::Sum, &costs[..3]), Some(-12.0));
        assert_eq!(seen(3, Aim::Maximise, 0.5, Over::Worst, &costs), Some(-5.0));
        let endless = seen(u64::MAX, Aim::Maximise, 0.999, Over::Worst, &long).unwrap();
        assert!((endless - 1_000.0).abs() < 1e-6, "{endless}");
    }
}

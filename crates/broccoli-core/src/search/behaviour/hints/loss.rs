//! What a tree is worth as a step on the way to a good one. It is told of trees that fail, too, which have no value.

use serde::{Deserialize, Serialize};

use crate::problem::measure::{FAILED, Tally, wanted};
use crate::problem::{Aim, Objective, Over, Problem, Verdict};

/// The less, the better: first the traces that fail and may not, then the value, then the size.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
pub(super) struct Loss {
    pub(super) fails: usize,
    #[serde(with = "super::super::leaves::bits")]
    pub(super) value: f64,
    pub(super) size: usize,
}

impl Loss {
    /// No tree is worse.
    pub(super) const WORST: Loss = Loss { fails: usize::MAX, value: f64::INFINITY, size: usize::MAX };

    /// Whether fewer fails, or the same and a better value, or the same with this size would be better.
    fn allows(&self, fails: usize, value: f64, size: usize) -> bool {
        Loss { fails, value, size } < *self
    }
}

/// Judges behaviours. The loss of a trace is its steps, or what it falls short of, or its rewards with the sign that makes
/// less better; one that fails is `FAILED`.
#[derive(Clone, Debug)]
pub(super) struct Judge {
    objective: Objective,
    horizon: u64,
    weights: Vec<f64>,
    /// Adds up rewards, and knows what is possible at best.
    tally: Option<Box<Tally>>,
}

impl Judge {
    pub(super) fn new(problem: &Problem) -> Self {
        let objective = problem.objective();
        Judge {
            objective,
            horizon: objective.horizon(),
            weights: problem.weights().to_vec(),
            tally: Tally::new(problem).map(Box::new),
        }
    }

    /// Whether the value is that of the worst trace, so that one trace can rule a tree out.
    pub(super) fn is_worst(&self) -> bool {
        self.objective.over() == Over::Worst
    }

    /// The rewards of a trace, with one more.
    pub(super) fn add(&mut self, total: f64, step: u64, reward: f64) -> f64 {
        self.tally.as_mut().map_or(total, |tally| tally.add(total, step, reward))
    }

    fn sign(&self) -> f64 {
        if let Objective::Return(wanted) = self.objective
            && wanted.aim == Aim::Maximise
        {
            -1.0
        } else {
            1.0
        }
    }

    /// The loss of a trace that has ended; `Running`: it is not run on.
    pub(super) fn loss(&self, verdict: Verdict, steps: u64, total: f64) -> f64 {
        match (self.objective, verdict) {
            (Objective::Reach { .. }, Verdict::Satisfied) => steps as f64,
            (Objective::Reach { .. }, _) => FAILED,
            (Objective::Survive { horizon, .. }, Verdict::Violated) => horizon as f64 - steps as f64,
            (Objective::Survive { .. }, _) => 0.0,
            (Objective::Return(_), _) => self.sign() * total,
        }
    }

    /// What the problem calls the value of a trace with this loss.
    pub(super) fn value(&self, loss: f64) -> Option<u64> {
        match self.objective {
            _ if loss == FAILED => None,
            Objective::Reach { .. } => Some(loss as u64),
            Objective::Survive { horizon, .. } => Some(horizon - loss as u64),
            Objective::Return(_) => Some(crate::problem::rank(self.sign() * loss)),
        }
    }

    /// The loss of a trace that the problem gives this value, in steps.
    pub(super) fn loss_of(&self, value: u64) -> f64 {
        match self.objective {
            Objective::Survive { horizon, .. } => horizon.saturating_sub(value) as f64,
            Objective::Reach { .. } => value as f64,
            Objective::Return(_) => self.sign() * crate::problem::unrank(value),
        }
    }

    /// The least loss of a trace that was not started.
    fn least(&self) -> f64 {
        match (self.objective, &self.tally) {
            (Objective::Return(wanted), Some(tally)) if wanted.is_bounded() => self.sign() * tally.best(),
            (Objective::Return(_), _) => f64::NEG_INFINITY,
            _ => 0.0,
        }
    }

    /// How many traces of so many may fail.
    fn may_fail(&self, states: usize) -> usize {
        match self.objective.over() {
            Over::Share(share) => states - wanted(share, states),
            _ => 0,
        }
    }

    fn weight(&self, initial: u32, states: usize) -> f64 {
        match self.objective.over() {
            Over::Mean => 1.0 / states as f64,
            Over::Weighted => self.weights[initial as usize],
            _ => 1.0,
        }
    }

    /// Fails and value of the traces from some initial states, of which the first ones have these losses; all others are
    /// as good as can be.
    fn at_best(&self, order: &[u32], losses: &[f64]) -> (usize, f64) {
        let failed = losses.iter().filter(|&&loss| loss == FAILED).count();
        let may_fail = self.may_fail(order.len());
        let fails = failed.saturating_sub(may_fail);
        let good = order.iter().zip(losses).filter(|(_, loss)| **loss != FAILED);
        let least = self.least();
        let others = &order[losses.len()..];
        let value = match self.objective.over() {
            Over::Worst => good.fold(f64::NEG_INFINITY, |worst, (_, &loss)| worst.max(loss)),
            Over::Share(_) => {
                // Those that are not known are the best; as many of the others count as there have to be.
                let wanted = (order.len() - may_fail).saturating_sub(others.len());
                let mut good: Vec<f64> = good.map(|(_, &loss)| loss).collect();
                good.sort_by(f64::total_cmp);
                wanted
                    .checked_sub(1)
                    .map_or(0.0, |last| good.get(last).or(good.last()).copied().unwrap_or(0.0))
            }
            _ => {
                let known: f64 = good.map(|(&initial, loss)| self.weight(initial, order.len()) * loss).sum();
                let unknown = |&initial: &u32| match self.weight(initial, order.len()) {
                    0.0 => 0.0,
                    weight => weight * least,
                };
                known + others.iter().map(unknown).sum::<f64>()
            }
        };
        (fails, value)
    }

    /// The loss of a behaviour all of whose traces are known.
    pub(super) fn total(&self, order: &[u32], losses: &[f64], size: usize) -> Loss {
        let (fails, value) = self.at_best(order, losses);
        Loss { fails, value, size }
    }

    /// Whether a behaviour with these traces may become better than `must`, if a tree for it has `size` predicates.
    pub(super) fn is_hopeful(&self, order: &[u32], losses: &[f64], must: &Loss, size: usize) -> bool {
        let (fails, value) = self.at_best(order, losses);
        let value = if losses.is_empty() { self.least().max(value) } else { value };
        must.allows(fails, value, size)
    }

    /// How many steps the next trace may make. `patience`: no tree is wanted whose traces take longer.
    pub(super) fn limit(
        &self,
        order: &[u32],
        losses: &[f64],
        must: &Loss,
        size: usize,
        patience: u64,
    ) -> u64 {
        let most = match self.objective {
            Objective::Return(_) => return self.horizon,
            Objective::Survive { .. } if !self.is_worst() => return self.horizon,
            // A trace that lives as long as the worst one so far makes no difference.
            Objective::Survive { horizon, .. } => {
                let worst = losses.iter().fold(0.0, |worst: f64, &loss| worst.max(loss));
                return horizon - worst as u64;
            }
            Objective::Reach { .. } => patience.min(self.horizon),
        };
        if must.fails > 0 {
            return most;
        }
        let (_, value) = self.at_best(order, losses);
        let longest = match self.objective.over() {
            Over::Worst | Over::Share(_) if size >= must.size => must.value - 1.0,
            Over::Worst | Over::Share(_) => must.value,
            _ => match self.weight(order[losses.len()], order.len()) {
                0.0 => f64::INFINITY,
                weight => (must.value - value.max(0.0)) / weight,
            },
        };
        most.min(longest.max(0.0) as u64)
    }

    /// Whether a running trace may still become better than `must`: of rewards only.
    pub(super) fn may_go_on(
        &mut self,
        order: &[u32],
        losses: &mut Vec<f64>,
        (steps, total): (u64, f64),
        must: &Loss,
        size: usize,
    ) -> bool {
        let Objective::Return(wanted) = self.objective else { return true };
        let Some(tally) = self.tally.as_mut().filter(|_| wanted.is_bounded()) else { return true };
        let best = tally.at_best(total, steps);
        losses.push(self.sign() * best);
        let is_hopeful = self.is_hopeful(order, losses, must, size);
        losses.pop();
        is_hopeful
    }

    /// Whether a behaviour seems worse than another, after some of its traces: a race. It may be wrong, where all traces
    /// count, and is never asked what is proved.
    pub(super) fn seems_worse(&self, order: &[u32], losses: &[f64], others: &[f64]) -> bool {
        let count = losses.len();
        // One that fails is worse than any, whatever it is elsewhere.
        let has_value = |&initial: &u32| others[initial as usize] != FAILED;
        let is_race = matches!(self.objective.over(), Over::Mean | Over::Sum)
            && !others.is_empty()
            && order.iter().all(has_value);
        if !is_race || count < LEAST_RACED {
            return false;
        }
        let gains = order.iter().zip(losses).map(|(&initial, loss)| others[initial as usize] - loss);
        let gains: Vec<f64> = gains.filter(|gain| gain.is_finite()).collect();
        let count = gains.len().max(1) as f64;
        let mean = gains.iter().sum::<f64>() / count;
        let variance =
            gains.iter().map(|gain| (gain - mean) * (gain - mean)).sum::<f64>() / (count - 1.0).max(1.0);
        mean + SURE * (variance / count).sqrt() < 0.0
    }
}

/// So many traces are raced at least.
const LEAST_RACED: usize = 3;
/// By so many standard errors a mean must be worse.
const SURE: f64 = 1.5;

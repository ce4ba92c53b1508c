//! What is asked of a tree, and which of two values is better.
//!
//! An objective has three parts: what one trace is worth ([`Objective`]), what the traces of all initial
//! states are worth together ([`Over`]), and, from both, the best that is still possible when only a part
//! has been run (`measure`). All pruning follows from the last.
//!
//! Engines compare values as `u64`: numbers of steps where a value is one, else the [rank](rank) of a
//! floating-point number. Sums of floats are exact in this sense: the order of summation is fixed (steps in
//! the order of the trace, traces in the order of the initial states), every comparison is exact, and rounding
//! is monotone, so that what is possible at best, summed in the same order, is never below what is reached.

use serde::{Deserialize, Serialize};

use super::Verdict;

/// How the values of several initial states become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Over {
    /// The worst of them.
    #[default]
    Worst,
    /// Their mean.
    Mean,
    /// Their sum.
    Sum,
    /// Their sum, each times the weight of its initial state.
    Weighted,
    /// `reach` only: the value of the k-th best of M, k the least with k / M at least the share, so that the
    /// others may fail.
    Share(f64),
}

/// Whether much or little is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Aim {
    /// The more the better.
    #[default]
    Maximise,
    /// The less the better.
    Minimise,
}

/// The sum of the rewards that the system gives.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Return {
    /// The most steps of a trace. It ends earlier with the first verdict other than `Running`.
    pub horizon: u64,
    /// Whether much or little is wanted.
    pub aim: Aim,
    /// What a reward counts for one step later, from 0 to 1: the reward of step t counts `discount`
    /// multiplied by itself t - 1 times.
    pub discount: f64,
    /// No reward is less; without, nothing is known.
    pub low: Option<f64>,
    /// No reward is more; without, nothing is known.
    pub high: Option<f64>,
    /// How the values of several initial states become one.
    pub over: Over,
}

impl Return {
    /// The sum with one more reward, which counts `factor`.
    #[inline]
    pub(crate) fn add(total: f64, factor: f64, reward: f64) -> f64 {
        total + factor * reward
    }

    /// The best reward there can be.
    pub(crate) fn best_reward(&self) -> f64 {
        match self.aim {
            Aim::Maximise => self.high.unwrap_or(f64::INFINITY),
            Aim::Minimise => self.low.unwrap_or(f64::NEG_INFINITY),
        }
    }

    /// Whether the best reward is known, so that a search can prune.
    pub fn is_bounded(&self) -> bool {
        self.best_reward().is_finite()
    }
}

/// What is wanted; over all initial states, and within a horizon.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "objective", rename_all = "lowercase")]
pub enum Objective {
    /// Minimise the number of steps until `Satisfied`. A trace that is `Violated`, or not `Satisfied` within
    /// the horizon, fails; a tree with a failing trace has no value, unless only a share of them is asked for.
    Reach {
        /// The most steps a trace may take.
        horizon: u64,
        /// How the values of several initial states become one.
        #[serde(default)]
        over: Over,
    },
    /// Maximise the number of steps until `Violated`, the violating step included and the horizon being the
    /// most that counts; `Satisfied` counts as reaching the horizon.
    Survive {
        /// The number of steps after which a trace counts as perfect.
        horizon: u64,
        /// How the values of several initial states become one.
        #[serde(default)]
        over: Over,
    },
    /// Maximise, or minimise, the sum of the rewards.
    Return(Return),
}

impl Objective {
    /// [`Objective::Reach`] within `horizon` steps, from the worst initial state.
    pub const fn reach(horizon: u64) -> Self {
        Objective::Reach { horizon, over: Over::Worst }
    }

    /// [`Objective::Survive`] for up to `horizon` steps, from the worst initial state.
    pub const fn survive(horizon: u64) -> Self {
        Objective::Survive { horizon, over: Over::Worst }
    }

    /// [`Objective::Return`] of up to `horizon` steps, undiscounted, from the worst initial state, with rewards
    /// of which nothing is known.
    pub const fn maximise(horizon: u64) -> Self {
        let (discount, over) = (1.0, Over::Worst);
        Objective::Return(Return { horizon, aim: Aim::Maximise, discount, low: None, high: None, over })
    }

    /// The same over the initial states in another way.
    ///
    /// ```
    /// use broccoli_core::problem::{Objective, Over};
    /// assert_eq!(Objective::reach(10).across(Over::Mean).over(), Over::Mean);
    /// ```
    pub fn across(mut self, across: Over) -> Self {
        match &mut self {
            Objective::Reach { over, .. } | Objective::Survive { over, .. } => *over = across,
            Objective::Return(wanted) => wanted.over = across,
        }
        self
    }

    /// The same within another horizon.
    pub fn within(mut self, steps: u64) -> Self {
        match &mut self {
            Objective::Reach { horizon, .. } | Objective::Survive { horizon, .. } => *horizon = steps,
            Objective::Return(wanted) => wanted.horizon = steps,
        }
        self
    }

    /// The most steps any trace takes.
    pub fn horizon(&self) -> u64 {
        match *self {
            Objective::Reach { horizon, .. } | Objective::Survive { horizon, .. } => horizon,
            Objective::Return(wanted) => wanted.horizon,
        }
    }

    /// How the values of several initial states become one.
    pub fn over(&self) -> Over {
        match *self {
            Objective::Reach { over, .. } | Objective::Survive { over, .. } => over,
            Objective::Return(wanted) => wanted.over,
        }
    }

    /// `"reach"`, `"survive"` or `"return"`.
    pub fn name(&self) -> &'static str {
        match self {
            Objective::Reach { .. } => "reach",
            Objective::Survive { .. } => "survive",
            Objective::Return(_) => "return",
        }
    }

    /// Whether the system has to give rewards.
    pub fn wants_rewards(&self) -> bool {
        matches!(self, Objective::Return(_))
    }

    /// Whether it is `reach` or `survive` from the worst initial state: what the paper asks, what every
    /// engine can search for and a certificate can prove.
    pub fn is_plain(&self) -> bool {
        !self.wants_rewards() && self.over() == Over::Worst
    }

    /// Whether the best is the least.
    pub fn is_minimised(&self) -> bool {
        match self {
            Objective::Reach { .. } => true,
            Objective::Survive { .. } => false,
            Objective::Return(wanted) => wanted.aim == Aim::Minimise,
        }
    }

    /// The value of a trace that ended with this verdict, if only at the horizon: steps, or the [`rank`] of its
    /// rewards; `None` if it fails.
    pub fn worth(&self, verdict: Verdict, steps: u64, rewards: f64) -> Option<u64> {
        match (self, verdict) {
            (Objective::Reach { .. }, Verdict::Satisfied) => Some(steps),
            (Objective::Reach { .. }, _) => None,
            (Objective::Survive { .. }, Verdict::Violated) => Some(steps),
            (Objective::Survive { horizon, .. }, _) => Some(*horizon),
            (Objective::Return(_), _) => Some(rank(rewards)),
        }
    }

    /// Whether values are numbers of steps. If not, a value is a [`rank`], of the number that
    /// [`Objective::number`] tells.
    pub fn is_in_steps(&self) -> bool {
        !self.wants_rewards() && matches!(self.over(), Over::Worst | Over::Share(_))
    }

    /// The number that a value stands for.
    ///
    /// ```
    /// use broccoli_core::problem::{Objective, Over, rank};
    /// assert_eq!(Objective::reach(10).number(3), 3.0);
    /// assert_eq!(Objective::reach(10).across(Over::Mean).number(rank(2.5)), 2.5);
    /// ```
    pub fn number(&self, value: u64) -> f64 {
        if self.is_in_steps() { value as f64 } else { unrank(value) }
    }

    /// A value as people and programs see it; none if it is infinite, which says nothing.
    ///
    /// ```
    /// use broccoli_core::problem::{Objective, Value, rank};
    /// assert_eq!(Objective::reach(10).shown(3), Some(Value::Steps(3)));
    /// assert_eq!(Objective::maximise(10).shown(rank(-2.5)), Some(Value::Number(-2.5)));
    /// assert_eq!(Objective::maximise(10).read(Value::Number(-2.5)), rank(-2.5));
    /// ```
    pub fn shown(&self, value: u64) -> Option<Value> {
        match self.is_in_steps() {
            true => Some(Value::Steps(value)),
            false => Some(unrank(value)).filter(|number| number.is_finite()).map(Value::Number),
        }
    }

    /// The value that is seen as this.
    pub fn read(&self, value: Value) -> u64 {
        match (self.is_in_steps(), value) {
            (true, Value::Steps(steps)) => steps,
            (true, Value::Number(number)) => number as u64,
            (false, value) => rank(value.number()),
        }
    }

    /// Whether value `a` is strictly better than value `b`.
    ///
    /// ```
    /// use broccoli_core::problem::Objective;
    /// assert!(Objective::reach(10).is_better(3, 4));
    /// assert!(Objective::survive(10).is_better(4, 3));
    /// ```
    #[inline]
    pub fn is_better(&self, a: u64, b: u64) -> bool {
        if self.is_minimised() { a < b } else { a > b }
    }

    /// The best value that another tree may have if `value` is to be within `gap` of it, where
    /// gap = |value - bound| / max(|value|, 1); none is better than `perfect`.
    ///
    /// ```
    /// use broccoli_core::problem::Objective;
    /// assert_eq!(Objective::reach(500).within_gap(101, 0.05, 0), 96);
    /// assert_eq!(Objective::survive(500).within_gap(101, 0.05, 500), 106);
    /// assert_eq!(Objective::survive(500).within_gap(101, 9.0, 500), 500);
    /// ```
    pub fn within_gap(&self, value: u64, gap: f64, perfect: u64) -> u64 {
        let number = self.number(value);
        // Of numbers that may be negative, a larger gap would allow the more the better the value is.
        let gap = if self.is_in_steps() { gap } else { gap.min(1.0) };
        let slack = gap * number.abs().max(1.0);
        let best = match (self.is_in_steps(), self.is_minimised()) {
            (true, true) => value.saturating_sub(slack as u64),
            (true, false) => value.saturating_add(slack as u64),
            (false, true) => rank(number - slack),
            (false, false) => rank(number + slack),
        };
        if self.is_better(best, perfect) { perfect } else { best }
    }
}

/// A value as people and programs see it: a number of steps, or any number.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// So many steps.
    Steps(u64),
    /// A mean, a sum or a return.
    Number(f64),
}

impl Value {
    /// As a number, whatever it is.
    pub fn number(self) -> f64 {
        match self {
            Value::Steps(steps) => steps as f64,
            Value::Number(number) => number,
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Steps(steps) => write!(f, "{steps}"),
            Value::Number(number) => write!(f, "{number}"),
        }
    }
}

/// A whole number for a float, in the same order. Both zeros have one rank.
///
/// ```
/// use broccoli_core::problem::{rank, unrank};
/// assert!(rank(-2.5) < rank(-0.0) && rank(-0.0) == rank(0.0) && rank(0.0) < rank(1e-300));
/// assert_eq!(unrank(rank(-2.5)), -2.5);
/// ```
pub fn rank(number: f64) -> u64 {
    let bits = (number + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// The float of a [`rank`].
pub fn unrank(rank: u64) -> f64 {
    f64::from_bits(if rank >> 63 == 1 { rank & !(1 << 63) } else { !rank })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_ordered_like_their_numbers() {
        let numbers = [f64::NEG_INFINITY, -1e300, -1.5, -1e-310, 0.0, 1e-310, 0.1, 7.0, f64::INFINITY];
        for pair in numbers.windows(2) {
            assert!(rank(pair[0]) < rank(pair[1]), "{pair:?}");
        }
        for number in numbers {
            assert_eq!(unrank(rank(number)), number);
        }
    }

    #[test]
    fn a_gap_of_numbers_is_relative_to_them() {
        let mean = Objective::reach(500).across(Over::Mean);
        assert_eq!(mean.number(mean.within_gap(rank(200.0), 0.25, rank(0.0))), 150.0);
        assert_eq!(mean.number(mean.within_gap(rank(200.0), 2.0, rank(0.0))), 0.0);
        let cost = Objective::maximise(9);
        let most = rank(f64::INFINITY);
        assert_eq!(cost.number(cost.within_gap(rank(-200.0), 0.25, most)), -150.0);
        assert_eq!(cost.number(cost.within_gap(rank(0.5), 0.25, most)), 0.75);
    }
}

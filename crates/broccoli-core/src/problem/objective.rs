//! What is asked of a tree, and which of two values is better.

use serde::{Deserialize, Serialize};

/// Reach the goal in the fewest steps, or survive the longest; both over all initial states, and
/// both within a horizon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "objective", rename_all = "lowercase")]
pub enum Objective {
    /// Minimise the largest number of steps until `Satisfied`. A trace that is `Violated`, or not
    /// `Satisfied` within the horizon, fails; a tree with a failing trace has no value.
    Reach {
        /// The most steps a trace may take.
        horizon: u64,
    },
    /// Maximise the smallest number of steps until `Violated`, the violating step included and the
    /// horizon being the most that counts; `Satisfied` counts as reaching the horizon.
    Survive {
        /// The number of steps after which a trace counts as perfect.
        horizon: u64,
    },
}

impl Objective {
    /// [`Objective::Reach`] within `horizon` steps.
    pub fn reach(horizon: u64) -> Self {
        Objective::Reach { horizon }
    }

    /// [`Objective::Survive`] for up to `horizon` steps.
    pub fn survive(horizon: u64) -> Self {
        Objective::Survive { horizon }
    }

    /// The most steps any trace takes.
    pub fn horizon(&self) -> u64 {
        match *self {
            Objective::Reach { horizon } | Objective::Survive { horizon } => horizon,
        }
    }

    /// `"reach"` or `"survive"`.
    pub fn name(&self) -> &'static str {
        match self {
            Objective::Reach { .. } => "reach",
            Objective::Survive { .. } => "survive",
        }
    }

    /// Whether value `a` is strictly better than value `b`.
    ///
    /// ```
    /// use broccoli_core::problem::Objective;
    /// assert!(Objective::reach(10).is_better(3, 4));
    /// assert!(Objective::survive(10).is_better(4, 3));
    /// ```
    pub fn is_better(&self, a: u64, b: u64) -> bool {
        match self {
            Objective::Reach { .. } => a < b,
            Objective::Survive { .. } => a > b,
        }
    }

    /// The best value that another tree may have if `value` is to be within `gap` of it, where
    /// gap = |value - bound| / max(value, 1).
    ///
    /// ```
    /// use broccoli_core::problem::Objective;
    /// assert_eq!(Objective::reach(500).within_gap(101, 0.05), 96);
    /// assert_eq!(Objective::survive(500).within_gap(101, 0.05), 106);
    /// assert_eq!(Objective::survive(500).within_gap(101, 9.0), 500);
    /// ```
    pub fn within_gap(&self, value: u64, gap: f64) -> u64 {
        let slack = (gap * value.max(1) as f64) as u64;
        match *self {
            Objective::Reach { .. } => value.saturating_sub(slack),
            Objective::Survive { horizon } => value.saturating_add(slack).min(horizon.max(value)),
        }
    }

    /// The value over all initial states, from the values of their traces.
    pub fn worst(&self, values: impl IntoIterator<Item = u64>) -> Option<u64> {
        match self {
            Objective::Reach { .. } => values.into_iter().max(),
            Objective::Survive { .. } => values.into_iter().min(),
        }
    }

    /// The value that no tree can beat: 0 steps to the goal, or the whole horizon survived.
    pub fn perfect(&self) -> u64 {
        match *self {
            Objective::Reach { .. } => 0,
            Objective::Survive { horizon } => horizon,
        }
    }
}

//! What a problem file, or a command line, says about the objective, over what the target has.

use broccoli_core::problem::{Aim, Objective, Over, Return};

use crate::target::Target;

/// What a trace is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectiveKind {
    /// The steps until the goal.
    Reach,
    /// The steps until a violation.
    Survive,
    /// The sum of the rewards.
    Return,
}

/// What is said about the objective; all else is as the target has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectiveChoice {
    /// What a trace is worth.
    pub kind: Option<ObjectiveKind>,
    /// The most steps of a trace.
    pub horizon: Option<u64>,
    /// How the values of several initial states become one.
    pub over: Option<Over>,
    /// What each initial state weighs; then their weighted sum is wanted.
    pub weights: Option<Vec<f64>>,
    /// What a reward counts for one step later.
    pub discount: Option<f64>,
    /// Whether much or little is wanted.
    pub aim: Option<Aim>,
    /// The least and the largest reward of a step.
    pub rewards: Option<(f64, f64)>,
}

impl ObjectiveChoice {
    /// Whether anything is said.
    pub fn is_any(&self) -> bool {
        *self != ObjectiveChoice::default()
    }

    /// What is said that only returns have.
    fn about_rewards(&self) -> Option<&'static str> {
        let said = [
            (self.discount.is_some(), "a discount is"),
            (self.aim.is_some(), "minimising is"),
            (self.rewards.is_some(), "bounds of rewards are"),
        ];
        said.into_iter().find_map(|(is_said, what)| is_said.then_some(what))
    }
}

/// What a foreign system, with the conditions of its file, can say of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Says {
    pub(crate) satisfied: bool,
    pub(crate) violated: bool,
    pub(crate) rewards: bool,
    /// What it takes to promise rewards.
    pub(crate) promise: &'static str,
}

/// What an objective needs and nobody gives.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Lack {
    /// A verdict.
    #[error("nobody says when a run of {system:?} is {verdict}")]
    Verdict {
        /// What the system is called.
        system: String,
        /// Which verdict.
        verdict: &'static str,
    },
    /// Rewards.
    #[error("{system:?} does not promise rewards: {promise}")]
    Rewards {
        /// What the system is called.
        system: String,
        /// What it takes to promise them.
        promise: &'static str,
    },
}

impl Lack {
    /// What to do about it, if the message does not say so.
    pub fn help(&self) -> Option<String> {
        match self {
            Lack::Verdict { verdict, .. } => Some(format!("add {verdict} = \"…\" to [system]")),
            Lack::Rewards { .. } => None,
        }
    }
}

impl Target {
    /// Sets what is wanted.
    ///
    /// # Errors
    /// When rewards are wanted of a built-in environment that has none, or something is said of rewards that
    /// are not wanted.
    pub fn choose_objective(&mut self, choice: &ObjectiveChoice) -> Result<(), String> {
        let before = self.objective;
        let horizon = choice.horizon.unwrap_or(before.horizon());
        let mut objective = match (choice.kind, before) {
            (None, _) | (Some(ObjectiveKind::Return), Objective::Return(_)) => before,
            (Some(ObjectiveKind::Reach), _) => Objective::reach(before.horizon()).across(before.over()),
            (Some(ObjectiveKind::Survive), _) => Objective::survive(before.horizon()).across(before.over()),
            (Some(ObjectiveKind::Return), _) => {
                self.own_return().unwrap_or(Objective::maximise(horizon)).across(before.over())
            }
        };
        if let Some(horizon) = choice.horizon {
            objective = objective.within(horizon);
        }
        if let Objective::Return(wanted) = &mut objective {
            *wanted = Return {
                discount: choice.discount.unwrap_or(wanted.discount),
                aim: choice.aim.unwrap_or(wanted.aim),
                low: choice.rewards.map_or(wanted.low, |(low, _)| Some(low)),
                high: choice.rewards.map_or(wanted.high, |(_, high)| Some(high)),
                ..*wanted
            };
        } else if let Some(what) = choice.about_rewards() {
            return Err(format!("{what} for `return`, not for `{}`", objective.name()));
        }
        if let Some(over) = choice.over {
            objective = objective.across(over);
            self.weights.clear();
        }
        if let Some(weights) = &choice.weights {
            objective = objective.across(Over::Weighted);
            self.weights.clone_from(weights);
        }
        self.set_objective(objective)
    }
    /// Checks that a foreign system, with the conditions of its file, says what the objective is about.
    ///
    /// # Errors
    /// What is missing.
    pub fn check_objective(&self) -> Result<(), Lack> {
        let Some(says) = self.says else { return Ok(()) };
        let system = self.name.clone();
        match self.objective {
            Objective::Reach { .. } if !says.satisfied => Err(Lack::Verdict { system, verdict: "satisfied" }),
            Objective::Survive { .. } if !says.violated => Err(Lack::Verdict { system, verdict: "violated" }),
            Objective::Return(_) if !says.rewards => Err(Lack::Rewards { system, promise: says.promise }),
            _ => Ok(()),
        }
    }
}

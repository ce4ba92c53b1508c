//! What can be chosen about an environment: its actions, Gymnasium's by name or values from a range, which
//! makes a list of a continuous action; and noise.

use broccoli_core::problem::{Action, System, SystemError, SystemFactory};

use crate::environment::{ActionInfo, Environment};

/// The actions that an environment could have.
#[derive(Clone, Copy, Debug)]
pub enum ActionSpace {
    /// These and no others.
    Named(&'static [ActionInfo]),
    /// Any number from `low` to `high`; its name is the number with its sign, as in `-2`, `0`, `+0.5`.
    Range {
        /// The smallest value.
        low: f64,
        /// The largest value.
        high: f64,
        /// What the number is, with its unit.
        meaning: &'static str,
    },
}

/// The most actions of a problem.
const MOST_ACTIONS: usize = u16::MAX as usize;

/// Why actions cannot be chosen.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ActionError {
    /// Fewer than two.
    #[error("a choice of actions needs at least two of them, not {0}")]
    TooFew(usize),
    /// More than a problem can have.
    #[error("{0} actions are too many: at most {MOST_ACTIONS} are allowed")]
    TooMany(usize),
    /// The environment has no action with this name or value.
    #[error("{environment} has no action {word:?}; there are: {known}")]
    Unknown {
        /// The environment's name.
        environment: &'static str,
        /// What was asked for.
        word: String,
        /// What there is.
        known: String,
    },
    /// The noise is no amount.
    #[error("noise of {0} makes no sense: it must be a finite number of at least 0")]
    Noise(f64),
    /// It gives no rewards.
    #[error("{0} gives no rewards")]
    NoRewards(&'static str),
    /// The same action twice.
    #[error("the action {0:?} is chosen twice")]
    Twice(String),
}

impl ActionSpace {
    /// What can be chosen, in words.
    pub fn words(&self) -> String {
        match self {
            ActionSpace::Named(actions) => {
                let names: Vec<&str> = actions.iter().map(|action| action.name).collect();
                names.join(", ")
            }
            ActionSpace::Range { low, high, meaning } => format!("any {meaning} from {low} to {high}"),
        }
    }

    /// The action with this name or value.
    fn find(&self, word: &str) -> Option<Action> {
        let value = word.parse::<f64>().ok();
        match self {
            ActionSpace::Named(actions) => {
                let action = actions.iter().find(|a| a.name == word || Some(a.value) == value)?;
                Some(Action { name: action.name.to_owned(), value: action.value })
            }
            ActionSpace::Range { low, high, .. } => {
                let value = value.filter(|value| (low..=high).contains(&value))? + 0.0;
                let name = if value == 0.0 { "0".to_owned() } else { format!("{value:+}") };
                Some(Action { name, value })
            }
        }
    }
}

/// An environment with actions of one's choice and, if wanted, noise.
///
/// With noise every force (or torque) is off by a number drawn uniformly from `[-noise, noise)`. The generator
/// is part of the state, and seeded by the initial state, which has one value more: the system stays
/// deterministic, and what is proved holds for the seeds that were listed. It is SplitMix64; a draw takes one
/// word `w` and is `2 * (w >> 11) * 2^-53 - 1`.
///
/// ```
/// use broccoli_core::search::Search;
/// use broccoli_environments::{MOUNTAIN_CAR, PENDULUM, Variant};
///
/// let car = Variant::choose(&MOUNTAIN_CAR, &["left", "coast", "right"])?;
/// let torques = Variant::choose(&PENDULUM, &["-2", "-1", "0", "1", "2"])?;
/// assert_eq!(torques.actions()[3].name, "+1");
/// let error = Variant::choose(&PENDULUM, &["-3", "3"]).unwrap_err();
/// assert_eq!(error.to_string(), "pendulum has no action \"-3\"; there are: any torque in N m from -2 to 2");
/// # Ok::<(), broccoli_environments::ActionError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Variant {
    environment: &'static Environment,
    actions: Vec<Action>,
    noise: f64,
    has_rewards: bool,
}

impl Variant {
    /// The environment with its default actions.
    pub fn new(environment: &'static Environment) -> Self {
        let action = |a: &ActionInfo| Action { name: a.name.to_owned(), value: a.value };
        let actions = environment.actions.iter().map(action).collect();
        Variant { environment, actions, noise: 0.0, has_rewards: false }
    }

    /// The environment with these actions, each given by its name or its value.
    ///
    /// # Errors
    /// When there is no such action, the same one twice, or fewer than two of them.
    pub fn choose(environment: &'static Environment, words: &[impl AsRef<str>]) -> Result<Self, ActionError> {
        if words.len() < 2 {
            return Err(ActionError::TooFew(words.len()));
        }
        if words.len() > MOST_ACTIONS {
            return Err(ActionError::TooMany(words.len()));
        }
        let mut actions: Vec<Action> = Vec::new();
        for word in words {
            let word = word.as_ref().trim();
            let action = environment.space.find(word).ok_or_else(|| ActionError::Unknown {
                environment: environment.name,
                word: word.to_owned(),
                known: environment.space.words(),
            })?;
            if actions.iter().any(|other| other.value == action.value) {
                return Err(ActionError::Twice(action.name));
            }
            actions.push(action);
        }
        Ok(Variant { environment, actions, noise: 0.0, has_rewards: false })
    }

    /// The same with noise; 0 is none.
    ///
    /// # Errors
    /// When it is not a finite number of at least 0.
    pub fn with_noise(self, noise: f64) -> Result<Self, ActionError> {
        if !(0.0..f64::INFINITY).contains(&noise) {
            return Err(ActionError::Noise(noise));
        }
        Ok(Variant { noise: noise.abs(), ..self })
    }

    /// The same with rewards, or without. With them, runs end as Gymnasium's do.
    ///
    /// # Errors
    /// When rewards are wanted and it has none.
    pub fn with_rewards(self, has_rewards: bool) -> Result<Self, ActionError> {
        if has_rewards && self.environment.rewards.is_none() {
            return Err(ActionError::NoRewards(self.environment.name));
        }
        Ok(Variant { has_rewards, ..self })
    }

    /// The most by which a force is off.
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// The environment.
    pub fn environment(&self) -> &'static Environment {
        self.environment
    }

    /// The actions.
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }
}

impl SystemFactory for Variant {
    fn is_quick(&self) -> bool {
        true
    }

    fn make(&self) -> Result<Box<dyn System>, SystemError> {
        let values: Vec<f64> = self.actions.iter().map(|action| action.value).collect();
        Ok((self.environment.make)(&values, self.noise, self.has_rewards))
    }
}

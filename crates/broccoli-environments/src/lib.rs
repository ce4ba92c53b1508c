//! Built-in systems: classic control problems, those that Gymnasium has with its dynamics, bit for bit the
//! same on every platform.
//!
//! Every environment is a module of its own, documented to one template, and an [`Environment`] value
//! that carries all its facts and defaults. To add one, copy a module, list it in [`ALL`], and the
//! tests and the command line pick it up.
//!
//! ```
//! use broccoli_core::search::{Search, Status};
//! use broccoli_environments::find;
//!
//! let cartpole = find("cartpole")?;
//! let problem = cartpole.problem().depth(1).build()?;
//! let outcome = Search::new(&problem, cartpole).run()?;
//! assert_eq!(outcome.status, Status::Optimal);
//! assert_eq!(outcome.best.map(|best| best.tree.size()), Some(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod acrobot;
mod actions;
mod boost_converter;
mod bouncing_ball;
mod cartpole;
mod choices;
mod cruise_control;
mod environment;
mod mountain_car;
mod mountain_car_continuous;
mod pendulum;
mod simulator;
mod thermostat;

pub use acrobot::ACROBOT;
pub use actions::{ActionError, ActionSpace, Variant};
pub use boost_converter::BOOST_CONVERTER;
pub use bouncing_ball::BOUNCING_BALL;
pub use cartpole::CARTPOLE;
pub use choices::Choice;
pub use cruise_control::CRUISE_CONTROL;
pub use environment::{ActionInfo, DimensionInfo, Environment, RewardInfo, StartInfo};
pub use mountain_car::MOUNTAIN_CAR;
pub use mountain_car_continuous::MOUNTAIN_CAR_CONTINUOUS;
pub use pendulum::PENDULUM;
pub use simulator::MAX_SEED;
pub use thermostat::THERMOSTAT;

/// Every environment, by name.
pub static ALL: [&Environment; 9] = [
    &ACROBOT,
    &BOOST_CONVERTER,
    &BOUNCING_BALL,
    &CARTPOLE,
    &CRUISE_CONTROL,
    &MOUNTAIN_CAR,
    &MOUNTAIN_CAR_CONTINUOUS,
    &PENDULUM,
    &THERMOSTAT,
];

/// No environment has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownEnvironment {
    name: String,
}

impl std::fmt::Display for UnknownEnvironment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "there is no environment {:?}", self.name)?;
        let distance =
            |e: &&&Environment| strsim::osa_distance(e.name, &self.name.to_lowercase().replace('_', "-"));
        match ALL.iter().min_by_key(distance).filter(|e| distance(e) <= 4) {
            Some(nearest) => write!(f, "; did you mean {:?}?", nearest.name),
            None => {
                let names: Vec<&str> = ALL.iter().map(|e| e.name).collect();
                write!(f, "; there are: {}", names.join(", "))
            }
        }
    }
}

impl std::error::Error for UnknownEnvironment {}

/// The environment with this name.
///
/// ```
/// assert_eq!(broccoli_environments::find("pendulum")?.title, "Pendulum");
/// let error = broccoli_environments::find("mountaincar").unwrap_err();
/// assert!(error.to_string().contains("did you mean \"mountain-car\"?"));
/// # Ok::<(), broccoli_environments::UnknownEnvironment>(())
/// ```
///
/// # Errors
/// When there is none; the message suggests the nearest name.
pub fn find(name: &str) -> Result<&'static Environment, UnknownEnvironment> {
    let found = ALL.iter().find(|e| e.name == name);
    found.copied().ok_or_else(|| UnknownEnvironment { name: name.to_owned() })
}

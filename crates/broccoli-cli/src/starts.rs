//! Where runs start: the options shared by the commands that run something.

use broccoli_core::problem::{InitialState, sample};
use broccoli_problem::Target;
use clap::Args;

use crate::complaint::Complaint;
use crate::numbers::{Numbers, numbers, whole};

/// The most initial states that can be sampled.
const MOST_SAMPLES: u64 = 1_000_000;

/// The options about initial states.
#[derive(Debug, Args)]
pub struct Starts {
    /// An initial state, one number per dimension; may be repeated
    #[arg(long, value_name = "V,V,…", allow_hyphen_values = true, value_parser = numbers("-0.5,0"))]
    initial: Vec<Numbers>,

    /// Sample M initial states from the ranges of the environment or problem file [M: 1 to 1,000,000]
    #[arg(long, value_name = "M", conflicts_with = "initial", allow_hyphen_values = true,
          value_parser = whole::<usize>(1..=MOST_SAMPLES))]
    samples: Option<usize>,

    /// The seed of the samples [default: 0]
    #[arg(long, value_name = "S", requires = "samples", allow_hyphen_values = true,
          value_parser = whole::<u64>(0..=u64::MAX))]
    seed: Option<u64>,
}

impl Starts {
    /// Whether any of them was given.
    pub fn is_any(&self) -> bool {
        !self.initial.is_empty() || self.samples.is_some()
    }

    /// The initial states that were asked for, if any were.
    pub fn states(&self, target: &Target) -> Result<Option<Vec<InitialState>>, Complaint> {
        if let Some(count) = self.samples {
            let Some(ranges) = &target.ranges else {
                return Err(Complaint::input("--samples: the problem file gives no ranges to sample from")
                    .help("add ranges = [[low, high], …] to its section [initial]"));
            };
            return Ok(Some(sample(ranges, count, self.seed.unwrap_or(0))));
        }
        for Numbers(values) in &self.initial {
            match target.initial_values {
                Some(expected) if expected == target.dimensions.len() => {
                    check_count("--initial", values.len(), target)?;
                }
                Some(expected) if expected != values.len() => {
                    let (given, name) = (values.len(), &target.name);
                    return Err(Complaint::input(format!(
                        "--initial has {given} values: an initial state of {name} has {expected}"
                    )));
                }
                _ => {}
            }
        }
        let states: Vec<InitialState> =
            self.initial.iter().map(|Numbers(values)| InitialState::new(values.clone())).collect();
        Ok(Some(states).filter(|states| !states.is_empty()))
    }
}

/// Checks that an option has one value per dimension.
pub fn check_count(option: &str, given: usize, target: &Target) -> Result<(), Complaint> {
    let names: Vec<&str> = target.dimensions.iter().map(|d| d.name.as_str()).collect();
    if given == names.len() {
        return Ok(());
    }
    let (expected, names) = (names.len(), names.join(", "));
    Err(Complaint::input(format!(
        "{option} has {given} value{}: {} has {expected} dimensions ({names}) and needs one value for each",
        if given == 1 { "" } else { "s" },
        target.name,
    )))
}

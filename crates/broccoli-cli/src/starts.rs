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

    /// Run every initial state with N seeds of the noise, 0 to N-1
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = whole::<u64>(1..=MOST_SAMPLES))]
    seeds: Option<u64>,
}

impl Starts {
    /// Whether any of them was given.
    pub fn is_any(&self) -> bool {
        !self.initial.is_empty() || self.samples.is_some() || self.seeds.is_some()
    }

    /// The initial states that were asked for, if any were, with their seeds.
    pub fn states(&self, target: &Target) -> Result<Option<Vec<InitialState>>, Complaint> {
        let seeds = self.seeds.map(|count| (0..count).collect()).or_else(|| target.seeds.clone());
        if self.seeds.is_some() && !target.is_foreign && target.noise() == 0.0 {
            return Err(Complaint::input(format!("--seeds: {} has no noise", target.name))
                .help("--noise gives it some"));
        }
        let mut target = target.clone();
        target.seeds = seeds;
        let states = self.without_seeds(&target)?;
        if states.is_none() && self.seeds.is_none() && (target.noise() == 0.0 || target.seeds.is_some()) {
            return Ok(None);
        }
        target.initial = states.unwrap_or(target.initial);
        let starts = target.starts();
        if target.noise() != 0.0 && starts.iter().any(|s| Some(s.values().len()) != target.initial_values) {
            return Err(Complaint::input("noise needs seeds")
                .help("--seeds 20 runs every initial state with the seeds 0 to 19"));
        }
        Ok(Some(starts))
    }

    /// The values that were asked for, without seeds.
    fn without_seeds(&self, target: &Target) -> Result<Option<Vec<InitialState>>, Complaint> {
        if let Some(count) = self.samples {
            let Some(ranges) = &target.ranges else {
                return Err(Complaint::input("--samples: the problem file gives no ranges to sample from")
                    .help("add ranges = [[low, high], …] to its section [initial]"));
            };
            return Ok(Some(sample(ranges, count, self.seed.unwrap_or(0))));
        }
        for Numbers(values) in &self.initial {
            match target.given_values() {
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

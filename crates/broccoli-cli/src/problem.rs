//! The options that describe a problem, over the defaults of an environment.

use broccoli_core::problem::{InitialState, MAX_DEPTH, MAX_THRESHOLDS, Problem, ThresholdError, Thresholds};
use broccoli_environments::Environment;
use broccoli_export::json::ObjectiveJson;
use broccoli_export::number;
use clap::Args;

use crate::complaint::Complaint;
use crate::numbers::{Numbers, numbers, whole};
use crate::starts::{Starts, check_count};

/// The options about the problem.
#[derive(Debug, Args)]
pub struct ProblemOptions {
    /// The most predicates on any path of the tree, 0 to 16 [default: the environment's]
    #[arg(long, value_name = "D", allow_hyphen_values = true,
          value_parser = whole::<u32>(0..=u64::from(MAX_DEPTH)))]
    depth: Option<u32>,

    /// The most predicates in the whole tree, at most 2^D - 1 [default: all that the depth allows]
    #[arg(long, value_name = "N", allow_hyphen_values = true,
          value_parser = whole::<u64>(0..=(1 << MAX_DEPTH) - 1))]
    nodes: Option<u64>,

    /// The step between thresholds, one number per dimension [default: the environment's]
    #[arg(long, value_name = "A,B,…", allow_hyphen_values = true, value_parser = numbers("0.05,0.005"))]
    step: Option<Numbers>,

    /// X thresholds in every dimension, evenly spaced over its range, instead of --step
    #[arg(long, value_name = "X", allow_hyphen_values = true, conflicts_with = "step",
          value_parser = whole::<usize>(1..=MAX_THRESHOLDS as u64))]
    thresholds: Option<usize>,

    #[command(flatten)]
    starts: Starts,

    /// The most steps of a run, at least 1 [default: the environment's]
    #[arg(long, value_name = "K", allow_hyphen_values = true, value_parser = whole::<u64>(1..=u64::MAX))]
    horizon: Option<u64>,
}

impl ProblemOptions {
    /// Whether any of them was given.
    pub fn is_any(&self) -> bool {
        let limits = self.depth.is_some() || self.nodes.is_some() || self.horizon.is_some();
        limits || self.step.is_some() || self.thresholds.is_some() || self.starts.is_any()
    }

    /// The problem that the options describe, over the environment's defaults.
    pub fn problem(&self, environment: &Environment) -> Result<Problem, Complaint> {
        let thresholds = self.thresholds(environment)?;
        let initial = self.starts.states(environment)?;
        let initial = initial.unwrap_or_else(|| vec![InitialState::new(environment.initial)]);
        let depth = self.depth.unwrap_or(environment.depth);
        let mut builder = environment.problem_with(thresholds, initial).depth(depth);
        if let Some(nodes) = self.nodes {
            let most = (1 << depth) - 1;
            if nodes > most {
                let depth = match self.depth {
                    Some(depth) => format!("--depth {depth}"),
                    None => format!("the default depth {depth}"),
                };
                let range =
                    if most == 0 { "0".to_owned() } else { format!("from 0 to {}", number::grouped(most)) };
                let message = format!("--nodes {nodes} does not fit in {depth}: it must be {range}");
                return Err(Complaint::input(message));
            }
            builder = builder.nodes(nodes);
        }
        if let Some(horizon) = self.horizon {
            builder = builder.objective(ObjectiveJson::from(environment.objective).within(horizon));
        }
        builder.build().map_err(|error| Complaint::input(error.to_string()))
    }

    fn thresholds(&self, environment: &Environment) -> Result<Vec<Thresholds>, Complaint> {
        if let Some(count) = self.thresholds {
            let grid = |d: &broccoli_environments::DimensionInfo| {
                let (low, high) = d.range;
                Thresholds::count(low, high, count)
                    .map_err(|error| Complaint::input(format!("--thresholds {count}: {}: {error}", d.name)))
            };
            return environment.dimensions.iter().map(grid).collect();
        }
        let steps = self.step.as_ref().map(|Numbers(steps)| steps.as_slice());
        if let Some(steps) = steps {
            check_count("--step", steps.len(), environment)?;
        }
        environment.grids(steps).map_err(|(dimension, error)| {
            let name = environment.dimensions[dimension].name;
            let step = steps.and_then(|steps| steps.get(dimension)).copied().unwrap_or_default();
            // Numbers of hundreds of digits would drown the message.
            let what = match error {
                ThresholdError::NoThreshold { low, high, .. } => format!(
                    "a step of {step:?} leaves no threshold strictly between {low} and {high}: it must be smaller"
                ),
                ThresholdError::TooMany(_) => {
                    let most = number::grouped(MAX_THRESHOLDS as u64);
                    format!("a step of {step:?} gives more than {most} thresholds: it must be larger")
                }
                other => other.to_string(),
            };
            Complaint::input(format!("--step, dimension {name:?}: {what}"))
        })
    }
}

//! The options that describe a problem, over the defaults of a target.

use broccoli_core::problem::{ALL, MAX_DEPTH, MAX_THRESHOLDS, Problem, ThresholdError, Thresholds};
use broccoli_export::number;
use broccoli_problem::{Target, TargetDimension};
use clap::Args;

use crate::complaint::Complaint;
use crate::numbers::{Numbers, numbers, price, whole};
use crate::objective::{ObjectiveOptions, check_objective};
use crate::screen::note;
use crate::starts::{Starts, check_count};

/// Which thresholds are to count in every dimension.
#[derive(Clone, Copy, Debug)]
enum WantedThresholds {
    /// So many of its range.
    Count(usize),
    All,
}

fn wanted_thresholds(text: &str) -> Result<WantedThresholds, String> {
    if text.trim() == ALL {
        return Ok(WantedThresholds::All);
    }
    let count = whole(1..=MAX_THRESHOLDS as u64)(text).map_err(|what| format!("{what}, or `{ALL}`"))?;
    Ok(WantedThresholds::Count(count))
}

/// The options about the problem.
#[derive(Debug, Args)]
pub struct ProblemOptions {
    /// The most predicates on any path of the tree, 0 to 16 [default: the target's]
    #[arg(long, value_name = "D", allow_hyphen_values = true,
          value_parser = whole::<u32>(0..=u64::from(MAX_DEPTH)))]
    depth: Option<u32>,

    /// The most predicates in the whole tree, at most 2^D - 1 [default: all that the depth allows]
    #[arg(long, value_name = "N", allow_hyphen_values = true,
          value_parser = whole::<u64>(0..=(1 << MAX_DEPTH) - 1))]
    nodes: Option<u64>,

    /// The actions of a built-in environment, by names or values [default: the target's]
    #[arg(long, value_name = "A,B,…", allow_hyphen_values = true, value_delimiter = ',')]
    actions: Option<Vec<String>>,

    /// The most by which a force of a built-in environment is off; every run then needs a seed (--seeds)
    #[arg(long, value_name = "F", allow_hyphen_values = true)]
    noise: Option<f64>,

    /// The step between thresholds, one number per dimension [default: the target's]
    #[arg(long, value_name = "A,B,…", allow_hyphen_values = true, value_parser = numbers("0.05,0.005"))]
    step: Option<Numbers>,

    /// X thresholds in every dimension, evenly spaced over its range; or `all` numbers in every dimension, which needs
    /// no range
    #[arg(long, value_name = "X|all", allow_hyphen_values = true, conflicts_with = "step",
          value_parser = wanted_thresholds)]
    thresholds: Option<WantedThresholds>,

    /// The only dimensions that a tree may ask, by their names [default: all]
    #[arg(long = "use", value_name = "NAME,…", value_delimiter = ',')]
    only: Option<Vec<String>>,

    /// Dimensions that a tree may not ask, by their names
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    without: Option<Vec<String>>,

    /// What a tree pays that asks this dimension, once however often it asks (repeatable): among the smallest
    /// of the best trees the cheapest is found
    #[arg(long = "price", value_name = "NAME=NUMBER", allow_hyphen_values = true, value_parser = price)]
    prices: Vec<(String, f64)>,

    #[command(flatten)]
    starts: Starts,

    #[command(flatten)]
    objective: ObjectiveOptions,
}

impl ProblemOptions {
    /// Writes the options over the target's defaults; the problem that they then describe.
    pub fn problem(&self, target: &mut Target) -> Result<Problem, Complaint> {
        choose_actions(target, self.actions.as_deref())?;
        choose_noise(target, self.noise)?;
        if target.needs_no_grid && self.thresholds.is_none() && self.step.is_none() {
            note(format_args!(
                "no thresholds are given, so all numbers are thresholds (`broccoli suggest` proposes grids)"
            ));
        }
        let thresholds = self.thresholds(target)?;
        for (dimension, thresholds) in target.dimensions.iter_mut().zip(thresholds) {
            dimension.thresholds = thresholds;
        }
        self.choose_dimensions(target)?;
        if let Some(states) = self.starts.states(target)? {
            target.initial = states;
            target.seeds = None;
        }
        target.depth = self.depth.unwrap_or(target.depth);
        let (depth, most) = (target.depth, (1 << target.depth) - 1);
        if let Some(nodes) = self.nodes.filter(|nodes| *nodes > most) {
            let depth = match self.depth {
                Some(depth) => format!("--depth {depth}"),
                None => format!("the default depth {depth}"),
            };
            let range =
                if most == 0 { "0".to_owned() } else { format!("from 0 to {}", number::grouped(most)) };
            let message = format!("--nodes {nodes} does not fit in {depth}: it must be {range}");
            return Err(Complaint::input(message));
        }
        // A shallower tree than that of the file has room for fewer.
        target.nodes = self.nodes.or(target.nodes).map(|nodes| nodes.min(most));
        self.objective.choose(target)?;
        check_objective(target)?;
        target.problem().map_err(|error| Complaint::input(error.to_string()))
    }

    /// Which dimensions a tree may ask, and at what price.
    fn choose_dimensions(&self, target: &mut Target) -> Result<(), Complaint> {
        let wrong = |option: &'static str| move |what: String| Complaint::input(format!("{option}: {what}"));
        if let Some(names) = &self.only {
            target.ask_only(names).map_err(wrong("--use"))?;
        }
        if let Some(names) = &self.without {
            target.ask_without(names).map_err(wrong("--without"))?;
        }
        for (name, price) in &self.prices {
            target.dimension(name).map_err(wrong("--price"))?.price = *price;
        }
        Ok(())
    }

    fn thresholds(&self, target: &Target) -> Result<Vec<Thresholds>, Complaint> {
        if self.thresholds.is_none() && self.step.is_none() {
            return Ok(target.dimensions.iter().map(|d| d.thresholds.clone()).collect());
        }
        let steps = self.step.as_ref().map(|Numbers(steps)| steps.as_slice());
        if let Some(steps) = steps {
            check_count("--step", steps.len(), target)?;
        }
        let option = if steps.is_some() { "--step" } else { "--thresholds" };
        let grid = |(index, d): (usize, &TargetDimension)| {
            if let Some(WantedThresholds::All) = self.thresholds {
                return Ok(Thresholds::all());
            }
            let Some((low, high)) = d.range else {
                return Err(Complaint::input(format!("{option}: dimension {:?} has no range", d.name)).help(
                    "give it low and high in the section [predicates] of the problem file, or say `--thresholds all`",
                ));
            };
            match (self.thresholds, steps.and_then(|steps| steps.get(index))) {
                (Some(WantedThresholds::Count(count)), _) => Thresholds::count(low, high, count)
                    .map_err(|error| Complaint::input(format!("--thresholds {count}: {}: {error}", d.name))),
                (None, Some(&step)) => Thresholds::grid(low, high, step).map_err(|error| {
                    Complaint::input(format!("--step, dimension {:?}: {}", d.name, step_error(step, error)))
                }),
                _ => Ok(d.thresholds.clone()),
            }
        };
        target.dimensions.iter().enumerate().map(grid).collect()
    }
}

/// Writes the option `--actions` over the target's.
pub fn choose_actions(target: &mut Target, words: Option<&[String]>) -> Result<(), Complaint> {
    let Some(words) = words else { return Ok(()) };
    target.choose_actions(words).map_err(|what| Complaint::input(format!("--actions: {what}")))
}

/// Writes the option `--noise` over the target's.
pub fn choose_noise(target: &mut Target, noise: Option<f64>) -> Result<(), Complaint> {
    let Some(noise) = noise else { return Ok(()) };
    target.choose_noise(noise).map_err(|what| Complaint::input(format!("--noise: {what}")))
}

/// What is wrong with a step. Numbers of hundreds of digits would drown the message.
fn step_error(step: f64, error: ThresholdError) -> String {
    match error {
        ThresholdError::NoThreshold { low, high, .. } => format!(
            "a step of {step:?} leaves no threshold strictly between {low} and {high}: it must be smaller"
        ),
        ThresholdError::TooMany(_) => {
            let most = number::grouped(MAX_THRESHOLDS as u64);
            format!("a step of {step:?} gives more than {most} thresholds: it must be larger")
        }
        other => other.to_string(),
    }
}

//! `broccoli solve`: finds the best tree for an environment.

use std::io::{self, IsTerminal};
use std::time::Instant;

use broccoli_core::problem::{InitialState, MAX_DEPTH, MAX_THRESHOLDS, Problem, ThresholdError, Thresholds};
use broccoli_core::search::{Engine, Search};
use broccoli_environments::Environment;
use broccoli_export::json::{ObjectiveJson, ResultJson, StatusJson, SystemJson};
use broccoli_export::{number, text};
use clap::{Args, ValueEnum};

use crate::Done;
use crate::complaint::{Complaint, OTHER};
use crate::environments::find;
use crate::numbers::{Numbers, numbers, whole};
use crate::output;
use crate::progress::Progress;
use crate::starts::{Starts, check_count};

/// Find the best tree, the smallest among the best, and prove it
///
/// Everything has a default: `broccoli solve mountain-car` is a complete command. What the defaults
/// are, `broccoli environments mountain-car` tells.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Solve {
    /// What to solve: the name of an environment; `broccoli environments` lists them
    target: String,

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

    /// The algorithm; all give the same answer [default: behaviour]
    #[arg(long)]
    engine: Option<EngineName>,

    /// Consider every tree that is not trivially redundant (backtracking only)
    #[arg(long)]
    no_pruning: bool,

    /// Accept any of the best trees, without the pass that always chooses the same one
    #[arg(long)]
    any_optimal: bool,

    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,

    /// Show progress even if standard error is not a terminal
    #[arg(long)]
    progress: bool,
}

const EXAMPLES: &str = "\
Examples:
  broccoli solve cartpole
  broccoli solve mountain-car --depth 3 --nodes 4 --step 0.18,0.014
  broccoli solve mountain-car --initial -0.51,0 --initial -0.45,0
  broccoli solve pendulum --samples 100 --seed 7 --thresholds 9 --json

Exit codes:
  0  an optimal tree was found        1  the system failed, or anything else went wrong
  3  it is proved that none exists    2  bad usage or bad input";

/// The engines by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EngineName {
    /// Behaviours instead of trees: trees that act alike are run once
    Behaviour,
    /// Trees in increasing size, pruned by what earlier runs have shown
    Backtracking,
    /// Every tree, for checking the others on small problems
    Exhaustive,
}

impl Solve {
    /// Runs the command.
    pub fn run(&self) -> Done {
        let environment = find(&self.target)?;
        let problem = self.problem(environment)?;
        let engine = self.engine()?;
        let system = SystemJson::Environment(environment.name.to_owned());

        let mut progress = Progress::start(self.progress, io::stderr().is_terminal());
        let mut search = Search::new(&problem, environment);
        if let Some(engine) = engine {
            search = search.engine(engine);
        }
        if self.any_optimal {
            search = search.any_optimal();
        }
        if let Some(progress) = &mut progress {
            search = search.observer(progress);
        }
        let started = Instant::now();
        let found = search.run();
        let seconds = started.elapsed().as_secs_f64();
        drop(progress);

        match found {
            Ok(outcome) => {
                if self.json {
                    output::print_json(&ResultJson::new(system, &problem, &outcome, seconds))?;
                } else {
                    output::print(&text::outcome(&problem, &outcome, seconds))?;
                }
                Ok(code(outcome.status.into()))
            }
            Err(failure) => {
                if self.json {
                    output::print_json(&ResultJson::failed(system, &problem, &failure, seconds))?;
                } else {
                    output::print(&text::failure(&problem, &failure, seconds))?;
                }
                Err(Complaint::other(failure.to_string()))
            }
        }
    }

    /// The problem that the options describe, over the environment's defaults.
    fn problem(&self, environment: &Environment) -> Result<Problem, Complaint> {
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

    /// The engine that was asked for; none leaves the choice to the library.
    fn engine(&self) -> Result<Option<Engine>, Complaint> {
        match (self.engine, self.no_pruning) {
            (None, false) => Ok(None),
            (None | Some(EngineName::Backtracking), no_pruning) => {
                Ok(Some(Engine::Backtracking { pruning: !no_pruning }))
            }
            (Some(EngineName::Behaviour), false) => Ok(Some(Engine::Behaviour)),
            (Some(EngineName::Exhaustive), false) => Ok(Some(Engine::Exhaustive)),
            (Some(_), true) => Err(Complaint::input(
                "--no-pruning works with --engine backtracking only: the other engines have no pruning to leave out",
            )),
        }
    }
}

/// The exit code for a search that was not cut short by a failure.
fn code(status: StatusJson) -> u8 {
    match status {
        StatusJson::Optimal => 0,
        StatusJson::Infeasible => 3,
        StatusJson::Stopped => 4,
        StatusJson::Error => OTHER,
    }
}

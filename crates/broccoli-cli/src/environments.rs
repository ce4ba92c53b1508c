//! `broccoli environments`: lists the built-in systems, or describes one.

use broccoli_core::problem::{Objective, Thresholds, TreeLimits};
use broccoli_environments::{ALL, ActionInfo, ActionSpace, Environment};
use broccoli_export::json::ObjectiveJson;
use broccoli_export::number::{counted, list};
use broccoli_export::text::wrapped;
use clap::Args;
use serde::Serialize;

use crate::Done;
use crate::complaint::Complaint;
use crate::output;

/// List the built-in environments, or describe one with all its defaults
#[derive(Debug, Args)]
pub struct Environments {
    /// The environment to describe
    name: Option<String>,

    /// Print as JSON: an object for one environment, else an array of them
    #[arg(long)]
    json: bool,
}

impl Environments {
    /// Runs the command.
    pub fn run(&self) -> Done {
        match (&self.name, self.json) {
            (Some(name), false) => output::print(&description(find(name)?))?,
            (Some(name), true) => output::print_json(&EnvironmentJson::new(find(name)?))?,
            (None, false) => output::print(&listing())?,
            (None, true) => output::print_json(&ALL.map(EnvironmentJson::new))?,
        }
        Ok(0)
    }
}

/// The environment with this name.
pub fn find(name: &str) -> Result<&'static Environment, Complaint> {
    broccoli_environments::find(name).map_err(|error| {
        Complaint::input(error.to_string()).help("`broccoli environments` lists what there is")
    })
}

fn listing() -> String {
    let width = ALL.iter().map(|e| e.name.len()).max().unwrap_or(0);
    let line = |e: &&Environment| {
        let first = e.description.split(". ").next().unwrap_or_default().trim_end_matches('.');
        format!("{:width$}  {first}\n", e.name)
    };
    let lines: String = ALL.iter().map(line).collect();
    format!("{lines}\n`broccoli environments NAME` describes one, `broccoli solve NAME` solves it.\n")
}

/// Everything about an environment, in the order of the template that its documentation follows.
fn description(environment: &Environment) -> String {
    let e = environment;
    let mut text = format!("{} ({})\n\n{}\n", e.title, e.name, wrapped(e.description));
    let state = e.dimensions.iter().map(|d| (d.name, d.meaning.to_owned()));
    section(&mut text, "Observation", state);
    let actions = e.actions.iter().map(|a| (a.name, format!("{} (value {})", a.meaning, a.value)));
    section(&mut text, "Default actions", actions);
    section(&mut text, "To choose from", [("--actions", e.space.words())]);
    section(&mut text, "Noise", [("--noise", format!("disturbs {}", e.noise))]);
    section(&mut text, "Default start", [("--initial", list(e.initial))]);
    let ranges = e.starts.iter().map(|start| match start.range {
        (low, high) if low == high => (start.name, format!("always {low}")),
        (low, high) => (start.name, format!("uniform in [{low}, {high}]")),
    });
    section(&mut text, "Start when sampled", ranges);
    let horizon = counted(e.objective.horizon(), "step");
    let wanted = match e.objective {
        Objective::Reach { .. } => {
            format!("reach the goal in the fewest steps, within a horizon of {horizon}")
        }
        _ => format!("survive as long as possible, up to a horizon of {horizon}"),
    };
    section(&mut text, "Objective", [("wanted", wanted), ("ends", e.verdicts.to_owned())]);
    if let Some(rewards) = e.rewards {
        let horizon = format!("{} (--objective return)", counted(rewards.horizon, "step"));
        section(&mut text, "Rewards", [("reward", rewards.meaning.to_owned()), ("horizon", horizon)]);
    }
    let thresholds = e.dimensions.iter().zip(default_thresholds(e)).map(|(d, thresholds)| {
        let (low, high) = d.range;
        let count = counted(thresholds.len(), "threshold");
        (d.name, format!("{count}, every {} strictly between {low} and {high}", d.step))
    });
    section(&mut text, "Default thresholds", thresholds);
    let nodes = counted(default_nodes(e), "predicate");
    section(&mut text, "Default limit", [("--depth", format!("{}, which has room for {nodes}", e.depth))]);
    text += &format!("\nSource\n  {}\n", e.source);
    text
}

fn section<'a>(text: &mut String, title: &str, rows: impl IntoIterator<Item = (&'a str, String)>) {
    let rows: Vec<(&str, String)> = rows.into_iter().collect();
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    *text += &format!("\n{title}\n");
    for (name, what) in rows {
        *text += &format!("  {name:width$}  {what}\n");
    }
}

/// The thresholds per dimension; none if a grid were impossible, which the environment's tests rule out.
fn default_thresholds(environment: &Environment) -> Vec<Thresholds> {
    environment.grids(None).unwrap_or_default()
}

fn default_nodes(environment: &Environment) -> u64 {
    TreeLimits::new(environment.depth, None).map_or(0, |limits| limits.nodes())
}

#[derive(Serialize)]
struct EnvironmentJson {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    dimensions: Vec<DimensionJson>,
    actions: Vec<ActionJson>,
    action_space: ActionSpaceJson,
    noise: &'static str,
    starts: Vec<StartJson>,
    initial: &'static [f64],
    objective: ObjectiveJson,
    horizon: u64,
    end: &'static str,
    depth: u32,
    nodes: u64,
    source: &'static str,
}

#[derive(Serialize)]
struct DimensionJson {
    name: &'static str,
    meaning: &'static str,
    range: (f64, f64),
    step: f64,
    thresholds: Thresholds,
}

/// What actions there are to choose from.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum ActionSpaceJson {
    Named(Vec<ActionJson>),
    Range { low: f64, high: f64, meaning: &'static str },
}

#[derive(Serialize)]
struct StartJson {
    name: &'static str,
    range: (f64, f64),
}

#[derive(Serialize)]
struct ActionJson {
    name: &'static str,
    meaning: &'static str,
    value: f64,
}

impl EnvironmentJson {
    fn new(environment: &'static Environment) -> Self {
        let e = environment;
        let dimensions = e.dimensions.iter().zip(default_thresholds(e)).map(|(d, thresholds)| {
            DimensionJson { name: d.name, meaning: d.meaning, range: d.range, step: d.step, thresholds }
        });
        let actions = |actions: &'static [ActionInfo]| {
            actions.iter().map(|a| ActionJson { name: a.name, meaning: a.meaning, value: a.value }).collect()
        };
        EnvironmentJson {
            name: e.name,
            title: e.title,
            description: e.description,
            dimensions: dimensions.collect(),
            actions: actions(e.actions),
            action_space: match e.space {
                ActionSpace::Named(named) => ActionSpaceJson::Named(actions(named)),
                ActionSpace::Range { low, high, meaning } => ActionSpaceJson::Range { low, high, meaning },
            },
            noise: e.noise,
            starts: e.starts.iter().map(|start| StartJson { name: start.name, range: start.range }).collect(),
            initial: e.initial,
            objective: e.objective.into(),
            horizon: e.objective.horizon(),
            end: e.verdicts,
            depth: e.depth,
            nodes: default_nodes(e),
            source: e.source,
        }
    }
}

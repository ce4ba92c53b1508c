//! Single problems: what `engines`, `depth4` and `growth` solve.
//!
//! Every case has a set and a place in it, so that a child process can be told which one to solve.

use anyhow::{Context, Result, ensure};
use broccoli_core::problem::{ALL, InitialState, Problem, Thresholds};
use broccoli_environments::{Environment, find};
use clap::ValueEnum;
use serde::Deserialize;

use crate::{growth, thresholds};

/// One problem. The files in `instances/` explain the fields.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    /// What the case belongs to: a table of the paper, a curve of a chart.
    pub(crate) group: String,
    pub(crate) environment: String,
    pub(crate) x: Option<u32>,
    #[serde(default)]
    pub(crate) step: Vec<f64>,
    pub(crate) thresholds: Option<usize>,
    /// Whether all numbers are thresholds.
    #[serde(default)]
    pub(crate) all: bool,
    pub(crate) depth: u32,
    pub(crate) nodes: u64,
    #[serde(default = "one")]
    pub(crate) states: usize,
    /// About how long `backtracking` takes; none if it is not known to end.
    pub(crate) backtracking_seconds: Option<f64>,
    /// Whether only `--full` runs it.
    #[serde(default)]
    pub(crate) full: bool,
}

fn one() -> usize {
    1
}

/// A list of cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Set {
    Engines,
    Depth4,
    Growth,
    Thresholds,
    Threads,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    cases: Vec<Case>,
}

impl Set {
    /// The name on a command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Set::Engines => "engines",
            Set::Depth4 => "depth4",
            Set::Growth => "growth",
            Set::Thresholds => "thresholds",
            Set::Threads => "threads",
        }
    }

    /// Its cases.
    pub(crate) fn cases(self) -> Result<Vec<Case>> {
        let read = |text| Ok(toml::from_str::<File>(text)?.cases);
        let cases: Result<Vec<Case>> = match self {
            Set::Engines => read(include_str!("../instances/engines.toml")),
            Set::Depth4 => read(include_str!("../instances/depth4.toml")),
            Set::Growth => growth::cases(),
            Set::Thresholds => thresholds::cases(),
            Set::Threads => read(include_str!("../instances/threads.toml")),
        };
        cases.with_context(|| format!("instances/{}.toml", self.name()))
    }
}

impl Case {
    /// The environment.
    pub(crate) fn environment(&self) -> Result<&'static Environment> {
        Ok(find(&self.environment)?)
    }

    /// The problem: one initial state is the environment's own, several are sampled with seed 0.
    pub(crate) fn problem(&self) -> Result<Problem> {
        let environment = self.environment()?;
        let grids = match self.thresholds {
            _ if self.all => vec![Thresholds::all(); environment.dimensions.len()],
            Some(count) => (environment.dimensions.iter())
                .map(|dimension| Thresholds::count(dimension.range.0, dimension.range.1, count))
                .collect::<Result<_, _>>()?,
            None => {
                ensure!(self.step.len() == environment.dimensions.len(), "one step per dimension is needed");
                environment.grids(Some(&self.step)).map_err(|(_, error)| error)?
            }
        };
        let initial = match self.states {
            1 => vec![InitialState::new(environment.initial)],
            states => environment.sample(states, 0),
        };
        Ok(environment.problem_with(grids, initial).depth(self.depth).nodes(self.nodes).build()?)
    }

    /// The grid in short: `X=10`, the steps, or the number of thresholds.
    pub(crate) fn grid(&self) -> String {
        match (self.x, self.thresholds) {
            _ if self.all => ALL.to_owned(),
            (Some(x), _) => format!("X={x}"),
            (None, Some(count)) => count.to_string(),
            (None, None) => format!("step {}", self.steps()),
        }
    }

    /// The steps, as on the command line of `broccoli solve --step`.
    pub(crate) fn steps(&self) -> String {
        self.step.iter().map(f64::to_string).collect::<Vec<_>>().join(",")
    }

    /// The case in one line.
    pub(crate) fn settings(&self) -> String {
        let plural = if self.states == 1 { "" } else { "s" };
        format!(
            "{}: {}, {}, depth {}, {} nodes, {} initial state{plural}",
            self.group,
            self.environment,
            self.grid(),
            self.depth,
            self.nodes,
            self.states
        )
    }

    /// Names of [`Case::record`].
    pub(crate) const RECORD: [&str; 8] =
        ["group", "environment", "x", "step", "thresholds", "depth", "nodes", "states"];

    /// The settings as fields of a CSV file.
    pub(crate) fn record(&self) -> Vec<String> {
        vec![
            self.group.clone(),
            self.environment.clone(),
            self.x.map(|x| x.to_string()).unwrap_or_default(),
            self.steps(),
            self.thresholds.map(|count| count.to_string()).unwrap_or_default(),
            self.depth.to_string(),
            self.nodes.to_string(),
            self.states.to_string(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_a_problem() {
        for set in Set::value_variants() {
            let cases = set.cases().unwrap();
            assert!(!cases.is_empty());
            for case in cases {
                case.problem().unwrap_or_else(|error| panic!("{}: {error:#}", case.settings()));
            }
        }
    }
}

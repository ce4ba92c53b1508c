//! Instance files: which problems a benchmark solves, and what others report for them.
//!
//! The file `instances/paper.toml` explains the fields.

use anyhow::{Context, Result, ensure};
use broccoli_core::problem::Problem;
use broccoli_environments::{Environment, find};
use serde::Deserialize;

/// A file of tables.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Instances {
    #[serde(rename = "table")]
    pub(crate) tables: Vec<Table>,
}

/// One table of the paper, or one that goes beyond it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    pub(crate) number: u32,
    pub(crate) title: String,
    pub(crate) depth: u32,
    pub(crate) rows: Vec<Row>,
}

/// One setting, measured over several seeds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    pub(crate) environment: String,
    pub(crate) x: Option<u32>,
    pub(crate) step: Vec<f64>,
    pub(crate) nodes: u64,
    pub(crate) states: usize,
    pub(crate) pruning: bool,
    #[serde(default)]
    pub(crate) quick: Quick,
    /// With how many seeds `--full` runs it.
    #[serde(default = "ten")]
    pub(crate) seeds: u64,
    pub(crate) paper: Option<Figure>,
}

fn ten() -> u64 {
    10
}

/// With how many seeds a row is part of an engine's quick default; 0 if it is not.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Quick {
    pub(crate) behaviour: u64,
    pub(crate) backtracking: u64,
}

/// What the paper reports for a row.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Figure {
    pub(crate) seconds: f64,
    pub(crate) spread: f64,
    pub(crate) trees: String,
}

impl Instances {
    /// The paper's experiments.
    pub(crate) fn paper() -> Result<Self> {
        let instances: Instances =
            toml::from_str(include_str!("../instances/paper.toml")).context("instances/paper.toml")?;
        for (table, row) in instances.rows() {
            row.problem(table.depth, 0).with_context(|| {
                format!("instances/paper.toml, table {}, {}", table.number, row.settings())
            })?;
        }
        Ok(instances)
    }

    /// Every row with its table.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&Table, &Row)> {
        self.tables.iter().flat_map(|table| table.rows.iter().map(move |row| (table, row)))
    }
}

impl Row {
    /// The environment.
    pub(crate) fn environment(&self) -> Result<&'static Environment> {
        Ok(find(&self.environment)?)
    }

    /// The problem with the initial states of this seed.
    pub(crate) fn problem(&self, depth: u32, seed: u64) -> Result<Problem> {
        let environment = self.environment()?;
        ensure!(self.step.len() == environment.dimensions.len(), "one step per dimension is needed");
        let grids = environment.grids(Some(&self.step)).map_err(|(dimension, error)| {
            anyhow::Error::new(error).context(format!("step of dimension {dimension}"))
        })?;
        let initial = environment.sample(self.states, seed);
        Ok(environment.problem_with(grids, initial).depth(depth).nodes(self.nodes).build()?)
    }

    /// The grid in short: `X=10`, or the steps.
    pub(crate) fn grid(&self) -> String {
        match self.x {
            Some(x) => format!("X={x}"),
            None => format!("step {}", self.steps()),
        }
    }

    /// The steps, as on the command line of `broccoli solve --step`.
    pub(crate) fn steps(&self) -> String {
        self.step.iter().map(f64::to_string).collect::<Vec<_>>().join(",")
    }

    /// The row in one line.
    pub(crate) fn settings(&self) -> String {
        let pruning = if self.pruning { "" } else { ", no pruning" };
        let plural = if self.states == 1 { "" } else { "s" };
        format!(
            "{}, {}, {} nodes, {} initial state{plural}{pruning}",
            self.environment,
            self.grid(),
            self.nodes,
            self.states
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_has_36_rows_and_all_rows_are_problems() {
        let instances = Instances::paper().unwrap();
        assert_eq!(instances.rows().filter(|(_, row)| row.paper.is_some()).count(), 36);
        assert_eq!(instances.rows().filter(|(table, _)| table.number > 3).count(), 18);
    }
}

//! `growth`: how the cost of a proof grows with thresholds, nodes and initial states.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::case::{Case, Set};
use crate::chart::{Chart, Panel, Point};
use crate::child::{self, Found, Solver};
use crate::output::{self, grouped, line, ratio, seconds};

/// How long to try, and where to write.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Kill a search after this many seconds; its curve ends there
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    limit: u64,

    /// Where growth.svg, growth.md and growth.csv are written (default: target/bench)
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
}

const ENVIRONMENTS: [&str; 3] = ["cartpole", "mountain-car", "pendulum"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    curve: Vec<Curve>,
}

/// One quantity that grows. The file `instances/growth.toml` explains the fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Curve {
    title: String,
    axis: Axis,
    values: Vec<u64>,
    #[serde(default)]
    linear: bool,
    depth: u32,
    nodes: Option<u64>,
    thresholds: Option<usize>,
    states: Option<usize>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Axis {
    Thresholds,
    Nodes,
    States,
}

impl Axis {
    fn name(self) -> &'static str {
        match self {
            Axis::Thresholds => "thresholds per dimension",
            Axis::Nodes => "nodes",
            Axis::States => "initial states",
        }
    }
}

impl Curve {
    fn case(&self, environment: &str, value: u64) -> Result<Case> {
        let number = usize::try_from(value)?;
        let (mut nodes, mut thresholds, mut states) = (self.nodes, self.thresholds, self.states);
        match self.axis {
            Axis::Thresholds => ensure!(thresholds.replace(number).is_none(), "thresholds do not stay"),
            Axis::Nodes => ensure!(nodes.replace(value).is_none(), "nodes do not stay"),
            Axis::States => ensure!(states.replace(number).is_none(), "initial states do not stay"),
        }
        Ok(Case {
            group: format!("{}: {}", self.axis.name(), self.title),
            environment: environment.to_owned(),
            x: None,
            step: Vec::new(),
            thresholds: Some(thresholds.context("no thresholds")?),
            all: false,
            depth: self.depth,
            nodes: nodes.context("no nodes")?,
            states: states.context("no states")?,
            backtracking_seconds: None,
            full: false,
        })
    }
}

fn curves() -> Result<Vec<Curve>> {
    Ok(toml::from_str::<File>(include_str!("../instances/growth.toml"))?.curve)
}

/// Every point of every curve: curve by curve, environment by environment.
pub(crate) fn cases() -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for curve in curves()? {
        for environment in ENVIRONMENTS {
            for &value in &curve.values {
                cases.push(curve.case(environment, value)?);
            }
        }
    }
    Ok(cases)
}

/// Runs all curves; writes a table, a CSV and a chart.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut table = output::header("How cost grows");
    let limit = Duration::from_secs(arguments.limit);
    let (mut panels, mut records) = (Vec::new(), vec![names()]);
    let mut index = 0;
    table += &format!(
        "\nSolved with `behaviour`, once; a curve ends before a search of more than {} seconds. `growth.svg` shows \
         the same figures.\n",
        arguments.limit
    );
    for curve in curves()? {
        let mut points = Vec::new();
        table += &format!("\n## {}: {}\n\n", curve.axis.name(), curve.title);
        table += "| environment | ";
        table += curve.axis.name();
        table += " | value | size | queries | necessary | queries / necessary | seconds |\n";
        table += "|---|--:|--:|--:|--:|--:|--:|--:|\n";
        for environment in ENVIRONMENTS {
            let mut ended = false;
            for &value in &curve.values {
                let case = curve.case(environment, value)?;
                let place = index;
                index += 1;
                if ended {
                    continue;
                }
                eprint!("{}: {environment}, {value} …", case.group);
                let Some(found) = child::solve(Set::Growth, place, Solver::Behaviour, limit)? else {
                    eprintln!(" more than {} s", arguments.limit);
                    ended = true;
                    continue;
                };
                eprintln!(" {} s", seconds(found.seconds));
                table += &line(&cells(environment, value, &found));
                records.push(record(&case, &found));
                let (x, queries) = (value as f64, found.queries as f64);
                points.push(Point { environment, x, figures: [queries, found.seconds] });
            }
        }
        panels.push(Panel { title: curve.title, axis: curve.axis.name(), linear: curve.linear, points });
    }
    let note = format!(
        "{}; {}; {}; commit {}",
        crate::machine::processor(),
        crate::machine::date(),
        output::command(),
        crate::machine::commit().unwrap_or_else(|| "unknown".to_owned()),
    );
    let directory = output::directory(arguments.output.as_ref());
    output::write(&directory, "growth.md", &table)?;
    output::write(&directory, "growth.csv", &output::csv(records)?)?;
    let chart = Chart {
        title: "What a proof costs, and how the cost grows",
        about: "Queries and seconds of a proof against thresholds, nodes and initial states",
        series: &ENVIRONMENTS,
        figures: ["queries", "seconds"],
    };
    output::write(&directory, "growth.svg", &chart.svg(&panels, &note))?;
    print!("{table}");
    output::written(&directory, "growth.svg, growth.md and growth.csv");
    Ok(())
}

fn cells(environment: &str, value: u64, found: &Found) -> Vec<String> {
    let mut cells = vec![environment.to_owned(), value.to_string()];
    let queries = found.queries as f64;
    cells.extend(found.answer());
    cells.push(grouped(queries));
    cells.push(found.necessary.map_or("–".to_owned(), |necessary| grouped(necessary as f64)));
    cells.push(found.necessary.map_or("–".to_owned(), |necessary| ratio(queries / necessary as f64)));
    cells.push(seconds(found.seconds));
    cells
}

fn names() -> Vec<String> {
    let results = ["status", "value", "size", "queries", "necessary", "seconds"];
    Case::RECORD.iter().chain(&results).map(|&name| name.to_owned()).collect()
}

fn record(case: &Case, found: &Found) -> Vec<String> {
    let whole = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
    let mut record = case.record();
    record.extend([
        found.status.clone(),
        whole(found.value),
        whole(found.size),
        found.queries.to_string(),
        whole(found.necessary),
        found.seconds.to_string(),
    ]);
    record
}

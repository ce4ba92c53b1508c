//! `thresholds`: what finer grids find and cost, up to all numbers.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use broccoli_environments::find;

use crate::case::{Case, Set};
use crate::chart::{BEYOND_ALL, Chart, Panel, Point};
use crate::child::{self, Found, Solver};
use crate::output::{self, grouped, line, seconds};

/// How long to try, and where to write.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Kill a search after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    limit: u64,

    /// Where thresholds.svg and thresholds.md are written (default: target/bench)
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
}

const ENVIRONMENTS: [&str; 5] =
    ["cartpole", "mountain-car", "pendulum", "mountain-car-continuous", "cruise-control"];
const DEPTH: u32 = 2;
/// Thresholds per dimension; none is all numbers.
const COUNTS: [Option<usize>; 8] =
    [Some(10), Some(30), Some(100), Some(300), Some(1_000), Some(10_000), Some(65_000), None];

fn case(environment: &str, thresholds: Option<usize>) -> Case {
    Case {
        group: "thresholds".to_owned(),
        environment: environment.to_owned(),
        x: None,
        step: Vec::new(),
        thresholds,
        all: thresholds.is_none(),
        depth: DEPTH,
        nodes: (1 << DEPTH) - 1,
        states: 1,
        backtracking_seconds: None,
        full: false,
    }
}

/// Every point of every curve, environment by environment.
pub(crate) fn cases() -> Result<Vec<Case>> {
    Ok(ENVIRONMENTS.iter().flat_map(|environment| COUNTS.map(|count| case(environment, count))).collect())
}

/// Runs all searches; writes a table and a chart.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let limit = Duration::from_secs(arguments.limit);
    let mut table = output::header("Value and cost against the number of thresholds");
    table += &format!(
        "\nDepth {DEPTH}, one initial state, evenly spaced over the ranges of the environment; `all`: all numbers, in the \
         ranges and beyond. A search is killed after {} seconds. `thresholds.svg` shows the same figures.\n\n\
         | environment | thresholds per dimension | value | size | queries | necessary | seconds |\n\
         |---|--:|--:|--:|--:|--:|--:|\n",
        arguments.limit
    );
    let mut points = Vec::new();
    for (index, case) in cases()?.into_iter().enumerate() {
        let environment = find(&case.environment)?.name;
        eprint!("{environment}, {} …", case.grid());
        let found = child::solve(Set::Thresholds, index, Solver::Behaviour, limit)?;
        eprintln!(" {}", found.as_ref().map_or("killed".to_owned(), |found| seconds(found.seconds) + " s"));
        table += &line(&cells(environment, &case, found.as_ref()));
        if let Some((value, queries)) = found.and_then(|found| Some((found.value?, found.queries))) {
            let x = case.thresholds.map_or(BEYOND_ALL, |count| count as f64);
            points.push(Point { environment, x, figures: [value as f64, queries as f64] });
        }
    }
    let axis = "thresholds per dimension";
    let panel = Panel { title: format!("depth {DEPTH}"), axis, linear: false, points };
    let chart = Chart {
        title: "What finer grids find and cost, up to all numbers",
        about: "Value and queries of a proof against thresholds per dimension",
        series: &ENVIRONMENTS,
        figures: ["value", "queries"],
    };
    let note = format!("{}; {}", crate::machine::date(), output::command());
    let directory = output::directory(arguments.output.as_ref());
    output::write(&directory, "thresholds.md", &table)?;
    output::write(&directory, "thresholds.svg", &chart.svg(&[panel], &note))?;
    print!("{table}");
    output::written(&directory, "thresholds.svg and thresholds.md");
    Ok(())
}

fn cells(environment: &str, case: &Case, found: Option<&Found>) -> Vec<String> {
    let mut cells = vec![environment.to_owned(), case.grid()];
    let Some(found) = found else {
        cells.extend(["–", "–", "–", "–", "killed"].map(str::to_owned));
        return cells;
    };
    cells.extend(found.answer());
    cells.push(grouped(found.queries as f64));
    cells.push(found.necessary.map_or("–".to_owned(), |necessary| grouped(necessary as f64)));
    cells.push(seconds(found.seconds));
    cells
}

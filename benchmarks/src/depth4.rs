//! `depth4`: trees of depth 4, each solved within a limit of time or not.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;

use crate::case::{Case, Set};
use crate::child::{self, Found, Solver};
use crate::output::{self, grouped, line, seconds};

/// Which rows to run, and for how long.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Also the rows with finer grids and more nodes
    #[arg(long)]
    full: bool,

    /// Kill a search after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    limit: u64,

    /// Where depth4.md is written (default: target/bench)
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Runs the rows and writes the report.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut text = output::header("Trees of depth 4");
    text += &format!(
        "\nSolved with `behaviour` from the environment's own initial state, at most {} seconds each.\n\n\
         | environment | thresholds | nodes | outcome | value | size | queries | necessary | seconds |\n\
         |---|---|--:|---|--:|--:|--:|--:|--:|\n",
        arguments.limit
    );
    let directory = output::directory(arguments.output.as_ref());
    for (index, case) in Set::Depth4.cases()?.into_iter().enumerate() {
        if case.full && !arguments.full {
            continue;
        }
        eprint!("{} …", case.settings());
        let limit = Duration::from_secs(arguments.limit);
        let found = child::solve(Set::Depth4, index, Solver::Behaviour, limit)?;
        eprintln!(" {}", found.as_ref().map_or("not solved".to_owned(), |f| seconds(f.seconds) + " s"));
        text += &line(&cells(&case, found.as_ref(), arguments.limit));
        output::write(&directory, "depth4.md", &text)?;
    }
    print!("{text}");
    output::written(&directory, "depth4.md");
    Ok(())
}

fn cells(case: &Case, found: Option<&Found>, limit: u64) -> Vec<String> {
    let mut cells = vec![case.environment.clone(), case.grid(), case.nodes.to_string()];
    match found {
        Some(found) => {
            cells.push(found.status.clone());
            cells.extend(found.answer());
            cells.push(grouped(found.queries as f64));
            cells.push(found.necessary.map_or("–".to_owned(), |necessary| grouped(necessary as f64)));
            cells.push(seconds(found.seconds));
        }
        None => {
            cells.push("not solved".to_owned());
            cells.extend(["–"; 4].map(str::to_owned));
            cells.push(format!("> {limit}"));
        }
    }
    cells
}

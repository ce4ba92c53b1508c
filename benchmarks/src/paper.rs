//! `paper`: the paper's Tables 1, 2 and 3, and harder ones.
//!
//! Rows differ in cost from milliseconds to days, so a row says itself whether it is part of the quick
//! default, and nothing else runs without `--full`. After every row all files are written anew: an
//! interrupted run keeps what it has.

use std::path::PathBuf;

use anyhow::{Result, bail};
use broccoli_core::search::Engine;
use clap::ValueEnum;

use crate::instances::{Instances, Row, Table};
use crate::measure::{Run, solve};
use crate::output;
use crate::report::{Measured, Report};

/// Which rows to run, and how.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Only these tables: 1 to 3 are the paper's, 4 to 6 go beyond it
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=6))]
    table: Vec<u32>,

    /// Only these environments: cartpole, mountain-car, pendulum
    #[arg(long, value_delimiter = ',', value_parser = environment)]
    environment: Vec<String>,

    /// Only rows with these X, the paper's number of steps per dimension (Tables 2, 3, 4 and 6)
    #[arg(long, value_delimiter = ',')]
    x: Vec<u32>,

    /// Only rows with these limits on predicate nodes
    #[arg(long, value_delimiter = ',')]
    nodes: Vec<u64>,

    /// Only rows with this many initial states: 1, 100, 1000
    #[arg(long, value_delimiter = ',')]
    states: Vec<usize>,

    /// Only rows with pruning
    #[arg(long, conflicts_with = "no_pruning")]
    pruning: bool,

    /// Only rows without pruning (Table 1)
    #[arg(long)]
    no_pruning: bool,

    /// Run every row with the seeds 0 to N-1 (default: 10, or fewer where a row says so)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    seeds: Option<u64>,

    /// The engine; only backtracking runs the rows without pruning, which mean nothing to the others
    #[arg(long, value_enum, default_value = "behaviour")]
    engine: EngineName,

    /// Also the rows that take minutes to days
    #[arg(long)]
    full: bool,

    /// List the rows that would run, and stop
    #[arg(long)]
    list: bool,

    /// Where paper.md, paper.csv and paper-runs.csv are written (default: target/bench)
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum EngineName {
    Behaviour,
    Backtracking,
    Exhaustive,
}

impl EngineName {
    fn engine(self, pruning: bool) -> Engine {
        match self {
            EngineName::Behaviour => Engine::Behaviour,
            EngineName::Backtracking => Engine::Backtracking { pruning },
            EngineName::Exhaustive => Engine::Exhaustive,
        }
    }

    /// With how many seeds `row` is part of the quick default.
    fn quick(self, row: &Row) -> u64 {
        match self {
            EngineName::Behaviour => row.quick.behaviour,
            EngineName::Backtracking | EngineName::Exhaustive => row.quick.backtracking,
        }
    }
}

fn environment(name: &str) -> Result<String, String> {
    broccoli_environments::find(name).map(|found| found.name.to_owned()).map_err(|error| error.to_string())
}

impl Arguments {
    fn chooses(&self, table: &Table, row: &Row) -> bool {
        fn among<T: PartialEq>(chosen: &[T], value: &T) -> bool {
            chosen.is_empty() || chosen.contains(value)
        }
        let engine = matches!(self.engine, EngineName::Backtracking) || row.pruning;
        among(&self.table, &table.number)
            && among(&self.environment, &row.environment)
            && (self.x.is_empty() || row.x.is_some_and(|x| self.x.contains(&x)))
            && among(&self.nodes, &row.nodes)
            && among(&self.states, &row.states)
            && (!self.pruning || row.pruning)
            && (!self.no_pruning || !row.pruning)
            && engine
    }

    fn seeds(&self, row: &Row) -> u64 {
        self.seeds.unwrap_or(if self.full { row.seeds } else { self.engine.quick(row) })
    }
}

/// Runs the chosen rows and writes the report.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let instances = Instances::paper()?;
    let chosen: Vec<_> = instances.rows().filter(|(table, row)| arguments.chooses(table, row)).collect();
    let quick = |row| arguments.engine.quick(row) > 0;
    let rows: Vec<_> = chosen.iter().filter(|(_, row)| arguments.full || quick(row)).collect();
    match (rows.len(), chosen.len() - rows.len()) {
        (0, 0) => bail!("no row of the paper's tables has these settings"),
        (0, long) => bail!("the {long} row(s) with these settings take long: add --full to run them"),
        (_, 0) => {}
        (_, long) => eprintln!("{long} row(s) that take long are left out; --full runs them too"),
    }
    let mut report = Report::new(output::directory(arguments.output.as_ref()));
    for (index, (table, row)) in rows.iter().enumerate() {
        let seeds = arguments.seeds(row);
        let place = format!("[{}/{}] table {}: {}", index + 1, rows.len(), table.number, row.settings());
        if arguments.list {
            println!("{place}, seeds: {seeds}");
            continue;
        }
        let engine = arguments.engine.engine(row.pruning);
        let mut runs: Vec<Run> = Vec::new();
        for seed in 0..seeds {
            eprint!("{place}, seed {seed} of {seeds} …");
            let run = solve(row, table.depth, seed, engine)?;
            eprintln!(" {:.3} s", run.seconds);
            runs.push(run);
        }
        report.add(Measured { table, row, engine, runs })?;
    }
    if !arguments.list {
        report.print();
    }
    Ok(())
}

//! `engines`: `behaviour` against `backtracking` and against what any search must ask, in one sitting.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, ensure};

use crate::case::{Case, Set};
use crate::child::{self, Found, Solver};
use crate::output::{self, grouped, line, ratio, seconds};

/// Which rows to run, and how.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Only these environments: cartpole, mountain-car, pendulum
    #[arg(long, value_delimiter = ',')]
    environment: Vec<String>,

    /// Run backtracking where it is known to take about this long at most
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, conflicts_with = "full")]
    backtracking: f64,

    /// Run everything: backtracking also where it is not known to end, instructions also where it takes long
    #[arg(long)]
    full: bool,

    /// Kill a search after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    limit: u64,

    /// The best of N runs counts; a search of more than 5 seconds runs once
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,

    /// Also count behaviour's instructions, with valgrind; without --full only where it takes little time
    #[arg(long)]
    instructions: bool,

    /// Where engines.md and engines.csv are written (default: target/bench)
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Without `--full`, instructions are counted where the search takes this long at most; counting is some
/// fifty times slower.
const QUICK_INSTRUCTIONS: f64 = 0.3;
/// A search that takes longer runs once.
const LONG: f64 = 5.0;

/// A row with what was measured.
struct Measured {
    case: Case,
    behaviour: Found,
    backtracking: Backtracking,
    instructions: Option<u64>,
}

enum Backtracking {
    Ended(Found),
    Killed,
    LeftOut,
}

impl Backtracking {
    fn ended(&self) -> Option<&Found> {
        match self {
            Backtracking::Ended(found) => Some(found),
            _ => None,
        }
    }

    /// In place of figures that do not exist.
    fn excuse(&self, limit: u64) -> String {
        match self {
            Backtracking::Killed => format!("> {limit} s"),
            _ => "–".to_owned(),
        }
    }
}

/// Runs the rows and writes the report.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let header = output::header("Engines");
    let limit = Duration::from_secs(arguments.limit);
    let count = arguments.instructions && child::can_count();
    if arguments.instructions && !count {
        eprintln!("valgrind is not installed: instructions are not counted");
    }
    let directory = output::directory(arguments.output.as_ref());
    let mut rows: Vec<Measured> = Vec::new();
    for (index, case) in Set::Engines.cases()?.into_iter().enumerate() {
        if !arguments.environment.is_empty() && !arguments.environment.contains(&case.environment) {
            continue;
        }
        eprint!("{} …", case.settings());
        let Some(behaviour) = best(index, Solver::Behaviour, arguments.runs, limit)? else {
            eprintln!(" behaviour was killed after {} s: the row is left out", arguments.limit);
            continue;
        };
        eprint!(" {} s", seconds(behaviour.seconds));
        let quick = case.backtracking_seconds.is_some_and(|seconds| seconds <= arguments.backtracking);
        let backtracking = if arguments.full || quick {
            match best(index, Solver::Backtracking, arguments.runs, limit)? {
                Some(found) => Backtracking::Ended(found),
                None => Backtracking::Killed,
            }
        } else {
            Backtracking::LeftOut
        };
        if let Some(found) = backtracking.ended() {
            eprint!(", backtracking {} s", seconds(found.seconds));
            let same = (found.value, found.size) == (behaviour.value, behaviour.size);
            ensure!(same, "the engines disagree: {behaviour:?}, {found:?}");
        }
        let instructions = if count && (arguments.full || behaviour.seconds <= QUICK_INSTRUCTIONS) {
            child::instructions(Set::Engines, index, Solver::Behaviour, limit)?
        } else {
            None
        };
        eprintln!();
        rows.push(Measured { case, behaviour, backtracking, instructions });
        // All files after every row, so that an interrupted run keeps what it has.
        output::write(&directory, "engines.md", &markdown(&header, &rows, arguments))?;
        output::write(&directory, "engines.csv", &output::csv(records(&rows))?)?;
    }
    ensure!(!rows.is_empty(), "no row has these settings");
    print!("{}", markdown(&header, &rows, arguments));
    output::written(&directory, "engines.md and engines.csv");
    Ok(())
}

/// The fastest of several runs; none if one was killed.
fn best(index: usize, solver: Solver, runs: u32, limit: Duration) -> Result<Option<Found>> {
    let Some(mut best) = child::solve(Set::Engines, index, solver, limit)? else { return Ok(None) };
    for _ in 1..runs {
        if best.seconds > LONG {
            break;
        }
        let Some(found) = child::solve(Set::Engines, index, solver, limit)? else { return Ok(None) };
        ensure!(
            found.queries == best.queries,
            "two runs made {} and {} queries",
            best.queries,
            found.queries
        );
        if found.seconds < best.seconds {
            best = found;
        }
    }
    Ok(Some(best))
}

/// Nanoseconds for each query.
fn nanoseconds(found: &Found) -> f64 {
    found.seconds * 1e9 / found.queries as f64
}

fn markdown(header: &str, rows: &[Measured], arguments: &Arguments) -> String {
    let mut text = format!(
        "{header}- load average after: {}\n- runs: the best of {}; one run where it takes more than {LONG} s\n\n\
         benchmarks/README.md says what the columns mean. A dash: not run, or there is no such figure.\n",
        crate::machine::load().unwrap_or_else(|| "unknown".to_owned()),
        arguments.runs
    );
    text += "\n## Against backtracking\n\n\
        | table | environment | thresholds | states | value | size | queries | backtracking's | ratio | seconds \
        | backtracking's | ratio |\n|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";
    for Measured { case, behaviour, backtracking, .. } in rows {
        let mut cells = settings(case);
        cells.extend(behaviour.answer());
        let excuse = || backtracking.excuse(arguments.limit);
        let pair = |ours: f64, theirs: Option<f64>, write: fn(f64) -> String| {
            let theirs_written = theirs.map_or_else(excuse, write);
            [write(ours), theirs_written, theirs.map_or("–".to_owned(), |theirs| ratio(theirs / ours))]
        };
        let other = backtracking.ended();
        cells.extend(pair(behaviour.queries as f64, other.map(|found| found.queries as f64), grouped));
        cells.extend(pair(behaviour.seconds, other.map(|found| found.seconds), seconds));
        text += &line(&cells);
    }
    text += "\n## Against the limit\n\n\
        | table | environment | thresholds | states | queries | necessary | queries / necessary | ns a query \
        | instructions | instructions a query |\n|---|---|---|--:|--:|--:|--:|--:|--:|--:|\n";
    for Measured { case, behaviour, instructions, .. } in rows {
        let dash = || "–".to_owned();
        let mut cells = settings(case);
        let queries = behaviour.queries as f64;
        cells.extend([
            grouped(queries),
            behaviour.necessary.map_or_else(dash, |necessary| grouped(necessary as f64)),
            behaviour.necessary.map_or_else(dash, |necessary| ratio(queries / necessary as f64)),
            grouped(nanoseconds(behaviour)),
            instructions.map_or_else(dash, |count| grouped(count as f64)),
            instructions.map_or_else(dash, |count| grouped(count as f64 / queries)),
        ]);
        text += &line(&cells);
    }
    text
}

fn settings(case: &Case) -> Vec<String> {
    vec![case.group.clone(), case.environment.clone(), case.grid(), case.states.to_string()]
}

fn records(rows: &[Measured]) -> impl Iterator<Item = Vec<String>> {
    const RESULTS: [&str; 14] = [
        "status",
        "value",
        "size",
        "behaviour_queries",
        "behaviour_necessary",
        "behaviour_queries_per_necessary",
        "behaviour_seconds",
        "behaviour_ns_per_query",
        "behaviour_instructions",
        "backtracking",
        "backtracking_queries",
        "backtracking_seconds",
        "ratio_queries",
        "ratio_seconds",
    ];
    let names = Case::RECORD.iter().chain(&RESULTS).map(|&name| name.to_owned()).collect();
    let fields = rows.iter().map(|row| {
        let Measured { case, behaviour, backtracking, instructions } = row;
        let text = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
        let whole = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
        let mut record = case.record();
        let other = backtracking.ended();
        record.extend([
            behaviour.status.clone(),
            whole(behaviour.value),
            whole(behaviour.size),
            behaviour.queries.to_string(),
            whole(behaviour.necessary),
            text(behaviour.necessary.map(|necessary| behaviour.queries as f64 / necessary as f64)),
            behaviour.seconds.to_string(),
            nanoseconds(behaviour).to_string(),
            whole(*instructions),
            match backtracking {
                Backtracking::Ended(_) => "ended",
                Backtracking::Killed => "killed",
                Backtracking::LeftOut => "not run",
            }
            .to_owned(),
            whole(other.map(|found| found.queries)),
            text(other.map(|found| found.seconds)),
            text(other.map(|found| found.queries as f64 / behaviour.queries as f64)),
            text(other.map(|found| found.seconds / behaviour.seconds)),
        ]);
        record
    });
    std::iter::once(names).chain(fields)
}

//! `threads`: the same search with one thread and with several, by the clock and in processor time.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use broccoli_core::problem::Problem;
use broccoli_core::search::{Search, Solution};
use broccoli_environments::Environment;

use crate::case::Set;
use crate::machine;
use crate::output::{self, line, ratio, seconds};

/// Which rows to run, and how.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Only these environments: mountain-car, pendulum
    #[arg(long, value_delimiter = ',')]
    environment: Vec<String>,

    /// Only rows with these X
    #[arg(long, value_delimiter = ',')]
    x: Vec<u32>,

    /// How many threads are compared with one
    #[arg(long, value_name = "T", default_value = "2")]
    threads: NonZeroUsize,

    /// The best of N runs counts
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,

    /// Where threads.md is written (default: target/bench)
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// A run: what it took by the clock and in processor time, and its answer.
struct Run {
    wall: Duration,
    busy: Option<Duration>,
    best: Option<Solution>,
}

/// Runs the rows and writes the report.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let threads = arguments.threads;
    let mut text = output::header("Threads");
    text += &format!(
        "- runs: the best of {}, one thread and {threads} in turn\n\n\
         | environment | X | thresholds | value | size | seconds, 1 thread | processor | seconds, {threads} threads \
         | processor | speed-up |\n|---|--:|---|--:|--:|--:|--:|--:|--:|--:|\n",
        arguments.runs
    );
    let directory = output::directory(arguments.output.as_ref());
    let is_wanted = |environment: &String, x: Option<u32>| {
        (arguments.environment.is_empty() || arguments.environment.contains(environment))
            && (arguments.x.is_empty() || x.is_some_and(|x| arguments.x.contains(&x)))
    };
    for case in Set::Threads.cases()? {
        if !is_wanted(&case.environment, case.x) {
            continue;
        }
        eprint!("{} …", case.settings());
        let (problem, environment) = (case.problem()?, case.environment()?);
        let one = solve(&problem, environment, NonZeroUsize::MIN)?;
        let several = solve(&problem, environment, threads)?;
        let mut fastest = [one, several];
        for _ in 1..arguments.runs {
            for (fastest, threads) in fastest.iter_mut().zip([NonZeroUsize::MIN, threads]) {
                let run = solve(&problem, environment, threads)?;
                ensure!(run.best == fastest.best, "two runs give different answers");
                if run.wall < fastest.wall {
                    *fastest = run;
                }
            }
        }
        let [one, several] = &fastest;
        ensure!(one.best == several.best, "one thread and {threads} give different answers");
        let speed_up = ratio(one.wall.as_secs_f64() / several.wall.as_secs_f64());
        eprintln!(" {speed_up}");
        let number = |number: Option<u64>| number.map_or("–".to_owned(), |number| number.to_string());
        let mut cells = vec![case.environment.clone(), number(case.x.map(u64::from)), case.grid()];
        cells.push(number(one.best.as_ref().map(|best| best.value)));
        cells.push(number(one.best.as_ref().map(|best| best.tree.size())));
        for Run { wall, busy, .. } in &fastest {
            cells.push(seconds(wall.as_secs_f64()));
            cells.push(busy.map_or("–".to_owned(), |busy| seconds(busy.as_secs_f64())));
        }
        cells.push(speed_up);
        text += &line(&cells);
        output::write(&directory, "threads.md", &text)?;
    }
    let load = machine::load().unwrap_or_else(|| "unknown".to_owned());
    text += &format!("\nLoad average after: {load}.\n");
    output::write(&directory, "threads.md", &text)?;
    print!("{text}");
    output::written(&directory, "threads.md");
    Ok(())
}

fn solve(problem: &Problem, environment: &Environment, threads: NonZeroUsize) -> Result<Run> {
    let (started, busy) = (Instant::now(), machine::busy_process());
    let outcome = Search::new(problem, environment).threads(threads).run()?;
    let wall = started.elapsed();
    let busy = busy.zip(machine::busy_process()).map(|(start, end)| end.saturating_sub(start));
    Ok(Run { wall, busy, best: outcome.best })
}

//! `anytime`: how good the best tree is after so many queries, by our search and by heuristics.

mod annealing;
mod arena;
mod asked;
mod climbing;
mod cma;
mod curves;
mod descent;
mod dice;
mod evolution;
mod judge;
mod methods;
mod ours;
mod problems;
mod random;
mod results;
mod run;
mod table;
mod tree;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use broccoli_core::search::value;

use crate::output;
use arena::Budget;
use methods::{Method, Task};
use results::Results;

/// What to run, and how long.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Only problems whose name contains one of these
    #[arg(long, value_delimiter = ',', value_name = "WORD")]
    problems: Vec<String>,

    /// Also LunarLander and a problem of MuJoCo, with the python3 in PATH; `cargo xtask` installs their packages
    #[arg(long)]
    gymnasium: bool,

    /// Only these methods (default: all, or ours if there are baselines)
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    methods: Vec<String>,

    /// The largest number of queries
    #[arg(long, value_name = "QUERIES", default_value_t = 10_000_000)]
    budget: u64,

    /// Up to 100,000,000 queries
    #[arg(long, conflicts_with = "budget")]
    full: bool,

    /// How often every heuristic runs
    #[arg(long, default_value_t = 5)]
    seeds: u64,

    /// The most seconds a run may take
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    time_limit: f64,

    /// Results of methods that are not run again: an anytime.csv of before
    #[arg(long, value_name = "FILE")]
    baselines: Option<PathBuf>,

    /// Where anytime.md, anytime.csv and anytime.svg are written (default: target/bench)
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Runs the methods and writes what came of them, after every problem.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let queries = if arguments.full { 100_000_000 } else { arguments.budget };
    let budget = Budget { queries, seconds: arguments.time_limit };
    let methods = chosen(arguments)?;
    let problems = problems::problems(&arguments.problems, arguments.gymnasium)?;
    ensure!(!problems.is_empty(), "no problem has such a name");
    let mut results = Results::new(queries);
    if let Some(path) = &arguments.baselines {
        let known = methods.iter().map(|method| method.name).collect::<Vec<_>>();
        results.read(path, &problems, &known).with_context(|| path.display().to_string())?;
    }
    let directory = output::directory(arguments.output.as_ref());
    for named in &problems {
        let task = Task { problem: &named.problem, factory: &*named.target.factory, budget };
        for method in &methods {
            if !method.fits(&task)? {
                continue;
            }
            let seeds = if method.is_heuristic() { arguments.seeds } else { 1 };
            let started = Instant::now();
            for seed in 0..seeds {
                let run =
                    method.run(&task, seed).with_context(|| format!("{}, {}", named.name, method.name))?;
                results.add(named, method.name, seed, &run);
                if let Some((fresh, tree)) = named.fresh.as_ref().zip(run.best) {
                    let value = value(fresh, task.factory, &tree)?;
                    results.fresh.push((named.name.clone(), method.name.to_owned(), value));
                }
            }
            eprintln!("{}, {}: {:.1} s", named.name, method.name, started.elapsed().as_secs_f64());
        }
        output::write(&directory, "anytime.csv", &results.csv(&problems)?)?;
    }
    let seeds = match &arguments.baselines {
        Some(_) => "the baselines'".to_owned(),
        None => arguments.seeds.to_string(),
    };
    let text = table::report(&results, &problems, &seeds);
    print!("{text}");
    output::write(&directory, "anytime.md", &text)?;
    let chart = curves::svg(&results, &problems, &output::command());
    output::write(&directory, "anytime.svg", &chart)?;
    output::written(&directory, "anytime.md, anytime.csv, anytime.svg");
    Ok(())
}

/// The methods to run.
fn chosen(arguments: &Arguments) -> Result<Vec<Method>> {
    for name in &arguments.methods {
        let names = methods::ALL.iter().map(|method| method.name).collect::<Vec<_>>();
        ensure!(names.contains(&name.as_str()), "there is no method {name:?}, but {}", names.join(", "));
    }
    let is_chosen = |method: &&Method| match arguments.methods.is_empty() {
        true => arguments.baselines.is_none() || !method.is_heuristic(),
        false => arguments.methods.iter().any(|name| name == method.name),
    };
    Ok(methods::ALL.iter().filter(is_chosen).copied().collect())
}

//! `forecast`: how often what a search says of the queries to come was right, over recorded searches of all environments.

use std::path::PathBuf;

use anyhow::Result;
use broccoli_core::problem::{InitialState, Problem, Thresholds};
use broccoli_core::search::{Event, Forecast, Search, Status, Tuning};
use broccoli_environments::{ALL, Environment};

use crate::output::{self, line};

/// Which searches to record.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Only searches of at most so many queries
    #[arg(long, value_name = "N", default_value_t = 200_000)]
    most: u64,

    /// Where forecast.md is written (default: target/bench)
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Thresholds per dimension, none for all numbers; and initial states.
const COUNTS: [Option<usize>; 5] = [Some(3), Some(5), Some(9), Some(19), None];
const STATES: [usize; 3] = [1, 3, 20];
/// A forecast is looked at whenever there are so many percent more queries; shorter searches than this are over at once.
const PERCENT: u64 = 5;
const LEAST: u64 = 300;

/// What was said of searches, from one part in a hundred or in ten of their queries on.
#[derive(Default)]
struct Said {
    searches: u64,
    /// Forecasts, and those that were right.
    from: [(u64, u64); 2],
}

/// Records searches and writes the report.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let directory = output::directory(arguments.output.as_ref());
    let mut text = output::header("Forecasts");
    text += &format!(
        "\nOf searches that take {LEAST} to {} queries, depths 1 to 3, 3 to 19 thresholds or all numbers, 1, 3 and 20 initial states, with the \
         constants for quick systems and for slow ones: how often the queries still to come lay in the range that was \
         said, looked at whenever {PERCENT} % more had been made.\n\n\
         | environment | searches | forecasts from 1 % on | right | from 10 % on | right |\n|---|--:|--:|--:|--:|--:|\n",
        arguments.most
    );
    let mut all = Said::default();
    for environment in ALL {
        let mut said = Said::default();
        for depth in 1..=3 {
            for (count, states) in COUNTS.iter().flat_map(|&count| STATES.map(|states| (count, states))) {
                let problem = posed(environment, depth, count, states)?;
                for tuning in [Tuning::default(), Tuning::for_slow_systems()] {
                    record(&problem, environment, tuning, arguments.most, &mut said)?;
                }
            }
        }
        eprintln!("{}: {} searches", environment.name, said.searches);
        text += &row(environment.name, &said);
        all.searches += said.searches;
        for (sum, one) in all.from.iter_mut().zip(said.from) {
            *sum = (sum.0 + one.0, sum.1 + one.1);
        }
    }
    text += &row("all", &all);
    output::write(&directory, "forecast.md", &text)?;
    print!("{text}");
    output::written(&directory, "forecast.md");
    Ok(())
}

fn row(name: &str, said: &Said) -> String {
    let percent = |(all, right): (u64, u64)| format!("{:.1} %", 100.0 * right as f64 / all.max(1) as f64);
    let [late, later] = said.from;
    let counts =
        [said.searches.to_string(), late.0.to_string(), percent(late), later.0.to_string(), percent(later)];
    line(&[&[name.to_owned()][..], &counts].concat())
}

fn posed(environment: &Environment, depth: u32, count: Option<usize>, states: usize) -> Result<Problem> {
    let grid = |(low, high)| count.map_or(Ok(Thresholds::all()), |count| Thresholds::count(low, high, count));
    let grids = environment.dimensions.iter().map(|d| grid(d.range)).collect::<Result<_, _>>()?;
    let initial = match states {
        1 => vec![InitialState::new(environment.initial)],
        states => environment.sample(states, 0),
    };
    Ok(environment.problem_with(grids, initial).depth(depth).build()?)
}

fn record(
    problem: &Problem,
    environment: &Environment,
    tuning: Tuning,
    most: u64,
    said: &mut Said,
) -> Result<()> {
    let (mut queries, mut seen) = (0, Vec::<(u64, Forecast)>::new());
    let mut observer = |event: Event<'_>| match event {
        Event::Considered(statistics) => queries = statistics.queries,
        Event::Forecast(forecast) => {
            let before = seen.last().map_or(0, |&(before, _)| before);
            if queries > before + before * PERCENT / 100 {
                seen.push((queries, forecast));
            }
        }
        _ => {}
    };
    let search = Search::new(problem, environment).tuning(tuning).query_limit(most);
    let outcome = search.observer(&mut observer).run()?;
    let total = outcome.statistics.queries;
    if matches!(outcome.status, Status::Stopped(_)) || total < LEAST {
        return Ok(());
    }
    said.searches += 1;
    for (from, part) in said.from.iter_mut().zip([100, 10]) {
        for (queries, forecast) in
            seen.iter().filter(|&&(queries, _)| part * queries >= total && queries < total)
        {
            let is_right = (forecast.least..=forecast.most).contains(&(total - queries));
            *from = (from.0 + 1, from.1 + u64::from(is_right));
        }
    }
    Ok(())
}

//! Broccoli's benchmarks. Usually called as `cargo xtask bench …`, which builds it optimised.
//!
//! Every benchmark is a subcommand in a file of its own; what is measured is data in `instances/`.

mod anytime;
mod blackbox;
mod case;
mod chart;
mod child;
mod depth4;
mod engines;
mod forecast;
mod growth;
mod instances;
mod machine;
mod measure;
mod objectives;
mod output;
mod paper;
mod report;
mod slow;
mod threads;
mod thresholds;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Run Broccoli's benchmarks.
#[derive(Parser)]
#[command(name = "cargo xtask bench", version)]
struct Arguments {
    #[command(subcommand)]
    benchmark: Benchmark,
}

#[derive(Subcommand)]
enum Benchmark {
    /// The tables of the paper, its own figures beside ours.
    Paper(paper::Arguments),
    /// Behaviour against backtracking, and against what any search must ask.
    Engines(engines::Arguments),
    /// Trees of depth 4.
    Depth4(depth4::Arguments),
    /// Cost against thresholds, nodes and initial states, with a chart.
    Growth(growth::Arguments),
    /// Value and cost against the number of thresholds, up to all numbers, with a chart.
    Thresholds(thresholds::Arguments),
    /// What a step of a foreign system costs beside its own work.
    Blackbox(blackbox::Arguments),
    /// Returns, means and shares.
    Objectives(objectives::Arguments),
    /// How good the best tree is after so many queries, ours and by heuristics.
    Anytime(anytime::Arguments),
    /// One thread against several.
    Threads(threads::Arguments),
    /// Systems that take long for a step.
    Slow(slow::Arguments),
    /// How often the forecast of a search was right.
    Forecast(forecast::Arguments),
    /// One search; the others run it as a process that they can kill.
    #[command(hide = true)]
    One(child::Arguments),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().benchmark {
        Benchmark::Paper(arguments) => paper::run(&arguments),
        Benchmark::Engines(arguments) => engines::run(&arguments),
        Benchmark::Depth4(arguments) => depth4::run(&arguments),
        Benchmark::Growth(arguments) => growth::run(&arguments),
        Benchmark::Thresholds(arguments) => thresholds::run(&arguments),
        Benchmark::Blackbox(arguments) => blackbox::run(&arguments),
        Benchmark::Objectives(arguments) => objectives::run(&arguments),
        Benchmark::Anytime(arguments) => anytime::run(&arguments),
        Benchmark::Threads(arguments) => threads::run(&arguments),
        Benchmark::Slow(arguments) => slow::run(&arguments),
        Benchmark::Forecast(arguments) => forecast::run(&arguments),
        Benchmark::One(arguments) => child::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

//! Broccoli's benchmarks. Usually called as `cargo xtask bench …`, which builds it optimised.
//!
//! Every benchmark is a subcommand in a file of its own; what is measured is data in `instances/`.

mod instances;
mod machine;
mod measure;
mod paper;
mod report;

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
}

fn main() -> ExitCode {
    let done = match Arguments::parse().benchmark {
        Benchmark::Paper(arguments) => paper::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

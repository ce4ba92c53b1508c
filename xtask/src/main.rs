//! Broccoli's chores, as a program so that they are the same on every machine.
//!
//! `cargo xtask test` is everything that must hold before a change is merged, and what `.ci/run` calls.
//! `cargo xtask gallery` is one of its parts.
//! `cargo xtask book` builds the book, after it has written anew what is taken from elsewhere.
//! `cargo xtask bench` hands over to the package `broccoli-bench`. Every area of tests is a file of its own.

mod bench;
mod binaries;
mod book;
mod changes;
mod debian;
mod documents;
mod exports;
mod files;
mod gallery;
mod headline;
mod man;
mod package;
mod planted;
mod promises;
mod python;
mod rust;
mod schedule;
mod summary;
mod test;
mod tools;
mod workspace;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

/// Broccoli's chores.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Set up what the tests need and run all of them.
    Test(test::Arguments),
    /// Solve every problem of the gallery, the heavy ones too, and compare with what is recorded.
    Gallery(gallery::Arguments),
    /// Write docs/reference and README's table of figures anew, and build the book with all its links checked.
    Book,
    /// Run a benchmark, optimised: `cargo xtask bench paper --help`.
    #[command(disable_help_flag = true)]
    Bench(bench::Arguments),
    /// Run one step of `test`, which starts them like this.
    #[command(hide = true)]
    Step(test::One),
}

/// Whether there is a chore of this name.
fn is_chore(name: &str) -> bool {
    Arguments::command().find_subcommand(name).is_some()
}

fn main() -> ExitCode {
    let done = match Arguments::parse().chore {
        Chore::Test(arguments) => test::run(&arguments),
        Chore::Gallery(arguments) => gallery::run(&arguments),
        Chore::Book => book::write(),
        Chore::Bench(arguments) => bench::run(&arguments),
        Chore::Step(one) => test::run_one(&one),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

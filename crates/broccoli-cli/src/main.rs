//! The `broccoli` command: reads arguments, runs one command, writes what it has to say.
//!
//! Results go to standard output, everything else to standard error. The exit code is 0 for an
//! optimal tree (or a command that did its work), 3 for a proof that there is none, 4 for a search
//! that ended early, 5 for a tree that is proved not to be optimal or a certificate that is refuted, 2 for bad
//! usage or bad input, and 1 for anything else.

mod answer;
mod certificate;
mod check;
mod checkpoint;
mod complaint;
mod completions;
mod environments;
mod export;
mod file;
mod init;
mod keeper;
mod manual;
mod numbers;
mod objective;
mod origin;
mod output;
mod owner;
mod problem;
mod progress;
mod prove;
mod refine;
mod remember;
mod report;
mod resume;
mod running;
mod screen;
mod searching;
mod simulate;
mod solve;
mod starts;
mod stopper;
mod store;
mod suggest;
mod target;
mod used;
mod verify;

use std::process::ExitCode;

use broccoli_core::shown::{is_control, shown};
use clap::{CommandFactory, Parser, Subcommand};

use crate::complaint::Complaint;

/// Finds the best decision tree that controls a system, and proves that no tree is better.
#[derive(Debug, Parser)]
#[command(name = "broccoli", version, arg_required_else_help = true, after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  broccoli environments                      what there is to solve
  broccoli solve mountain-car                the best tree of depth 2
  broccoli solve mountain-car --json > best.json
  broccoli prove best.json                   is it optimal, or by how much not
  broccoli solve pendulum --certificate pendulum.proof
  broccoli verify pendulum.proof             is the proof right
  broccoli simulate mountain-car best.json --trace trace.csv
  broccoli export best.json -o policy.c
  broccoli report best.json -o report.html
  broccoli init plant.toml --subprocess      a simulator of your own to start from
  broccoli check plant.toml                  does it keep its promises?
  broccoli suggest plant.toml                thresholds to begin with, and what they cost
  broccoli solve plant.toml

Exit codes:
  0  an optimal tree, or the command did its work
  1  the system failed, or anything else went wrong
  2  bad usage or bad input
  3  it is proved that no tree exists
  4  stopped early
  5  the tree is proved not to be optimal, or the certificate is refuted";

#[derive(Debug, Subcommand)]
enum Command {
    Solve(solve::Solve),
    Resume(resume::Resume),
    Prove(prove::Prove),
    Verify(verify::Verify),
    Simulate(simulate::Simulate),
    Export(export::Export),
    Report(report::Report),
    Check(check::Check),
    Suggest(suggest::Suggest),
    Init(init::Init),
    Store(store::StoreCommand),
    Environments(environments::Environments),
    Completions(completions::Completions),
    Manual(manual::Manual),
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return complaint::usage(&about_safe_words(error)),
    };
    let done = match &arguments.command {
        Command::Solve(solve) => solve.run(),
        Command::Resume(resume) => resume.run(),
        Command::Prove(prove) => prove.run(),
        Command::Verify(verify) => verify.run(),
        Command::Simulate(simulate) => simulate.run(),
        Command::Export(export) => export.run(),
        Command::Report(report) => report.run(),
        Command::Check(check) => check.run(),
        Command::Suggest(suggest) => suggest.run(),
        Command::Init(init) => init.run(),
        Command::Store(store) => store.run(),
        Command::Environments(environments) => environments.run(),
        Command::Completions(completions) => completions.run(),
        Command::Manual(manual) => manual.run(),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(complaint) => complaint.report(&Arguments::command()),
    }
}

/// The same error, if it quotes words that would control a terminal, about words that do not: one may be the name of
/// a file that somebody else has chosen.
fn about_safe_words(error: clap::Error) -> clap::Error {
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    if !words.iter().any(|word| word.contains(is_control)) {
        return error;
    }
    Arguments::try_parse_from(words.iter().map(|word| shown(word).into_owned())).err().unwrap_or(error)
}

/// What a command returns: its exit code, or a reason why it could not do its work.
type Done = Result<u8, Complaint>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_consistent() {
        Arguments::command().debug_assert();
    }
}

//! `broccoli solve`: finds the best tree for an environment or a problem file.

use std::path::PathBuf;

use broccoli_export::history::Moment;
use broccoli_export::json::{ResultJson, StatusJson};
use broccoli_export::text;
use broccoli_problem::Target;
use clap::Args;

use crate::Done;
use crate::complaint::{Complaint, OTHER};
use crate::file::TreeFile;
use crate::output;
use crate::problem::ProblemOptions;
use crate::report;
use crate::searching::{SearchError, SearchOptions, Searched};
use crate::target::resolve;

/// Find the best tree, the smallest among the best, and prove it
///
/// Everything has a default: `broccoli solve mountain-car` is a complete command. What the defaults
/// are, `broccoli environments mountain-car` tells.
///
/// Ctrl-C ends the search with the best tree so far and what is proved; a second one ends it at once.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Solve {
    /// What to solve: the name of an environment (`broccoli environments` lists them), or a problem file
    /// whose name ends in .toml (`broccoli init` writes one)
    target: String,

    #[command(flatten)]
    problem: ProblemOptions,

    #[command(flatten)]
    search: SearchOptions,

    /// Start with this tree, which must fit the thresholds and limits: a saved tree or result
    #[arg(long, value_name = "TREE.json")]
    start: Option<PathBuf>,

    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,

    /// Write the result to a file, as --json would print it
    #[arg(long, value_name = "FILE.json")]
    save: Option<PathBuf>,

    /// Write a report to look at: one HTML file
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  broccoli solve cartpole
  broccoli solve mountain-car --depth 3 --nodes 4 --step 0.18,0.014
  broccoli solve mountain-car --initial -0.51,0 --initial -0.45,0
  broccoli solve pendulum --samples 100 --seed 7 --thresholds 9 --json
  broccoli solve pendulum --depth 3 --time-limit 30s --gap 5%
  broccoli solve cartpole --save best.json --report best.html
  broccoli solve plant.toml --depth 3

Exit codes:
  0  an optimal tree was found        1  the system failed, or anything else went wrong
  3  it is proved that none exists    2  bad usage or bad input
  4  stopped early";

impl Solve {
    /// Runs the command.
    pub fn run(&self) -> Done {
        let (target, system) = resolve(&self.target)?;
        let problem = self.problem.problem(&target)?;
        let file = self.start.as_ref().map(|path| TreeFile { option: "--start", path });
        let start = match &file {
            Some(file) => Some(file.tree(&file.saved()?, &problem)?),
            None => None,
        };
        let searched = self.search.run(&target, &problem, start).map_err(|error| match (error, file) {
            (SearchError::Start(error), Some(file)) => file
                .complaint(format!("it cannot be started from: {error}"))
                .help("`broccoli simulate` or `broccoli prove` tells what the tree is worth"),
            (SearchError::Start(error), None) => Complaint::input(error.to_string()),
            (SearchError::Options(complaint), _) => complaint,
        })?;

        let Searched { found, seconds, explanation, history } = searched;
        match found {
            Ok(outcome) => {
                let why = explanation.as_ref().map(|why| text::explanation(&problem, why));
                let summary = text::outcome(&problem, &outcome, seconds) + &why.unwrap_or_default();
                let result = ResultJson::new(system, &problem, &outcome, seconds);
                self.output(&target, result.explained(explanation.as_ref()), history, &summary)?;
                Ok(code(outcome.status.into()))
            }
            Err(failure) => {
                let result = ResultJson::failed(system, &problem, &failure, seconds);
                self.output(&target, result, history, &text::failure(&problem, &failure, seconds))?;
                Err(Complaint::other(failure.to_string()))
            }
        }
    }

    /// Prints the result, as JSON or as the `summary`, and writes the files that were asked for.
    fn output(
        &self,
        target: &Target,
        result: ResultJson,
        history: Vec<Moment>,
        summary: &str,
    ) -> Result<(), Complaint> {
        let result = ResultJson { history, command: report::command(), ..result };
        if self.json {
            output::print_json(&result)?;
        } else {
            output::print(summary)?;
        }
        if let Some(path) = &self.save {
            output::write_json("--save", path, &result)?;
        }
        if let Some(path) = &self.report {
            report::write("--report", path, &result, target)?;
        }
        Ok(())
    }
}

/// The exit code for a search that was not cut short by a failure.
fn code(status: StatusJson) -> u8 {
    match status {
        StatusJson::Optimal => 0,
        StatusJson::Infeasible => 3,
        StatusJson::Stopped => 4,
        StatusJson::Error => OTHER,
    }
}

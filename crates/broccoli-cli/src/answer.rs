//! What is done with the answer of a search: printed, saved, reported; and the exit code.

use std::path::PathBuf;

use broccoli_core::problem::{Problem, RunError};
use broccoli_export::json::{ResultJson, StatusJson, SystemJson};
use broccoli_export::{stages, text};
use broccoli_problem::Target;
use clap::Args;

use crate::Done;
use crate::complaint::{Complaint, OTHER};
use crate::output;
use crate::report;
use crate::running::Searched;

/// The options about the answer.
#[derive(Debug, Args)]
pub struct AnswerOptions {
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

impl AnswerOptions {
    /// Finds out before a search whether its answer can be written.
    pub fn check(&self) -> Result<(), Complaint> {
        for (option, path) in [("--save", &self.save), ("--report", &self.report)] {
            if let Some(path) = path {
                output::check_writable(option, path)?;
            }
        }
        Ok(())
    }

    /// Tells what the search that `command` began has found.
    pub fn tell(
        &self,
        target: &Target,
        system: SystemJson,
        problem: &Problem,
        searched: Searched,
        command: Vec<String>,
    ) -> Done {
        let Searched { found, more, seconds, threads, explanation, history, stages, certified } = searched;
        let (result, summary) = match &found {
            Ok(outcome) => {
                let why = explanation.as_ref().map(|why| text::explanation(problem, why));
                let result = ResultJson::new(system, problem, outcome, seconds);
                let summary =
                    text::outcome(problem, outcome, seconds) + &why.unwrap_or_default() + &more.text(problem);
                (result.explained(explanation.as_ref()).with(problem, &more), summary)
            }
            Err(failure) => {
                let result = ResultJson::failed(system, problem, failure, seconds);
                (result, text::failure(problem, failure, seconds))
            }
        };
        let summary = summary + &stages::text(&stages);
        let result = ResultJson { history, command, threads: Some(threads), stages, ..result };
        if self.json {
            output::print_json(&result)?;
        } else {
            output::print(&summary)?;
        }
        if let Some(path) = &self.save {
            output::write_json("--save", path, &result)?;
        }
        if let Some(path) = &self.report {
            report::write("--report", path, &result, target)?;
        }
        certified?;
        match found {
            Ok(outcome) => Ok(code(outcome.status.into())),
            // The system is not the one of the checkpoint that the user gave.
            Err(failure) if matches!(failure.error, RunError::Changed { .. }) => Err(Complaint::input(
                failure.to_string(),
            )
            .help("nothing that was proved holds for another system: put the old one back, or begin anew")),
            Err(failure) => Err(Complaint::other(failure.to_string())),
        }
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

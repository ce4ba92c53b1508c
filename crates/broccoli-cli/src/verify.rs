//! `broccoli verify`: does the claim of a certificate follow from its evidence?

use std::path::PathBuf;
use std::time::Instant;

use broccoli_certificate::Live;
use broccoli_checker::{Certificate, Checked, Claim, Failure, Objective, Refutation};
use broccoli_core::problem::Problem;
use broccoli_core::search::Solution;
use broccoli_core::tree::Tree;
use broccoli_export::json::{ProblemJson, StatusJson};
use broccoli_export::number::{counted, duration, grouped};
use broccoli_export::text;
use clap::Args;
use serde_json::json;

use crate::Done;
use crate::complaint::Complaint;
use crate::file::TreeFile;
use crate::numbers::{fraction, memory};
use crate::output;
use crate::target::of_saved;

/// The exit code for a certificate whose claim does not follow.
const REFUTED: u8 = 5;
/// The memory that a certificate may take without being asked: some, and more the larger the file is.
const LEAST_MEMORY: usize = 256 << 20;
const MEMORY_RATIO: usize = 1_000;
const MOST_MEMORY: usize = 8 << 30;

/// Check a certificate that `broccoli solve --certificate` has written
///
/// It is checked by code that shares nothing with the search: that the tree does what is claimed, and that
/// every behaviour that could contradict the claim was walked to its end. A light certificate is checked by
/// running the system; a full one holds all that the system answered.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Verify {
    /// The certificate
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The problem file, if the system is to be run and is not a built-in environment: what only FILE names
    /// is never run
    target: Option<String>,

    /// Of a full certificate: ask the system again for every transition that the proof rests on, or for this
    /// share of them, such as 1%, and compare bits
    #[arg(long, value_name = "SHARE", num_args = 0..=1, default_missing_value = "100%", require_equals = true,
          value_parser = fraction)]
    replay: Option<f64>,

    /// The most memory that the evidence may take [default: 1000 times the file, from 256MiB to 8GiB]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = memory)]
    memory: Option<usize>,

    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  broccoli solve mountain-car --certificate car.proof
  broccoli verify car.proof
  broccoli solve pendulum --certificate pendulum.proof --certificate-form full
  broccoli verify pendulum.proof                  the system is not run
  broccoli verify pendulum.proof --replay=5%      and now it is, for 5% of the steps
  broccoli verify plant.proof plant.toml

Exit codes:
  0  verified                         1  the system failed, or anything else went wrong
  5  refuted                          2  bad usage, or not a certificate that can be read";

impl Verify {
    /// Runs the command.
    pub fn run(&self) -> Done {
        let started = Instant::now();
        let file = TreeFile { option: "FILE", path: &self.file };
        let bytes = std::fs::read(&self.file).map_err(|error| file.complaint(error))?;
        let limit = bytes.len().saturating_mul(MEMORY_RATIO).clamp(LEAST_MEMORY, MOST_MEMORY);
        let certificate = Certificate::read(&bytes, self.memory.unwrap_or(limit));
        let certificate = certificate.map_err(|error| file.complaint(error))?;
        let json: ProblemJson = serde_json::from_value(certificate.problem_json.clone())
            .map_err(|error| file.complaint(format!("its problem is damaged: {error}")))?;
        let problem = json.to_problem().map_err(|error| file.complaint(error))?;
        if self.replay.is_some() && !certificate.is_full {
            return Err(Complaint::input("--replay works with full certificates only")
                .help("a light one is always checked by running the system"));
        }
        let needs_system = !certificate.is_full || self.replay.is_some();
        let named = self.target.as_deref();
        let target = needs_system.then(|| of_saved(&json, named, "verify", |what| file.complaint(what)));
        let target = target.transpose()?;
        let checked = match &target {
            None => certificate.check(None, 0.0),
            Some(target) => {
                file.check_against(&problem, target)?;
                let mut system = Live::new(&problem, &*target.factory)
                    .map_err(|error| Complaint::other(error.to_string()))?;
                certificate.check(Some(&mut system), self.replay.unwrap_or(1.0).min(1.0))
            }
        };
        let checked = match checked {
            Ok(checked) => Ok(checked),
            Err(Failure::Refuted(refutation)) => Err(refutation),
            Err(other) => return Err(Complaint::other(other.to_string())),
        };
        let seconds = started.elapsed().as_secs_f64();
        if self.json {
            output::print_json(&as_json(&certificate, &json, &checked, seconds))?;
        } else {
            output::print(&as_text(&certificate, &json, &problem, &checked, seconds))?;
        }
        Ok(if checked.is_ok() { 0 } else { REFUTED })
    }
}

/// The claim as the core's own types, to be told.
fn claim(certificate: &Certificate) -> (StatusJson, Option<Solution>, Option<u64>) {
    let solution = certificate.claim.solution().map(|solution| Solution {
        tree: tree(&certificate.problem.thresholds, &solution.tree),
        value: solution.value,
    });
    match &certificate.claim {
        Claim::Optimal(best) => (StatusJson::Optimal, solution, Some(best.value)),
        Claim::Infeasible => (StatusJson::Infeasible, None, None),
        Claim::Bound { bound, .. } => (StatusJson::Stopped, solution, Some(*bound)),
    }
}

fn tree(thresholds: &[Vec<f64>], from: &broccoli_checker::Tree) -> Tree {
    match from {
        broccoli_checker::Tree::Leaf(action) => Tree::Leaf(usize::from(*action)),
        broccoli_checker::Tree::Node { dimension, threshold, branches } => {
            let [yes, no] = [&branches[0], &branches[1]].map(|branch| tree(thresholds, branch));
            Tree::node(*dimension, thresholds[*dimension][*threshold], yes, no)
        }
    }
}

type Verdicts = Result<Checked, Refutation>;

fn as_text(
    certificate: &Certificate,
    json: &ProblemJson,
    problem: &Problem,
    checked: &Verdicts,
    seconds: f64,
) -> String {
    let (status, best, bound) = claim(certificate);
    let claim = text::verdict(problem, status, best.as_ref(), bound);
    let form = if certificate.is_full { "full" } else { "light" };
    let about = format!(
        "system   {}, {}, {}, horizon {}\n",
        json.system.name(),
        counted(problem.predicate_count() as u64, "threshold"),
        counted(problem.initial_states().len() as u64, "initial state"),
        grouped(problem.objective().horizon()),
    );
    let mut text = String::new();
    match checked {
        Err(refutation) => {
            text += &text::wrapped(
                "Refuted: the certificate does not prove what it claims. The first wrong step is:",
            );
            text += &format!(
                "\n{}\n\nClaimed was:\n{}\n\n{about}",
                text::wrapped(&refutation.to_string()),
                text::wrapped(&claim)
            );
        }
        Ok(checked) => {
            if let Some(Solution { tree, .. }) = &best {
                text += &format!("{}\n", tree.drawing(problem));
            }
            text += &format!("{}\n\n{about}", text::wrapped(&format!("Verified. {claim}")));
            text += &format!(
                "checked  {}, {}, {}\n",
                counted(checked.behaviours, "behaviour"),
                counted(checked.labels, "label"),
                counted(checked.transitions, "transition"),
            );
            text += &match checked.asked {
                0 => "         the system was not run\n".to_owned(),
                asked => format!("         {} of them asked of the system\n", grouped(asked)),
            };
        }
    }
    text + &format!("time     {} ({form} certificate)\n", duration(seconds))
}

fn as_json(
    certificate: &Certificate,
    problem: &ProblemJson,
    checked: &Verdicts,
    seconds: f64,
) -> serde_json::Value {
    let (status, best, bound) = claim(certificate);
    let claim = if status == StatusJson::Stopped { "bound" } else { status.name() };
    let objective = match certificate.problem.objective {
        Objective::Reach => "reach",
        Objective::Survive => "survive",
    };
    json!({
        "version": 1,
        "status": if checked.is_ok() { "verified" } else { "refuted" },
        "form": if certificate.is_full { "full" } else { "light" },
        "claim": claim,
        "objective": objective,
        "value": best.as_ref().map(|best| best.value),
        "bound": bound,
        "size": best.as_ref().map(|best| best.tree.size()),
        "checked": checked.as_ref().ok().map(|checked| json!({
            "behaviours": checked.behaviours,
            "labels": checked.labels,
            "size_tests": checked.tests,
            "transitions": checked.transitions,
            "transitions_asked": checked.asked,
        })),
        "refutation": checked.as_ref().err().map(|wrong| json!({
            "what": wrong.what,
            "initial_state": wrong.initial,
            "step": wrong.step,
            "cell": wrong.cell,
            "labels": wrong.labels,
        })),
        "seconds": seconds,
        "problem": problem,
    })
}

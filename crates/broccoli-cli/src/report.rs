//! `broccoli report`: a result as one HTML file to look at.

use std::path::{Path, PathBuf};

use broccoli_core::problem::{Problem, RunError};
use broccoli_core::tree::Tree;
use broccoli_export::json::{ProblemJson, ResultJson};
use broccoli_export::number::{counted, grouped};
use broccoli_export::policy::{Policy, PolicyError};
use broccoli_export::report::{Fresh, Observed, Report as Page};
use broccoli_problem::Target;
use clap::Args;

use crate::Done;
use crate::complaint::Complaint;
use crate::environments::find;
use crate::file::TreeFile;
use crate::output;
use crate::screen::note;
use crate::simulate::run_quietly;
use crate::target::{built_in, of_saved};

/// Fresh initial states are sampled with this seed, which no default uses.
pub const FRESH_SEED: u64 = 20_250_607;
const FRESH_COUNT: usize = 1_000;
/// The most steps of a run that is shown, and the most numbers in it.
const MOST_STEPS: u64 = 1_000_000;
const MOST_NUMBERS: u64 = 32_000_000;
/// The most steps of all runs, and as many on fresh initial states; with a long horizon there are fewer of these.
const ALL_STEPS: u64 = 20_000_000;
/// What all of them may cost, where a step costs what [`step_cost`] says.
const ALL_COST: u64 = 4_000_000_000;

/// Make a report of a saved result: one HTML file that needs nothing else
///
/// It shows the verdict, the tree, its traces over time and in the state space, an animation of the
/// built-in environments, the course of the search and how robust the tree is.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Report {
    /// The file with the result; - reads standard input
    #[arg(value_name = "RESULT.json")]
    result: PathBuf,

    /// The problem file of a system of your own, which is run only if you name it
    #[arg(value_name = "TARGET")]
    target: Option<String>,

    /// The file to write; - writes to standard output
    #[arg(long, short, value_name = "FILE.html")]
    output: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  broccoli solve mountain-car --samples 5 --save best.json
  broccoli report best.json -o report.html
  broccoli report best.json plant.toml -o report.html
  broccoli solve mountain-car --report report.html";

impl Report {
    /// Runs the command.
    pub fn run(&self) -> Done {
        let file = TreeFile { option: "RESULT.json", path: &self.result };
        file.check_apart("--output", &self.output)?;
        let result = file.result()?;
        let name = result.problem.system.name();
        let target = match (&self.target, built_in(&result.problem)) {
            (Some(named), _) => {
                Some(of_saved(&result.problem, Some(named), "report", |what| file.complaint(what))?)
            }
            (None, Some(Err(what))) if find(&name).is_ok() => return Err(file.complaint(what)),
            (None, Some(Ok(target))) => Some(target),
            // A program that only a file names is never run.
            (None, _) => {
                note(format_args!(
                    "note: `{name}` is run only if you name it, so the report shows no traces"
                ));
                note(format_args!("      with them: broccoli report RESULT.json PROBLEM.toml -o FILE.html"));
                None
            }
        };
        let html = html(&result, target.as_ref()).map_err(|what| file.complaint(what))?;
        output::write("--output", &self.output, html.as_bytes())?;
        Ok(0)
    }
}

/// Writes a report of a result about `target` to the file that `option` names.
pub fn write(option: &str, path: &Path, result: &ResultJson, target: &Target) -> Result<(), Complaint> {
    let html = html(result, Some(target)).map_err(|what| Complaint::other(format!("{option}: {what}")))?;
    output::write(option, path, html.as_bytes())
}

/// The command that is running, without the options that only say where its output goes.
pub fn command() -> Vec<String> {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let mut words = words.peekable();
    let mut command = vec!["broccoli".to_owned()];
    while let Some(word) = words.next() {
        match word.split('=').next() {
            Some("--json") => {}
            Some("--progress") => {
                words.next_if(|word| word == "json" || word == "text");
            }
            Some(
                option @ ("--save"
                | "--report"
                | "--checkpoint"
                | "--checkpoint-interval"
                | "--certificate"
                | "--certificate-form"),
            ) => {
                if option == word {
                    words.next();
                }
            }
            _ => command.push(word),
        }
    }
    command
}

/// The report, or what is wrong with the result.
fn html(result: &ResultJson, target: Option<&Target>) -> Result<String, String> {
    let mut page = Page { result, observed: None, fresh: None, note: None };
    match (Policy::new(result), target) {
        (Ok(policy), Some(target)) => {
            check(&policy.problem, target)?;
            if let Err(error) = run(&mut page, &policy, target) {
                page.note = Some(format!("The tree was run again, and the system failed: {error}."));
            }
        }
        (Ok(policy), None) => {
            let note = format!("The system {:?} cannot be run here: no traces are shown.", policy.system);
            page.note = Some(note);
        }
        (Err(PolicyError::NoTree(_)), _) => {}
        (Err(error), _) => return Err(error.to_string()),
    }
    page.html().map_err(|error| error.to_string())
}

/// Checks that the problem is about the target as it is.
fn check(problem: &Problem, target: &Target) -> Result<(), String> {
    let has_values = |count| problem.initial_states().iter().all(|state| state.values().len() == count);
    let fits = problem.dimensions().len() == target.dimensions.len()
        && problem.actions().len() == target.actions.len()
        && target.initial_values.is_none_or(has_values);
    if fits { Ok(()) } else { Err(format!("its problem is not about {} as it is", target.name)) }
}

/// Runs the tree from its own and from fresh initial states.
fn run(page: &mut Page<'_>, policy: &Policy, target: &Target) -> Result<(), RunError> {
    let (problem, tree) = (&policy.problem, &policy.tree);
    let factory = &*target.factory;
    let steps = (ALL_COST / step_cost(problem, tree)).clamp(1, ALL_STEPS);
    let longest = MOST_STEPS.min(MOST_NUMBERS / problem.dimensions().len() as u64).clamp(1, steps);
    if problem.objective().horizon() <= longest {
        let observed = Observed::run(problem, factory, tree, steps)?;
        let (ran, all) = (observed.trace_count as u64, problem.initial_states().len() as u64);
        if ran < all {
            page.note = Some(format!(
                "Only the first {} of {} were run: a report makes {} at most. Nothing is said of fresh ones.",
                grouped(ran),
                counted(all, "initial state"),
                counted(steps, "step"),
            ));
            page.observed = Some(Observed { value: page.result.value, ..observed });
            return Ok(());
        }
        page.observed = Some(observed);
        page.fresh = fresh(page.result, problem, target, tree, steps)?;
        return Ok(());
    }
    let shorter = ProblemJson { horizon: longest, ..page.result.problem.clone() };
    if let Ok(shorter) = shorter.to_problem() {
        let observed = Observed::run(&shorter, factory, tree, steps)?;
        // What a part of a run is worth says nothing about the whole.
        page.observed = Some(Observed { value: page.result.value, ..observed });
    }
    let steps = counted(longest, "step");
    page.note = Some(format!(
        "The horizon is longer than a report can be: runs are shown for {steps} at most, and nothing is said \
         of fresh initial states."
    ));
    Ok(())
}

/// About what a step of a tree costs in a report, in small operations: its features, and its way through the tree,
/// at every node of which the other way is tried, too.
fn step_cost(problem: &Problem, tree: &Tree) -> u64 {
    let expressions = problem.dimensions().iter().filter_map(|d| d.expression.as_ref());
    let depth = u64::from(tree.depth()) + 1;
    problem.dimensions().len() as u64 + expressions.map(|text| text.len() as u64).sum::<u64>() + depth * depth
}

fn fresh(
    result: &ResultJson,
    problem: &Problem,
    target: &Target,
    tree: &Tree,
    steps: u64,
) -> Result<Option<Fresh>, RunError> {
    let count = FRESH_COUNT.min((steps / problem.objective().horizon()) as usize).max(10);
    let Some(states) = target.fresh(problem.initial_states(), count, FRESH_SEED) else { return Ok(None) };
    match (ProblemJson { initial_states: states, ..result.problem.clone() }).to_problem() {
        Ok(fresh) => Ok(Some(Fresh { seed: FRESH_SEED, runs: run_quietly(&fresh, &*target.factory, tree)? })),
        Err(_) => Ok(None),
    }
}

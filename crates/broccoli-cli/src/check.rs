//! `broccoli check`: does a system keep the promises that a search relies on?

use broccoli_blackbox::check::{Broken, Effort, Promise, Report, check};
use broccoli_core::problem::{ComeBack, Problem};
use broccoli_core::shown::shown;
use broccoli_export::number::{counted, grouped, list};
use broccoli_problem::ProblemFile;
use clap::Args;
use serde::Serialize;

use crate::Done;
use crate::complaint::{Complaint, OTHER};
use crate::output;
use crate::target::{over_words, resolve_by};

/// Try whether a system keeps the promises that a search relies on
///
/// Random actions are run again in the same system, in a fresh one (another process), and from saved
/// states; all must give the same bits. A system that passes can still be wrong, and only what was
/// tried is known. Exit code 0: no promise is broken; 1: one is; 2: bad input.
#[derive(Debug, Args)]
pub struct Check {
    /// The problem file, or the name of an environment
    target: String,

    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct CheckJson<'a> {
    version: u32,
    system: &'a str,
    kept: bool,
    broken: Option<BrokenJson<'a>>,
    steps: Option<u64>,
    steps_per_second: Option<f64>,
    /// The least and the largest that were seen.
    rewards: Option<(f64, f64)>,
    come_back: Option<&'static str>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct BrokenJson<'a> {
    promise: &'static str,
    what: &'a str,
    initial: usize,
    actions: Vec<&'a str>,
}

impl Check {
    /// Runs the command.
    pub fn run(&self) -> Done {
        let (target, _) = resolve_by(&self.target, ProblemFile::open_without_predicates)?;
        let problem = target.problem().map_err(|error| Complaint::input(error.to_string()))?;
        let mut checked = check(&problem, &*target.factory, Effort::FULL);
        if let Ok(report) = &mut checked {
            report.notes.splice(..0, over_words(&problem, &report.over));
        }
        // Options of a search may want something else, so that this is not wrong yet.
        if let (Ok(report), Err(lack)) = (&mut checked, target.check_objective()) {
            let help = lack.help().map_or(String::new(), |help| format!("; {help}"));
            report.notes.push(format!("{lack}{help}"));
        }
        if self.json {
            output::print_json(&object(&target.name, &problem, &checked))?;
        } else {
            output::print(&text(&target.name, &problem, &checked))?;
        }
        Ok(if checked.is_ok() { 0 } else { OTHER })
    }
}

fn object<'a>(name: &'a str, problem: &'a Problem, checked: &'a Result<Report, Broken>) -> CheckJson<'a> {
    let report = checked.as_ref().ok();
    CheckJson {
        version: 1,
        system: name,
        kept: report.is_some(),
        broken: checked.as_ref().err().map(|broken| BrokenJson {
            promise: broken.promise.words(),
            what: &broken.what,
            initial: broken.initial,
            actions: names(problem, &broken.actions),
        }),
        steps: report.map(|report| report.steps),
        steps_per_second: report.map(|report| report.steps_per_second),
        rewards: report.and_then(|report| report.rewards),
        come_back: report.map(|report| words(report.come_back)),
        notes: report.map_or(&[], |report| &report.notes),
    }
}

fn text(name: &str, problem: &Problem, checked: &Result<Report, Broken>) -> String {
    let dimensions = problem.dimensions().iter().map(|d| shown(&d.name)).collect::<Vec<_>>().join(", ");
    let actions = problem.actions().iter().map(|a| shown(&a.name)).collect::<Vec<_>>().join(", ");
    let mut text = format!("{}\n  observes  {dimensions}\n  actions   {actions}\n\n", shown(name));
    let first_broken = checked.as_ref().err().map(|broken| broken.promise);
    for promise in Promise::ALL {
        // The check ends at the first broken promise, and nothing more is known of the others.
        let mark = match first_broken {
            Some(broken) if broken == promise => "BROKEN",
            Some(_) => "open",
            None if promise == Promise::ComesBack && is_reset_only(checked) => "-",
            None => "kept",
        };
        text += &format!("{mark:6}  {}\n", promise.words());
    }
    match checked {
        Ok(report) => {
            let (tried, planned) = report.sequences;
            let tried = if tried < planned { format!("{tried} of {planned}") } else { planned.to_string() };
            let steps = counted(report.steps, "step");
            text += &format!("\ntried     {tried} action sequences, {steps}\n");
            text += &format!("speed     {} steps a second\n", grouped(report.steps_per_second as u64));
            if let Some((least, largest)) = report.rewards {
                text += &format!("rewards   seen from {least} to {largest}\n");
            }
            text += &format!("returns   {}\n", words(report.come_back));
            for note in &report.notes {
                text += &format!("note      {}\n", shown(note));
            }
        }
        Err(broken) => {
            text += &format!("\nWhat was seen: {}\n", shown(&broken.what));
            let state = &problem.initial_states()[broken.initial];
            text += &format!("From initial state {} ({})", broken.initial, list(state.values()));
            let names = names(problem, &broken.actions);
            let names: Vec<_> = names.into_iter().map(shown).collect();
            let doing = broken.doing.map_or(String::new(), |doing| format!(", {doing} the state"));
            text += &match names.len() {
                0 => format!(" at reset{doing}.\n"),
                count => {
                    let actions = counted(count as u64, "action");
                    let names = names.join(", ");
                    format!("{doing} after {actions}, the fewest that were found to show it: {names}\n")
                }
            };
        }
    }
    text
}

fn is_reset_only(checked: &Result<Report, Broken>) -> bool {
    checked.as_ref().is_ok_and(|report| report.come_back == ComeBack::Replay)
}

fn names<'a>(problem: &'a Problem, actions: &[usize]) -> Vec<&'a str> {
    actions.iter().map(|&action| problem.actions()[action].name.as_str()).collect()
}

fn words(come_back: ComeBack) -> &'static str {
    match come_back {
        ComeBack::Clone => "to a state that the caller keeps",
        ComeBack::Snapshot => "to snapshots",
        ComeBack::Replay => "by a reset and the same actions again",
    }
}

//! `broccoli verify`: does the claim of a certificate follow from its evidence?

mod told;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Instant;

use broccoli_certificate::Live;
use broccoli_checker::{Certificate, Failure, Limits, TooMuch, Unreadable};
use broccoli_core::problem::Problem;
use broccoli_environments::Choice;
use broccoli_export::json::ProblemJson;
use broccoli_problem::{Identity, Target};
use clap::Args;
use serde::Deserialize;

use crate::Done;
use crate::complaint::Complaint;
use crate::file::TreeFile;
use crate::numbers::{fraction, memory, whole};
use crate::origin::Changes;
use crate::output;
use crate::target::{built_in, of_saved};
use told::Told;

/// The exit code for a certificate whose claim does not follow.
const REFUTED: u8 = 5;
/// The exit code for one whose claim follows from its record, which is not known to be the system's.
const RECORDED: u8 = 4;
/// As much of a file as tells whether it is a certificate.
const HEAD: u64 = 32;

/// Check a certificate that `broccoli solve --certificate` has written
///
/// It is checked by code that shares nothing with the search: that the tree does what is claimed, and that
/// every behaviour that could contradict the claim was walked to its end. The system is run for all that the
/// proof rests on, and its answers are compared with those that a full certificate holds.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Verify {
    /// The certificate
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The problem file, if the system is not a built-in environment: what only FILE names is never run
    target: Option<String>,

    /// Of a full certificate: run the system for the tree's own traces and for this share of the other
    /// transitions, such as 1%, and take the rest from the record
    #[arg(long, value_name = "SHARE", num_args = 0..=1, default_missing_value = "100%", require_equals = true,
          value_parser = fraction)]
    replay: Option<f64>,

    /// Of a full certificate: do not run the system, but take all that it answered from the record
    #[arg(long, conflicts_with_all = ["replay", "target"])]
    record_only: bool,

    /// The most memory that the check may take [default: 128MiB and 128 times FILE, at most 8GiB]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = memory)]
    memory: Option<usize>,

    /// The most units of work that the check may take [default: 5 billion, and 50,000 for each byte of FILE]
    #[arg(long, value_name = "UNITS", allow_hyphen_values = true, value_parser = whole::<u64>(1..=u64::MAX))]
    work: Option<u64>,

    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  broccoli solve mountain-car --certificate car.proof
  broccoli verify car.proof
  broccoli solve pendulum --certificate pendulum.proof --certificate-form full
  broccoli verify pendulum.proof                  the system is run, and compared with the record
  broccoli verify pendulum.proof --replay=5%      for the tree, and 5% of the other steps
  broccoli verify pendulum.proof --record-only    the system is not run
  broccoli verify plant.proof plant.toml

Exit codes:
  0  verified, the system was run     1  the system failed, or anything else went wrong
  4  verified for recorded answers    2  bad usage, or not to be read within the limits
  5  refuted";

/// The first block of a certificate, as far as the checker does not look at it.
#[derive(Deserialize)]
struct Header {
    problem: ProblemJson,
    identity: Identity,
}

impl Verify {
    /// Runs the command.
    pub fn run(&self) -> Done {
        let started = Instant::now();
        let file = TreeFile { option: "FILE", path: &self.file };
        let bytes = read(&self.file).map_err(|error| file.complaint(error))?;
        let default = Limits::of_file(bytes.len());
        let limits =
            Limits { memory: self.memory.unwrap_or(default.memory), work: self.work.unwrap_or(default.work) };
        let certificate = Certificate::read(&bytes, limits).map_err(|error| match error {
            Unreadable::TooMuch(limit) => too_much(&file, limit),
            other => file.complaint(other),
        })?;
        drop(bytes);
        let Header { problem: json, identity } = serde_json::from_str(&certificate.header)
            .map_err(|error| file.complaint(format!("its first block is damaged: {error}")))?;
        let problem = json.to_problem().map_err(|error| file.complaint(error))?;
        // What is remembered is not used: that the system was run is what makes the difference to a record.
        let target = self.target(&certificate, &json, &file)?;
        let (mut choices, mut changes) = (Vec::new(), Changes::default());
        if let Some(target) = &target {
            file.check_against(&problem, target)?;
            check_fixed(&problem, target).map_err(|what| file.complaint(what))?;
            choices = chosen(&json, &problem);
            if !identity.is_empty() {
                let now = target.identity().map_err(|error| Complaint::other(error.to_string()))?;
                changes.add(&identity, &now);
            }
        }
        let checked = match target.filter(|_| !self.record_only) {
            None => certificate.check(None, 0.0, limits),
            Some(target) => {
                let mut system = Live::new(&problem, &*target.factory)
                    .map_err(|error| Complaint::other(error.to_string()))?;
                certificate.check(Some(&mut system), self.replay.unwrap_or(1.0).min(1.0), limits)
            }
        };
        let checked = match checked {
            Ok(checked) => Ok(checked),
            Err(Failure::Refuted(refutation)) => Err(refutation),
            Err(Failure::TooMuch(limit)) => return Err(too_much(&file, limit)),
            Err(other) => return Err(Complaint::other(other.to_string())),
        };
        let seconds = started.elapsed().as_secs_f64();
        let told = Told {
            certificate: &certificate,
            json: &json,
            problem: &problem,
            choices,
            changes: changes.list(),
            checked,
            seconds,
        };
        if self.json {
            output::print_json(&told.as_json())?;
        } else {
            output::print(&told.as_text())?;
        }
        Ok(match &told.checked {
            Ok(checked) if checked.recorded == 0 => 0,
            Ok(_) => RECORDED,
            Err(_) => REFUTED,
        })
    }

    /// The system to run; none if the record is all there is, or all that is wanted and the system is not one
    /// that the problem could be compared with.
    fn target(
        &self,
        certificate: &Certificate,
        json: &ProblemJson,
        file: &TreeFile<'_>,
    ) -> Result<Option<Target>, Complaint> {
        let option = if self.record_only { "--record-only" } else { "--replay" };
        if (self.record_only || self.replay.is_some()) && !certificate.is_full {
            return Err(Complaint::input(format!("{option} works with full certificates only"))
                .help("a light one is always checked by running the system"));
        }
        let is_known = self.target.is_some() || json.system.environment().is_some();
        if self.record_only {
            return built_in(json).transpose().map_err(|what| file.complaint(what));
        }
        if certificate.is_full && self.replay.is_none() && !is_known {
            return Ok(None);
        }
        of_saved(json, self.target.as_deref(), "verify", |what| file.complaint(what)).map(Some)
    }
}

/// Reads the file. What does not even begin like a certificate may have no end.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    file.by_ref().take(HEAD).read_to_end(&mut bytes)?;
    if !matches!(Certificate::read(&bytes, Limits::of_file(0)), Err(Unreadable::NotOne)) {
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

fn too_much(file: &TreeFile<'_>, limit: TooMuch) -> Complaint {
    let more = match limit {
        TooMuch::Memory(_) => "if you trust it, allow more: --memory 4GiB, for instance",
        TooMuch::Work(_) => "if you trust it, allow more: --work 1000000000000, for instance",
    };
    file.complaint(format!("{limit}, which is the limit")).help(more)
}

/// Checks that what a problem says of its system beside names is so: how features are derived, and what value
/// an action has.
fn check_fixed(problem: &Problem, target: &Target) -> Result<(), String> {
    for (dimension, known) in problem.dimensions().iter().zip(&target.dimensions) {
        if dimension.expression != known.expression {
            let said = |expression: &Option<String>| match expression {
                Some(expression) => format!("derived as {expression:?}"),
                None => "observed".to_owned(),
            };
            let (here, there) = (said(&dimension.expression), said(&known.expression));
            let name = &dimension.name;
            return Err(format!("its dimension {name:?} is {here}, and that of {} is {there}", target.name));
        }
    }
    for (action, known) in problem.actions().iter().zip(&target.actions) {
        if action.value.to_bits() != known.value.to_bits() {
            let (here, there) = (action.value, known.value);
            let name = &action.name;
            return Err(format!(
                "its action {name:?} has the value {here}, and that of {} has {there}",
                target.name
            ));
        }
    }
    Ok(())
}

/// Where a problem about a built-in environment is not the default one.
fn chosen(json: &ProblemJson, problem: &Problem) -> Vec<Choice> {
    let Some((name, noise)) = json.system.environment() else { return Vec::new() };
    let Ok(environment) = broccoli_environments::find(name) else { return Vec::new() };
    let mut choices = environment.choices(problem);
    if noise != 0.0 {
        let (here, default) = (noise.to_string(), "0".to_owned());
        choices.push(Choice { what: "noise".to_owned(), here, default });
    }
    choices
}

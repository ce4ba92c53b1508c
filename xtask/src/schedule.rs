//! Runs steps beside each other, each in a process of its own: as many that compute as there are processors, and those
//! that mostly wait for the network besides. What a step says goes to a log, which is shown when it has ended.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::summary::{Notes, Outcome, Report, Summary, processor_seconds};
use crate::workspace::Workspace;

/// A step of the tests.
pub(crate) struct Step {
    /// What it is called in the summary.
    pub(crate) name: &'static str,
    /// What it does.
    pub(crate) action: fn(&Workspace) -> Result<Outcome>,
    /// Steps that must have ended before.
    pub(crate) needs: &'static [&'static str],
    /// Whether it mostly waits for others, such as a server.
    pub(crate) waits: bool,
    /// What it tests: files and folders, and packages with all that they depend on.
    pub(crate) tests: (&'static [&'static str], &'static [&'static str]),
}

/// Runs a step here, with what it says shown at once.
pub(crate) fn run_here(workspace: &Workspace, step: &Step) -> Report {
    let before = processor_seconds();
    let outcome = Outcome::of((step.action)(workspace));
    let processor = processor_seconds().zip(before).map(|(now, before)| now - before);
    Report { outcome, notes: workspace.notes.take(), processor }
}

/// Runs the steps and returns what became of them.
pub(crate) fn run(workspace: &Workspace, steps: &[&'static Step]) -> Result<Summary> {
    let mut summary = Summary::default();
    if let [step] = steps {
        println!("\n=== {}", step.name);
        let start = Instant::now();
        let report = run_here(workspace, step);
        summary.add(step.name, start.elapsed(), report);
        return Ok(summary);
    }
    let folder = workspace.target.join("test");
    fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
    // A copy, since the tests build this program, too, and put it in its place.
    let program = folder.join("xtask");
    let own = std::env::current_exe().context("finding this program")?;
    fs::copy(&own, &program).with_context(|| format!("copying {}", own.display()))?;

    let places = std::thread::available_parallelism().map_or(1, Into::into);
    let (sender, ended) = mpsc::channel();
    let mut waiting = steps.to_vec();
    let mut running: Vec<&Step> = Vec::new();
    loop {
        while let Some(index) = next(&waiting, &running, places) {
            let step = waiting.remove(index);
            running.push(step);
            println!("started: {}", step.name);
            let log = folder.join(format!("{}.log", slug(step.name)));
            let mut command = command(workspace, &program, step, &log.with_extension("json"))?;
            let sender = sender.clone();
            std::thread::spawn(move || {
                let start = Instant::now();
                let report = watch(&mut command, &log);
                // Nobody listens any more if another step's end could not be read.
                let _ = sender.send((step, start.elapsed(), report, log));
            });
        }
        if running.is_empty() {
            break;
        }
        let (step, time, report, log): (&Step, Duration, Report, _) =
            ended.recv().context("no step is left")?;
        running.retain(|other| other.name != step.name);
        println!("\n=== {} ({:.1} s)", step.name, time.as_secs_f64());
        print!("{}", String::from_utf8_lossy(&fs::read(&log).unwrap_or_default()));
        summary.add(step.name, time, report);
    }
    summary.sort(&steps.iter().map(|step| step.name).collect::<Vec<_>>());
    Ok(summary)
}

/// The first step that can be started now.
fn next(waiting: &[&Step], running: &[&Step], places: usize) -> Option<usize> {
    let is_full = running.iter().filter(|step| !step.waits).count() >= places;
    waiting.iter().position(|step| {
        let mut unended = waiting.iter().chain(running);
        (step.waits || !is_full) && !unended.any(|other| step.needs.contains(&other.name))
    })
}

fn command(workspace: &Workspace, program: &Path, step: &Step, report: &Path) -> Result<Command> {
    if report.exists() {
        fs::remove_file(report).with_context(|| format!("removing {}", report.display()))?;
    }
    let mut command = workspace.command(program);
    command.arg("step").arg(step.name).arg(report).stdin(Stdio::null());
    if workspace.long {
        command.arg("--long");
    }
    if workspace.only_changed {
        command.arg("--only-changed");
    }
    Ok(command)
}

/// Runs a step's process to its end; its report is beside the log.
fn watch(command: &mut Command, log: &Path) -> Report {
    let mut ran = || -> Result<Report> {
        let output = File::create(log).with_context(|| format!("writing {}", log.display()))?;
        let status =
            command.stdout(output.try_clone()?).stderr(output).status().context("running the step")?;
        let report =
            fs::read(log.with_extension("json")).with_context(|| format!("the step ended with {status}"))?;
        serde_json::from_slice(&report).context("reading the step's report")
    };
    ran().unwrap_or_else(|error| Report {
        outcome: Outcome::Failed(format!("{error:#}")),
        notes: Notes::default(),
        processor: None,
    })
}

fn slug(name: &str) -> String {
    name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn step(name: &'static str, needs: &'static [&'static str], waits: bool) -> Step {
        Step { name, action: |_| Ok(Outcome::Passed), needs, waits, tests: (&[], &[]) }
    }

    #[test]
    fn steps_start_in_order_when_what_they_need_has_ended_and_there_is_a_place() {
        let (a, b, c) = (step("a", &[], false), step("b", &["a"], false), step("c", &[], false));
        let network = step("network", &[], true);
        assert_eq!(next(&[&a, &b, &c], &[], 2), Some(0));
        assert_eq!(next(&[&b, &c], &[&a], 2), Some(1));
        assert_eq!(next(&[&b], &[&a, &c], 2), None);
        assert_eq!(next(&[&b], &[&c], 2), Some(0));
        assert_eq!(next(&[&b], &[&c, &network], 2), Some(0));
        assert_eq!(next(&[&b, &network], &[&a, &c], 2), Some(1));
        assert_eq!(next(&[&c], &[&a], 1), None);
        assert_eq!(next(&[], &[], 2), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_step_without_a_report_has_failed() {
        let log = std::env::temp_dir().join(format!("broccoli-xtask-watch-{}.log", std::process::id()));
        let report = watch(Command::new("sh").args(["-c", "echo said; exit 3"]), &log);
        assert_eq!(fs::read_to_string(&log).unwrap(), "said\n");
        let Outcome::Failed(why) = report.outcome else { panic!("it has not failed") };
        assert!(why.contains("exit status: 3"), "{why}");

        let json = log.with_extension("json");
        let text = r#"echo '{"outcome":{"Skipped":"s"},"notes":{"tests":[["t",1.5]],"left":["l"]},"processor":2.0}'"#;
        let report = watch(Command::new("sh").args(["-c", &format!("{text} > {}", json.display())]), &log);
        assert_eq!(report.outcome, Outcome::Skipped("s".to_owned()));
        assert_eq!(report.notes.tests, [("t".to_owned(), 1.5)]);
        fs::remove_file(log).unwrap();
        fs::remove_file(json).unwrap();
    }
}

//! One search in a process of its own, which can be killed and which other programs can watch.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use broccoli_core::problem::Problem;
use broccoli_core::search::{Engine, Outcome, Search};
use broccoli_environments::Environment;
use clap::ValueEnum;
use serde::Deserialize;

use crate::case::Set;
use crate::machine;

/// The engines that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Solver {
    Behaviour,
    Backtracking,
}

impl Solver {
    fn engine(self) -> Engine {
        match self {
            Solver::Behaviour => Engine::Behaviour,
            Solver::Backtracking => Engine::Backtracking { pruning: true },
        }
    }
}

/// Which case to solve, and with what.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[arg(value_enum)]
    set: Set,
    index: usize,
    #[arg(value_enum)]
    solver: Solver,
}

/// What a search gave.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Found {
    pub(crate) status: String,
    pub(crate) value: Option<u64>,
    pub(crate) size: Option<u64>,
    pub(crate) queries: u64,
    pub(crate) necessary: Option<u64>,
    /// Of the processor where the system tells, else of the clock.
    pub(crate) seconds: f64,
}

impl Found {
    /// The value and the size, or dashes.
    pub(crate) fn answer(&self) -> [String; 2] {
        [self.value, self.size].map(|number| number.map_or_else(|| "–".to_owned(), |n| n.to_string()))
    }
}

/// The child: solves a case and prints what [`Found`] reads.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let cases = arguments.set.cases()?;
    let case = cases.get(arguments.index).context("there is no such case")?;
    let (problem, environment) = (case.problem()?, case.environment()?);
    let (start, start_busy) = (Instant::now(), machine::busy());
    let outcome = watched_search(&problem, environment, arguments.solver.engine())?;
    // On a shared machine the clock also counts the time of others.
    let busy = start_busy.zip(machine::busy()).map(|(start, end)| end.saturating_sub(start));
    let seconds = busy.unwrap_or_else(|| start.elapsed()).as_secs_f64();
    let statistics = outcome.statistics;
    println!("status = {:?}", format!("{:?}", outcome.status).to_lowercase());
    if let Some(best) = &outcome.best {
        println!("value = {}\nsize = {}", best.value, best.tree.size());
    }
    if let Some(necessary) = statistics.necessary_queries {
        println!("necessary = {necessary}");
    }
    println!("queries = {}", statistics.queries);
    println!("seconds = {seconds:.9}");
    Ok(())
}

/// The search alone, under a name that [`instructions`] knows.
#[inline(never)]
fn watched_search(problem: &Problem, environment: &Environment, engine: Engine) -> Result<Outcome> {
    Ok(Search::new(problem, environment).engine(engine).run()?)
}

/// Solves a case in a child process; none if it has not ended after `limit` and was killed.
pub(crate) fn solve(set: Set, index: usize, solver: Solver, limit: Duration) -> Result<Option<Found>> {
    let mut command = Command::new(std::env::current_exe()?);
    let Some((output, _)) = within(limit, child(&mut command, set, index, solver))? else { return Ok(None) };
    Ok(Some(toml::from_str(&output).with_context(|| format!("the child said {output:?}"))?))
}

/// Whether instructions can be counted here.
pub(crate) fn can_count() -> bool {
    let quiet = |command: &mut Command| command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet(Command::new("valgrind").arg("--version")).is_ok_and(|status| status.success())
}

/// The instructions that a search executes, from its start to its end; none if it takes longer than `limit`.
pub(crate) fn instructions(set: Set, index: usize, solver: Solver, limit: Duration) -> Result<Option<u64>> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    command.arg("--toggle-collect=*watched_search*").arg(std::env::current_exe()?);
    let Some((_, log)) = within(limit, child(&mut command, set, index, solver))? else { return Ok(None) };
    let collected = log.lines().find_map(|line| line.split_once("Collected :"));
    let (_, count) = collected.with_context(|| format!("valgrind said {log:?}"))?;
    let count = count.trim().parse()?;
    ensure!(count > 0, "valgrind did not see the search");
    Ok(Some(count))
}

fn child(command: &mut Command, set: Set, index: usize, solver: Solver) -> &mut Command {
    let solver = solver.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    command.arg("one").arg(set.name()).arg(index.to_string()).arg(solver)
}

/// What `command` writes to standard output and error; none if it was killed after `limit`.
fn within(limit: Duration, command: &mut Command) -> Result<Option<(String, String)>> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let start = Instant::now();
    // What these programs write fits into a pipe, so it can be read after their end.
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let (mut output, mut log) = (String::new(), String::new());
    child.stdout.take().context("no standard output")?.read_to_string(&mut output)?;
    child.stderr.take().context("no standard error")?.read_to_string(&mut log)?;
    if !status.success() {
        bail!("{command:?} failed: {log}");
    }
    Ok(Some((output, log)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_child_that_takes_too_long_is_killed() {
        let short = Duration::from_millis(50);
        assert!(within(short, Command::new("sleep").arg("60")).unwrap().is_none());
        let (output, _) = within(Duration::from_secs(60), Command::new("echo").arg("done")).unwrap().unwrap();
        assert_eq!(output, "done\n");
        assert!(within(Duration::from_secs(60), &mut Command::new("false")).is_err());
    }
}

//! `slow`: systems that take long for a step. What the tasks for many workers cost one worker, in queries; and what many
//! workers make of a system that waits, by the clock.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use broccoli_core::problem::{ComeBack, InitialState, Problem, Reply, System, SystemError, SystemFactory};
use broccoli_core::search::{Search, Status, StopReason};
use broccoli_environments::{CARTPOLE, Environment, MOUNTAIN_CAR, PENDULUM};

use crate::case::Set;
use crate::output::{self, line, ratio};

/// What is measured, and for how long.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How long a step takes, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 20)]
    step: u64,

    /// For how many seconds queries are counted; 0 leaves it out
    #[arg(long, value_name = "S", default_value_t = 30)]
    seconds: u64,

    /// How many workers are compared with one
    #[arg(long, value_name = "T", default_value = "8")]
    threads: NonZeroUsize,

    /// Where slow.md is written (default: target/bench)
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// An environment that takes its time.
#[derive(Clone, Copy)]
struct Slow {
    environment: &'static Environment,
    nap: Duration,
    come_back: ComeBack,
}

impl SystemFactory for Slow {
    fn make(&self) -> Result<Box<dyn System>, SystemError> {
        let system = self.environment.make()?;
        Ok(Box::new(Sleeping { system, nap: self.nap, come_back: self.come_back }))
    }
}

struct Sleeping {
    system: Box<dyn System>,
    nap: Duration,
    come_back: ComeBack,
}

impl System for Sleeping {
    fn reset(&mut self, initial: &InitialState, observation: &mut [f64]) -> Result<Reply, SystemError> {
        self.system.reset(initial, observation)
    }
    fn step(&mut self, action: usize, observation: &mut [f64]) -> Result<Reply, SystemError> {
        if !self.nap.is_zero() {
            std::thread::sleep(self.nap);
        }
        self.system.step(action, observation)
    }
    fn come_back(&self) -> ComeBack {
        self.come_back
    }
    fn save(&mut self, state: &mut Vec<u8>) -> Result<(), SystemError> {
        self.system.save(state)
    }
    fn restore(&mut self, state: &[u8]) -> Result<(), SystemError> {
        self.system.restore(state)
    }
}

/// Measures and writes the report.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let directory = output::directory(arguments.output.as_ref());
    let mut text = output::header("Slow systems");
    text += "\nQueries to the proof with one worker, and those of them that only come back to a state where the system can only be reset:\n\n\
             | problem | value | size | queries | with resets: queries | to come back |\n|---|--:|--:|--:|--:|--:|\n";
    let mut all = Vec::new();
    for case in Set::Engines.cases()? {
        let (problem, environment) = (case.problem()?, case.environment()?);
        let solve = |come_back| solve(&problem, Slow { environment, nap: Duration::ZERO, come_back });
        let Some(with_states) = solve(ComeBack::Clone)? else { continue };
        let Some(with_resets) = solve(ComeBack::Replay)? else { continue };
        ensure!(with_states.0 == with_resets.0, "{}: two answers", case.settings());
        let ((value, size), queries, _) = with_states;
        all.push([queries, with_resets.1, with_resets.1 + with_resets.2].map(|count| (count as f64).ln()));
        let cells = [value, size, queries, with_resets.1, with_resets.2].map(|count| count.to_string());
        text += &line(&[vec![case.settings()], cells.to_vec()].concat());
        eprintln!("{}: {cells:?}", case.settings());
    }
    let mean = |column: usize| all.iter().map(|row| row[column]).sum::<f64>() / all.len().max(1) as f64;
    let means = [mean(0), mean(1), mean(2)].map(|mean| format!("{:.0}", mean.exp()));
    text += &format!(
        "\nGeometric means: {} queries; with resets {}, and {} with those to come back.\n",
        means[0], means[1], means[2]
    );
    if arguments.seconds > 0 {
        text += &workers(arguments)?;
    }
    output::write(&directory, "slow.md", &text)?;
    print!("{text}");
    output::written(&directory, "slow.md");
    Ok(())
}

/// What a search came to: value and size, queries, and those to come back.
type Solved = ((u64, u64), u64, u64);

/// Solves to the proof, unless that takes long.
fn solve(problem: &Problem, factory: Slow) -> Result<Option<Solved>> {
    let outcome = Search::new(problem, &factory).query_limit(MOST).run()?;
    if outcome.status != Status::Optimal {
        return Ok(None);
    }
    let (statistics, best) = (outcome.statistics, outcome.best.as_ref());
    let answer = best.map_or((0, 0), |best| (best.value, best.tree.size()));
    Ok(Some((answer, statistics.queries, statistics.replayed)))
}

/// Problems that take more are left out.
const MOST: u64 = 30_000_000;

fn workers(arguments: &Arguments) -> Result<String> {
    let Arguments { step, seconds, threads, .. } = arguments;
    let mut text = format!(
        "\nQueries in {seconds} s, where a step takes {step} ms, those to come back included:\n\n\
         | problem | comes back by | 1 worker | {threads} workers | times |\n|---|---|--:|--:|--:|\n"
    );
    for environment in [&MOUNTAIN_CAR, &PENDULUM, &CARTPOLE] {
        for come_back in [ComeBack::Clone, ComeBack::Replay] {
            let problem = environment.problem().build()?;
            let factory = Slow { environment, nap: Duration::from_millis(*step), come_back };
            let made = [NonZeroUsize::MIN, *threads].map(|threads| {
                let started = Instant::now();
                let is_over = || started.elapsed().as_secs() >= *seconds;
                let stop = || is_over().then_some(StopReason::TimeLimit);
                let outcome = Search::new(&problem, &factory).threads(threads).stop(&stop).run();
                outcome.map(|outcome| outcome.statistics.queries + outcome.statistics.replayed)
            });
            let [one, several] = made;
            let (one, several) = (one?, several?);
            let times = ratio(several as f64 / one.max(1) as f64);
            eprintln!("{} {come_back:?}: {one} {several} {times}", environment.name);
            let how = format!("{come_back:?}").to_lowercase();
            text += &line(&[environment.name.into(), how, one.to_string(), several.to_string(), times]);
        }
    }
    Ok(text)
}

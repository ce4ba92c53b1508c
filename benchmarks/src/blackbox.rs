//! `blackbox`: what a step of a foreign system costs beside its own work.
//!
//! The system is `blackbox/counter.c`, which does next to nothing, as a plug-in and, with
//! `examples/c/serve.c`, as a program. A measurement takes some milliseconds, so that on a machine with
//! other work some of them are left alone.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use broccoli_blackbox::{Format, Plugin, Program, Subprocess};
use broccoli_core::problem::{InitialState, System, SystemFactory};

use crate::output::{self, grouped, line};

/// How often to measure.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How often each row is measured, for a moment; the best counts
    #[arg(long, default_value_t = 50)]
    runs: usize,

    /// Where blackbox.md is written (default: target/bench)
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
}

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
/// Steps in one message of the batch rows.
const BATCH: usize = 256;
/// Batches of one measurement.
const BATCHES: usize = 20;

/// Measures every row and writes the report.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let plugin = folder.path().join("counter.so");
    compile(&["-shared", "-fPIC"], &plugin, &["benchmarks/blackbox/counter.c"])?;
    let program = folder.path().join("counter");
    compile(&[], &program, &["benchmarks/blackbox/counter.c", "examples/c/serve.c"])?;

    let mut text = output::header("What a step of a foreign system costs");
    text += &format!(
        "\nThe best of {} runs, of a system in C that does next to nothing. A batch is {BATCH} steps in one \
         message.\n\n| system | ns a step, at most | ns a step |\n|---|--:|--:|\n",
        arguments.runs
    );
    let mut row = |name: &str, limit: Option<f64>, measured: &mut dyn FnMut() -> Result<f64>| -> Result<()> {
        let mut best = f64::INFINITY;
        for _ in 0..arguments.runs.max(1) {
            best = best.min(measured()?);
        }
        text += &line(&[name.to_owned(), limit.map_or("–".to_owned(), grouped), format!("{best:.1}")]);
        Ok(())
    };
    let mut system = Plugin::load(&plugin)?.make()?;
    row("plug-in", Some(50.0), &mut || steps(&mut *system, 200_000))?;
    for (name, format, limits) in [
        ("binary", Format::Binary, [Some(10_000.0), Some(1000.0)]),
        ("JSON", Format::Json, [Some(20_000.0), None]),
    ] {
        let mut program = Program::new([program.display().to_string()], folder.path());
        program.format = Some(format);
        let mut process = Subprocess::new(program)?.start()?;
        row(&format!("program, {name}"), limits[0], &mut || steps(&mut process, 2000))?;
        let states: Vec<f64> = (0..2 * BATCH).map(|i| i as f64 * 0.1).collect();
        let actions: Vec<usize> = (0..BATCH).map(|i| i % 2).collect();
        row(&format!("program, {name}, batch"), limits[1], &mut || {
            let started = Instant::now();
            let mut sum = 0.0;
            for _ in 0..BATCHES {
                sum += process.step_batch(&states, &actions)?.observations[1];
            }
            ensure!(sum > 0.0, "the batches were not answered");
            Ok(started.elapsed().as_nanos() as f64 / (BATCHES * BATCH) as f64)
        })?;
    }
    print!("{text}");
    let directory = output::directory(arguments.output.as_ref());
    output::write(&directory, "blackbox.md", &text)?;
    output::written(&directory, "blackbox.md");
    Ok(())
}

/// Nanoseconds a step of some steps in a row.
fn steps(system: &mut dyn System, count: u32) -> Result<f64> {
    let mut observation = [0.0; 2];
    system.reset(&InitialState::new([0.0]), &mut observation)?;
    let started = Instant::now();
    for index in 0..count {
        system.step((index % 2) as usize, &mut observation)?;
    }
    let nanoseconds = started.elapsed().as_nanos() as f64 / f64::from(count);
    ensure!(observation[0] == f64::from(count / 2), "the steps were not made");
    Ok(nanoseconds)
}

fn compile(flags: &[&str], out: &Path, sources: &[&str]) -> Result<()> {
    let mut command = Command::new("cc");
    command.current_dir(ROOT).args(["-O2", "-std=c11", "-Iinclude", "-o"]).arg(out).args(sources).args(flags);
    let status = command.arg("-lm").status().context("a C compiler, `cc`, is needed")?;
    ensure!(status.success(), "cc ended with {status}");
    Ok(())
}

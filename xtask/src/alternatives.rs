//! `benchmarks/alternatives`: other ways to find a tree, in Python, on the package in `python/`.

use anyhow::{Context, Result, bail};

use crate::package;
use crate::python::{Environment, NOT_READY, run_pytest};
use crate::summary::Outcome;
use crate::workspace::{Workspace, run};

/// Makes the virtual environment.
pub(crate) fn set_up(workspace: &Workspace) -> Result<Outcome> {
    environment(workspace).set_up(workspace)
}

/// Installs the wheel there that the package's own tests have.
pub(crate) fn wheel(workspace: &Workspace) -> Result<Outcome> {
    let environment = environment(workspace);
    if !environment.is_ready() {
        return Ok(Outcome::Skipped(NOT_READY.to_owned()));
    }
    package::install_built(workspace, &environment)?;
    Ok(Outcome::Passed)
}

/// `ruff` and `mypy --strict`.
pub(crate) fn lint(workspace: &Workspace) -> Result<Outcome> {
    programs(
        workspace,
        &[
            ("ruff", &["check", "."]),
            ("ruff", &["format", "--check", "."]),
            ("mypy", &["--strict", "alternatives", "tests"]),
        ],
    )
}

/// The tests, with a short run of every method.
pub(crate) fn test(workspace: &Workspace) -> Result<Outcome> {
    let environment = environment(workspace);
    if !environment.is_ready() {
        return Ok(Outcome::Skipped(NOT_READY.to_owned()));
    }
    let mut pytest = environment.command(workspace, "python", ".");
    run_pytest(workspace, pytest.args(["-m", "pytest"]).env("OMP_NUM_THREADS", "1"))?;
    Ok(Outcome::Passed)
}

/// Runs the benchmark; true if it succeeded. It keeps the caller's folder, for relative paths.
pub(crate) fn bench(workspace: &Workspace, arguments: &[String]) -> Result<bool> {
    if let Outcome::Skipped(why) = set_up(workspace)? {
        bail!("{why}");
    }
    package::install(workspace, &environment(workspace), "../../python")?;
    let mut command = environment(workspace).command(workspace, "python", ".");
    command.args(["-m", "alternatives"]).args(arguments);
    if !arguments.iter().any(|argument| argument.starts_with("--output")) {
        command.arg("--output").arg(workspace.target.join("bench"));
    }
    let folder = workspace.root.join("benchmarks/alternatives");
    command.current_dir(std::env::current_dir().context("finding the folder")?).env("PYTHONPATH", folder);
    // Processor time is what counts, so that other threads would count, too.
    run(command.env("OMP_NUM_THREADS", "1"))?;
    Ok(true)
}

fn programs(workspace: &Workspace, programs: &[(&str, &[&str])]) -> Result<Outcome> {
    let environment = environment(workspace);
    if !environment.is_ready() {
        return Ok(Outcome::Skipped(NOT_READY.to_owned()));
    }
    for (program, arguments) in programs {
        run(environment.command(workspace, program, ".").args(*arguments).env("OMP_NUM_THREADS", "1"))?;
    }
    Ok(Outcome::Passed)
}

fn environment(workspace: &Workspace) -> Environment {
    let home = workspace.root.join("benchmarks/alternatives");
    let files = vec![home.join("requirements.txt")];
    Environment::named(workspace, "venv-alternatives", home, files)
}

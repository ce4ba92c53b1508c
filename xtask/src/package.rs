//! The Python package in `python/`: its wheel, its checks and tests, and README's quick start.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use crate::python::{Environment, NOT_READY, run_pytest};
use crate::summary::Outcome;
use crate::workspace::{Workspace, run, run_and_read};

/// Where the wheel that is tested lies. What pip builds by itself goes to `wheels`.
const WHEEL: &str = "wheel";

/// Makes the virtual environment of the package's tests.
pub(crate) fn set_up(workspace: &Workspace) -> Result<Outcome> {
    environment(workspace).set_up(workspace)
}

/// Builds the wheel and installs it there.
pub(crate) fn wheel(workspace: &Workspace) -> Result<Outcome> {
    let environment = environment(workspace);
    if !environment.is_ready() {
        return Ok(Outcome::Skipped(NOT_READY.to_owned()));
    }
    let wheels = workspace.target.join(WHEEL);
    if wheels.exists() {
        fs::remove_dir_all(&wheels).with_context(|| format!("removing {}", wheels.display()))?;
    }
    run(environment.command(workspace, "maturin", ".").args(["build", "--release", "--out"]).arg(&wheels))?;
    let entries = fs::read_dir(&wheels).with_context(|| format!("reading {}", wheels.display()))?;
    let built: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    let [wheel] = built.as_slice() else {
        anyhow::bail!("there should be one wheel in {}", wheels.display());
    };
    let name = wheel.file_name().unwrap_or_default().to_string_lossy();
    ensure!(name.contains("-abi3-"), "{name} does not serve several versions of Python");
    run(environment.pip(workspace).args(["--force-reinstall", "--no-deps"]).arg(wheel))?;
    Ok(Outcome::Passed)
}

/// `ruff check` and `ruff format --check`.
pub(crate) fn ruff(workspace: &Workspace) -> Result<Outcome> {
    tool(workspace, "ruff", &["check", "."])?;
    tool(workspace, "ruff", &["format", "--check", "."])
}

/// `mypy --strict`.
pub(crate) fn mypy(workspace: &Workspace) -> Result<Outcome> {
    tool(workspace, "mypy", &["--strict", "--package", "broccoli"])?;
    tool(workspace, "mypy", &["--strict", "tests", "benchmarks"])
}

/// `pyright`.
pub(crate) fn pyright(workspace: &Workspace) -> Result<Outcome> {
    let python = environment(workspace).program("python");
    tool(workspace, "pyright", &["--pythonpath", &python.to_string_lossy()])
}

/// What `_broccoli.pyi` says of the native module is true.
pub(crate) fn stubtest(workspace: &Workspace) -> Result<Outcome> {
    tool(workspace, "stubtest", &["broccoli._broccoli", "--mypy-config-file", "pyproject.toml"])
}

/// The tests, the notebooks, and the examples in the documentation, on the wheel.
pub(crate) fn pytest(workspace: &Workspace) -> Result<Outcome> {
    let environment = environment(workspace);
    if !environment.is_ready() {
        return Ok(Outcome::Skipped(NOT_READY.to_owned()));
    }
    // The program and not the module: it leaves the sources here alone and tests what was installed.
    let mut pytest = environment.command(workspace, "pytest", ".");
    pytest.env("BROCCOLI_CLI", workspace.broccoli()).env("MPLBACKEND", "Agg");
    pytest.args(["-p", "no:cacheprovider", "--doctest-modules", "--pyargs", "tests", "broccoli"]);
    if !workspace.long {
        pytest.args(["-m", "not long"]);
        workspace.note_left(["the Python package with MuJoCo and Stable-Baselines3".to_owned()]);
    }
    run_pytest(workspace, &mut pytest)?;
    Ok(Outcome::Passed)
}

/// The API reference, a site in the target folder. A warning is an error.
pub(crate) fn reference(workspace: &Workspace) -> Result<Outcome> {
    let environment = environment(workspace);
    if !environment.is_ready() {
        return Ok(Outcome::Skipped(NOT_READY.to_owned()));
    }
    let site = workspace.target.join("python-reference");
    // Elsewhere than the sources, so that what is documented is what was installed.
    let mut pdoc = environment.command(workspace, "python", "tests");
    run(pdoc.args(["-W", "error", "-m", "pdoc", "broccoli", r"!broccoli\.(?!plots$)", "-o"]).arg(&site))?;
    let page = fs::read_to_string(site.join("broccoli.html")).context("reading the reference")?;
    ensure!(page.contains("BatchSystem") && page.contains("synthesize"), "the reference is not complete");
    println!("the reference is {}", site.join("broccoli.html").display());
    Ok(Outcome::Passed)
}

/// README's Python example, in a new virtual environment, as it is written there.
pub(crate) fn quick_start(workspace: &Workspace) -> Result<Outcome> {
    let environment = Environment::named(workspace, "venv-quick-start", workspace.root.clone(), Vec::new());
    let made = environment.set_up(workspace)?;
    if !matches!(made, Outcome::Passed) {
        return Ok(made);
    }
    run(environment.pip(workspace).arg("./python[gymnasium]"))?;
    let readme = fs::read_to_string(workspace.root.join("README.md")).context("reading README.md")?;
    let code = readme.split("```python\n").nth(1).and_then(|rest| rest.split("```").next());
    let code = code.context("README.md has no example in Python")?;
    let output = run_and_read(environment.command(workspace, "python", ".").args(["-c", code]))?;
    ensure!(output.contains("Optimal: this tree"), "the example does not say that its answer is optimal");
    Ok(Outcome::Passed)
}

fn tool(workspace: &Workspace, program: &str, arguments: &[&str]) -> Result<Outcome> {
    let environment = environment(workspace);
    if !environment.is_ready() {
        return Ok(Outcome::Skipped(NOT_READY.to_owned()));
    }
    run(environment.command(workspace, program, ".").args(arguments))?;
    Ok(Outcome::Passed)
}

pub(crate) fn environment(workspace: &Workspace) -> Environment {
    let home = workspace.root.join("python");
    let mut files = vec![home.join("tests/requirements.txt")];
    if workspace.long {
        files.push(home.join("tests/requirements-long.txt"));
    }
    Environment::named(workspace, "venv-package", home, files)
}

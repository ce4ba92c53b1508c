//! The Python tests: Gymnasium itself, in a virtual environment of its own in the target folder.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::summary::Outcome;
use crate::tools;
use crate::workspace::{Workspace, run, works};

const NOT_READY: &str = "the virtual environment is not ready";

/// Makes the virtual environment with the packages of `tests/gymnasium/requirements.txt`, unless it is there.
pub(crate) fn set_up(workspace: &Workspace) -> Result<Outcome> {
    let environment = Environment::new(workspace);
    if environment.is_ready() {
        println!("{} is up to date", environment.folder.display());
        return Ok(Outcome::Passed);
    }
    if let Err(why) = install_python(workspace)? {
        return Ok(Outcome::Skipped(why));
    }
    if environment.folder.exists() {
        fs::remove_dir_all(&environment.folder)
            .with_context(|| format!("removing {}", environment.folder.display()))?;
    }
    run(workspace.command("python3").args(["-m", "venv"]).arg(&environment.folder))?;
    let mut pip = workspace.command(environment.program("python"));
    pip.args(["-m", "pip", "install", "--disable-pip-version-check", "--quiet", "--requirement"]);
    run(pip.arg(folder(workspace).join("requirements.txt")))?;
    fs::write(environment.stamp(), environment.requirements())
        .with_context(|| format!("writing {}", environment.stamp().display()))?;
    Ok(Outcome::Passed)
}

/// `ruff check`.
pub(crate) fn ruff_check(workspace: &Workspace) -> Result<Outcome> {
    tool(workspace, "ruff", &["check", "."])
}

/// `ruff format --check`.
pub(crate) fn ruff_format(workspace: &Workspace) -> Result<Outcome> {
    tool(workspace, "ruff", &["format", "--check", "."])
}

/// `mypy --strict`.
pub(crate) fn mypy(workspace: &Workspace) -> Result<Outcome> {
    tool(workspace, "mypy", &["--strict", "."])
}

/// Our environments against Gymnasium's.
pub(crate) fn gymnasium(workspace: &Workspace) -> Result<Outcome> {
    let environment = Environment::new(workspace);
    if !environment.is_ready() {
        return Ok(Outcome::Skipped(NOT_READY.to_owned()));
    }
    let example = ["--package", "broccoli-environments", "--example", "transitions"];
    run(workspace.cargo(["build", "--release"]).args(example))?;
    let name = format!("transitions{}", std::env::consts::EXE_SUFFIX);
    let mut pytest = environment.command(workspace, "pytest");
    pytest.env("BROCCOLI_TRANSITIONS", workspace.target.join("release/examples").join(name));
    run(pytest.args(["-p", "no:cacheprovider", "."]))?;
    Ok(Outcome::Passed)
}

fn tool(workspace: &Workspace, program: &str, arguments: &[&str]) -> Result<Outcome> {
    let environment = Environment::new(workspace);
    if !environment.is_ready() {
        return Ok(Outcome::Skipped(NOT_READY.to_owned()));
    }
    run(environment.command(workspace, program).args(arguments))?;
    Ok(Outcome::Passed)
}

/// Sees to it that Python is there with what makes virtual environments; if that is not possible, says why.
fn install_python(workspace: &Workspace) -> Result<Result<(), String>> {
    let is_there = || works(workspace.command("python3").args(["-c", "import venv, ensurepip"]));
    if is_there() {
        return Ok(Ok(()));
    }
    if !tools::apt_install(workspace, &["python3", "python3-venv"])? {
        return Ok(Err(
            "python3 with its module venv is missing: install the packages python3 and python3-venv, \
                       or run as root where apt-get is"
                .to_owned(),
        ));
    }
    Ok(if is_there() { Ok(()) } else { Err("python3 -m venv does not work here".to_owned()) })
}

fn folder(workspace: &Workspace) -> PathBuf {
    workspace.root.join("tests/gymnasium")
}

/// The virtual environment.
struct Environment {
    folder: PathBuf,
    requirements: Option<String>,
}

impl Environment {
    fn new(workspace: &Workspace) -> Self {
        let requirements = fs::read_to_string(folder(workspace).join("requirements.txt")).ok();
        Environment { folder: workspace.target.join("venv"), requirements }
    }

    /// What is written into the stamp when everything is installed.
    fn requirements(&self) -> &str {
        self.requirements.as_deref().unwrap_or_default()
    }

    fn stamp(&self) -> PathBuf {
        self.folder.join("installed-requirements.txt")
    }

    /// Whether exactly these requirements were installed here, and Python still runs.
    fn is_ready(&self) -> bool {
        let installed = fs::read_to_string(self.stamp()).ok();
        installed.is_some()
            && installed == self.requirements
            && works(Command::new(self.program("python")).arg("--version"))
    }

    fn program(&self, name: &str) -> PathBuf {
        let programs = if cfg!(windows) { "Scripts" } else { "bin" };
        self.folder.join(programs).join(name)
    }

    /// A program of the environment, run where the Python files are, with its caches in the target folder.
    fn command(&self, workspace: &Workspace, program: &str) -> Command {
        let mut command = workspace.command(self.program(program));
        let cache = self.folder.join("cache");
        command
            .current_dir(folder(workspace))
            .env("RUFF_CACHE_DIR", cache.join("ruff"))
            .env("MYPY_CACHE_DIR", cache.join("mypy"))
            .env("PYTHONPYCACHEPREFIX", cache.join("python"));
        command
    }
}

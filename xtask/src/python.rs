//! The Python tests, in a virtual environment of its own in the target folder; the Python package has another
//! (`package.rs`).

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::debian;
use crate::summary::Outcome;
use crate::workspace::{Workspace, run, run_and_read, works};

pub(crate) const NOT_READY: &str = "the virtual environment is not ready";

/// Makes the virtual environment with the packages of `tests/requirements.txt`, unless it is there.
pub(crate) fn set_up(workspace: &Workspace) -> Result<Outcome> {
    Environment::new(workspace).set_up(workspace)
}

/// `ruff check`.
pub(crate) fn ruff_check(workspace: &Workspace) -> Result<Outcome> {
    tool(workspace, "ruff", &["check", ".", "--config"])
}

/// `ruff format --check`.
pub(crate) fn ruff_format(workspace: &Workspace) -> Result<Outcome> {
    tool(workspace, "ruff", &["format", "--check", ".", "--config"])
}

/// `mypy --strict`.
pub(crate) fn mypy(workspace: &Workspace) -> Result<Outcome> {
    tool(workspace, "mypy", &["--strict", ".", "--config-file"])
}

/// Our environments against Gymnasium's.
pub(crate) fn gymnasium(workspace: &Workspace) -> Result<Outcome> {
    let environment = Environment::new(workspace);
    if !environment.is_ready() {
        return Ok(Outcome::Skipped(NOT_READY.to_owned()));
    }
    let name = format!("transitions{}", std::env::consts::EXE_SUFFIX);
    let mut pytest = environment.command(workspace, "pytest", "gymnasium");
    pytest.env("BROCCOLI_TRANSITIONS", workspace.target.join("debug/examples").join(name));
    run_pytest(workspace, pytest.args(["-p", "no:cacheprovider", "."]).arg(environment.home.join(SERVER)))?;
    Ok(Outcome::Passed)
}

/// Runs pytest and notes how long its slowest tests took.
pub(crate) fn run_pytest(workspace: &Workspace, pytest: &mut Command) -> Result<()> {
    let output = run_and_read(pytest.arg("--durations=10"))?;
    workspace.note_tests(output.lines().filter_map(duration));
    Ok(())
}

/// The name and the time in `1.25s call     test_x.py::test_y`.
fn duration(line: &str) -> Option<(String, Duration)> {
    let mut words = line.split_whitespace();
    let seconds: f64 = words.next()?.strip_suffix('s')?.parse().ok()?;
    let name = words.nth(1).filter(|_| line.contains(" call "))?;
    Some((format!("pytest: {name}"), Duration::try_from_secs_f64(seconds).ok()?))
}

/// Where Gymnasium is served to benchmarks, from the folder `tests`.
const SERVER: &str = "../benchmarks/gymnasium";

/// Runs a tool in every folder; the last argument is followed by the file with its settings.
fn tool(workspace: &Workspace, program: &str, arguments: &[&str]) -> Result<Outcome> {
    let environment = Environment::new(workspace);
    if !environment.is_ready() {
        return Ok(Outcome::Skipped(NOT_READY.to_owned()));
    }
    for folder in ["gymnasium", "exports", "certificates", SERVER] {
        let mut command = environment.command(workspace, program, folder);
        run(command.args(arguments).arg(environment.home.join("pyproject.toml")))?;
    }
    Ok(Outcome::Passed)
}

/// Sees to it that Python is there with what makes virtual environments; if that is not possible, says why.
fn install_python(workspace: &Workspace) -> Result<Result<(), String>> {
    let is_there = || works(workspace.command("python3").args(["-c", "import venv, ensurepip"]));
    if is_there() {
        return Ok(Ok(()));
    }
    if let Err(why) = debian::install(workspace, &["python3", "python3-venv"])? {
        return Ok(Err(format!("python3 with its module venv is missing: {why}")));
    }
    Ok(if is_there() { Ok(()) } else { Err("python3 -m venv does not work here".to_owned()) })
}

/// A virtual environment with the packages of some requirements files.
pub(crate) struct Environment {
    folder: PathBuf,
    home: PathBuf,
    files: Vec<PathBuf>,
}

impl Environment {
    /// The one of the tests.
    pub(crate) fn new(workspace: &Workspace) -> Self {
        let home = workspace.root.join("tests");
        let files = vec![home.join("requirements.txt")];
        Environment::named(workspace, "venv", home, files)
    }

    /// The one called `name` in the target folder, with the packages of these files, for programs that run
    /// in folders of `home`.
    pub(crate) fn named(workspace: &Workspace, name: &str, home: PathBuf, files: Vec<PathBuf>) -> Self {
        Environment { folder: workspace.target.join(name), home, files }
    }

    /// Makes it, unless it is there.
    pub(crate) fn set_up(&self, workspace: &Workspace) -> Result<Outcome> {
        if self.is_ready() {
            println!("{} is up to date", self.folder.display());
            return Ok(Outcome::Passed);
        }
        if let Err(why) = install_python(workspace)? {
            return Ok(Outcome::Skipped(why));
        }
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder)
                .with_context(|| format!("removing {}", self.folder.display()))?;
        }
        run(workspace.command("python3").args(["-m", "venv"]).arg(&self.folder))?;
        if !self.files.is_empty() {
            let options = self.files.iter().flat_map(|file| [OsStr::new("--requirement"), file.as_os_str()]);
            run(self.pip(workspace).args(options))?;
        }
        fs::write(self.stamp(), self.requirements()?)
            .with_context(|| format!("writing {}", self.stamp().display()))?;
        Ok(Outcome::Passed)
    }

    /// `pip install`, to be completed.
    pub(crate) fn pip(&self, workspace: &Workspace) -> Command {
        let mut pip = workspace.command(self.program("python"));
        pip.args(["-m", "pip", "install", "--disable-pip-version-check", "--no-compile", "--quiet"]);
        pip
    }

    /// What is written into the stamp when everything is installed.
    fn requirements(&self) -> Result<String> {
        let read =
            |file: &PathBuf| fs::read_to_string(file).with_context(|| format!("reading {}", file.display()));
        self.files.iter().map(read).collect()
    }

    fn stamp(&self) -> PathBuf {
        self.folder.join("installed-requirements.txt")
    }

    /// Whether exactly these requirements were installed here, and Python still runs.
    pub(crate) fn is_ready(&self) -> bool {
        let installed = fs::read_to_string(self.stamp());
        matches!((installed, self.requirements()), (Ok(installed), Ok(required)) if installed == required)
            && works(Command::new(self.program("python")).arg("--version"))
    }

    pub(crate) fn program(&self, name: &str) -> PathBuf {
        let programs = if cfg!(windows) { "Scripts" } else { "bin" };
        self.folder.join(programs).join(name)
    }

    /// `PATH` with the programs of the environment before all others.
    pub(crate) fn path(&self) -> Result<OsString> {
        let programs = self.program("python").parent().map(PathBuf::from);
        let others = std::env::var_os("PATH").unwrap_or_default();
        Ok(std::env::join_paths(programs.into_iter().chain(std::env::split_paths(&others)))?)
    }

    /// A program of the environment, run in a folder of its home, with its caches in the target folder.
    pub(crate) fn command(&self, workspace: &Workspace, program: &str, folder: &str) -> Command {
        let mut command = workspace.command(self.program(program));
        let cache = self.folder.join("cache");
        command
            .current_dir(self.home.join(folder))
            .env("RUFF_CACHE_DIR", cache.join("ruff"))
            .env("MYPY_CACHE_DIR", cache.join("mypy"))
            .env("PYTHONPYCACHEPREFIX", cache.join("python"));
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_of_pytest_are_read() {
        let (name, time) = duration("12.50s call     tests/test_a.py::test_b[1]").unwrap();
        assert_eq!(
            (name.as_str(), time),
            ("pytest: tests/test_a.py::test_b[1]", Duration::from_millis(12_500))
        );
        assert_eq!(duration("0.01s setup    tests/test_a.py::test_b"), None);
        assert_eq!(duration("===== slowest 10 durations ====="), None);
        assert_eq!(duration("3 passed in 1.25s"), None);
    }
}

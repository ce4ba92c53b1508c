//! The exports in the hands of the programs they are for: compilers, onnxruntime, Graphviz, LaTeX, and a
//! browser for the report.

use anyhow::{Context, Result, ensure};

use crate::binaries::Binary;
use crate::debian;
use crate::python::{Environment, NOT_READY, run_pytest};
use crate::rust;
use crate::summary::Outcome;
use crate::workspace::{Workspace, run, works};

/// Programs, how they are asked whether they are there, and the Debian packages they come in.
const TOOLS: [(&str, &str, &[&str]); 4] = [
    ("gcc", "--version", &["gcc", "libc6-dev"]),
    ("dot", "-V", &["graphviz"]),
    ("pdflatex", "--version", &["texlive-latex-base", "texlive-pictures"]),
    ("chromium", "--version", &["chromium", "fonts-dejavu-core"]),
];

/// Installs what is missing.
pub(crate) fn set_up(workspace: &Workspace) -> Result<Outcome> {
    let missing = missing(workspace);
    if missing.is_empty() {
        return Ok(Outcome::Passed);
    }
    Ok(match debian::install(workspace, &missing)? {
        Ok(()) => Outcome::Passed,
        Err(why) => Outcome::Skipped(why),
    })
}

/// Every exported program and picture, with every tool there is.
pub(crate) fn programs(workspace: &Workspace) -> Result<Outcome> {
    let environment = Environment::new(workspace);
    let missing = not_ready(workspace, &environment);
    let binaries: Vec<Binary> = rust::binaries(workspace)?.into_iter().filter(is_for_tools).collect();
    ensure!(binaries.len() == 2, "the tests of programs and pictures are not there");
    for binary in binaries {
        let mut command = binary.command(&[]);
        if missing.is_none() {
            command.env("BROCCOLI_PYTHON", environment.program("python"));
        }
        run(&mut command)?;
    }
    Ok(missing.map_or(Outcome::Passed, Outcome::Skipped))
}

/// Whether a program tests with the tools that are set up here.
pub(crate) fn is_for_tools(binary: &Binary) -> bool {
    binary.package == "broccoli-export" && ["programs", "drawings"].contains(&binary.target.as_str())
}

/// Reports in Chromium.
pub(crate) fn report(workspace: &Workspace) -> Result<Outcome> {
    let environment = Environment::new(workspace);
    if let Some(why) = not_ready(workspace, &environment) {
        return Ok(Outcome::Skipped(why));
    }
    let screenshots = workspace.target.join("screenshots");
    std::fs::create_dir_all(&screenshots).with_context(|| format!("creating {}", screenshots.display()))?;
    let mut pytest = environment.command(workspace, "pytest", "exports");
    pytest.env("BROCCOLI", workspace.broccoli());
    run_pytest(
        workspace,
        pytest.env("BROCCOLI_SCREENSHOTS", screenshots).args(["-p", "no:cacheprovider", "."]),
    )?;
    Ok(Outcome::Passed)
}

fn not_ready(workspace: &Workspace, environment: &Environment) -> Option<String> {
    if !environment.is_ready() {
        return Some(NOT_READY.to_owned());
    }
    let missing = missing(workspace);
    (!missing.is_empty()).then(|| format!("missing: {}", missing.join(" ")))
}

/// The packages of the programs that are not there.
fn missing(workspace: &Workspace) -> Vec<&'static str> {
    let absent =
        TOOLS.iter().filter(|(program, question, _)| !works(workspace.command(program).arg(question)));
    absent.flat_map(|(_, _, packages)| *packages).copied().collect()
}

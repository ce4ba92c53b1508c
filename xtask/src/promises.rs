//! What README promises a newcomer: its first command and its example do what it says.

use std::process::Command;

use anyhow::{Result, ensure};

use crate::summary::Outcome;
use crate::workspace::{Workspace, run, run_and_read};

/// The first line of the optimal tree for MountainCar, and its value.
const ROOT: &str = "position >= -0.4";
const VALUE: &str = "104";

/// Builds the command as users have it, for this step and all others that need it.
pub(crate) fn build(workspace: &Workspace) -> Result<Outcome> {
    run(&mut workspace.cargo(["build", "--release"]))?;
    Ok(Outcome::Passed)
}

/// `solve mountain-car` needs no flag, succeeds and shows the optimal tree.
pub(crate) fn first_command(workspace: &Workspace) -> Result<Outcome> {
    let output = run_and_read(&mut workspace.cargo(["run", "--release", "--", "solve", "mountain-car"]))?;
    for expected in [ROOT, VALUE] {
        ensure!(output.contains(expected), "the output does not contain {expected:?}");
    }
    Ok(Outcome::Passed)
}

/// A library user's own system, solved.
pub(crate) fn example(workspace: &Workspace) -> Result<Outcome> {
    // It is built with the tests; Cargo would build all it needs again, with the features that it needs alone.
    let program = workspace.target.join("debug/examples/my_system");
    let output = run_and_read(&mut Command::new(program))?;
    ensure!(!output.trim().is_empty(), "the example prints nothing");
    Ok(Outcome::Passed)
}

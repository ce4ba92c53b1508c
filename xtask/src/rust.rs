//! The checks of the Rust code itself: formatting, lints, tests, documentation.

use anyhow::Result;

use crate::summary::Outcome;
use crate::workspace::{Workspace, run, works};

/// How many random problems the long tests try.
const LONG_CASES: &str = "1000000";

/// `cargo fmt --all --check`.
pub(crate) fn format(workspace: &Workspace) -> Result<Outcome> {
    component(workspace, "fmt", "rustfmt")?;
    run(&mut workspace.cargo(["fmt", "--all", "--check"]))?;
    Ok(Outcome::Passed)
}

/// `cargo clippy`, every warning an error.
pub(crate) fn clippy(workspace: &Workspace) -> Result<Outcome> {
    component(workspace, "clippy", "clippy")?;
    run(&mut workspace.cargo(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    Ok(Outcome::Passed)
}

/// `cargo test`, with the examples in the documentation.
pub(crate) fn test(workspace: &Workspace) -> Result<Outcome> {
    let mut command = workspace.cargo(["test", "--workspace", "--no-fail-fast"]);
    if workspace.long {
        command.env("BROCCOLI_CASES", LONG_CASES);
        println!("BROCCOLI_CASES={LONG_CASES}");
    }
    run(&mut command)?;
    Ok(Outcome::Passed)
}

/// `cargo doc`, every warning an error.
pub(crate) fn document(workspace: &Workspace) -> Result<Outcome> {
    let mut command = workspace.cargo(["doc", "--workspace", "--no-deps"]);
    run(command.env("RUSTDOCFLAGS", "-D warnings"))?;
    Ok(Outcome::Passed)
}

/// Installs a component of the toolchain if it is missing and rustup is there to do it.
fn component(workspace: &Workspace, subcommand: &str, name: &str) -> Result<()> {
    if !works(&mut workspace.cargo([subcommand, "--version"]))
        && works(workspace.command("rustup").arg("--version"))
    {
        run(workspace.command("rustup").args(["component", "add", name]))?;
    }
    Ok(())
}

//! The checks of the Rust code itself: formatting, lints, tests, documentation.

use anyhow::Result;

use crate::summary::Outcome;
use crate::workspace::{Workspace, run, works};

/// What the long tests are told: how many random problems to try, and that no known answer is too slow.
const LONG: [(&str, &str); 2] = [("BROCCOLI_CASES", "1000000"), ("BROCCOLI_LONG", "1")];

/// `cargo fmt --all --check`, also for the builder of the book, which is not in the workspace.
pub(crate) fn format(workspace: &Workspace) -> Result<Outcome> {
    component(workspace, "fmt", "rustfmt")?;
    run(&mut workspace.cargo(["fmt", "--all", "--check"]))?;
    run(&mut workspace.cargo(["fmt", "--check", "--manifest-path", "xtask/book/Cargo.toml"]))?;
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
        for (name, value) in LONG {
            command.env(name, value);
            println!("{name}={value}");
        }
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

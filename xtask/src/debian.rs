//! Installs packages of Debian that the tests need, where that is possible.

use std::process::Command;

use anyhow::Result;

use crate::workspace::{Workspace, run, works};

/// Installs the packages; if that is not possible here, says why.
pub(crate) fn install(workspace: &Workspace, packages: &[&str]) -> Result<Result<(), String>> {
    if !works(workspace.command("apt-get").arg("--version")) || !is_root() {
        let packages = packages.join(" ");
        return Ok(Err(format!("install the packages {packages}, or run as root where apt-get is")));
    }
    // Several steps may install something at the same time, and apt-get does not wait for another.
    let lock = workspace.target.join("apt.lock");
    let apt = || {
        let mut apt = workspace.command("flock");
        apt.arg(&lock).arg("apt-get");
        apt.env("DEBIAN_FRONTEND", "noninteractive");
        apt
    };
    run(apt().arg("update"))?;
    run(apt().args(["install", "--yes", "--no-install-recommends"]).args(packages))?;
    Ok(Ok(()))
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

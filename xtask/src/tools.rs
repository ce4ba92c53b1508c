//! Programs that the tests run: foreign systems are written in Python and C.

use std::process::Command;

use anyhow::Result;

use crate::summary::Outcome;
use crate::workspace::{Workspace, run, works};

/// Each program, and the packages of Debian that bring it.
const TOOLS: [(&str, &[&str]); 3] =
    [("python3", &["python3"]), ("make", &["make"]), ("cc", &["gcc", "libc6-dev"])];

/// Installs what is missing, where that is possible.
pub(crate) fn set_up(workspace: &Workspace) -> Result<Outcome> {
    let missing = || {
        let is_missing = |tool: &&(&str, &[&str])| !works(workspace.command(tool.0).arg("--version"));
        TOOLS.iter().filter(is_missing).collect::<Vec<_>>()
    };
    let packages: Vec<&str> = missing().iter().flat_map(|(_, packages)| packages.iter().copied()).collect();
    if !packages.is_empty() {
        apt_install(workspace, &packages)?;
    }
    let names: Vec<&str> = missing().iter().map(|(name, _)| *name).collect();
    Ok(if names.is_empty() {
        Outcome::Passed
    } else {
        Outcome::Failed(format!("install {}, or run as root where apt-get is", names.join(", ")))
    })
}

/// Installs packages as root with apt-get; false where that cannot be done.
pub(crate) fn apt_install(workspace: &Workspace, packages: &[&str]) -> Result<bool> {
    if !works(workspace.command("apt-get").arg("--version")) || !is_root() {
        return Ok(false);
    }
    let apt = || {
        let mut apt = workspace.command("apt-get");
        apt.env("DEBIAN_FRONTEND", "noninteractive");
        apt
    };
    run(apt().arg("update"))?;
    run(apt().args(["install", "--yes"]).args(packages))?;
    Ok(true)
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

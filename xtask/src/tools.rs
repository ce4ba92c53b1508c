//! Programs that the tests run: foreign systems are written in Python and C.

use anyhow::Result;

use crate::debian;
use crate::summary::Outcome;
use crate::workspace::{Workspace, works};

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
        // What could not be installed is still missing.
        let _ = debian::install(workspace, &packages)?;
    }
    let names: Vec<&str> = missing().iter().map(|(name, _)| *name).collect();
    Ok(if names.is_empty() {
        Outcome::Passed
    } else {
        Outcome::Failed(format!("install {}, or run as root where apt-get is", names.join(", ")))
    })
}

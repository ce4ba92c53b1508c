//! The man pages in the hands of `man`.

use std::fs;

use anyhow::{Context, Result, ensure};

use crate::debian;
use crate::summary::Outcome;
use crate::workspace::{Workspace, run, works};

/// Writes every page and has it set, without a warning.
pub(crate) fn test(workspace: &Workspace) -> Result<Outcome> {
    if !works(workspace.command("man").arg("--version"))
        && let Err(why) = debian::install(workspace, &["man-db"])?
    {
        return Ok(Outcome::Skipped(why));
    }
    let folder = workspace.target.join("man");
    run(workspace.command(workspace.broccoli()).arg("manual").arg(&folder))?;
    let mut count = 0;
    for entry in fs::read_dir(&folder)? {
        let page = entry?.path();
        let mut man = workspace.command("man");
        man.env("LC_ALL", "C.UTF-8"); // the pages have letters beyond ASCII
        let output =
            man.args(["--warnings", "--local-file"]).arg(&page).output().context("cannot run man")?;
        let warnings = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success() && warnings.is_empty(), "{}: {warnings}", page.display());
        ensure!(String::from_utf8_lossy(&output.stdout).contains("SYNOPSIS"), "{} is empty", page.display());
        count += 1;
    }
    println!("{count} man pages");
    Ok(Outcome::Passed)
}

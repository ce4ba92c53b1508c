//! `cargo xtask gallery`: the problems of the gallery, their answers, pictures and reports.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::workspace::{self, Workspace};

/// What to do with the answers.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Rewrite the recorded answers, the pictures and the list
    #[arg(long)]
    update: bool,

    /// Write the HTML report of each into this folder
    #[arg(long, value_name = "DIR")]
    reports: Option<PathBuf>,
}

/// Runs the test of the gallery; an error if an answer differs.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    // Heavy ones are part of it here.
    let workspace = Workspace::find(true)?;
    let mut test = workspace.cargo(["test", "--package", "broccoli-cli", "--test", "cli", "gallery"]);
    test.env("BROCCOLI_LONG", "1");
    if arguments.update {
        test.env("BROCCOLI_UPDATE", "1");
    }
    if let Some(folder) = &arguments.reports {
        fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
        let folder = fs::canonicalize(folder).with_context(|| format!("finding {}", folder.display()))?;
        test.env("BROCCOLI_REPORTS", folder);
    }
    workspace::run(&mut test)?;
    Ok(true)
}

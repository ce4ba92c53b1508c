//! `broccoli completions`: what makes a shell complete commands and options.

use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};

use crate::complaint::Complaint;
use crate::{Arguments, Done, output};

/// Print a script that makes a shell complete commands and options
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  source <(broccoli completions bash)        for this shell; in ~/.bashrc, for all
  broccoli completions zsh > ~/.zfunc/_broccoli
  broccoli completions fish > ~/.config/fish/completions/broccoli.fish";

impl Completions {
    /// Runs the command.
    pub fn run(&self) -> Done {
        let mut script = Vec::new();
        generate(self.shell, &mut Arguments::command(), "broccoli", &mut script);
        let script = String::from_utf8(script)
            .map_err(|_| Complaint::other("the script for this shell is not text"))?;
        output::print(&script)?;
        Ok(0)
    }
}

//! `cargo xtask bench`: hands over to `broccoli-bench`, a package of its own so that this one stays light, or to
//! the benchmark in Python.

use anyhow::Result;

use crate::alternatives;
use crate::workspace::{Workspace, announce};

/// Which benchmark, and its flags.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The benchmark and its flags, as `broccoli-bench` understands them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    arguments: Vec<String>,
}

/// Runs the benchmark; true if it succeeded. It keeps the caller's folder, for relative paths.
pub(crate) fn run(Arguments { arguments }: &Arguments) -> Result<bool> {
    let workspace = Workspace::find(false)?;
    if let [name, rest @ ..] = arguments.as_slice()
        && name == "alternatives"
    {
        return alternatives::bench(&workspace, rest);
    }
    let mut command = workspace.cargo(["run", "--release", "--package", "broccoli-bench", "--"]);
    command.current_dir(std::env::current_dir()?).args(arguments);
    announce(&command);
    Ok(command.status()?.success())
}

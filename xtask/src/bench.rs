//! `cargo xtask bench`: hands over to `broccoli-bench`, a package of its own so that this one stays light.

use anyhow::{Result, bail};

use crate::python::Environment;
use crate::summary::Outcome;
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
    let mut command = workspace.cargo(["run", "--release", "--package", "broccoli-bench", "--"]);
    command.current_dir(std::env::current_dir()?).args(arguments);
    if arguments.iter().any(|argument| argument == "--gymnasium") {
        let home = workspace.root.join("benchmarks/gymnasium");
        let files = vec![home.join("requirements.txt")];
        let environment = Environment::named(&workspace, "venv-gymnasium", home, files);
        if let Outcome::Skipped(why) = environment.set_up(&workspace)? {
            bail!("{why}");
        }
        command.env("PATH", environment.path()?);
    }
    announce(&command);
    Ok(command.status()?.success())
}

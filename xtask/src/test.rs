//! `cargo xtask test`: every step, in order, going on after a failure so that the summary is complete.

use anyhow::{Result, ensure};

use crate::summary::{Outcome, Summary};
use crate::workspace::Workspace;
use crate::{alternatives, book, documents, exports, man, package, planted, promises, python, rust, tools};

/// How thoroughly to test.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Ten times as many random problems, and whatever else is too slow for every change
    #[arg(long)]
    long: bool,

    /// Only the steps whose name contains one of these words
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    only: Vec<String>,
}

/// A step: what it is called in the summary, and what it does.
type Step = (&'static str, fn(&Workspace) -> Result<Outcome>);

const STEPS: &[Step] = &[
    ("formatting", rust::format),
    ("lints", rust::clippy),
    ("tools for foreign systems", tools::set_up),
    ("tests", rust::test),
    ("documentation", rust::document),
    ("README's first command", promises::first_command),
    ("example my_system", promises::example),
    ("documents: the book", book::build),
    ("documents: man pages", man::test),
    ("documents: commands", documents::test),
    ("planted bugs", planted::test),
    ("python: set-up", python::set_up),
    ("python: ruff check", python::ruff_check),
    ("python: ruff format", python::ruff_format),
    ("python: mypy", python::mypy),
    ("python: gymnasium", python::gymnasium),
    ("exports: set-up", exports::set_up),
    ("exports: programs and pictures", exports::programs),
    ("exports: report in Chromium", exports::report),
    ("package: set-up", package::set_up),
    ("package: wheel", package::wheel),
    ("package: ruff", package::ruff),
    ("package: mypy", package::mypy),
    ("package: pyright", package::pyright),
    ("package: stubtest", package::stubtest),
    ("package: pytest", package::pytest),
    ("documents: python", documents::python),
    ("package: reference", package::reference),
    ("package: quick start", package::quick_start),
    ("alternatives: set-up", alternatives::set_up),
    ("alternatives: lints", alternatives::lint),
    ("alternatives: tests", alternatives::test),
];

/// Runs every step; true if none failed.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let workspace = Workspace::find(arguments.long)?;
    let chosen =
        |name: &str| arguments.only.is_empty() || arguments.only.iter().any(|word| name.contains(word));
    let names: Vec<&str> = STEPS.iter().map(|(name, _)| *name).collect();
    ensure!(names.iter().any(|name| chosen(name)), "no step has that name; there are: {}", names.join(", "));
    let mut summary = Summary::default();
    for (name, action) in STEPS.iter().filter(|(name, _)| chosen(name)) {
        summary.step(name, || action(&workspace));
    }
    println!("\n{summary}");
    Ok(summary.is_good())
}

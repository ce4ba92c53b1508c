//! `cargo xtask test`: every step, going on after a failure so that the summary is complete.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use crate::schedule::{self, Step};
use crate::workspace::Workspace;
use crate::{book, changes, documents, exports, man, package, planted, promises, python, rust, tools};

/// The word of `--only` for what differs from the merge base.
const CHANGED: &str = "changed";

/// How thoroughly to test.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Ten times as many random problems, all planted bugs, and whatever else is too slow for every change
    #[arg(long)]
    long: bool,

    /// Only the steps whose name contains one of these words, and what they need; `changed`: what tests files that
    /// differ from the merge base with main
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    only: Vec<String>,
}

/// A single step, in a process of its own.
#[derive(clap::Args)]
pub(crate) struct One {
    name: String,
    /// Where to say how it ended
    report: PathBuf,
    #[arg(long)]
    long: bool,
    #[arg(long)]
    only_changed: bool,
}

const RUST: &[&str] =
    &["crates", "tests", "benchmarks", "examples", "python/src", "xtask", "Cargo.toml", ".cargo"];
const PYTHON: &[&str] = &["broccoli-python"];
const CLI: &[&str] = &["broccoli-cli"];

/// Every step. Of those that can be started, the first ones are: what takes longest, or keeps most others waiting.
const STEPS: &[Step] = &[
    computes("formatting", rust::format, &[], (RUST, &[])),
    waits("tools for foreign systems", tools::set_up, &[], (&[], &["broccoli-blackbox"])),
    waits("python: set-up", python::set_up, &["tools for foreign systems"], (&["tests"], &[])),
    waits("package: set-up", package::set_up, &["tools for foreign systems"], (&["python"], PYTHON)),
    waits("exports: set-up", exports::set_up, &["tools for foreign systems"], (&["tests"], &[])),
    computes("tests: build", rust::build, &[], (RUST, &[])),
    computes("release: build", promises::build, &[], (&[], CLI)),
    computes("tests", rust::test, &["tests: build", "tools for foreign systems"], (RUST, CLI)),
    computes("package: wheel", package::wheel, &["package: set-up", "release: build"], (&[], PYTHON)),
    computes("lints", rust::clippy, &[], (RUST, &[])),
    computes("planted bugs", planted::test, &["tests: build"], (&["tests/planted", "crates"], &[])),
    computes(
        "tests: examples in documentation",
        rust::examples,
        &["tests: build"],
        (&["docs", "README.md"], CLI),
    ),
    computes("documentation", rust::document, &["lints"], (RUST, &[])),
    computes("README's first command", promises::first_command, &["release: build"], (&["README.md"], CLI)),
    computes("example my_system", promises::example, &["tests: build"], (&["examples"], &["broccoli-core"])),
    computes(
        "documents: the book",
        book::build,
        &[],
        (&["docs", "README.md", "xtask", "benchmarks/results"], &[]),
    ),
    computes("documents: man pages", man::test, &["release: build"], (&[], CLI)),
    computes(
        "documents: commands",
        documents::test,
        &["release: build", "tools for foreign systems"],
        (&["docs", "README.md", "gallery"], CLI),
    ),
    computes("python: ruff check", python::ruff_check, &["python: set-up"], (SCRIPTS, &[])),
    computes("python: ruff format", python::ruff_format, &["python: set-up"], (SCRIPTS, &[])),
    computes("python: mypy", python::mypy, &["python: set-up"], (SCRIPTS, &[])),
    computes(
        "python: gymnasium",
        python::gymnasium,
        &["python: set-up", "tests: build"],
        (&["tests/gymnasium", "benchmarks/gymnasium"], &["broccoli-environments"]),
    ),
    computes(
        "exports: programs and pictures",
        exports::programs,
        &["python: set-up", "exports: set-up", "tests: build"],
        (&["tests/exports"], &["broccoli-export"]),
    ),
    computes(
        "exports: report in Chromium",
        exports::report,
        &["python: set-up", "exports: set-up", "release: build"],
        (&["tests/exports"], &["broccoli-export"]),
    ),
    computes("package: pytest", package::pytest, &["package: wheel"], (&["python", "gallery"], PYTHON)),
    computes("package: ruff", package::ruff, &["package: set-up"], (&["python"], &[])),
    computes("package: mypy", package::mypy, &["package: set-up"], (&["python"], &[])),
    computes("package: pyright", package::pyright, &["package: wheel"], (&["python"], &[])),
    computes("package: stubtest", package::stubtest, &["package: wheel"], (&["python"], PYTHON)),
    computes("documents: python", documents::python, &["package: wheel"], (&["docs", "README.md"], PYTHON)),
    computes("package: reference", package::reference, &["package: wheel"], (&["python"], PYTHON)),
    computes("package: quick start", package::quick_start, &["package: wheel"], (&["README.md"], PYTHON)),
];

const SCRIPTS: &[&str] = &["tests", "benchmarks/gymnasium"];

type Action = fn(&Workspace) -> Result<crate::summary::Outcome>;
type Names = &'static [&'static str];

const fn computes(name: &'static str, action: Action, needs: Names, tests: (Names, Names)) -> Step {
    Step { name, action, needs, waits: false, tests }
}

const fn waits(name: &'static str, action: Action, needs: Names, tests: (Names, Names)) -> Step {
    Step { name, action, needs, waits: true, tests }
}

/// Runs every step; true if none failed.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let mut workspace = Workspace::find(arguments.long)?;
    let (changed, words): (Vec<&str>, Vec<&str>) =
        arguments.only.iter().map(String::as_str).partition(|word| *word == CHANGED);
    workspace.only_changed = !changed.is_empty();
    let mut chosen = named(&words);
    let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
    ensure!(words.is_empty() || !chosen.is_empty(), "no step has that name; there are: {}", names.join(", "));
    if workspace.only_changed {
        let (more, since) = concerned(&workspace)?;
        chosen.extend(more);
        println!("what differs from {since} is tested");
    } else if words.is_empty() {
        chosen.extend(names);
    }
    with_needs(&mut chosen);
    let (steps, left): (Vec<&Step>, Vec<&Step>) = STEPS.iter().partition(|step| chosen.contains(step.name));
    if workspace.only_changed {
        let left: Vec<&str> = left.iter().map(|step| step.name).collect();
        println!("steps left out: {}", left.join(", "));
        if steps.is_empty() {
            println!("nothing has changed that a step tests");
            return Ok(true);
        }
    }
    let summary = schedule::run(&workspace, &steps)?;
    println!("\n{summary}");
    Ok(summary.is_good())
}

/// Runs one step and writes its report; true, since the report says the rest.
pub(crate) fn run_one(one: &One) -> Result<bool> {
    let mut workspace = Workspace::find(one.long)?;
    workspace.only_changed = one.only_changed;
    let step = STEPS.iter().find(|step| step.name == one.name).context("no step has that name")?;
    let report = serde_json::to_vec(&schedule::run_here(&workspace, step))?;
    std::fs::write(&one.report, report).with_context(|| format!("writing {}", one.report.display()))?;
    Ok(true)
}

/// The steps whose name contains one of the words.
fn named(words: &[&str]) -> BTreeSet<&'static str> {
    let is_named = |step: &&Step| words.iter().any(|word| step.name.contains(word));
    STEPS.iter().filter(is_named).map(|step| step.name).collect()
}

/// The steps that test something which differs, and what it differs from.
fn concerned(workspace: &Workspace) -> Result<(Vec<&'static str>, &str)> {
    let changes = workspace.changes.as_ref().context("git does not say what has changed")?;
    let packages = changes::packages(workspace, changes)?;
    let is_concerned = |step: &&Step| {
        changes.touch(step.tests.0) || step.tests.1.iter().any(|package| packages.contains(*package))
    };
    Ok((STEPS.iter().filter(is_concerned).map(|step| step.name).collect(), &changes.since))
}

/// Adds what the chosen steps need.
fn with_needs(chosen: &mut BTreeSet<&'static str>) {
    // A step comes after all that it needs, so that one pass from the end is enough.
    for step in STEPS.iter().rev() {
        if chosen.contains(step.name) {
            chosen.extend(step.needs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_have_names_of_their_own_and_come_after_what_they_need() {
        for (index, step) in STEPS.iter().enumerate() {
            let before: Vec<&str> = STEPS[..index].iter().map(|step| step.name).collect();
            assert!(!before.contains(&step.name), "{}", step.name);
            for need in step.needs {
                assert!(before.contains(need), "{} needs {need}", step.name);
            }
            let (paths, packages) = step.tests;
            assert!(!paths.is_empty() || !packages.is_empty(), "{} is never tested as changed", step.name);
            let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
            for path in paths {
                assert!(root.join(path).exists(), "{}: {path}", step.name);
            }
        }
    }

    #[test]
    fn steps_come_with_what_they_need() {
        let mut chosen = named(&["stubtest"]);
        with_needs(&mut chosen);
        let expected = [
            "package: set-up",
            "package: stubtest",
            "package: wheel",
            "release: build",
            "tools for foreign systems",
        ];
        assert_eq!(chosen, BTreeSet::from(expected));
        assert!(named(&[]).is_empty());
    }
}

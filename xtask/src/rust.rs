//! The checks of the Rust code itself: formatting, lints, tests, documentation.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::binaries::{self, Binary, End, Module};
use crate::summary::Outcome;
use crate::workspace::{Workspace, run, works};
use crate::{changes, exports};

/// What the long tests are told: how many random problems to try, and that no known answer is too slow.
const LONG: [(&str, &str); 2] = [("BROCCOLI_CASES", "1000000"), ("BROCCOLI_LONG", "1")];

/// What they do besides.
const LEFT: [&str; 5] = [
    "ten times as many random problems",
    "known answers with the engines that take minutes for them",
    "the number of trees that the paper counts in Pendulum",
    "a hundred kills of a search instead of ten",
    "heavy problems of the gallery at their full size",
];

/// `cargo fmt --all --check`, also for the builder of the book, which is not in the workspace.
pub(crate) fn format(workspace: &Workspace) -> Result<Outcome> {
    component(workspace, "fmt", "rustfmt")?;
    run(&mut workspace.cargo(["fmt", "--all", "--check"]))?;
    run(&mut workspace.cargo(["fmt", "--check", "--manifest-path", "xtask/book/Cargo.toml"]))?;
    Ok(Outcome::Passed)
}

/// `cargo clippy`, every warning an error.
pub(crate) fn clippy(workspace: &Workspace) -> Result<Outcome> {
    component(workspace, "clippy", "clippy")?;
    run(&mut workspace.cargo(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    Ok(Outcome::Passed)
}

/// Builds all tests, and the examples.
pub(crate) fn build(workspace: &Workspace) -> Result<Outcome> {
    let binaries = binaries(workspace)?;
    println!("{} test programs", binaries.len());
    Ok(Outcome::Passed)
}

/// The programs that run the tests; they are built if need be.
pub(crate) fn binaries(workspace: &Workspace) -> Result<Vec<Binary>> {
    binaries::build(&mut workspace.cargo(["test", "--workspace"]))
}

/// Runs all tests but the examples in the documentation, and those with the tools that exports are for.
pub(crate) fn test(workspace: &Workspace) -> Result<Outcome> {
    let mut binaries = binaries(workspace)?;
    binaries.retain(|binary| !exports::is_for_tools(binary));
    if let Some(changes) = workspace.changes.as_ref().filter(|_| workspace.only_changed) {
        let packages = changes::packages(workspace, changes)?;
        binaries.retain(|binary| packages.contains(&binary.package));
        println!(
            "packages that differ, or depend on one: {}",
            packages.into_iter().collect::<Vec<_>>().join(", ")
        );
    }
    if workspace.long {
        for (name, value) in LONG {
            println!("{name}={value}");
        }
    } else {
        workspace.note_left(LEFT.map(str::to_owned));
    }
    let folder = workspace.target.join("test/logs");
    fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
    let times = folder.join("times.json");
    let modules = binaries.iter().map(Binary::modules).collect::<Result<Vec<_>>>()?;
    let mut modules = modules.concat();
    longest_first(&mut modules, &times);

    let is_long = workspace.long;
    let ran = binaries::in_parallel(&modules, |module| {
        let log = folder.join(format!("{}.log", module.name.replace("::", "-")));
        let mut command = module.command();
        if is_long {
            command.envs(LONG);
        }
        let ran = binaries::run(&mut command, None, &log)?;
        let (name, count, seconds) = (module.name.clone(), ran.tests.len(), ran.time.as_secs_f64());
        println!("{seconds:6.1} s  {name}: {count} tests, {:?}", ran.end);
        if ran.end != End::Passed {
            let said = fs::read(&log).unwrap_or_default();
            println!("{}", String::from_utf8_lossy(&said));
        }
        Ok((name, ran))
    });
    let ran = ran.into_iter().collect::<Result<Vec<_>>>()?;
    let seconds: BTreeMap<&str, f64> =
        ran.iter().map(|(name, ran)| (name.as_str(), ran.time.as_secs_f64())).collect();
    fs::write(&times, serde_json::to_vec(&seconds)?)
        .with_context(|| format!("writing {}", times.display()))?;
    let failed: Vec<&str> =
        ran.iter().filter(|(_, ran)| ran.end != End::Passed).map(|(name, _)| name.as_str()).collect();
    let failed = failed.join(", ");
    let count: usize = ran.iter().map(|(_, ran)| ran.tests.len()).sum();
    println!("{count} tests in {} programs", binaries.len());
    for (name, ran) in ran {
        workspace.note_tests(ran.tests.into_iter().map(|(test, time)| (format!("{name}: {test}"), time)));
    }
    Ok(if failed.is_empty() { Outcome::Passed } else { Outcome::Failed(format!("tests fail in {failed}")) })
}

/// Sorts by what each took the last time, so that none is left to run alone at the end; the wall is the longest.
fn longest_first(modules: &mut [Module], times: &Path) {
    let known: BTreeMap<String, f64> =
        fs::read(times).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
    let seconds = |module: &Module| {
        let guess = if module.is_wall() { f64::MAX } else { 60.0 };
        known.get(&module.name).copied().unwrap_or(guess)
    };
    modules.sort_by(|a, b| seconds(b).total_cmp(&seconds(a)));
}

/// The examples in the documentation.
pub(crate) fn examples(workspace: &Workspace) -> Result<Outcome> {
    run(&mut workspace.cargo(["test", "--workspace", "--doc"]))?;
    Ok(Outcome::Passed)
}

/// `cargo doc`, every warning an error.
pub(crate) fn document(workspace: &Workspace) -> Result<Outcome> {
    let mut command = workspace.cargo(["doc", "--workspace", "--no-deps"]);
    run(command.env("RUSTDOCFLAGS", "-D warnings"))?;
    Ok(Outcome::Passed)
}

/// Installs a component of the toolchain if it is missing and rustup is there to do it.
fn component(workspace: &Workspace, subcommand: &str, name: &str) -> Result<()> {
    if !works(&mut workspace.cargo([subcommand, "--version"]))
        && works(workspace.command("rustup").arg("--version"))
    {
        run(workspace.command("rustup").args(["component", "add", name]))?;
    }
    Ok(())
}

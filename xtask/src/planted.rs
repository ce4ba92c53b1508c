//! Planted bugs: does the wall of random problems catch what it is there for?
//!
//! Every file `tests/planted/*.toml` describes a bug as a replacement in one source file. It is planted in a
//! copy of the sources, which must still compile, and a test must then fail. The unchanged copy must pass
//! first, so that a failure is the bug's. Output goes to a log per bug.
//!
//! A file may also describe a *harmless* change, of constants that tune the search: it leads the wall
//! through code that small problems hardly reach, and the test must pass.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde::Deserialize;

use crate::files::{mirror, sources};
use crate::summary::Outcome;
use crate::workspace::{Workspace, shown};

/// How many random problems the tests try; nothing is shrunk, since only the failure counts.
const SETTINGS: [(&str, &str); 2] = [("BROCCOLI_CASES", "20000"), ("PROPTEST_MAX_SHRINK_ITERS", "0")];

/// How long a test may run, building not included.
const TIME_LIMIT: Duration = Duration::from_secs(300);

/// A bug to be planted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bug {
    /// What it is called in messages.
    name: String,
    /// What goes wrong with it.
    why: String,
    /// The source file, from the root of the workspace.
    file: PathBuf,
    /// Text that occurs exactly once in the file …
    find: String,
    /// … and what takes its place.
    replace: String,
    /// Not a bug: no answer may change, and the test must pass.
    #[serde(default)]
    harmless: bool,
    /// Arguments of `cargo test` that choose the test.
    #[serde(default = "wall")]
    test: Vec<String>,
}

fn wall() -> Vec<String> {
    ["-p", "broccoli-tests", "--test", "wall"].map(str::to_owned).to_vec()
}

/// Plants every bug in turn; each must be caught.
pub(crate) fn test(workspace: &Workspace) -> Result<Outcome> {
    let bugs = read(&workspace.root)?;
    let copy = Copy {
        root: &workspace.root,
        files: sources(&workspace.root)?,
        work: workspace.target.join("planted/work"),
        build: workspace.target.join("planted/build"),
        logs: workspace.target.join("planted/logs"),
    };
    for folder in [&copy.work, &copy.logs] {
        fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    }

    mirror(copy.root, &copy.work, &copy.files, |_, contents| Ok(contents))?;
    for test in bugs.values().map(|bug| &bug.test).collect::<BTreeSet<_>>() {
        println!("no bug planted:");
        let (log, caught) = copy.test("none", test)?;
        ensure!(!caught, "the test fails without any bug: see {}", log.display());
    }

    let mut escaped = Vec::new();
    for (id, bug) in &bugs {
        println!("{}: {}", bug.name, bug.why);
        let caught = copy.plant(bug).and_then(|()| copy.test(id, &bug.test));
        match caught {
            Ok((_, caught)) if caught != bug.harmless => {}
            Ok((log, caught)) => {
                let what = if caught { "is not harmless" } else { "survives" };
                escaped.push(format!("{:?} {what} (log: {})", bug.name, log.display()));
            }
            Err(error) => escaped.push(format!("{:?}: {error:#}", bug.name)),
        }
    }
    if escaped.is_empty() {
        let harmless = bugs.values().filter(|bug| bug.harmless).count();
        println!("all {} planted bugs are caught, {harmless} harmless change(s) pass", bugs.len() - harmless);
        return Ok(Outcome::Passed);
    }
    let count = format!("{} of {} planted changes do not do as they should", escaped.len(), bugs.len());
    Ok(Outcome::Failed(format!("{count}:\n  {}", escaped.join("\n  "))))
}

/// The bugs by the name of their file.
fn read(root: &Path) -> Result<BTreeMap<String, Bug>> {
    let folder = root.join("tests/planted");
    let mut bugs = BTreeMap::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
            let bug = toml::from_str(&text).map_err(|error| anyhow!("{}: {error}", path.display()))?;
            let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            bugs.insert(id, bug);
        }
    }
    ensure!(!bugs.is_empty(), "there is no planted bug in {}", folder.display());
    Ok(bugs)
}

impl Bug {
    /// The contents of its file with the bug in it.
    fn apply(&self, contents: &str) -> Result<String> {
        let count = contents.matches(&self.find).count();
        let file = self.file.display();
        ensure!(count == 1, "{:?} must occur exactly once in {file}, and occurs {count} times", self.find);
        ensure!(self.find != self.replace, "the replacement in {file} changes nothing");
        Ok(contents.replacen(&self.find, &self.replace, 1))
    }
}

/// The copy of the sources in which bugs are planted.
struct Copy<'a> {
    root: &'a Path,
    files: BTreeSet<PathBuf>,
    work: PathBuf,
    build: PathBuf,
    logs: PathBuf,
}

impl Copy<'_> {
    /// Makes the copy hold this bug and no other.
    fn plant(&self, bug: &Bug) -> Result<()> {
        ensure!(self.files.contains(&bug.file), "there is no file {}", bug.file.display());
        mirror(self.root, &self.work, &self.files, |file, contents| {
            if file != bug.file {
                return Ok(contents);
            }
            Ok(bug.apply(std::str::from_utf8(&contents)?)?.into_bytes())
        })
    }

    /// Builds and runs the test; says whether it failed, and where its output is.
    fn test(&self, id: &str, arguments: &[String]) -> Result<(PathBuf, bool)> {
        let log = self.logs.join(format!("{id}.log"));
        let output = File::create(&log).with_context(|| format!("writing {}", log.display()))?;

        let mut build = self.cargo(&output)?;
        build.args(["test", "--no-run"]).args(arguments);
        let (status, time) = timed(&mut build, Duration::MAX)?;
        ensure!(status.success(), "it does not compile: see {}", log.display());
        println!("    built in {:.1} s", time.as_secs_f64());

        let mut run = self.cargo(&output)?;
        run.arg("test").args(arguments).envs(SETTINGS);
        let (status, time) = timed(&mut run, TIME_LIMIT)?;
        let verdict = if status.success() { "passes" } else { "fails" };
        println!("    the test {verdict} after {:.1} s", time.as_secs_f64());
        Ok((log, !status.success()))
    }

    fn cargo(&self, output: &File) -> Result<Command> {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(&self.work).env("CARGO_TARGET_DIR", &self.build);
        command.env("CARGO_PROFILE_DEV_DEBUG", "none"); // builds take a third less, and nobody debugs these
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output.try_clone()?);
        Ok(command)
    }
}

/// Runs the command for at most `limit`.
fn timed(command: &mut Command, limit: Duration) -> Result<(ExitStatus, Duration)> {
    println!("    $ {}", shown(command));
    let limited = limit < Duration::MAX;
    #[cfg(unix)]
    if limited {
        // A group of its own, so that the test that Cargo starts can be ended with it.
        std::os::unix::process::CommandExt::process_group(command, 0);
    }
    let start = Instant::now();
    let mut child = command.spawn().with_context(|| format!("cannot run {}", shown(command)))?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, start.elapsed()));
        }
        if start.elapsed() > limit {
            end(&mut child)?;
            bail!("the test did not end within {} s", limit.as_secs());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn end(child: &mut Child) -> Result<()> {
    if cfg!(unix) {
        let group = format!("-{}", child.id());
        Command::new("kill").args(["-KILL", "--", &group]).status().context("cannot run kill")?;
    }
    let _ = child.kill(); // it may have ended by itself
    child.wait()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bug(find: &str) -> Bug {
        let text = format!("name = \"n\"\nwhy = \"w\"\nfile = \"a.rs\"\nfind = {find:?}\nreplace = \"x\"\n");
        toml::from_str(&text).unwrap()
    }

    #[test]
    fn a_bug_is_applied_only_where_its_text_occurs_once() {
        assert_eq!(bug("b").apply("abc").unwrap(), "axc");
        assert_eq!(bug("b").test, wall());
        let error = bug("b").apply("bb").unwrap_err().to_string();
        assert_eq!(error, "\"b\" must occur exactly once in a.rs, and occurs 2 times");
        assert!(bug("d").apply("abc").is_err());
        assert!(bug("x").apply("x").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_command_that_takes_too_long_is_ended_with_its_children() {
        let start = Instant::now();
        let mut sleeper = Command::new("sh");
        sleeper.args(["-c", "sleep 60 & sleep 60"]);
        let error = timed(&mut sleeper, Duration::from_millis(100)).unwrap_err().to_string();
        assert!(error.starts_with("the test did not end"));
        assert!(start.elapsed() < Duration::from_secs(30));
    }
}

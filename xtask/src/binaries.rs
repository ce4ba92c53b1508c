//! Test programs that Cargo has built, run without Cargo: several at a time, one test after the other in most, so that
//! it is known how long each test took; a run can be limited, and ended at the first failure.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::workspace::{run_and_read_quietly, shown};

/// A test program.
#[derive(Clone, Debug)]
pub(crate) struct Binary {
    /// The package that it tests.
    pub(crate) package: String,
    /// The name of its target: a file in `tests`, or the library or program with the tests in its sources.
    pub(crate) target: String,
    /// Whether it is the tests in the sources of a library.
    pub(crate) is_library: bool,
    /// Whether it is a program in `tests`.
    is_in_tests: bool,
    path: PathBuf,
    folder: PathBuf,
}

/// A line of what Cargo says in JSON; of the others everything is missing.
#[derive(Deserialize)]
struct Artifact {
    executable: Option<PathBuf>,
    package_id: Option<String>,
    manifest_path: Option<PathBuf>,
    target: Option<Target>,
    profile: Option<Profile>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// Runs `cargo test …`, to which `--no-run` is added, and returns the test programs.
pub(crate) fn build(cargo: &mut Command) -> Result<Vec<Binary>> {
    cargo.args(["--no-run", "--message-format", "json-render-diagnostics"]);
    let messages = run_and_read_quietly(cargo)?;
    messages.lines().filter_map(|line| binary(line).transpose()).collect()
}

fn binary(line: &str) -> Result<Option<Binary>> {
    let artifact: Artifact = serde_json::from_str(line).context("reading what Cargo says")?;
    let Artifact { executable: Some(path), package_id: Some(id), manifest_path: Some(manifest), .. } =
        artifact
    else {
        return Ok(None);
    };
    let (Some(target), Some(true)) = (artifact.target, artifact.profile.map(|profile| profile.test)) else {
        return Ok(None);
    };
    let folder = manifest.parent().unwrap_or(Path::new("")).to_owned();
    let is = |wanted: &str| target.kind.iter().any(|kind| kind == wanted);
    let (is_library, is_in_tests) = (is("lib"), is("test"));
    Ok(Some(Binary { package: package(&id), target: target.name, is_library, is_in_tests, path, folder }))
}

/// The name in `path+file:///folder/name#0.1.0` or `path+file:///folder#name@0.1.0`.
pub(crate) fn package(id: &str) -> String {
    let (folder, rest) = id.split_once('#').unwrap_or((id, ""));
    let name = rest.split_once('@').map(|(name, _)| name);
    name.unwrap_or_else(|| folder.rsplit('/').next().unwrap_or(folder)).to_owned()
}

/// What a run may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Seconds on the clock.
    pub(crate) time: Duration,
    /// Address space.
    pub(crate) mebibytes: u64,
    /// Whether to end it at the first failure; what a test says when it fails is then lost.
    pub(crate) is_first_enough: bool,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Every test passed.
    Passed,
    /// A test failed.
    Failed,
    /// It took too long.
    Late,
    /// It was ended by a signal: memory ran out, or the stack.
    Died,
}

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) end: End,
    /// Each test that ended, and how long it took.
    pub(crate) tests: Vec<(String, Duration)>,
    pub(crate) time: Duration,
}

impl Binary {
    /// `package::target`, or the package alone for the tests in its sources.
    pub(crate) fn name(&self) -> String {
        if self.is_library { self.package.clone() } else { format!("{}::{}", self.package, self.target) }
    }

    /// Its tests by module, so that several can be run at a time; all at once where they are those of sources.
    pub(crate) fn modules(&self) -> Result<Vec<Module>> {
        let list = run_and_read_quietly(self.command(&[]).args(["--list", "--format", "terse"]))?;
        let mut modules: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for test in list.lines().filter_map(|line| line.strip_suffix(": test")) {
            let module = test.split_once("::").map(|(module, _)| module);
            let module = module.filter(|_| self.is_in_tests).unwrap_or_default();
            modules.entry(module).or_default().push(test.to_owned());
        }
        if modules.is_empty() {
            // One that has no list runs as a whole.
            modules.insert("", Vec::new());
        }
        let module = |(name, tests): (&str, Vec<String>)| {
            let name = if name.is_empty() { self.name() } else { format!("{}::{name}", self.name()) };
            Module { binary: self.clone(), name, tests }
        };
        Ok(modules.into_iter().map(module).collect())
    }

    /// The command that runs the tests whose names contain one of these words, or all, as Cargo would.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.path);
        if !words.is_empty() && words.iter().all(|word| word.starts_with(WALL)) {
            // Its searches with threads wait for each other, and processors for them.
            command.env(THREADS, "4");
        }
        command.args(words).current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        command
    }
}

/// Tests of a program.
#[derive(Clone, Debug)]
pub(crate) struct Module {
    binary: Binary,
    /// `package::target::module`, or the name of the program.
    pub(crate) name: String,
    tests: Vec<String>,
}

impl Module {
    /// The command that runs them, and no other.
    pub(crate) fn command(&self) -> Command {
        let names: Vec<&str> = self.tests.iter().map(String::as_str).collect();
        let mut command = self.binary.command(&names);
        if !names.is_empty() {
            command.arg("--exact");
        }
        command
    }

    /// Whether they are the wall.
    pub(crate) fn is_wall(&self) -> bool {
        self.tests.iter().any(|test| test.starts_with(WALL))
    }
}

/// What the names of the wall's tests begin with.
const WALL: &str = "wall::";

/// How many tests of a program run at a time.
const THREADS: &str = "RUST_TEST_THREADS";

/// How often to look whether a program that says nothing is still there.
const LOOK: Duration = Duration::from_secs(1);

/// Runs the command of a test program, with all it says in the log.
pub(crate) fn run(command: &mut Command, limits: Option<Limits>, log: &Path) -> Result<Ran> {
    let mut output = File::create(log).with_context(|| format!("writing {}", log.display()))?;
    let mut command = limited(command, limits);
    command.stdin(Stdio::null());
    let is_side_by_side = command.get_envs().any(|(name, _)| name == THREADS);
    if !is_side_by_side {
        command.env(THREADS, "1");
    }
    command.stdout(Stdio::piped()).stderr(output.try_clone()?);
    let start = Instant::now();
    let mut child = command.spawn().with_context(|| format!("cannot run {}", shown(&command)))?;
    let pipe = child.stdout.take().context("no pipe")?;
    let (sender, lines) = mpsc::channel();
    // It ends with the program and whatever that has started, or with the receiver.
    std::thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut line = Vec::new();
        while pipe.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
            let text = String::from_utf8_lossy(&line).into_owned();
            if sender.send((text, Instant::now())).is_err() {
                break;
            }
            line.clear();
        }
    });
    let deadline = limits.map(|limits| start + limits.time);
    let mut tests = Vec::new();
    let mut last = start;
    let mut follower = Follower::default();
    let end = loop {
        let now = Instant::now();
        if deadline.is_some_and(|deadline| deadline <= now) {
            end_group(&mut child)?;
            break End::Late;
        }
        match lines.recv_timeout(deadline.map_or(LOOK, |deadline| (deadline - now).min(LOOK))) {
            Ok((line, time)) => {
                output.write_all(line.as_bytes())?;
                if let Some((name, failed)) = follower.ended(&line) {
                    // When one of several began is not known.
                    tests.push((name, time - if is_side_by_side { start } else { last }));
                    last = time;
                    if failed && limits.is_some_and(|limits| limits.is_first_enough) {
                        end_group(&mut child)?;
                        break End::Failed;
                    }
                }
            }
            // A program that has ended may have left one behind that keeps the pipe open.
            Err(RecvTimeoutError::Timeout) => {
                if let Some(status) = child.try_wait()? {
                    break verdict(status);
                }
            }
            Err(RecvTimeoutError::Disconnected) => break verdict(child.wait()?),
        }
    };
    Ok(Ran { end, tests, time: start.elapsed() })
}

fn verdict(status: ExitStatus) -> End {
    match status.code() {
        Some(0) => End::Passed,
        Some(_) => End::Failed,
        None => End::Died,
    }
}

/// Follows the lines `test name ... ok`; what a test prints itself may stand between the name and the result.
#[derive(Default)]
struct Follower {
    /// The test that has begun.
    name: Option<String>,
}

impl Follower {
    /// The test that ends with this line, and whether it failed.
    fn ended(&mut self, line: &str) -> Option<(String, bool)> {
        let mut rest = line;
        if let Some((name, behind)) = line.strip_prefix("test ").and_then(|line| line.split_once(" ... ")) {
            self.name = Some(name.trim_end_matches(" - should panic").to_owned());
            rest = behind;
        }
        let failed = match rest.trim_end() {
            "ok" => false,
            "FAILED" => true,
            _ => return None,
        };
        self.name.take().map(|name| (name, failed))
    }
}

/// The command under limits, in a group of its own, so that what it starts can be ended with it.
fn limited(command: &mut Command, limits: Option<Limits>) -> Command {
    let Some(Limits { mebibytes, .. }) = limits.filter(|_| cfg!(unix)) else {
        return copy(command, Command::new(command.get_program()));
    };
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("ulimit -v {}; exec \"$0\" \"$@\"", mebibytes * 1024));
    shell.arg(command.get_program());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut shell, 0);
    copy(command, shell)
}

/// Hands the arguments, the folder and the variables of one command to another.
fn copy(from: &Command, mut to: Command) -> Command {
    to.args(from.get_args());
    if let Some(folder) = from.get_current_dir() {
        to.current_dir(folder);
    }
    for (name, value) in from.get_envs() {
        match value {
            Some(value) => to.env(name, value),
            None => to.env_remove(name),
        };
    }
    to
}

fn end_group(child: &mut Child) -> Result<()> {
    if cfg!(unix) {
        let group = format!("-{}", child.id());
        // It may have ended by itself, and then there is no such group.
        Command::new("kill")
            .args(["-KILL", "--", &group])
            .stderr(Stdio::null())
            .status()
            .context("running kill")?;
    }
    let _ = child.kill();
    child.wait()?;
    Ok(())
}

/// Does the work for every item, several at a time, in the order given; the results have that order, too.
pub(crate) fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = Mutex::new(0..items.len());
    let done = Mutex::new(Vec::new());
    let locked = "no thread panics with a lock";
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, Into::into) {
            scope.spawn(|| {
                loop {
                    let Some(index) = next.lock().expect(locked).next() else { break };
                    let result = work(&items[index]);
                    done.lock().expect(locked).push((index, result));
                }
            });
        }
    });
    let mut done = done.into_inner().expect(locked);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_tests_are_read() {
        let mut follower = Follower::default();
        let mut ended = |line: &str| follower.ended(line);
        assert_eq!(ended("test a::b ... ok\n"), Some(("a::b".to_owned(), false)));
        assert_eq!(ended("test c - should panic ... FAILED\n"), Some(("c".to_owned(), true)));
        assert_eq!(ended("test d ... ignored\n"), None);
        assert_eq!(ended("test e ... this is said by the test\n"), None);
        assert_eq!(ended("and this\n"), None);
        assert_eq!(ended("ok\n"), Some(("e".to_owned(), false)));
        assert_eq!(ended("ok\n"), None);
        assert_eq!(ended("test result: ok. 3 passed; 0 failed\n"), None);
    }

    #[test]
    fn packages_are_told_from_their_ids() {
        assert_eq!(package("path+file:///a/crates/broccoli-core#0.1.0"), "broccoli-core");
        assert_eq!(package("path+file:///a/tests#broccoli-tests@0.1.0"), "broccoli-tests");
    }

    #[test]
    fn work_is_done_once_and_in_order() {
        let items: Vec<usize> = (0..100).collect();
        assert_eq!(
            in_parallel(&items, |item| item * 2),
            items.iter().map(|item| item * 2).collect::<Vec<_>>()
        );
    }

    #[cfg(unix)]
    fn script(text: &str, limits: Option<Limits>) -> (Ran, String) {
        let unique = format!("broccoli-xtask-{}-{:?}.log", std::process::id(), std::thread::current().id());
        let log = std::env::temp_dir().join(unique);
        let ran = run(Command::new("sh").args(["-c", text]), limits, &log).unwrap();
        let said = std::fs::read_to_string(&log).unwrap();
        std::fs::remove_file(&log).unwrap();
        (ran, said)
    }

    #[cfg(unix)]
    const LIMITS: Option<Limits> =
        Some(Limits { time: Duration::from_secs(20), mebibytes: 1024, is_first_enough: true });

    #[cfg(unix)]
    #[test]
    fn a_run_passes_fails_or_is_ended_at_the_first_failure() {
        let (ran, said) = script("echo 'test a ... ok'; echo 'test b ... ok'", None);
        assert_eq!((ran.end, ran.tests.len(), ran.tests[1].0.as_str()), (End::Passed, 2, "b"));
        assert!(said.contains("test b ... ok"));
        assert_eq!(script("echo 'test a ... FAILED'; echo 'test b ... ok'; exit 101", None).0.tests.len(), 2);

        let (ran, _) = script("echo 'test a ... FAILED'; sleep 60; echo 'test b ... ok'", LIMITS);
        assert_eq!((ran.end, ran.tests.len()), (End::Failed, 1));
        assert!(ran.time < Duration::from_secs(15));

        let patient = Some(Limits { is_first_enough: false, ..LIMITS.unwrap() });
        let (ran, said) =
            script("echo 'test a ... FAILED'; echo 'test b ... ok'; echo why; exit 101", patient);
        assert_eq!((ran.end, ran.tests.len()), (End::Failed, 2));
        assert!(said.ends_with("why\n"), "{said}");
    }

    #[cfg(unix)]
    #[test]
    fn a_run_that_takes_too_much_is_ended_with_its_children() {
        let soon = Limits { time: Duration::from_millis(100), ..LIMITS.unwrap() };
        let soon = Some(soon);
        let (ran, _) = script("sleep 60 & sleep 60", soon);
        assert_eq!(ran.end, End::Late);
        assert!(ran.time < Duration::from_secs(15));

        assert_eq!(script("kill -ABRT $$", LIMITS).0.end, End::Died);
        assert_eq!(script("test $(ulimit -v) = 1048576", LIMITS).0.end, End::Passed);
    }
}

//! Planted bugs: do the tests catch what they are there for?
//!
//! Every file `tests/planted/*.toml` describes a bug as a replacement in one source file. All of them are compiled into
//! one copy of the sources, each behind a switch (`switch.rs`), and the copy is built once. Then each bug's test is run
//! with its switch set, and must fail; with no switch set every such test must pass, so that a failure is the bug's.
//! Output goes to a log per bug.
//!
//! A file may also describe a *harmless* change, of what tunes the search: it leads the tests through code that small
//! problems hardly reach, and the test must pass.
//!
//! By default only some are run (`choice.rs`); all with `--long`.

mod choice;
mod switch;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use serde::Deserialize;

use crate::binaries::{self, Binary, End, Limits, Ran};
use crate::files::{mirror, sources};
use crate::summary::Outcome;
use crate::workspace::Workspace;
use choice::Choice;
use switch::{Change, chooser, switched};

/// Says which bug is chosen, by its number.
const VARIABLE: &str = "BROCCOLI_PLANTED";

/// How many random problems the tests try: with a bug as many as without any option, most of which are not reached; else
/// fewer, since the same tests run on the sources as they are, too.
const CASES: &str = "BROCCOLI_CASES";
const CASES_WITH_BUG: &str = "100000";
const CASES_WITHOUT: &str = "20000";
/// Nothing is shrunk, since only the failure counts; and nothing is saved in the sources where a test does not say where.
const ONLY_THE_FAILURE: [(&str, &str); 2] =
    [("PROPTEST_MAX_SHRINK_ITERS", "0"), ("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1")];

/// What a run may take.
const LIMITS: Limits = Limits { time: Duration::from_secs(300), mebibytes: 4096, is_first_enough: true };

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
    /// Text in the body of a function that occurs exactly once in the file …
    find: String,
    /// … and what takes its place.
    replace: String,
    /// Not a bug: no answer may change, and the test must pass.
    #[serde(default)]
    harmless: bool,
    /// With it the test may run for ever, or take all memory or stack, and be ended for that: it is caught then, too.
    #[serde(default)]
    endless: bool,
    /// Arguments of `cargo test` that choose the test: a package, `--lib` or `--test NAME`, and words of names.
    #[serde(default = "wall")]
    test: Vec<String>,
}

fn wall() -> Vec<String> {
    ["-p", "broccoli-tests", "--test", "suite", "wall::"].map(str::to_owned).to_vec()
}

/// Plants every bug; each that is chosen must be caught.
pub(crate) fn test(workspace: &Workspace) -> Result<Outcome> {
    let bugs = read(&workspace.root)?;
    let choice = Choice::new(workspace, &bugs);
    println!("{choice}");
    workspace.note_left(choice.left());
    if choice.ids.is_empty() {
        return Ok(Outcome::Passed);
    }
    let chosen: Vec<Planted<'_>> = numbered(&bugs).filter(|(_, id, _)| choice.ids.contains(*id)).collect();

    let copy = Copy::make(workspace, &bugs)?;
    let binaries = copy.build(workspace, &chosen)?;
    let mut runs = Vec::new();
    let mut words: BTreeMap<(&str, Option<&str>), BTreeSet<&str>> = BTreeMap::new();
    for planted in &chosen {
        let test = Test::parse(&planted.2.test)?;
        let own = words.entry((test.package, test.target)).or_default();
        // No word means all tests, as the empty one does.
        own.extend(if test.words.is_empty() { vec![""] } else { test.words.clone() });
        runs.push(Run { test, planted: Some(*planted) });
    }
    // Without a bug each program is run once, with the words of all.
    for ((package, target), words) in words {
        let words = words.into_iter().collect();
        runs.push(Run { test: Test { package, target, words }, planted: None });
    }
    // The longest first: a run without a bug, or with a harmless change, does not end at the first failure.
    runs.sort_by_key(|run| run.planted.is_some_and(|(.., bug)| !bug.harmless));
    let wrong = binaries::in_parallel(&runs, |run| copy.run(&binaries, run));
    let wrong: Vec<String> = wrong.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
    if wrong.is_empty() {
        let harmless = chosen.iter().filter(|(.., bug)| bug.harmless).count();
        println!("{} planted bugs are caught, {harmless} harmless change(s) pass", chosen.len() - harmless);
        return Ok(Outcome::Passed);
    }
    let count = format!("{} of {} planted changes do not do as they should", wrong.len(), chosen.len());
    Ok(Outcome::Failed(format!("{count}:\n  {}", wrong.join("\n  "))))
}

/// The bugs by the name of their file.
fn read(root: &Path) -> Result<BTreeMap<String, Bug>> {
    let folder = root.join("tests/planted");
    let mut bugs = BTreeMap::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
            let bug: Bug = toml::from_str(&text).map_err(|error| anyhow!("{}: {error}", path.display()))?;
            Test::parse(&bug.test).with_context(|| format!("{}: test", path.display()))?;
            let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            bugs.insert(id, bug);
        }
    }
    ensure!(!bugs.is_empty(), "there is no planted bug in {}", folder.display());
    Ok(bugs)
}

/// A bug with the number that chooses it and the name of its file.
type Planted<'a> = (usize, &'a str, &'a Bug);

fn numbered(bugs: &BTreeMap<String, Bug>) -> impl Iterator<Item = Planted<'_>> {
    bugs.iter().enumerate().map(|(number, (id, bug))| (number, id.as_str(), bug))
}

/// The contents of a file with a switch for each of its bugs.
fn plant(file: &Path, contents: Vec<u8>, bugs: &BTreeMap<String, Bug>) -> Result<Vec<u8>> {
    let own = numbered(bugs).filter(|(.., bug)| bug.file == file);
    let changes: Vec<Change<'_>> =
        own.map(|(number, id, Bug { find, replace, .. })| Change { number, id, find, replace }).collect();
    if changes.is_empty() {
        return Ok(contents);
    }
    let place = || format!("planting in {}", file.display());
    let text = String::from_utf8(contents).with_context(place)?;
    Ok(switched(&text, &changes).with_context(place)?.into_bytes())
}

/// The manifest of the workspace with a version that no other has.
fn with_own_version(manifest: Vec<u8>) -> Result<Vec<u8>> {
    let text = String::from_utf8(manifest).context("reading Cargo.toml")?;
    let (before, package) = text.split_once("[workspace.package]").context("no [workspace.package]")?;
    let (start, rest) = package.split_once("version = \"").context("no version")?;
    let (version, rest) = rest.split_once('"').context("no version")?;
    let (minor, _) = version.rsplit_once('.').context("a version of three numbers")?;
    Ok(format!("{before}[workspace.package]{start}version = \"{minor}.999\"{rest}").into_bytes())
}

/// The file at the root of the crate that a source file belongs to.
fn crate_root(files: &BTreeSet<PathBuf>, file: &Path) -> Result<PathBuf> {
    let sources = file.ancestors().find(|folder| folder.ends_with("src"));
    let mut roots =
        sources.into_iter().flat_map(|folder| ["lib.rs", "main.rs"].map(|name| folder.join(name)));
    roots
        .find(|root| files.contains(root))
        .with_context(|| format!("{} is in no crate's src", file.display()))
}

/// What `test` in a file says.
struct Test<'a> {
    package: &'a str,
    /// A file in `tests`; otherwise the tests in the library's sources.
    target: Option<&'a str>,
    /// Parts of the names of tests.
    words: Vec<&'a str>,
}

impl<'a> Test<'a> {
    fn parse(arguments: &'a [String]) -> Result<Self> {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (package, target, words) = match &words[..] {
            ["-p", package, "--lib", words @ ..] => (*package, None, words.to_vec()),
            ["-p", package, "--test", target, words @ ..] => (*package, Some(*target), words.to_vec()),
            _ => anyhow::bail!("{words:?} is not [\"-p\", PACKAGE, \"--lib\" or \"--test\", TARGET, WORD …]"),
        };
        Ok(Test { package, target, words })
    }

    fn is_of(&self, binary: &Binary) -> bool {
        let is_target = self.target.map_or(binary.is_library, |target| binary.target == target);
        binary.package == self.package && is_target
    }
}

/// A test to be run, with a bug or without any.
struct Run<'a> {
    test: Test<'a>,
    planted: Option<Planted<'a>>,
}

/// The copy of the sources in which bugs are planted.
struct Copy {
    work: PathBuf,
    logs: PathBuf,
    runs: PathBuf,
    /// Random problems that once failed, and the sources that they belong to.
    saved: BTreeSet<PathBuf>,
}

impl Copy {
    fn make(workspace: &Workspace, bugs: &BTreeMap<String, Bug>) -> Result<Self> {
        let folder = workspace.target.join("planted");
        let files = sources(&workspace.root)?;
        let saved =
            files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "regressions"));
        let saved = saved.flat_map(|file| [file.clone(), file.with_extension("rs")]).collect();
        let [work, logs, runs] = ["work", "logs", "runs"].map(|name| folder.join(name));
        for folder in [&work, &logs, &runs] {
            fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
        }
        let copy = Copy { work, logs, runs, saved };
        let mut roots = BTreeSet::new();
        for (id, bug) in bugs {
            ensure!(files.contains(&bug.file), "{id}: there is no file {}", bug.file.display());
            roots.insert(crate_root(&files, &bug.file)?);
        }
        mirror(&workspace.root, &copy.work, &files, |file, contents| {
            let mut contents = plant(file, contents, bugs)?;
            if file == Path::new("Cargo.toml") {
                contents = with_own_version(contents)?;
            }
            if roots.contains(file) {
                contents.extend(chooser(VARIABLE).into_bytes());
            }
            Ok(contents)
        })?;
        Ok(copy)
    }

    /// Builds the tests of these bugs. The target folder is the usual one, so that the packages of others are there; ours
    /// have a version of their own, or Cargo would take them for those without bugs.
    fn build(&self, workspace: &Workspace, chosen: &[Planted<'_>]) -> Result<Vec<Binary>> {
        let mut arguments = BTreeSet::new();
        for (.., bug) in chosen {
            let test = Test::parse(&bug.test)?;
            arguments.insert(format!("--package={}", test.package));
            arguments.insert(test.target.map_or("--lib".to_owned(), |target| format!("--test={target}")));
        }
        let mut cargo = workspace.cargo(["test"]);
        cargo.current_dir(&self.work).args(arguments);
        binaries::build(&mut cargo).context("the sources with all bugs planted do not compile")
    }

    /// Runs a test; says what is wrong with how it ended.
    fn run(&self, binaries: &[Binary], run: &Run<'_>) -> Result<Option<String>> {
        let test = &run.test;
        let binary = binaries.iter().find(|binary| test.is_of(binary));
        let binary =
            binary.with_context(|| format!("Cargo has not built {} {:?}", test.package, test.target))?;
        let name = run.planted.map_or_else(
            || format!("no-bug-{}-{}", test.package, test.target.unwrap_or("lib")),
            |(_, id, _)| id.to_owned(),
        );
        let log = self.logs.join(format!("{name}.log"));
        let mut command = binary.command(&test.words);
        // A problem that fails is saved with those that failed before. Each run has these for itself, or what fails
        // with one bug would be tried with the next.
        let place = self.runs.join(&name);
        fs::create_dir_all(&place).with_context(|| format!("creating {}", place.display()))?;
        mirror(&self.work, &place, &self.saved, |_, contents| Ok(contents))?;
        let is_bug = run.planted.is_some_and(|(.., bug)| !bug.harmless);
        let cases = if is_bug { CASES_WITH_BUG } else { CASES_WITHOUT };
        command.current_dir(&place).env(CASES, cases).envs(ONLY_THE_FAILURE).env_remove(VARIABLE);
        if let Some((number, ..)) = run.planted {
            command.env(VARIABLE, number.to_string());
        }
        // Where nothing should fail, it is of interest what does.
        let limits = Limits { is_first_enough: is_bug, ..LIMITS };
        let ran = binaries::run(&mut command, Some(limits), &log)?;
        let wrong = judge(run.planted.map(|(.., bug)| bug), &ran);
        let seconds = ran.time.as_secs_f64();
        println!("{seconds:6.1} s  {name}: {:?}", ran.end);
        if let Some((.., bug)) = run.planted {
            println!("          {}: {}", bug.name, bug.why);
        }
        Ok(wrong.map(|wrong| format!("{name}: {wrong} (log: {})", log.display())))
    }
}

/// What is wrong with how a test ended.
fn judge(bug: Option<&Bug>, ran: &Ran) -> Option<String> {
    if ran.end == End::Passed && ran.tests.is_empty() {
        return Some("no test has the words of `test` in its name".to_owned());
    }
    let ended = match ran.end {
        End::Passed => "passes",
        End::Failed => "fails",
        End::Late => "takes too long",
        End::Died => "is ended by a signal",
    };
    let is_caught = match ran.end {
        End::Passed => false,
        End::Failed => true,
        End::Late | End::Died if bug.is_some_and(|bug| bug.endless) => true,
        End::Late | End::Died => {
            return Some(format!(
                "its test {ended}; if that is what the bug does, its file says `endless = true`"
            ));
        }
    };
    match bug {
        None if is_caught => Some(format!("the test {ended} without any bug")),
        Some(bug) if bug.harmless && is_caught => {
            Some(format!("{:?} is not harmless: the test {ended}", bug.name))
        }
        Some(bug) if !bug.harmless && !is_caught => Some(format!("{:?} survives", bug.name)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bug(more: &str) -> Bug {
        let text =
            format!("name = \"n\"\nwhy = \"w\"\nfile = \"src/a.rs\"\nfind = \"b\"\nreplace = \"c\"\n{more}");
        toml::from_str(&text).unwrap()
    }

    fn ran(end: End) -> Ran {
        Ran { end, tests: vec![("a".to_owned(), Duration::ZERO)], time: Duration::ZERO }
    }

    #[test]
    fn every_planted_bug_has_its_place() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let bugs = read(root).unwrap();
        let files: BTreeSet<PathBuf> = bugs.values().map(|bug| bug.file.clone()).collect();
        for file in &files {
            let contents = fs::read(root.join(file)).unwrap();
            plant(file, contents, &bugs).unwrap();
            crate_root(&sources(root).unwrap(), file).unwrap();
        }
        assert!(bugs.values().any(|bug| bug.harmless));
    }

    #[test]
    fn a_text_that_is_not_there_once_is_an_error_that_names_the_file() {
        let bugs = BTreeMap::from([("some-bug".to_owned(), bug(""))]);
        let error = format!("{:#}", plant(Path::new("src/a.rs"), b"fn a() {}".to_vec(), &bugs).unwrap_err());
        assert_eq!(
            error,
            "planting in src/a.rs: some-bug: \"b\" must occur exactly once, and occurs 0 times"
        );
        assert_eq!(plant(Path::new("src/z.rs"), b"z".to_vec(), &bugs).unwrap(), b"z");
    }

    #[test]
    fn the_copy_has_a_version_of_its_own() {
        let manifest = "[workspace]\n[workspace.package]\nversion = \"1.2.3\"\n[a]\nversion = \"4\"\n";
        let changed = with_own_version(manifest.into()).unwrap();
        let expected = "[workspace]\n[workspace.package]\nversion = \"1.2.999\"\n[a]\nversion = \"4\"\n";
        assert_eq!(String::from_utf8(changed).unwrap(), expected);
        assert!(with_own_version(b"[workspace]".to_vec()).is_err());
    }

    #[test]
    fn a_test_names_a_package_and_a_target() {
        let words = ["-p", "a", "--test", "b", "c"].map(str::to_owned);
        let test = Test::parse(&words).unwrap();
        assert_eq!((test.package, test.target, test.words), ("a", Some("b"), vec!["c"]));
        assert_eq!(Test::parse(&["-p", "a", "--lib"].map(str::to_owned)).unwrap().target, None);
        assert!(Test::parse(&["--test", "b"].map(str::to_owned)).is_err());
    }

    #[test]
    fn only_a_failure_catches_a_bug_unless_its_file_says_more() {
        assert_eq!(judge(Some(&bug("")), &ran(End::Failed)), None);
        assert_eq!(judge(Some(&bug("")), &ran(End::Passed)).unwrap(), "\"n\" survives");
        for end in [End::Late, End::Died] {
            assert!(judge(Some(&bug("")), &ran(end)).unwrap().contains("endless"));
            assert_eq!(judge(Some(&bug("endless = true")), &ran(end)), None);
            assert!(judge(None, &ran(end)).is_some());
        }
        assert_eq!(judge(Some(&bug("harmless = true")), &ran(End::Passed)), None);
        assert!(judge(Some(&bug("harmless = true")), &ran(End::Failed)).is_some());
        assert_eq!(judge(None, &ran(End::Passed)), None);
        assert!(judge(None, &ran(End::Failed)).is_some());
        let nothing = Ran { tests: Vec::new(), ..ran(End::Passed) };
        assert!(judge(None, &nothing).unwrap().contains("no test"));
        assert!(judge(Some(&bug("harmless = true")), &nothing).unwrap().contains("no test"));
    }
}

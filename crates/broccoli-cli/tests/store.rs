//! What the system answers is remembered in a file: nothing is asked twice, nothing damaged is believed, nothing is lost.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{broccoli, json, run, stderr, stdout};

/// A plant in a folder, which takes down every step that it makes.
struct Plant {
    folder: TempDir,
    come_back: &'static str,
}

impl Plant {
    fn new(come_back: &'static str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/foreign/counted.py");
        fs::copy(source, folder.path().join("plant.py")).expect("the plant is copied");
        let plant = Plant { folder, come_back };
        plant.pose("car.toml", 0.3, "kind = \"reach\"\nhorizon = 160");
        plant
    }

    /// Writes a problem file.
    fn pose(&self, name: &str, step: f64, objective: &str) {
        let text = format!(
            "[system]\ncommand = [\"python3\", \"plant.py\"]\nsatisfied = \"position >= 0.5\"\n\
             [predicates]\nposition = {{ low = -1.2, high = 0.6, step = {step} }}\n\
             velocity = {{ low = -0.07, high = 0.07, step = 0.02 }}\n\
             [initial]\nstates = [[-0.5, 0.0]]\n[objective]\n{objective}\n[tree]\ndepth = 2\n"
        );
        fs::write(self.file(name), text).expect("the problem is written");
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.file(name).to_str().expect("a path in UTF-8").to_owned()
    }

    /// The arguments of a command about files in the folder, which begin with `@`.
    fn arguments(&self, arguments: &str) -> Vec<String> {
        let word = |word: &str| word.strip_prefix('@').map_or(word.to_owned(), |name| self.text(name));
        arguments.split(' ').map(word).collect()
    }

    fn variables(&self) -> [(&'static str, String); 2] {
        [("COME_BACK", self.come_back.to_owned()), ("MADE", self.text("made"))]
    }

    fn run(&self, arguments: &str) -> Output {
        self.run_with(arguments, &[])
    }

    fn run_with(&self, arguments: &str, variables: &[(&str, &str)]) -> Output {
        let arguments = self.arguments(arguments);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut command = broccoli(&arguments);
        command.envs(self.variables()).envs(variables.iter().copied()).output().expect("the command runs")
    }

    fn start(&self, arguments: &str, pause: &str) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_broccoli"));
        command.args(self.arguments(arguments)).envs(self.variables()).env("PAUSE", pause);
        command.stdout(Stdio::null()).stderr(Stdio::null()).stdin(Stdio::null());
        command.spawn().expect("the command starts")
    }

    /// The steps that were made since this was asked last, and how often each.
    fn made(&self) -> BTreeMap<String, u32> {
        let made = fs::read_to_string(self.file("made")).unwrap_or_default();
        let _ = fs::remove_file(self.file("made"));
        let mut counts = BTreeMap::new();
        made.lines().for_each(|line| *counts.entry(line.to_owned()).or_default() += 1);
        counts
    }

    fn store(&self, name: &str) -> Value {
        json(&run(&["store", &self.text(name), "--json"]))
    }
}

fn sum(made: &BTreeMap<String, u32>) -> u64 {
    made.values().copied().map(u64::from).sum()
}

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("{key} in {value}"))
}

fn is_long() -> bool {
    std::env::var_os("BROCCOLI_LONG").is_some_and(|value| !value.is_empty())
}

/// All steps that the command reports: those of the search, those that came back, those that confirmed.
fn reported(result: &Value) -> u64 {
    number(result, "queries")
        + number(result, "queries_confirming")
        + number(&result["statistics"], "queries_replayed")
}

/// What must not depend on what is remembered.
fn answer(result: &Value) -> [Value; 5] {
    ["status", "value", "bound", "size", "tree"].map(|key| result[key].clone())
}

#[test]
fn other_thresholds_and_objectives_use_what_is_known() {
    for come_back in ["reset", "snapshot", "stateless"] {
        let plant = Plant::new(come_back);
        plant.pose("finer.toml", 0.15, "kind = \"reach\"\nhorizon = 160");
        plant.pose("survive.toml", 0.3, "kind = \"reach\"\nhorizon = 120");
        let first = json(&plant.run("solve @car.toml --no-check --json --remember @store"));
        assert_eq!(sum(&plant.made()), reported(&first), "{come_back}");
        for (name, is_all) in [("car.toml", true), ("finer.toml", false), ("survive.toml", false)] {
            let without = json(&plant.run(&format!("solve @{name} --no-check --json")));
            let steps = sum(&plant.made());
            let output = plant.run(&format!("solve @{name} --no-check --json --remember @store"));
            let with = json(&output);
            assert_eq!(answer(&with), answer(&without), "{come_back}, {name}");
            assert_eq!(sum(&plant.made()), reported(&with), "{come_back}, {name}");
            assert!(reported(&with) < steps, "{come_back}, {name}: {} of {steps}", reported(&with));
            assert!(number(&with["statistics"], "cache_hits") > 0, "{come_back}, {name}");
            assert!(!is_all || number(&with, "queries") == 0, "{come_back}: {with}");
            assert!(stderr(&output).contains("reused "), "{}", stderr(&output));
        }
    }
}

/// Without a reward what is known does not serve a return, and is asked again, once.
#[test]
fn rewards_that_are_not_known_are_asked_for() {
    let plant = Plant::new("stateless");
    plant.pose("return.toml", 0.3, "kind = \"return\"\nhorizon = 40");
    let output =
        plant.run_with("solve @return.toml --no-check --json --remember @store", &[("REWARDS", "1")]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    // One that gives no rewards is another system, by what it says about itself.
    let output = plant.run("solve @car.toml --no-check --json --remember @store");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("gives rewards was \"yes\" and is \"no\""), "{}", stderr(&output));

    // A built-in environment that gives rewards ends its runs as Gymnasium does: it is another system.
    let file = plant.text("cartpole");
    let solve = ["solve", "cartpole", "--depth", "1", "--json", "--remember", &file];
    let survived = json(&run(&solve));
    let again = json(&run(&solve));
    assert!(number(&survived, "queries") > 0);
    assert_eq!((number(&again, "queries"), answer(&again)), (0, answer(&survived)));
    let output = run(&[&solve[..], &["--objective", "return", "--horizon", "60"]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("rewards was \"not wanted\" and is \"wanted\""), "{}", stderr(&output));
}

/// Killed again and again at random moments, and gone on with: nothing that the plant has answered is asked again, but
/// for what is asked to see that it is the same plant, and for what it was asked when it was killed.
#[test]
fn after_kills_nothing_is_asked_twice() {
    let times = if is_long() { 100 } else { 10 };
    for (come_back, kept) in [("stateless", true), ("snapshot", false)] {
        let plant = Plant::new(come_back);
        let begin = "solve @car.toml --no-check --remember @store --threads 1";
        let begin = if kept {
            format!("{begin} --checkpoint @kept --checkpoint-interval 20ms")
        } else {
            begin.to_owned()
        };
        let resume = "resume @kept @car.toml --no-check --remember @store --threads 1";
        let mut all: BTreeMap<String, u32> = BTreeMap::new();
        let (mut seed, mut kills, mut again) = (7_u64, 0, 0);
        for _ in 0..times {
            let is_kept = kept && plant.file("kept").exists();
            let mut child = plant.start(if is_kept { resume } else { &begin }, "0.003");
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            std::thread::sleep(Duration::from_millis(100 + (seed >> 33) % 500));
            kills += u32::from(child.try_wait().expect("it is there").is_none());
            child.kill().expect("it can be killed");
            child.wait().expect("it ends");
            // Its plant may still be at work.
            std::thread::sleep(Duration::from_millis(20));
            plant.made().into_iter().for_each(|(step, count)| *all.entry(step).or_default() += count);
            if plant.file("store").exists() {
                let held = plant.store("store");
                assert_eq!((number(&held, "refused"), number(&held, "refused_answers")), (0, 0), "{held}");
                // What it did not live to write, or was still asked for.
                let known = number(&held, "transitions");
                assert!(all.len() as u64 <= known + 1 + u64::from(kills), "{} steps, {held}", all.len());
                again += (8 + 2 * known.isqrt()).min(256);
            }
        }
        assert!(kills > times / 2, "killed {kills} times only");
        let twice: u64 = all.values().map(|&count| u64::from(count) - 1).sum();
        // The sample of the checkpoint is about as large.
        let most = u64::from(kills) + if kept { 3 * again } else { again };
        assert!(twice <= most, "{come_back}: {twice} steps were made again, at most {most} may be");
        let whole = json(&plant.run("solve @car.toml --no-check --json"));
        plant.made();
        let last = if kept && plant.file("kept").exists() { resume } else { &begin };
        let last = json(&plant.run(&format!("{last} --json")));
        assert_eq!(answer(&last), answer(&whole), "{come_back}");
        assert!(number(&last["statistics"], "queries_replayed") < 1_000, "{come_back}: {last}");
    }
}

#[test]
fn another_system_is_refused_with_what_differs() {
    let plant = Plant::new("snapshot");
    plant.run("solve @car.toml --no-check --remember @store");
    let before = fs::read(plant.file("store")).expect("a store");
    plant.made();
    // It says the same about itself, and does something else.
    for gravity in ["0.0025000001", "0.002", "0.00251"] {
        let output = plant.run_with("solve @car.toml --no-check --remember @store", &[("GRAVITY", gravity)]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(
            said.contains("the system is not the one whose answers are in") && said.contains(" before and "),
            "{said}"
        );
        assert_eq!(fs::read(plant.file("store")).expect("a store").len(), before.len());
    }
    let output = plant.run_with("solve @car.toml --no-check --remember @store", &[("COME_BACK", "reset")]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("comes back was \"to snapshots\" and is \"by a reset\""), "{said}");
    let output = run(&["solve", "mountain-car", "--remember", &plant.text("store")]);
    assert!(stderr(&output).contains("system was \"program\" and is \"environment\""), "{}", stderr(&output));
}

/// A store that is small, of a built-in environment.
fn small() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("store");
    for thresholds in ["2", "3"] {
        let solve = ["solve", "mountain-car", "--depth", "1", "--thresholds", thresholds];
        run(&[&solve[..], &["--remember", file.to_str().expect("UTF-8")]].concat());
    }
    (folder, file)
}

fn remembering(solve: &[&str], file: &Path) -> Output {
    run(&[solve, &["--remember", file.to_str().expect("UTF-8")]].concat())
}

#[test]
fn a_file_that_is_no_store_is_not_touched() {
    let (folder, _) = small();
    let letter = folder.path().join("letter");
    fs::write(&letter, "Dear reader").expect("a file");
    let output = remembering(&["solve", "mountain-car"], &letter);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("it is not a store, and is not overwritten"), "{}", stderr(&output));
    assert_eq!(fs::read(&letter).expect("a file"), b"Dear reader");
}

#[test]
fn what_a_person_reads() {
    let (_folder, file) = small();
    let text = stdout(&run(&["store", file.to_str().expect("UTF-8")]));
    assert!(text.contains("environment  mountain-car\n"), "{text}");
    assert!(text.contains(" answers to steps, from 1 initial states; "), "{text}");
    let held = json(&run(&["store", file.to_str().expect("UTF-8"), "--json"]));
    assert_eq!(held["identity"]["noise"], "0");
    assert_eq!(number(&held, "bytes"), fs::metadata(&file).expect("a store").len());
}

#[test]
fn a_second_one_that_writes_is_told_who_does() {
    let plant = Plant::new("snapshot");
    let mut first = plant.start("solve @car.toml --no-check --remember @store", "0.01");
    while !plant.file("store").exists()
        || fs::metadata(plant.file("store")).expect("it is there").len() < 1_000
    {
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = plant.run("solve @car.toml --no-check --remember @store");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(&format!("process {} is writing to it", first.id())), "{said}");
    // Anybody may read meanwhile.
    let held = plant.store("store");
    assert_eq!((number(&held, "writer"), number(&held, "refused")), (u64::from(first.id()), 0));
    first.kill().expect("it can be killed");
    first.wait().expect("it ends");
    assert_eq!(plant.store("store")["writer"], Value::Null);
}

/// On a full disk the search goes on, and what is in the file stays.
#[test]
fn a_full_disk_ends_no_search() {
    let plant = Plant::new("stateless");
    let whole = json(&plant.run("solve @car.toml --no-check --json"));
    let script = "trap '' XFSZ; ulimit -f 40; exec \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_broccoli")]).envs(plant.variables());
    // What the plant writes down is limited, too.
    command.env("MADE", "/dev/null");
    let output = command.args(plant.arguments("solve @car.toml --no-check --json --remember @full")).output();
    let output = output.expect("sh runs");
    assert_eq!(answer(&json(&output)), answer(&whole));
    let said = stderr(&output);
    assert!(
        said.contains("nothing more can be remembered in") && said.contains("the search goes on"),
        "{said}"
    );
    let held = plant.store("full");
    assert!(number(&held, "transitions") > 0 && number(&held, "torn_bytes") == 0, "{held}");
    let again = plant.run("solve @car.toml --no-check --json --remember @full");
    assert_eq!(answer(&json(&again)), answer(&whole));
    // Where there is no room for anything, nothing is begun.
    let output = run(&["solve", "mountain-car", "--remember", "/dev/full"]);
    assert_eq!(output.status.code(), Some(2));
}

//! Searches that are killed, interrupted, resumed; files that are no checkpoints; disks that are full.

#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{json, run, stderr};
use serde_json::Value;

/// A second or so with one thread.
const PROBLEM: [&str; 6] = ["solve", "mountain-car", "--depth", "3", "--step", "0.12,0.01"];

/// The folder and the file of a checkpoint that does not exist yet.
fn place() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("search.ckpt");
    (directory, file)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

/// What must not depend on interruptions.
fn answer(object: &Value) -> [Value; 5] {
    ["status", "value", "bound", "size", "tree"].map(|key| object[key].clone())
}

/// A checkpoint of a search that was stopped early.
fn stopped(file: &Path) -> Value {
    let output =
        run(&[&PROBLEM[..], &["--json", "--query-limit", "60000", "--checkpoint", text(file)]].concat());
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    assert!(stderr(&output).contains("`broccoli resume "), "{}", stderr(&output));
    json(&output)
}

fn start(arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_broccoli"));
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).stdin(Stdio::null());
    command.spawn().expect("the command starts")
}

fn send(child: &Child, signal: &str) {
    let status = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(status.expect("there is kill").success());
}

/// Numbers that look random, the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Begins a search and ends it with `signal` at random moments, so many times, resuming it each time; and
/// then lets it come to its end. If it ends before, it begins again.
fn pieced(signal: &str, threads: &str, times: u32, whole: &Value) {
    let (directory, file) = place();
    let options = ["--json", "--threads", threads, "--checkpoint-interval", "20ms"];
    let begin = [&PROBLEM[..], &options, &["--checkpoint", text(&file)]].concat();
    let resume = [&["resume", text(&file)][..], &options].concat();
    // In some pieces, on any machine.
    let longest = whole["seconds"].as_f64().expect("it takes time") * 1000.0 / 2.0;
    let mut dice = Dice(u64::from(times) + threads.len() as u64);
    let mut resumed = 0;
    for _ in 0..times {
        resumed += u32::from(file.exists());
        let mut child = start(if file.exists() { &resume } else { &begin });
        let deadline = Instant::now() + Duration::from_millis(20 + dice.below(longest as u64 + 1));
        while Instant::now() < deadline && child.try_wait().expect("it is there").is_none() {
            std::thread::sleep(Duration::from_millis(2));
        }
        if child.try_wait().expect("it is there").is_none() {
            send(&child, signal);
        }
        let output = child.wait_with_output().expect("it ends");
        match output.status.code() {
            Some(0) => assert_eq!(answer(&json(&output)), answer(whole)),
            Some(4) => assert!(file.exists() && signal == "-INT"),
            // Killed, or interrupted before it could listen.
            code => assert!(code.is_none() || code == Some(130), "exit {code:?}"),
        }
    }
    let output = run(if file.exists() { &resume } else { &begin });
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(answer(&json(&output)), answer(whole));
    assert!(!file.exists(), "the checkpoint is removed with the answer");
    assert!(resumed > times / 3, "resumed {resumed} times only");
    drop(directory);
}

#[test]
fn a_search_that_is_killed_again_and_again_gives_the_same_answer() {
    let is_long = std::env::var_os("BROCCOLI_LONG").is_some_and(|value| !value.is_empty());
    let times = if is_long { 100 } else { 10 };
    let whole = json(&run(&[&PROBLEM[..], &["--json", "--threads", "1"]].concat()));
    assert_eq!(whole["status"], "optimal");
    for threads in ["1", "2"] {
        for signal in ["-KILL", "-INT"] {
            pieced(signal, threads, times, &whole);
        }
    }
}

#[test]
fn limits_and_threads_may_differ_and_time_adds_up() {
    let (_directory, file) = place();
    let first = stopped(&file);
    let again = run(&["resume", text(&file), "--json", "--query-limit", "50000", "--threads", "2"]);
    assert_eq!(again.status.code(), Some(4));
    let again = json(&again);
    assert!(again["queries"].as_u64() > first["queries"].as_u64());
    assert_eq!(again["threads"], 2);
    assert_eq!(again["command"], first["command"]);
    let moments = first["history"].as_array().expect("a history");
    let all = again["history"].as_array().expect("a history");
    assert_eq!(all[..moments.len()], moments[..]);
    // The clock of the first run ends after its checkpoint is written, so its last moment is what can be compared.
    assert!(all.iter().chain([&again]).is_sorted_by_key(|moment| moment["seconds"].as_f64()));
    let last = json(&run(&["resume", text(&file), "--json", "--threads", "1"]));
    let whole = json(&run(&[&PROBLEM[..], &["--json"]].concat()));
    assert_eq!(answer(&last), answer(&whole));
    assert_eq!(last["necessary_queries"], whole["necessary_queries"]);
    assert!(!file.exists());
}

#[test]
fn nothing_that_exists_is_overwritten() {
    let (directory, file) = place();
    stopped(&file);
    let kept = std::fs::read(&file).expect("a checkpoint");
    let other = directory.path().join("letter.txt");
    std::fs::write(&other, "Dear reader").expect("a file");
    for (problem, path, message) in [
        (&PROBLEM[..], &*file, "holds a search for this problem already"),
        (
            &["solve", "pendulum"],
            &file,
            "a search for another problem, on mountain-car, and is not overwritten",
        ),
        (&["solve", "pendulum"], &other, "is not a checkpoint that can be read, and is not overwritten"),
        (&["solve", "pendulum"], Path::new("/dev/full"), "is not a checkpoint that can be read"),
        (&["solve", "pendulum"], directory.path(), "is not a checkpoint that can be read"),
        (
            &["solve", "pendulum"],
            Path::new("/no/such/folder/x"),
            "the folder \"/no/such/folder\" does not exist",
        ),
    ] {
        let output = run(&[problem, &["--checkpoint", text(path)]].concat());
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
    assert_eq!(std::fs::read(&file).expect("a checkpoint"), kept);
    assert_eq!(std::fs::read(&other).expect("a file"), b"Dear reader");
    let output = run(&["solve", "cartpole", "--engine", "backtracking", "--checkpoint", "new.ckpt"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--engine behaviour only"), "{}", stderr(&output));
}

/// Every truncation is refused, and every flipped bit; nothing is written.
#[test]
fn damaged_files_are_refused() {
    let (directory, file) = place();
    stopped(&file);
    let whole = std::fs::read(&file).expect("a checkpoint");
    let damaged = directory.path().join("damaged");
    let refused = |bytes: &[u8], messages: &[&str]| {
        std::fs::write(&damaged, bytes).expect("a file");
        let output = run(&["resume", text(&damaged)]);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        let said = stderr(&output);
        assert!(messages.iter().any(|message| said.contains(message)), "{said}");
        assert_eq!(std::fs::read(&damaged).expect("a file"), bytes);
    };
    let mut dice = Dice(7);
    for length in [0, 5, 19].into_iter().chain((0..3).map(|_| dice.below(whole.len() as u64) as usize)) {
        refused(&whole[..length], &["it is not a checkpoint", "it is cut short"]);
    }
    refused(&whole[..whole.len() - 1], &["it is cut short"]);
    refused(&[&whole[..], b"\n"].concat(), &["it is too long"]);
    for _ in 0..20 {
        let mut flipped = whole.clone();
        let at = dice.below(whole.len() as u64) as usize;
        flipped[at] ^= 1 << dice.below(8);
        refused(&flipped, &["not a checkpoint", "of version", "cut short", "too long", "checksum is wrong"]);
    }
    let mut other_version = whole.clone();
    other_version[20] = 99;
    refused(&other_version, &["a checkpoint of version 99, and this program reads version 13 only"]);
    refused(br#"{"status":"optimal"}"#, &["it is not a checkpoint"]);
    let pipe = directory.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("there is mkfifo").success());
    for path in ["/dev/zero", "/no/such/file", text(directory.path()), text(&pipe)] {
        let output = run(&["resume", path]);
        assert_eq!(output.status.code(), Some(2), "{path}: {}", stderr(&output));
    }
}

/// A file that was changed by somebody who knows the format, so that length and checksum are right: it is refused, or
/// gone on with; and nothing else happens. Little memory is to be had.
#[test]
fn forged_files_do_no_harm() {
    let is_long = std::env::var_os("BROCCOLI_LONG").is_some_and(|value| !value.is_empty());
    let (directory, file) = place();
    stopped(&file);
    let whole = std::fs::read(&file).expect("a checkpoint");
    let (head, end) = (20 + 4 + 8, whole.len() - 4);
    let forged = directory.path().join("forged");
    let mut dice = Dice(11);
    let mut refused = 0;
    let times = if is_long { 3_000 } else { 60 };
    for _ in 0..times {
        let mut content = whole[head..end].to_vec();
        for _ in 0..=dice.below(3) {
            let at = dice.below(content.len() as u64) as usize;
            match dice.below(6) {
                0 => content[at] = dice.below(256) as u8,
                1 => content[at] ^= 1 << dice.below(8),
                2 => content[at] = 0xff,
                3 => drop(content.splice(at..at, (0..=dice.below(40)).map(|_| 0xff))),
                4 => drop(content.drain(at..(at + 8).min(content.len()))),
                _ => {
                    let other = dice.below(content.len() as u64) as usize;
                    let part = content[other..(other + 16).min(content.len())].to_vec();
                    content.splice(at..(at + part.len()).min(content.len()), part);
                }
            }
        }
        let mut bytes = whole[..24].to_vec();
        bytes.extend((content.len() as u64).to_le_bytes());
        bytes.extend(&content);
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        std::fs::write(&forged, bytes).expect("a file");
        let limited = "ulimit -v 2000000; exec \"$0\" resume \"$1\" --query-limit 20000 --threads 1 --json";
        let program = env!("CARGO_BIN_EXE_broccoli");
        let output = Command::new("sh").args(["-c", limited, program, text(&forged)]).output();
        let output = output.expect("the command starts");
        let said = stderr(&output);
        // What traces did is written there, too: a forged one says what the system does not do, which shows in the end.
        let is_shown = output.status.code() == Some(1) && said.contains("is not deterministic");
        assert!(is_shown || matches!(output.status.code(), Some(0 | 2 | 4)), "{:?}: {said}", output.status);
        assert!(!said.contains("panicked"), "{said}");
        refused += u32::from(output.status.code() == Some(2));
    }
    assert!(refused > 0 && refused < times, "{refused} of {times} were refused");
}

/// Files may grow to a block and no more: as if the disk were full.
#[test]
fn a_full_disk_does_not_end_the_search() {
    let (directory, file) = place();
    let script = "trap '' XFSZ; ulimit -f 1; exec \"$@\"";
    let output = Command::new("sh")
        .args(["-c", script, "sh", env!("CARGO_BIN_EXE_broccoli")])
        .args(PROBLEM)
        .args(["--json", "--checkpoint-interval", "20ms", "--checkpoint", text(&file)])
        .output()
        .expect("there is a shell");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(json(&output)["status"], "optimal");
    assert_eq!(stderr(&output).matches("no checkpoint can be written").count(), 1, "{}", stderr(&output));
    assert_eq!(stderr(&output).lines().count(), 1);
    assert_eq!(
        std::fs::read_dir(directory.path()).expect("a directory").count(),
        0,
        "nothing is left behind"
    );
}

/// Not even root can write there.
#[test]
fn a_folder_that_cannot_be_written_does_not_end_the_search() {
    let output = run(&["solve", "mountain-car", "--json", "--checkpoint", "/proc/search.ckpt"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stderr(&output).matches("no checkpoint can be written").count(), 1, "{}", stderr(&output));
    let output =
        run(&[&PROBLEM[..], &["--query-limit", "60000", "--checkpoint", "/proc/search.ckpt"]].concat());
    assert_eq!(output.status.code(), Some(4));
    assert!(!stderr(&output).contains("broccoli resume"), "{}", stderr(&output));
}

#[test]
fn progress_as_events() {
    let output = run(&[&PROBLEM[..], &["--progress", "json", "--json", "--threads", "1"]].concat());
    let result = json(&output);
    let events: Vec<Value> =
        stderr(&output).lines().map(|line| serde_json::from_str(line).expect("an event")).collect();
    let last = |name: &str| events.iter().rfind(|event| event["event"] == name).expect("such an event");
    assert_eq!([&last("improved")["value"], &last("improved")["size"]], [&result["value"], &result["size"]]);
    assert!(last("bound")["bound"].as_u64() <= result["bound"].as_u64());
    let shares: Vec<f64> = events.iter().filter_map(|event| event["share"].as_f64()).collect();
    assert!(shares.is_sorted() && shares.iter().all(|share| (0.0..=1.0).contains(share)), "{shares:?}");
    assert!(shares.last() > Some(&0.0), "{shares:?}");
    for event in &events {
        assert!(event["seconds"].as_f64() >= Some(0.0) && event["queries"].is_u64(), "{event}");
    }
}

//! Foreign systems that misbehave: the search stops, says which system did what at which step, keeps
//! the best tree so far, and leaves no process behind. They are all `foreign/faulty.py` in some mode.

use std::fs;
use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

use crate::common::{json, run, stderr, stdout};
use tempfile::TempDir;

/// A folder with the faulty program and a problem about it.
fn folder(mode: &str, fault_at: u32) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/foreign/faulty.py");
    fs::copy(source, folder.path().join("faulty.py")).expect("the faulty program is copied");
    // Long enough for a machine that is busy with other tests.
    let start_timeout = if mode == "silent" { 1 } else { 30 };
    let problem = format!(
        "[system]\ncommand = [\"python3\", \"faulty.py\", \"{mode}\", \"{fault_at}\"]\ntimeout = 0.5\n\
         start_timeout = {start_timeout}\n\
         [predicates]\ncell = {{ low = 0, high = 10, step = 1 }}\n\
         [initial]\nstates = [[2], [9]]\n\
         [objective]\nkind = \"reach\"\nhorizon = 50\n\
         [tree]\ndepth = 2\n"
    );
    fs::write(folder.path().join("token.toml"), problem).expect("the problem is written");
    folder
}

/// Runs `broccoli COMMAND token.toml …` in the folder's problem, and checks that no process is left.
fn broccoli(folder: &TempDir, command: &str, flags: &[&str]) -> Output {
    let problem = folder.path().join("token.toml");
    let mut arguments = vec![command, problem.to_str().expect("a path in UTF-8")];
    arguments.extend(flags);
    let output = run(&arguments);
    let pids = fs::read_to_string(folder.path().join("pids.txt")).unwrap_or_default();
    for pid in pids.lines() {
        assert!(is_gone(pid), "process {pid} is left: {}", stderr(&output));
    }
    output
}

/// Whether a process is gone, or will be in a moment. Processes that our own child has started are
/// handed to the first process of the machine, which may leave them as zombies.
fn is_gone(pid: &str) -> bool {
    let started = Instant::now();
    loop {
        let status = fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
        let state =
            status.rsplit(')').next().and_then(|rest| rest.split_whitespace().next().map(str::to_owned));
        if matches!(state.as_deref(), None | Some("Z" | "X")) {
            return true;
        }
        if started.elapsed() > Duration::from_secs(2) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The message of a search that a fault at step 5000 of the program stops: exit 1, and the best tree kept.
/// The engine is one whose order of queries will not change.
fn failure(mode: &str) -> String {
    let folder = folder(mode, 5000);
    let output = broccoli(&folder, "solve", &["--no-check", "--json", "--engine", "exhaustive"]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{mode}: {said}");
    let object = json(&output);
    assert_eq!(object["status"], "error", "{mode}");
    assert!(object["tree"].is_object() && object["value"].is_u64(), "{mode}: no best so far in {object}");
    let error = object["error"].as_str().expect("an error").to_owned();
    assert!(said.contains(&error), "{mode}: {said}");
    assert!(error.contains(&format!("`python3 faulty.py {mode} 5000` (process ")), "{mode}: {error}");
    assert!(error.starts_with("the system failed at step "), "{mode}: {error}");
    error
}

#[test]
fn a_system_that_keeps_the_rules_is_solved() {
    let output = broccoli(&folder("good", 0), "solve", &["--json"]);
    let object = json(&output);
    assert_eq!((&object["value"], &object["size"]), (&4.into(), &1.into()), "{}", stderr(&output));
}

#[test]
fn crashes() {
    let said = failure("crash");
    assert!(said.contains("it ended (exit status: 3) before it answered"), "{said}");
    assert!(said.ends_with("on standard error: boom"), "{said}");
    let said = failure("signal");
    assert!(said.contains("it ended (signal: 11"), "{said}");
}

#[test]
fn hangs_and_late_answers() {
    for mode in ["hang", "late"] {
        let said = failure(mode);
        assert!(said.contains("no answer within 0.5 s"), "{said}");
    }
    let said = failure("unfinished");
    assert!(said.contains("no answer within 0.5 s; received: {\"observation\":[1"), "{said}");
}

#[test]
fn garbage_and_truncated_and_oversized_lines() {
    let said = failure("garbage");
    let no_message = "is no message of the protocol, but begins like text: prints belong on standard error";
    assert!(said.contains(&format!("{no_message}; received: %&/ �")), "{said}");
    let said = failure("truncated");
    assert!(
        said.contains("it ended (exit status: 0) before it answered; received: {\"observation\":[1"),
        "{said}"
    );
    let said = failure("oversized");
    assert!(said.contains("its answer is longer than 16777216 bytes; received: 999"), "{said}");
    assert!(said.len() < 1000, "{said}");
    let said = failure("twice");
    assert!(said.contains("more than one message at once"), "{said}");
    let said = failure("closes");
    assert!(said.contains("it ended (its exit code is not known) before it answered"), "{said}");
}

/// What is printed by mistake is told apart from what is broken, and shown so that it can be read.
#[test]
fn prints_on_standard_output() {
    for mode in ["prints", "prints-binary"] {
        let said = failure(mode);
        assert!(said.contains("begins like text: prints belong on standard error"), "{said}");
        assert!(said.contains("; received: I am here"), "{said}");
    }
    let said = failure("few-binary");
    assert!(said.contains("no answer within 0.5 s; received: 4 bytes, 49 00 00 00"), "{said}");
}

/// A run that is over before its first step is told before the search, and by `check`.
#[test]
fn a_verdict_at_reset_is_told() {
    let folder = folder("good", 0);
    let path = folder.path().join("token.toml");
    let text = fs::read_to_string(&path).expect("the problem");
    for (states, violated, what) in [
        ("[[2], [5]]", "", "initial state 1 (5) is satisfied before the first step: every tree has reached"),
        (
            "[[9], [2]]",
            "violated = \"cell > 8\"",
            "initial state 0 (9) is violated before the first step: no tree",
        ),
    ] {
        let satisfied = if violated.is_empty() { "" } else { "satisfied = \"cell == 5\"" };
        let more = format!("timeout = 0.5\n{satisfied}\n{violated}\n");
        let text = text.replace("[[2], [9]]", states).replace("timeout = 0.5\n", &more);
        fs::write(&path, text).expect("the problem is written");
        let output = broccoli(&folder, "solve", &[]);
        assert!(stderr(&output).starts_with(&format!("warning: {what}")), "{}", stderr(&output));
        let output = broccoli(&folder, "check", &[]);
        assert!(stdout(&output).contains(&format!("note      {what}")), "{}", stdout(&output));
    }
}

/// What a program takes counts, and that of the programs that it has started; the message says which it is.
#[test]
#[cfg(target_os = "linux")]
fn the_memory_of_programs_counts() {
    let folder = folder("leaks", 0);
    let output = broccoli(&folder, "solve", &["--no-check", "--memory-limit", "200MB", "--json"]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert_eq!(json(&output)["stopped_by"], "memory limit", "{said}");
    assert!(said.contains("the memory limit of 200 MB is reached with "), "{said}");
    let (leaking, other) = (said.find("-c leaked = byte"), said.find("faulty.py leaks"));
    assert!(
        leaking.is_some() && other.is_none_or(|other| leaking < Some(other)),
        "the largest is first: {said}"
    );
}

#[test]
fn answers_that_do_not_fit() {
    let said = failure("dimension");
    assert!(said.contains("its observation has 2 values, not 1; received: {\"observation\":[1,2]"), "{said}");
    let said = failure("nan");
    assert!(said.contains("JSON has no NaN and no infinity; received: {\"observation\":[NaN]"), "{said}");
    let said = failure("verdict");
    assert!(said.contains("unknown variant `done`, expected one of `running`"), "{said}");
    let said = failure("no-verdict");
    assert!(said.contains("\"verdict\" is missing"), "{said}");
    let said = failure("error");
    assert!(said.contains("it reports an error: the tank is empty"), "{said}");
}

#[test]
fn nan_in_a_binary_answer() {
    let folder = folder("nan-binary", 60);
    let output = broccoli(&folder, "solve", &["--no-check", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let error = json(&output)["error"].to_string();
    // Perhaps it was another number when it was first asked.
    let is_told = error.contains("the observation is NaN in dimension \\\"cell\\\" at step")
        || error.contains("Running before and [NaN] Running now");
    assert!(is_told, "{error}");
}

#[test]
fn children_of_the_program_end_with_it() {
    let said = failure("forks-crash");
    assert!(said.contains("it ended (exit status: 3) before it answered"), "{said}");
    let folder = folder("forks", 0);
    let output = broccoli(&folder, "solve", &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let pids = fs::read_to_string(folder.path().join("pids.txt")).expect("process numbers");
    assert!(pids.lines().count() >= 4, "two processes with a child each, not {pids:?}");
}

#[test]
fn a_flood_on_standard_error_stops_nothing() {
    let output = broccoli(&folder("chatty", 0), "solve", &["--no-check"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn a_system_that_is_not_deterministic_is_noticed_before_the_search() {
    let folder = folder("random", 3);
    let output = broccoli(&folder, "solve", &["--json"]);
    assert_eq!(output.status.code(), Some(1));
    let error = json(&output)["error"].to_string();
    assert!(error.contains("it breaks the promise that the same actions give the same bits"), "{error}");
    assert!(error.contains("from initial state"), "{error}");

    let output = broccoli(&folder, "check", &[]);
    let said = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("BROKEN  the same actions give the same bits"), "{said}");
    assert!(said.contains("after 1 action, the fewest that were found to show it"), "{said}");
}

#[test]
fn a_system_that_is_not_deterministic_is_noticed_during_the_search() {
    let folder = folder("random", 10);
    let output = broccoli(&folder, "solve", &["--json", "--no-check"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let error = json(&output)["error"].to_string();
    // Whoever notices first: the search, or what watches the program.
    assert!(error.contains("is not deterministic: "), "{error}");
}

#[test]
fn what_never_starts_is_exit_2() {
    for (mode, message) in [
        ("silent", "did not introduce itself: no answer within 1 s"),
        ("quits", "it ended (exit status: 1) before it answered; on standard error: no licence found"),
        ("future", "it speaks version 2 of the protocol, not 1"),
        ("no-actions", "missing field `actions`"),
        ("one-action", "it has 1 actions: from 2 to"),
        ("unknown-key", "unknown field `verdict`"),
    ] {
        let folder = folder(mode, 0);
        let output = broccoli(&folder, "solve", &[]);
        // The message is drawn in lines of a terminal's width.
        let said =
            stderr(&output).split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        assert_eq!(output.status.code(), Some(2), "{mode}: {said}");
        assert!(said.contains(message), "{mode}: {said}");
        assert!(said.contains(&format!("`python3 faulty.py {mode} 0`")), "{mode}: {said}");
    }
}

#[test]
fn every_process_must_introduce_itself_alike() {
    let folder = folder("different", 0);
    let output = broccoli(&folder, "check", &[]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stdout(&output).contains("introduces itself differently each time"), "{}", stdout(&output));
}

#[test]
fn a_program_that_does_not_exist_is_exit_2_and_relative_paths_start_at_the_file() {
    let folder = folder("good", 0);
    let path = folder.path().join("token.toml");
    let text = fs::read_to_string(&path).expect("the problem");
    for (command, code) in [
        ("[\"./no-such-program\"]", 2),
        ("[\"no-such-program-anywhere\"]", 2),
        ("[\"./faulty.py\", \"good\", \"0\"]", 0),
    ] {
        let python = "[\"python3\", \"faulty.py\", \"good\", \"0\"]";
        fs::write(&path, text.replace(python, command)).expect("the problem is written");
        let script = folder.path().join("faulty.py");
        let source = fs::read_to_string(&script).expect("the program");
        if !source.starts_with("#!") {
            fs::write(&script, format!("#!/usr/bin/env python3\n{source}")).expect("the program is written");
        }
        make_executable(&script);
        let output = broccoli(&folder, "solve", &[]);
        assert_eq!(output.status.code(), Some(code), "{command}: {}", stderr(&output));
        assert!(code == 0 || stderr(&output).contains("cannot be started in"), "{}", stderr(&output));
    }
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("the program is executable");
}

#[test]
fn suggest_fails_like_solve() {
    for mode in ["crash", "nan", "error", "garbage"] {
        // Within the short check, and behind it.
        for fault_at in [3, 1_500] {
            let output = broccoli(&folder(mode, fault_at), "suggest", &["--json"]);
            let said = stderr(&output);
            assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(1), ""), "{mode}: {said}");
            assert!(said.starts_with("error: "), "{mode}: {said}");
        }
    }
    let output = broccoli(&folder("quits", 0), "suggest", &[]);
    assert_eq!(output.status.code(), Some(2), "as solve and check");
}

/// The program that a result names is run for a report only if the user names it, too.
#[test]
fn a_report_runs_what_is_named() {
    let folder = folder("good", 0);
    let path = |name: &str| folder.path().join(name).to_str().expect("a path in UTF-8").to_owned();
    let (saved, page) = (path("best.json"), path("report.html"));
    broccoli(&folder, "solve", &["--save", &saved]);
    let report = |more: &[&str]| {
        let output = run(&[&["report", &saved], more, &["-o", &page]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        (stderr(&output), fs::read_to_string(&page).expect("the report"))
    };
    let (said, html) = report(&[]);
    assert!(said.contains("is run only if you name it, so the report shows no traces"), "{said}");
    assert!(html.contains("no traces are shown"));
    let (said, html) = report(&[&path("token.toml")]);
    assert_eq!(said, "");
    assert!(!html.contains("no traces are shown"));
}

//! Limits, signals, starts and `prove`: what a stopped command says, and with what exit code.

use crate::common::{json, run, stderr, stdout, transcript};
use insta::assert_snapshot;

/// More than any machine does in the time of these tests, with a first tree early on.
const LONG: [&str; 5] = ["solve", "mountain-car", "--depth", "4", "--json"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&LONG[..], more].concat()
}

#[test]
fn limits_end_a_search_with_exit_4() {
    for (more, reason) in [
        (&["--time-limit", "300ms"][..], "time limit"),
        (&["--query-limit", "2000"], "query limit"),
        (&["--memory-limit", "1MiB"], "memory limit"),
        (&["--first"], "first"),
        (&["--gap", "95%"], "gap"),
    ] {
        let output = run(&with(more));
        assert_eq!(output.status.code(), Some(4), "{reason}: {}", stdout(&output));
        assert_eq!(stderr(&output), "");
        let object = json(&output);
        assert_eq!(object["status"], "stopped");
        assert_eq!(object["stopped_by"], reason);
        let (value, bound) = (object["value"].as_u64(), object["bound"].as_u64().unwrap());
        assert!(value.is_none_or(|value| bound <= value), "{value:?}, {bound}");
        assert_eq!(value.is_some(), object["tree"].is_object());
    }
}

#[test]
fn the_same_query_limit_gives_the_same_result() {
    let limited = || {
        let mut object = json(&run(&with(&["--query-limit", "20000", "--threads", "1"])));
        object["seconds"] = 0.into();
        for moment in object["history"].as_array_mut().unwrap() {
            moment["seconds"] = 0.into();
        }
        assert_eq!(object["queries"], 20_000);
        assert_eq!(object["queries_confirming"], 0);
        object
    };
    assert_eq!(limited(), limited());
}

/// With too little memory for all answers those that have no room are asked again, and the answer is the same.
#[test]
fn what_is_remembered_keeps_within_the_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let problem =
        ["solve", "mountain-car", "--depth", "3", "--step", "0.12,0.01", "--json", "--threads", "1"];
    let whole = json(&run(&problem));
    let remembering = |name: &str, more: &[&str]| {
        let file = folder.path().join(name);
        let file = file.to_str().expect("a path in UTF-8");
        let output = run(&[&problem[..], &["--remember", file], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        (json(&output), stderr(&output))
    };
    let (all, said) = remembering("all", &[]);
    assert!(!said.contains("memory"), "{said}");
    let (some, said) = remembering("some", &["--memory-limit", "50MiB"]);
    assert!(
        said.contains("the memory for what is remembered is used up: nothing more is added to"),
        "{said}"
    );
    assert_eq!((&some["tree"], &all["tree"]), (&whole["tree"], &whole["tree"]));
    let queries = |result: &serde_json::Value| {
        let queries = result["queries"].as_u64().unwrap();
        queries + result["statistics"]["queries_replayed"].as_u64().unwrap()
    };
    assert!(queries(&some) > queries(&all), "{} and {} queries", queries(&some), queries(&all));
}

#[test]
fn what_a_person_reads() {
    let small = ["solve", "mountain-car", "--thresholds", "5"];
    let of = |more: &[&'static str]| transcript(&[&small[..], more].concat());
    assert_snapshot!(
        [
            of(&["--query-limit", "100"]),
            of(&["--query-limit", "5000"]),
            of(&["--first"]),
            of(&["--gap", "0.5"])
        ]
        .join("\n")
    );
}

#[test]
fn infeasible_states_are_named() {
    let alone = ["solve", "mountain-car", "--depth", "0", "--initial", "0.4,0.07", "--initial=-0.5,0"];
    assert_snapshot!(transcript(&alone));
    let object = json(&run(&[&alone[..], &["--json"]].concat()));
    assert_eq!(object["infeasible"]["alone"], serde_json::json!([1]));
    assert_eq!(object["infeasible"]["together"], serde_json::json!([]));
}

#[cfg(unix)]
mod signals {
    use std::io::Read;
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    use super::with;

    fn start(arguments: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_broccoli"));
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).stdin(Stdio::null());
        let child = command.spawn().expect("the command starts");
        std::thread::sleep(Duration::from_millis(700));
        child
    }

    fn send(child: &Child, signal: &str) {
        let status = Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(status.expect("there is kill").success());
    }

    /// The exit code and standard output of a command that must end soon.
    fn end(mut child: Child) -> (Option<i32>, String) {
        let mut text = String::new();
        let started = Instant::now();
        child.stdout.take().expect("a pipe").read_to_string(&mut text).expect("text");
        let status = child.wait().expect("it ends");
        assert!(started.elapsed() < Duration::from_secs(20));
        (status.code(), text)
    }

    #[test]
    fn the_first_signal_ends_the_search_with_what_is_known() {
        for signal in ["-INT", "-TERM"] {
            let child = start(&with(&[]));
            send(&child, signal);
            let (code, text) = end(child);
            assert_eq!(code, Some(4), "{signal}: {text}");
            let object: serde_json::Value = serde_json::from_str(&text).expect("a whole object");
            assert_eq!(object["stopped_by"], "interrupted");
            assert!(object["bound"].as_u64() > Some(1));
        }
    }

    /// `timeout` sends a signal to its command and, at the same time, to the command's group.
    #[test]
    fn a_signal_that_comes_twice_at_once_is_one() {
        let child = start(&with(&[]));
        let pid = child.id().to_string();
        let status = Command::new("kill").args(["-TERM", &pid, &pid]).status();
        assert!(status.expect("there is kill").success());
        let (code, text) = end(child);
        assert_eq!(code, Some(4), "{text}");
        let object: serde_json::Value = serde_json::from_str(&text).expect("a whole object");
        assert_eq!(object["stopped_by"], "interrupted");
    }

    /// After the first signal the command is stuck: nobody reads what it has to say, and that is more than
    /// a pipe holds.
    #[test]
    fn the_second_signal_does_not_wait() {
        let mut child = start(&with(&["--samples", "20000"]));
        send(&child, "-INT");
        std::thread::sleep(Duration::from_millis(700));
        assert_eq!(child.try_wait().expect("it is there"), None);
        send(&child, "-TERM");
        assert_eq!(child.wait().expect("it ends").code(), Some(130));
    }
}

/// What `solve --json` prints, in a file.
fn saved(directory: &tempfile::TempDir, name: &str, text: &str) -> String {
    let path = directory.path().join(name);
    std::fs::write(&path, text).expect("a file");
    path.to_str().expect("a path in UTF-8").to_owned()
}

#[test]
fn a_tree_to_start_from() {
    let directory = tempfile::tempdir().expect("a directory");
    let small = ["solve", "mountain-car", "--thresholds", "5", "--json"];
    let whole = run(&small);
    let path = saved(&directory, "best.json", &stdout(&whole));
    let whole = json(&whole);
    let again = json(&run(&[&small[..], &["--start", &path]].concat()));
    for key in ["status", "value", "bound", "size", "tree"] {
        assert_eq!(again[key], whole[key], "{key}");
    }
    let at_once = json(&run(&[&small[..], &["--start", &path, "--first"]].concat()));
    assert_eq!((&at_once["tree"], &at_once["stopped_by"]), (&whole["tree"], &"first".into()));

    for (more, message) in [
        (&["--depth", "1"][..], "the tree has depth 2, and the limit is 1"),
        (&["--nodes", "1"], "predicates, and the limit is 1"),
        (&["--thresholds", "4"], "is not one of the problem's"),
    ] {
        let small = if more[0] == "--thresholds" { &["solve", "mountain-car", "--json"][..] } else { &small };
        let output = run(&[small, more, &["--start", &path]].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
}

#[test]
fn proofs() {
    let directory = tempfile::tempdir().expect("a directory");
    let small = ["solve", "mountain-car", "--thresholds", "5", "--json"];
    let path = saved(&directory, "best.json", &stdout(&run(&small)));
    let leaf = saved(&directory, "leaf.json", r#"{"action":1}"#);
    let shown = |arguments: &[&str], code: i32| {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(code), "{}{}", stdout(&output), stderr(&output));
        let said = format!("exit {code}\n{}{}", crate::common::timeless(&stdout(&output)), stderr(&output));
        said.replace(directory.path().to_str().expect("a path in UTF-8"), "DIR")
    };
    assert_snapshot!(
        [
            shown(&["prove", &path], 0),
            shown(&["prove", &path, "mountain-car"], 0),
            shown(&["prove", &path, "mountain-car", "--step", "0.05,0.005"], 5),
            shown(&["prove", &path, "mountain-car", "--depth", "1"], 5),
            shown(&["prove", &leaf, "mountain-car", "--thresholds", "5"], 5),
            shown(&["prove", &leaf, "mountain-car", "--depth", "0"], 3),
            shown(&["prove", &path, "--query-limit", "110"], 4),
            shown(&["prove", &leaf], 2),
            shown(&["prove", &path, "--depth", "1"], 5),
            shown(&["prove", "nowhere.json"], 2),
        ]
        .join("\n")
    );
    let object = json(&run(&["prove", &path, "--json"]));
    assert_eq!(object["verdict"], "optimal");
    assert_eq!(object["value"], object["best"]["value"]);
}

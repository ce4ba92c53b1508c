//! `broccoli simulate`: round trips with `solve`, traces, and files that are not what they should be.

use std::path::Path;

use crate::common::{broccoli, json, report, run, stderr, stdout};
use insta::assert_snapshot;
use tempfile::TempDir;

const TREE: &str = r#"{"feature":0,"name":"position","threshold":-0.45,
  "true":{"feature":1,"name":"velocity","threshold":0.01,"true":{"action":1,"name":"right"},"false":{"action":0,"name":"left"}},
  "false":{"feature":1,"name":"velocity","threshold":-0.005,"true":{"action":1},"false":{"action":0}}}"#;

/// Runs `broccoli simulate mountain-car tree.json …` in a directory where that file holds `text`.
fn simulate(text: impl AsRef<[u8]>, more: &[&str]) -> (TempDir, std::process::Output) {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("tree.json"), text).expect("a file");
    let arguments = [&["simulate", "mountain-car", "tree.json"], more].concat();
    let output = broccoli(&arguments).current_dir(directory.path()).output().expect("the command runs");
    (directory, output)
}

fn said(text: &str, more: &[&str]) -> String {
    report(&[&["simulate", "mountain-car", "tree.json"], more].concat(), &simulate(text, more).1)
}

fn solved(arguments: &[&str]) -> String {
    stdout(&run(&[&["solve"], arguments, &["--json"]].concat()))
}

#[test]
fn a_solved_tree_does_what_was_claimed() {
    for arguments in [
        &["mountain-car"][..],
        &["mountain-car", "--depth", "1", "--samples", "5", "--seed", "3"],
        &["mountain-car", "--depth", "1", "--initial", "-0.51,0", "--initial=-0.45,0", "--horizon", "300"],
    ] {
        let text = solved(arguments);
        let result: serde_json::Value = serde_json::from_str(&text).unwrap();
        let (_directory, output) = simulate(&text, &["--json"]);
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(stderr(&output), "");
        let object = json(&output);
        for key in ["value", "size", "depth", "tree", "objective"] {
            assert_eq!(object[key], result[key], "{key}");
        }
        assert_eq!(object["horizon"], result["problem"]["horizon"]);
        let starts: Vec<_> =
            object["runs"].as_array().unwrap().iter().map(|run| run["initial"].clone()).collect();
        assert_eq!(serde_json::Value::from(starts), result["problem"]["initial_states"]);
    }
}

#[test]
fn cartpole_survives_as_claimed() {
    let output =
        broccoli(&["simulate", "cartpole", "-"]).write_stdin(solved(&["cartpole"])).output().unwrap();
    assert_snapshot!(report(&["simulate", "cartpole", "-"], &output));
}

#[test]
fn a_tree_alone_runs_with_the_defaults() {
    assert_snapshot!(
        [
            said(TREE, &[]),
            said(TREE, &["--initial", "-0.51,0", "--initial=-0.4,0", "--initial", "0.55, 0"]),
            said(TREE, &["--samples", "2", "--seed", "7", "--horizon", "110"]),
            said(r#"{"action":0}"#, &["--horizon", "1"]),
            said(TREE, &["--initial", "-0.51,0", "--json"]),
        ]
        .join("\n")
    );
}

#[test]
fn options_override_the_file() {
    let text = solved(&["mountain-car", "--depth", "1", "--samples", "3"]);
    let (_directory, output) = simulate(&text, &["--initial", "-0.51,0", "--horizon", "50", "--json"]);
    let object = json(&output);
    assert_eq!((object["horizon"].as_u64(), object["runs"].as_array().unwrap().len()), (Some(50), 1));
    assert!(object["value"].is_null());
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
}

#[test]
fn traces() {
    let (directory, output) = simulate(TREE, &["--trace", "trace.csv", "--horizon", "3"]);
    assert_eq!(output.status.code(), Some(0));
    assert_snapshot!(std::fs::read_to_string(directory.path().join("trace.csv")).unwrap());
    assert_snapshot!(said(
        TREE,
        &["--trace", "-", "--initial", "0.6,0", "--initial", "-0.5,0", "--horizon", "2"]
    ));
}

#[test]
fn traces_that_cannot_be_written() {
    assert_snapshot!(
        [
            said(TREE, &["--trace", "-", "--json"]),
            said(TREE, &["--trace", "tree.json"]),
            said(TREE, &["--trace", "missing/trace.csv"]),
        ]
        .join("\n")
    );
}

#[test]
#[cfg(target_os = "linux")]
fn traces_on_a_full_disk_or_to_nobody() {
    let (_directory, output) = simulate(TREE, &["--trace", "/dev/full"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("cannot write to --trace: No space left"), "{}", stderr(&output));
    let (directory, _) = simulate(TREE, &[]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_broccoli"));
    let arguments = ["simulate", "mountain-car", "tree.json", "--trace", "-", "--samples", "1000"];
    let output = command.current_dir(directory.path()).args(arguments).stdout(writer).output().unwrap();
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
}

/// What a file that is no tree is answered: exit 2 and one message.
fn refused(text: &str) -> String {
    let (_directory, output) = simulate(text, &[]);
    assert_eq!(output.status.code(), Some(2), "{text}: {}", stderr(&output));
    assert!(output.stdout.is_empty());
    stderr(&output)
}

#[test]
fn hand_edited_trees() {
    let cases = [
        ("empty", String::new()),
        ("an array", format!("[{TREE}]")),
        ("a string", "\"right\"".to_owned()),
        ("deep brackets", "[".repeat(100_000)),
        ("a deep tree", r#"{"feature":0,"threshold":0,"false":{"action":0},"true":"#.repeat(100_000)),
        ("text after it", format!("{TREE} x")),
        ("unknown field", r#"{"action":0,"colour":"green"}"#.to_owned()),
        ("repeated field", r#"{"action":0,"action":1}"#.to_owned()),
        ("missing field", r#"{"feature":0,"true":{"action":0},"false":{"action":1}}"#.to_owned()),
        ("no field", "{}".to_owned()),
        ("leaf and predicate", r#"{"action":0,"feature":0,"threshold":1}"#.to_owned()),
        ("wrong name", TREE.replacen("\"right\"", "\"forward\"", 1)),
        ("names swapped", TREE.replacen("\"velocity\"", "\"position\"", 1)),
        ("action out of range", TREE.replacen("\"action\":1}", "\"action\":2}", 1)),
        (
            "feature out of range",
            r#"{"feature":2,"threshold":0,"true":{"action":0},"false":{"action":1}}"#.to_owned(),
        ),
        ("negative index", r#"{"action":-1}"#.to_owned()),
        ("fractional index", r#"{"action":0.5}"#.to_owned()),
        ("huge index", r#"{"action":18446744073709551616}"#.to_owned()),
        ("NaN threshold", TREE.replacen("0.01", "NaN", 1)),
        ("huge threshold", TREE.replacen("0.01", "1e999", 1)),
        ("null threshold", TREE.replacen("0.01", "null", 1)),
        ("text threshold", TREE.replacen("0.01", "\"0.01\"", 1)),
    ];
    assert_snapshot!(cases.map(|(what, text)| format!("# {what}\n{}", refused(&text))).join("\n"));
}

#[test]
fn a_truncated_file_is_refused_wherever_it_ends() {
    let whole = solved(&["mountain-car", "--depth", "1", "--thresholds", "3"]);
    let whole = whole.trim_end();
    for end in (0..whole.len()).step_by(37).chain([whole.len() - 1]) {
        let message = refused(&whole[..end]);
        assert!(message.contains("truncated") || message.contains("it is empty"), "{end}: {message}");
    }
}

#[test]
fn hand_edited_results() {
    let whole = solved(&["mountain-car", "--depth", "1", "--thresholds", "3"]);
    let edit = |from: &str, to: &str| {
        assert!(whole.contains(from), "{from} is not in {whole}");
        whole.replacen(from, to, 1)
    };
    let cases = [
        ("infeasible", solved(&["mountain-car", "--depth", "0"])),
        ("another environment", solved(&["cartpole", "--depth", "0"])),
        ("version", edit("\"version\":1", "\"version\":2")),
        ("version as text", edit("\"version\":1", "\"version\":\"1\"")),
        ("unknown status", edit("\"optimal\"", "\"great\"")),
        ("unknown field in the problem", edit("\"horizon\":", "\"horison\":")),
        ("unknown field in the tree", edit("\"threshold\":", "\"treshold\":")),
        ("no problem", r#"{"version":1,"tree":{"action":0}}"#.to_owned()),
        ("horizon 0", edit("\"horizon\":10000", "\"horizon\":0")),
        (
            "another dimension",
            edit("\"name\":\"velocity\",\"thresholds\"", "\"name\":\"speed\",\"thresholds\""),
        ),
        (
            "a value too many",
            edit("\"initial_states\":[[-0.51,0.0]]", "\"initial_states\":[[-0.51,0.0,1.0]]"),
        ),
        ("an action's name", edit("\"name\":\"left\",\"value\"", "\"name\":\"back\",\"value\"")),
        ("an action's value", edit("\"name\":\"left\",\"value\":0.0", "\"name\":\"left\",\"value\":1.5")),
        ("no initial state", edit("\"initial_states\":[[-0.51,0.0]]", "\"initial_states\":[]")),
    ];
    // The column depends on the counts and the time in the result.
    let placeless = |message: String| -> String {
        message
            .lines()
            .map(|line| format!("{}\n", line.split(" at line 1 column").next().unwrap_or(line)))
            .collect()
    };
    let messages = cases.map(|(what, text)| format!("# {what}\n{}", placeless(refused(&text))));
    assert_snapshot!(messages.join("\n"));
}

#[test]
fn a_false_claim_is_noticed() {
    let text = solved(&["mountain-car", "--depth", "1"]).replacen("\"value\":125", "\"value\":99", 1);
    assert_snapshot!(said(&text, &[]));
}

#[test]
fn a_failing_system() {
    let tree = r#"{"action":0}"#;
    let arguments = ["simulate", "cartpole", "-", "--initial", "0,0,0,0", "--initial", "0,0,0,1e200"];
    let with = |more: &[&str]| {
        let arguments = [&arguments[..], more].concat();
        report(&arguments, &broccoli(&arguments).write_stdin(tree).output().unwrap())
    };
    assert_snapshot!([with(&[]), with(&["--json"])].join("\n"));
}

#[test]
fn files_that_cannot_be_read() {
    let (_directory, output) = simulate([0xff, 0xfe, b'{'], &[]);
    let messages = [
        stderr(&run(&["simulate", "mountain-car", "no-such-file.json"])),
        stderr(&output),
        stderr(&run(&["simulate", "mountain-car"])),
    ];
    assert_snapshot!(messages.join("\n"));
    let directory = run(&["simulate", "mountain-car", Path::new("/").to_str().unwrap()]);
    assert_eq!(directory.status.code(), Some(2));
}

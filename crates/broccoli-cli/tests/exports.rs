//! `broccoli export` and `broccoli report`: what they write, and what they refuse.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{run, stderr, stdout, transcript};
use tempfile::TempDir;

/// A folder with `result.json`, the saved result of a small search.
fn saved() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let result = folder.path().join("result.json");
    let output = run(&["solve", "mountain-car", "--save", text(&result)]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    (folder, result)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

#[test]
fn the_name_of_the_output_says_the_format() {
    let (folder, result) = saved();
    let beginnings: [(&str, &[u8]); 12] = [
        ("tree.txt", b"Decision tree for mountain-car"),
        ("tree.json", b"{\n  \"feature\": 0"),
        ("tree.dot", b"// Decision tree for mountain-car"),
        ("tree.svg", b"<svg "),
        ("tree.png", b"\x89PNG"),
        ("tree.tex", b"% Decision tree for mountain-car"),
        ("tree.c", b"/*\n * Decision tree for mountain-car"),
        ("tree.rs", b"// Decision tree for mountain-car"),
        ("tree.py", b"# -*- coding: utf-8 -*-\n# Decision tree for mountain-car"),
        ("tree.st", b"(*\n  Decision tree for mountain-car"),
        ("tree.onnx", b"\x08\x08\x12\x08broccoli"),
        ("TREE.SVG", b"<svg "),
    ];
    for (name, beginning) in beginnings {
        let file = folder.path().join(name);
        let output = run(&["export", text(&result), "-o", text(&file)]);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", stderr(&output));
        assert!(fs::read(&file).expect("a file").starts_with(beginning), "{name}");
    }
}

#[test]
fn a_tree_goes_round_through_export_and_simulate() {
    let (folder, result) = saved();
    let tree = folder.path().join("tree.json");
    assert!(run(&["export", text(&result), "-o", text(&tree)]).status.success());
    let output = run(&["simulate", "mountain-car", text(&tree)]);
    assert!(stdout(&output).contains("reaches the goal in 104 steps"), "{}", stdout(&output));
}

#[test]
fn whether_an_answer_can_be_written_is_known_before_the_search() {
    let folder = tempfile::tempdir().expect("a folder");
    let nowhere = folder.path().join("no/such/folder");
    // The search itself would take longer than anybody waits.
    let long = ["solve", "pendulum", "--depth", "6"];
    for (option, path) in [("--save", &*nowhere), ("--report", &*nowhere), ("--save", folder.path())] {
        let output = run(&[&long[..], &[option, text(path)]].concat());
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        let said = stderr(&output);
        assert!(said.contains(&format!("{option} {path:?} cannot be written: ")), "{said}");
    }
    // What is there stays there, and nothing new is left behind.
    let kept = folder.path().join("kept.json");
    fs::write(&kept, "kept").expect("a file");
    let new = folder.path().join("new.html");
    let output =
        run(&[&long[..], &["--save", text(&kept), "--report", text(&new), "--start", "nowhere.json"]]
            .concat());
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert_eq!(fs::read(&kept).expect("a file"), b"kept");
    let output = run(&["solve", "mountain-car", "--checkpoint", text(&nowhere), "--report", text(&new)]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(!new.exists() && fs::read(&kept).expect("a file") == b"kept");
}

#[test]
fn what_cannot_be_exported() {
    let (folder, result) = saved();
    let infeasible = folder.path().join("infeasible.json");
    assert_eq!(
        run(&["solve", "mountain-car", "--depth", "0", "--save", text(&infeasible)]).status.code(),
        Some(3)
    );
    let alone = folder.path().join("alone.json");
    fs::write(&alone, r#"{"action":0}"#).expect("a file");
    let commands: [&[&str]; 8] = [
        &["export", text(&result)],
        &["export", text(&result), "-o", "tree.doc"],
        &["export", text(&result), "-f", "cobol"],
        &["export", text(&result), "-f", "c", "--fraction-bits", "8"],
        &["export", text(&result), "-f", "c-fixed", "--fraction-bits", "32"],
        &["export", text(&infeasible), "-f", "c"],
        &["export", text(&alone), "-f", "c"],
        &["export", text(&result), "-f", "json", "-o", text(&result)],
    ];
    let shown = commands.map(transcript).join("\n");
    insta::assert_snapshot!(shown.replace(text(folder.path()), "FOLDER"));
}

#[test]
fn fixed_point_thresholds_that_collapse_are_an_error() {
    let (folder, result) = saved();
    let source = fs::read_to_string(&result).expect("a file").replace("-0.005", "0.0099");
    // Two thresholds of one dimension now lie between two multiples of 1/16.
    let close = folder.path().join("close.json");
    fs::write(&close, source).expect("a file");
    let output = run(&["export", text(&close), "-f", "c-fixed", "--fraction-bits", "4"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("become equal with 4 fraction bits: use more"), "{}", stderr(&output));
    let output = run(&["export", text(&close), "-f", "c-fixed"]);
    assert!(stdout(&output).contains("if (x_velocity >= 649)"), "{}", stdout(&output));
}

#[test]
fn a_saved_result_holds_what_a_report_needs() {
    let (_folder, result) = saved();
    let saved: serde_json::Value = serde_json::from_slice(&fs::read(&result).expect("a file")).expect("JSON");
    assert_eq!(saved["command"], serde_json::json!(["broccoli", "solve", "mountain-car"]));
    let history = saved["history"].as_array().expect("a list");
    let last = |key: &str| history.iter().rfind(|moment| moment.get(key).is_some()).map(|m| m[key].clone());
    assert_eq!(last("value"), Some(104.into()));
    assert!(last("bound").is_some());
    let queries: Vec<u64> = history.iter().filter_map(|moment| moment["queries"].as_u64()).collect();
    assert!(queries.is_sorted() && queries.len() == history.len());
    assert!(queries.last() <= saved["queries"].as_u64().as_ref());
}

#[test]
fn a_report_of_every_status() {
    let folder = tempfile::tempdir().expect("a folder");
    let (result, report) = (folder.path().join("result.json"), folder.path().join("report.html"));
    let reported = |source: &str| {
        fs::write(&result, source).expect("a file");
        let output = run(&["report", text(&result), "-o", text(&report)]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let html = fs::read_to_string(&report).expect("a file");
        let headline = html.split("<h1>").nth(1).and_then(|rest| rest.split("</h1>").next());
        headline.expect("a headline").to_owned()
    };
    let optimal = stdout(&run(&["solve", "mountain-car", "--samples", "5", "--json"]));
    let infeasible = stdout(&run(&["solve", "mountain-car", "--depth", "0", "--horizon", "100", "--json"]));
    let perfect = stdout(&run(&["solve", "cartpole", "--horizon", "50", "--json"]));
    let stopped = optimal
        .replace("\"optimal\"", "\"stopped\"")
        .replace("\"bound\":94,\"size\"", "\"bound\":60,\"size\"");
    let headlines = [&optimal, &infeasible, &perfect, &stopped].map(|source| reported(source));
    insta::assert_snapshot!(headlines.join("\n"));
}

#[test]
fn a_horizon_longer_than_memory_is_shown_in_part() {
    let (folder, result) = saved();
    let source = fs::read_to_string(&result).expect("a file");
    fs::write(&result, source.replace("\"horizon\":10000,", "\"horizon\":1000000000000,")).expect("a file");
    let report = folder.path().join("report.html");
    let output = run(&["report", text(&result), "-o", text(&report)]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let html = fs::read_to_string(&report).expect("a file");
    assert!(html.contains("runs are shown for 1,000,000 steps at most"));
}

#[test]
fn a_system_that_fails_has_a_report_without_traces() {
    let folder = tempfile::tempdir().expect("a folder");
    let (result, report) = (folder.path().join("result.json"), folder.path().join("report.html"));
    let source = stdout(&run(&["solve", "cartpole", "--depth", "1", "--json"]));
    fs::write(&result, source.replace("[[0.013,-0.02,0.047,0.025]]", "[[0,0,0,1e200]]")).expect("a file");
    let output = run(&["report", text(&result), "-o", text(&report)]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let html = fs::read_to_string(&report).expect("a file");
    assert!(html.contains("the system failed: the observation is NaN in dimension &quot;x_dot&quot;"));
}

#[test]
fn what_cannot_be_reported() {
    let (folder, result) = saved();
    let source = fs::read_to_string(&result).expect("a file");
    let other = folder.path().join("other.json");
    let commands: [&[&str]; 4] = [
        &["report", text(&result)],
        &["report", "no-such-file.json", "-o", "report.html"],
        &["report", text(&result), "-o", text(&result)],
        &["report", text(&result), "-o", "no-such-folder/report.html"],
    ];
    let shown = commands.map(transcript).join("\n");
    insta::assert_snapshot!(shown.replace(text(folder.path()), "FOLDER"));
    // A result about a system of that name with other actions is refused, not run.
    fs::write(&other, source.replace("mountain-car", "cartpole")).expect("a file");
    let output = run(&["report", text(&other), "-o", text(&folder.path().join("report.html"))]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("its action \"right\" has the value 2, not 1"), "{}", stderr(&output));
}

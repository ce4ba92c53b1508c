//! Problem files on the command line: `init`, what flags override, and what is shown of a mistake.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{broccoli, json, run, stderr, stdout};
use insta::assert_snapshot;
use tempfile::TempDir;

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

#[test]
fn what_init_writes_can_be_solved_at_once() {
    let folder = TempDir::new().expect("a folder");
    for (file, flags) in [
        ("program.toml", &["--subprocess"][..]),
        ("plugin.toml", &["--plugin"]),
        ("swing.toml", &["--environment", "pendulum"]),
        ("plain.toml", &[]),
    ] {
        let path = folder.path().join(file);
        let output = run(&[&["init", text(&path)], flags].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(stdout(&output).contains("\nNext: "), "{}", stdout(&output));
        if file == "plugin.toml" {
            let mut cc = Command::new("cc");
            cc.args([
                "-Wall",
                "-Wextra",
                "-Werror",
                "-shared",
                "-fPIC",
                "-o",
                "plugin.so",
                "plugin.c",
                "-lm",
            ]);
            assert!(cc.current_dir(folder.path()).status().expect("a C compiler").success());
        }
        let output = run(&["solve", text(&path), "--json"]);
        assert_eq!(output.status.code(), Some(0), "{file}: {}", stderr(&output));
        if flags == ["--subprocess"] || flags == ["--plugin"] {
            assert_eq!(json(&output)["value"], 14, "{file}");
        }
        let output = run(&[&["init", text(&path)], flags].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("is there already, and nothing was written"), "{}", stderr(&output));
    }
    for (arguments, message) in [
        (["init", "plant.txt", "--plugin"], "the name of a problem file ends in .toml"),
        (["init", "x.toml", "--environment=pendulums"], "did you mean \"pendulum\"?"),
        (["init", "/no/such/folder/x.toml", "--subprocess"], "cannot be written"),
    ] {
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(message), "{arguments:?}: {}", stderr(&output));
    }
    let schema = run(&["init", "--schema"]);
    assert_eq!(json(&schema)["title"], "A problem file of Broccoli");
}

#[test]
fn flags_override_the_file() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("car.toml");
    let file = "[system]\nenvironment = \"mountain-car\"\n\
        [predicates]\nposition = { low = -1.2, high = 0.6, step = 0.18 }\nvelocity = [0]\n\
        [initial]\nstates = [[-0.51, 0]]\nranges = [[-0.6, -0.5], [0, 0]]\n\
        [objective]\nkind = \"reach\"\nhorizon = 400\n[tree]\ndepth = 2\nnodes = 2\n\
        [search]\nengine = \"backtracking\"\n";
    fs::write(&path, file).expect("a file");
    let problem = |flags: &[&str]| {
        let output = run(&[&["solve", text(&path), "--json"], flags].concat());
        assert!(matches!(output.status.code(), Some(0 | 3)), "{flags:?}: {}", stderr(&output));
        json(&output)
    };
    let given = problem(&[]);
    assert_eq!(given["engine"], "backtracking");
    assert_eq!(given["problem"]["horizon"], 400);
    assert_eq!(given["problem"]["nodes"], 2);
    assert_eq!(given["problem"]["dimensions"][1]["thresholds"], serde_json::json!([0.0]));
    let other = problem(&[
        "--depth",
        "1",
        "--horizon",
        "300",
        "--engine",
        "behaviour",
        "--samples",
        "3",
        "--thresholds",
        "4",
    ]);
    assert_eq!(other["engine"], "behaviour");
    assert_eq!((&other["problem"]["depth"], &other["problem"]["nodes"]), (&1.into(), &1.into()));
    assert_eq!(other["problem"]["horizon"], 300);
    let states = other["problem"]["initial_states"].as_array().expect("states");
    assert!(
        states.len() == 3 && states.iter().all(|s| (-0.6..-0.5).contains(&s[0].as_f64().expect("a number")))
    );
    assert_eq!(other["problem"]["dimensions"][0]["thresholds"].as_array().map(Vec::len), Some(4));
    let other = problem(&["--initial", "-0.45,0", "--step", "0.3,0.02"]);
    assert_eq!(other["problem"]["initial_states"], serde_json::json!([[-0.45, 0.0]]));
}

#[test]
fn mistakes_are_shown_where_they_are() {
    let folder = TempDir::new().expect("a folder");
    let show = |text: &str, arguments: &[&str]| {
        fs::write(folder.path().join("plant.toml"), text).expect("a file");
        let output = broccoli(arguments).current_dir(folder.path()).output().expect("the command runs");
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(output.stdout.is_empty());
        let said = stderr(&output);
        assert!(said.starts_with("error: "), "{said}");
        said
    };
    let car = "[system]\nenvironment = \"mountain-car\"\n\n[tree]\ndeph = 2\n";
    let mut all = show(car, &["solve", "plant.toml"]);
    all += &show(
        "[system]\nenvironment = \"mountain-car\"\n[initial]\nstates = [[1, 2, 3]]\n",
        &["check", "plant.toml"],
    );
    all += &show("[system\n", &["simulate", "plant.toml", "tree.json"]);
    all += &show("", &["solve", "other.toml"]);
    assert_snapshot!(all);
}

/// The problem file that a report offers gives the answer of the result.
#[test]
fn a_result_as_a_problem_file_has_the_same_answer() {
    let folder = TempDir::new().expect("a folder");
    for arguments in [
        &["mountain-car", "--samples", "3", "--step", "0.1,0.01"][..],
        &["cartpole", "--thresholds", "7", "--depth", "1", "--horizon", "300"],
        &["pendulum", "--nodes", "2"],
    ] {
        let saved = json(&run(&[&["solve", "--json"], arguments].concat()));
        let problem = serde_json::from_value(saved["problem"].clone()).expect("the problem of a result");
        let path = folder.path().join("again.toml");
        fs::write(&path, broccoli_export::problem_file::toml(&problem)).expect("written");
        let again = json(&run(&["solve", text(&path), "--json"]));
        for key in ["status", "value", "size", "tree", "problem"] {
            assert_eq!(again[key], saved[key], "{arguments:?}: {key}");
        }
    }
}

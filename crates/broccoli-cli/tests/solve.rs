//! `broccoli solve`: known answers, exit codes, the JSON object, minus signs.

use crate::common::{broccoli, json, report, run, stderr, stdout, transcript};
use insta::assert_snapshot;

#[test]
fn mountain_car_needs_no_flag() {
    assert_snapshot!(transcript(&["solve", "mountain-car"]));
}

#[test]
fn the_json_object() {
    assert_snapshot!(transcript(&["solve", "mountain-car", "--json"]));
}

#[test]
fn cartpole_is_the_papers() {
    let object = json(&run(&["solve", "cartpole", "--json"]));
    assert_eq!(
        (&object["status"], &object["value"], &object["size"]),
        (&"optimal".into(), &3082.into(), &3.into())
    );
    assert_eq!(object["objective"], "survive");
}

#[test]
fn infeasible_is_exit_3() {
    assert_snapshot!(transcript(&["solve", "mountain-car", "--depth", "1", "--step", "0.36,0.028"]));
    let output = run(&["solve", "mountain-car", "--depth", "0", "--json"]);
    assert_eq!(output.status.code(), Some(3));
    let object = json(&output);
    assert_eq!(object["status"], "infeasible");
    for key in ["value", "bound", "size", "depth", "tree"] {
        assert!(object[key].is_null(), "{key} is not null");
    }
}

#[test]
fn a_failing_system_is_exit_1_with_an_object() {
    let arguments = ["solve", "cartpole", "--thresholds", "1", "--initial", "0,0,0,1e200"];
    assert_snapshot!(
        [transcript(&arguments), transcript(&[&arguments[..], &["--json"]].concat())].join("\n")
    );
}

#[test]
fn several_initial_states() {
    let several = ["solve", "mountain-car", "--thresholds", "5", "--samples", "3", "--seed", "7"];
    assert_snapshot!(transcript(&several));
    let survive =
        ["solve", "cartpole", "--depth", "1", "--thresholds", "3", "--samples", "2", "--horizon", "8"];
    assert_snapshot!(transcript(&survive));
}

#[test]
fn the_goal_at_the_start() {
    assert_snapshot!(transcript(&["solve", "pendulum", "--initial", "0,0"]));
}

#[test]
fn engines_agree() {
    let base = ["solve", "mountain-car", "--thresholds", "3", "--depth", "2", "--horizon", "500", "--json"];
    let with = |more: &[&str]| json(&run(&[&base[..], more].concat()));
    let engines = [
        with(&[]),
        with(&["--engine", "backtracking"]),
        with(&["--no-pruning"]),
        with(&["--engine", "backtracking", "--no-pruning"]),
        with(&["--engine", "exhaustive"]),
    ];
    for object in &engines {
        for key in ["status", "value", "size", "bound"] {
            assert_eq!(object[key], engines[0][key], "{key}");
        }
    }
    assert_eq!(
        engines.each_ref().map(|object| object["engine"].as_str().unwrap()),
        ["behaviour", "backtracking", "backtracking", "backtracking", "exhaustive"]
    );
    assert_eq!(engines[2]["problem"]["pruning"], false);
    assert!(engines[4]["problem"].get("pruning").is_none());
}

#[test]
fn numbers_that_begin_with_a_minus_sign() {
    let base = ["solve", "mountain-car", "--depth", "1", "--thresholds", "3", "--json"];
    let states = |more: &[&str]| {
        let output = run(&[&base[..], more].concat());
        assert!(output.stderr.is_empty(), "{}", stderr(&output));
        json(&output)["problem"]["initial_states"].to_string()
    };
    for way in [
        &["--initial", "-0.51,0"][..],
        &["--initial=-0.51,0"],
        &["--initial", "-0.51, 0"],
        &["--initial= -0.51,0"],
    ] {
        assert_eq!(states(way), "[[-0.51,0.0]]");
    }
    assert_eq!(states(&["--initial", "-.5,-1e-3", "--initial=-0.4,0"]), "[[-0.5,-0.001],[-0.4,0.0]]");
}

/// A result holds everything needed to run it again: the same options give the same object.
#[test]
fn sampled_states_are_reproducible() {
    let arguments = ["solve", "pendulum", "--depth", "1", "--thresholds", "3", "--samples", "4", "--json"];
    let seeded = [&arguments[..], &["--seed", "0"]].concat();
    assert_eq!(json(&run(&arguments))["problem"], json(&run(&seeded))["problem"]);
    let other = [&arguments[..], &["--seed", "1"]].concat();
    assert_ne!(json(&run(&arguments))["problem"], json(&run(&other))["problem"]);
    let first_two = [&arguments[..], &["--samples", "2"]].concat();
    assert_ne!(run(&first_two).status.code(), Some(0), "an option is given once");
}

#[test]
fn progress_is_silent_unless_forced_and_leaves_standard_output_alone() {
    let output = run(&["solve", "pendulum", "--json"]);
    assert_eq!(stderr(&output), "");
    let output = run(&["solve", "pendulum", "--json", "--progress"]);
    assert_eq!(json(&output)["value"], 46);
    assert!(stderr(&output).lines().all(|line| line.starts_with("size ")), "{}", stderr(&output));
}

#[test]
fn help_and_version() {
    assert_snapshot!(transcript(&["--version"]));
    assert_snapshot!(transcript(&["--help"]));
    assert_snapshot!(transcript(&["solve", "--help"]));
    assert_snapshot!(transcript(&["solve", "-h"]));
    assert_snapshot!(transcript(&["simulate", "--help"]));
    assert_snapshot!("prove", transcript(&["prove", "--help"]));
    assert_snapshot!("resume", transcript(&["resume", "--help"]));
    assert_snapshot!("verify", transcript(&["verify", "--help"]));
    assert_snapshot!(transcript(&["environments", "--help"]));
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_told() {
    let full = || std::fs::File::options().write(true).open("/dev/full").unwrap();
    for arguments in
        [&["environments"][..], &["solve", "mountain-car", "--depth", "0", "--json"], &["--help"]]
    {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_broccoli"));
        let output = command.args(arguments).stdout(full()).output().unwrap();
        let said = report(arguments, &output);
        assert!(said.contains("! error: cannot write to standard output: No space left"), "{said}");
        assert_eq!(output.status.code(), Some(1));
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    for arguments in
        [&["environments"][..], &["solve", "mountain-car", "--depth", "0", "--json"], &["--help"]]
    {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_broccoli"));
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = command.args(arguments).stdout(writer).output().unwrap();
        assert_eq!(stderr(&output), "");
        assert!(matches!(output.status.code(), Some(0 | 3)), "{:?}", output.status);
    }
}

#[test]
fn json_comes_alone_on_standard_output() {
    let output = broccoli(&["solve", "mountain-car", "--depth", "1", "--json"]).output().unwrap();
    assert_eq!(stdout(&output).lines().count(), 1);
    assert!(stdout(&output).ends_with("}\n"));
}

//! `broccoli solve --refine`.

use std::fs;

use crate::common::{json, run, stderr, stdout, transcript};
use insta::assert_snapshot;
use serde_json::Value;

fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().expect("a list").iter().map(|number| number.as_f64().expect("a number")).collect()
}

/// The predicates of a tree, each a dimension and a threshold.
fn predicates(tree: &Value) -> Vec<(usize, f64)> {
    let Some(feature) = tree["feature"].as_u64() else { return Vec::new() };
    let mut all = vec![(feature as usize, tree["threshold"].as_f64().expect("a threshold"))];
    all.extend(predicates(&tree["true"]));
    all.extend(predicates(&tree["false"]));
    all
}

#[test]
fn a_summary_with_its_stages() {
    let text = transcript(&["solve", "mountain-car", "--thresholds", "9", "--refine=2"]);
    // The counts are the engine's own business.
    let cut = |line: &str| match line.split_once("optimal") {
        Some((before, after)) => {
            let words: Vec<&str> = after.split_whitespace().collect();
            format!("{before}optimal {} …\n", words[..words.len() - 1].join(" "))
        }
        None => format!("{line}\n"),
    };
    assert_snapshot!(text.lines().map(cut).collect::<String>());
}

#[test]
fn every_grid_holds_the_one_before_and_no_value_gets_worse() {
    for (name, reach, options) in [
        ("mountain-car", true, &["--thresholds", "9"][..]),
        ("pendulum", true, &["--thresholds", "9", "--samples", "3"]),
        ("cartpole", false, &["--thresholds", "4", "--horizon", "2000"]),
        ("bouncing-ball", false, &["--thresholds", "3", "--samples", "5"]),
    ] {
        let arguments = [&["solve", name, "--refine=3", "--json"], options].concat();
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", stderr(&output));
        let result = json(&output);
        let stages = result["stages"].as_array().expect("stages");
        assert!((2..=4).contains(&stages.len()), "{name}");
        let mut queries = 0;
        for (number, stage) in stages.iter().enumerate() {
            assert_eq!(stage["status"], "optimal", "{name}");
            assert_eq!(stage["bound"], stage["value"], "{name}");
            queries += stage["queries"].as_u64().expect("queries");
            for (dimension, threshold) in predicates(&stage["tree"]) {
                assert!(numbers(&stage["thresholds"][dimension]).contains(&threshold), "{name}");
            }
            let Some(before) = number.checked_sub(1).map(|before| &stages[before]) else { continue };
            let key = |stage: &Value| {
                let (value, size) = (stage["value"].as_i64().unwrap(), stage["size"].as_i64().unwrap());
                (if reach { value } else { -value }, size)
            };
            assert!(key(stage) <= key(before), "{name}: {stage} after {before}");
            // The last one may be no better; those before it are.
            assert!(number + 1 == stages.len() || key(stage) < key(before), "{name}");
            let mut added = 0;
            for (coarse, fine) in
                before["thresholds"].as_array().unwrap().iter().zip(stage["thresholds"].as_array().unwrap())
            {
                let (coarse, fine) = (numbers(coarse), numbers(fine));
                assert!(coarse.iter().all(|threshold| fine.contains(threshold)), "{name}");
                added += fine.len() - coarse.len();
            }
            assert!((1..=2 * predicates(&before["tree"]).len()).contains(&added), "{name}: {added} more");
        }
        // The whole is the last stage, with the queries of all.
        let last = &stages[stages.len() - 1];
        for key in ["status", "value", "bound", "size", "tree"] {
            assert_eq!(result[key], last[key], "{name}: {key}");
        }
        assert_eq!(result["queries"], queries, "{name}");
        let dimensions = result["problem"]["dimensions"].as_array().expect("dimensions");
        let grids: Vec<&Value> = dimensions.iter().map(|dimension| &dimension["thresholds"]).collect();
        assert_eq!(grids, last["thresholds"].as_array().unwrap().iter().collect::<Vec<_>>(), "{name}");
    }
}

#[test]
fn the_last_grid_can_be_proved_again_and_threads_change_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let saved = folder.path().join("best.json");
    let saved = saved.to_str().expect("a name");
    let options = ["solve", "mountain-car", "--thresholds", "9", "--refine", "--save", saved];
    let output = run(&options);
    assert_eq!(output.status.code(), Some(0));
    let proved = run(&["prove", saved]);
    assert_eq!(proved.status.code(), Some(0), "{}", stdout(&proved));
    let report = folder.path().join("report.html");
    let reported = run(&["report", saved, "-o", report.to_str().expect("a name")]);
    assert_eq!(reported.status.code(), Some(0), "{}", stderr(&reported));
    let result: Value = serde_json::from_slice(&fs::read(saved).expect("a file")).expect("JSON");
    let several =
        run(&["solve", "mountain-car", "--thresholds", "9", "--refine", "--json", "--threads", "3"]);
    let several = json(&several);
    for key in ["status", "value", "size", "tree", "problem"] {
        assert_eq!(several[key], result[key], "{key}");
    }
}

#[test]
fn limits_are_for_all_stages_together() {
    let solve = ["solve", "mountain-car", "--thresholds", "9", "--refine=5", "--json", "--query-limit"];
    let mut last = (0, i64::MAX);
    let mut seen = Vec::new();
    for limit in ["1000", "6400", "6600", "20000", "60000"] {
        let output = run(&[&solve[..], &[limit]].concat());
        let result = json(&output);
        let made = result["queries"].as_u64().unwrap();
        assert!(made <= limit.parse().unwrap(), "{limit}: {made}");
        let stages = result["stages"].as_array().expect("stages");
        let code = if result["status"] == "optimal" { 0 } else { 4 };
        assert_eq!(output.status.code(), Some(code), "{limit}");
        assert!(stages[..stages.len() - 1].iter().all(|stage| stage["status"] == "optimal"), "{limit}");
        let now = (stages.len(), result["value"].as_i64().unwrap_or(i64::MAX));
        assert!(now.0 >= last.0 && now.1 <= last.1, "{limit}: {now:?} after {last:?}");
        last = now;
        seen.push(stages.len());
    }
    assert!(seen.contains(&1) && seen.iter().any(|count| *count > 2), "{seen:?}");
    let stopped =
        run(&["solve", "mountain-car", "--depth", "4", "--refine", "--time-limit", "50ms", "--json"]);
    assert_eq!((stopped.status.code(), json(&stopped)["stopped_by"].as_str()), (Some(4), Some("time limit")));
}

#[test]
fn nothing_to_refine_is_no_error() {
    // No tree exists.
    let output = run(&["solve", "mountain-car", "--depth", "0", "--refine", "--json"]);
    let result = json(&output);
    assert_eq!((output.status.code(), result["stages"].as_array().map(Vec::len)), (Some(3), Some(1)));
    // The best tree is a leaf.
    let output = run(&["solve", "thermostat", "--depth", "0", "--refine", "--json"]);
    let result = json(&output);
    assert_eq!((output.status.code(), result["stages"].as_array().map(Vec::len)), (Some(0), Some(1)));
}

#[test]
fn progress_says_which_grid_it_is_about() {
    let output = run(&["solve", "mountain-car", "--thresholds", "9", "--refine=2", "--progress", "json"]);
    let events: Vec<Value> =
        stderr(&output).lines().map(|line| serde_json::from_str(line).expect("an event")).collect();
    let grids: Vec<u64> = events.iter().map(|event| event["grid"].as_u64().expect("a grid")).collect();
    assert!(grids.is_sorted() && grids.contains(&1) && grids.contains(&3), "{grids:?}");
    let counts: Vec<u64> = events.iter().map(|event| event["queries"].as_u64().unwrap()).collect();
    assert!(counts.is_sorted(), "{counts:?}");
}

#[test]
fn what_makes_no_sense_together_is_refused() {
    let with = |more: &[&str]| transcript(&[&["solve", "mountain-car", "--refine"], more].concat());
    let refused = [
        with(&["--first"]),
        with(&["--checkpoint", "search.ckpt"]),
        with(&["--certificate", "search.proof"]),
        transcript(&["solve", "mountain-car", "--refine=0"]),
        transcript(&["solve", "mountain-car", "--refine=some"]),
        transcript(&["solve", "mountain-car", "--refine=101"]),
    ];
    assert_snapshot!(refused.join("\n"));
}

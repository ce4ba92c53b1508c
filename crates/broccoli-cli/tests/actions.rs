//! `--actions`: a choice that every command which reads the result makes again.

use crate::common::{json, run, transcript};
use insta::assert_snapshot;
use tempfile::TempDir;

#[test]
fn what_cannot_be_chosen() {
    let wrong: [&[&str]; 6] = [
        &["mountain-car", "--actions", "left,right,jump"],
        &["mountain-car", "--actions", "left"],
        &["mountain-car", "--actions", "left,0"],
        &["pendulum", "--actions", "-2,3"],
        &["pendulum", "--actions", "-2,,2"],
        &["cartpole", "--actions", ""],
    ];
    let said: Vec<String> = wrong.iter().map(|words| transcript(&[&["solve"], *words].concat())).collect();
    assert_snapshot!(said.join("\n"));
}

#[test]
fn results_keep_the_choice() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (saved, report) = (path("best.json"), path("report.html"));
    for (environment, actions, values) in [
        ("pendulum", "-2,-1,0,1,2", vec![-2.0, -1.0, 0.0, 1.0, 2.0]),
        ("mountain-car", "right,coast,left", vec![2.0, 1.0, 0.0]),
    ] {
        let command = ["solve", environment, "--actions", actions, "--thresholds", "3", "--save", &saved];
        let result = json(&run(&[&command[..], &["--json", "--report", &report]].concat()));
        let found = result["problem"]["actions"].as_array().unwrap();
        assert_eq!(found.iter().map(|a| a["value"].as_f64().unwrap()).collect::<Vec<_>>(), values);

        let value = &result["value"];
        assert_eq!(&json(&run(&["simulate", environment, &saved, "--json"]))["value"], value);
        assert_eq!(json(&run(&["prove", &saved, "--json"]))["verdict"], "optimal");
        let page = std::fs::read_to_string(&report).unwrap();
        assert!(page.contains("actions = ["), "the problem file in the report names them");
        assert_eq!(run(&["report", &saved, "-o", &report]).status.code(), Some(0));

        let tree = path("tree.json");
        std::fs::write(&tree, result["tree"].to_string()).unwrap();
        let alone = ["simulate", environment, &tree, "--actions", actions, "--json"];
        assert_eq!(&json(&run(&alone))["value"], value);
        assert_eq!(
            run(&alone[..3]).status.code(),
            Some(2),
            "the tree takes actions that are not the default"
        );
    }
}

#[test]
fn a_search_with_chosen_actions_is_resumed() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("search.ckpt").to_str().unwrap().to_owned();
    let command = ["solve", "pendulum", "--actions", "-2,0,2", "--thresholds", "9", "--json"];
    let whole = json(&run(&command));
    let stopped = run(&[&command[..], &["--checkpoint", &path, "--query-limit", "500"]].concat());
    assert_eq!(stopped.status.code(), Some(4));
    let resumed = json(&run(&["resume", &path, "--json"]));
    for key in ["status", "value", "size", "tree"] {
        assert_eq!(whole[key], resumed[key], "{key}");
    }
}

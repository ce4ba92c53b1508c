//! Noise by seeds, and fresh initial states.

mod common;

use common::{json, run, stdout, transcript};
use insta::assert_snapshot;
use tempfile::TempDir;

#[test]
fn what_makes_no_sense() {
    let wrong: [&[&str]; 5] = [
        &["pendulum", "--noise", "-1"],
        &["pendulum", "--noise", "much"],
        &["pendulum", "--noise", "0.1"],
        &["pendulum", "--seeds", "3"],
        &["pendulum", "--noise", "0.1", "--initial", "0,0,0", "--seeds", "3"],
    ];
    let said: Vec<String> = wrong.iter().map(|words| transcript(&[&["solve"], *words].concat())).collect();
    assert_snapshot!(said.join("\n"));
}

#[test]
fn seeds_are_searched_for_and_fresh_ones_estimated() {
    let folder = TempDir::new().unwrap();
    let saved = folder.path().join("best.json").to_str().unwrap().to_owned();
    let command = ["solve", "mountain-car", "--noise", "0.2", "--seeds", "3", "--thresholds", "7"];
    let result = json(&run(&[&command[..], &["--save", &saved, "--json"]].concat()));
    assert_eq!(result["status"], "optimal");
    let states = &result["problem"]["initial_states"];
    assert_eq!(*states, serde_json::json!([[-0.51, 0.0, 0.0], [-0.51, 0.0, 1.0], [-0.51, 0.0, 2.0]]));
    assert_eq!(result["problem"]["system"]["noisy"]["noise"], 0.2);
    assert_eq!(json(&run(&["prove", &saved, "--json"]))["verdict"], "optimal");

    let simulate = ["simulate", "mountain-car", &saved, "--fresh", "200", "--json"];
    let simulation = json(&run(&simulate));
    assert_eq!(simulation["value"], result["value"]);
    assert_eq!(simulation["runs"].as_array().unwrap().len(), 3);
    let fresh = &simulation["fresh"];
    assert_eq!(fresh["runs"], 200);
    assert_eq!(json(&run(&simulate))["fresh"], *fresh, "always the same");
    let other = json(&run(&[&simulate[..], &["--fresh-seed", "1"]].concat()));
    assert_ne!(other["fresh"], *fresh);
    // The figures fit together.
    let number = |value: &serde_json::Value| value.as_f64().unwrap_or(f64::INFINITY);
    let quantiles: Vec<f64> = fresh["quantiles"].as_array().unwrap().iter().map(|q| number(&q[1])).collect();
    assert!(quantiles.is_sorted() && quantiles[4] <= number(&fresh["worst"]), "{fresh}");
    assert!(fresh["succeeded"] != 1.0 || fresh["worst"].is_u64(), "{fresh}");
}

#[test]
fn fresh_states_without_noise() {
    let folder = TempDir::new().unwrap();
    let saved = folder.path().join("best.json").to_str().unwrap().to_owned();
    run(&["solve", "cartpole", "--thresholds", "3", "--horizon", "200", "--save", &saved]);
    assert_snapshot!(stdout(&run(&["simulate", "cartpole", &saved, "--fresh", "100"])));
    let file = folder.path().join("plant.toml");
    std::fs::write(
        &file,
        "[system]\nenvironment = \"cartpole\"\n[initial]\nranges = [[0, 0], [0, 0], [0, 0], [0, 0]]\n",
    )
    .unwrap();
    let nothing = run(&["simulate", file.to_str().unwrap(), &saved, "--initial", "0,0,0,0", "--fresh", "5"]);
    assert_eq!(nothing.status.code(), Some(2));
}

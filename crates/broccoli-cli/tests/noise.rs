//! Noise by seeds, and fresh initial states.

use std::fs;
use std::path::Path;

use crate::common::{json, run, stdout, transcript};
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

/// A walk with gusts of wind, drawn from a generator that the last value of the initial state seeds.
const WALK: &str = r#"
import random
from broccoli_system import RUNNING, SATISFIED, serve

class Walk:
    name = "walk"
    observations = ["position"]
    actions = {"back": -1, "forth": 1}
    come_back = "reset"
    initial = 2
    verdicts = True

    def reset(self, initial):
        position, seed = initial
        self.position, self.random = position, random.Random(int(seed))
        return self.reply()

    def step(self, action):
        self.position += [-1, 1][action] + self.random.choice([-0.5, 0, 0.5])
        return self.reply()

    def reply(self):
        return [self.position], SATISFIED if abs(self.position) <= 1 else RUNNING

serve(Walk())
"#;

#[test]
fn seeds_of_a_foreign_system() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/python/broccoli_system.py");
    fs::copy(library, path("broccoli_system.py")).unwrap();
    fs::write(path("walk.py"), WALK).unwrap();
    let text = "[system]\ncommand = [\"python3\", \"walk.py\"]\n[predicates]\nposition = [-2, 0, 2]\n\
                [initial]\nstates = [[6], [-5]]\nseeds = [3, 8]\nranges = [[-9, 9]]\n\
                [objective]\nkind = \"reach\"\nhorizon = 100\n";
    let (file, saved) = (path("walk.toml"), path("best.json"));
    fs::write(&file, text).unwrap();
    let (file, saved) = (file.to_str().unwrap(), saved.to_str().unwrap());
    let solved = run(&["solve", file, "--save", saved, "--json"]);
    let result = json(&solved);
    assert_eq!(result["status"], "optimal", "{}", crate::common::stderr(&solved));
    let states = serde_json::json!([[6.0, 3.0], [6.0, 8.0], [-5.0, 3.0], [-5.0, 8.0]]);
    assert_eq!(result["problem"]["initial_states"], states);
    let simulation = json(&run(&["simulate", file, saved, "--fresh", "20", "--json"]));
    assert_eq!(simulation["value"], result["value"]);
    assert_eq!(simulation["fresh"]["runs"], 20);
}

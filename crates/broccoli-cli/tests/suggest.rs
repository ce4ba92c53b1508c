//! `broccoli suggest`.

use std::fs;
use std::path::PathBuf;

use crate::common::{json, run, stderr, stdout, transcript};
use insta::assert_snapshot;
use serde_json::Value;

/// What does not depend on clocks and on the engine's counts.
fn without_costs(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with("  depth ")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn suggestions_to_read() {
    for name in ["mountain-car", "cruise-control", "boost-converter"] {
        assert_snapshot!(name, without_costs(&transcript(&["suggest", name, "--steps", "20000"])));
    }
}

#[test]
fn the_same_seed_suggests_the_same_and_another_looks_elsewhere() {
    let suggest = |seed: &str| {
        let output = run(&["suggest", "cartpole", "--steps", "4000", "--json", "--action-seed", seed]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let mut suggestion = json(&output);
        for cost in suggestion["costs"].as_array_mut().expect("costs") {
            for key in ["seconds", "seconds_range"] {
                cost[key] = Value::Null;
            }
        }
        suggestion
    };
    assert_eq!(suggest("7"), suggest("7"));
    assert_ne!(suggest("7")["dimensions"], suggest("8")["dimensions"]);
}

/// A problem file with the suggested section can be solved as it is, and has the thresholds that were shown.
#[test]
fn what_is_suggested_can_be_pasted() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["mountain-car", "cartpole", "thermostat", "cruise-control", "bouncing-ball"] {
        let suggestion = json(&run(&["suggest", name, "--thresholds", "4", "--steps", "20000", "--json"]));
        let path = folder.path().join(format!("{name}.toml"));
        let section = suggestion["toml"].as_str().expect("a section");
        fs::write(&path, format!("[system]\nenvironment = {name:?}\n\n{section}")).expect("a file");
        let output = run(&["solve", path.to_str().expect("a name"), "--depth", "1", "--json"]);
        assert!([0, 3].contains(&output.status.code().expect("a code")), "{name}: {}", stderr(&output));
        let result = json(&output);
        let solved = result["problem"]["dimensions"].as_array().expect("dimensions");
        for (dimension, suggested) in solved.iter().zip(suggestion["dimensions"].as_array().unwrap()) {
            assert_eq!(dimension["thresholds"], suggested["thresholds"], "{name}");
        }
        let Some(steps) = suggestion["step"].as_array() else { continue };
        let steps: Vec<String> = steps.iter().map(|step| step.as_f64().unwrap().to_string()).collect();
        let output = run(&["solve", name, "--depth", "1", "--step", &steps.join(",")]);
        assert!([0, 3].contains(&output.status.code().expect("a code")), "{name}: {}", stderr(&output));
    }
}

#[test]
fn short_searches_keep_to_their_share_and_cost_what_they_say() {
    let suggestion = json(&run(&["suggest", "mountain-car", "--steps", "100000", "--json"]));
    let costs = suggestion["costs"].as_array().expect("costs");
    assert_eq!(costs.len(), 12);
    let measured: Vec<&Value> = costs.iter().filter(|cost| cost["how"] == "measured").collect();
    let total: u64 = measured.iter().map(|cost| cost["queries"].as_u64().unwrap()).sum();
    assert!((4..12).contains(&measured.len()) && total <= 50_000, "{measured:?}");
    assert!(suggestion["steps"].as_u64().unwrap() <= 50_000);
    // A search on the suggested range with so many thresholds takes so many queries.
    let range = |index: usize, key: &str| suggestion["dimensions"][index][key].as_f64().unwrap();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("car.toml");
    let line = |name: &str, index: usize| {
        format!("{name} = {{ low = {}, high = {}, count = 5 }}\n", range(index, "low"), range(index, "high"))
    };
    let predicates = line("position", 0) + &line("velocity", 1);
    fs::write(&path, format!("[system]\nenvironment = \"mountain-car\"\n[predicates]\n{predicates}"))
        .unwrap();
    let solved = json(&run(&["solve", path.to_str().unwrap(), "--json"]));
    let cost = costs.iter().find(|cost| cost["thresholds"] == 5 && cost["depth"] == 2).expect("a cost");
    assert_eq!((&cost["how"], &cost["queries"]), (&Value::from("measured"), &solved["queries"]));
}

/// A system in Python: a flag, a constant, an angle that is wrapped, infinity at times, and a hidden counter.
fn oddities(folder: &std::path::Path) -> PathBuf {
    let module = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/python");
    let program = format!(
        "import sys\nsys.path.insert(0, {:?})\n{}",
        module.to_str().expect("a name"),
        r#"
import math
from broccoli_system import RUNNING, serve


class Odd:
    name = "odd"
    observations = ["flag", "constant", "angle", "spike"]
    actions = {"a": 0.0, "b": 1.0}
    come_back = "reset"
    initial = 1
    verdicts = True

    def reset(self, initial):
        self.time = 0
        return self.reply()

    def step(self, action):
        self.time += 1
        return self.reply()

    def reply(self):
        angle = (0.3 * self.time + math.pi) % (2 * math.pi) - math.pi
        spike = math.inf if self.time % 7 == 3 else 0.1 * self.time
        return [self.time // 3 % 2, 5.0, round(angle, 1), spike], RUNNING


serve(Odd())
"#
    );
    fs::write(folder.join("odd.py"), program).expect("a file");
    let path = folder.join("odd.toml");
    let file = "[system]\ncommand = [\"python3\", \"odd.py\"]\n[initial]\nstates = [[0]]\n\
                [objective]\nkind = \"survive\"\nhorizon = 100\n";
    fs::write(&path, file).expect("a file");
    path
}

#[test]
#[cfg(unix)]
fn a_foreign_system_with_every_oddity() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = oddities(folder.path());
    let output = run(&["suggest", path.to_str().expect("a name"), "--steps", "2000"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_snapshot!(without_costs(&stdout(&output)).replace(path.to_str().unwrap(), "odd.toml"));
}

/// A system that is slow gets a figure for every row all the same, in the time that was stated.
#[test]
#[cfg(unix)]
fn a_slow_system_has_ranges_in_every_row() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = oddities(folder.path());
    let program = fs::read_to_string(folder.path().join("odd.py")).expect("a program");
    let slow = program.replace(
        "        self.time += 1\n",
        "        self.time += 1\n        __import__(\"time\").sleep(0.02)\n",
    );
    assert_ne!(slow, program);
    fs::write(folder.path().join("odd.py"), slow).expect("a program");
    let suggestion = json(&run(&["suggest", path.to_str().expect("a name"), "--within", "4s", "--json"]));
    assert!((2..=200).contains(&suggestion["steps"].as_u64().expect("steps")), "{suggestion}");
    let costs = suggestion["costs"].as_array().expect("costs");
    for depth in 1..=3 {
        let rows: Vec<&Value> = costs.iter().filter(|cost| cost["depth"] == depth).collect();
        assert!(!rows.is_empty(), "depth {depth}: {costs:?}");
        for cost in rows {
            let [least, most] = [0, 1].map(|end| cost["queries_range"][end].as_u64().expect("a number"));
            let is_measured = cost["how"] == "measured";
            assert!(least >= 1 && (if is_measured { least == most } else { least <= most }), "{cost}");
        }
    }
}

#[test]
fn bad_input_is_refused_like_by_solve() {
    let told = |arguments: &[&str]| transcript(arguments);
    let refused = [
        told(&["suggest", "mountaincar"]),
        told(&["suggest", "nothing.toml"]),
        told(&["suggest", "pendulum", "--thresholds", "0"]),
        told(&["suggest", "pendulum", "--steps", "99"]),
        told(&["suggest", "pendulum", "--within", "soon"]),
        told(&["suggest", "pendulum", "--initial", "1,2,3"]),
        told(&["suggest", "pendulum", "--actions", "left,right"]),
        told(&["suggest", "pendulum", "--noise", "0.1"]),
    ];
    assert_snapshot!(refused.join("\n"));
}

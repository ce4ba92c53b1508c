//! `broccoli environments`: the list, the descriptions, and JSON.

use crate::common::{json, run, transcript};
use insta::assert_snapshot;

const NAMES: [&str; 9] = [
    "acrobot",
    "boost-converter",
    "bouncing-ball",
    "cartpole",
    "cruise-control",
    "mountain-car",
    "mountain-car-continuous",
    "pendulum",
    "thermostat",
];

#[test]
fn the_list() {
    assert_snapshot!(transcript(&["environments"]));
}

#[test]
fn every_description() {
    for name in NAMES {
        assert_snapshot!(name, transcript(&["environments", name]));
    }
}

#[test]
fn as_json() {
    let all = json(&run(&["environments", "--json"]));
    let names: Vec<&str> = all.as_array().unwrap().iter().map(|e| e["name"].as_str().unwrap()).collect();
    assert_eq!(names, NAMES);
    for environment in all.as_array().unwrap() {
        let name = environment["name"].as_str().unwrap();
        assert_eq!(&json(&run(&["environments", name, "--json"])), environment);
        // What is described is what is solved by default.
        let solved = json(&run(&["solve", name, "--depth", "0", "--json"]));
        for (mine, theirs) in environment["dimensions"]
            .as_array()
            .unwrap()
            .iter()
            .zip(solved["problem"]["dimensions"].as_array().unwrap())
        {
            assert_eq!(mine["thresholds"], theirs["thresholds"]);
        }
        assert_eq!(environment["initial"], solved["problem"]["initial_states"][0]);
        assert_eq!(environment["horizon"], solved["problem"]["horizon"]);
    }
}

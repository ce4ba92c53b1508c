//! Bad usage and bad input: exit 2, one clear message, nothing on standard output.

use crate::common::{report, run};
use insta::assert_snapshot;

/// The messages of `solve` for each of these argument lists.
fn messages(cases: &[&[&str]]) -> String {
    let transcripts = cases.iter().map(|arguments| {
        let output = run(arguments);
        let said = report(arguments, &output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(output.stdout.is_empty(), "{said}");
        said
    });
    transcripts.collect::<Vec<_>>().join("\n")
}

#[test]
fn names() {
    assert_snapshot!(messages(&[
        &["solve", "mountaincar"],
        &["solve", "Cart_Pole"],
        &["solve", "lunar-lander"],
        &["solve", "problem.toml"],
        &["solve", ""],
        &["environments", "pendulums"],
        &["simulate", "cart-pole", "tree.json"],
        &["solve"],
        &["solv", "pendulum"],
        &["solve", "pendulum", "mountain-car"],
    ]));
}

#[test]
fn numbers_of_values() {
    assert_snapshot!(messages(&[
        &["solve", "mountain-car", "--initial", "-0.51"],
        &["solve", "mountain-car", "--initial", "-0.51,0", "--initial", "-0.51,0,0"],
        &["solve", "cartpole", "--step", "0.1,0.1"],
        &["solve", "mountain-car", "--initial", "-0.51", "0"],
    ]));
}

#[test]
fn values() {
    assert_snapshot!(messages(&[
        &["solve", "mountain-car", "--initial", "nan,0"],
        &["solve", "mountain-car", "--initial", "-inf,0"],
        &["solve", "mountain-car", "--initial", "1e999,0"],
        &["solve", "mountain-car", "--initial", ""],
        &["solve", "mountain-car", "--initial", "-0.51,"],
        &["solve", "mountain-car", "--initial", "a,b"],
        &["solve", "mountain-car", "--initial", "--json"],
        &["solve", "mountain-car", "--initial"],
        &["solve", "mountain-car", "--step", "NaN,0.1"],
        &["solve", "mountain-car", "--step", "inf,0.1"],
        &["solve", "mountain-car", "--step", "--depth"],
    ]));
}

#[test]
fn grids() {
    assert_snapshot!(messages(&[
        &["solve", "mountain-car", "--step", "0,0.005"],
        &["solve", "mountain-car", "--step", "0.05,-0.005"],
        &["solve", "mountain-car", "--step", "0.05,0.14"],
        &["solve", "mountain-car", "--step", "1e300,0.005"],
        &["solve", "mountain-car", "--step", "1e-300,0.005"],
        &["solve", "mountain-car", "--thresholds", "0"],
        &["solve", "mountain-car", "--thresholds", "-3"],
        &["solve", "mountain-car", "--thresholds", "65536"],
        &["solve", "mountain-car", "--thresholds", "2.5"],
        &["solve", "mountain-car", "--thresholds", "3", "--step", "0.05,0.005"],
    ]));
}

#[test]
fn limits() {
    assert_snapshot!(messages(&[
        &["solve", "mountain-car", "--nodes", "4"],
        &["solve", "mountain-car", "--depth", "3", "--nodes", "8"],
        &["solve", "mountain-car", "--depth", "0", "--nodes", "1"],
        &["solve", "mountain-car", "--nodes", "18446744073709551616"],
        &["solve", "mountain-car", "--depth", "17"],
        &["solve", "mountain-car", "--depth", "-1"],
        &["solve", "mountain-car", "--depth", "4294967297"],
        &["solve", "mountain-car", "--depth", "two"],
        &["solve", "mountain-car", "--depth", "--json"],
        &["solve", "mountain-car", "--horizon", "0"],
        &["solve", "mountain-car", "--horizon", "-5"],
        &["solve", "mountain-car", "--horizon", "1e4"],
        &["solve", "mountain-car", "--horizon", "99999999999999999999"],
    ]));
}

#[test]
fn samples() {
    assert_snapshot!(messages(&[
        &["solve", "mountain-car", "--samples", "0"],
        &["solve", "mountain-car", "--samples", "1000001"],
        &["solve", "mountain-car", "--samples", "99999999999"],
        &["solve", "mountain-car", "--samples", "3", "--seed", "-1"],
        &["solve", "mountain-car", "--seed", "1"],
        &["solve", "mountain-car", "--samples", "3", "--initial", "-0.51,0"],
    ]));
}

#[test]
fn engines() {
    assert_snapshot!(messages(&[
        &["solve", "mountain-car", "--engine", "magic"],
        &["solve", "mountain-car", "--engine", "exhaustive", "--no-pruning"],
        &["solve", "mountain-car", "--threads", "0"],
        &["solve", "mountain-car", "--cache", "64MiB"],
        &["solve", "mountain-car", "--remember", "/no/such/folder/car.store"],
        &["solve", "mountain-car", "--remember", "/dev/null"],
        &["store", "/dev/zero"],
        &["store", "/no/such/file"],
    ]));
}

#[test]
fn when_to_stop() {
    assert_snapshot!(messages(&[
        &["solve", "cartpole", "--time-limit", "30"],
        &["solve", "cartpole", "--time-limit", "-1s"],
        &["solve", "cartpole", "--time-limit", "5 minutes"],
        &["solve", "cartpole", "--query-limit", "-1"],
        &["solve", "cartpole", "--query-limit", "1e6"],
        &["solve", "cartpole", "--gap", "-5%"],
        &["solve", "cartpole", "--gap", "nan"],
        &["solve", "cartpole", "--start", "nowhere.json"],
        &["prove"],
        &["prove", "nowhere.json", "cartpole"],
    ]));
}

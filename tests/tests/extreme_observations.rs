//! Infinite observations are legal, and an observation at a threshold is on the upper side, exactly.

use broccoli_core::problem::Objective;
use broccoli_tests::check::{self, Case};
use broccoli_tests::options::every_engine;
use broccoli_tests::oracle;
use broccoli_tests::random::{Wanted, scattered};
use broccoli_tests::table::{State, TableProblem};
use broccoli_tests::wall::run;

const MOST_TREES: u64 = 2_500;

/// Every engine agrees with brute force.
fn check(table: &TableProblem) -> Result<(), String> {
    check::check(&Case { table: table.clone(), options: every_engine() }, |_| ())
}

/// A problem in one dimension: from the first state action 0 leads on, from the second action 1, and
/// then it is done. So a tree must tell the two observations apart.
fn two_states(first: f64, second: f64, threshold: f64) -> TableProblem {
    let state = |observation, next: [usize; 2], verdict| State {
        observation: vec![observation],
        next: next.to_vec(),
        verdict,
        rewards: Vec::new(),
    };
    TableProblem {
        thresholds: vec![vec![threshold]],
        states: vec![state(first, [1, 0], '.'), state(second, [1, 2], '.'), state(second, [2, 2], '+')],
        initial: vec![0],
        objective: Objective::reach(10),
        weights: Vec::new(),
        all: Vec::new(),
        depth: 1,
        nodes: 1,
    }
}

/// A failing problem is saved with all that was seen in it.
#[test]
fn what_is_seen_survives_being_saved() {
    for (first, second) in [(f64::NEG_INFINITY, f64::INFINITY), (-0.0, 5e-324), (f64::MAX, 0.1 + 0.2)] {
        let table = two_states(first, second, 0.0);
        let json = serde_json::to_string(&table).expect("plain data");
        let again: TableProblem =
            serde_json::from_str(&json).unwrap_or_else(|error| panic!("{json}: {error}"));
        let bits = |table: &TableProblem| {
            table.states.iter().map(|s| s.observation[0].to_bits()).collect::<Vec<_>>()
        };
        assert_eq!(bits(&again), bits(&table), "{json}");
    }
}

#[test]
fn observations_at_and_around_a_threshold() {
    let (low, high, least) = (f64::NEG_INFINITY, f64::INFINITY, f64::MIN_POSITIVE * f64::EPSILON);
    // Two observations, a threshold, and whether it tells them apart.
    let cases = [
        (low, high, 0.0, true),
        (low, f64::MIN, f64::MIN, true),
        (high, f64::MAX, f64::MAX, false),
        (high, f64::MAX.next_down(), f64::MAX, true),
        (low, f64::MIN.next_up(), f64::MIN.next_up(), true),
        (1.0, 1.0f64.next_down(), 1.0, true),
        (1.0, 1.0f64.next_up(), 1.0, false),
        (1.0f64.next_up(), 1.0, 1.0f64.next_up(), true),
        (-0.0, 0.0, 0.0, false),
        (-0.0, -least, 0.0, true),
        (-0.0, -least, -0.0, true),
        (0.0, least, least, true),
        (0.1 + 0.2, 0.3, 0.3, false),
        (0.1 + 0.2, 0.3, 0.1 + 0.2, true),
    ];
    for (a, b, threshold, apart) in cases {
        for (first, second) in [(a, b), (b, a)] {
            let table = two_states(first, second, threshold);
            let answer = apart.then_some((2, 1));
            assert_eq!(oracle::best(&table), answer, "{first} and {second} at {threshold}");
            check(&table).unwrap_or_else(|wrong| panic!("{first} and {second} at {threshold}: {wrong}"));
        }
    }
}

/// Moves every observation to an end of its cell, which may be infinite: no answer changes.
fn at_the_ends(table: &TableProblem) -> TableProblem {
    let mut moved = table.clone();
    for state in &mut moved.states {
        for (value, thresholds) in state.observation.iter_mut().zip(&table.thresholds) {
            let rank = thresholds.iter().filter(|t| **t <= *value).count();
            let lower = rank.checked_sub(1).map_or(f64::NEG_INFINITY, |below| thresholds[below]);
            let upper = thresholds.get(rank).map_or(f64::INFINITY, |above| above.next_down());
            *value = if value.fract() == 0.0 { lower } else { upper };
        }
    }
    moved
}

#[test]
fn random_problems_at_the_ends_of_their_cells() {
    for wanted in [Wanted::Reach, Wanted::Survive] {
        run(0.01, scattered(wanted, MOST_TREES), |table| {
            let moved = at_the_ends(table);
            check(&moved)?;
            let (before, after) = (oracle::best(table), oracle::best(&moved));
            if before == after { Ok(()) } else { Err(format!("{before:?} becomes {after:?}")) }
        });
    }
}

//! 100,000 random small problems: exhaustive, backtracking with and without pruning, behaviour under
//! each way to come back to a state, and an oracle that shares no code with them agree on status, value
//! and size, and every tree does what it claims. With a cache, large or tiny, behaviour does the same.

use broccoli_core::problem::ComeBack;
use broccoli_core::search::Search;
use broccoli_tests::oracle;
use broccoli_tests::random::{Wanted, scattered, structured};
use broccoli_tests::table::TableProblem;
use broccoli_tests::wall::{check, check_outcome, run};

const MOST_TREES: u64 = 2_500;

#[test]
fn scattered_reach() {
    run(0.25, scattered(Wanted::Reach, MOST_TREES), check);
}

#[test]
fn scattered_survive() {
    run(0.25, scattered(Wanted::Survive, MOST_TREES), check);
}

#[test]
fn structured_reach() {
    run(0.25, structured(Wanted::Reach, MOST_TREES), check);
}

#[test]
fn structured_survive() {
    run(0.25, structured(Wanted::Survive, MOST_TREES), check);
}

/// Thousands of thresholds that no value ever reaches change neither value nor size; but they make more
/// cells than a table can hold, so that labels are hashed.
#[test]
fn thousands_of_thresholds() {
    let check = |table: &TableProblem| {
        let mut padded = table.clone();
        let far = |sign: f64| (0..2_500).map(move |i| sign * (1_000.0 + f64::from(i)));
        padded.thresholds.resize(table.thresholds.len().max(2), Vec::new());
        for thresholds in &mut padded.thresholds {
            thresholds.extend(far(1.0).chain(far(-1.0)));
        }
        for state in &mut padded.states {
            state.observation.resize(padded.thresholds.len(), 0.0);
        }
        let problem = padded.problem();
        let factory = padded.factory(ComeBack::Clone);
        let outcome = Search::new(&problem, &factory).run().map_err(|e| e.to_string())?;
        check_outcome(&padded, &outcome, oracle::best(table))
    };
    run(0.01, scattered(Wanted::Reach, MOST_TREES), check);
    run(0.01, structured(Wanted::Reach, MOST_TREES), check);
    run(0.01, structured(Wanted::Survive, MOST_TREES), check);
}

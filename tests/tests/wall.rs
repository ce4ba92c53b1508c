//! 100,000 random small problems: exhaustive, backtracking with and without pruning, behaviour under
//! each way to come back to a state, and an oracle that shares no code with them agree on status, value
//! and size, and every tree does what it claims.

use broccoli_tests::random::{Wanted, scattered, structured};
use broccoli_tests::wall::{check, run};

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

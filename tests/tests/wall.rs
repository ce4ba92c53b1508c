//! 100,000 random small problems of every objective, over the initial states in every way. Each is solved without any
//! option, and then in a few ways drawn at random: by every engine, with every way to come back to a state, with threads,
//! memory for answers, little memory, many steps at a time, from a start tree, with a gap, stopped, in pieces, with a certificate …
//! All that is said must be true by an oracle that shares no code with the search, and the tree must be the same
//! wherever one is promised.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use broccoli_core::problem::ComeBack;
use broccoli_core::search::Search;
use broccoli_tests::check::{check, in_some_ways, is, kind};
use broccoli_tests::options::Meetings;
use broccoli_tests::oracle;
use broccoli_tests::random::{Wanted, any_objective, scattered, structured, wide, with_and_without_grid};
use broccoli_tests::table::TableProblem;
use broccoli_tests::wall::{cases, check_outcome, run};
use proptest::prelude::*;

const MOST_TREES: u64 = 2_500;
/// The families below, and the share of the problems that each has.
const FAMILIES: usize = 8;
const SHARE: f64 = 1.0 / FAMILIES as f64;

/// Runs one family of problems.
fn family(tables: BoxedStrategy<TableProblem>) {
    static MEETINGS: LazyLock<Meetings> = LazyLock::new(Meetings::default);
    static FINISHED: AtomicUsize = AtomicUsize::new(0);
    run(SHARE, in_some_ways(with_and_without_grid(tables, MOST_TREES)), |case| {
        let kind = kind(&case.table);
        check(case, |options| MEETINGS.count(options, &kind))
    });
    // The last one looks at what all of them have met.
    if FINISHED.fetch_add(1, Relaxed) + 1 == FAMILIES {
        let ((one, other), times) = MEETINGS.fewest().expect("something was run");
        println!("{one} and {other} have met {times} times, all others more often");
        assert!(times as f64 >= cases() / 100.0, "{one} and {other} have met {times} times only");
    }
}

#[test]
fn scattered_reach() {
    family(scattered(Wanted::Reach, MOST_TREES));
}

#[test]
fn scattered_survive() {
    family(scattered(Wanted::Survive, MOST_TREES));
}

#[test]
fn structured_reach() {
    family(structured(Wanted::Reach, MOST_TREES));
}

#[test]
fn structured_survive() {
    family(structured(Wanted::Survive, MOST_TREES));
}

#[test]
fn scattered_from_reach() {
    family(any_objective(scattered(Wanted::Reach, MOST_TREES)));
}

#[test]
fn scattered_from_survive() {
    family(any_objective(scattered(Wanted::Survive, MOST_TREES)));
}

#[test]
fn structured_from_reach() {
    family(any_objective(structured(Wanted::Reach, MOST_TREES)));
}

#[test]
fn structured_from_survive() {
    family(any_objective(structured(Wanted::Survive, MOST_TREES)));
}

/// Problems that brute force cannot solve: what is said in one way must be said in all.
#[test]
fn wide_tables() {
    for wanted in [Wanted::Reach, Wanted::Survive] {
        for tables in [wide(wanted).boxed(), any_objective(wide(wanted)).boxed()] {
            run(0.002, in_some_ways(tables), |case| check(case, |_| ()));
        }
    }
}

/// A grid with a threshold anywhere between every two neighbouring values gives the value and the size that all numbers
/// give.
#[test]
fn a_grid_in_every_interval_is_as_good_as_no_grid() {
    let check = |(table, seed): &(TableProblem, u64)| {
        let all = table.clone().without_grid(vec![true; table.thresholds.len()]);
        let mut grid = TableProblem { all: Vec::new(), ..all.clone() };
        let mut draw = broccoli_tests::numbers(*seed);
        for (dimension, thresholds) in grid.thresholds.iter_mut().enumerate() {
            for threshold in thresholds {
                let values = grid.states.iter().map(|state| state.observation[dimension]);
                let below = values.filter(|value| value < threshold).fold(f64::NEG_INFINITY, f64::max);
                let place = (draw() % 1_000 + 1) as f64 / 1_000.0;
                *threshold = (below + place * (*threshold - below)).clamp(below.next_up(), *threshold);
            }
        }
        let solve = |table: &TableProblem| {
            let (problem, factory) = (table.problem(), table.factory(ComeBack::Clone));
            let outcome = Search::new(&problem, &factory).run().map_err(|error| error.to_string())?;
            Ok::<_, String>(broccoli_tests::worth(&outcome))
        };
        let (all, grid) = (solve(&all)?, solve(&grid)?);
        is(all == grid, || format!("all numbers: {all:?}, a grid: {grid:?}"))
    };
    for wanted in [Wanted::Reach, Wanted::Survive] {
        for (share, tables) in [
            (0.01, scattered(wanted, MOST_TREES)),
            (0.01, structured(wanted, MOST_TREES)),
            (0.002, wide(wanted)),
        ] {
            run(share, (any_objective(tables), any::<u64>()).boxed(), check);
        }
    }
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

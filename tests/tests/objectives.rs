//! Every objective over the initial states in every way, against brute force.

use std::num::NonZeroUsize;

use broccoli_core::problem::{ComeBack, RunError};
use broccoli_core::search::{Engine, Outcome, Search, Status};
use broccoli_tests::random::{Wanted, any_objective, scattered, structured};
use broccoli_tests::table::TableProblem;
use broccoli_tests::{oracle, wall};

const MOST_TREES: u64 = 20_000;

/// Checks every engine, each way to come back to a state, the cache, threads, and any of the best trees.
fn check(table: &TableProblem) -> Result<(), String> {
    let expected = oracle::best_number(table);
    let (problem, replay) = (table.problem(), table.factory(ComeBack::Replay));
    let run = |name: &str, search: Search<'_>| {
        let outcome = search.run().map_err(|error| format!("{name}: {error}"))?;
        check_outcome(table, &outcome, expected).map_err(|wrong| format!("{name}: {wrong}"))?;
        Ok::<_, String>(outcome)
    };
    run("exhaustive", Search::new(&problem, &replay).engine(Engine::Exhaustive))?;
    let canonical = run("behaviour", Search::new(&problem, &replay))?.best;
    for come_back in [ComeBack::Snapshot, ComeBack::Clone] {
        let factory = table.factory(come_back);
        let search = || Search::new(&problem, &factory);
        let two = NonZeroUsize::MIN.saturating_add(1);
        let ways = [
            ("alone", search()),
            ("with a cache", search().cache(1 << 30)),
            ("with a tiny cache", search().cache(500)),
            ("with threads", search().threads(two).threads_after(1)),
            ("with little memory", search().memory_limit(1)),
        ];
        for (name, search) in ways {
            if run(name, search)?.best != canonical {
                return Err(format!("{name}: another tree than the canonical one"));
            }
        }
        run("any", search().any_optimal())?;
    }
    let backtracking = Search::new(&problem, &replay).engine(Engine::Backtracking { pruning: true }).run();
    let is_refused =
        backtracking.as_ref().is_err_and(|failure| matches!(failure.error, RunError::Unsupported { .. }));
    if is_refused == table.objective.is_plain() {
        return Err(format!("backtracking: {backtracking:?}"));
    }
    Ok(())
}

fn check_outcome(
    table: &TableProblem,
    outcome: &Outcome,
    expected: Option<(f64, u64)>,
) -> Result<(), String> {
    let number = |value| table.objective.number(value);
    let found = outcome.best.as_ref().map(|best| (number(best.value), best.tree.size()));
    if found != expected {
        return Err(format!("(value, size) is {found:?}, not {expected:?}"));
    }
    let status = if expected.is_some() { Status::Optimal } else { Status::Infeasible };
    if outcome.status != status || outcome.bound.map(number) != expected.map(|(value, _)| value) {
        return Err(format!("status {:?}, bound {:?}", outcome.status, outcome.bound));
    }
    let Some(best) = &outcome.best else { return Ok(()) };
    if oracle::number(table, &best.tree) != Some(number(best.value)) {
        return Err(format!("{:?} is not worth {}", best.tree, number(best.value)));
    }
    if best.tree.depth() > table.depth || best.tree.size() > table.nodes {
        return Err(format!("{:?} is beyond the limits", best.tree));
    }
    Ok(())
}

#[test]
fn scattered_from_reach() {
    wall::run(0.05, any_objective(scattered(Wanted::Reach, MOST_TREES)), check);
}

#[test]
fn scattered_from_survive() {
    wall::run(0.05, any_objective(scattered(Wanted::Survive, MOST_TREES)), check);
}

#[test]
fn structured_from_reach() {
    wall::run(0.05, any_objective(structured(Wanted::Reach, MOST_TREES)), check);
}

#[test]
fn structured_from_survive() {
    wall::run(0.05, any_objective(structured(Wanted::Survive, MOST_TREES)), check);
}

//! Every objective over the initial states in every way, against brute force.

use std::num::NonZeroUsize;

use broccoli_core::problem::{ComeBack, RunError};
use broccoli_core::search::{Engine, Outcome, Search, Status, join};
use broccoli_tests::batch::{Made, batched};
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

/// Checks what is cut short, started from a tree, cut into parts or run in batches.
fn check_in_other_ways(table: &TableProblem) -> Result<(), String> {
    let expected = oracle::best_number(table);
    let (problem, factory) = (table.problem(), table.factory(ComeBack::Clone));
    let search = || Search::new(&problem, &factory);
    let ended = |search: Search<'_>| search.run().map_err(|error| error.to_string());
    let whole = ended(search())?;

    for gap in [0.01, 0.3, 3.0] {
        let outcome = ended(search().gap(gap))?;
        check_bound(table, &outcome, expected, gap).map_err(|wrong| format!("gap {gap}: {wrong}"))?;
    }
    let queries = whole.statistics.queries + whole.statistics.queries_canonical;
    for limit in (0..=queries).step_by(1 + queries as usize / 9) {
        let outcome = ended(search().query_limit(limit))?;
        check_bound(table, &outcome, expected, f64::INFINITY)
            .map_err(|wrong| format!("limit {limit}: {wrong}"))?;
    }
    for tree in oracle::trees(table, table.nodes.min(1), table.depth).into_iter().step_by(5) {
        for engine in [Engine::Behaviour, Engine::Exhaustive] {
            let started = search().engine(engine).start(tree.clone()).map_err(|error| error.to_string())?;
            check_outcome(table, &ended(started)?, expected)
                .map_err(|wrong| format!("from {tree:?}: {wrong}"))?;
        }
    }
    let two = NonZeroUsize::MIN.saturating_add(1);
    let (so_far, parts) = search().split(two).map_err(|error| error.to_string())?;
    let solve = |part| search().solve_subproblem(part).map_err(|error| error.to_string());
    let outcomes = parts.into_iter().rev().map(solve).collect::<Result<Vec<_>, _>>()?;
    check_outcome(table, &join(problem.objective(), so_far, outcomes), expected)
        .map_err(|wrong| format!("in parts: {wrong}"))?;
    for rows in [1, 7, 64] {
        let batches = batched(table.factory(ComeBack::Clone), rows, &Made::default());
        let outcome = ended(Search::new(&problem, &batches))?;
        if (outcome.status, &outcome.best, outcome.bound) != (whole.status, &whole.best, whole.bound) {
            return Err(format!("{rows} rows: {outcome:?}\nalone: {whole:?}"));
        }
    }
    Ok(())
}

/// Checks what an outcome says that may have been stopped, if its value is within `gap` of its bound.
fn check_bound(
    table: &TableProblem,
    outcome: &Outcome,
    expected: Option<(f64, u64)>,
    gap: f64,
) -> Result<(), String> {
    if !matches!(outcome.status, Status::Stopped(_)) {
        return check_outcome(table, outcome, expected);
    }
    let number = |value| table.objective.number(value);
    let best = outcome.best.as_ref().map(|best| (number(best.value), &best.tree));
    if let Some((value, tree)) = best
        && oracle::number(table, tree) != Some(value)
    {
        return Err(format!("{tree:?} is not worth {value}"));
    }
    let bound = outcome.bound.map(number).ok_or("there is no bound")?;
    let is_proved = expected.is_none_or(|(value, _)| match table.objective.is_minimised() {
        true => value >= bound,
        false => value <= bound,
    });
    let is_within = gap.is_infinite()
        || best.is_some_and(|(value, _)| (value - bound).abs() <= gap * value.abs().max(1.0) * (1.0 + 1e-12));
    match is_proved && is_within {
        true => Ok(()),
        false => Err(format!("bound {bound}, best {best:?}, optimum {expected:?}")),
    }
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
fn cut_short_and_in_parts() {
    for wanted in [Wanted::Reach, Wanted::Survive] {
        wall::run(0.01, any_objective(scattered(wanted, 2_500)), check_in_other_ways);
        wall::run(0.01, any_objective(structured(wanted, 2_500)), check_in_other_ways);
    }
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

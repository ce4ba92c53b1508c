//! Searches that are stopped, or content with less: whatever they say must be true of the optimum, which
//! brute force knows.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use broccoli_core::problem::{ComeBack, Objective};
use broccoli_core::search::{Engine, Event, Outcome, Search, Status, StopReason, Tuning, explain};
use broccoli_core::tree::Tree;
use broccoli_environments::MOUNTAIN_CAR;
use broccoli_tests::oracle;
use broccoli_tests::random::{Wanted, any_objective, scattered, structured};
use broccoli_tests::remembering;
use broccoli_tests::table::TableProblem;
use broccoli_tests::walk_only;
use broccoli_tests::wall::{self, WITH_MEMORY, Way, check_outcome, run};

const MOST_TREES: u64 = 600;

/// Runs a check on a share of the random problems of every kind.
fn on_all(share: f64, check: impl Fn(&TableProblem) -> Result<(), String> + Copy) {
    for wanted in [Wanted::Reach, Wanted::Survive] {
        run(share, scattered(wanted, MOST_TREES), check);
        run(share, structured(wanted, MOST_TREES), check);
    }
}

/// One search, set up by `with`.
fn search(
    table: &TableProblem,
    way: Way,
    come_back: ComeBack,
    with: impl FnOnce(Search<'_>) -> Search<'_>,
) -> Result<Outcome, String> {
    let problem = table.problem();
    let factory = table.factory(come_back);
    let factory = remembering(&problem, &factory, way.1);
    with(wall::search(&problem, &*factory, way)).run().map_err(|error| error.to_string())
}

/// Checks everything that a stopped search says against the optimum.
fn check_true(table: &TableProblem, outcome: &Outcome, optimum: Option<(u64, u64)>) -> Result<(), String> {
    let Status::Stopped(_) = outcome.status else { return check_outcome(table, outcome, optimum) };
    let bound = outcome.bound.ok_or("a stopped search has a bound")?;
    if optimum.is_some_and(|(value, _)| table.objective.is_better(value, bound)) {
        return Err(format!("the bound is {bound}, but the optimum is {optimum:?}"));
    }
    let Some(best) = &outcome.best else { return Ok(()) };
    let (value, size) = optimum.ok_or("no tree exists, and one was found")?;
    if oracle::value(table, &best.tree) != Some(best.value) || table.objective.is_better(best.value, value) {
        return Err(format!("{best:?} does not have that value"));
    }
    if best.value == value && best.tree.size() < size {
        return Err(format!("{best:?} is smaller than the smallest"));
    }
    if best.tree.depth() > table.depth || best.tree.size() > table.nodes {
        return Err(format!("{best:?} is beyond the limits"));
    }
    if outcome.statistics.necessary_queries.is_some() && best.value != bound {
        return Err("the queries of a proof that does not exist".into());
    }
    Ok(())
}

/// The search with a tree to start from, which is one of the problem's.
fn started<'a>(search: Search<'a>, tree: &Tree) -> Search<'a> {
    search.start(tree.clone()).expect("a tree of the problem")
}

fn all_queries(outcome: &Outcome) -> u64 {
    let statistics = &outcome.statistics;
    statistics.queries + statistics.replayed
}

/// Every limit on the queries that makes a difference, on every engine: what is said is true, the limit is
/// kept exactly, more queries never make the best worse, and as many as are needed give the answer.
#[test]
fn every_query_limit() {
    on_all(0.0008, |table| {
        let optimum = oracle::best(table);
        for way in WITH_MEMORY {
            for come_back in [ComeBack::Replay, ComeBack::Clone] {
                let posed = |with: &dyn Fn(Search<'_>) -> Search<'_>| {
                    search(table, way, come_back, |search| with(search.tuning(walk_only())))
                };
                let whole = posed(&|search| search)?;
                let needed = all_queries(&whole);
                let mut before = None;
                for limit in (0..needed).step_by((needed as usize / 60).max(1)) {
                    // With hints it may even end, as a hint that is stopped is not gone on with.
                    let hinted = search(table, way, come_back, |search| search.query_limit(limit))?;
                    check_true(table, &hinted, optimum)?;
                    let limited = || posed(&|search| search.query_limit(limit));
                    let outcome = limited()?;
                    check_true(table, &outcome, optimum).map_err(|e| format!("{way:?}, {limit}: {e}"))?;
                    if outcome.status != Status::Stopped(StopReason::QueryLimit)
                        || all_queries(&outcome) != limit
                        || outcome.statistics.queries_confirming > 0
                    {
                        return Err(format!("{way:?} within {limit} of {needed} queries: {outcome:?}"));
                    }
                    if limited()? != outcome {
                        return Err(format!("{way:?} within {limit} queries is not reproducible"));
                    }
                    let best = outcome.best.map(|best| (best.value, best.tree.size()));
                    if let Some((value, size)) = before {
                        let kept = best.is_some_and(|(v, s)| {
                            table.objective.is_better(v, value) || v == value && s <= size
                        });
                        if !kept {
                            return Err(format!("{way:?} within {limit}: {before:?} became {best:?}"));
                        }
                    }
                    before = best;
                }
                if posed(&|search| search.query_limit(needed))? != whole {
                    return Err(format!("{way:?} needs {needed} queries and is not content with them"));
                }
            }
        }
        Ok(())
    });
}

/// A stop is heeded before the very next query, and nothing runs after it.
#[test]
fn a_stop_is_heeded_at_once() {
    on_all(0.002, |table| {
        for way in WITH_MEMORY {
            for queries in [0, 1, 7, 40] {
                let asked = AtomicU64::new(0);
                let stop = || (asked.fetch_add(1, Relaxed) >= queries).then_some(StopReason::TimeLimit);
                let problem = table.problem();
                let factory = table.factory(ComeBack::Replay);
                let factory = remembering(&problem, &factory, way.1);
                let stopped = wall::search(&problem, &*factory, way).stop(&stop).run();
                let outcome = stopped.map_err(|error| error.to_string())?;
                check_true(table, &outcome, oracle::best(table))?;
                let made = all_queries(&outcome) + outcome.statistics.queries_confirming;
                let is_stopped = outcome.status == Status::Stopped(StopReason::TimeLimit);
                if made > queries || is_stopped != (asked.load(Relaxed) > queries) {
                    return Err(format!("{way:?} is to stop after {queries}: {outcome:?}"));
                }
            }
        }
        Ok(())
    });
}

/// The share of the walk that is done never goes back, and all of it is done when nothing could be left out:
/// no tree exists, or none survives the whole horizon.
#[test]
fn shares_of_the_walk() {
    let check = |table: &TableProblem| {
        let problem = table.problem();
        for come_back in [ComeBack::Clone, ComeBack::Replay] {
            for threads in [1, 3] {
                let mut shares = vec![0.0];
                let mut observer = |event: Event<'_>| {
                    if let Event::Share(share) = event {
                        shares.push(share);
                    }
                };
                let factory = table.factory(come_back);
                let search =
                    Search::new(&problem, &factory).threads(NonZeroUsize::new(threads).expect("not 0"));
                let outcome = search.observer(&mut observer).run().map_err(|e| e.to_string())?;
                let (last, value) = (shares[shares.len() - 1], outcome.best.map(|best| best.value));
                let is_all = match problem.objective() {
                    Objective::Reach { .. } => value.is_none(),
                    _ => value < Some(table.objective.horizon()),
                };
                if !shares.is_sorted() || last > 1.0 || is_all && last < 1.0 - 1e-9 {
                    return Err(format!("{come_back:?}, {threads} threads, value {value:?}: {shares:?}"));
                }
            }
        }
        Ok(())
    };
    on_all(0.01, check);
}

/// Tasks of one chunk do not know of each other: each may find a tree that is good enough.
#[test]
fn gaps_with_many_tasks() {
    on_all(0.01, |table| {
        let optimum = oracle::best(table);
        for (most_tasks, least_chunk) in [(2, 6), (4, 9), (8, 24)] {
            let tuning = Tuning {
                // One round, so that good solutions do not come first.
                first_cut: 1 << 20,
                chunk_share: 1,
                least_chunk,
                least_task: 1,
                most_tasks,
                ..Tuning::default()
            };
            for gap in [0.1, 0.2, 0.34, 0.5] {
                let way = (Engine::Behaviour, None);
                let outcome = search(table, way, ComeBack::Clone, |search| search.gap(gap).tuning(tuning))?;
                check_true(table, &outcome, optimum).map_err(|e| format!("{tuning:?}, {gap}: {e}"))?;
            }
        }
        Ok(())
    });
}

/// With a gap the value is within it of the bound, hence of the optimum; or it is optimal, as the proof came first.
#[test]
fn gaps() {
    on_all(0.01, |table| {
        let optimum = oracle::best(table);
        for way in WITH_MEMORY {
            for gap in [0.1, 0.34, 0.5, 1.0, 3.0] {
                let outcome = search(table, way, ComeBack::Clone, |search| search.gap(gap))?;
                check_true(table, &outcome, optimum).map_err(|e| format!("{way:?}, {gap}: {e}"))?;
                let (Some(best), Some(bound)) = (&outcome.best, outcome.bound) else { continue };
                let missing = best.value.abs_diff(bound) as f64 / best.value.max(1) as f64;
                if missing > gap
                    || !matches!(outcome.status, Status::Optimal | Status::Stopped(StopReason::Gap))
                {
                    return Err(format!("{way:?}, a gap of {gap}: {outcome:?}"));
                }
            }
        }
        Ok(())
    });
}

/// A search within a limit, and all its improvements.
fn improvements(
    table: &TableProblem,
    way: Way,
    with: impl FnOnce(Search<'_>) -> Search<'_>,
) -> Result<(Outcome, Vec<(u64, u64)>), String> {
    let (problem, factory) = (table.problem(), table.factory(ComeBack::Clone));
    let mut improved = Vec::new();
    let mut observer = |event: Event<'_>| {
        if let Event::Improved(improvement) = event {
            improved.push((improvement.value, improvement.size));
        }
    };
    let factory = remembering(&problem, &factory, way.1);
    let outcome = with(wall::search(&problem, &*factory, way)).observer(&mut observer).run();
    Ok((outcome.map_err(|error| error.to_string())?, improved))
}

/// With a gap and a limit on queries the value is never worse than without the gap: it is the same search, and the gap
/// says only when it ends.
#[test]
fn a_gap_never_makes_a_limited_search_worse() {
    let check = |table: &TableProblem| {
        let is_plain = table.objective.is_plain();
        for way in WITH_MEMORY.into_iter().filter(|way| is_plain || way.0 == Engine::Behaviour) {
            let (whole, _) = improvements(table, way, |search| search)?;
            let needed = all_queries(&whole);
            for gap in [0.01, 0.1, 0.34, 1.0] {
                for limit in (1..=needed).step_by((needed as usize / 12).max(1)) {
                    let (plain, expected) = improvements(table, way, |search| search.query_limit(limit))?;
                    let (outcome, found) =
                        improvements(table, way, |search| search.query_limit(limit).gap(gap))?;
                    let is_same = match outcome.status {
                        // It made the same steps up to where the value was good enough.
                        Status::Stopped(StopReason::Gap) => {
                            expected.starts_with(&found) && all_queries(&outcome) <= all_queries(&plain)
                        }
                        _ => outcome == plain && found == expected,
                    };
                    if !is_same {
                        return Err(format!(
                            "{way:?}, a gap of {gap} within {limit} queries: {found:?}, {outcome:?}\n\
                             instead of {expected:?}, {plain:?}"
                        ));
                    }
                }
            }
        }
        Ok(())
    };
    on_all(0.001, check);
    for wanted in [Wanted::Reach, Wanted::Survive] {
        run(0.002, any_objective(scattered(wanted, MOST_TREES)), check);
    }
}

/// The first tree is any that has a value, or is perfect; there is none only if no tree exists, or, for
/// `survive`, the search came to its end.
#[test]
fn first_trees() {
    on_all(0.01, |table| {
        let optimum = oracle::best(table);
        for way in WITH_MEMORY {
            let mut improvements = 0;
            let mut count = |event: Event<'_>| {
                improvements += u64::from(matches!(event, Event::Improved(_)));
            };
            let problem = table.problem();
            let factory = table.factory(ComeBack::Clone);
            let factory = remembering(&problem, &factory, way.1);
            let first = wall::search(&problem, &*factory, way).first().observer(&mut count).run();
            let outcome = first.map_err(|error| error.to_string())?;
            check_true(table, &outcome, optimum).map_err(|e| format!("{way:?}: {e}"))?;
            let is_reach = matches!(table.objective, Objective::Reach { .. });
            if outcome.best.is_some() != optimum.is_some() || is_reach && improvements > 1 {
                return Err(format!("{way:?}: {improvements} improvements, {outcome:?}"));
            }
        }
        Ok(())
    });
}

/// Whatever tree of the problem a search starts with, its answer is the same; and if it is stopped, it is
/// at least as good as that tree.
#[test]
fn starts() {
    on_all(0.004, |table| {
        let optimum = oracle::best(table);
        let trees: Vec<_> =
            (0..=table.nodes).flat_map(|size| oracle::trees(table, size, table.depth)).collect();
        // Some of all trees, and some of those that have the best value but may be larger than needed.
        let is_best = |tree: &Tree| oracle::value(table, tree) == optimum.map(|(value, _)| value);
        let best: Vec<_> = trees.iter().filter(|tree| is_best(tree)).cloned().collect();
        let some = |trees: &'_ Vec<Tree>| trees.clone().into_iter().step_by(trees.len() / 4 + 1);
        for way in WITH_MEMORY {
            let whole = search(table, way, ComeBack::Clone, |search| search)?;
            for tree in &some(&trees).chain(some(&best)).collect::<Vec<_>>() {
                let outcome = search(table, way, ComeBack::Clone, |search| started(search, tree))?;
                check_outcome(table, &outcome, optimum).map_err(|e| format!("{way:?}, {tree:?}: {e}"))?;
                // If it is optimal itself it is the answer.
                let worth = oracle::value(table, tree).map(|value| (value, tree.size()));
                let is_kept = outcome.best.as_ref().is_some_and(|best| best.tree == *tree);
                if way.0 == Engine::Behaviour && worth.is_some() && worth == optimum && !is_kept {
                    return Err(format!("{way:?} from {tree:?}: {:?}", outcome.best));
                }
                if way.0 != Engine::Behaviour && outcome.best != whole.best {
                    return Err(format!("{way:?} from {tree:?}: {:?}, not {:?}", outcome.best, whole.best));
                }
                let value = oracle::value(table, tree);
                // So many queries are enough to run it, and then it is kept.
                let enough = table.objective.horizon() * table.initial.len() as u64;
                for limit in [0, 10, enough, enough + 30] {
                    let outcome = search(table, way, ComeBack::Replay, |search| {
                        started(search, tree).query_limit(limit)
                    })?;
                    check_true(table, &outcome, optimum)?;
                    let best = outcome.best.map(|best| best.value);
                    if let Some(value) = value.filter(|_| limit >= enough)
                        && best.is_none_or(|best| table.objective.is_better(value, best))
                    {
                        return Err(format!("{way:?} loses {tree:?}, has {best:?}"));
                    }
                }
            }
        }
        Ok(())
    });
}

/// Against brute force: the states that are infeasible alone are all of them, and those that are
/// infeasible together are no more so when any one is left out.
#[test]
fn infeasible_initial_states() {
    let is_infeasible = |table: &TableProblem, states: &[usize]| {
        let initial = states.iter().map(|&state| table.initial[state]).collect();
        oracle::best(&TableProblem { initial, ..table.clone() }).is_none()
    };
    let check = |table: &TableProblem| {
        if table.initial.len() < 2 || oracle::best(table).is_some() {
            return Ok(());
        }
        let all: Vec<usize> = (0..table.initial.len()).collect();
        let alone: Vec<usize> = all.iter().copied().filter(|&state| is_infeasible(table, &[state])).collect();
        let (problem, factory) = (table.problem(), table.factory(ComeBack::Clone));
        for limit in [0, 20, 100, u64::MAX] {
            let found = explain(&problem, &factory, limit, None);
            if limit == u64::MAX && (found.alone != alone || found.is_cut_short) {
                return Err(format!("{alone:?} are infeasible alone, not {found:?}"));
            }
            let together = &found.together;
            let without = |one: usize| -> Vec<usize> {
                together.iter().copied().filter(|&state| state != one).collect()
            };
            let is_minimal = || together.iter().all(|&one| !is_infeasible(table, &without(one)));
            let is_right = if together.is_empty() {
                found.is_cut_short || !alone.is_empty()
            } else {
                alone.is_empty() && is_infeasible(table, together) && (found.is_cut_short || is_minimal())
            };
            if !is_right || found.alone.iter().any(|state| !alone.contains(state)) {
                return Err(format!("within {limit}: {found:?}; alone: {alone:?}"));
            }
        }
        Ok(())
    };
    run(0.03, scattered(Wanted::Reach, MOST_TREES), check);
    run(0.03, structured(Wanted::Reach, MOST_TREES), check);
}

/// The first tree that is as good as asked for ends the search; if none is, the search comes to its end.
#[test]
fn good_enough() {
    let problem = MOUNTAIN_CAR.problem().build().expect("the defaults");
    let search = |value| Search::new(&problem, &MOUNTAIN_CAR).good_enough(value).run().expect("it runs");
    for value in [130.0, 115.0, 104.0] {
        let outcome = search(value);
        assert_eq!(outcome.status, Status::Stopped(StopReason::First), "{value}");
        let best = outcome.best.expect("it was found");
        assert!(best.value as f64 <= value && outcome.bound <= Some(104), "{best:?}");
    }
    let outcome = search(103.0);
    assert_eq!((outcome.status, outcome.bound), (Status::Optimal, Some(104)));
}

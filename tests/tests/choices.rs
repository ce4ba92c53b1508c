//! Fronts, prices and all optimal trees against exhaustive enumeration, on random small problems.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use broccoli_core::problem::{ComeBack, InitialState, Reply, System, SystemError, SystemFactory};
use broccoli_core::search::{Engine, Front, FrontPart, Optima, Search, Status};
use broccoli_core::tree::Tree;
use broccoli_tests::check::{check_front, is};
use broccoli_tests::oracle;
use broccoli_tests::random::{Wanted, any_objective, scattered, structured};
use broccoli_tests::remembering;
use broccoli_tests::table::TableProblem;
use broccoli_tests::wall::run;
use proptest::prelude::*;

const MOST_TREES: u64 = 2_500;
const THREADS: NonZeroUsize = NonZeroUsize::new(3).unwrap();

/// Runs a check on problems of each kind.
fn on_all(share: f64, check: impl Fn(&TableProblem) -> Result<(), String>) {
    run(share, scattered(Wanted::Reach, MOST_TREES), &check);
    run(share, scattered(Wanted::Survive, MOST_TREES), &check);
    run(share, structured(Wanted::Reach, MOST_TREES), &check);
    run(share, structured(Wanted::Survive, MOST_TREES), &check);
    run(share, any_objective(scattered(Wanted::Reach, MOST_TREES)), &check);
    run(share, any_objective(structured(Wanted::Survive, MOST_TREES)), &check);
}

#[test]
fn a_front_has_the_best_tree_of_every_size() {
    on_all(0.01, |table| {
        let (problem, factory) = (table.problem(), table.factory(ComeBack::Snapshot));
        let front = Search::new(&problem, &factory).front().map_err(|e| e.to_string())?;
        check_front(table, &front)?;
        let is_stopped = |part: &FrontPart| matches!(part.status, Status::Stopped(_));
        is(!front.parts.iter().any(is_stopped), || format!("{front:?} was not stopped by anybody"))?;
        // Each part is the answer of a search with its limit, with threads and with memory, too.
        for part in &front.parts {
            let limited = TableProblem { nodes: *part.sizes.end(), ..table.clone() }.problem();
            let alone = Search::new(&limited, &factory).run().map_err(|e| e.to_string())?;
            let same = (alone.status, &alone.best, alone.bound) == (part.status, &part.best, part.bound);
            is(same, || format!("{part:?} instead of {alone:?}"))?;
        }
        let threads = Search::new(&problem, &factory).threads(THREADS);
        let threads = threads.front().map_err(|e| e.to_string())?;
        let factory = remembering(&problem, &factory, Some(1 << 30));
        let cached = Search::new(&problem, &*factory).front().map_err(|e| e.to_string())?;
        is(threads.parts == front.parts && cached.parts == front.parts, || {
            format!("{threads:?} {cached:?}")
        })?;
        let queries = |front: &Front| {
            let s = front.outcome.statistics;
            (s.queries, s.cache_hits)
        };
        // What a smaller limit asks again is known by then.
        let (asked, (again, known)) = (queries(&front).0, queries(&cached));
        is(again <= asked && (again == asked || known > 0), || {
            format!("{again} queries with memory, {asked} without")
        })
    });
}

#[test]
fn a_front_that_is_stopped_claims_nothing_false() {
    on_all(0.01, |table| {
        let (problem, factory) = (table.problem(), table.factory(ComeBack::Clone));
        let full = Search::new(&problem, &factory).front().map_err(|e| e.to_string())?;
        let s = full.outcome.statistics;
        let made = s.queries + s.replayed;
        for limit in [0, made / 3, made * 2 / 3, made.saturating_sub(1), made] {
            let search = Search::new(&problem, &factory).query_limit(limit);
            let front = search.front().map_err(|e| e.to_string())?;
            check_front(table, &front)?;
            let s = front.outcome.statistics;
            is(s.queries + s.replayed <= limit, || format!("{s:?} with {limit}"))?;
            // With a query less it may come to its end all the same: the last one of a hint is no use.
            let is_stopped = matches!(front.outcome.status, Status::Stopped(_));
            is(!is_stopped || limit < made, || format!("{:?} with {limit} of {made}", front.outcome.status))?;
            is(is_stopped || front.parts == full.parts, || format!("{front:?} instead of {full:?}"))?;
        }
        Ok(())
    });
}

/// A table, and prices for its dimensions: few values, so that sets of them often cost the same.
fn with_prices(tables: BoxedStrategy<TableProblem>) -> BoxedStrategy<(TableProblem, Vec<f64>)> {
    let price =
        prop_oneof![2 => Just(0.0), 3 => (1..=3u8).prop_map(f64::from), 1 => Just(0.1), 1 => Just(1e17)];
    (tables, proptest::collection::vec(price, 4))
        .prop_map(|(table, mut prices)| {
            prices.truncate(table.thresholds.len());
            (table, prices)
        })
        .boxed()
}

fn on_all_with_prices(share: f64, check: impl Fn(&(TableProblem, Vec<f64>)) -> Result<(), String>) {
    run(share, with_prices(scattered(Wanted::Reach, MOST_TREES)), &check);
    run(share, with_prices(scattered(Wanted::Survive, MOST_TREES)), &check);
    run(share, with_prices(structured(Wanted::Reach, MOST_TREES)), &check);
    run(share, with_prices(structured(Wanted::Survive, MOST_TREES)), &check);
    run(share, with_prices(any_objective(scattered(Wanted::Reach, MOST_TREES))), &check);
    run(share, with_prices(any_objective(structured(Wanted::Survive, MOST_TREES))), &check);
}

/// The dimensions with a price that a tree asks.
fn asked(tree: &Tree, prices: &[f64]) -> Vec<usize> {
    tree.dimensions().into_iter().filter(|&dimension| prices[dimension] > 0.0).collect()
}

#[test]
fn the_cheapest_of_the_smallest_of_the_best() {
    on_all_with_prices(0.015, |(table, prices)| {
        let (problem, factory) = (table.priced(prices), table.factory(ComeBack::Snapshot));
        let outcome = Search::new(&problem, &factory).run().map_err(|e| e.to_string())?;
        let optima = oracle::optima(table, prices);
        let best = outcome.best.as_ref().map(|best| &best.tree);
        is(best.is_none() == optima.is_empty(), || format!("{best:?}, and {} optima", optima.len()))?;
        let Some(best) = best else { return Ok(()) };
        is(optima.contains(best), || format!("{best:?} of price {}", oracle::price(best, prices)))?;
        is(problem.price(best) == oracle::price(best, prices), || format!("{}", problem.price(best)))?;
        // Of equally dear sets of dimensions, the one with the fewest, then the first.
        let first = optima.iter().map(|tree| asked(tree, prices)).min_by_key(|set| (set.len(), set.clone()));
        is(Some(asked(best, prices)) == first, || format!("{best:?}, not one that asks {first:?}"))?;
        let threads = Search::new(&problem, &factory).threads(THREADS);
        let threads = threads.run().map_err(|e| e.to_string())?;
        is(threads.best == outcome.best, || format!("{threads:?} instead of {outcome:?}"))?;
        let every = Search::new(&problem, &factory).engine(Engine::Exhaustive);
        let every = every.run().map_err(|e| e.to_string())?.best.map(|best| best.tree);
        is(every.as_ref().is_some_and(|tree| optima.contains(tree)), || format!("{every:?}"))?;
        // Stopped before the price is proved, that is not claimed.
        let s = outcome.statistics;
        let made = s.queries + s.replayed;
        for limit in [made / 2, made.saturating_sub(1)] {
            let stopped =
                Search::new(&problem, &factory).query_limit(limit).run().map_err(|e| e.to_string())?;
            is(stopped.status != Status::Optimal || stopped.best == outcome.best, || format!("{stopped:?}"))?;
        }
        Ok(())
    });
}

#[test]
fn all_optimal_trees_and_no_other() {
    on_all_with_prices(0.01, |(table, prices)| {
        let (problem, factory) = (table.priced(prices), table.factory(ComeBack::Snapshot));
        let search = || Search::new(&problem, &factory);
        let list = |search: Search<'_>, most| -> Result<Optima, String> {
            search.all_optimal(NonZeroUsize::new(most).ok_or("0")?).map_err(|e| e.to_string())
        };
        let expected = oracle::optima(table, prices);
        let all = list(search(), usize::MAX)?;
        let mut trees = all.trees.clone();
        trees.sort();
        is(trees == expected, || format!("{} trees, not {}: {trees:?}", trees.len(), expected.len()))?;
        let is_infeasible = all.outcome.status == Status::Infeasible;
        is(all.is_complete != is_infeasible, || format!("{all:?}"))?;
        let best = all.outcome.best.as_ref().map(|best| &best.tree);
        is(all.trees.first() == best && all.trees.iter().skip(1).is_sorted(), || format!("{:?}", all.trees))?;
        let alone = search().run().map_err(|e| e.to_string())?;
        is(alone.best == all.outcome.best, || format!("{:?} alone", alone.best))?;
        for most in [1, 2, expected.len().saturating_sub(1).max(1), expected.len().max(1)] {
            let some = list(search(), most)?;
            let count = expected.len().min(most);
            is(some.trees.len() == count && some.trees.first() == best, || format!("{most}: {some:?}"))?;
            is(some.is_complete == (!is_infeasible && count == expected.len()), || {
                format!("{most}: {some:?}")
            })?;
            is(some.trees.iter().all(|tree| expected.contains(tree)), || format!("{most}: {some:?}"))?;
            is(some.trees.iter().skip(1).is_sorted_by(|a, b| a < b), || format!("{most}: {some:?}"))?;
            let threads = list(search().threads(THREADS), most)?;
            is(threads.trees == some.trees, || format!("{threads:?} instead of {some:?}"))?;
        }
        let s = all.outcome.statistics;
        let made = s.queries + s.replayed;
        let stopped = list(search().query_limit(made.saturating_sub(1)), usize::MAX)?;
        is(!stopped.is_complete || stopped.trees == all.trees, || format!("{stopped:?}"))?;
        is(stopped.trees.iter().all(|tree| expected.contains(tree)), || format!("{stopped:?}"))
    });
}

/// A system that answers so many queries in all, and then fails or panics.
struct Mortal {
    system: Box<dyn System>,
    left: Arc<AtomicU64>,
    panics: bool,
}

impl System for Mortal {
    fn reset(&mut self, initial: &InitialState, observation: &mut [f64]) -> Result<Reply, SystemError> {
        self.system.reset(initial, observation)
    }

    fn step(&mut self, action: usize, observation: &mut [f64]) -> Result<Reply, SystemError> {
        let left = self.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
        match left {
            Ok(_) => self.system.step(action, observation),
            Err(_) if self.panics => panic!("worn out"),
            Err(_) => Err(SystemError::new("worn out")),
        }
    }
}

#[test]
fn a_system_that_fails_on_the_way_takes_nothing_with_it() {
    on_all_with_prices(0.003, |(table, prices)| {
        let problem = table.priced(prices);
        let count = |left: u64, panics| {
            let table_factory = table.factory(ComeBack::Replay);
            let left = Arc::new(AtomicU64::new(left));
            let counter = Arc::clone(&left);
            let factory = move || -> Result<Box<dyn System>, SystemError> {
                Ok(Box::new(Mortal { system: table_factory.make()?, left: Arc::clone(&left), panics }))
            };
            (factory, counter)
        };
        let (factory, left) = count(u64::MAX, false);
        let whole =
            Search::new(&problem, &factory).all_optimal(NonZeroUsize::MAX).map_err(|e| e.to_string())?;
        let made = u64::MAX - left.load(Relaxed);
        for (queries, panics) in
            [(made / 2, false), (made.saturating_sub(1), false), (made.saturating_sub(1), true)]
        {
            if made == 0 {
                continue;
            }
            let (factory, _) = count(queries, panics);
            let failed = Search::new(&problem, &factory).all_optimal(NonZeroUsize::MAX);
            let best = match &failed {
                Ok(optima) => return Err(format!("{optima:?} with {queries} of {made} queries")),
                Err(failure) => failure.best.as_ref(),
            };
            is(
                best.is_none_or(|best| {
                    oracle::number(table, &best.tree) == Some(table.objective.number(best.value))
                }),
                || format!("{best:?}"),
            )?;
            is(queries < made - 1 || best.is_some() == whole.outcome.best.is_some(), || format!("{best:?}"))?;
        }
        Ok(())
    });
}

//! The wall: every engine must agree with brute force on every random problem.

use broccoli_core::problem::{ComeBack, Objective, Problem, SystemFactory};
use broccoli_core::search::{Engine, Outcome, Search, Statistics, Status};
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, FileFailurePersistence, RngSeed, TestRunner};

use crate::oracle;
use crate::table::TableProblem;

/// Every engine and mode that must give the same answer.
pub const ENGINES: [Engine; 4] = [
    Engine::Exhaustive,
    Engine::Backtracking { pruning: true },
    Engine::Backtracking { pruning: false },
    Engine::Behaviour,
];

/// An engine, and a cache of so many bytes if any.
pub type Way = (Engine, Option<usize>);

/// Every engine without a cache, and the one that uses a cache with one for everything, one for a little and
/// one for nothing.
pub const WITH_CACHES: [Way; 7] = [
    (ENGINES[0], None),
    (ENGINES[1], None),
    (ENGINES[2], None),
    (Engine::Behaviour, None),
    (Engine::Behaviour, Some(LARGE_CACHE)),
    (Engine::Behaviour, Some(TINY_CACHE)),
    (Engine::Behaviour, Some(0)),
];

/// A cache for all transitions, and one for a few.
const LARGE_CACHE: usize = 1 << 30;
const TINY_CACHE: usize = 500;

/// A search to be run this way.
pub fn search<'a>(problem: &'a Problem, factory: &'a dyn SystemFactory, (engine, cache): Way) -> Search<'a> {
    let search = Search::new(problem, factory).engine(engine);
    match cache {
        Some(bytes) => search.cache(bytes),
        None => search,
    }
}

/// Checks every engine on one problem against the oracle.
///
/// # Errors
/// What disagrees, in words.
pub fn check(table: &TableProblem) -> Result<(), String> {
    let expected = oracle::best(table);
    for engine in ENGINES {
        let ways: &[ComeBack] = match engine {
            Engine::Behaviour => &[ComeBack::Replay, ComeBack::Snapshot, ComeBack::Clone],
            _ => &[ComeBack::Replay],
        };
        for &come_back in ways {
            check_engine(table, engine, come_back, expected)
                .map_err(|wrong| format!("{engine:?}, {come_back:?}: {wrong}"))?;
        }
    }
    Ok(())
}

fn check_engine(
    table: &TableProblem,
    engine: Engine,
    come_back: ComeBack,
    expected: Option<(u64, u64)>,
) -> Result<(), String> {
    let problem = table.problem();
    let factory = table.factory(come_back);
    let outcome = Search::new(&problem, &factory).engine(engine).run().map_err(|e| e.to_string())?;
    check_outcome(table, &outcome, expected)?;
    if engine != Engine::Behaviour {
        return Ok(());
    }
    let any = Search::new(&problem, &factory).any_optimal().run().map_err(|e| e.to_string())?;
    let again = Search::new(&problem, &factory).run().map_err(|e| e.to_string())?;
    if any.statistics.queries_canonical > 0 || again.best != outcome.best {
        return Err(format!("{any:?} or {again:?} is not as promised"));
    }
    check_outcome(table, &any, expected)?;
    for bytes in [LARGE_CACHE, TINY_CACHE] {
        let cached = |search: Search<'_>| search.cache(bytes).run().map_err(|e| e.to_string());
        check_cached(&problem, &outcome, &cached(Search::new(&problem, &factory))?)
            .and_then(|()| {
                check_cached(&problem, &any, &cached(Search::new(&problem, &factory).any_optimal())?)
            })
            .map_err(|wrong| format!("with a cache of {bytes} bytes, {wrong}"))?;
    }
    Ok(())
}

/// Checks that a search with a cache has done the same as one without, but for the queries it was spared.
/// With several initial states the one without remembers traces, so it is spared queries, too; and the scout
/// of a `reach` search, which makes one for so many, falls back.
fn check_cached(problem: &Problem, without: &Outcome, with: &Outcome) -> Result<(), String> {
    let has_several = problem.initial_states().len() > 1;
    let has_scout = matches!(problem.objective(), Objective::Reach { .. });
    let counts = |Statistics { behaviours, necessary_queries, .. }| (behaviours, necessary_queries);
    let transitions = |s: Statistics| (s.traces, s.queries + s.queries_canonical + s.cache_hits);
    let (some, all) = (transitions(without.statistics), transitions(with.statistics));
    let are_same_counts = counts(with.statistics) == counts(without.statistics)
        && (some == all || has_several && some.0 <= all.0 && some.1 <= all.1);
    let is_same = (with.status, &with.best, with.bound) == (without.status, &without.best, without.bound)
        && (are_same_counts || has_several && has_scout);
    if is_same { Ok(()) } else { Err(format!("{with:?} instead of {without:?}")) }
}

/// Checks that an outcome says what the oracle says, and that its tree does what it claims.
///
/// # Errors
/// What is wrong, in words.
pub fn check_outcome(
    table: &TableProblem,
    outcome: &Outcome,
    expected: Option<(u64, u64)>,
) -> Result<(), String> {
    let best = outcome.best.as_ref();
    let found = best.map(|best| (best.value, best.tree.size()));
    if found != expected {
        return Err(format!("(value, size) is {found:?}, not {expected:?}"));
    }
    let status = if expected.is_some() { Status::Optimal } else { Status::Infeasible };
    if outcome.status != status || outcome.bound != expected.map(|(value, _)| value) {
        return Err(format!("status {:?}, bound {:?}", outcome.status, outcome.bound));
    }
    let Some(best) = best else { return Ok(()) };
    let rerun = oracle::value(table, &best.tree);
    if rerun != Some(best.value) {
        return Err(format!("{:?} claims {} but gives {rerun:?}", best.tree, best.value));
    }
    if best.tree.depth() > table.depth || best.tree.size() > table.nodes {
        return Err(format!("{:?} is beyond the limits", best.tree));
    }
    Ok(())
}

/// Runs `check` on random problems: `share` of the number of cases, which is 100,000 or what the
/// environment variable `BROCCOLI_CASES` says. Always the same cases, unless `BROCCOLI_SEED` is set,
/// to a number or to `random`. A failing case shrinks, is printed as JSON for `tests/regressions/`,
/// and its seed is saved.
///
/// # Panics
/// With the smallest failing problem found.
pub fn run<T: std::fmt::Debug + serde::Serialize>(
    share: f64,
    strategy: impl Strategy<Value = T>,
    check: impl Fn(&T) -> Result<(), String>,
) {
    let variable = |name| std::env::var(name).ok();
    let cases =
        variable("BROCCOLI_CASES").map_or(100_000.0, |n| n.parse().expect("BROCCOLI_CASES is a number"));
    let rng_seed = match variable("BROCCOLI_SEED").as_deref() {
        None => RngSeed::Fixed(0),
        Some("random") => RngSeed::Random,
        Some(seed) => RngSeed::Fixed(seed.parse().expect("BROCCOLI_SEED is a number or `random`")),
    };
    let config = Config {
        cases: (cases * share).ceil() as u32,
        rng_seed,
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        source_file: Some(file!()),
        ..Config::default()
    };
    let ran = TestRunner::new(config).run(&strategy, |table| {
        check(&table).map_err(|wrong| {
            let json = serde_json::to_string(&table).unwrap_or_default();
            proptest::test_runner::TestCaseError::fail(format!("{wrong}\n{json}\n"))
        })
    });
    if let Err(error) = ran {
        panic!("{error}");
    }
}

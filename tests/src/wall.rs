//! The wall: what runs a check on random problems, and what all checks share.

use broccoli_core::problem::{Problem, SystemFactory};
use broccoli_core::search::{Engine, Outcome, Search, Status};
use proptest::strategy::BoxedStrategy;
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

/// An engine, and the memory for what the system answers, if that is remembered.
pub type Way = (Engine, Option<usize>);

/// Every engine on a system that does not remember, and one with memory for everything, for a little and for nothing.
pub const WITH_MEMORY: [Way; 7] = [
    (ENGINES[0], None),
    (ENGINES[1], None),
    (ENGINES[2], None),
    (Engine::Behaviour, None),
    (Engine::Behaviour, Some(LARGE)),
    (Engine::Behaviour, Some(TINY)),
    (Engine::Behaviour, Some(0)),
];

/// Memory for all transitions, and for a few.
const LARGE: usize = 1 << 30;
const TINY: usize = 500;

/// A search to be run this way, on systems that [remember](crate::remembering) as it says.
pub fn search<'a>(problem: &'a Problem, factory: &'a dyn SystemFactory, (engine, _): Way) -> Search<'a> {
    Search::new(problem, factory).engine(engine)
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

/// How many random problems there are.
///
/// # Panics
/// When `BROCCOLI_CASES` is not a number.
pub fn cases() -> f64 {
    let cases = std::env::var("BROCCOLI_CASES").ok();
    cases.map_or(100_000.0, |cases| cases.parse().expect("BROCCOLI_CASES is a number"))
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
    strategy: BoxedStrategy<T>,
    check: impl Fn(&T) -> Result<(), String>,
) {
    // Compiled once for all checks of one kind of problem.
    run_any(share, &strategy, &check);
}

fn run_any<T: std::fmt::Debug + serde::Serialize>(
    share: f64,
    strategy: &BoxedStrategy<T>,
    check: &dyn Fn(&T) -> Result<(), String>,
) {
    let rng_seed = match std::env::var("BROCCOLI_SEED").ok().as_deref() {
        None => RngSeed::Fixed(0),
        Some("random") => RngSeed::Random,
        Some(seed) => RngSeed::Fixed(seed.parse().expect("BROCCOLI_SEED is a number or `random`")),
    };
    let config = Config {
        cases: (cases() * share).ceil() as u32,
        rng_seed,
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        source_file: Some(file!()),
        ..Config::default()
    };
    let ran = TestRunner::new(config).run(strategy, |table| {
        check(&table).map_err(|wrong| {
            let json = serde_json::to_string(&table).unwrap_or_default();
            proptest::test_runner::TestCaseError::fail(format!("{wrong}\n{json}\n"))
        })
    });
    if let Err(error) = ran {
        panic!("{error}");
    }
}

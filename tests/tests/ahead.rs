//! A perfect tree that is found ahead of a round of `survive` is the one answer, however the search is run.

use std::num::NonZeroUsize;

use broccoli_core::problem::{InitialState, Problem};
use broccoli_core::search::{Outcome, Search, Status};
use broccoli_core::tree::Tree;
use broccoli_environments::CARTPOLE;

/// The row of Table 2 with X=15: a perfect tree of four predicates is found ahead of the round of three.
fn problem() -> Problem {
    let grids = CARTPOLE.grids(Some(&[0.32, 0.13, 0.08, 0.13])).expect("the steps of the paper make grids");
    let initial = vec![InitialState::new(CARTPOLE.initial)];
    CARTPOLE.problem_with(grids, initial).depth(3).build().expect("a row is a problem")
}

fn run(search: Search<'_>) -> Outcome {
    search.run().expect("it runs")
}

fn best(outcome: &Outcome) -> (u64, &Tree) {
    let best = outcome.best.as_ref().expect("there is a tree");
    (best.value, &best.tree)
}

#[test]
fn with_any_threads_memory_cache_and_start() {
    let problem = problem();
    let search = || Search::new(&problem, &CARTPOLE);
    let one = NonZeroUsize::MIN;
    let whole = run(search().threads(one));
    assert_eq!((whole.status, best(&whole).0, best(&whole).1.size()), (Status::Optimal, 10_000, 4));
    let check = |outcome: &Outcome, how: &str| {
        assert_eq!((outcome.status, best(outcome)), (whole.status, best(&whole)), "{how}");
    };
    for threads in 2..=4 {
        let threads = NonZeroUsize::new(threads).expect("some");
        check(&run(search().threads(threads).threads_after(100)), &format!("{threads} threads"));
    }
    // In some of these, memory runs out while the search goes ahead; in others, before or after.
    for bytes in (12..26).map(|power| 1 << power) {
        check(&run(search().threads(one).memory_limit(bytes)), &format!("{bytes} bytes"));
        for cache in [1 << 16, 1 << 20, 1 << 30] {
            let outcome = run(search().threads(one).memory_limit(bytes).cache(cache));
            check(&outcome, &format!("{bytes} bytes, a cache of {cache}"));
        }
    }
    // Perfect trees of four predicates, and of more.
    let first = run(search().threads(one).first());
    for tree in [best(&whole).1, best(&first).1] {
        let started = search().threads(one).start(tree.clone()).expect("it is of this problem");
        check(&run(started), &format!("from {tree:?}"));
    }
}

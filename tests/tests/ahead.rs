//! A perfect tree that is found ahead of a round of `survive` is the one answer, however the search is run.

use std::num::NonZeroUsize;

use broccoli_core::problem::{InitialState, Problem};
use broccoli_core::search::{Outcome, Search, Status};
use broccoli_core::tree::Tree;
use broccoli_environments::CARTPOLE;

/// CartPole of depth three with these steps between thresholds.
fn problem(steps: &[f64], initial: &[f64]) -> Problem {
    let grids = CARTPOLE.grids(Some(steps)).expect("the steps make grids");
    let initial = vec![InitialState::new(initial)];
    CARTPOLE.problem_with(grids, initial).depth(3).build().expect("it is a problem")
}

/// The row of Table 2 with X=15: a perfect tree of four predicates is found ahead of the round of three.
fn row() -> Problem {
    problem(&[0.32, 0.13, 0.08, 0.13], CARTPOLE.initial)
}

/// Here the perfect tree found ahead of the round of three is not the one that the round of four finds first.
fn several() -> Problem {
    problem(&[0.232, 0.105, 0.198, 0.248], &[0.0097, -0.005, -0.0187, -0.0437])
}

fn run(search: Search<'_>) -> Outcome {
    search.run().expect("it runs")
}

fn best(outcome: &Outcome) -> (u64, &Tree) {
    let best = outcome.best.as_ref().expect("there is a tree");
    (best.value, &best.tree)
}

/// The answer with one thread.
fn answer(problem: &Problem) -> Outcome {
    let outcome = run(Search::new(problem, &CARTPOLE).threads(NonZeroUsize::MIN));
    assert_eq!((outcome.status, best(&outcome).0, best(&outcome).1.size()), (Status::Optimal, 10_000, 4));
    outcome
}

fn check(answer: &Outcome, outcome: &Outcome, how: &str) {
    assert_eq!((outcome.status, best(outcome)), (answer.status, best(answer)), "{how}");
}

#[test]
fn with_any_threads_and_start() {
    for problem in [row(), several()] {
        let search = || Search::new(&problem, &CARTPOLE);
        let answer = answer(&problem);
        for threads in 2..=4 {
            let threads = NonZeroUsize::new(threads).expect("some");
            check(&answer, &run(search().threads(threads).threads_after(100)), &format!("{threads} threads"));
        }
        // Perfect trees of four predicates, and of more.
        let first = run(search().threads(NonZeroUsize::MIN).first());
        for tree in [best(&answer).1, best(&first).1] {
            let started = search().start(tree.clone()).expect("it is of this problem");
            check(&answer, &run(started.threads(NonZeroUsize::MIN)), &format!("from {tree:?}"));
        }
    }
}

#[test]
fn with_any_memory_and_cache() {
    for problem in [row(), several()] {
        let search = || Search::new(&problem, &CARTPOLE).threads(NonZeroUsize::MIN);
        let answer = answer(&problem);
        // In some of these, memory runs out while the search goes ahead; in others, before or after.
        for bytes in (12..26).step_by(2).map(|power| 1 << power) {
            check(&answer, &run(search().memory_limit(bytes)), &format!("{bytes} bytes"));
            for cache in [1 << 16, 1 << 20, 1 << 30] {
                let outcome = run(search().memory_limit(bytes).cache(cache));
                check(&answer, &outcome, &format!("{bytes} bytes, a cache of {cache}"));
            }
        }
    }
}

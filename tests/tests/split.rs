//! A search cut into parts, each solved by itself, has the answer of the whole.

use std::num::NonZeroUsize;

use broccoli_core::problem::{ComeBack, Problem, SystemFactory};
use broccoli_core::search::{
    Outcome, ResumeError, Search, Status, StopReason, Subproblem, SubproblemError, join,
};
use broccoli_environments::{CARTPOLE, MOUNTAIN_CAR, PENDULUM};
use broccoli_tests::oracle;
use broccoli_tests::random::{Wanted, scattered, structured};
use broccoli_tests::table::TableProblem;
use broccoli_tests::wall::{check_outcome, run};

const MOST_TREES: u64 = 2_500;

/// Splits a search, and sends each part through JSON.
fn split(
    problem: &Problem,
    factory: &dyn SystemFactory,
    parts: usize,
) -> Result<(Outcome, Vec<Subproblem>), String> {
    let parts = NonZeroUsize::new(parts).expect("at least one");
    let (so_far, parts) = Search::new(problem, factory).split(parts).map_err(|e| e.to_string())?;
    let sent = |part| {
        let json = serde_json::to_string(part).map_err(|e| e.to_string())?;
        serde_json::from_str(&json).map_err(|e| e.to_string())
    };
    Ok((so_far, parts.iter().map(sent).collect::<Result<_, _>>()?))
}

/// Splits a search and solves its parts, the last one first.
fn in_parts(problem: &Problem, factory: &dyn SystemFactory, parts: usize) -> Result<Outcome, String> {
    let (so_far, parts) = split(problem, factory, parts)?;
    let solve = |part| Search::new(problem, factory).solve_subproblem(part).map_err(|e| e.to_string());
    let outcomes = parts.into_iter().rev().map(solve).collect::<Result<Vec<_>, _>>()?;
    Ok(join(problem.objective(), so_far, outcomes))
}

#[test]
fn random_problems_are_the_sum_of_their_parts() {
    let check = |table: &TableProblem| {
        let (expected, problem) = (oracle::best(table), table.problem());
        for (come_back, parts) in [(ComeBack::Clone, 2), (ComeBack::Snapshot, 3), (ComeBack::Replay, 1)] {
            check_outcome(table, &in_parts(&problem, &table.factory(come_back), parts)?, expected)?;
        }
        Ok(())
    };
    for wanted in [Wanted::Reach, Wanted::Survive] {
        run(0.02, scattered(wanted, MOST_TREES), check);
        run(0.02, structured(wanted, MOST_TREES), check);
    }
}

#[test]
fn environments_are_the_sum_of_their_parts() {
    for environment in [&MOUNTAIN_CAR, &CARTPOLE, &PENDULUM] {
        let problem = environment.problem().build().expect("the defaults");
        let whole = Search::new(&problem, environment).run().expect("it runs");
        let (_, parts) = split(&problem, environment, 7).expect("it runs");
        assert!((5..=7).contains(&parts.len()), "{} parts of {}", parts.len(), environment.name);
        let sum = in_parts(&problem, environment, 7).expect("it runs");
        let size = |outcome: &Outcome| outcome.best.as_ref().map(|best| (best.value, best.tree.size()));
        assert_eq!((sum.status, sum.bound, size(&sum)), (whole.status, whole.bound, size(&whole)));
    }
}

/// A part that was stopped leaves a bound for the whole.
#[test]
fn a_part_that_is_stopped() {
    let problem = MOUNTAIN_CAR.problem().build().expect("the defaults");
    let (so_far, mut parts) = split(&problem, &MOUNTAIN_CAR, 3).expect("it runs");
    let last = parts.pop().expect("more than one part");
    let search = || Search::new(&problem, &MOUNTAIN_CAR);
    let mut outcomes: Vec<_> =
        parts.into_iter().map(|part| search().solve_subproblem(part).unwrap()).collect();
    outcomes.push(search().query_limit(10).solve_subproblem(last).expect("it runs"));
    let sum = join(problem.objective(), so_far, outcomes);
    assert_eq!(sum.status, Status::Stopped(StopReason::QueryLimit));
    assert!(sum.bound.is_some_and(|bound| bound <= 114), "{:?}", sum.bound);
}

#[test]
fn a_part_of_another_problem_is_refused() {
    let problem = |environment: &'static broccoli_environments::Environment| {
        environment.problem().build().expect("the defaults")
    };
    let (_, parts) = split(&problem(&CARTPOLE), &CARTPOLE, 2).expect("it runs");
    let other = problem(&PENDULUM);
    for part in parts {
        let refused = Search::new(&other, &PENDULUM).solve_subproblem(part);
        assert!(matches!(refused, Err(SubproblemError::Misfit(ResumeError::OtherProblem))), "{refused:?}");
    }
}

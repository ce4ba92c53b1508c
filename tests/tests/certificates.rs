//! Certificates: what a search claims follows from the evidence that it has written down.

use std::num::NonZeroUsize;

use broccoli_certificate::Form;
use broccoli_core::problem::{ComeBack, Problem, SystemFactory};
use broccoli_core::search::{Checkpoint, Keeper, Outcome, Search, Status, StopReason};
use broccoli_environments::{CARTPOLE, Environment, MOUNTAIN_CAR, PENDULUM};
use broccoli_tests::certified::{certify, verify, verify_alone};
use broccoli_tests::random::{Wanted, scattered, structured};
use broccoli_tests::table::TableProblem;
use broccoli_tests::wall::run;

const MOST_TREES: u64 = 2_500;
const WAYS: [ComeBack; 3] = [ComeBack::Clone, ComeBack::Snapshot, ComeBack::Replay];

fn threads(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).expect("at least one")
}

/// Certificates of a search in both forms verify, with the system and, if they can, without.
fn check<'a>(
    problem: &'a Problem,
    factory: &'a dyn SystemFactory,
    adjust: impl Fn(Search<'a>) -> Search<'a>,
) -> Result<Outcome, String> {
    let (outcome, light) = certify(problem, factory, Form::Light, &adjust)?;
    verify(&light, problem, factory).map_err(|error| format!("light, {:?}: {error}", outcome.status))?;
    let (_, full) = certify(problem, factory, Form::Full, &adjust)?;
    let alone = verify_alone(&full).map_err(|error| format!("full: {error}"))?;
    let replayed = verify(&full, problem, factory).map_err(|error| format!("replayed: {error}"))?;
    if alone.asked != 0 || replayed.asked != replayed.transitions || alone.transitions != replayed.transitions
    {
        return Err(format!("{alone:?}, {replayed:?}"));
    }
    Ok(outcome)
}

fn over_random_problems(share: f64, check: impl Fn(&TableProblem) -> Result<(), String>) {
    for wanted in [Wanted::Reach, Wanted::Survive] {
        run(share, scattered(wanted, MOST_TREES), &check);
        run(share, structured(wanted, MOST_TREES), &check);
    }
}

#[test]
fn random_problems_verify() {
    over_random_problems(0.01, |table| {
        let problem = table.problem();
        for way in WAYS {
            let factory = table.factory(way);
            check(&problem, &factory, |search| search).map_err(|error| format!("{way:?}: {error}"))?;
            check(&problem, &factory, |search| search.threads(threads(3)).threads_after(0))
                .map_err(|error| format!("{way:?}, three threads: {error}"))?;
        }
        Ok(())
    });
}

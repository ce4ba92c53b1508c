//! Certificates: what a search claims follows from the evidence that it has written down.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use broccoli_certificate::{Certificate as Written, Form, Mark};
use broccoli_checker::{Claim, Thresholds as Checked};
use broccoli_core::problem::{
    ComeBack, InitialState, Problem, Reply, System, SystemError, SystemFactory, Thresholds,
};
use broccoli_core::search::{Checkpoint, Keeper, Outcome, Search, Status, StopReason};
use broccoli_core::tree::Tree;
use broccoli_environments::{CARTPOLE, Environment, MOUNTAIN_CAR, PENDULUM};
use broccoli_tests::certified::{Bytes, begin, certify, read, verify, verify_alone};
use broccoli_tests::oracle;
use broccoli_tests::random::{Wanted, scattered, structured, with_and_without_grid};
use broccoli_tests::table::TableProblem;
use broccoli_tests::wall::run;
use broccoli_tests::{remembering, worth};

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
    let is_all = replayed.asked == replayed.transitions && replayed.recorded == 0;
    let is_same = (replayed.transitions, replayed.answers) == (alone.transitions, alone.answers);
    let is_alone = alone.asked == 0 && alone.recorded == alone.answers;
    if !is_all || !is_same || !is_alone {
        return Err(format!("{alone:?}, {replayed:?}"));
    }
    Ok(outcome)
}

fn over_random_problems(share: f64, check: impl Fn(&TableProblem) -> Result<(), String>) {
    for wanted in [Wanted::Reach, Wanted::Survive] {
        run(share, with_and_without_grid(scattered(wanted, MOST_TREES), MOST_TREES), &check);
        run(share, with_and_without_grid(structured(wanted, MOST_TREES), MOST_TREES), &check);
    }
}

#[test]
fn random_problems_verify() {
    over_random_problems(0.003, |table| {
        let problem = table.problem();
        for way in WAYS {
            let factory = table.factory(way);
            check(&problem, &factory, |search| search).map_err(|error| format!("{way:?}: {error}"))?;
            check(&problem, &factory, |search| search.threads(threads(3)))
                .map_err(|error| format!("{way:?}, three threads: {error}"))?;
        }
        Ok(())
    });
}

/// Searches that end early claim what they have proved, and with any other option claims verify, too.
#[test]
fn searches_with_limits_and_options_verify() {
    over_random_problems(0.001, |table| {
        let problem = table.problem();
        let factory = table.factory(ComeBack::Clone);
        let whole = Search::new(&problem, &factory).run().map_err(|error| error.to_string())?;
        let queries = whole.statistics.queries;
        for limit in [0, 1, queries / 3, queries / 2, queries.saturating_sub(1)] {
            check(&problem, &factory, |search| search.query_limit(limit))?;
        }
        for gap in [0.05, 0.3, 2.0] {
            check(&problem, &factory, |search| search.gap(gap))?;
        }
        check(&problem, &factory, |search| search.first())?;
        check(&problem, &*remembering(&problem, &factory, Some(1 << 20)), |search| search)?;
        check(&problem, &factory, |search| search.memory_limit(1))?;
        for tree in [Some(Tree::Leaf(0)), whole.best.map(|best| best.tree)].into_iter().flatten() {
            check(&problem, &factory, |search| {
                search.start(tree.clone()).unwrap_or_else(|error| panic!("{error}"))
            })?;
        }
        Ok(())
    });
}

/// Keeps the last checkpoint, with the mark of the certificate at that time.
struct WithMark {
    certificate: Arc<Written>,
    every: u64,
    asked: u64,
    kept: Option<(String, Mark)>,
}

impl Keeper for WithMark {
    fn is_due(&mut self) -> bool {
        self.asked += 1;
        self.asked.is_multiple_of(self.every)
    }
    fn keep(&mut self, checkpoint: &Checkpoint) {
        let mark = self.certificate.mark().expect("memory can be written to");
        let checkpoint = serde_json::to_string(checkpoint).expect("a checkpoint is plain data");
        self.kept = Some((checkpoint, mark));
    }
}

/// Runs a search in pieces. Each ends after so many queries or when the system fails; what the certificate
/// got after the checkpoint is cut off, as after a crash.
fn in_pieces(
    problem: &Problem,
    factory: &dyn SystemFactory,
    form: Form,
    (limit, thread_count, every): (u64, usize, u64),
) -> Result<(Outcome, Vec<u8>, u32), String> {
    let bytes = Bytes::default();
    let mut certificate = begin(problem, form, &bytes);
    let first = certificate.mark().expect("memory can be written to");
    let mut kept: Option<(String, Mark)> = None;
    for stops in 0..10_000 {
        let mut keeper = WithMark { certificate: certificate.clone(), every, asked: 0, kept: kept.clone() };
        let mut search = Search::new(problem, factory).threads(threads(thread_count));
        if let Some((checkpoint, _)) = &kept {
            let checkpoint = serde_json::from_str(checkpoint).map_err(|error| error.to_string())?;
            search = search.resume(checkpoint).map_err(|error| error.to_string())?;
        }
        let limited = search.query_limit(limit + u64::from(stops));
        let outcome = limited.keeper(&mut keeper).witness(certificate.clone()).run();
        kept = keeper.kept;
        match outcome {
            Err(_) => {}
            Ok(Outcome { status: Status::Stopped(StopReason::QueryLimit), .. }) => {}
            Ok(outcome) => {
                // The system may fail here, too.
                let end = || certificate.end(problem, factory, &outcome);
                end().or_else(|_| end()).map_err(|error| error.to_string())?;
                return Ok((outcome, bytes.get(), stops));
            }
        }
        let mark = kept.as_ref().map_or(first, |(_, mark)| *mark);
        bytes.cut(mark);
        certificate = Arc::new(Written::go_on(Box::new(bytes.clone()), form, mark));
    }
    Err("it never ends".into())
}

#[test]
fn searches_that_were_stopped_and_resumed_verify() {
    over_random_problems(0.0007, |table| {
        let problem = table.problem();
        for way in WAYS {
            let factory = table.factory(way);
            let whole = Search::new(&problem, &factory).run().map_err(|error| error.to_string())?;
            let needed = whole.statistics.queries + whole.statistics.replayed;
            for (share, threads, every) in [(4, 1, 2), (5, 3, 1), (2, 2, 5)] {
                for form in [Form::Light, Form::Full] {
                    let how = (1 + needed / share, threads, every);
                    let (outcome, bytes, _) = in_pieces(&problem, &factory, form, how)?;
                    verify(&bytes, &problem, &factory)
                        .map_err(|error| format!("{way:?}, {form:?}, {how:?}: {error}"))?;
                    assert_eq!(worth(&outcome), worth(&whole));
                }
            }
        }
        Ok(())
    });
}

/// A system that fails with every so many queries of all its like.
struct Unreliable {
    system: Box<dyn System>,
    queries: Arc<AtomicU64>,
    every: u64,
}

impl System for Unreliable {
    fn reset(&mut self, initial: &InitialState, seen: &mut [f64]) -> Result<Reply, SystemError> {
        self.system.reset(initial, seen)
    }
    fn step(&mut self, action: usize, seen: &mut [f64]) -> Result<Reply, SystemError> {
        if (self.queries.fetch_add(1, Relaxed) + 1).is_multiple_of(self.every) {
            return Err(SystemError::new("no licence left"));
        }
        self.system.step(action, seen)
    }
    fn come_back(&self) -> ComeBack {
        self.system.come_back()
    }
    fn save(&mut self, state: &mut Vec<u8>) -> Result<(), SystemError> {
        self.system.save(state)
    }
    fn restore(&mut self, state: &[u8]) -> Result<(), SystemError> {
        self.system.restore(state)
    }
}

/// A task that fails is done again: what was written down of it must not count.
#[test]
fn searches_whose_system_failed_and_that_were_resumed_verify() {
    for (environment, samples) in [(&MOUNTAIN_CAR, 1), (&PENDULUM, 2)] {
        let problem = sampled(environment, samples);
        let queries = Arc::new(AtomicU64::new(0));
        let factory = || {
            let system = environment.make()?;
            let (queries, every) = (Arc::clone(&queries), 100_000);
            Ok(Box::new(Unreliable { system, queries, every }) as Box<dyn System>)
        };
        for thread_count in [1, 2] {
            // Pieces must be shorter than what a failure throws back.
            let how = (60_000, thread_count, 200);
            let (_, bytes, stops) = in_pieces(&problem, &factory, Form::Full, how).expect("it ends");
            assert!(stops > 1, "{} was stopped {stops} times", environment.name);
            verify_alone(&bytes).expect("it verifies");
            verify(&bytes, &problem, environment).expect("it verifies with the system, too");
        }
    }
}

fn sampled(environment: &Environment, samples: usize) -> Problem {
    let grids = environment.grids(None).expect("the defaults");
    let initial = match samples {
        1 => vec![InitialState::new(environment.initial)],
        _ => environment.sample(samples, 3),
    };
    environment.problem_with(grids, initial).build().expect("the defaults")
}

/// A built-in environment that comes back to a state in another way.
struct Otherwise {
    system: Box<dyn System>,
    way: ComeBack,
}

impl System for Otherwise {
    fn reset(&mut self, initial: &InitialState, seen: &mut [f64]) -> Result<Reply, SystemError> {
        self.system.reset(initial, seen)
    }
    fn step(&mut self, action: usize, seen: &mut [f64]) -> Result<Reply, SystemError> {
        self.system.step(action, seen)
    }
    fn come_back(&self) -> ComeBack {
        self.way
    }
    fn save(&mut self, state: &mut Vec<u8>) -> Result<(), SystemError> {
        self.system.save(state)
    }
    fn restore(&mut self, state: &[u8]) -> Result<(), SystemError> {
        self.system.restore(state)
    }
}

/// The known answers of the paper's environments, with one and more threads, in all ways of coming back, and
/// from several initial states.
#[test]
fn known_answers_verify() {
    // Random problems go all these ways.
    let known = [
        (&MOUNTAIN_CAR, 104, 3, ComeBack::Clone, 1),
        (&CARTPOLE, 3_082, 3, ComeBack::Snapshot, 4),
        (&PENDULUM, 46, 3, ComeBack::Replay, 2),
    ];
    for (environment, value, size, way, thread_count) in known {
        let problem = sampled(environment, 1);
        let factory = move || Ok(Box::new(Otherwise { system: environment.make()?, way }) as Box<dyn System>);
        let outcome = check(&problem, &factory, |search| search.threads(threads(thread_count)));
        let best = outcome.expect("it verifies").best.expect("there is a tree");
        assert_eq!((best.value, best.tree.size()), (value, size), "{}", environment.name);
        let several = sampled(environment, 2);
        check(&several, environment, |search| search.threads(threads(2))).expect("it verifies");
    }
}

#[test]
fn known_answers_of_depth_3_verify() {
    let row = |environment: &Environment, steps: &[f64]| {
        let grids = environment.grids(Some(steps)).expect("the steps of the paper make grids");
        let initial = vec![InitialState::new(environment.initial)];
        environment.problem_with(grids, initial).depth(3).build().expect("a row is a problem")
    };
    for (environment, steps, known) in [
        (&MOUNTAIN_CAR, &[0.18, 0.014][..], (108, 4)),
        (&PENDULUM, &[0.2, 1.6], (47, 6)),
        (&CARTPOLE, &[0.96, 0.4, 0.16, 0.4], (10_000, 6)),
    ] {
        let problem = row(environment, steps);
        let best = check(&problem, environment, |search| search).expect("it verifies").best;
        let best = best.expect("there is a tree");
        assert_eq!((best.value, best.tree.size()), known);
    }
    let infeasible = MOUNTAIN_CAR.problem().depth(0).build().expect("a problem");
    let outcome = check(&infeasible, &MOUNTAIN_CAR, |search| search).expect("it verifies");
    assert_eq!(outcome.status, Status::Infeasible);
}

/// A stopped search proves its bound, and whatever is weaker, but not much more.
#[test]
fn a_bound_that_is_not_proved_is_refuted() {
    let problem = sampled(&PENDULUM, 1);
    let (outcome, bytes) =
        certify(&problem, &PENDULUM, Form::Full, |search| search.query_limit(20_000)).expect("it runs");
    let bound = outcome.bound.expect("a stopped search has a bound");
    assert!(bound > 2, "{outcome:?}");
    let (mut certificate, limits) = read(&bytes).expect("it can be read");
    assert!(certificate.check(None, 0.0, limits).is_ok());
    let claimed = |bound| Claim::Bound { bound, best: None };
    certificate.claim = claimed(bound + 20);
    assert!(certificate.check(None, 0.0, limits).is_err(), "nobody has looked that far");
    certificate.claim = claimed(bound - 1);
    assert!(certificate.check(None, 0.0, limits).is_ok(), "less is claimed than is proved");
}

/// A share of what is recorded is compared bit for bit.
#[test]
fn replays_compare_bits_of_a_share() {
    let problem = sampled(&CARTPOLE, 1);
    let (_, full) = certify(&problem, &CARTPOLE, Form::Full, |search| search).expect("it runs");
    let (certificate, limits) = read(&full).expect("it can be read");
    let mut system = broccoli_tests::certified::Live::new(&problem, &CARTPOLE).expect("a system");
    let checked = certificate.check(Some(&mut system), 0.1, limits).expect("it verifies");
    // All 3,082 steps of the tree, and a tenth of the others.
    let share = (checked.asked - 3_082) as f64 / (checked.transitions - 3_082) as f64;
    assert!((0.09..0.11).contains(&share), "{checked:?}");
    assert!(checked.recorded > checked.answers / 2, "{checked:?}");
    // Another system: the same, but for the last bit of one number.
    let other = || Ok(Box::new(Nearly(CARTPOLE.make()?)) as Box<dyn System>);
    let mut system = broccoli_tests::certified::Live::new(&problem, &other).expect("a system");
    let refuted = certificate.check(Some(&mut system), 0.1, limits).expect_err("it is another system");
    assert!(refuted.to_string().contains("the system answers otherwise"), "{refuted}");
}

/// A system that differs in the last bit of what it shows first.
struct Nearly(Box<dyn System>);

impl System for Nearly {
    fn reset(&mut self, initial: &InitialState, seen: &mut [f64]) -> Result<Reply, SystemError> {
        self.0.reset(initial, seen)
    }
    fn step(&mut self, action: usize, seen: &mut [f64]) -> Result<Reply, SystemError> {
        let reply = self.0.step(action, seen)?;
        seen[0] = f64::from_bits(seen[0].to_bits() ^ 1);
        Ok(reply)
    }
    fn come_back(&self) -> ComeBack {
        ComeBack::Clone
    }
    fn save(&mut self, state: &mut Vec<u8>) -> Result<(), SystemError> {
        self.0.save(state)
    }
    fn restore(&mut self, state: &[u8]) -> Result<(), SystemError> {
        self.0.restore(state)
    }
}

/// What is claimed about trees is what brute force says.
#[test]
fn claims_are_those_of_brute_force() {
    over_random_problems(0.005, |table| {
        let problem = table.problem();
        let factory = table.factory(ComeBack::Replay);
        let (_, bytes) = certify(&problem, &factory, Form::Light, |search| search)?;
        let (certificate, _) = read(&bytes)?;
        let claimed = match &certificate.claim {
            Claim::Optimal(best) => Some((best.value, best.size)),
            Claim::Infeasible => None,
            Claim::Bound { .. } => return Err("the search came to its end".into()),
        };
        let listed = |t: &[f64]| Checked::List(Thresholds::list(t).expect("finite").as_slice().to_vec());
        let thresholds = table.thresholds.iter().enumerate();
        let thresholds: Vec<Checked> =
            thresholds.map(|(i, t)| if table.has_all(i) { Checked::All } else { listed(t) }).collect();
        assert_eq!(certificate.problem.thresholds, thresholds);
        if claimed == oracle::best(table) { Ok(()) } else { Err(format!("{claimed:?}")) }
    });
}

//! Black boxes that misbehave: what every engine says about them, and that nothing found is lost.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use broccoli_core::problem::{
    ComeBack, InitialState, Objective, Problem, Reply, RunError, System, SystemError, SystemFactory,
    Thresholds, Verdict,
};
use broccoli_core::search::{Checkpoint, Engine, Event, Failure, Keeper, Search, Solution, Statistics};
use broccoli_core::tree::Trace;
use broccoli_environments::MOUNTAIN_CAR;
use broccoli_tests::remembering;
use broccoli_tests::wall::{WITH_MEMORY, Way, search};
use broccoli_tests::worth;

/// What is wrong with a [`Token`].
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// `reset` fails from positions above 5.
    Reset,
    /// `reset` writes NaN in this dimension from positions above 5.
    NaNAtReset(usize),
    /// The step from 6 to 5 fails.
    Step,
    /// The step from 6 to 5 writes NaN in this dimension.
    NaN(usize),
    /// `save` fails at position 6.
    Save,
    /// `restore` fails at position 6.
    Restore,
}

/// A token on a line: "right" moves it up by 1, "left" down. The goal is position 5, so that what
/// starts above can only get there by "left" all the way; below 0 and above 10 is violated.
/// Observed are the position and, to have a second dimension, its square.
struct Token {
    position: i32,
    fault: Fault,
    come_back: ComeBack,
    shared: Arc<Shared>,
}

/// What all tokens of a factory share: a count of all steps, and whether to fail from now on.
#[derive(Default)]
struct Shared {
    steps: AtomicU64,
    unplugged: AtomicBool,
    /// After so many steps in all, if any, no action moves a token any more.
    stuck_after: Option<u64>,
}

const LEFT: usize = 1;

impl Token {
    fn reply(&self, observation: &mut [f64]) -> Reply {
        observation.copy_from_slice(&[f64::from(self.position), f64::from(self.position.pow(2))]);
        match self.position {
            5 => Verdict::Satisfied,
            0..=10 => Verdict::Running,
            _ => Verdict::Violated,
        }
        .into()
    }
}

impl System for Token {
    fn reset(&mut self, initial: &InitialState, observation: &mut [f64]) -> Result<Reply, SystemError> {
        self.position = initial.values()[0] as i32;
        let reply = self.reply(observation);
        match self.fault {
            Fault::Reset if self.position > 5 => return Err(SystemError::new("no such place")),
            Fault::NaNAtReset(dimension) if self.position > 5 => observation[dimension] = f64::NAN,
            _ => {}
        }
        Ok(reply)
    }

    fn step(&mut self, action: usize, observation: &mut [f64]) -> Result<Reply, SystemError> {
        let steps = self.shared.steps.fetch_add(1, Relaxed);
        if self.shared.unplugged.load(Relaxed) {
            return Err(SystemError::new("unplugged"));
        }
        let from = self.position;
        if self.shared.stuck_after.is_none_or(|after| steps < after) {
            self.position += if action == LEFT { -1 } else { 1 };
        }
        let reply = self.reply(observation);
        match self.fault {
            Fault::Step if (from, action) == (6, LEFT) => return Err(SystemError::new("out of paper")),
            Fault::NaN(dimension) if (from, action) == (6, LEFT) => observation[dimension] = f64::NAN,
            _ => {}
        }
        Ok(reply)
    }

    fn come_back(&self) -> ComeBack {
        self.come_back
    }

    fn save(&mut self, state: &mut Vec<u8>) -> Result<(), SystemError> {
        if self.fault == Fault::Save && self.position == 6 {
            return Err(SystemError::new("disk full"));
        }
        state.extend_from_slice(&self.position.to_le_bytes());
        Ok(())
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), SystemError> {
        let bytes = state.try_into().map_err(|_| SystemError::new("not a saved state"))?;
        self.position = i32::from_le_bytes(bytes);
        if self.fault == Fault::Restore && self.position == 6 {
            return Err(SystemError::new("disk gone"));
        }
        Ok(())
    }
}

fn tokens(fault: Fault, come_back: ComeBack, shared: &Arc<Shared>) -> impl SystemFactory + use<> {
    let shared = Arc::clone(shared);
    move || {
        let token = Token { position: 0, fault, come_back, shared: Arc::clone(&shared) };
        Ok(Box::new(token) as Box<dyn System>)
    }
}

fn problem(objective: Objective) -> Problem {
    problem_of_depth(1, objective)
}

fn problem_of_depth(depth: u32, objective: Objective) -> Problem {
    let position = Thresholds::grid(0.0, 10.0, 1.0).expect("a grid");
    Problem::builder()
        .dimension("position", position)
        .dimension("square", Thresholds::list([8.0, 50.0]).expect("a list"))
        .action("right", 1.0)
        .action("left", -1.0)
        .initials([[2.0], [8.0]].map(InitialState::from))
        .objective(objective)
        .depth(depth)
        .build()
        .expect("a problem")
}

/// What a search on tokens with this fault says; it must fail.
fn failure(way: Way, fault: Fault, come_back: ComeBack) -> Failure {
    let factory = tokens(fault, come_back, &Arc::default());
    let factory = remembering(&problem(Objective::reach(20)), &factory, way.1);
    let ended = search(&problem(Objective::reach(20)), &*factory, way).run();
    *ended.expect_err("the fault is met")
}

const WAYS: [ComeBack; 3] = [ComeBack::Replay, ComeBack::Snapshot, ComeBack::Clone];

#[test]
fn without_a_fault_the_token_gets_there() {
    for way in WITH_MEMORY {
        for come_back in WAYS {
            let factory = tokens(Fault::None, come_back, &Arc::default());
            let factory = remembering(&problem(Objective::reach(20)), &factory, way.1);
            let outcome = search(&problem(Objective::reach(20)), &*factory, way).run().unwrap();
            let best = outcome.best.map(|best| (best.value, best.tree.size()));
            assert_eq!(best, Some((3, 1)), "{way:?}, {come_back:?}");
        }
    }
}

/// Every fault lies where each engine must pass: on the only way from the second initial state.
#[test]
fn every_engine_names_the_place() {
    let faults = [
        (Fault::Reset, "the system failed at reset from initial state 1: no such place"),
        (
            Fault::NaNAtReset(0),
            r#"the observation is NaN in dimension "position" at step 0 from initial state 1"#,
        ),
        (
            Fault::NaNAtReset(1),
            r#"the observation is NaN in dimension "square" at step 0 from initial state 1"#,
        ),
        (Fault::Step, r#"the system failed at step 3 (action "left") from initial state 1: out of paper"#),
        (Fault::NaN(0), r#"the observation is NaN in dimension "position" at step 3 from initial state 1"#),
        (Fault::NaN(1), r#"the observation is NaN in dimension "square" at step 3 from initial state 1"#),
    ];
    for (fault, message) in faults {
        for way in WITH_MEMORY {
            for come_back in WAYS {
                let failure = failure(way, fault, come_back);
                assert_eq!(failure.to_string(), message, "{way:?}, {come_back:?}");
                assert_eq!(failure.engine, way.0);
                assert_eq!(failure.best, None);
            }
        }
    }
}

#[test]
fn a_system_that_does_not_start() {
    let factory = || Err(SystemError::new("no licence found"));
    for way in WITH_MEMORY {
        let factory = remembering(&problem(Objective::reach(20)), &factory, way.1);
        let ended = search(&problem(Objective::reach(20)), &*factory, way).run();
        let failure = ended.unwrap_err();
        assert_eq!(failure.to_string(), "the system could not be started: no licence found");
        assert_eq!((failure.best, failure.statistics.queries), (None, 0), "{way:?}");
    }
}

/// Only the behaviour engine comes back to states; the others must not even try.
#[test]
fn states_that_cannot_be_saved_or_restored() {
    for come_back in [ComeBack::Snapshot, ComeBack::Clone] {
        for (fault, doing) in [(Fault::Save, "saving"), (Fault::Restore, "restoring")] {
            let mut failures = 0;
            for way in WITH_MEMORY {
                let factory = tokens(fault, come_back, &Arc::default());
                let factory = remembering(&problem(Objective::reach(20)), &factory, way.1);
                let ended = search(&problem(Objective::reach(20)), &*factory, way).run();
                match (way.0, ended) {
                    (Engine::Behaviour, Err(failure)) => {
                        failures += 1;
                        let said = failure.to_string();
                        let place = format!("the system failed at {doing} its state");
                        assert!(said.contains(&place) && said.contains("from initial state 1: "), "{said}");
                        assert!(said.contains(": disk "), "{said}");
                        let is_told = way.1.is_some() || matches!(failure.error, RunError::ComeBack { .. });
                        assert!(is_told, "{said}");
                    }
                    (_, ended) => assert!(ended.is_ok(), "{way:?}, {come_back:?}: {ended:?}"),
                }
            }
            assert_eq!(failures, 4, "{fault:?}, {come_back:?}");
        }
    }
}

/// Runs a search whose first incumbent pulls the plug. To survive 40 steps takes a predicate, so an
/// engine that has a leaf has to go on for a better tree, and one that has a better tree has to rule
/// out leaves. Returns the failure and the last incumbent.
fn unplugged(way: Way, come_back: ComeBack, shared: &Arc<Shared>) -> (Failure, Option<Solution>) {
    let problem = problem(Objective::survive(40));
    let factory = tokens(Fault::None, come_back, shared);
    let mut last = None;
    let mut observer = |event: Event<'_>| {
        if let Event::Improved(better) = event {
            last = Some(Solution { tree: better.tree(), value: better.value });
            shared.unplugged.store(true, Relaxed);
        }
    };
    let factory = remembering(&problem, &factory, way.1);
    let ended = search(&problem, &*factory, way).observer(&mut observer).run();
    (*ended.expect_err("the search goes on after its first incumbent"), last)
}

#[test]
fn the_best_tree_found_before_a_failure_is_kept() {
    for way in WITH_MEMORY {
        for come_back in WAYS {
            let (failure, last) = unplugged(way, come_back, &Arc::default());
            assert!(failure.to_string().ends_with("unplugged"), "{failure}");
            assert_eq!(failure.best, last, "{way:?}, {come_back:?}");

            let (best, problem) = (failure.best.unwrap(), problem(Objective::survive(40)));
            let healthy = tokens(Fault::None, come_back, &Arc::default());
            let values = (0..2).map(|initial| {
                let trace = Trace::run(&problem, &healthy, &best.tree, initial).unwrap();
                trace.value(problem.objective()).unwrap()
            });
            assert_eq!(values.min(), Some(best.value), "{way:?}, {come_back:?}");
        }
    }
}

/// Also those of the tree, or the walk, in the middle of which the system failed.
#[test]
fn every_query_before_a_failure_is_counted() {
    for way in WITH_MEMORY {
        let shared = Arc::default();
        let (failure, _) = unplugged(way, ComeBack::Clone, &shared);
        assert_eq!(failure.statistics.queries, shared.steps.load(Relaxed), "{way:?}");

        let shared = Arc::default();
        let factory = tokens(Fault::Step, ComeBack::Clone, &shared);
        let factory = remembering(&problem(Objective::reach(20)), &factory, way.1);
        let ended = search(&problem(Objective::reach(20)), &*factory, way).run();
        let statistics = ended.unwrap_err().statistics;
        assert_eq!(statistics.queries, shared.steps.load(Relaxed), "{way:?}");
        assert!(statistics.traces > 0, "{way:?}");
    }
}

/// What a search says of tokens that are stuck from the `late`th step on of those that run the answer once
/// more; and the value of the best tree, which is kept.
fn stuck(way: Way, problem: &Problem, late: u64) -> (String, Option<u64>) {
    let run = |shared: Arc<Shared>| {
        let factory = tokens(Fault::None, ComeBack::Clone, &shared);
        let factory = remembering(problem, &factory, way.1);
        search(problem, &*factory, way).run()
    };
    let Statistics { queries, replayed, queries_confirming, .. } =
        run(Arc::default()).expect("no fault").statistics;
    assert!(queries_confirming > late, "{way:?}");
    let stuck_after = Some(queries + replayed + late);
    let failure = run(Arc::new(Shared { stuck_after, ..Shared::default() })).expect_err("it is noticed");
    (failure.to_string(), failure.best.map(|best| best.value))
}

#[test]
fn a_system_that_is_not_deterministic() {
    for way in WITH_MEMORY {
        let message = "the system is not deterministic: from initial state 1, the goal was reached within \
                       3 steps, but when it ran again it was not";
        let reach = problem(Objective::reach(20));
        // One that remembers notices it at the first step that is not as it was.
        let is_right = |(said, best): (String, Option<u64>), message: &str| {
            let is_noticed = said.contains("it is not deterministic: from initial state [");
            best == Some(3) && (said == message || way.1.is_some() && is_noticed)
        };
        assert!(is_right(stuck(way, &reach, 4), message), "{way:?}");
        // Both actions are violated after 3 steps, unless they are stuck.
        let message = "the system is not deterministic: from initial state 0, or another one, the value was \
                       3 steps, but when it ran again it was better";
        let survive = problem_of_depth(0, Objective::survive(20));
        assert!(is_right(stuck(way, &survive, 1), message), "{way:?}");
    }
}

/// A MountainCar that fails at the `fails_at`th step of all cars together.
struct FailingCar {
    car: Box<dyn System>,
    steps: Arc<AtomicU64>,
    fails_at: u64,
    panics: bool,
    /// What a step takes at least.
    pause: Duration,
}

impl System for FailingCar {
    fn reset(&mut self, initial: &InitialState, observation: &mut [f64]) -> Result<Reply, SystemError> {
        self.car.reset(initial, observation)
    }
    fn step(&mut self, action: usize, observation: &mut [f64]) -> Result<Reply, SystemError> {
        if self.steps.fetch_add(1, Relaxed) + 1 == self.fails_at {
            assert!(!self.panics, "out of petrol");
            return Err(SystemError::new("out of petrol"));
        }
        std::thread::sleep(self.pause);
        self.car.step(action, observation)
    }
    fn come_back(&self) -> ComeBack {
        self.car.come_back()
    }
    fn save(&mut self, state: &mut Vec<u8>) -> Result<(), SystemError> {
        self.car.save(state)
    }
    fn restore(&mut self, state: &[u8]) -> Result<(), SystemError> {
        self.car.restore(state)
    }
}

/// Keeps the last checkpoint only.
#[derive(Default)]
struct Last(Option<Checkpoint>);

impl Keeper for Last {
    fn is_due(&mut self) -> bool {
        false
    }
    fn keep(&mut self, checkpoint: &Checkpoint) {
        self.0 = Some(checkpoint.clone());
    }
}

/// One car of several fails: the search ends, says where, keeps its best tree, and can be resumed.
#[test]
fn one_worker_fails() {
    let problem = MOUNTAIN_CAR.problem().build().expect("the defaults");
    let whole = Search::new(&problem, &MOUNTAIN_CAR).run().expect("no fault");
    for (threads, panics, fails_at) in
        [(1, false, 90_000), (1, true, 90_000), (2, false, 90_000), (3, true, 100_000)]
    {
        let steps = Arc::new(AtomicU64::new(0));
        let factory = || {
            let (car, steps) = (MOUNTAIN_CAR.make()?, Arc::clone(&steps));
            Ok(Box::new(FailingCar { car, steps, fails_at, panics, pause: Duration::ZERO })
                as Box<dyn System>)
        };
        let threads = NonZeroUsize::new(threads).expect("at least one");
        let (mut last, mut best) = (Last::default(), None);
        let mut observer = |event: Event<'_>| {
            if let Event::Improved(better) = event {
                best = Some((better.value, better.size));
            }
        };
        let search = Search::new(&problem, &factory).threads(threads);
        let failure = search.observer(&mut observer).keeper(&mut last).run().expect_err("a car fails");
        let said = failure.to_string();
        assert!(said.contains("step ") && said.contains("from initial state 0"), "{said}");
        assert!(said.ends_with("out of petrol"), "{said}");
        assert_eq!(matches!(failure.error, RunError::Panic { .. }), panics, "{said}");
        let kept = failure.best.map(|best| (best.value, best.tree.size()));
        assert_eq!(kept, best, "{threads} threads");

        let checkpoint = last.0.expect("a failed search is kept");
        let resumed = Search::new(&problem, &MOUNTAIN_CAR).resume(checkpoint).expect("its own").run();
        let resumed = resumed.expect("no fault");
        assert_eq!(worth(&resumed), worth(&whole), "{threads} threads");
        // What the failed task had asked for is asked for again: either that is known, or nothing is said.
        let necessary = resumed.statistics.necessary_queries;
        assert!(
            necessary.is_none() || necessary == whole.statistics.necessary_queries,
            "{threads} threads: {necessary:?}"
        );
    }
}

/// The car fails only when the answer is run again: that is an error too, and the answer is not lost.
#[test]
fn the_answer_fails_when_run_again() {
    let problem = MOUNTAIN_CAR.problem().build().expect("the defaults");
    let run = |fails_at: u64, panics: bool| {
        let steps = Arc::new(AtomicU64::new(0));
        let factory = || {
            let (car, steps) = (MOUNTAIN_CAR.make()?, Arc::clone(&steps));
            Ok(Box::new(FailingCar { car, steps, fails_at, panics, pause: Duration::ZERO })
                as Box<dyn System>)
        };
        Search::new(&problem, &factory).run()
    };
    // How often a car is asked depends on whether it is known to be quick: the same car, without the fault.
    let whole = run(u64::MAX, false).expect("no fault");
    let fails_at = whole.statistics.queries + 1;
    for panics in [false, true] {
        let failure = run(fails_at, panics).expect_err("the car fails");
        let said = failure.to_string();
        assert!(said.contains("step 1 ") && said.ends_with("out of petrol"), "{said}");
        assert_eq!(matches!(failure.error, RunError::Panic { .. }), panics, "{said}");
        assert_eq!(failure.best, whole.best);
    }
}

/// What memory has spared is counted to the end, also if the system panics.
#[test]
fn counts_survive_a_panic() {
    let problem = MOUNTAIN_CAR.problem().build().expect("the defaults");
    for fails_at in [1, 100, 2_000, 5_000] {
        let steps = Arc::new(AtomicU64::new(0));
        let factory = || {
            let (car, steps) = (MOUNTAIN_CAR.make()?, Arc::clone(&steps));
            Ok(Box::new(FailingCar { car, steps, fails_at, panics: true, pause: Duration::ZERO })
                as Box<dyn System>)
        };
        let factory = remembering(&problem, &factory, Some(1 << 20));
        let failed = Search::new(&problem, &*factory).run().expect_err("the car panics");
        let Statistics { queries, replayed, cache_hits, .. } = failed.statistics;
        assert!(queries + replayed <= fails_at, "{:?}", failed.statistics);
        assert!(cache_hits < 1 << 32, "{cache_hits} hits");
    }
}

/// When the system of another thread fails while others are at work, the search ends with that failure, and it does
/// end.
#[test]
fn a_failing_thread_ends_the_search() {
    let problem = MOUNTAIN_CAR.problem().build().expect("the defaults");
    for (step, panics) in (1..=40).flat_map(|step| [(step, false), (step, true)]) {
        let (sender, receiver) = std::sync::mpsc::channel();
        let problem = problem.clone();
        std::thread::spawn(move || {
            let made = AtomicU64::new(0);
            let factory = || {
                // The others are slow, so that they are still at work.
                let (fails_at, pause) = match made.fetch_add(1, Relaxed) {
                    1 => (step, 0),
                    _ => (u64::MAX, 20),
                };
                let (car, steps, pause) =
                    (MOUNTAIN_CAR.make()?, Arc::default(), Duration::from_micros(pause));
                Ok(Box::new(FailingCar { car, steps, fails_at, panics, pause }) as Box<dyn System>)
            };
            let search = Search::new(&problem, &factory).threads(NonZeroUsize::MIN.saturating_add(2));
            sender.send(search.run().map(|_| ()).map_err(|failure| failure.error.to_string()))
        });
        let ended = receiver.recv_timeout(Duration::from_secs(60)).expect("it ends");
        let message = ended.expect_err("every thread is needed");
        assert!(message.contains("out of petrol"), "{message}");
    }
}

/// A factory that panics is no worse than one that fails: when it is asked for the first system, and when it is
/// asked for that of another thread.
#[test]
fn a_factory_that_panics_ends_the_search() {
    let problem = MOUNTAIN_CAR.problem().build().expect("the defaults");
    for (panics_at, engine) in [
        (0, Engine::Exhaustive),
        (0, Engine::Backtracking { pruning: true }),
        (0, Engine::Behaviour),
        (1, Engine::Behaviour),
    ] {
        let made = AtomicU64::new(0);
        let factory = || {
            assert!(made.fetch_add(1, Relaxed) != panics_at, "out of cars");
            MOUNTAIN_CAR.make()
        };
        let search = Search::new(&problem, &factory).engine(engine);
        let ended = search.threads(NonZeroUsize::MIN.saturating_add(1)).run();
        let failure = ended.expect_err("there are too few cars");
        assert!(matches!(failure.error, RunError::Start(_)), "{failure}");
        assert!(failure.to_string().contains("out of cars"), "{failure}");
    }
}

/// A lamp that shows the last action. What it does next depends on nothing else, so it has no state to save.
struct Lamp(ComeBack);

impl System for Lamp {
    fn reset(&mut self, _: &InitialState, observation: &mut [f64]) -> Result<Reply, SystemError> {
        observation[0] = 2.0;
        Ok(Verdict::Running.into())
    }
    fn step(&mut self, action: usize, observation: &mut [f64]) -> Result<Reply, SystemError> {
        observation[0] = action as f64;
        Ok(if action == 1 { Verdict::Violated } else { Verdict::Running }.into())
    }
    fn come_back(&self) -> ComeBack {
        self.0
    }
    fn save(&mut self, _: &mut Vec<u8>) -> Result<(), SystemError> {
        Ok(())
    }
    fn restore(&mut self, _: &[u8]) -> Result<(), SystemError> {
        Ok(())
    }
}

/// A state of no bytes is a state, too: the answer is the same however the search comes back to it.
#[test]
fn systems_without_state_are_no_exception() {
    for objective in [Objective::reach(9), Objective::survive(9)] {
        let problem = Problem::builder()
            .dimension("lamp", Thresholds::list([1.0, 2.0]).expect("a list"))
            .action("off", 0.0)
            .action("on", 1.0)
            .initials([[0.0]].map(InitialState::from))
            .objective(objective)
            .depth(2)
            .build()
            .expect("a problem");
        let answers = [ComeBack::Clone, ComeBack::Snapshot, ComeBack::Replay].map(|come_back| {
            let factory = move || Ok(Box::new(Lamp(come_back)) as Box<dyn System>);
            let outcome = Search::new(&problem, &factory).run().expect("no fault");
            (outcome.best, outcome.statistics.queries)
        });
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
        assert_eq!(answers[0].0.is_some(), objective == Objective::survive(9));
    }
}

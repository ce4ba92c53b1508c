//! A search that is stopped and resumed, however often, ends with the answer of one that never was.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use broccoli_core::problem::{
    BatchError, BatchSystem, Batches, ComeBack, InitialState, Objective, Problem, Reply, RunError, System,
    SystemError, SystemFactory, Thresholds, Verdict,
};
use broccoli_core::search::{Checkpoint, Keeper, Outcome, ResumeError, Search, Status, StopReason, Tuning};
use broccoli_core::tree::Tree;
use broccoli_environments::{CARTPOLE, Environment, MOUNTAIN_CAR, PENDULUM};
use broccoli_tests::random::{Wanted, any_objective, scattered, structured};
use broccoli_tests::table::TableProblem;
use broccoli_tests::wall::run;
use broccoli_tests::{remembering, walk_only, worth};

const MOST_TREES: u64 = 2_500;

/// Keeps the last checkpoint in JSON, and wants one every so many times it is asked.
struct InJson {
    every: u64,
    asked: u64,
    kept: Option<String>,
}

impl InJson {
    fn new(every: u64) -> Self {
        InJson { every, asked: 0, kept: None }
    }
}

impl Keeper for InJson {
    fn is_due(&mut self) -> bool {
        self.asked += 1;
        self.asked.is_multiple_of(self.every)
    }
    fn keep(&mut self, checkpoint: &Checkpoint) {
        self.kept = Some(serde_json::to_string(checkpoint).expect("a checkpoint is plain data"));
    }
}

/// Runs a search that is stopped after `limit` queries again and again; and how often it was stopped.
fn interrupted(
    problem: &Problem,
    factory: &dyn SystemFactory,
    limit: u64,
    threads: usize,
    every: u64,
    remembered: Option<usize>,
    tuning: Tuning,
) -> Result<(Outcome, u32), String> {
    let threads = NonZeroUsize::new(threads).expect("at least one");
    let mut kept: Option<String> = None;
    let factory = remembering(problem, factory, remembered);
    for stops in 0.. {
        let mut keeper = InJson::new(every);
        let mut search = Search::new(problem, &*factory).threads(threads).tuning(tuning);
        search = search.keeper(&mut keeper);
        if let Some(json) = &kept {
            let checkpoint = serde_json::from_str(json).map_err(|e| e.to_string())?;
            search = search.resume(checkpoint).map_err(|e| e.to_string())?;
        }
        // To come back to where it was, and to see whether the system is the same, may take as many queries as it
        // is allowed.
        let outcome = search.query_limit(limit + 5 * u64::from(stops)).run().map_err(|e| e.to_string())?;
        match outcome.status {
            Status::Stopped(StopReason::QueryLimit) => {
                let json = keeper.kept.ok_or("nothing was kept")?;
                let best = serde_json::from_str::<Checkpoint>(&json).map_err(|e| e.to_string())?.best();
                if best != outcome.best.as_ref().map(|best| (best.value, best.tree.size())) {
                    return Err(format!("the checkpoint has {best:?}: {outcome:?}"));
                }
                kept = Some(json);
            }
            _ => return Ok((outcome, stops)),
        }
    }
    Err("it never ends".into())
}

#[test]
fn random_problems_end_as_if_never_stopped() {
    let check = |table: &TableProblem| {
        let problem = table.problem();
        for come_back in [ComeBack::Clone, ComeBack::Snapshot, ComeBack::Replay] {
            let factory = table.factory(come_back);
            for (share, threads, every, remembered, tuning) in [
                (9, 1, 1_000, None, walk_only()),
                (4, 1, 2, None, Tuning::default()),
                (5, 3, 1, None, walk_only()),
                (2, 2, 5, None, Tuning::default()),
                (3, 1, 4, Some(1 << 20), walk_only()),
                (4, 2, 3, Some(2_000), Tuning::default()),
            ] {
                let whole =
                    Search::new(&problem, &factory).tuning(tuning).run().map_err(|e| e.to_string())?;
                let needed = whole.statistics.queries + whole.statistics.replayed;
                let limit = 1 + needed / share;
                let (pieced, _) = interrupted(&problem, &factory, limit, threads, every, remembered, tuning)?;
                let same = worth(&pieced) == worth(&whole)
                    && (pieced.best == whole.best || tuning != walk_only())
                    && pieced.statistics.necessary_queries == whole.statistics.necessary_queries;
                if !same {
                    return Err(format!("{come_back:?}, {limit}, {threads}: {pieced:?}\n{whole:?}"));
                }
            }
        }
        Ok(())
    };
    for wanted in [Wanted::Reach, Wanted::Survive] {
        run(0.002, scattered(wanted, MOST_TREES), check);
        run(0.002, structured(wanted, MOST_TREES), check);
        run(0.001, any_objective(scattered(wanted, MOST_TREES)), check);
        run(0.001, any_objective(structured(wanted, MOST_TREES)), check);
    }
}

/// From one initial state, checkpoints that are written in the middle of chunks of many tasks change no tree and no
/// number of queries.
#[test]
fn checkpoints_on_the_way_change_nothing() {
    let tuning =
        Tuning { least_chunk: 40, least_task: 16, chunk_share: 2, most_tasks: 8, ..Tuning::default() };
    let check = |table: &TableProblem| {
        let table = TableProblem { initial: table.initial[..1].to_vec(), ..table.clone() };
        let problem = table.problem();
        let factory = table.factory(ComeBack::Clone);
        let whole = Search::new(&problem, &factory).tuning(tuning).run().map_err(|e| e.to_string())?;
        for (threads, every) in [(1, 1), (1, 2), (3, 1)] {
            let mut keeper = InJson::new(every);
            let search = Search::new(&problem, &factory).tuning(tuning).keeper(&mut keeper);
            let search = search.threads(NonZeroUsize::new(threads).expect("at least one"));
            let kept = search.run().map_err(|e| e.to_string())?;
            if (&kept.best, kept.statistics.queries) != (&whole.best, whole.statistics.queries) {
                return Err(format!("{threads} threads, every {every}: {kept:?}\n{whole:?}"));
            }
        }
        Ok(())
    };
    for wanted in [Wanted::Reach, Wanted::Survive] {
        run(0.02, scattered(wanted, MOST_TREES), check);
        run(0.02, structured(wanted, MOST_TREES), check);
    }
}

/// Keeps one checkpoint, when it is asked for the n-th time.
struct Once {
    asked: u64,
    at: u64,
    kept: Option<String>,
}

impl Keeper for Once {
    fn is_due(&mut self) -> bool {
        self.asked += 1;
        self.asked == self.at
    }
    fn keep(&mut self, checkpoint: &Checkpoint) {
        self.kept = Some(serde_json::to_string(checkpoint).expect("a checkpoint is plain data"));
    }
}

/// A search that is stopped between two chunks ends with the same tree after the same number of queries, from any number
/// of initial states.
#[test]
fn stops_between_chunks_change_nothing() {
    let compared = AtomicU64::new(0);
    let tuning =
        Tuning { least_chunk: 16, least_task: 8, chunk_share: 2, most_tasks: 4, ..Tuning::default() };
    let check = |table: &TableProblem| {
        let problem = table.problem();
        let factory = table.factory(ComeBack::Clone);
        let search = Search::new(&problem, &factory).tuning(tuning);
        let whole = search.run().map_err(|e| e.to_string())?;
        for at in 1..12 {
            let mut keeper = Once { asked: 0, at, kept: None };
            Search::new(&problem, &factory)
                .tuning(tuning)
                .keeper(&mut keeper)
                .run()
                .map_err(|e| e.to_string())?;
            let Some(json) = keeper.kept else { break };
            let value: serde_json::Value = serde_json::from_str(&json).map_err(|e| e.to_string())?;
            let tasks = value["saved"]["chunk"].as_array().ok_or("there are tasks")?;
            if tasks.iter().any(|task| task["is_done"] != true) {
                continue;
            }
            compared.fetch_add(1, Relaxed);
            let checkpoint = serde_json::from_str(&json).map_err(|e| e.to_string())?;
            let search = Search::new(&problem, &factory).threads(NonZeroUsize::new(3).expect("not 0"));
            let resumed =
                search.resume(checkpoint).map_err(|e| e.to_string())?.run().map_err(|e| e.to_string())?;
            if (&resumed.best, resumed.statistics.queries) != (&whole.best, whole.statistics.queries) {
                return Err(format!("at {at}: {resumed:?}\n{whole:?}"));
            }
        }
        Ok(())
    };
    for wanted in [Wanted::Reach, Wanted::Survive] {
        run(0.003, scattered(wanted, MOST_TREES), check);
        run(0.003, structured(wanted, MOST_TREES), check);
        run(0.002, any_objective(structured(wanted, MOST_TREES)), check);
    }
    assert!(compared.load(Relaxed) > 300, "only {compared:?} stops were between chunks");
}

#[test]
fn environments_end_as_if_never_stopped() {
    let defaults = |environment: &'static Environment| {
        (environment, environment.problem().build().expect("the defaults"), 30_000)
    };
    let perfect = |steps: [f64; 4], initial: &[f64]| {
        let grids = CARTPOLE.grids(Some(&steps)).expect("the steps make grids");
        let problem = CARTPOLE.problem_with(grids, vec![InitialState::new(initial)]).depth(3).build();
        (&CARTPOLE, problem.expect("it is a problem"), 10_000)
    };
    let problems = [
        defaults(&MOUNTAIN_CAR),
        defaults(&CARTPOLE),
        defaults(&PENDULUM),
        perfect([0.48, 0.2, 0.33, 0.2], CARTPOLE.initial),
    ];
    for (environment, problem, limit) in problems {
        let whole = Search::new(&problem, environment).tuning(walk_only()).run().expect("it runs");
        for threads in [1, 2] {
            let (pieced, stops) =
                interrupted(&problem, environment, limit, threads, 500, None, walk_only()).expect("it ends");
            assert!(stops >= 3, "{} was stopped {stops} times", environment.name);
            assert_eq!(pieced.best, whole.best);
            assert_eq!(pieced.status, whole.status);
            assert_eq!(pieced.statistics.queries, whole.statistics.queries);
            assert_eq!(pieced.statistics.necessary_queries, whole.statistics.necessary_queries);
        }
    }
}

/// Keeps a checkpoint only when it was due, as if the process were killed rather than stopped.
struct Killed {
    keeper: InJson,
    is_due: bool,
}

impl Keeper for Killed {
    fn is_due(&mut self) -> bool {
        self.is_due = self.keeper.is_due();
        self.is_due
    }
    fn keep(&mut self, checkpoint: &Checkpoint) {
        if self.is_due {
            self.keeper.keep(checkpoint);
        }
    }
}

#[test]
fn at_most_one_interval_is_repeated() {
    // The keeper is asked once for every 32 queries of the walk; after many, for every 128th part of them.
    const EVERY: u64 = 50;
    let environment = &PENDULUM;
    let problem = environment.problem().build().expect("the defaults");
    let queries = |outcome: &Outcome| outcome.statistics.queries + outcome.statistics.replayed;
    let whole = Search::new(&problem, environment).tuning(walk_only()).run().expect("it runs");
    for limit in [3_000, 20_001, 77_777] {
        let mut killed = Killed { keeper: InJson::new(EVERY), is_due: false };
        let search = Search::new(&problem, environment).tuning(walk_only());
        let search = search.keeper(&mut killed).query_limit(limit);
        let first = search.run().expect("it runs");
        let kept = killed.keeper.kept.expect("a checkpoint was due");
        let checkpoint = || serde_json::from_str(&kept).expect("as it was written");
        let resume = || Search::new(&problem, environment).resume(checkpoint()).expect("of this problem");
        let lost = limit - queries(&resume().query_limit(0).run().expect("it runs"));
        let slice = (limit / 128).max(32);
        assert!(lost <= slice * (EVERY + 1), "{lost} queries of {limit} were lost");
        assert_eq!(queries(&first), limit);
        let last = resume().run().expect("it runs");
        assert_eq!((last.status, &last.best), (whole.status, &whole.best));
        assert_eq!(last.statistics.queries, whole.statistics.queries);
    }
}

#[test]
fn a_checkpoint_of_another_problem_is_refused() {
    let kept = |environment: &broccoli_environments::Environment| {
        let problem = environment.problem().build().expect("the defaults");
        let mut keeper = InJson::new(1_000);
        let search = Search::new(&problem, environment).keeper(&mut keeper).query_limit(5_000);
        assert!(matches!(search.run().expect("it runs").status, Status::Stopped(_)));
        keeper.kept.expect("a stopped search is kept")
    };
    let json = kept(&MOUNTAIN_CAR);
    let checkpoint = |json: &str| serde_json::from_str::<Checkpoint>(json).expect("as it was written");
    let problem = PENDULUM.problem().build().expect("the defaults");
    let other = Search::new(&problem, &PENDULUM).resume(checkpoint(&json)).err();
    assert_eq!(other, Some(ResumeError::OtherProblem));
    // Labels of actions that do not exist, leaves that start nowhere.
    let problem = MOUNTAIN_CAR.problem().build().expect("the defaults");
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    // Too many initial states, a budget that cannot be added up, trees that are too large.
    for (place, wrong) in [
        ("/saved/chunk/0/budget", serde_json::json!(u64::MAX)),
        ("/saved/chunk/0/todo/0/groups/0/started", serde_json::json!([0, 0, 0])),
        ("/saved/hints/few", serde_json::json!(1_000)),
    ] {
        let mut damaged = value.clone();
        *damaged.pointer_mut(place).expect("it is there") = wrong;
        if place.ends_with("started") {
            *damaged.pointer_mut("/saved/chunk/0/todo/0/groups/0/trace").expect("it is there") = 2.into();
        }
        let search = Search::new(&problem, &MOUNTAIN_CAR).resume(checkpoint(&damaged.to_string()));
        assert_eq!(search.err(), Some(ResumeError::Damaged), "{place}");
    }
    for (place, wrong) in
        [("/saved/chunk/0/todo/0/labels/0/label", 7), ("/saved/chunk/0/todo/0/groups/0/started/0", 9)]
    {
        let mut damaged = value.clone();
        *damaged.pointer_mut(place).expect("it is there") = wrong.into();
        let search = Search::new(&problem, &MOUNTAIN_CAR).resume(checkpoint(&damaged.to_string()));
        assert_eq!(search.err(), Some(ResumeError::Damaged), "{place}");
    }
}

/// A car in a valley, with constants that can change.
#[derive(Clone, Copy)]
struct Car {
    constants: [f64; 4],
    come_back: ComeBack,
    state: [f64; 2],
}

const CONSTANTS: [f64; 4] = [0.001, 0.0025, 3.0, 1.0];

impl Car {
    fn factory(constants: [f64; 4], come_back: ComeBack) -> impl SystemFactory {
        move || Ok(Box::new(Car { constants, come_back, state: [0.0; 2] }) as Box<dyn System>)
    }
}

impl System for Car {
    fn reset(&mut self, initial: &InitialState, seen: &mut [f64]) -> Result<Reply, SystemError> {
        self.state.copy_from_slice(initial.values());
        seen.copy_from_slice(&self.state);
        Ok(Verdict::Running.into())
    }
    fn step(&mut self, action: usize, seen: &mut [f64]) -> Result<Reply, SystemError> {
        let [force, gravity, slope, reward] = self.constants;
        let [position, velocity] = self.state;
        let push = if action == 0 { -force } else { force };
        let velocity = (velocity + push - gravity * libm::cos(slope * position)).clamp(-0.07, 0.07);
        let position = (position + velocity).max(-1.2);
        self.state = [position, if position == -1.2 { 0.0 } else { velocity }];
        seen.copy_from_slice(&self.state);
        let verdict = if position >= 0.5 { Verdict::Satisfied } else { Verdict::Running };
        Ok(Reply::from(verdict).with_reward(-reward * (1.0 + velocity.abs())))
    }
    fn come_back(&self) -> ComeBack {
        self.come_back
    }
    fn save(&mut self, state: &mut Vec<u8>) -> Result<(), SystemError> {
        state.extend(self.state.iter().flat_map(|value| value.to_le_bytes()));
        Ok(())
    }
    fn restore(&mut self, state: &[u8]) -> Result<(), SystemError> {
        let (values, _) = state.as_chunks::<8>();
        for (own, value) in self.state.iter_mut().zip(values) {
            *own = f64::from_le_bytes(*value);
        }
        Ok(())
    }
}

fn car_problem(objective: Objective) -> Problem {
    let problem = Problem::builder()
        .dimension("position", Thresholds::grid(-1.2, 0.6, 0.18).expect("a grid"))
        .dimension("velocity", Thresholds::grid(-0.07, 0.07, 0.014).expect("a grid"))
        .action("left", -1.0)
        .action("right", 1.0)
        .initial([-0.5, 0.0])
        .initial([-0.4, 0.0]);
    problem.objective(objective).depth(2).build().expect("a problem")
}

/// A search that is stopped after `limit` queries, in JSON.
fn stopped(search: Search<'_>, limit: u64) -> String {
    let kept = Arc::new(Mutex::new(None));
    // It has to live as long as what the search borrows.
    let keeper = Box::leak(Box::new(Last(Arc::clone(&kept))));
    let outcome = search.query_limit(limit).keeper(keeper).run().expect("it runs");
    assert_eq!(outcome.status, Status::Stopped(StopReason::QueryLimit));
    kept.lock().expect("nobody panics").take().expect("a stopped search is kept")
}

/// Keeps the last checkpoint, in JSON, where others can see it.
struct Last(Arc<Mutex<Option<String>>>);

impl Keeper for Last {
    fn is_due(&mut self) -> bool {
        false
    }
    fn keep(&mut self, checkpoint: &Checkpoint) {
        let json = serde_json::to_string(checkpoint).expect("a checkpoint is plain data");
        *self.0.lock().expect("nobody panics") = Some(json);
    }
}

fn read(json: &str) -> Checkpoint {
    serde_json::from_str(json).expect("as it was written")
}

impl BatchSystem for Car {
    fn reset(
        &mut self,
        initial: &InitialState,
        state: &mut Vec<f64>,
        seen: &mut [f64],
    ) -> Result<Reply, SystemError> {
        let reply = System::reset(self, initial, seen)?;
        state.extend(self.state);
        Ok(reply)
    }
    fn step_batch(
        &mut self,
        actions: &[usize],
        states: &mut [f64],
        seen: &mut [f64],
        verdicts: &mut [Verdict],
    ) -> Result<(), BatchError> {
        for (row, &action) in actions.iter().enumerate() {
            self.state.copy_from_slice(&states[2 * row..][..2]);
            verdicts[row] = self.step(action, &mut seen[2 * row..][..2])?.verdict;
            states[2 * row..][..2].copy_from_slice(&self.state);
        }
        Ok(())
    }
}

/// Makes cars with these constants.
type MakeCar = Box<dyn Fn([f64; 4]) -> Box<dyn SystemFactory>>;

/// Stops searches for this, and goes on with the same system and with others, of which so many constants differ.
fn check_changes(
    problem: &Problem,
    make: &MakeCar,
    threads: usize,
    remembered: Option<usize>,
    changeable: usize,
) {
    let threads = NonZeroUsize::new(threads).expect("at least one");
    let same = make(CONSTANTS);
    // Nothing is remembered from one search to the next.
    let fresh = || remembering(problem, &*same, remembered);
    let (first, factories) = (fresh(), [70, 900, 5_000].map(|limit| (limit, fresh(), fresh())));
    let whole = Search::new(problem, &*first).threads(threads).run().expect("it runs");
    for (limit, one, other) in &factories {
        let kept = stopped(Search::new(problem, &**one).threads(threads), *limit);
        let again = Search::new(problem, &**other).threads(threads).resume(read(&kept));
        let again = again.expect("of this problem").run().expect("the same");
        assert_eq!((again.status, &again.best), (whole.status, &whole.best));
        for (index, change) in (0..changeable).flat_map(|i| [1e-9, 1e-4, -0.02].map(|change| (i, change))) {
            let mut constants = CONSTANTS;
            constants[index] *= 1.0 + change;
            let other = make(constants);
            let search = Search::new(problem, &*other).resume(read(&kept)).expect("of this problem");
            let error = search.run().map(|outcome| outcome.status).expect_err("another system").error;
            assert!(matches!(error, RunError::Changed { .. }), "{constants:?}, {limit}: {error}");
            assert!(error.to_string().contains("has changed since the checkpoint was made"));
        }
    }
}

/// A search believes what the system has told it. So a system that has changed must not go unnoticed, however little
/// it has.
#[test]
fn a_system_that_has_changed_is_refused() {
    let one_by_one =
        |come_back| -> MakeCar { Box::new(move |constants| Box::new(Car::factory(constants, come_back))) };
    let batches: MakeCar = Box::new(|constants| {
        let car = move || {
            Ok(Box::new(Car { constants, come_back: ComeBack::Clone, state: [0.0; 2] })
                as Box<dyn BatchSystem>)
        };
        Box::new(Batches::new(NonZeroUsize::new(16).expect("not 0"), car))
    });
    let reach = car_problem(Objective::reach(300));
    for (objective, changeable) in [(Objective::reach(300), 3), (Objective::maximise(120), 4)] {
        let problem = car_problem(objective);
        for (come_back, threads, remembered) in [
            (ComeBack::Clone, 1, None),
            (ComeBack::Replay, 1, None),
            (ComeBack::Snapshot, 3, None),
            (ComeBack::Clone, 1, Some(1 << 20)),
        ] {
            check_changes(&problem, &one_by_one(come_back), threads, remembered, changeable);
        }
    }
    check_changes(&reach, &batches, 1, None, 3);
    check_changes(&reach, &batches, 2, None, 3);
}

/// To see whether the system is the same takes a small share of the queries made before.
#[test]
fn asking_again_takes_few_queries() {
    let problem = MOUNTAIN_CAR.problem().depth(3).build().expect("a problem");
    for limit in [1_000, 20_000, 200_000] {
        let kept = stopped(Search::new(&problem, &MOUNTAIN_CAR), limit);
        let before = |limit| {
            let search = Search::new(&problem, &MOUNTAIN_CAR).resume(read(&kept)).expect("of this problem");
            search.query_limit(limit).run().expect("it runs").statistics
        };
        // Besides, the best tree is run once, and the first leaf is come back to.
        let none = before(0);
        assert!((1..=64 + 2 * limit.isqrt() + 300).contains(&none.queries_asked_again), "{none:?}");
        assert_eq!(none.replayed, 0);
        // The search gets on, once it has come back to its first leaf.
        assert!(before(2 * 300).queries > none.queries);
    }
}

/// A tree to start from that could not be run to its end is run when the search is resumed.
#[test]
fn a_search_that_is_stopped_in_the_tree_to_start_from_is_kept() {
    let problem = car_problem(Objective::reach(300));
    let factory = Car::factory(CONSTANTS, ComeBack::Clone);
    let whole = Search::new(&problem, &factory).run().expect("it runs");
    let tree = Tree::node(1, 0.0, Tree::Leaf(1), Tree::Leaf(0));
    let start = || Search::new(&problem, &factory).start(tree.clone()).expect("one of the problem's");
    for limit in [0, 1, 50, 130, 400] {
        let kept = stopped(start(), limit);
        let again = Search::new(&problem, &factory).resume(read(&kept)).expect("of this problem");
        let again = again.run().expect("it runs");
        assert_eq!((again.status, &again.best), (whole.status, &whole.best), "{limit}");
    }
    // However often it is stopped.
    let mut kept = stopped(start(), 20);
    for limit in 100..110 {
        kept = stopped(Search::new(&problem, &factory).resume(read(&kept)).expect("of this problem"), limit);
    }
    let again = Search::new(&problem, &factory).resume(read(&kept)).expect("of this problem").run();
    assert_eq!(again.expect("it runs").best, whole.best);
}

/// Whatever somebody writes into a checkpoint: it is refused, or the search runs. It does not panic.
#[test]
fn wrong_checkpoints_do_no_harm() {
    fn numbers(value: &mut serde_json::Value, visit: &mut dyn FnMut(&mut serde_json::Value)) {
        match value {
            serde_json::Value::Array(values) => values.iter_mut().for_each(|value| numbers(value, visit)),
            serde_json::Value::Object(values) => values.values_mut().for_each(|value| numbers(value, visit)),
            serde_json::Value::Number(_) => visit(value),
            _ => {}
        }
    }
    let problem = car_problem(Objective::reach(300));
    let survive = CARTPOLE.problem().build().expect("the defaults");
    let car = Car::factory(CONSTANTS, ComeBack::Clone);
    let cases: [(&Problem, &dyn SystemFactory, u64); 3] =
        [(&problem, &car, 400), (&problem, &car, 3_000), (&survive, &CARTPOLE, 2_000)];
    let (mut random, mut refused, mut ran, mut panics) = (1u64, 0, 0, Vec::new());
    for (problem, factory, limit) in cases {
        let whole: serde_json::Value =
            serde_json::from_str(&stopped(Search::new(problem, factory), limit)).expect("JSON");
        let mut count = 0;
        numbers(&mut whole.clone(), &mut |_| count += 1);
        for _ in 0..400 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (at, with) = ((random >> 33) % count, random >> 60);
            let mut number = 0;
            let mut wrong = whole.clone();
            numbers(&mut wrong, &mut |value| {
                if number == at {
                    let old = value.as_u64().unwrap_or(1);
                    *value = match with {
                        0..4 => old.wrapping_add(1).into(),
                        4..7 => old.saturating_sub(1).into(),
                        7..10 => 0.into(),
                        10 => u64::MAX.into(),
                        11 => u64::from(u32::MAX).into(),
                        12 => u64::from(u16::MAX).into(),
                        13 => (-1).into(),
                        14 => 0.5.into(),
                        _ => (1u64 << 63).into(),
                    };
                }
                number += 1;
            });
            let Ok(checkpoint) = serde_json::from_value::<Checkpoint>(wrong) else { continue };
            let searched = catch_unwind(AssertUnwindSafe(|| {
                let search = Search::new(problem, factory).resume(checkpoint).ok()?;
                Some(search.query_limit(20_000).run())
            }));
            match searched {
                Err(_) => panics.push(format!("number {at}, {with}")),
                Ok(Some(Err(failure))) if matches!(failure.error, RunError::Panic { .. }) => {
                    panics.push(format!("number {at}, {with}: {failure}"));
                }
                Ok(None | Some(Err(_))) => refused += 1,
                Ok(Some(Ok(_))) => ran += 1,
            }
        }
    }
    assert!(panics.is_empty(), "{panics:#?}");
    assert!(refused > 100 && ran > 100, "{refused} refused, {ran} ran");
}

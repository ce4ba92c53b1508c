//! One answer for any number of threads, however they happen to be scheduled.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use broccoli_core::problem::{
    ComeBack, InitialState, Objective, Problem, Reply, System, SystemError, SystemFactory, Thresholds,
};
use broccoli_core::search::{Outcome, Search, Status, StopReason, Tuning};
use broccoli_environments::{CARTPOLE, Environment, MOUNTAIN_CAR, PENDULUM};
use broccoli_tests::jittery::jittery;
use broccoli_tests::oracle;
use broccoli_tests::random::{Wanted, scattered, structured};
use broccoli_tests::remembering;
use broccoli_tests::table::TableProblem;
use broccoli_tests::wall::{check_outcome, run};

const MOST_TREES: u64 = 2_500;

/// A search with so many threads.
fn search(problem: &Problem, factory: &dyn SystemFactory, threads: usize) -> Result<Outcome, String> {
    search_with(problem, factory, threads, None, usize::MAX)
}

/// The same on a system that remembers, and with little memory.
fn search_with(
    problem: &Problem,
    factory: &dyn SystemFactory,
    threads: usize,
    remembered: Option<usize>,
    memory: usize,
) -> Result<Outcome, String> {
    let threads = NonZeroUsize::new(threads).expect("at least one");
    let factory = remembering(problem, factory, remembered);
    let search = Search::new(problem, &*factory).threads(threads);
    search.memory_limit(memory).run().map_err(|error| error.to_string())
}

/// Chunks of several tasks from the first steps on.
fn short_tasks() -> Tuning {
    Tuning { least_chunk: 16, least_task: 8, chunk_share: 2, most_tasks: 8, ..Tuning::default() }
}

/// Status, value, size, the tree itself and the number of queries are those of one thread.
#[test]
fn random_problems_have_one_answer() {
    let check = |table: &TableProblem| {
        let expected = oracle::best(table);
        let problem = table.problem();
        for come_back in [ComeBack::Clone, ComeBack::Replay] {
            let alone = search(&problem, &table.factory(come_back), 1)?;
            check_outcome(table, &alone, expected)?;
            for tuning in [Tuning::default(), Tuning::for_slow_systems(), short_tasks()] {
                let search = |factory: &dyn SystemFactory, threads: usize| {
                    let search = Search::new(&problem, factory).tuning(tuning);
                    let threads = NonZeroUsize::new(threads).expect("at least one");
                    search.threads(threads).run().map_err(|error| error.to_string())
                };
                let alone = search(&table.factory(come_back), 1)?;
                for threads in [2, 3, 8] {
                    let together = search(&jittery(table.factory(come_back)), threads)?;
                    check_outcome(table, &together, expected)?;
                    let queries = |outcome: &Outcome| outcome.statistics.queries;
                    if together.best != alone.best || queries(&together) != queries(&alone) {
                        return Err(format!("{threads} threads: {together:?}\none: {alone:?}"));
                    }
                }
            }
        }
        Ok(())
    };
    for wanted in [Wanted::Reach, Wanted::Survive] {
        run(0.001, scattered(wanted, MOST_TREES), check);
        run(0.001, structured(wanted, MOST_TREES), check);
    }
}

/// What is remembered, in whatever memory, does not change the answer; and a limit on memory not what it is worth.
#[test]
fn memory_does_not_matter() {
    let check = |table: &TableProblem| {
        let problem = table.problem();
        for come_back in [ComeBack::Clone, ComeBack::Snapshot, ComeBack::Replay] {
            let factory = table.factory(come_back);
            let alone = search(&problem, &factory, 1)?;
            for (threads, remembered, memory) in [
                (1, None, 1),
                (1, None, 2_000),
                (3, None, 1_000),
                (2, Some(3_000), usize::MAX),
                (3, Some(1 << 20), usize::MAX),
                (1, Some(1 << 20), 1),
                (1, Some(0), 4_000),
                (2, Some(1 << 20), 2_000),
            ] {
                let other = search_with(&problem, &factory, threads, remembered, memory)?;
                let worth =
                    |outcome: &Outcome| outcome.best.as_ref().map(|best| (best.value, best.tree.size()));
                let is_same = if memory == usize::MAX {
                    other.best == alone.best
                } else {
                    worth(&other) == worth(&alone)
                };
                if other.status != alone.status || !is_same {
                    return Err(format!("{threads}, {remembered:?}, {memory}: {other:?}\nalone: {alone:?}"));
                }
            }
        }
        Ok(())
    };
    for wanted in [Wanted::Reach, Wanted::Survive] {
        run(0.001, scattered(wanted, MOST_TREES), check);
        run(0.001, structured(wanted, MOST_TREES), check);
    }
}

/// Steps are made by all workers alike while the search has hardly begun: none does all of them.
#[test]
fn slow_systems_are_shared_out_from_the_beginning() {
    for environment in [&MOUNTAIN_CAR, &CARTPOLE, &PENDULUM] {
        let problem = environment.problem().build().expect("the defaults");
        let (made, all) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicU64::new(0)));
        let factory = || {
            let mine = Arc::new(AtomicU64::new(0));
            made.lock().expect("nobody panics").push(Arc::clone(&mine));
            let system = environment.make()?;
            let pause = Duration::from_millis(1);
            Ok(Box::new(Sleepy { system, pause, steps: [mine, Arc::clone(&all)] }) as Box<dyn System>)
        };
        let enough = || (all.load(Relaxed) >= 1_500).then_some(StopReason::TimeLimit);
        let threads = NonZeroUsize::new(8).expect("eight");
        Search::new(&problem, &factory).threads(threads).stop(&enough).run().expect("it runs");
        let made = made.lock().expect("nobody panics");
        let most = made.iter().map(|steps| steps.load(Relaxed)).max().unwrap_or(0);
        assert_eq!(made.len(), 8, "{}", environment.name);
        assert!(4 * most <= all.load(Relaxed), "{}: one has made {most}", environment.name);
    }
}

/// Nobody asks what somebody else is asking: the number of queries is the same for any number of threads, and no answer is
/// asked for twice but on the way to another one.
#[test]
fn what_is_remembered_is_asked_once_by_any_number_of_threads() {
    for environment in [&MOUNTAIN_CAR, &PENDULUM] {
        let starts = [[0.1, 0.0], [-0.2, 0.0], [0.0, 0.0]].map(|shift| {
            let values = environment.initial.iter().zip(shift).map(|(value, shift)| value + shift);
            InitialState::new(values.collect::<Vec<f64>>())
        });
        let grids = environment.dimensions.iter().map(|d| Thresholds::count(d.range.0, d.range.1, 4));
        let grids = grids.collect::<Result<Vec<_>, _>>().expect("grids");
        let problem = environment.problem_with(grids, starts.to_vec()).objective(Objective::reach(200));
        let problem = problem.depth(1).build().expect("a problem");
        let all = Arc::new(AtomicU64::new(0));
        let factory = || {
            let (system, all) = (environment.make()?, Arc::clone(&all));
            let pause = Duration::from_micros(20);
            Ok(Box::new(Sleepy { system, pause, steps: [Arc::default(), all] }) as Box<dyn System>)
        };
        let queries = [1, 4].map(|threads| {
            let factory = remembering(&problem, &factory, Some(1 << 28));
            let threads = NonZeroUsize::new(threads).expect("some");
            let enough = || (all.load(Relaxed) >= 100_000).then_some(StopReason::TimeLimit);
            let search = Search::new(&problem, &*factory).threads(threads).stop(&enough);
            let outcome = search.run().expect("it runs");
            assert!(!matches!(outcome.status, Status::Stopped(_)), "{}", environment.name);
            (outcome.statistics.queries, outcome.best.map(|best| (best.value, best.tree)))
        });
        assert_eq!(queries[0], queries[1], "{}", environment.name);
    }
}

/// A system that waits a moment in each step, and counts its steps.
struct Sleepy {
    system: Box<dyn System>,
    pause: Duration,
    steps: [Arc<AtomicU64>; 2],
}

impl System for Sleepy {
    fn reset(&mut self, initial: &InitialState, observation: &mut [f64]) -> Result<Reply, SystemError> {
        self.system.reset(initial, observation)
    }
    fn step(&mut self, action: usize, observation: &mut [f64]) -> Result<Reply, SystemError> {
        std::thread::sleep(self.pause);
        self.steps.iter().for_each(|steps| _ = steps.fetch_add(1, Relaxed));
        self.system.step(action, observation)
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

/// A search that ends soon starts few systems, and none starts more than there are tasks.
#[test]
fn systems_are_started_as_they_are_needed() {
    let problem = MOUNTAIN_CAR.problem().depth(1).build().expect("the defaults");
    let made = AtomicU64::new(0);
    let factory = || {
        made.fetch_add(1, Relaxed);
        MOUNTAIN_CAR.make()
    };
    let threads = NonZeroUsize::new(64).expect("many");
    for (limit, most) in [(1, 1), (20, 10)] {
        made.store(0, Relaxed);
        let search = Search::new(&problem, &factory).threads(threads).query_limit(limit);
        search.run().expect("it runs");
        assert!(made.load(Relaxed) <= most, "{} after {limit} queries", made.load(Relaxed));
    }
}

/// The paper's environments, with one and with several initial states.
#[test]
fn environments_have_one_answer() {
    let problems = |environment: &'static Environment| {
        let one = environment.problem().build().expect("the defaults");
        let several = environment
            .problem_with(environment.grids(None).expect("the defaults"), environment.sample(5, 3));
        [one, several.build().expect("the defaults")]
    };
    for environment in [&MOUNTAIN_CAR, &CARTPOLE, &PENDULUM] {
        for problem in problems(environment) {
            let alone = search(&problem, environment, 1).expect("it runs");
            assert_eq!(alone.status, Status::Optimal);
            for threads in [2, 3, 8] {
                let together = search(&problem, environment, threads).expect("it runs");
                assert_eq!(together.best, alone.best, "{} with {threads} threads", environment.name);
                assert_eq!(together.bound, alone.bound);
                assert_eq!(together.statistics.queries, alone.statistics.queries);
                assert_eq!(together.statistics.necessary_queries, alone.statistics.necessary_queries);
            }
        }
    }
}

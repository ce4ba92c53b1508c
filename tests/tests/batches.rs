//! Systems that make many steps at a time give the answers of those that make one.

use std::num::NonZeroUsize;

use broccoli_core::problem::{
    BatchError, BatchSystem, Batches, ComeBack, InitialState, Objective, Problem, Reply, SystemError,
    SystemFactory, Thresholds, Verdict,
};
use broccoli_core::search::{Checkpoint, Event, Keeper, Outcome, Search, Status};
use broccoli_environments::{CARTPOLE, Environment, MOUNTAIN_CAR, PENDULUM};
use broccoli_tests::batch::{Made, batched};
use broccoli_tests::oracle;
use broccoli_tests::random::{Wanted, scattered, structured};
use broccoli_tests::table::TableProblem;
use broccoli_tests::wall::{check_outcome, run};
use broccoli_tests::worth;

const MOST_TREES: u64 = 2_500;

fn search(problem: &Problem, factory: &dyn SystemFactory, threads: usize) -> Result<Outcome, String> {
    let threads = NonZeroUsize::new(threads).expect("at least one");
    Search::new(problem, factory).threads(threads).run().map_err(|error| error.to_string())
}

/// Status, value, size and the tree itself are those of one step at a time.
#[test]
fn random_problems_have_one_answer() {
    let check = |table: &TableProblem| {
        let expected = oracle::best(table);
        let problem = table.problem();
        let alone = search(&problem, &table.factory(ComeBack::Clone), 1)?;
        check_outcome(table, &alone, expected)?;
        for (rows, threads) in [(1, 1), (2, 1), (7, 1), (64, 1), (500, 1), (5, 3)] {
            let factory = batched(table.factory(ComeBack::Clone), rows, &Made::default());
            let together = search(&problem, &factory, threads)?;
            check_outcome(table, &together, expected)?;
            if together.best != alone.best
                || together.statistics.necessary_queries != alone.statistics.necessary_queries
            {
                return Err(format!("{rows} rows, {threads} threads: {together:?}\nalone: {alone:?}"));
            }
        }
        Ok(())
    };
    for wanted in [Wanted::Reach, Wanted::Survive] {
        run(0.01, scattered(wanted, MOST_TREES), check);
        run(0.01, structured(wanted, MOST_TREES), check);
    }
}

/// The paper's environments, with one and with several initial states. From one initial state hardly more
/// queries are made than one by one, and many at a time.
#[test]
fn environments_have_one_answer() {
    let problems = |environment: &'static Environment| {
        let one = environment.problem().build().expect("the defaults");
        let several = environment
            .problem_with(environment.grids(None).expect("the defaults"), environment.sample(3, 3));
        [one, several.build().expect("the defaults")]
    };
    for environment in [&MOUNTAIN_CAR, &CARTPOLE, &PENDULUM] {
        for problem in problems(environment) {
            let alone = search(&problem, environment, 1).expect("it runs");
            assert_eq!(alone.status, Status::Optimal);
            // From several initial states it takes longer.
            let sizes: &[usize] = if problem.initial_states().len() == 1 { &[16, 256] } else { &[100] };
            for &rows in sizes {
                let (made, name) = (Made::default(), environment.name);
                let factory = batched(|| environment.make(), rows, &made);
                let together = search(&problem, &factory, 1).expect("it runs");
                assert_eq!(worth(&together), worth(&alone), "{name} with {rows} rows");
                let (with, without) = (together.statistics, alone.statistics);
                assert_eq!(with.necessary_queries, without.necessary_queries);
                let (batches, steps) = made.counts();
                assert_eq!(steps, with.queries + with.queries_confirming);
                if problem.initial_states().len() == 1 {
                    assert!(with.queries < without.queries * 11 / 10, "{name}: {with:?}, {without:?}");
                    assert!(batches - with.queries_confirming < steps / 4, "{name}: {batches} for {steps}");
                }
            }
        }
    }
}

/// Keeps the last checkpoint, as it is written to a file.
#[derive(Default)]
struct Last(Option<String>);

impl Keeper for Last {
    fn is_due(&mut self) -> bool {
        false
    }
    fn keep(&mut self, checkpoint: &Checkpoint) {
        self.0 = Some(serde_json::to_string(checkpoint).expect("plain data"));
    }
}

fn resumed<'a>(search: Search<'a>, kept: &Option<String>) -> Search<'a> {
    match kept {
        None => search,
        Some(json) => search.resume(serde_json::from_str(json).expect("as written")).expect("its own"),
    }
}

/// Stopped again and again, and resumed with batches and without in turn: the answer is the same, and no more
/// queries are made than allowed.
#[test]
fn interrupted_searches_end_as_if_never_stopped() {
    let check = |table: &TableProblem| {
        let problem = table.problem();
        let alone = search(&problem, &table.factory(ComeBack::Clone), 1)?;
        let limit = 1 + alone.statistics.queries / 5;
        let mut kept = None;
        for turn in 0.. {
            let made = Made::default();
            let rows = [1, 3, 50][turn % 3];
            let factory = batched(table.factory(ComeBack::Clone), rows, &made);
            let scalar = table.factory(ComeBack::Clone);
            let factory: &dyn SystemFactory = if turn % 4 == 3 { &scalar } else { &factory };
            let mut last = Last::default();
            let limit = limit + turn as u64;
            let search = Search::new(&problem, factory).keeper(&mut last).query_limit(limit);
            let outcome = resumed(search, &kept).run().map_err(|e| e.to_string())?;
            let beside = outcome.statistics.queries_confirming + outcome.statistics.queries_asked_again;
            if made.counts().1 > limit + beside {
                return Err(format!("{} queries instead of {limit}", made.counts().1));
            }
            if !matches!(outcome.status, Status::Stopped(_)) {
                let same = worth(&outcome) == worth(&alone);
                return if same { Ok(()) } else { Err(format!("{outcome:?}\nalone: {alone:?}")) };
            }
            kept = Some(last.0.ok_or("nothing was kept")?);
        }
        Ok(())
    };
    for wanted in [Wanted::Reach, Wanted::Survive] {
        run(0.005, scattered(wanted, MOST_TREES), check);
        run(0.005, structured(wanted, MOST_TREES), check);
    }
}

/// What goes wrong with a car, once, after so many steps.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    Fails,
    Panics,
    SaysNaN,
    /// The whole batch fails, and no row is to blame.
    BatchFails,
}

struct Faulty {
    cars: Box<dyn BatchSystem>,
    fault: Fault,
    steps_left: usize,
}

impl BatchSystem for Faulty {
    fn reset(
        &mut self,
        initial: &InitialState,
        state: &mut Vec<f64>,
        seen: &mut [f64],
    ) -> Result<Reply, SystemError> {
        self.cars.reset(initial, state, seen)
    }
    fn step_batch(
        &mut self,
        actions: &[usize],
        states: &mut [f64],
        observations: &mut [f64],
        verdicts: &mut [Verdict],
    ) -> Result<(), BatchError> {
        self.cars.step_batch(actions, states, observations, verdicts)?;
        let row = self.steps_left;
        match self.steps_left.checked_sub(actions.len()) {
            Some(left) => self.steps_left = left,
            None => {
                let source = SystemError::new("out of petrol");
                match self.fault {
                    Fault::Panics => panic!("out of petrol"),
                    Fault::SaysNaN => observations[2 * row + 1] = f64::NAN,
                    Fault::Fails => return Err(BatchError { row: Some(row), source }),
                    Fault::BatchFails => return Err(source.into()),
                }
            }
        }
        Ok(())
    }
}

/// One row of a batch fails: the search ends, says where, keeps its best tree, and can be resumed.
#[test]
fn one_row_fails() {
    let problem = MOUNTAIN_CAR.problem().build().expect("the defaults");
    let made = Made::default();
    let cars = batched(|| MOUNTAIN_CAR.make(), 100, &made);
    let whole = Search::new(&problem, &cars).run().expect("no fault");
    for (fault, expected) in [
        (Fault::Fails, "from initial state 0: out of petrol"),
        (Fault::Panics, "the system failed at a batch of "),
        (Fault::SaysNaN, "the observation is NaN in dimension \"velocity\" at step "),
        (Fault::BatchFails, "the system failed at a batch of "),
    ] {
        for rows in [1, 100] {
            let make = || {
                let faulty = Faulty { cars: cars.make_batch()?, fault, steps_left: 80_000 };
                Ok(Box::new(faulty) as Box<dyn BatchSystem>)
            };
            let factory = Batches::new(NonZeroUsize::new(rows).expect("not 0"), make);
            let (mut last, mut best) = (Last::default(), None);
            let mut observer = |event: Event<'_>| {
                if let Event::Improved(better) = event {
                    best = Some((better.value, better.size));
                }
            };
            let search = Search::new(&problem, &factory).keeper(&mut last).observer(&mut observer);
            let failure = search.run().expect_err("a car fails");
            let said = failure.to_string();
            // A batch of one row has a step.
            let is_step = expected.ends_with("batch of ") && said.contains("at step ");
            assert!(said.contains(expected) || is_step, "{fault:?}, {rows} rows: {said}");
            assert_eq!(failure.best.map(|best| (best.value, best.tree.size())), best, "{fault:?}");
            let again = resumed(Search::new(&problem, &cars), &last.0).run().expect("no fault");
            assert_eq!((again.status, &again.best), (whole.status, &whole.best), "{fault:?}, {rows} rows");
        }
    }
}

/// States of different lengths cannot be the rows of one array.
#[test]
fn states_have_one_length() {
    struct Growing;
    impl BatchSystem for Growing {
        fn reset(
            &mut self,
            initial: &InitialState,
            state: &mut Vec<f64>,
            seen: &mut [f64],
        ) -> Result<Reply, SystemError> {
            state.resize(initial.values()[0] as usize, 0.0);
            seen[0] = 0.0;
            Ok(Verdict::Running.into())
        }
        fn step_batch(
            &mut self,
            _: &[usize],
            _: &mut [f64],
            seen: &mut [f64],
            verdicts: &mut [Verdict],
        ) -> Result<(), BatchError> {
            seen.fill(0.0);
            verdicts.fill(Verdict::Satisfied);
            Ok(())
        }
    }
    let problem = Problem::builder()
        .dimension("x", Thresholds::none())
        .action("a", 0.0)
        .action("b", 1.0)
        .initial([2.0])
        .initial([3.0])
        .objective(Objective::reach(5))
        .build()
        .expect("a problem");
    let factory = Batches::new(NonZeroUsize::MIN, || Ok(Box::new(Growing) as Box<dyn BatchSystem>));
    let said = Search::new(&problem, &factory).run().expect_err("rows of two lengths").to_string();
    assert!(said.contains("from initial state") && said.contains("rows of one length"), "{said}");
}

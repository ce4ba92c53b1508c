//! A search that is stopped and resumed, however often, ends with the answer of one that never was.

use std::num::NonZeroUsize;

use broccoli_core::problem::{ComeBack, InitialState, Problem, SystemFactory};
use broccoli_core::search::{Checkpoint, Keeper, Outcome, ResumeError, Search, Status, StopReason};
use broccoli_environments::{CARTPOLE, Environment, MOUNTAIN_CAR, PENDULUM};
use broccoli_tests::random::{Wanted, any_objective, scattered, structured};
use broccoli_tests::table::TableProblem;
use broccoli_tests::wall::run;

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
    cache: usize,
) -> Result<(Outcome, u32), String> {
    let threads = NonZeroUsize::new(threads).expect("at least one");
    let mut kept: Option<String> = None;
    for stops in 0.. {
        let mut keeper = InJson::new(every);
        let mut search = Search::new(problem, factory).threads(threads).threads_after(3).cache(cache);
        search = search.keeper(&mut keeper);
        if let Some(json) = &kept {
            let checkpoint = serde_json::from_str(json).map_err(|e| e.to_string())?;
            search = search.resume(checkpoint).map_err(|e| e.to_string())?;
        }
        // To come back to where it was may take as many queries as it is allowed.
        let outcome = search.query_limit(limit + u64::from(stops)).run().map_err(|e| e.to_string())?;
        match outcome.status {
            Status::Stopped(StopReason::QueryLimit) => {
                kept = Some(keeper.kept.ok_or("nothing was kept")?);
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
            let whole = Search::new(&problem, &factory).run().map_err(|e| e.to_string())?;
            let needed = whole.statistics.queries + whole.statistics.replayed;
            for (share, threads, every, cache) in [
                (9, 1, 1_000, 0),
                (4, 1, 2, 0),
                (5, 3, 1, 0),
                (2, 2, 5, 0),
                (3, 1, 4, 1 << 20),
                (4, 2, 3, 2_000),
            ] {
                let limit = 1 + needed / share;
                let (pieced, _) = interrupted(&problem, &factory, limit, threads, every, cache)?;
                let same = pieced.status == whole.status
                    && pieced.best == whole.best
                    && pieced.bound == whole.bound
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

#[test]
fn environments_end_as_if_never_stopped() {
    let defaults = |environment: &'static Environment| {
        (environment, environment.problem().build().expect("the defaults"), 30_000)
    };
    // A perfect tree of four predicates is found ahead of the round of three: of the first of these problems the one
    // that the round of four finds first, too; of the second another.
    let perfect = |steps: [f64; 4], initial: &[f64]| {
        let grids = CARTPOLE.grids(Some(&steps)).expect("the steps make grids");
        let problem = CARTPOLE.problem_with(grids, vec![InitialState::new(initial)]).depth(3).build();
        (&CARTPOLE, problem.expect("it is a problem"), 10_000)
    };
    let problems = [
        defaults(&MOUNTAIN_CAR),
        defaults(&CARTPOLE),
        defaults(&PENDULUM),
        perfect([0.32, 0.13, 0.08, 0.13], CARTPOLE.initial),
        perfect([0.232, 0.105, 0.198, 0.248], &[0.0097, -0.005, -0.0187, -0.0437]),
    ];
    for (environment, problem, limit) in problems {
        let whole = Search::new(&problem, environment).run().expect("it runs");
        for threads in [1, 2] {
            let (pieced, stops) =
                interrupted(&problem, environment, limit, threads, 500, 0).expect("it ends");
            assert!(stops >= 3, "{} was stopped {stops} times", environment.name);
            assert_eq!(pieced.best, whole.best);
            assert_eq!(pieced.status, whole.status);
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
    let whole = Search::new(&problem, environment).run().expect("it runs");
    for limit in [3_000, 20_001, 77_777] {
        let mut killed = Killed { keeper: InJson::new(EVERY), is_due: false };
        let search = Search::new(&problem, environment).keeper(&mut killed).query_limit(limit);
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
        // The scout begins anew.
        let more = last.statistics.queries.abs_diff(whole.statistics.queries);
        assert!(more <= whole.statistics.queries / 100, "{more} more queries");
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
    for (place, wrong) in
        [("/saved/parts/0/leaves/labels/0/label", 7), ("/saved/parts/0/leaves/started/0", 9)]
    {
        let mut damaged = value.clone();
        *damaged.pointer_mut(place).expect("it is there") = wrong.into();
        let search = Search::new(&problem, &MOUNTAIN_CAR).resume(checkpoint(&damaged.to_string()));
        assert_eq!(search.err(), Some(ResumeError::Damaged), "{place}");
    }
}

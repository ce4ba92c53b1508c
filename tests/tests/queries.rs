//! What the behaviour engine asks of a system, against brute force: only transitions that some tree
//! within the limits makes, hardly any of them twice for `reach`, and all that any proof needs. With
//! memory, none of them twice.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard};

use broccoli_core::problem::{ComeBack, InitialState, Objective, Reply, System, SystemError, SystemFactory};
use broccoli_core::search::{Outcome, Search, Statistics};
use broccoli_environments::MOUNTAIN_CAR;
use broccoli_tests::oracle;
use broccoli_tests::random::{Wanted, scattered, structured};
use broccoli_tests::table::{State, TableProblem};
use broccoli_tests::wall::run;
use broccoli_tests::{remembering, walk_only};

const MOST_TREES: u64 = 1_000;

/// A transition: the initial state, and the actions up to and with it.
type Transition = (usize, Vec<usize>);

/// A system that writes down every transition it is asked for, and what it has saved.
struct Recorder {
    system: Box<dyn System>,
    path: Transition,
    record: Arc<Mutex<Record>>,
}

#[derive(Default)]
struct Record {
    asked: Vec<Transition>,
    saved: Vec<Transition>,
}

impl Recorder {
    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().expect("nothing panics while it records")
    }
}

impl System for Recorder {
    fn reset(&mut self, initial: &InitialState, observation: &mut [f64]) -> Result<Reply, SystemError> {
        self.path = (initial.values()[0] as usize, Vec::new());
        self.system.reset(initial, observation)
    }

    fn step(&mut self, action: usize, observation: &mut [f64]) -> Result<Reply, SystemError> {
        self.path.1.push(action);
        self.record().asked.push(self.path.clone());
        self.system.step(action, observation)
    }

    fn come_back(&self) -> ComeBack {
        self.system.come_back()
    }

    fn save(&mut self, state: &mut Vec<u8>) -> Result<(), SystemError> {
        let mut record = self.record();
        state.extend_from_slice(&record.saved.len().to_le_bytes());
        record.saved.push(self.path.clone());
        drop(record);
        self.system.save(state)
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), SystemError> {
        let (path, state) = state.split_at(size_of::<usize>());
        let index = usize::from_le_bytes(path.try_into().expect("a saved path"));
        let path = self.record().saved[index].clone();
        self.path = path;
        self.system.restore(state)
    }
}

/// Solves the problem, on a system that remembers in so many bytes, if it does; also every transition asked for, in order.
fn solve(table: &TableProblem, come_back: ComeBack, memory: Option<usize>) -> (Outcome, Vec<Transition>) {
    let record: Arc<Mutex<Record>> = Arc::default();
    let inner = table.factory(come_back);
    let factory = || {
        let recorder = Recorder { system: inner.make()?, path: (0, Vec::new()), record: Arc::clone(&record) };
        Ok(Box::new(recorder) as Box<dyn System>)
    };
    let problem = table.problem();
    // What the walk asks for: a hint asks for whatever its trees come to.
    let factory = remembering(&problem, &factory, memory);
    let search = Search::new(&problem, &*factory).tuning(walk_only());
    let outcome = search.run().expect("a table does not fail");
    let mut asked = std::mem::take(&mut record.lock().expect("nothing panics while it records").asked);
    // The last ones run the answer once more.
    asked.truncate(asked.len() - outcome.statistics.queries_confirming as usize);
    (outcome, asked)
}

/// Every transition that some tree of at most `nodes` predicates makes from one initial state, up to
/// `steps` steps.
fn realisable(table: &TableProblem, nodes: u64, steps: u64) -> BTreeSet<Transition> {
    let mut all = BTreeSet::new();
    for size in 0..=nodes {
        for tree in oracle::trees(table, size, table.depth) {
            for &initial in &table.initial {
                let path = oracle::actions(table, &tree, initial, steps);
                all.extend((1..=path.len()).map(|end| (initial, path[..end].to_vec())));
            }
        }
    }
    all
}

fn check(table: &TableProblem) -> Result<(), String> {
    let (outcome, asked) = solve(table, ComeBack::Snapshot, None);
    let horizon = table.objective.horizon();
    let possible = realisable(table, table.nodes, horizon);
    if let Some(wrong) = asked.iter().find(|transition| !possible.contains(*transition)) {
        return Err(format!("{wrong:?} was asked for, which no tree makes"));
    }
    if asked.len() as u64 != outcome.statistics.queries {
        return Err(format!("{} queries, {:?}", asked.len(), outcome.statistics));
    }
    let distinct: BTreeSet<&Transition> = asked.iter().collect();
    let Some(necessary) = outcome.statistics.necessary_queries else {
        return if table.initial.len() > 1 { Ok(()) } else { Err("necessary queries are missing".into()) };
    };
    let best = outcome.best.as_ref().map(|best| (best.value, best.tree.size()));
    let needed = match (table.objective, best) {
        (Objective::Reach { .. }, None) => possible.clone(),
        (Objective::Reach { .. }, Some((value, size))) => {
            let mut needed = realisable(table, table.nodes, value.saturating_sub(1));
            if size > 0 {
                needed.extend(realisable(table, size - 1, value));
            }
            needed
        }
        (Objective::Survive { .. }, Some((value, size))) if value == horizon => {
            // The trace of the solution counts, too; of which one is not determined.
            let mut needed = if size > 0 { realisable(table, size - 1, horizon) } else { BTreeSet::new() };
            let mut perfect = oracle::trees(table, size, table.depth);
            perfect.retain(|tree| oracle::value(table, tree) == Some(horizon));
            let Some(found) = perfect.into_iter().find_map(|tree| {
                let path = oracle::actions(table, &tree, table.initial[0], horizon);
                let trace = (1..=path.len()).map(|end| (table.initial[0], path[..end].to_vec()));
                let all: BTreeSet<Transition> = needed.iter().cloned().chain(trace).collect();
                (all.len() as u64 == necessary).then_some(all)
            }) else {
                return Err(format!("{necessary} necessary queries fit no solution"));
            };
            needed = found;
            needed
        }
        _ => possible.clone(),
    };
    if needed.len() as u64 != necessary {
        return Err(format!("{necessary} necessary queries, but there are {}", needed.len()));
    }
    if matches!(table.objective, Objective::Reach { .. }) {
        if let Some(missing) = needed.iter().find(|transition| !distinct.contains(transition)) {
            return Err(format!("{missing:?} was not asked for, so nothing is proved"));
        }
        // Hardly anything is asked for again.
        if asked.len() - distinct.len() > asked.len() / 10 {
            return Err(format!("{} queries, only {} of them different", asked.len(), distinct.len()));
        }
    }
    Ok(())
}

/// With memory for everything, every query is new and every other step only comes back. With less, too, the system is asked for nothing that a search without does not ask for.
fn check_remembered(table: &TableProblem) -> Result<(), String> {
    let mut table = table.clone();
    let mut seen = BTreeSet::new();
    table.initial.retain(|&initial| seen.insert(initial)); // each is a question of its own
    for come_back in [ComeBack::Replay, ComeBack::Snapshot, ComeBack::Clone] {
        let (_, without) = solve(&table, come_back, None);
        let without: BTreeSet<Transition> = without.into_iter().collect();
        for bytes in [1 << 30, 1_000, 0] {
            let (outcome, asked) = solve(&table, come_back, Some(bytes));
            let Statistics { queries, replayed, cache_hits, .. } = outcome.statistics;
            let steps = asked.len() as u64;
            let asked: BTreeSet<Transition> = asked.into_iter().collect();
            let is_right = steps == queries + replayed
                && asked == without
                && match bytes {
                    0 => cache_hits == 0,
                    1_000 => true,
                    _ => asked.len() as u64 == queries,
                };
            if !is_right {
                let distinct = asked.len();
                let statistics = outcome.statistics;
                return Err(format!(
                    "{come_back:?}, {bytes} bytes: {steps} steps, {distinct} distinct; {statistics:?}"
                ));
            }
        }
    }
    Ok(())
}

#[test]
fn with_memory_nothing_is_asked_twice() {
    for wanted in [Wanted::Reach, Wanted::Survive] {
        run(0.05, scattered(wanted, MOST_TREES), check_remembered);
        run(0.05, structured(wanted, MOST_TREES), check_remembered);
    }
}

#[test]
fn reach_asks_for_what_is_needed_and_hardly_anything_twice() {
    run(0.05, scattered(Wanted::Reach, MOST_TREES), check);
    run(0.05, structured(Wanted::Reach, MOST_TREES), check);
}

#[test]
fn survive_asks_for_what_some_tree_does() {
    run(0.05, scattered(Wanted::Survive, MOST_TREES), check);
    run(0.05, structured(Wanted::Survive, MOST_TREES), check);
}

/// Thousands of states, any of which may follow any other, and every so many of them fatal. Runs are long and come to
/// many cells, so that many labels follow from others, and from round to round some of them no longer do.
fn wilderness(fatal: u64, actions: usize, thresholds: [u64; 2], depth: u32, nodes: u64) -> TableProblem {
    const STATES: u64 = 20_000;
    let mixed = |number: u64| {
        let number = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (number ^ (number >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20
    };
    let state = |state: u64| State {
        observation: thresholds
            .iter()
            .zip(1..)
            .map(|(&count, salt)| (mixed(salt * STATES + state) % (count + 1)) as f64)
            .collect(),
        next: (3..).take(actions).map(|salt| (mixed(salt * STATES + state) % STATES) as usize).collect(),
        verdict: if state % fatal == fatal - 1 { '-' } else { '.' },
        rewards: Vec::new(),
    };
    TableProblem {
        thresholds: thresholds.iter().map(|&count| (1..=count).map(|t| t as f64).collect()).collect(),
        states: (0..STATES).map(state).collect(),
        initial: vec![0],
        objective: Objective::survive(500),
        weights: Vec::new(),
        all: Vec::new(),
        depth,
        nodes,
    }
}

/// What `survive` leaves out because it follows is looked at again in later rounds: nothing that some tree does
/// goes unseen, with two actions and with more.
#[test]
fn survive_leaves_nothing_out_in_the_wilderness() {
    for (actions, thresholds, depth, nodes) in [
        (2, [8, 6], 2, 3),
        (2, [10, 3], 2, 3),
        (3, [6, 5], 2, 3),
        (3, [9, 6], 2, 2),
        (4, [6, 5], 2, 2),
        (2, [4, 3], 3, 4),
        (3, [4, 3], 3, 3),
    ] {
        for (fatal, initial) in [(3, vec![0]), (5, vec![0]), (8, vec![0]), (5, vec![1, 0])] {
            let table = wilderness(fatal, actions, thresholds, depth, nodes);
            let table = TableProblem { initial, ..table };
            let case = format!("{fatal}, {actions}, {thresholds:?}, {depth}, {nodes}, {:?}", table.initial);
            check(&table).unwrap_or_else(|wrong| panic!("{case}: {wrong}"));
            let best = solve(&table, ComeBack::Clone, None).0.best;
            assert_eq!(best.map(|best| (best.value, best.tree.size())), oracle::best(&table), "{case}");
        }
    }
}

/// Hints find a tree long before the rounds come to the optimum, and the search that is stopped then has it.
#[test]
fn a_tree_is_found_early() {
    let problem = MOUNTAIN_CAR.problem().build().expect("the defaults");
    for threads in [1, 3] {
        let threads = NonZeroUsize::new(threads).expect("at least one");
        let search = Search::new(&problem, &MOUNTAIN_CAR).threads(threads).query_limit(50_000);
        let outcome = search.run().expect("it runs");
        let best = outcome.best.expect("hints have a share of the queries");
        assert!(best.value <= 130 && outcome.bound <= Some(104), "{} steps, {:?}", best.value, outcome.bound);
    }
}

/// The best tree as start: what it does is not run again, so the proof takes no more queries than without.
#[test]
fn the_best_tree_as_start_is_never_dearer() {
    for environment in ["cartpole", "mountain-car", "pendulum"] {
        let environment = broccoli_environments::find(environment).unwrap();
        let problem = environment.problem().build().unwrap();
        let without = Search::new(&problem, environment).run().unwrap();
        let best = without.best.unwrap();
        let with = Search::new(&problem, environment).start(best.tree).unwrap().run().unwrap();
        assert_eq!(with.best.map(|best| best.value), Some(best.value));
        let queries = (with.statistics.queries, without.statistics.queries);
        assert!(queries.0 <= queries.1, "{}: {queries:?}", environment.name);
    }
}

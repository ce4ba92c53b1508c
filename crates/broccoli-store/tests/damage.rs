//! Files that are cut at every length, and of which any bit is flipped: nothing of them is believed that was not said,
//! and what a store holds afterwards is again what the system says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use broccoli_core::problem::{
    Action, ComeBack, InitialState, Needs, Reply, System, SystemError, SystemFactory, Verdict,
};
use broccoli_store::{Found, Identity, Remembered, Room, Store, StoreError, contents, difference};

/// A walk on numbers: an action adds, or doubles. It takes down how often each step was made.
#[derive(Clone)]
struct Walk {
    at: f64,
    path: Vec<usize>,
    change: f64,
    made: Arc<Mutex<BTreeMap<Vec<usize>, u32>>>,
    /// The states that it has saved, and how often it was to restore others.
    saved: Arc<Mutex<BTreeSet<Vec<u8>>>>,
    others: Arc<AtomicU32>,
}

impl Walk {
    fn new(change: f64) -> Self {
        Walk {
            at: 0.0,
            path: Vec::new(),
            change,
            made: Arc::default(),
            saved: Arc::default(),
            others: Arc::default(),
        }
    }

    fn total(&self) -> u32 {
        self.made.lock().expect("nobody panics").values().sum()
    }
}

impl System for Walk {
    fn reset(&mut self, initial: &InitialState, seen: &mut [f64]) -> Result<Reply, SystemError> {
        (self.at, self.path) = (initial.values()[0], Vec::new());
        seen[0] = self.at;
        Ok(Verdict::Running.into())
    }

    fn step(&mut self, action: usize, seen: &mut [f64]) -> Result<Reply, SystemError> {
        self.path.push(action);
        *self.made.lock().expect("nobody panics").entry(self.path.clone()).or_default() += 1;
        self.at = if action == 0 { self.at + 1.0 + self.change } else { self.at * 2.0 };
        seen[0] = self.at;
        Ok(Reply::from(Verdict::Running).with_reward(-self.at))
    }

    fn come_back(&self) -> ComeBack {
        ComeBack::Clone
    }

    fn save(&mut self, state: &mut Vec<u8>) -> Result<(), SystemError> {
        state.extend_from_slice(&self.at.to_le_bytes());
        state.extend(self.path.iter().map(|&action| action as u8));
        self.saved.lock().expect("nobody panics").insert(state.clone());
        Ok(())
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), SystemError> {
        let is_own = self.saved.lock().expect("nobody panics").contains(state);
        self.others.fetch_add(u32::from(!is_own), Relaxed);
        let (at, path) = state.split_first_chunk().ok_or_else(|| SystemError::new("no state"))?;
        (self.at, self.path) =
            (f64::from_le_bytes(*at), path.iter().map(|&action| usize::from(action)).collect());
        Ok(())
    }
}

struct Walks(Walk);

impl SystemFactory for Walks {
    fn make(&self) -> Result<Box<dyn System>, SystemError> {
        Ok(Box::new(self.0.clone()))
    }
}

fn identity() -> Identity {
    [("system".to_owned(), "walk".to_owned())].into()
}

fn actions() -> [Action; 2] {
    ["add", "double"].map(|name| Action { name: name.to_owned(), value: 0.0 })
}

fn room(bits: u32) -> Room {
    Room { bytes: 1 << bits, are_states_lasting: true }
}

/// What a user was told.
type Said = Arc<Mutex<Vec<String>>>;

fn open(path: &Path) -> Result<(Arc<Store>, Said), StoreError> {
    let said = Said::default();
    let lines = Arc::clone(&said);
    let tell = Box::new(move |line: &str| lines.lock().expect("nobody panics").push(line.to_owned()));
    Store::open(path, &identity(), 1, room(24), tell).map(|store| (Arc::new(store), said))
}

/// Asks for all sequences of so many actions, and compares with what a walk says.
fn walk(store: &Arc<Store>, walk: &Walk, depth: u32) -> Result<(), SystemError> {
    let walks = Walks(walk.clone());
    let factory = Remembered::new(&walks, Arc::clone(store), &actions(), true);
    let mut system = factory.make()?;
    let mut seen = [0.0];
    for number in 0..1_usize << depth {
        system.reset(&InitialState::new([3.0]), &mut seen)?;
        let mut at = 3.0;
        for bit in 0..depth {
            let action = number >> bit & 1;
            let reply = system.step(action, &mut seen)?;
            at = if action == 0 { at + 1.0 + walk.change } else { at * 2.0 };
            assert_eq!((seen[0], reply.reward), (at, Some(-at)), "{number}, {bit}");
        }
    }
    Ok(())
}

fn bytes_of_a_store(depths: &[u32]) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    for &depth in depths {
        let (store, _) = open(&path).expect("a store");
        walk(&store, &Walk::new(0.0), depth).expect("it walks");
    }
    fs::read(&path).expect("a store")
}

/// Opens what may be damaged: what is in it is refused, or true; and afterwards it holds everything, and nothing false.
fn check(bytes: &[u8], depth: u32) -> Found {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    fs::write(&path, bytes).expect("a file");
    let before = match contents(&path, 1 << 24) {
        Ok(contents) => contents.found,
        Err(_) => Found::default(),
    };
    match open(&path) {
        Ok((store, said)) => {
            let is_damaged = before.torn > 0 || before.refused > 0;
            assert_eq!(!said.lock().expect("nobody panics").is_empty(), is_damaged, "{before:?}");
            walk(&store, &Walk::new(0.0), depth).expect("nothing false is believed");
            drop(store);
            let found = contents(&path, 1 << 24).expect("a store");
            assert_eq!((found.found.torn, found.transitions), (0, (2 << depth) - 2), "{before:?}");
            // It is all there.
            let (store, _) = open(&path).expect("a store");
            let again = Walk::new(0.0);
            walk(&store, &again, depth).expect("it walks");
            assert_eq!(u64::from(again.total()), store.usage().again);
        }
        Err(error) => {
            let is_told = matches!(
                error,
                StoreError::NotOne
                    | StoreError::OtherVersion(_)
                    | StoreError::Damaged
                    | StoreError::OtherSystem(_)
            );
            assert!(is_told, "{error}");
            assert_eq!(fs::read(&path).expect("a file"), bytes, "{error}");
        }
    }
    before
}

#[test]
fn a_file_that_is_cut_is_cut_back() {
    let bytes = bytes_of_a_store(&[1, 2, 3]);
    for length in 0..=bytes.len() {
        let found = check(&bytes[..length], 3);
        assert_eq!(found.refused, 0);
    }
}

#[test]
fn no_flipped_bit_is_believed() {
    let bytes = bytes_of_a_store(&[1, 2, 3]);
    let mut refused = 0;
    for at in 0..bytes.len() {
        for bit in [0, 3, 7] {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            let found = check(&flipped, 3);
            refused += found.refused;
        }
    }
    assert!(refused > 100, "{refused} blocks in the middle were refused");
}

/// Blocks that are whole and do not belong there: taken from another file, twice, in another order.
#[test]
fn blocks_in_the_wrong_place_are_refused() {
    let bytes = bytes_of_a_store(&[1, 2, 3]);
    let starts: Vec<usize> =
        bytes.windows(4).enumerate().filter(|(_, w)| w == b"\xb7blk").map(|(i, _)| i).collect();
    assert!(starts.len() >= 3, "{starts:?}");
    let (head, first, second) =
        (&bytes[..starts[0]], &bytes[starts[0]..starts[1]], &bytes[starts[1]..starts[2]]);
    for parts in [
        vec![head, second, first],
        vec![head, first, first, second],
        vec![head, second],
        vec![head, head, first],
    ] {
        check(&parts.concat(), 2);
    }
}

#[test]
fn a_walk_that_has_changed_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    let (store, _) = open(&path).expect("a store");
    walk(&store, &Walk::new(0.0), 6).expect("it walks");
    drop(store);
    let (store, _) = open(&path).expect("a store");
    let error = walk(&store, &Walk::new(1e-12), 6).expect_err("it has changed").to_string();
    assert!(
        error.contains("the system is not the one whose answers are in") && error.contains("add"),
        "{error}"
    );
    // From then on nobody believes anything of it.
    assert!(walk(&store, &Walk::new(0.0), 1).is_err());
}

/// Whoever counts queries is told of each before it is made, those that only see whether the system is the same included.
#[test]
fn every_step_is_announced() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    let (store, _) = open(&path).expect("a store");
    walk(&store, &Walk::new(0.0), 4).expect("it walks");
    drop(store);
    let (store, _) = open(&path).expect("a store");
    let walks = Walks(Walk::new(0.0));
    let factory = Remembered::new(&walks, Arc::clone(&store), &actions(), true);
    let mut system = factory.make().expect("a system");
    let mut seen = [0.0];
    system.reset(&InitialState::new([3.0]), &mut seen).expect("it is reset");
    let (mut queries, mut hits) = (0, 0);
    for action in [0, 1, 1, 0, 0, 1] {
        loop {
            let made = walks.0.total();
            let memory = system.memory().expect("it remembers");
            let needs = memory.needs(action).expect("it works");
            assert_eq!(walks.0.total(), made, "nothing is made unasked");
            match needs {
                Needs::Nothing => hits += 1,
                Needs::Query => queries += 1,
                Needs::Way => {
                    memory.approach().expect("it is the same");
                    queries += 1;
                    continue;
                }
            }
            break;
        }
        system.step(action, &mut seen).expect("it steps");
        assert_eq!(walks.0.total(), queries);
    }
    assert_eq!(hits, 4);
}

/// States that are not to be taken from a file are not: the system is reset instead.
#[test]
fn states_of_others_are_not_restored() {
    let bytes = bytes_of_a_store(&[3]);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    fs::write(&path, &bytes).expect("a file");
    let states = contents(&path, 1 << 24).expect("a store").states;
    for are_states_lasting in [true, false] {
        let room = Room { are_states_lasting, ..room(24) };
        let store = Store::open(&path, &identity(), 1, room, Box::new(|_| {})).expect("a store");
        let again = Walk::new(0.0);
        walk(&Arc::new(store), &again, 4).expect("it walks");
        assert_eq!(again.others.load(Relaxed) > 0, are_states_lasting);
        fs::write(&path, &bytes).expect("a file");
    }
    assert!(states > 0);
}

#[test]
fn identities_differ_in_words() {
    let mut other = identity();
    assert_eq!(difference(&identity(), &other), None);
    other.insert("system".to_owned(), "run".to_owned());
    other.insert("rewards".to_owned(), "true".to_owned());
    let said = difference(&identity(), &other).expect("they differ");
    assert_eq!(said, "system was \"walk\" and is \"run\"; rewards was nothing and is \"true\"");
}

/// What reading takes, for whoever wants to know: `cargo test -p broccoli-store --test damage -- --ignored --nocapture`.
#[test]
#[ignore = "it measures"]
fn how_long_reading_takes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    let store = Store::open(&path, &identity(), 1, room(30), Box::new(|_| {})).expect("a store");
    walk(&Arc::new(store), &Walk::new(0.0), 17).expect("it walks");
    let started = Instant::now();
    let found = contents(&path, 1 << 30).expect("a store");
    let seconds = started.elapsed().as_secs_f64();
    let each = 1e9 * seconds / found.transitions as f64;
    println!("{} transitions, {} bytes: {each:.0} ns each", found.transitions, found.bytes);
}

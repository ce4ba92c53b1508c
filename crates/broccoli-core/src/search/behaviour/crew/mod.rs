//! Several workers on one round: a queue of tasks, each some leaves of the frontier.
//!
//! Tasks have keys, and keys have an order: that of the walk that one worker alone would make. What
//! comes of the tasks is put together in this order, and of two equally good behaviours the one that
//! comes first in it counts. So the answer does not depend on who did what, and when.
//!
//! When a worker finds nothing to do, those at work set aside all they still have to do, and it is
//! shared out anew. The same happens when the search is stopped, or is to be written down.
//!
//! [`tasks`] is what a worker does with a task.

mod tasks;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub(super) use self::tasks::Taken;
use super::frontier::{Agenda, Frontier};
use super::lane::Counts;
use super::realise::Labelled;
use super::transitions::Transitions;
use super::version_space::Cost;
use super::walk::{Incumbent, Job};
use crate::problem::{Objective, Problem, RunError, StopReason};

/// A place in the order of the walk.
pub(super) type Key = Vec<u32>;

/// A behaviour that was found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Found {
    pub(super) value: u64,
    pub(super) size: Cost,
    /// Where it was found.
    pub(super) key: Key,
    /// Its labels; none if it is a tree that the search was given.
    pub(super) labels: Option<Vec<Labelled>>,
    /// The steps of its trace that no smaller tree makes.
    pub(super) own_steps: u64,
    /// The best value that was not looked for since this behaviour or one before it was good enough: with a gap only.
    /// It need not have this value.
    pub(super) passed_over: Option<u64>,
}

impl Found {
    /// Something of this value and size that was found elsewhere.
    pub(super) fn elsewhere(value: u64, size: Cost, labels: Option<Vec<Labelled>>) -> Self {
        Found { value, size, key: elsewhere(), labels, own_steps: 0, passed_over: None }
    }
}

/// The key of what is found elsewhere: it comes after everything else.
pub(super) fn elsewhere() -> Key {
    vec![u32::MAX]
}

/// What is done in a round.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order {
    pub(super) job: Job,
    /// With a behaviour that is as good as this, value and size, all that comes after it is of no more
    /// interest.
    pub(super) goal: Option<(u64, Cost)>,
    /// Whether of equally good behaviours the first is wanted.
    pub(super) is_ordered: bool,
    /// Whether each leaf is a task that is never shared out, and begins with counts of failures from zero,
    /// so that what comes of it depends on nothing else.
    pub(super) is_whole: bool,
}

/// Some of what is left of a round: leaves of this one, or for the next one.
pub(super) struct Part {
    pub(super) is_next: bool,
    pub(super) leaves: Frontier,
    /// The counts of failures to begin with, unless those of whoever takes it will do.
    pub(super) failures: Option<Vec<u64>>,
}

pub(super) struct Task {
    frontier: Frontier,
    agenda: Agenda,
    /// The counts of failures to begin with, unless those of whoever takes it will do.
    failures: Option<Vec<u64>>,
}

/// A task that a lane is at.
pub(super) struct Doing {
    key: Key,
    task: Task,
    order: Order,
    /// The best behaviour that the lane knows of.
    version: u64,
    /// Its transitions before it began.
    before: u64,
}

#[derive(Default)]
struct State {
    order: Option<Order>,
    tasks: BTreeMap<Key, Task>,
    running: usize,
    /// What is left for the next round.
    next: BTreeMap<Key, Frontier>,
    next_bytes: usize,
    /// What the leaves that the round began with take in memory.
    bytes: usize,
    /// All after this key is of no more interest.
    last: Option<Key>,
    error: Option<RunError>,
    stopped: Option<StopReason>,
    transitions: Transitions,
    is_over: bool,
}

pub(super) struct Crew {
    objective: Objective,
    perfect: u64,
    /// How far from the optimum an answer may be.
    gap: f64,
    dimensions: usize,
    initials: usize,
    size: Size,
    state: Mutex<State>,
    changed: Condvar,
    /// How many lanes have nothing to do.
    hungry: AtomicUsize,
    /// Whether all that is left is to be set aside.
    is_suspended: AtomicBool,
    best: Mutex<Option<Found>>,
    /// Counts up with each improvement.
    version: AtomicU64,
    /// Per worker, what it has done.
    counts: Vec<Mutex<Counts>>,
    /// Per worker, what the leaves that it has set aside take in memory.
    leaf_bytes: Vec<AtomicUsize>,
}

/// How large a crew is, and when it shares out work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) workers: usize,
    pub(super) lanes: usize,
    /// How many lanes may have nothing to do before work is shared out, and into how many tasks it then is.
    pub(super) most_hungry: usize,
    pub(super) tasks: usize,
    /// How many queries a lane makes at least before it shares out what is left of its task.
    pub(super) least_task: u64,
    /// How many queries a lane makes between two looks at the others, at most.
    pub(super) longest_slice: u64,
}

/// How many queries a lane makes between two looks at the others, at least; and after many queries, one part in
/// so many of them, if they are quick.
pub(super) const SLICE: u64 = 32;
const SLICES: u64 = 128;

impl Crew {
    pub(super) fn new(problem: &Problem, size: Size, gap: f64) -> Self {
        Crew {
            objective: problem.objective(),
            perfect: problem.perfect(),
            gap,
            dimensions: problem.dimensions().len(),
            initials: problem.initial_states().len(),
            size,
            state: Mutex::default(),
            changed: Condvar::new(),
            hungry: AtomicUsize::new(0),
            is_suspended: AtomicBool::new(false),
            best: Mutex::default(),
            version: AtomicU64::new(0),
            counts: (0..size.workers.max(1)).map(|_| Mutex::default()).collect(),
            leaf_bytes: (0..size.workers.max(1)).map(|_| AtomicUsize::new(0)).collect(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The best behaviour so far.
    pub(super) fn best(&self) -> MutexGuard<'_, Option<Found>> {
        self.best.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts up each time the best behaviour changes.
    pub(super) fn version(&self) -> u64 {
        self.version.load(Relaxed)
    }

    /// What all workers have done so far.
    pub(super) fn counts(&self) -> Counts {
        let all = self.counts.iter().map(|counts| *counts.lock().unwrap_or_else(PoisonError::into_inner));
        all.fold(Counts::default(), |sum, counts| sum + counts)
    }

    /// A behaviour was found. Keeps it if it is better than the best, or as good and comes first.
    pub(super) fn tell(&self, mut found: Found, is_ordered: bool) {
        let mut best = self.best();
        let is_better = best.as_ref().is_none_or(|best| {
            self.objective.is_better(found.value, best.value)
                || found.value == best.value
                    && (found.size < best.size
                        || is_ordered && found.size == best.size && found.key < best.key)
        });
        if is_better {
            // Others may have been at work under the one before, and have passed over what it was good enough for.
            let before = best.as_ref().and_then(|best| best.passed_over).or(found.passed_over);
            let enough = self.objective.within_gap(found.value, self.gap, self.perfect);
            let is_gap = enough != found.value;
            let passed_over = is_gap.then_some(enough).into_iter().chain(before);
            found.passed_over = passed_over.reduce(|a, b| if self.objective.is_better(a, b) { a } else { b });
            *best = Some(found);
            self.version.fetch_add(1, Relaxed);
        }
    }

    /// What there is so far comes before everything that is still to be found.
    pub(super) fn settle_order(&self) {
        if let Some(best) = self.best().as_mut()
            && best.key != elsewhere()
        {
            best.key.clear();
        }
    }

    /// What a task is to improve on.
    fn incumbent(&self, key: &Key, order: &Order) -> Option<Incumbent> {
        let best = self.best();
        best.as_ref().map(|best| Incumbent {
            value: best.value,
            size: best.size,
            is_weak: order.is_ordered && *key < best.key,
        })
    }

    /// Begins a round: some leaves to go on with, and others left for the next round.
    pub(super) fn begin(&self, order: Order, frontier: Frontier, agenda: Agenda, rest: Frontier) {
        let mut state = self.state();
        state.order = Some(order);
        state.last = None;
        state.next.clear();
        state.next_bytes = rest.bytes();
        if !rest.is_empty() {
            state.next.insert(elsewhere(), rest);
        }
        state.bytes = frontier.bytes();
        state.tasks.clear();
        self.is_suspended.store(false, Relaxed);
        self.share_out(&mut state, &Key::new(), &frontier, agenda);
        self.changed.notify_all();
    }

    /// Makes tasks of some leaves.
    fn share_out(&self, state: &mut State, key: &Key, frontier: &Frontier, agenda: Agenda) {
        let is_whole = state.order.is_some_and(|order| order.is_whole);
        let tasks = match self.hungry.load(Relaxed) {
            _ if is_whole => agenda.len(),
            0 => 1,
            hungry => self.size.tasks / (self.size.lanes - hungry.min(self.size.lanes)).max(1),
        };
        let each = agenda.len().div_ceil(tasks.max(1)).max(1);
        for (number, agenda) in (0..).zip(agenda.parts(each)) {
            let mut key = key.clone();
            key.extend([1, number]);
            let failures = is_whole.then(|| vec![0; self.initials]);
            state.tasks.insert(key, Task { frontier: frontier.clone(), agenda, failures });
        }
    }

    /// Sets aside all that is left of the round.
    pub(super) fn suspend(&self) {
        self.is_suspended.store(true, Relaxed);
        self.changed.notify_all();
    }

    /// What the leaves take in memory: those that the round began with, and those for the next one.
    pub(super) fn leaf_bytes(&self) -> (usize, usize) {
        let workers: usize = self.leaf_bytes.iter().map(|bytes| bytes.load(Relaxed)).sum();
        let state = self.state();
        (state.bytes, state.next_bytes + workers)
    }

    /// The round is over, or all that is left is set aside: the leaves for the next one, or nothing.
    pub(super) fn close(&self) -> Result<Option<Frontier>, RunError> {
        let mut state = self.state();
        if let Some(error) = state.error.take() {
            return Err(error);
        }
        if !state.tasks.is_empty() {
            return Ok(None);
        }
        let next = std::mem::take(&mut state.next);
        Ok(Some(Frontier::join(self.dimensions, next.into_values().collect())))
    }

    /// All that is left, in order.
    pub(super) fn left(&self) -> Vec<(Key, Part)> {
        let state = self.state();
        let tasks = state.tasks.iter().map(|(key, task)| {
            let (leaves, failures) = (task.frontier.part(task.agenda.as_slice()), task.failures.clone());
            (key.clone(), Part { is_next: false, leaves, failures })
        });
        let next = state
            .next
            .iter()
            .map(|(key, next)| (key.clone(), Part { is_next: true, leaves: next.clone(), failures: None }));
        let is_wanted = |key: &Key| state.last.as_ref().is_none_or(|last| key < last);
        let all: BTreeMap<Key, Part> = tasks.chain(next).filter(|(key, _)| is_wanted(key)).collect();
        all.into_iter().collect()
    }

    /// Begins a round with what was left of it.
    pub(super) fn begin_again(&self, order: Order, left: Vec<(Key, Part)>) {
        let mut state = self.state();
        state.order = Some(order);
        (state.bytes, state.next_bytes) = (0, 0);
        for (key, Part { is_next, leaves, failures }) in left {
            *(if is_next { &mut state.next_bytes } else { &mut state.bytes }) += leaves.bytes();
            if is_next {
                state.next.insert(key, leaves);
            } else {
                let agenda = leaves.in_order();
                state.tasks.insert(key, Task { frontier: leaves, agenda, failures });
            }
        }
    }

    /// Goes on after all that was left was set aside.
    pub(super) fn go_on(&self) {
        self.is_suspended.store(false, Relaxed);
        self.changed.notify_all();
    }

    /// Waits for something to change, but not for long; whether the search is over.
    pub(super) fn wait(&self, most: Duration) -> bool {
        let state = self.state();
        if !state.is_over {
            drop(self.changed.wait_timeout(state, most));
            return false;
        }
        true
    }

    /// So many lanes more have nothing to do.
    pub(super) fn add_hungry(&self, lanes: isize) {
        self.hungry.fetch_add(lanes as usize, Relaxed); // wraps round
    }

    /// Whether so many lanes have nothing to do that work should be shared out.
    pub(super) fn is_hungry(&self) -> bool {
        self.hungry.load(Relaxed) > self.size.most_hungry
    }

    /// Whether all that is left is to be set aside.
    pub(super) fn is_suspended(&self) -> bool {
        self.is_suspended.load(Relaxed)
    }

    /// Sends the workers home.
    pub(super) fn dismiss(&self) {
        self.state().is_over = true;
        self.changed.notify_all();
    }

    /// Adds transitions that a worker has counted.
    pub(super) fn count(&self, transitions: &Transitions) {
        self.state().transitions.add(transitions);
    }

    /// The transitions that workers with nothing to do have counted.
    pub(super) fn transitions(&self) -> Transitions {
        self.state().transitions.clone()
    }

    /// Why the search was stopped, if it was.
    pub(super) fn stopped(&self) -> Option<StopReason> {
        self.state().stopped
    }

    /// The first error is kept, and all work ends.
    pub(super) fn fail(&self, error: RunError) {
        self.state().error.get_or_insert(error);
        self.suspend();
    }

    pub(super) fn note(&self, number: usize, counts: Counts, leaf_bytes: usize) {
        *self.counts[number].lock().unwrap_or_else(PoisonError::into_inner) = counts;
        self.leaf_bytes[number].store(leaf_bytes, Relaxed);
    }
}

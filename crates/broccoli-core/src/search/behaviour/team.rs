//! Runs the tasks of a chunk, in this thread and in others. Who does which task, and when, makes no difference to what
//! comes of it.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;
use std::time::Duration;

use super::batch::Batch;
use super::bounds::Store;
use super::lane::{Counts, Lane, Setting};
use super::task::{Done, Task};
use super::transitions::Transitions;
use crate::problem::cache::Shared as Cache;
use crate::problem::{Instance, RunError, SystemFactory};

/// How often the first thread looks at everything else while it waits for the others.
const LOOK: Duration = Duration::from_millis(20);

/// What lanes are made of.
#[derive(Clone)]
pub(super) struct Makings<'p> {
    pub(super) setting: Setting<'p>,
    pub(super) factory: &'p dyn SystemFactory,
    /// What the system has answered, if that is kept.
    pub(super) cache: Option<Cache>,
}

impl<'p> Makings<'p> {
    /// How many lanes a thread has, if their steps are made together. The cache and the witness are for one step at a
    /// time.
    pub(super) fn rows(&self) -> Option<NonZeroUsize> {
        self.factory.rows().filter(|_| self.cache.is_none() && self.setting.witness.is_none())
    }

    /// A lane with a system of its own.
    pub(super) fn lane<S: Store>(&self) -> Result<Lane<'p, S>, RunError> {
        let Setting { problem, gate, .. } = &self.setting;
        let instance = match &self.cache {
            None => Instance::new(problem, self.factory)?,
            Some(cache) => Instance::cached(problem, self.factory, cache.clone(), Arc::clone(gate))?,
        };
        Ok(Lane::new(&self.setting, instance, false))
    }

    fn worker<S: Store>(&self) -> Result<Worker<'p, S>, RunError> {
        match self.rows() {
            None => Ok(Worker::Alone(Box::new(self.lane()?))),
            Some(rows) => Ok(Worker::Batch(Box::new(Batch::new(&self.setting, self.factory, rows.get())?))),
        }
    }
}

/// The tasks of a chunk, and what came of those that are done.
#[derive(Default)]
struct State {
    tasks: Arc<[Task]>,
    /// The next one to be done.
    next: usize,
    done: Vec<Option<Result<Done, RunError>>>,
    /// How many are not done yet.
    left: usize,
    /// Why a thread has not begun.
    error: Option<RunError>,
    transitions: Transitions,
    is_over: bool,
}

/// What the threads share.
pub(super) struct Board {
    state: Mutex<State>,
    changed: Condvar,
    is_paused: AtomicBool,
    /// Per thread, what it has done.
    counts: Vec<Mutex<Counts>>,
}

impl Board {
    pub(super) fn new(threads: usize) -> Self {
        Board {
            state: Mutex::default(),
            changed: Condvar::new(),
            is_paused: AtomicBool::new(false),
            counts: (0..threads.max(1)).map(|_| Mutex::default()).collect(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What all threads have done so far.
    pub(super) fn counts(&self) -> Counts {
        let all = self.counts.iter().map(|counts| *counts.lock().unwrap_or_else(PoisonError::into_inner));
        all.fold(Counts::default(), |sum, counts| sum + counts)
    }

    /// Notes what a thread has done.
    pub(super) fn note(&self, thread: usize, counts: Counts) {
        *self.counts[thread].lock().unwrap_or_else(PoisonError::into_inner) = counts;
    }

    /// Interrupts all tasks.
    pub(super) fn pause(&self) {
        self.is_paused.store(true, Relaxed);
    }

    /// Whether all tasks are interrupted.
    pub(super) fn is_paused(&self) -> bool {
        self.is_paused.load(Relaxed)
    }

    /// The next task, if there is one.
    pub(super) fn take(&self) -> Option<(usize, Arc<[Task]>)> {
        let mut state = self.state();
        let number = state.next;
        (number < state.tasks.len()).then(|| {
            state.next += 1;
            (number, Arc::clone(&state.tasks))
        })
    }

    /// Hands in what came of a task. An error ends the search.
    pub(super) fn hand_in(&self, number: usize, done: Result<Done, RunError>) {
        if done.is_err() {
            self.pause();
        }
        let mut state = self.state();
        state.done[number] = Some(done);
        state.left -= 1;
        if state.left == 0 {
            self.changed.notify_all();
        }
    }

    /// Sends the other threads home.
    fn dismiss(&self) {
        self.state().is_over = true;
        self.changed.notify_all();
    }
}

/// One who does tasks.
enum Worker<'p, S: Store> {
    Alone(Box<Lane<'p, S>>),
    /// Many lanes whose steps are made together.
    Batch(Box<Batch<'p, S>>),
}

impl<S: Store> Worker<'_, S> {
    /// Does tasks until there are no more.
    fn work(&mut self, thread: usize, board: &Board, look: &mut dyn FnMut()) {
        let lane = match self {
            Worker::Batch(batch) => return batch.work(thread, board, look),
            Worker::Alone(lane) => lane,
        };
        while let Some((number, tasks)) = board.take() {
            let mut attend = |lane: &Lane<'_, S>| {
                board.note(thread, lane.counts());
                look();
            };
            // A system that panics must not take the others with it.
            let perform = AssertUnwindSafe(|| lane.perform(&tasks[number], &board.is_paused, &mut attend));
            let done = catch_unwind(perform).unwrap_or_else(|panic| Err(lane.panicked(&*panic)));
            board.note(thread, lane.counts());
            board.hand_in(number, done);
            look();
        }
    }

    fn move_transitions(&mut self, all: &mut Transitions) {
        match self {
            Worker::Alone(lane) => lane.move_transitions(all),
            Worker::Batch(batch) => batch.move_transitions(all),
        }
    }
}

/// The threads of a search.
pub(super) struct Team<'s, 'e, 'p, S: Store> {
    makings: Makings<'p>,
    board: &'s Board,
    scope: &'s Scope<'s, 'e>,
    /// How many threads there may be, and whether the others have been started.
    threads: usize,
    is_started: bool,
    worker: Worker<'p, S>,
}

impl<'s, 'p: 's, S: Store> Team<'s, '_, 'p, S> {
    pub(super) fn new<'e>(
        makings: Makings<'p>,
        board: &'s Board,
        scope: &'s Scope<'s, 'e>,
    ) -> Result<Team<'s, 'e, 'p, S>, RunError> {
        let worker = makings.worker()?;
        Ok(Team { makings, board, scope, threads: board.counts.len(), is_started: false, worker })
    }

    /// Runs tasks; what came of each, in their order. `look` is called now and then.
    pub(super) fn run(
        &mut self,
        tasks: Vec<Task>,
        look: &mut dyn FnMut(),
    ) -> Result<Vec<Result<Done, RunError>>, RunError> {
        let board = self.board;
        let count = tasks.len();
        {
            let mut state = board.state();
            state.done = (0..count).map(|_| None).collect();
            (state.tasks, state.next, state.left) = (tasks.into(), 0, count);
        }
        board.is_paused.store(false, Relaxed);
        // A batch has many lanes: other threads help only if there are more tasks.
        let lanes = self.makings.rows().map_or(1, NonZeroUsize::get);
        if self.threads > 1 && count > lanes {
            self.start_threads();
            board.changed.notify_all();
        }
        self.worker.work(0, board, look);
        let mut state = board.state();
        while state.left > 0 {
            state = board.changed.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
            if state.left > 0 {
                drop(state);
                look();
                state = board.state();
            }
        }
        state.tasks = Arc::default();
        let done = std::mem::take(&mut state.done);
        let error = state.error.take();
        drop(state);
        error.map_or(Ok(()), Err)?;
        Ok(done.into_iter().flatten().collect())
    }

    fn start_threads(&mut self) {
        if std::mem::replace(&mut self.is_started, true) {
            return;
        }
        for thread in 1..self.threads {
            let (makings, board) = (self.makings.clone(), self.board);
            self.scope.spawn(move || match makings.worker::<S>() {
                Ok(mut worker) => serve(&mut worker, thread, board),
                Err(error) => {
                    board.state().error.get_or_insert(error);
                    board.pause();
                }
            });
        }
    }

    /// The transitions that were counted since they were asked for last.
    pub(super) fn take_transitions(&mut self) -> Transitions {
        let mut all = std::mem::take(&mut self.board.state().transitions);
        self.worker.move_transitions(&mut all);
        all
    }
}

/// Sends the other threads home in any case: the search waits for them even if it panics.
impl<S: Store> Drop for Team<'_, '_, '_, S> {
    fn drop(&mut self) {
        self.board.dismiss();
    }
}

/// Does tasks of all chunks until the search is over.
fn serve<S: Store>(worker: &mut Worker<'_, S>, thread: usize, board: &Board) {
    loop {
        worker.work(thread, board, &mut || ());
        let mut state = board.state();
        worker.move_transitions(&mut state.transitions);
        while state.next >= state.tasks.len() {
            if state.is_over {
                return;
            }
            state = board.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

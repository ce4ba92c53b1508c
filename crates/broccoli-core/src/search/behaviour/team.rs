//! Runs the tasks of a chunk, in this thread and in others. Who does which task, and when, makes no difference to what
//! comes of it.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;
use std::time::Duration;

use super::batch::Batch;
use super::bounds::Store;
use super::lane::{Counts, Lane, Paused, Setting};
use super::task::Task;
use super::transitions::Transitions;
use crate::problem::RunError;

/// How often the first thread looks at everything else while it waits for the others.
const LOOK: Duration = Duration::from_millis(20);

/// The tasks of a chunk, and what came of those that are done.
#[derive(Default)]
struct State {
    tasks: Vec<Option<Task>>,
    /// The next one to be done.
    next: usize,
    done: Vec<Option<Result<Task, RunError>>>,
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
    pub(super) fn take(&self) -> Option<(usize, Task)> {
        let mut state = self.state();
        let number = state.next;
        let task = state.tasks.get_mut(number)?.take()?;
        state.next += 1;
        Some((number, task))
    }

    /// Hands in what came of a task of a lane. An error ends the search.
    pub(super) fn hand_in<S: Store>(
        &self,
        number: usize,
        done: Result<Task, RunError>,
        lane: &mut Lane<'_, S>,
    ) {
        if done.is_err() {
            self.pause();
        }
        let mut state = self.state();
        lane.move_transitions(&mut state.transitions);
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
pub(super) enum Worker<'p, S: Store> {
    Alone(Box<Lane<'p, S>>),
    /// Many lanes whose steps are made together.
    Batch(Box<Batch<'p, S>>),
}

impl<'p, S: Store> Worker<'p, S> {
    fn new(setting: &Setting<'p>) -> Result<Self, RunError> {
        match setting.rows() {
            None => Ok(Worker::Alone(Box::new(Lane::alone(setting)?))),
            Some(rows) => Ok(Worker::Batch(Box::new(Batch::new(setting, rows.get())?))),
        }
    }

    /// Does tasks until there are no more.
    pub(super) fn work(&mut self, thread: usize, board: &Board, look: &mut dyn FnMut()) {
        let lane = match self {
            Worker::Batch(batch) => return batch.work(thread, board, look),
            Worker::Alone(lane) => lane,
        };
        while let Some((number, task)) = board.take() {
            // A system that panics must not take the others with it.
            let perform = AssertUnwindSafe(|| {
                lane.begin(task);
                loop {
                    if board.is_paused() {
                        lane.interrupt(None)?;
                    }
                    if lane.advance(lane.slice())? == Paused::Done {
                        return Ok(lane.finish());
                    }
                    board.note(thread, lane.counts());
                    look();
                }
            });
            let done = catch_unwind(perform).unwrap_or_else(|panic| Err(lane.panicked(&*panic)));
            board.note(thread, lane.counts());
            board.hand_in(number, done, lane);
            look();
        }
    }
}

/// The threads of a search.
pub(super) struct Team<'s, 'e, 'p, S: Store> {
    setting: Setting<'p>,
    board: &'s Board,
    scope: &'s Scope<'s, 'e>,
    /// How many threads there may be, and whether the others have been started.
    threads: usize,
    is_started: bool,
    /// That of this thread.
    pub(super) worker: Worker<'p, S>,
}

impl<'s, 'p: 's, S: Store> Team<'s, '_, 'p, S> {
    pub(super) fn new<'e>(
        setting: Setting<'p>,
        board: &'s Board,
        scope: &'s Scope<'s, 'e>,
    ) -> Result<Team<'s, 'e, 'p, S>, RunError> {
        let worker = Worker::new(&setting)?;
        Ok(Team { setting, board, scope, threads: board.counts.len(), is_started: false, worker })
    }

    /// Posts tasks, for the [worker](Team::worker) of this thread and for those of the others.
    pub(super) fn post(&mut self, tasks: Vec<Task>) {
        let count = tasks.len();
        {
            let mut state = self.board.state();
            state.done = (0..count).map(|_| None).collect();
            (state.tasks, state.next, state.left) = (tasks.into_iter().map(Some).collect(), 0, count);
        }
        self.board.is_paused.store(false, Relaxed);
        // A batch has many lanes: other threads help only if there are more tasks.
        let lanes = self.setting.rows().map_or(1, NonZeroUsize::get);
        if self.threads > 1 && count > lanes {
            self.start_threads();
            self.board.changed.notify_all();
        }
    }

    /// Waits for the other threads: what came of each task, in their order. `look` is called now and then.
    pub(super) fn collect(&mut self, look: &mut dyn FnMut()) -> Vec<Result<Task, RunError>> {
        let mut state = self.board.state();
        while state.left > 0 {
            state = self.board.changed.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
            if state.left > 0 {
                drop(state);
                look();
                state = self.board.state();
            }
        }
        state.tasks.clear();
        std::mem::take(&mut state.done).into_iter().flatten().collect()
    }

    /// Why a thread has not begun, if one has not.
    pub(super) fn take_error(&self) -> Result<(), RunError> {
        self.board.state().error.take().map_or(Ok(()), Err)
    }

    fn start_threads(&mut self) {
        if std::mem::replace(&mut self.is_started, true) {
            return;
        }
        for thread in 1..self.threads {
            let (setting, board) = (self.setting.clone(), self.board);
            self.scope.spawn(move || match Worker::<S>::new(&setting) {
                Ok(mut worker) => serve(&mut worker, thread, board),
                Err(error) => {
                    board.state().error.get_or_insert(error);
                    board.pause();
                }
            });
        }
    }

    /// The transitions of all tasks since they were asked for last.
    pub(super) fn take_transitions(&self) -> Transitions {
        std::mem::take(&mut self.board.state().transitions)
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
        while state.next >= state.tasks.len() {
            if state.is_over {
                return;
            }
            state = board.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

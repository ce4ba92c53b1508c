//! Runs the tasks of a chunk, in this thread and in others. Who does which task, and when, makes no difference to what
//! comes of it.

use std::iter::Enumerate;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Scope;
use std::time::Duration;
use std::vec::IntoIter;

use super::batch::Batch;
use super::bounds::Store;
use super::lane::{Lane, Paused, Setting};
use super::task::Task;
use super::transitions::Transitions;
use crate::problem::RunError;
use crate::search::counts::Counts;

/// How often the first thread looks at everything else while it waits for the others.
const LOOK: Duration = Duration::from_millis(20);

/// What a thread has done. It writes that often, so no two are in one line of a processor's cache.
#[derive(Default)]
#[repr(align(128))]
struct Account {
    counts: Counts,
    transitions: Transitions,
}

/// What the threads share.
#[derive(Default)]
pub(super) struct Board {
    /// Those that nobody has taken, with their numbers.
    tasks: Mutex<Enumerate<IntoIter<Task>>>,
    is_paused: AtomicBool,
    /// One per thread.
    accounts: Vec<Mutex<Account>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Board {
    pub(super) fn new(threads: usize) -> Self {
        let accounts = (0..threads.max(1)).map(|_| Mutex::default()).collect();
        Board { accounts, ..Board::default() }
    }

    /// The next task, if there is one.
    fn take(&self) -> Option<(usize, Task)> {
        locked(&self.tasks).next()
    }

    /// What all threads have done so far.
    pub(super) fn counts(&self) -> Counts {
        self.accounts.iter().fold(Counts::default(), |sum, account| sum + locked(account).counts)
    }

    /// Interrupts all tasks.
    pub(super) fn pause(&self) {
        self.is_paused.store(true, Relaxed);
    }
}

/// What came of a task, with its number.
type Ended = (usize, Result<Task, RunError>);

/// A lane and the number of the task that it is at.
pub(super) struct Seat<'p, S: Store> {
    pub(super) lane: Lane<'p, S>,
    task: Option<usize>,
}

/// One who does tasks: a lane, or many whose steps are made together.
struct Worker<'s, 'p, S: Store> {
    setting: Setting<'p>,
    board: &'s Board,
    thread: usize,
    /// How many lanes there may be; and those that there are.
    most: usize,
    seats: Vec<Seat<'p, S>>,
    batch: Option<Batch<'p>>,
    /// Tasks that are still to be handed in, with the indices of their lanes; and where.
    ended: Vec<(usize, Ended)>,
    results: Sender<Ended>,
}

impl<'s, 'p, S: Store> Worker<'s, 'p, S> {
    fn new(
        setting: Setting<'p>,
        board: &'s Board,
        thread: usize,
        results: Sender<Ended>,
    ) -> Result<Self, RunError> {
        let (most, seats, batch) = match setting.rows() {
            None => (1, vec![Seat { lane: Lane::alone(&setting)?, task: None }], None),
            Some(rows) => (rows.get(), Vec::new(), Some(Batch::new(&setting)?)),
        };
        Ok(Worker { setting, board, thread, most, seats, batch, ended: Vec::new(), results })
    }

    /// Does tasks until there are no more.
    fn work(&mut self, look: &mut dyn FnMut()) {
        loop {
            // If there is no task for a new lane there is none for those behind either.
            let _ = (0..self.most).all(|index| self.go_on(index));
            self.hand_in();
            look();
            if self.seats.iter().all(|seat| seat.task.is_none()) {
                return;
            }
            let failed = self.batch.as_mut().map(|batch| batch.step(&mut self.seats)).unwrap_or_default();
            failed.into_iter().for_each(|(index, error)| self.end(index, Err(error)));
        }
    }

    /// Notes what was done, and then hands in what has ended: by the last task of a search all must be counted.
    fn hand_in(&mut self) {
        let counts = self.seats.iter().map(|seat| seat.lane.counts());
        let mut account = locked(&self.board.accounts[self.thread]);
        account.counts = counts.fold(Counts::default(), |sum, counts| sum + counts);
        for (index, ended) in self.ended.drain(..) {
            let Seat { lane, task } = &mut self.seats[index];
            // To add them up takes a while: only when the lane has no more tasks. Those of the first thread are asked for.
            if task.is_none() && self.thread > 0 {
                account.transitions.add(&std::mem::take(&mut lane.walk.transitions));
            }
            let _ = self.results.send(ended); // unless the search has panicked, and nobody waits
        }
    }

    /// Has a lane go on, with one task after the other, until it needs a step or it is time to look; false if there is no
    /// lane with this index and no task for one.
    fn go_on(&mut self, index: usize) -> bool {
        loop {
            let mut new = None;
            if self.seats.get(index).is_none_or(|seat| seat.task.is_none()) {
                let Some((number, task)) = self.board.take() else { return index < self.seats.len() };
                if let (Some(batch), true) = (&self.batch, index == self.seats.len()) {
                    self.seats.push(Seat { lane: batch.lane(&self.setting), task: None });
                }
                if self.board.is_paused.load(Relaxed) {
                    // There may be many: they stay as they are.
                    self.ended.push((index, (number, Ok(task))));
                    continue;
                }
                self.seats[index].task = Some(number);
                new = Some(task);
            }
            let Worker { seats, batch, board, .. } = self;
            let lane = &mut seats[index].lane;
            // A system that panics must not take the others with it.
            let advanced = catch_unwind(AssertUnwindSafe(|| {
                if let Some(task) = new.take() {
                    lane.begin(task);
                }
                // A hint is short, and would have to be begun again.
                if board.is_paused.load(Relaxed) && !lane.is_for_hints() {
                    lane.interrupt(None)?;
                }
                loop {
                    match (lane.advance(lane.slice())?, &mut *batch) {
                        (Paused::Done, _) => return Ok(Some(lane.finish())),
                        (Paused::Asked, Some(batch)) => return batch.add(index, lane).map(|()| None),
                        (_, Some(_)) => {}
                        (_, None) => return Ok(None),
                    }
                }
            }));
            match advanced.unwrap_or_else(|panic| Err(lane.instance.panicked(&*panic))).transpose() {
                Some(done) => self.end(index, done),
                None => return true,
            }
        }
    }

    /// The task of a lane has ended. An error ends the search.
    fn end(&mut self, index: usize, done: Result<Task, RunError>) {
        if done.is_err() {
            self.board.pause();
        }
        self.ended.extend(self.seats[index].task.take().map(|number| (index, (number, done))));
    }
}

/// The threads of a search.
pub(super) struct Team<'s, 'e, 'p, S: Store> {
    scope: &'s Scope<'s, 'e>,
    /// That of this thread.
    worker: Worker<'s, 'p, S>,
    results: Receiver<Ended>,
    /// Calls the other threads to work, as soon as they have been started: for each chunk as many more as there are, if
    /// there are tasks for them. They end when this is dropped, also if the search panics.
    others: Vec<Sender<()>>,
}

impl<'s, 'p: 's, S: Store> Team<'s, '_, 'p, S> {
    pub(super) fn new<'e>(
        setting: Setting<'p>,
        board: &'s Board,
        scope: &'s Scope<'s, 'e>,
    ) -> Result<Team<'s, 'e, 'p, S>, RunError> {
        let (sender, results) = channel();
        let worker = Worker::new(setting, board, 0, sender)?;
        Ok(Team { scope, worker, results, others: Vec::new() })
    }

    /// Does tasks, in this thread and in the others: what came of each, in their order. `look` is called now and then.
    pub(super) fn perform(
        &mut self,
        tasks: Vec<Task>,
        look: &mut dyn FnMut(),
    ) -> Vec<Result<Task, RunError>> {
        let count = tasks.len();
        self.worker.board.is_paused.store(false, Relaxed);
        *locked(&self.worker.board.tasks) = tasks.into_iter().enumerate();
        // A batch has many lanes: other threads help only if there are more tasks.
        if count > self.worker.most {
            self.call_others(count);
        }
        self.worker.work(look);
        let mut ended = Vec::with_capacity(count);
        while ended.len() < count {
            match self.results.recv_timeout(LOOK) {
                Ok(one) => ended.push(one),
                Err(_) => look(),
            }
        }
        ended.sort_unstable_by_key(|&(number, _)| number);
        ended.into_iter().map(|(_, done)| done).collect()
    }

    fn call_others(&mut self, tasks: usize) {
        let Worker { setting, board, results, .. } = &self.worker;
        // Each has a system of its own, and it may take long until that runs: a search that ends soon does not wait for many.
        let (threads, most) = (self.others.len() + 1, board.accounts.len());
        for thread in threads..most.min(tasks).min(2 * threads) {
            let (call, calls) = channel();
            let (setting, board, results) = (setting.clone(), *board, results.clone());
            self.scope.spawn(move || match Worker::<S>::new(setting, board, thread, results.clone()) {
                Ok(mut worker) => calls.iter().for_each(|()| worker.work(&mut || ())),
                // It is the error of the first task that the thread would have done.
                Err(error) => {
                    if let Some((number, _)) = calls.iter().find_map(|()| board.take()) {
                        board.pause();
                        let _ = results.send((number, Err(error)));
                    }
                }
            });
            self.others.push(call);
        }
        for other in &self.others {
            let _ = other.send(()); // unless it has not begun
        }
    }

    /// The transitions of all tasks since they were asked for last.
    pub(super) fn take_transitions(&mut self) -> Transitions {
        let mut all = Transitions::default();
        for seat in &mut self.worker.seats {
            all.add(&std::mem::take(&mut seat.lane.walk.transitions));
        }
        for account in &self.worker.board.accounts {
            all.add(&std::mem::take(&mut locked(account).transitions));
        }
        all
    }
}

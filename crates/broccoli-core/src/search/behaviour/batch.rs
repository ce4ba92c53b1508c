//! Many lanes in one thread, each on a task of its own, whose steps are made together.
//!
//! Every lane goes on until it needs a step of the system. The steps of all are one batch; each lane is told what came
//! of its own, and goes on.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use super::bounds::Store;
use super::lane::{Counts, Lane, Paused, Setting};
use super::task::Task;
use super::team::Board;
use crate::problem::{
    BatchError, Instance, Reply, RunError, SystemError, Table, Verdict, append_words, started, words,
};

/// How many batches are made between two looks at everything else.
const LOOK_EVERY: u64 = 8;

/// A lane and the number of the task that it is at.
struct Seat<'p, S: Store> {
    lane: Lane<'p, S>,
    task: Option<usize>,
}

/// Steps to be made together, row by row; and what came of them.
#[derive(Default)]
struct Rows {
    /// Whose steps they are.
    seats: Vec<usize>,
    actions: Vec<usize>,
    states: Vec<f64>,
    observations: Vec<f64>,
    verdicts: Vec<Verdict>,
    rewards: Vec<f64>,
    has_rewards: bool,
    /// The states as the lanes keep them.
    bytes: Vec<u8>,
}

/// Lanes whose steps are made together.
pub(super) struct Batch<'p, S: Store> {
    setting: Setting<'p>,
    table: Rc<RefCell<Table>>,
    /// How many lanes there may be.
    most: usize,
    seats: Vec<Seat<'p, S>>,
    rows: Rows,
    batches: u64,
    /// Tasks that have ended and are still to be handed in: the index of the lane, the number of the task, its result.
    ended: Vec<(usize, usize, Result<Task, RunError>)>,
}

impl<'p, S: Store> Batch<'p, S> {
    /// Up to `most` lanes with nothing to do yet, on a system of their own.
    pub(super) fn new(setting: &Setting<'p>, most: usize) -> Result<Self, RunError> {
        let table = Table::new(started(|| setting.factory.make_batch())?);
        let (seats, rows, ended) = (Vec::new(), Rows::default(), Vec::new());
        Ok(Batch { setting: setting.clone(), table, most, seats, rows, batches: 0, ended })
    }

    /// Does tasks until there are no more.
    pub(super) fn work(&mut self, thread: usize, board: &Board, look: &mut dyn FnMut()) {
        loop {
            self.rows.clear();
            for index in 0..self.most {
                if !self.go_on(index, board) {
                    break; // there is no task for those behind either
                }
            }
            let is_last = self.rows.seats.is_empty();
            if is_last || !self.ended.is_empty() || self.batches.is_multiple_of(LOOK_EVERY) {
                let counts = self.seats.iter().map(|seat| seat.lane.counts());
                board.note(thread, counts.fold(Counts::default(), |sum, counts| sum + counts));
            }
            // Only now: the search may end with the last task, and all that was done must be counted by then.
            for (seat, number, done) in self.ended.drain(..) {
                board.hand_in(number, done, &mut self.seats[seat].lane);
            }
            if is_last || self.batches.is_multiple_of(LOOK_EVERY) {
                look();
            }
            if is_last {
                return;
            }
            self.batches += 1;
            self.make_steps();
        }
    }

    /// Has a lane go on until it needs a step, with one task after the other; false if there is no lane with this index
    /// and no task for one.
    fn go_on(&mut self, index: usize, board: &Board) -> bool {
        loop {
            let is_new = index == self.seats.len();
            if is_new || self.seats[index].task.is_none() {
                let Some((number, task)) = board.take() else { return !is_new };
                if is_new {
                    let instance = Instance::row(self.setting.problem, &self.table);
                    let lane = Lane::new(&self.setting, instance, true);
                    self.seats.push(Seat { lane, task: None });
                }
                let seat = &mut self.seats[index];
                seat.lane.begin(task);
                seat.task = Some(number);
            }
            let Seat { lane, .. } = &mut self.seats[index];
            let rows = &mut self.rows;
            let advance = AssertUnwindSafe(|| {
                if board.is_paused() {
                    lane.interrupt(None)?;
                }
                loop {
                    match lane.advance(u64::MAX)? {
                        Paused::Asked => {
                            rows.actions.push(lane.asked(&mut rows.bytes)?);
                            return Ok(None);
                        }
                        Paused::Done => return Ok(Some(lane.finish())),
                        Paused::Slice | Paused::Found(_) => {}
                    }
                }
            });
            match catch_unwind(advance).unwrap_or_else(|panic| Err(lane.panicked(&*panic))) {
                Ok(None) => {
                    rows.seats.push(index);
                    return true;
                }
                Ok(Some(done)) => self.end(index, Ok(done)),
                Err(error) => self.end(index, Err(error)),
            }
        }
    }

    /// The task of a lane has ended.
    fn end(&mut self, index: usize, done: Result<Task, RunError>) {
        self.ended.extend(self.seats[index].task.take().map(|number| (index, number, done)));
    }

    /// Makes the steps that the lanes wait for, and tells them.
    fn make_steps(&mut self) {
        let rows = &mut self.rows;
        let count = rows.seats.len();
        let problem = self.setting.problem;
        let (values, _) = rows.bytes.as_chunks::<8>();
        rows.states.extend(values.iter().map(|&value| f64::from_le_bytes(value)));
        // Whatever the system forgets is found.
        rows.observations.resize(count * problem.dimensions().len(), f64::NAN);
        rows.verdicts.resize(count, Verdict::Running);
        let stepped = catch_unwind(AssertUnwindSafe(|| {
            let Rows { actions, states, observations, verdicts, .. } = &mut *rows;
            let system = &mut self.table.borrow_mut().system;
            system.step_batch(actions, states, observations, verdicts)?;
            if problem.objective().wants_rewards() {
                rows.rewards.resize(count, f64::NAN);
                rows.has_rewards = system.rewards(&mut rows.rewards);
            }
            Ok::<(), BatchError>(())
        }));
        let error = match stepped {
            Ok(Ok(())) => return self.tell(),
            Ok(Err(error)) => error,
            Err(panic) => SystemError::new(format!("it panicked: {}", words(&*panic))).into(),
        };
        // One lane has the error of its step, or of all. The others take back the steps that were not made.
        let row = error.row.or((count == 1).then_some(0));
        let (seat, error) = match row.and_then(|row| rows.seats.get(row)) {
            Some(&seat) => (seat, self.seats[seat].lane.failed(error.source)),
            None => (rows.seats[0], RunError::Batch { rows: count, source: error.source }),
        };
        self.end(seat, Err(error));
    }

    /// Tells the lanes what came of their steps.
    fn tell(&mut self) {
        let dimensions = self.setting.problem.dimensions().len();
        let width = self.rows.states.len() / self.rows.seats.len();
        for row in 0..self.rows.seats.len() {
            let Rows { seats, states, observations, verdicts, rewards, has_rewards, bytes, .. } =
                &mut self.rows;
            bytes.clear();
            append_words(bytes, &states[row * width..][..width]);
            let observation = &observations[row * dimensions..][..dimensions];
            let mut reply = Reply::from(verdicts[row]);
            if *has_rewards {
                reply = reply.with_reward(rewards[row]);
            }
            let seat = seats[row];
            if let Err(error) = self.seats[seat].lane.told(bytes, observation, reply) {
                self.end(seat, Err(error));
            }
        }
    }
}

impl Rows {
    fn clear(&mut self) {
        self.seats.clear();
        self.actions.clear();
        self.states.clear();
        self.observations.clear();
        self.verdicts.clear();
        self.rewards.clear();
        self.bytes.clear();
    }
}

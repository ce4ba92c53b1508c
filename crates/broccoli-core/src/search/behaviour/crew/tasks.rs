//! What a worker does: takes a task, works on it, and hands in what comes of it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::{Crew, Doing, Found, Key, Order, SLICE, SLICES, Task};
use crate::problem::RunError;
use crate::search::behaviour::bounds::Store;
use crate::search::behaviour::frontier::Frontier;
use crate::search::behaviour::lane::{Lane, Paused};

/// What a worker gets when it asks for work.
pub(in crate::search::behaviour) enum Taken {
    Task(Key, Task, Order),
    /// Nothing now, but others are at work.
    Nothing,
    /// The round is over.
    Over,
}

impl Crew {
    /// Works on the round until it is over, and returns the leaves for the next one; or until all that is
    /// left is set aside, and returns nothing. `look` is called now and then.
    pub(in crate::search::behaviour) fn work<S: Store>(
        &self,
        lane: &mut Lane<'_, S>,
        look: &mut dyn FnMut() -> Result<(), RunError>,
    ) -> Result<Option<Frontier>, RunError> {
        let mut was_busy = false;
        loop {
            let taken = self.take(lane, was_busy);
            was_busy = matches!(taken, Taken::Task(..));
            match taken {
                Taken::Task(key, task, order) => self.perform(0, lane, key, task, order, look),
                Taken::Nothing => {
                    self.wait(Duration::from_millis(20));
                    if let Err(error) = look() {
                        self.fail(error);
                    }
                }
                Taken::Over => return self.close(),
            }
        }
    }

    /// Works on all rounds until the search is over.
    pub(in crate::search::behaviour) fn serve<S: Store>(&self, number: usize, lane: &mut Lane<'_, S>) {
        let mut was_busy = false;
        loop {
            let taken = self.take(lane, was_busy);
            was_busy = matches!(taken, Taken::Task(..));
            match taken {
                Taken::Task(key, task, order) => {
                    self.perform(number, lane, key, task, order, &mut || Ok(()));
                }
                Taken::Nothing | Taken::Over => {
                    self.add_hungry(1);
                    let is_over = self.wait(Duration::from_millis(100));
                    self.add_hungry(-1);
                    if is_over {
                        break;
                    }
                }
            }
        }
    }

    /// Gives a worker something to do. One that was busy has done its task. Whoever gets nothing hands in
    /// what it has counted.
    pub(in crate::search::behaviour) fn take<S: Store>(
        &self,
        lane: &mut Lane<'_, S>,
        was_busy: bool,
    ) -> Taken {
        let mut state = self.state();
        state.running -= usize::from(was_busy);
        self.changed.notify_all();
        let Some(order) = state.order else { return Taken::Over };
        while !self.is_suspended.load(Relaxed)
            && let Some((key, task)) = state.tasks.pop_first()
        {
            if state.last.as_ref().is_none_or(|last| key < *last) {
                state.running += 1;
                return Taken::Task(key, task, order);
            }
        }
        lane.move_transitions(&mut state.transitions);
        if state.running > 0 { Taken::Nothing } else { Taken::Over }
    }

    fn perform<S: Store>(
        &self,
        number: usize,
        lane: &mut Lane<'_, S>,
        key: Key,
        task: Task,
        order: Order,
        look: &mut dyn FnMut() -> Result<(), RunError>,
    ) {
        let mut doing = self.start(lane, key, task, order);
        // A system that panics must not take the others with it.
        let run = AssertUnwindSafe(|| self.run(number, lane, &mut doing, look));
        let ran = catch_unwind(run).unwrap_or_else(|panic| Err(lane.panicked(&*panic)));
        self.end(lane, doing, ran);
        self.note(number, lane.counts(), lane.leaf_bytes());
    }

    fn run<S: Store>(
        &self,
        number: usize,
        lane: &mut Lane<'_, S>,
        doing: &mut Doing,
        look: &mut dyn FnMut() -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        loop {
            let paused = lane.advance((lane.transitions() / SLICES).clamp(SLICE, self.size.longest_slice))?;
            if paused == Paused::Slice {
                self.note(number, lane.counts(), lane.leaf_bytes());
                look()?;
            }
            if self.attend(lane, doing, paused)? {
                return Ok(());
            }
        }
    }

    /// Sets a lane to a task.
    pub(in crate::search::behaviour) fn start<S: Store>(
        &self,
        lane: &mut Lane<'_, S>,
        key: Key,
        task: Task,
        order: Order,
    ) -> Doing {
        let (version, before) = (self.version(), lane.transitions());
        let incumbent = self.incumbent(&key, &order);
        lane.begin(order.job, &task.frontier, task.agenda.clone(), incumbent, task.failures.as_deref());
        Doing { key, task, order, version, before }
    }

    /// Sees to what a lane has paused for; whether it is through with its task.
    pub(in crate::search::behaviour) fn attend<S: Store>(
        &self,
        lane: &mut Lane<'_, S>,
        doing: &mut Doing,
        paused: Paused,
    ) -> Result<bool, RunError> {
        let Doing { key, order, version, before, .. } = doing;
        match paused {
            Paused::Done => return Ok(true),
            Paused::Asked => {}
            Paused::Found { value, size } => {
                let labels = Some(lane.walk().labels());
                let own_steps = lane.walk().steps_beyond(size);
                let found = Found { key: key.clone(), own_steps, ..Found::elsewhere(value, size, labels) };
                self.tell(found, order.is_ordered);
                if order.goal == Some((value, size)) {
                    let mut state = self.state();
                    // If no order is wanted, nothing else is of interest.
                    let last = if order.is_ordered { key.clone() } else { Key::new() };
                    if state.last.as_ref().is_none_or(|former| last < *former) {
                        state.last = Some(last);
                    }
                    return Ok(true);
                }
            }
            Paused::Slice => {
                let is_wanted = self.is_hungry()
                    && !order.is_whole
                    && lane.walk().has_more()
                    && lane.transitions() - *before >= self.size.least_task
                    && self.state().tasks.is_empty();
                if self.is_suspended() || is_wanted {
                    lane.suspend()?;
                } else if order.goal.is_some() && self.state().last.as_ref().is_some_and(|last| last <= key) {
                    return Ok(true); // of no more interest
                }
            }
        }
        if self.version() != *version {
            *version = self.version();
            if let Some(incumbent) = self.incumbent(key, order) {
                lane.improve(incumbent);
            }
        }
        Ok(false)
    }

    /// Puts away what came of a task.
    pub(in crate::search::behaviour) fn end<S: Store>(
        &self,
        lane: &mut Lane<'_, S>,
        doing: Doing,
        ran: Result<(), RunError>,
    ) {
        let Doing { key, task, order, .. } = doing;
        if ran.is_ok() {
            lane.finish_record();
        }
        let mut state = self.state();
        match ran {
            Err(error) => {
                state.error.get_or_insert(error);
                self.is_suspended.store(true, Relaxed);
                // It is still to be done.
                state.tasks.insert(key, task);
            }
            Ok(()) => {
                let (next, rest) = lane.finish();
                let is_dropped = state.last.as_ref().is_some_and(|last| *last <= key);
                if !next.is_empty() && !is_dropped {
                    state.next_bytes += next.bytes();
                    let mut key = key.clone();
                    key.push(0);
                    state.next.insert(key, next);
                }
                if let Some(reason) = lane.stopped() {
                    state.stopped.get_or_insert(reason);
                    self.is_suspended.store(true, Relaxed);
                }
                if !rest.is_empty() && !is_dropped {
                    let agenda = rest.in_order();
                    if order.is_whole {
                        let failures = Some(lane.walk().failures().to_vec());
                        let key = key.into_iter().chain([1]).collect();
                        state.tasks.insert(key, Task { frontier: rest, agenda, failures });
                    } else {
                        self.share_out(&mut state, &key, &rest, agenda);
                    }
                }
            }
        }
    }
}

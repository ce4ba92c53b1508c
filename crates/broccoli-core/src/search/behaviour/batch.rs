//! Many lanes in one thread, each on a task of its own, whose steps are made together.
//!
//! Every lane goes on until it needs a step of the system. The steps of all are one batch; each lane is told
//! what came of its own, and goes on. Nothing else differs from threads: which lane does what, and when, does
//! not change the answer.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::bounds::Store;
use super::crew::{Crew, Doing, SLICE, Taken};
use super::frontier::Frontier;
use super::lane::{Counts, Lane, Paused};
use super::sample;
use super::transitions::Transitions;
use crate::problem::{
    BatchError, Gate, Instance, Problem, Reply, RunError, SystemError, SystemFactory, Table, Verdict,
    append_words, started, words,
};

/// How many batches are made between two looks at everything else.
const LOOK_EVERY: u64 = 8;
/// By what the steps made so far are divided for those that are made beside the longest behaviour; and how many
/// lanes go on in any case.
const SHARE_OF_OTHERS: u64 = 4;
const LEAST_LANES: u64 = 16;

/// A lane and the task that it is at.
struct Seat<'p, S: Store> {
    lane: Lane<'p, S>,
    /// In a box, because it is taken out and put back with every step.
    doing: Option<Box<Doing>>,
    /// Whether it has ended a task and not said so yet.
    was_busy: bool,
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
    problem: &'p Problem,
    gate: Arc<Gate<'p>>,
    table: Rc<RefCell<Table>>,
    /// The number of this worker.
    number: usize,
    /// How many lanes there may be, and how many of them are known to have nothing to do.
    most: usize,
    hungry: usize,
    seats: Vec<Seat<'p, S>>,
    rows: Rows,
    batches: u64,
    steps: u64,
    /// The transitions that the lanes have counted together.
    transitions: Transitions,
    sample: Option<sample::Shared>,
}

/// What became of a turn.
enum Turn {
    /// Steps were made.
    Made,
    /// There is nothing to do, but others are at work.
    Nothing,
    /// The round is over.
    Over,
}

impl<'p, S: Store> Batch<'p, S> {
    /// Up to `most` lanes with nothing to do yet, on a system of their own.
    pub(super) fn new(
        problem: &'p Problem,
        factory: &dyn SystemFactory,
        gate: Arc<Gate<'p>>,
        number: usize,
        most: usize,
    ) -> Result<Self, RunError> {
        let table = Table::new(started(|| factory.make_batch())?);
        let (seats, rows) = (Vec::new(), Rows::default());
        Ok(Batch {
            problem,
            gate,
            table,
            number,
            most,
            hungry: 0,
            seats,
            rows,
            batches: 0,
            steps: 0,
            transitions: Transitions::default(),
            sample: None,
        })
    }

    /// The same, some of whose answers are taken down, if there is a sample.
    pub(super) fn sampled(mut self, sample: Option<sample::Shared>) -> Self {
        self.sample = sample;
        self
    }

    /// Works on the round, like [`Crew::work`].
    pub(super) fn work(
        &mut self,
        crew: &Crew,
        look: &mut dyn FnMut() -> Result<(), RunError>,
    ) -> Result<Option<Frontier>, RunError> {
        let mut version = crew.version();
        loop {
            let is_made = match self.turn(crew) {
                Turn::Made => true,
                Turn::Nothing => {
                    crew.wait(Duration::from_millis(20));
                    false
                }
                Turn::Over => return crew.close(),
            };
            if is_made && !self.batches.is_multiple_of(LOOK_EVERY) && crew.version() == version {
                continue;
            }
            version = crew.version();
            self.note(crew);
            if let Err(error) = look() {
                crew.fail(error);
            }
        }
    }

    /// Works on all rounds, like [`Crew::serve`].
    pub(super) fn serve(&mut self, crew: &Crew) {
        loop {
            match self.turn(crew) {
                Turn::Made if self.batches.is_multiple_of(LOOK_EVERY) => self.note(crew),
                Turn::Made => {}
                Turn::Nothing | Turn::Over => {
                    if crew.wait(Duration::from_millis(100)) {
                        break;
                    }
                }
            }
        }
    }

    fn note(&self, crew: &Crew) {
        let counts = self.seats.iter().map(|seat| seat.lane.counts());
        let counts = counts.fold(Counts::default(), |sum, counts| sum + counts);
        crew.note(self.number, counts, self.seats.iter().map(|seat| seat.lane.leaf_bytes()).sum());
    }

    /// Has every lane go on until it needs a step, and makes the steps.
    fn turn(&mut self, crew: &Crew) -> Turn {
        self.batches += 1;
        let is_due = crew.is_suspended() || crew.is_hungry() || self.batches.is_multiple_of(SLICE);
        self.rows.clear();
        let mut taken = Turn::Made;
        let mut busy = 0;
        let (first, allowed) = self.allowed(crew);
        let others = (0..self.seats.len()).filter(|&index| Some(index) != first);
        for index in first.into_iter().chain(others) {
            let seat = &self.seats[index];
            if seat.doing.is_none() && !seat.was_busy {
                continue;
            }
            if self.rows.seats.len() < allowed {
                taken = self.go_on(crew, index, is_due);
            }
            busy += usize::from(self.seats[index].doing.is_some());
        }
        // Those with nothing to do, and new ones, get something if there is anything.
        for index in 0..self.most {
            if self.rows.seats.len() >= allowed {
                break;
            }
            if self.seats.get(index).is_some_and(|seat| seat.doing.is_some()) {
                continue;
            }
            if index == self.seats.len() {
                let instance = Instance::row(self.problem, &self.table);
                // Many lanes that remember traces would take too much memory.
                let lane = Lane::new(self.problem, instance, Arc::clone(&self.gate), true, 0);
                let lane = lane.sampled(self.sample.as_ref());
                self.seats.push(Seat { lane, doing: None, was_busy: false });
            }
            taken = self.go_on(crew, index, false);
            if self.seats[index].doing.is_none() {
                break;
            }
            busy += 1;
        }
        let hungry = self.most - busy;
        crew.add_hungry(hungry as isize - self.hungry as isize);
        self.hungry = hungry;
        if self.rows.seats.is_empty() {
            self.note(crew);
            crew.count(&std::mem::take(&mut self.transitions));
            return taken;
        }
        self.make_steps(crew);
        Turn::Made
    }

    /// How many lanes may go on, and which of them first: the one whose behaviour is the longest. It may be so
    /// good that what the others do meanwhile is in vain, so they should not do too much.
    fn allowed(&self, crew: &Crew) -> (Option<usize>, usize) {
        let busy = self.seats.iter().enumerate().filter(|(_, seat)| seat.doing.is_some());
        let longest = busy.map(|(index, seat)| (seat.lane.walk().length(), index)).max();
        match longest {
            Some((length, index)) if !crew.is_suspended() => {
                let allowed = self.steps / (length.max(1).saturating_mul(SHARE_OF_OTHERS));
                (Some(index), self.most.min(allowed.max(LEAST_LANES) as usize))
            }
            _ => (None, self.most),
        }
    }

    /// Has a lane go on until it needs a step, with one task after the other.
    fn go_on(&mut self, crew: &Crew, index: usize, is_due: bool) -> Turn {
        let seat = &mut self.seats[index];
        loop {
            let Some(mut doing) = seat.doing.take() else {
                match crew.take(&mut seat.lane, std::mem::take(&mut seat.was_busy)) {
                    Taken::Task(key, task, order) => {
                        seat.lane.swap_transitions(&mut self.transitions);
                        seat.doing = Some(Box::new(crew.start(&mut seat.lane, key, task, order)));
                        seat.lane.swap_transitions(&mut self.transitions);
                        continue;
                    }
                    Taken::Nothing => return Turn::Nothing,
                    Taken::Over => return Turn::Over,
                }
            };
            seat.lane.swap_transitions(&mut self.transitions);
            let advance = AssertUnwindSafe(|| {
                let waits = advance(crew, &mut seat.lane, &mut doing, is_due)?;
                let rows = &mut self.rows;
                if waits {
                    rows.actions.push(seat.lane.asked(&mut rows.bytes)?);
                }
                Ok(waits)
            });
            let ran = catch_unwind(advance).unwrap_or_else(|panic| Err(seat.lane.panicked(&*panic)));
            seat.lane.swap_transitions(&mut self.transitions);
            match ran {
                Ok(true) => {
                    self.rows.seats.push(index);
                    seat.doing = Some(doing);
                    return Turn::Made;
                }
                ran => {
                    seat.was_busy = true;
                    crew.end(&mut seat.lane, *doing, ran.map(|_| ()));
                }
            }
        }
    }

    /// Makes the steps that the lanes wait for, and tells them.
    fn make_steps(&mut self, crew: &Crew) {
        let rows = &mut self.rows;
        let count = rows.seats.len();
        self.steps += count as u64;
        let (values, _) = rows.bytes.as_chunks::<8>();
        rows.states.extend(values.iter().map(|&value| f64::from_le_bytes(value)));
        // Whatever the system forgets is found.
        rows.observations.resize(count * self.problem.dimensions().len(), f64::NAN);
        rows.verdicts.resize(count, Verdict::Running);
        let stepped = catch_unwind(AssertUnwindSafe(|| {
            let Rows { actions, states, observations, verdicts, .. } = &mut *rows;
            let system = &mut self.table.borrow_mut().system;
            system.step_batch(actions, states, observations, verdicts)?;
            if self.problem.objective().wants_rewards() {
                rows.rewards.resize(count, f64::NAN);
                rows.has_rewards = system.rewards(&mut rows.rewards);
            }
            Ok::<(), BatchError>(())
        }));
        let error = match stepped {
            Ok(Ok(())) => return self.tell(crew),
            Ok(Err(error)) => error,
            Err(panic) => SystemError::new(format!("it panicked: {}", words(&*panic))).into(),
        };
        let row = error.row.or((count == 1).then_some(0));
        let error = match row.and_then(|row| rows.seats.get(row)) {
            Some(&seat) => self.seats[seat].lane.failed(error.source),
            None => RunError::Batch { rows: count, source: error.source },
        };
        // The lanes take back the steps that were not made.
        crew.fail(error);
    }

    /// Tells the lanes what came of their steps.
    fn tell(&mut self, crew: &Crew) {
        let Rows { seats, states, observations, verdicts, rewards, has_rewards, bytes, .. } = &mut self.rows;
        let (width, dimensions) = (states.len() / seats.len(), self.problem.dimensions().len());
        for (row, &seat) in seats.iter().enumerate() {
            bytes.clear();
            append_words(bytes, &states[row * width..][..width]);
            let observation = &observations[row * dimensions..][..dimensions];
            let Seat { lane, doing, was_busy } = &mut self.seats[seat];
            lane.swap_transitions(&mut self.transitions);
            let mut reply = Reply::from(verdicts[row]);
            if *has_rewards {
                reply = reply.with_reward(rewards[row]);
            }
            let told = lane.told(bytes, observation, reply);
            lane.swap_transitions(&mut self.transitions);
            if let Err(error) = told
                && let Some(doing) = doing.take()
            {
                *was_busy = true;
                crew.end(lane, *doing, Err(error));
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

/// Has a lane go on until it waits for a step, which it says, or its task is done.
fn advance<S: Store>(
    crew: &Crew,
    lane: &mut Lane<'_, S>,
    doing: &mut Doing,
    is_due: bool,
) -> Result<bool, RunError> {
    if is_due && !lane.has_found() && crew.attend(lane, doing, Paused::Slice)? {
        return Ok(false);
    }
    loop {
        let paused = lane.advance(u64::MAX)?;
        if crew.attend(lane, doing, paused)? {
            return Ok(false);
        }
        if paused == Paused::Asked {
            return Ok(true);
        }
    }
}

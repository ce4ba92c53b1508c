//! Runs a walk on a system: does what it asks, and comes back to places as the system can.

use std::any::Any;
use std::sync::Arc;

use super::bounds::Store;
use super::places::Places;
use super::walk::{Ask, Walk};
use crate::problem::{Gate, Instance, Problem, Reply, RunError, StopReason, SystemError, Verdict};

/// What there is to tell a walk.
pub(super) enum Answer {
    /// What came of the step or reset; the cell is that of the driver.
    Verdict(Verdict),
    /// Nothing.
    Nothing,
    /// Nothing yet: the system is to make a step together with others. It is [told](Driver::told) of it, and
    /// does then what it was asked.
    Later,
}

/// A system that a walk runs on.
pub(super) struct Driver<'p> {
    problem: &'p Problem,
    instance: Instance<'p>,
    /// Whether its steps are made elsewhere, together with others; and the next one's action.
    is_batched: bool,
    action: usize,
    /// On the way to a place without a saved state: how many steps are left.
    left: Option<u64>,
    gate: Arc<Gate<'p>>,
    /// How many queries may still be made.
    quota: u64,
    cell: Vec<u16>,
    traces: u64,
    /// Steps made again only to come back to a state, and those of them that the cache knew.
    replayed: u64,
    replayed_hits: u64,
}

impl<'p> Driver<'p> {
    /// A driver whose queries have to pass the gate.
    pub(super) fn new(
        problem: &'p Problem,
        instance: Instance<'p>,
        gate: Arc<Gate<'p>>,
        is_batched: bool,
    ) -> Self {
        Driver {
            problem,
            instance,
            is_batched,
            action: 0,
            left: None,
            gate,
            quota: 0,
            cell: vec![0; problem.dimensions().len()],
            traces: 0,
            replayed: 0,
            replayed_hits: 0,
        }
    }

    /// Transitions that walks asked for.
    #[inline]
    pub(super) fn transitions(&self) -> u64 {
        self.instance.queries() - self.instance.replayed() + self.instance.hits() - self.replayed
    }

    /// Those of them that the system was asked for.
    pub(super) fn queries(&self) -> u64 {
        self.transitions() - self.hits()
    }

    /// Those of them that the cache knew.
    pub(super) fn hits(&self) -> u64 {
        self.instance.hits() - self.replayed_hits
    }

    /// Queries made again only to come back to a state.
    pub(super) fn replayed(&self) -> u64 {
        self.instance.replayed() + self.replayed - self.replayed_hits
    }

    /// Traces started.
    pub(super) fn traces(&self) -> u64 {
        self.traces
    }

    /// The cell after the last answer.
    #[inline]
    pub(super) fn cell(&self) -> &[u16] {
        &self.cell
    }

    /// The observation after the last answer.
    pub(super) fn observation(&self) -> &[f64] {
        self.instance.observation()
    }

    /// The reward of the last step.
    #[inline]
    pub(super) fn reward(&self) -> f64 {
        self.instance.reward()
    }

    /// Appends the complete state of the system, if it tells it.
    pub(super) fn complete_state(&mut self, state: &mut Vec<u8>) -> Result<(), RunError> {
        self.instance.complete_state(state)
    }

    /// The error of a system that has panicked.
    pub(super) fn panicked(&self, panic: &(dyn Any + Send)) -> RunError {
        self.instance.panicked(panic)
    }

    /// A task begins: from now on so many queries may be made.
    pub(super) fn begin(&mut self, quota: u64) {
        self.quota = quota;
        self.left = None;
    }

    /// Keeps the present place among others.
    pub(super) fn keep_place(&mut self, places: &mut Places) -> Result<(), RunError> {
        places.save(&mut self.instance)
    }

    /// Does what a walk asks.
    ///
    /// If the gate is closed the step is not made, and the walk can still [retract](Walk::retract).
    #[inline(always)]
    pub(super) fn answer<S: Store>(&mut self, walk: &mut Walk<S>) -> Result<Answer, RunError> {
        let (from, mark, action) = match *walk.ask() {
            Ask::Step { from, mark, action } => (from, mark, usize::from(action)),
            Ask::Reset { initial } => {
                self.traces += 1;
                let verdict = self.instance.reset(initial as usize)?;
                self.problem.cell(self.instance.observation(), &mut self.cell);
                return Ok(Answer::Verdict(verdict));
            }
            Ask::Leave => {
                walk.save_leaf(&mut self.instance)?;
                return Ok(Answer::Nothing);
            }
            Ask::Found(_) | Ask::Done => return Ok(Answer::Nothing),
        };
        if let Some(state) = walk.start(from) {
            let (initial, steps) = walk.place_before_step();
            if !state.is_empty() {
                self.instance.restore(state, initial, steps)?;
            } else if !self.follow(walk, initial, steps)? {
                return Ok(Answer::Later);
            }
        }
        self.pass(action)?;
        if self.is_batched {
            self.action = action;
            return Ok(Answer::Later);
        }
        walk.set_marks(from, mark, &mut self.instance)?;
        let verdict = self.instance.step(action)?;
        self.problem.cell(self.instance.observation(), &mut self.cell);
        Ok(Answer::Verdict(verdict))
    }

    /// The step that a walk asks for will not be made.
    pub(super) fn retract<S: Store>(&mut self, walk: &mut Walk<S>) -> Result<(), RunError> {
        self.left = None;
        walk.retract(&mut self.instance, &self.cell)
    }

    /// The step that is to be made together with others: appends the state that it starts from, and returns
    /// its action.
    pub(super) fn asked(&mut self, states: &mut Vec<u8>) -> Result<usize, RunError> {
        self.instance.save(states)?;
        Ok(self.action)
    }

    /// What came of the step that was made together with others. The verdict is for the walk, unless the
    /// step only led to where it wants to be.
    pub(super) fn told<S: Store>(
        &mut self,
        walk: &mut Walk<S>,
        state: &[u8],
        observation: &[f64],
        reply: Reply,
    ) -> Result<Option<Verdict>, RunError> {
        let is_on_the_way = self.left.is_some_and(|left| left > 0);
        if is_on_the_way {
            self.left = self.left.map(|left| left - 1);
            self.replayed += 1;
        } else {
            self.left = None;
            if let Ask::Step { from, mark, .. } = *walk.ask() {
                walk.set_marks(from, mark, &mut self.instance)?;
            }
        }
        let verdict = self.instance.accept(state, observation, reply)?;
        if is_on_the_way {
            self.check_on_the_way(verdict, self.instance.initial())?;
        }
        self.problem.cell(self.instance.observation(), &mut self.cell);
        Ok((!is_on_the_way).then_some(verdict))
    }

    /// The error of the step that was to be made together with others.
    pub(super) fn failed(&self, source: SystemError) -> RunError {
        self.instance.failed(self.instance.steps() + 1, self.action, source)
    }

    /// Asks the gate for a query, unless it takes none. From then on only the system itself can fail.
    #[inline(always)]
    fn pass(&mut self, action: usize) -> Result<(), RunError> {
        if self.instance.has_cache() && !self.instance.is_ready(action)? {
            return self.gate.look();
        }
        if self.quota == 0 {
            return Err(RunError::Stopped(StopReason::QueryLimit));
        }
        self.gate.pass()?;
        self.quota -= 1;
        Ok(())
    }

    /// On the way to a place no run ends.
    fn check_on_the_way(&self, verdict: Verdict, initial: usize) -> Result<(), RunError> {
        match verdict {
            Verdict::Running => Ok(()),
            _ => Err(self.lost(initial)),
        }
    }

    /// The way to a place has led elsewhere.
    #[cold]
    fn lost(&self, initial: usize) -> RunError {
        let did = "the same actions led to a known state".to_owned();
        let does = format!("they led elsewhere by step {}", self.instance.steps());
        RunError::NotDeterministic { initial, did, does }
    }

    /// Goes to a place by acting as the labels say; whether it is there, or a step is to be made elsewhere.
    fn follow<S: Store>(&mut self, walk: &Walk<S>, initial: usize, steps: u64) -> Result<bool, RunError> {
        if self.left.is_none() {
            let verdict = self.instance.reset(initial)?;
            self.problem.cell(self.instance.observation(), &mut self.cell);
            self.left = Some(steps);
            self.check_on_the_way(verdict, initial)?;
        }
        while self.left > Some(0) {
            let Some(action) = walk.label(&self.cell) else { return Err(self.lost(initial)) };
            let action = usize::from(action);
            self.pass(action)?;
            if self.is_batched {
                self.action = action;
                return Ok(false);
            }
            let hits = self.instance.hits();
            self.left = self.left.map(|left| left - 1);
            self.replayed += 1;
            let verdict = self.instance.step(action)?;
            self.check_on_the_way(verdict, initial)?;
            self.replayed_hits += self.instance.hits() - hits;
            self.problem.cell(self.instance.observation(), &mut self.cell);
        }
        if !self.is_batched {
            self.left = None;
        }
        Ok(true)
    }
}

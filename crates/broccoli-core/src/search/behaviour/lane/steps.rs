//! The steps of a lane on its system, and how it comes back to places.

use super::Lane;
use crate::problem::{Reply, RunError, StopReason, SystemError, Verdict};
use crate::search::behaviour::bounds::Store;
use crate::search::behaviour::walk::Origin;

impl<S: Store> Lane<'_, S> {
    pub(super) fn reset(&mut self, initial: usize) -> Result<Verdict, RunError> {
        let verdict = self.instance.reset(initial)?;
        self.look();
        Ok(verdict)
    }

    /// The cell where the system is.
    #[inline(always)]
    fn look(&mut self) {
        self.problem.cell(self.instance.observation(), &mut self.cell);
        if let Some(grid) = &self.grid {
            grid.coarsen(&mut self.cell);
        }
    }

    /// Goes where a step starts, and makes it. Nothing if a step is to be made elsewhere first: the lane is
    /// [told](Lane::told) of it, and does then what it was asked.
    #[inline(always)]
    pub(super) fn step(&mut self, from: Origin, action: usize) -> Result<Option<Verdict>, RunError> {
        let start = match &self.climb {
            Some(climb) if self.is_hint => climb.start(from).map(|state| (state, climb.place_before_step())),
            _ => self.walk.start(from).map(|state| (state, self.walk.place_before_step())),
        };
        if let Some((state, (initial, steps))) = start {
            if !state.is_empty() {
                self.instance.restore(state, initial, steps)?;
            } else if !self.follow(initial, steps)? {
                return Ok(None);
            }
        }
        self.pass(action)?;
        if self.is_batched {
            self.action = action;
            return Ok(None);
        }
        if self.walk.wants_places() {
            self.walk.save_places(|places| places.save(&mut self.instance))?;
        }
        let verdict = self.instance.step(action)?;
        self.look();
        Ok(Some(verdict))
    }

    /// Asks the gate for a query, unless it takes none. From then on only the system itself can fail.
    #[inline(always)]
    fn pass(&mut self, action: usize) -> Result<(), RunError> {
        if self.instance.remembers() && !self.instance.is_ready(action)? {
            return self.gate.look();
        }
        if self.quota == 0 {
            return Err(RunError::Stopped(StopReason::QueryLimit));
        }
        self.gate.pass()?;
        self.quota -= 1;
        Ok(())
    }

    /// Goes to a place by acting as the labels say; whether it is there, or a step is to be made elsewhere.
    fn follow(&mut self, initial: usize, steps: u64) -> Result<bool, RunError> {
        if self.way.is_none() {
            let verdict = self.reset(initial)?;
            self.way = Some(steps);
            self.check_on_the_way(verdict, initial)?;
        }
        while let Some(left) = self.way.filter(|&left| left > 0) {
            let Some(action) = self.label_here() else { return Err(self.lost(initial)) };
            let action = usize::from(action);
            self.pass(action)?;
            if self.is_batched {
                self.action = action;
                return Ok(false);
            }
            self.way = Some(left - 1);
            let verdict = self.instance.step_again(action)?;
            self.look();
            self.check_on_the_way(verdict, initial)?;
        }
        if !self.is_batched {
            self.way = None;
        }
        Ok(true)
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

    /// The step that is to be made together with others: appends the state that it starts from, and returns
    /// its action.
    pub(in super::super) fn asked(&mut self, states: &mut Vec<u8>) -> Result<usize, RunError> {
        self.instance.save(states)?;
        Ok(self.action)
    }

    /// What came of the step that was made together with others. It may only have led to where the walk wants to be.
    pub(in super::super) fn told(
        &mut self,
        state: &[u8],
        observation: &[f64],
        reply: Reply,
    ) -> Result<(), RunError> {
        let left = self.way.filter(|&left| left > 0);
        self.way = left.map(|left| left - 1);
        if left.is_none() {
            self.walk.save_places(|places| places.save(&mut self.instance))?;
        }
        let verdict = self.instance.accept(state, observation, reply, left.is_some())?;
        self.look();
        match left {
            None if self.is_hint => self.tell_hints(verdict),
            None => self.tell(verdict),
            Some(_) => self.check_on_the_way(verdict, self.instance.initial()),
        }
    }

    /// The error of the step that was to be made together with others.
    pub(in super::super) fn failed(&self, source: SystemError) -> RunError {
        self.instance.failed(self.instance.steps() + 1, self.action, source)
    }
}

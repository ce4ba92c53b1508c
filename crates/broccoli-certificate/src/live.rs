//! A system of the search, as the checker wants it.

use std::collections::BTreeMap;

use broccoli_core::problem::{ComeBack, Instance, Problem, RunError, SystemFactory, Verdict};

/// A running system for the checker to ask; and, if it remembers, its places by its complete states.
pub struct Live<'p>(Instance<'p>, BTreeMap<Vec<u8>, Vec<u8>>);

impl<'p> Live<'p> {
    /// A system for a problem.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new(problem: &'p Problem, factory: &dyn SystemFactory) -> Result<Self, RunError> {
        Instance::new(problem, factory).map(|instance| Live(instance, BTreeMap::new()))
    }

    fn told(
        &self,
        verdict: Result<Verdict, RunError>,
        observation: &mut [f64],
    ) -> Result<broccoli_checker::Verdict, String> {
        observation.copy_from_slice(self.0.observation());
        match verdict {
            Ok(Verdict::Running) => Ok(broccoli_checker::Verdict::Running),
            Ok(Verdict::Satisfied) => Ok(broccoli_checker::Verdict::Satisfied),
            Ok(Verdict::Violated) => Ok(broccoli_checker::Verdict::Violated),
            Err(error) => Err(error.to_string()),
        }
    }
}

impl broccoli_checker::System for Live<'_> {
    fn reset(&mut self, initial: usize, seen: &mut [f64]) -> Result<broccoli_checker::Verdict, String> {
        let verdict = self.0.reset(initial);
        self.told(verdict, seen)
    }

    fn step(&mut self, action: u16, seen: &mut [f64]) -> Result<broccoli_checker::Verdict, String> {
        let verdict = self.0.step(usize::from(action));
        self.told(verdict, seen)
    }

    fn save(&mut self) -> Option<Vec<u8>> {
        let mut state = Vec::new();
        if self.0.remembers() {
            // What it saves is a place in its memory, which says nothing to others.
            let mut place = Vec::new();
            let are_known = self.0.save(&mut place).and_then(|()| self.0.complete_state(&mut state)).is_ok();
            let is_state = !state.is_empty();
            if is_state {
                self.1.insert(state.clone(), place.clone());
            }
            return are_known.then_some(if is_state { state } else { place });
        }
        let can = self.0.come_back() != ComeBack::Replay;
        (can && self.0.save(&mut state).is_ok()).then_some(state)
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        // From where to where it ran is for its messages only.
        self.0
            .restore(self.1.get(state).map_or(state, Vec::as_slice), 0, 0)
            .map_err(|error| error.to_string())
    }
}

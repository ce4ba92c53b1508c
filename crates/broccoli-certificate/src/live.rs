//! A system of the search, as the checker wants it.

use broccoli_core::problem::{ComeBack, Instance, Problem, RunError, SystemFactory, Verdict};

/// A running system for the checker to ask.
pub struct Live<'p>(Instance<'p>);

impl<'p> Live<'p> {
    /// A system for a problem.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new(problem: &'p Problem, factory: &dyn SystemFactory) -> Result<Self, RunError> {
        Instance::new(problem, factory).map(Live)
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
        let can = self.0.come_back() != ComeBack::Replay;
        (can && self.0.save(&mut state).is_ok()).then_some(state)
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        // From where to where it ran is for its messages only.
        self.0.restore(state, 0, 0).map_err(|error| error.to_string())
    }
}

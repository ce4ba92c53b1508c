//! What one initial state gives under a tree: the trace.

use super::Tree;
use crate::problem::{Instance, Objective, Problem, RunError, SystemFactory, Verdict};

/// What ended a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The system said `Satisfied`.
    Satisfied,
    /// The system said `Violated`.
    Violated,
    /// The horizon was reached with the verdict still `Running`.
    Horizon,
}

/// One step of a trace: what was seen and what was done about it.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceStep {
    /// The observation before the action; in the last entry, the final observation.
    pub observation: Vec<f64>,
    /// The action applied; none in the last entry.
    pub action: Option<usize>,
}

/// A whole trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// Every observation and the action it led to; the last entry has no action.
    pub states: Vec<TraceStep>,
    /// What ended it.
    pub end: End,
}

impl Trace {
    /// Runs `tree` from one initial state of `problem` to the end of the trace.
    ///
    /// # Errors
    /// When the system fails or its observation holds NaN.
    pub fn run(
        problem: &Problem,
        factory: &dyn SystemFactory,
        tree: &Tree,
        initial: usize,
    ) -> Result<Trace, RunError> {
        let mut instance = Instance::new(problem, factory)?;
        let mut verdict = instance.reset(initial)?;
        let mut states = Vec::new();
        let end = loop {
            let observation = instance.observation().to_vec();
            let end = match verdict {
                Verdict::Satisfied => Some(End::Satisfied),
                Verdict::Violated => Some(End::Violated),
                Verdict::Running if instance.steps() == problem.objective().horizon() => Some(End::Horizon),
                Verdict::Running => None,
            };
            if let Some(end) = end {
                states.push(TraceStep { observation, action: None });
                break end;
            }
            let action = tree.action(&observation);
            states.push(TraceStep { observation, action: Some(action) });
            verdict = instance.step(action)?;
        };
        Ok(Trace { states, end })
    }

    /// Steps: actions applied, not states.
    pub fn steps(&self) -> u64 {
        self.states.len() as u64 - 1
    }

    /// The value of this trace alone, or `None` where it fails.
    pub fn value(&self, objective: Objective) -> Option<u64> {
        match (objective, self.end) {
            (Objective::Reach { .. }, End::Satisfied) => Some(self.steps()),
            (Objective::Reach { .. }, End::Violated | End::Horizon) => None,
            (Objective::Survive { .. }, End::Violated) => Some(self.steps()),
            (Objective::Survive { horizon }, End::Satisfied | End::Horizon) => Some(horizon),
        }
    }
}

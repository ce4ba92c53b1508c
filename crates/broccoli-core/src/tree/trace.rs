//! What one initial state gives under a tree: the trace.

use super::Tree;
use crate::problem::{Instance, Objective, Problem, RunError, SystemFactory, Verdict};
use crate::search::Rewards;

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

impl End {
    /// The system's last verdict.
    pub fn verdict(self) -> Verdict {
        match self {
            End::Satisfied => Verdict::Satisfied,
            End::Violated => Verdict::Violated,
            End::Horizon => Verdict::Running,
        }
    }
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
    /// The sum of its rewards, discounted as the objective says; 0 if that wants no rewards.
    pub total: f64,
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
        let mut rewards = Rewards::new(problem.objective());
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
            rewards.add(instance.reward());
        };
        Ok(Trace { states, end, total: rewards.total() })
    }

    /// Steps: actions applied, not states.
    pub fn steps(&self) -> u64 {
        self.states.len() as u64 - 1
    }

    /// The value of this trace alone, or `None` where it fails.
    pub fn value(&self, objective: Objective) -> Option<u64> {
        objective.worth(self.end.verdict(), self.steps(), self.total)
    }
}

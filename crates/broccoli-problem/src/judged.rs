//! A system whose verdicts come from conditions in the problem file.

use broccoli_core::problem::{ComeBack, InitialState, Memory, Reply, System, SystemError, Verdict};
use broccoli_expression::Condition;

/// The conditions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conditions {
    pub(crate) satisfied: Option<Condition>,
    pub(crate) violated: Option<Condition>,
}

/// Asks another system, and judges its observations; the other system's own verdicts do not count.
/// Where both conditions hold, the run is violated.
pub(crate) struct Judged {
    system: Box<dyn System>,
    conditions: Conditions,
}

impl Judged {
    pub(crate) fn new(system: Box<dyn System>, conditions: Conditions) -> Self {
        Judged { system, conditions }
    }

    fn judge(&self, observation: &[f64]) -> Reply {
        let holds = |condition: &Option<Condition>| condition.as_ref().is_some_and(|c| c.holds(observation));
        let verdict = if holds(&self.conditions.violated) {
            Verdict::Violated
        } else if holds(&self.conditions.satisfied) {
            Verdict::Satisfied
        } else {
            Verdict::Running
        };
        verdict.into()
    }
}

impl System for Judged {
    fn reset(&mut self, initial: &InitialState, observation: &mut [f64]) -> Result<Reply, SystemError> {
        self.system.reset(initial, observation)?;
        Ok(self.judge(observation))
    }

    fn step(&mut self, action: usize, observation: &mut [f64]) -> Result<Reply, SystemError> {
        let reply = self.system.step(action, observation)?;
        let judged = self.judge(observation);
        Ok(reply.reward.map_or(judged, |reward| judged.with_reward(reward)))
    }

    fn come_back(&self) -> ComeBack {
        self.system.come_back()
    }

    fn save(&mut self, state: &mut Vec<u8>) -> Result<(), SystemError> {
        self.system.save(state)
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), SystemError> {
        self.system.restore(state)
    }

    fn memory(&mut self) -> Option<&mut dyn Memory> {
        self.system.memory()
    }
}

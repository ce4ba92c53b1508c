//! A system with dimensions that are derived from what it observes.

use broccoli_core::problem::{ComeBack, InitialState, Memory, Reply, System, SystemError};
use broccoli_expression::Expression;

/// Asks another system, and appends the value of every feature to what it observes.
pub(crate) struct Featured {
    system: Box<dyn System>,
    /// How many values the other system observes.
    observed: usize,
    features: Vec<Expression>,
}

impl Featured {
    pub(crate) fn new(system: Box<dyn System>, observed: usize, features: Vec<Expression>) -> Self {
        Featured { system, observed, features }
    }
}

/// Writes the features behind the values that are observed.
fn derive(features: &[Expression], observed: &[f64], derived: &mut [f64]) {
    for (value, feature) in derived.iter_mut().zip(features) {
        *value = feature.value(observed);
    }
}

impl System for Featured {
    fn reset(&mut self, initial: &InitialState, observation: &mut [f64]) -> Result<Reply, SystemError> {
        let (observed, derived) = observation.split_at_mut(self.observed);
        let reply = self.system.reset(initial, observed)?;
        derive(&self.features, observed, derived);
        Ok(reply)
    }

    fn step(&mut self, action: usize, observation: &mut [f64]) -> Result<Reply, SystemError> {
        let (observed, derived) = observation.split_at_mut(self.observed);
        let reply = self.system.step(action, observed)?;
        derive(&self.features, observed, derived);
        Ok(reply)
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

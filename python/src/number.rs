//! Values as Python sees them: whole numbers of steps, or floats.

use broccoli_core::problem::{Objective, Value};
use pyo3::prelude::*;

/// A value.
#[derive(Clone, Copy)]
pub struct Number(Value);

impl Number {
    /// The number that a value of the core stands for; none if it is infinite.
    pub fn of(objective: Objective, value: u64) -> Option<Self> {
        objective.shown(value).map(Number)
    }

    /// The value of one trace.
    pub fn of_trace(objective: Objective, value: u64, rewards: f64) -> Self {
        Number(if objective.wants_rewards() { Value::Number(rewards) } else { Value::Steps(value) })
    }
}

impl<'py> IntoPyObject<'py> for Number {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        match self.0 {
            Value::Steps(steps) => Ok(steps.into_pyobject(py)?.into_any()),
            Value::Number(number) => Ok(number.into_pyobject(py)?.into_any()),
        }
    }
}

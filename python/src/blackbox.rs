//! The system of a problem, and what Python is told when it fails.

use std::num::NonZeroUsize;

use broccoli_core::problem::{Problem, RunError, SystemFactory};
use broccoli_environments::Variant;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::batch::Batched;
use crate::problem::{chosen, wrong};
use crate::system::PythonSystem;

/// A black box: a built-in environment, or one in Python.
pub enum BlackBox<'a> {
    Environment(Variant),
    Python(&'a PythonSystem),
}

impl<'a> BlackBox<'a> {
    /// The system of a problem; the problem names the actions that a built-in environment is to have.
    pub fn of(system: &'a Bound<'_, PyAny>, problem: &Problem) -> PyResult<Self> {
        if let Ok(name) = system.cast::<PyString>() {
            let actions: Vec<&str> = problem.actions().iter().map(|a| a.name.as_str()).collect();
            let variant = chosen(&name.to_string_lossy(), &actions)?;
            let variant = variant.with_rewards(problem.objective().wants_rewards()).map_err(wrong)?;
            return Ok(BlackBox::Environment(variant));
        }
        match system.cast::<PythonSystem>() {
            Ok(system) => Ok(BlackBox::Python(system.get())),
            Err(_) => Err(PyTypeError::new_err("a system is the name of an environment or a PythonSystem")),
        }
    }

    pub fn factory(&self) -> &dyn SystemFactory {
        match self {
            BlackBox::Environment(environment) => environment,
            BlackBox::Python(system) => *system,
        }
    }

    /// The same in batches of up to so many steps, if it makes many steps at a time.
    pub fn batched(&self, rows: NonZeroUsize) -> Option<Batched<'a>> {
        match *self {
            BlackBox::Python(system) if system.is_batch() => Some(Batched { system, rows }),
            _ => None,
        }
    }

    /// Whether a query takes so long that there is time to look at the clock.
    pub fn is_slow(&self) -> bool {
        matches!(self, BlackBox::Python(system) if !system.is_batch())
    }

    /// The exception that the user's system has raised, if any.
    pub fn take_raised(&self) -> Option<PyErr> {
        match self {
            BlackBox::Python(system) => system.take_raised().map(|raised| raised.error),
            BlackBox::Environment(_) => None,
        }
    }

    /// The failure, with the user's exception if there was one.
    pub fn failure(&self, py: Python<'_>, error: &RunError) -> FailureData {
        let raised = match self {
            BlackBox::Python(system) => system.take_raised(),
            BlackBox::Environment(_) => None,
        };
        let (initial, step) = match *error {
            RunError::Reset { initial, .. } => (Some(initial), Some(0)),
            RunError::Step { initial, step, .. }
            | RunError::ComeBack { initial, step, .. }
            | RunError::NaN { initial, step, .. }
            | RunError::Panic { initial, step, .. }
            | RunError::OnTheWay { initial, step, .. }
            | RunError::Changed { initial, step, .. }
            | RunError::Reward { initial, step, .. } => (Some(initial), Some(step)),
            RunError::NotDeterministic { initial, .. } => (Some(initial), None),
            _ => (None, None),
        };
        let message = error.to_string();
        match raised {
            Some(raised) => FailureData {
                exception: Some(raised.error.into_value(py).into_any()),
                message,
                initial,
                step,
                state: raised.state,
                actions: raised.actions,
            },
            None => FailureData { exception: None, message, initial, step, state: None, actions: Vec::new() },
        }
    }
}

/// Why a system failed, and where.
#[derive(IntoPyObject)]
pub struct FailureData {
    exception: Option<Py<PyAny>>,
    message: String,
    initial: Option<usize>,
    step: Option<u64>,
    state: Option<Py<PyAny>>,
    actions: Vec<Py<PyAny>>,
}

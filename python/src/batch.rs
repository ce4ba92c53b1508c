//! Systems written in Python that make many steps at a time, on NumPy arrays.

use std::num::NonZeroUsize;
use std::sync::Arc;

use broccoli_core::problem::{
    BatchError, BatchSystem, InitialState, Reply, System, SystemError, SystemFactory, Verdict,
};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arrays::{read_rows, read_verdicts, rows, vector};
use crate::system::{PythonSystem, Shared, item, read_numbers};

/// A factory of systems in Python that make up to so many steps at a time.
pub struct Batched<'a> {
    pub system: &'a PythonSystem,
    pub rows: NonZeroUsize,
}

impl SystemFactory for Batched<'_> {
    fn make(&self) -> Result<Box<dyn System>, SystemError> {
        self.system.make()
    }

    fn rows(&self) -> Option<NonZeroUsize> {
        Some(self.rows)
    }

    fn make_batch(&self) -> Result<Box<dyn BatchSystem>, SystemError> {
        self.system.make_rows()
    }
}

/// `step_batch(states, actions) -> (states, observations, verdicts)`, and perhaps rewards.
pub struct Rows {
    shared: Arc<Shared>,
    reset: Py<PyAny>,
    step_batch: Py<PyAny>,
    /// The actions in an array.
    actions: Py<PyAny>,
    /// The rewards of the last steps, if there were any.
    rewards: Vec<f64>,
}

/// A step of each row.
struct Steps<'a> {
    actions: &'a [usize],
    states: &'a mut [f64],
    observations: &'a mut [f64],
    verdicts: &'a mut [Verdict],
    /// Stays empty if there are none.
    rewards: &'a mut Vec<f64>,
}

impl Rows {
    pub fn new(py: Python<'_>, shared: Arc<Shared>, system: &Bound<'_, PyAny>) -> PyResult<Self> {
        let numpy = py.import(intern!(py, "numpy"))?;
        let actions = shared.actions.iter().map(|action| action.bind(py)).collect::<Vec<_>>();
        Ok(Rows {
            reset: system.getattr("reset")?.unbind(),
            step_batch: system.getattr("step_batch")?.unbind(),
            actions: numpy.call_method1("array", (actions,))?.unbind(),
            rewards: Vec::new(),
            shared,
        })
    }

    /// Makes the steps, or says what was raised.
    fn step(&self, py: Python<'_>, steps: &mut Steps<'_>) -> PyResult<()> {
        let count = steps.actions.len();
        let states = rows(py, steps.states, steps.states.len() / count)?;
        let actions = PyArray1::from_iter(py, steps.actions.iter().map(|&action| action as i64));
        let actions = self.actions.bind(py).call_method1(intern!(py, "take"), (actions, 0))?;
        let answer = self.step_batch.bind(py).call1((states, actions))?;
        let is_answer = |tuple: &&Bound<'_, PyTuple>| (3..=4).contains(&tuple.len());
        let tuple = answer.cast::<PyTuple>().ok().filter(is_answer).ok_or_else(|| {
            PyTypeError::new_err(format!(
                "step_batch must return (states, observations, verdicts), and perhaps rewards as the last ones, \
                 not {answer}"
            ))
        })?;
        steps.rewards.clear();
        if let Ok(rewards) = tuple.get_item(3) {
            steps.rewards.resize(count, f64::NAN);
            read_rows(&rewards, "rewards", count, steps.rewards)?;
        }
        read_rows(&tuple.get_item(0)?, "states", count, steps.states)?;
        read_rows(&tuple.get_item(1)?, "observations", count, steps.observations)?;
        for (verdict, code) in steps.verdicts.iter_mut().zip(read_verdicts(&tuple.get_item(2)?, count)?) {
            *verdict = match code {
                0 => Verdict::Running,
                1 => Verdict::Satisfied,
                2 => Verdict::Violated,
                other => {
                    return Err(PyValueError::new_err(format!(
                        "step_batch returned the verdict {other}: it must be 0 (running), 1 (satisfied) or \
                         2 (violated)"
                    )));
                }
            };
        }
        Ok(())
    }

    /// Which row raises when it is alone, and what; the states are those before the steps.
    fn blame(&self, py: Python<'_>, steps: &Steps<'_>, states: &[f64]) -> Option<(usize, PyErr)> {
        let count = steps.actions.len();
        let (width, dimensions) = (states.len() / count, steps.observations.len() / count);
        (0..count).find_map(|row| {
            let mut alone = Steps {
                actions: &steps.actions[row..=row],
                states: &mut states[row * width..][..width].to_vec(),
                observations: &mut vec![0.0; dimensions],
                verdicts: &mut [Verdict::Running],
                rewards: &mut Vec::new(),
            };
            Some((row, self.step(py, &mut alone).err()?))
        })
    }
}

impl BatchSystem for Rows {
    fn reset(
        &mut self,
        initial: &InitialState,
        state: &mut Vec<f64>,
        observation: &mut [f64],
    ) -> Result<Reply, SystemError> {
        Python::attach(|py| {
            // The values of an initial state are its place in the list.
            let place = initial.values().first().map_or(0, |&place| place as usize);
            let mut start = || {
                let answer = self.reset.bind(py).call1((item(&self.shared.initial, place)?.bind(py),))?;
                let (first, seen, verdict): (Bound<'_, PyAny>, Bound<'_, PyAny>, Bound<'_, PyAny>) =
                    answer.extract().map_err(|_| {
                        PyTypeError::new_err(format!(
                            "reset must return (state, observation, verdict), not {answer}"
                        ))
                    })?;
                *state = read_state(&first)?;
                read_numbers(&seen, observation)?;
                self.shared.verdict(&verdict)
            };
            start().map(Reply::from).map_err(|error| self.shared.keep(error, None, Vec::new()))
        })
    }

    fn step_batch(
        &mut self,
        actions: &[usize],
        states: &mut [f64],
        observations: &mut [f64],
        verdicts: &mut [Verdict],
    ) -> Result<(), BatchError> {
        Python::attach(|py| {
            let before = states.to_vec();
            let mut rewards = std::mem::take(&mut self.rewards);
            let mut steps = Steps { actions, states, observations, verdicts, rewards: &mut rewards };
            let Err(error) = self.step(py, &mut steps) else {
                self.rewards = rewards;
                return Ok(());
            };
            match self.blame(py, &steps, &before) {
                None => Err(self.shared.keep(error, None, Vec::new()).into()),
                Some((row, error)) => {
                    let width = before.len() / actions.len();
                    let state = PyArray1::from_slice(py, &before[row * width..][..width]);
                    let action = item(&self.shared.actions, actions[row]).map(|action| action.clone_ref(py));
                    let state = Some(state.into_any().unbind());
                    let source = self.shared.keep(error, state, action.into_iter().collect());
                    Err(BatchError { row: Some(row), source })
                }
            }
        })
    }

    fn rewards(&mut self, rewards: &mut [f64]) -> bool {
        let has_rewards = self.rewards.len() == rewards.len();
        if has_rewards {
            rewards.copy_from_slice(&self.rewards);
        }
        has_rewards
    }
}

/// Reads a state: a vector of numbers.
fn read_state(state: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    if let Some(vector) = vector(state)? {
        return Ok(vector.to_vec()?);
    }
    state.extract().map_err(|_| {
        PyTypeError::new_err(format!(
            "the state that reset returns must be a row of numbers, for step_batch, not {state}"
        ))
    })
}

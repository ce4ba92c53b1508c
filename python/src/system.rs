//! Systems written in Python. The interpreter's lock is taken for one query at a time.

use std::sync::{Arc, Mutex, PoisonError};

use broccoli_core::problem::{
    BatchSystem, ComeBack, InitialState, Reply, Row, System, SystemError, SystemFactory, Verdict,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyList, PyString, PyTuple};

use crate::arrays::read_vector;
use crate::batch::Rows;
use crate::state;

/// How to make systems in Python, and what they are given.
#[pyclass(frozen, module = "broccoli._broccoli")]
pub struct PythonSystem {
    shared: Arc<Shared>,
}

pub struct Shared {
    make: Py<PyAny>,
    kind: Kind,
    pub actions: Vec<Py<PyAny>>,
    pub initial: Vec<Py<PyAny>>,
    /// Running, satisfied, violated.
    verdicts: (Py<PyAny>, Py<PyAny>, Py<PyAny>),
    raised: Mutex<Option<Raised>>,
}

/// What a system's `step` takes and gives.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// `step(state, action) -> (state, observation, verdict)`, and nothing else remembers anything.
    Function,
    /// `step(action) -> (observation, verdict)`, with `snapshot` and `restore`.
    Snapshot,
    /// `step(action) -> (observation, verdict)` only.
    Replay,
    /// `step_batch(states, actions) -> (states, observations, verdicts)`, on arrays.
    Batch,
}

/// An exception of the user's, and how to get there: from this state, or from reset, with these actions.
pub struct Raised {
    pub error: PyErr,
    pub state: Option<Py<PyAny>>,
    pub actions: Vec<Py<PyAny>>,
}

#[pymethods]
impl PythonSystem {
    #[new]
    fn new(
        make: Py<PyAny>,
        kind: &str,
        actions: Vec<Py<PyAny>>,
        initial: Vec<Py<PyAny>>,
        verdicts: (Py<PyAny>, Py<PyAny>, Py<PyAny>),
    ) -> PyResult<Self> {
        let kind = match kind {
            "function" => Kind::Function,
            "snapshot" => Kind::Snapshot,
            "replay" => Kind::Replay,
            "batch" => Kind::Batch,
            other => return Err(PyValueError::new_err(format!("there is no kind {other:?} of system"))),
        };
        let raised = Mutex::default();
        Ok(PythonSystem { shared: Arc::new(Shared { make, kind, actions, initial, verdicts, raised }) })
    }
}

impl PythonSystem {
    /// The exception that ended the search, if one did.
    pub fn take_raised(&self) -> Option<Raised> {
        self.shared.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Whether it makes many steps at a time.
    pub fn is_batch(&self) -> bool {
        self.shared.kind == Kind::Batch
    }

    /// Makes one that does.
    pub fn make_rows(&self) -> Result<Box<dyn BatchSystem>, SystemError> {
        let shared = Arc::clone(&self.shared);
        let made = Python::attach(|py| Rows::new(py, shared, &self.shared.make.bind(py).call0()?));
        let rows = made.map_err(|error| self.shared.keep(error, None, Vec::new()))?;
        Ok(Box::new(rows))
    }
}

impl SystemFactory for PythonSystem {
    fn make(&self) -> Result<Box<dyn System>, SystemError> {
        if self.is_batch() {
            return Ok(Box::new(Row::new(self.make_rows()?)));
        }
        let shared = Arc::clone(&self.shared);
        let made = Python::attach(|py| {
            let system = shared.make.bind(py).call0()?;
            let method = |name| system.getattr(name).map(Bound::unbind);
            let (snapshot, restore) = match shared.kind {
                Kind::Snapshot => (Some(method("snapshot")?), Some(method("restore")?)),
                _ => (None, None),
            };
            Ok((method("reset")?, method("step")?, snapshot, restore))
        });
        let (reset, step, snapshot, restore) = made.map_err(|error| shared.keep(error, None, Vec::new()))?;
        let state = Vec::new();
        Ok(Box::new(Running {
            shared,
            reset,
            step,
            snapshot,
            restore,
            state,
            present: None,
            since: Vec::new(),
        }))
    }
}

impl Shared {
    /// Keeps an exception to be raised again at the end of the search.
    pub fn keep(&self, error: PyErr, state: Option<Py<PyAny>>, actions: Vec<Py<PyAny>>) -> SystemError {
        let message = error.to_string();
        let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        raised.get_or_insert(Raised { error, state, actions });
        SystemError::new(message)
    }

    /// Reads a verdict: one of the enumeration, or its name.
    pub fn verdict(&self, verdict: &Bound<'_, PyAny>) -> PyResult<Verdict> {
        let (running, satisfied, violated) = &self.verdicts;
        if verdict.is(running) {
            return Ok(Verdict::Running);
        } else if verdict.is(satisfied) {
            return Ok(Verdict::Satisfied);
        } else if verdict.is(violated) {
            return Ok(Verdict::Violated);
        }
        let text = verdict.cast::<PyString>().ok().map(|text| text.to_string_lossy().into_owned());
        match text.as_deref() {
            Some("running") => Ok(Verdict::Running),
            Some("satisfied") => Ok(Verdict::Satisfied),
            Some("violated") => Ok(Verdict::Violated),
            _ => Err(PyTypeError::new_err(format!(
                "a verdict must be \"running\", \"satisfied\" or \"violated\", not {}",
                verdict.repr()?
            ))),
        }
    }
}

/// What a system is given, by its place in the list.
pub fn item(list: &[Py<PyAny>], place: usize) -> PyResult<&Py<PyAny>> {
    list.get(place).ok_or_else(|| PyValueError::new_err("the problem is not that of this system"))
}

/// One system.
struct Running {
    shared: Arc<Shared>,
    reset: Py<PyAny>,
    step: Py<PyAny>,
    snapshot: Option<Py<PyAny>>,
    restore: Option<Py<PyAny>>,
    /// The state that was last restored, as bytes; empty after a reset.
    state: Vec<u8>,
    /// The state itself, if the system is a function of it.
    present: Option<Py<PyAny>>,
    /// The actions since the reset or the state that was restored.
    since: Vec<u16>,
}

impl Running {
    /// Takes what `reset` or `step` returned.
    fn take(&mut self, answer: &Bound<'_, PyAny>, observation: &mut [f64]) -> PyResult<Reply> {
        let parts = if self.shared.kind == Kind::Function { 3 } else { 2 };
        let is_answer = |tuple: &&Bound<'_, PyTuple>| tuple.len() == parts || tuple.len() == parts + 1;
        let tuple = answer.cast::<PyTuple>().ok().filter(is_answer).ok_or_else(|| {
            let expected =
                if parts == 3 { "(state, observation, verdict)" } else { "(observation, verdict)" };
            PyTypeError::new_err(format!(
                "reset and step must return {expected}, and step perhaps a reward as the last one, not {answer}"
            ))
        })?;
        if parts == 3 {
            self.present = Some(tuple.get_item(0)?.unbind());
        }
        read_numbers(&tuple.get_item(parts - 2)?, observation)?;
        let reply = Reply::from(self.shared.verdict(&tuple.get_item(parts - 1)?)?);
        match tuple.get_item(parts) {
            Ok(reward) => Ok(reply.with_reward(reward.extract()?)),
            Err(_) => Ok(reply),
        }
    }

    fn keep(&self, py: Python<'_>, error: PyErr, state: Option<Py<PyAny>>) -> SystemError {
        let restored = || state::read(py, &self.state).ok().map(Bound::unbind);
        let (state, since) = match self.shared.kind {
            Kind::Function => (state, &self.since[self.since.len().saturating_sub(1)..]),
            _ => (restored(), &self.since[..]),
        };
        let given = since.iter().filter_map(|&action| self.shared.actions.get(usize::from(action)));
        let actions = given.map(|action| action.clone_ref(py));
        self.shared.keep(error, state, actions.collect())
    }
}

impl System for Running {
    fn reset(&mut self, initial: &InitialState, observation: &mut [f64]) -> Result<Reply, SystemError> {
        Python::attach(|py| {
            self.state.clear();
            self.since.clear();
            // The values of an initial state are its place in the list.
            let place = initial.values().first().map_or(0, |&place| place as usize);
            let answer = item(&self.shared.initial, place)
                .and_then(|initial| self.reset.bind(py).call1((initial.bind(py),)));
            answer
                .and_then(|answer| self.take(&answer, observation))
                .map_err(|error| self.keep(py, error, None))
        })
    }

    fn step(&mut self, action: usize, observation: &mut [f64]) -> Result<Reply, SystemError> {
        Python::attach(|py| {
            self.since.push(action as u16);
            let step = self.step.bind(py);
            let state = self.present.take();
            let answer = item(&self.shared.actions, action).and_then(|action| match &state {
                Some(state) => step.call1((state.bind(py), action.bind(py))),
                None => step.call1((action.bind(py),)),
            });
            answer
                .and_then(|answer| self.take(&answer, observation))
                .map_err(|error| self.keep(py, error, state))
        })
    }

    fn come_back(&self) -> ComeBack {
        match self.shared.kind {
            Kind::Function => ComeBack::Clone,
            Kind::Snapshot => ComeBack::Snapshot,
            Kind::Replay | Kind::Batch => ComeBack::Replay,
        }
    }

    fn save(&mut self, bytes: &mut Vec<u8>) -> Result<(), SystemError> {
        Python::attach(|py| {
            let state = match (&self.present, &self.snapshot) {
                (Some(state), _) => Ok(state.bind(py).clone()),
                (None, Some(snapshot)) => snapshot.bind(py).call0(),
                (None, None) => Err(PyValueError::new_err("this system cannot save its state")),
            };
            state.and_then(|state| state::write(&state, bytes)).map_err(|error| self.keep(py, error, None))
        })
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), SystemError> {
        Python::attach(|py| {
            self.since.clear();
            self.state.clear();
            self.state.extend_from_slice(bytes);
            let restored = state::read(py, bytes).and_then(|state| {
                match &self.restore {
                    Some(restore) => drop(restore.bind(py).call1((state,))?),
                    None => self.present = Some(state.unbind()),
                }
                Ok(())
            });
            restored.map_err(|error| self.keep(py, error, None))
        })
    }
}

/// Reads an observation: a sequence or an array of numbers, or one number.
pub fn read_numbers(observation: &Bound<'_, PyAny>, numbers: &mut [f64]) -> PyResult<()> {
    fn fill<'py>(
        items: impl ExactSizeIterator<Item = Bound<'py, PyAny>>,
        numbers: &mut [f64],
    ) -> PyResult<()> {
        if items.len() != numbers.len() {
            let message = format!("an observation has {} numbers, not {}", numbers.len(), items.len());
            return Err(PyValueError::new_err(message));
        }
        for (number, item) in numbers.iter_mut().zip(items) {
            *number = match item.cast_exact::<PyFloat>() {
                Ok(float) => float.value(),
                Err(_) => item.extract()?,
            };
        }
        Ok(())
    }
    if let Ok(tuple) = observation.cast::<PyTuple>() {
        fill(tuple.iter(), numbers)
    } else if let Ok(list) = observation.cast::<PyList>() {
        fill(list.iter(), numbers)
    } else if read_vector(observation, numbers)? {
        Ok(())
    } else if let Some(list) = observation.getattr_opt(pyo3::intern!(observation.py(), "tolist"))? {
        let list = list.call0()?;
        match list.cast::<PyList>() {
            Ok(list) => fill(list.iter(), numbers),
            Err(_) => fill([list].into_iter(), numbers),
        }
    } else if let Ok(number) = observation.extract::<f64>() {
        fill([PyFloat::new(observation.py(), number).into_any()].into_iter(), numbers)
    } else {
        Err(PyTypeError::new_err(format!(
            "an observation must be a sequence of {} numbers, not {}",
            numbers.len(),
            observation.get_type()
        )))
    }
}

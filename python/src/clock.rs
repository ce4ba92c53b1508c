//! When a search is to stop: its time, its `Stopper`, and Python's signals.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use broccoli_core::search::{Stop, StopReason};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// How often signals are looked for, and progress is told.
pub const OFTEN: Duration = Duration::from_millis(50);

/// Ends a search from outside.
#[pyclass(frozen, module = "broccoli._broccoli")]
#[derive(Default)]
pub struct Stopper {
    interrupted: AtomicBool,
}

#[pymethods]
impl Stopper {
    #[new]
    fn new() -> Self {
        Stopper::default()
    }

    fn stop(&self) {
        self.interrupted.store(true, Relaxed);
    }
}

/// Says when to stop: the time is up, somebody asked for it, or Python has a signal for us.
pub struct Clock<'a> {
    stopper: &'a Stopper,
    pub started: Instant,
    limit: Option<Duration>,
    /// Only every so many queries is there time to look at the clock.
    every: u32,
    /// The thread that waits for the search, the only one that Python gives signals to.
    caller: ThreadId,
    /// When signals are looked for next, in milliseconds from the start.
    next: AtomicU64,
    /// What a signal handler or a callback raised.
    raised: Mutex<Option<PyErr>>,
}

impl<'a> Clock<'a> {
    pub fn new(stopper: &'a Stopper, limit: Option<Duration>, is_python: bool) -> Self {
        Clock {
            stopper,
            started: Instant::now(),
            limit,
            every: if is_python { 1 } else { 1024 },
            caller: std::thread::current().id(),
            next: AtomicU64::new(0),
            raised: Mutex::default(),
        }
    }

    /// Stops, and keeps an exception to be raised at the end. Ctrl-C is a reason to stop and no more.
    pub fn stop_with(&self, py: Python<'_>, error: PyErr) {
        self.stopper.stop();
        if !error.is_instance_of::<PyKeyboardInterrupt>(py) {
            self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    }

    /// Lets Python handle signals, if it is time again.
    pub fn look_for_signals(&self) {
        let now = self.started.elapsed().as_millis() as u64;
        if now < self.next.load(Relaxed) || std::thread::current().id() != self.caller {
            return;
        }
        self.next.store(now + OFTEN.as_millis() as u64, Relaxed);
        Python::attach(|py| {
            if let Err(error) = py.check_signals() {
                self.stop_with(py, error);
            }
        });
    }

    pub fn take_raised(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

thread_local! {
    /// Counts the queries of this thread.
    static QUERIES: Cell<u32> = const { Cell::new(0) };
}

impl Stop for Clock<'_> {
    #[inline]
    fn reason(&self) -> Option<StopReason> {
        if self.stopper.interrupted.load(Relaxed) {
            return Some(StopReason::Interrupted);
        }
        if !QUERIES.replace(QUERIES.get().wrapping_add(1)).is_multiple_of(self.every) {
            return None;
        }
        self.look_for_signals();
        self.limit.filter(|&limit| self.started.elapsed() >= limit).map(|_| StopReason::TimeLimit)
    }
}

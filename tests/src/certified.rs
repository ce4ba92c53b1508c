//! Searches with a certificate, and systems as the checker wants them.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use broccoli_certificate::{Certificate as Written, Form, Mark};
use broccoli_checker::{Certificate, Checked, Failure};
use broccoli_core::problem::{ComeBack, Instance, Problem, RunError, SystemFactory};
use broccoli_core::search::{Outcome, Search};
use serde_json::{Value, json};

/// The memory that a certificate of the tests may take.
pub const MEMORY: usize = 1 << 30;

/// Bytes that several can write to.
#[derive(Clone, Debug, Default)]
pub struct Bytes(Arc<Mutex<Vec<u8>>>);

impl Bytes {
    /// What was written so far.
    pub fn get(&self) -> Vec<u8> {
        self.0.lock().expect("nobody panics while writing").clone()
    }

    /// All behind a mark is forgotten.
    pub fn cut(&self, mark: Mark) {
        self.0.lock().expect("nobody panics while writing").truncate(mark.length as usize);
    }
}

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("nobody panics while writing").extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A certificate that is begun.
pub fn begin(problem: &Problem, form: Form, bytes: &Bytes) -> Arc<Written> {
    let certificate = Written::begin(Box::new(bytes.clone()), form, &problem_json(problem));
    Arc::new(certificate.expect("memory can be written to"))
}

/// A problem as it is written in results.
pub fn problem_json(problem: &Problem) -> Value {
    json!({
        "system": {"environment": "table"},
        "dimensions": problem.dimensions(),
        "actions": problem.actions(),
        "initial_states": problem.initial_states(),
        "objective": problem.objective().name(),
        "horizon": problem.objective().horizon(),
        "depth": problem.limits().depth(),
        "nodes": problem.limits().nodes(),
    })
}

/// Runs a search that `adjust` has adjusted, and returns its outcome and its certificate.
///
/// # Errors
/// When the system fails.
pub fn certify<'a>(
    problem: &'a Problem,
    factory: &'a dyn SystemFactory,
    form: Form,
    adjust: impl FnOnce(Search<'a>) -> Search<'a>,
) -> Result<(Outcome, Vec<u8>), String> {
    let bytes = Bytes::default();
    let certificate = begin(problem, form, &bytes);
    let search = Search::new(problem, factory).witness(certificate.clone());
    let outcome = adjust(search).run().map_err(|error| error.to_string())?;
    certificate.end(problem, factory, &outcome).map_err(|error| error.to_string())?;
    Ok((outcome, bytes.get()))
}

/// Checks a certificate with a system, which for a full one compares every transition.
///
/// # Errors
/// When it does not verify.
pub fn verify(bytes: &[u8], problem: &Problem, factory: &dyn SystemFactory) -> Result<Checked, String> {
    let certificate = Certificate::read(bytes, MEMORY).map_err(|error| error.to_string())?;
    let mut system = Live::new(problem, factory).map_err(|error| error.to_string())?;
    certificate.check(Some(&mut system), 1.0).map_err(|error| error.to_string())
}

/// Checks a full certificate without any system.
///
/// # Errors
/// When it does not verify.
pub fn verify_alone(bytes: &[u8]) -> Result<Checked, String> {
    let certificate = Certificate::read(bytes, MEMORY).map_err(|error| error.to_string())?;
    certificate.check(None, 0.0).map_err(|error: Failure| error.to_string())
}

/// A system for the checker.
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
        verdict: Result<broccoli_core::problem::Verdict, RunError>,
        observation: &mut [f64],
    ) -> Result<broccoli_checker::Verdict, String> {
        observation.copy_from_slice(self.0.observation());
        use broccoli_checker::Verdict as To;
        use broccoli_core::problem::Verdict as From;
        match verdict {
            Ok(From::Running) => Ok(To::Running),
            Ok(From::Satisfied) => Ok(To::Satisfied),
            Ok(From::Violated) => Ok(To::Violated),
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
        // Where it is, is told in messages only.
        self.0.restore(state, 0, 0).map_err(|error| error.to_string())
    }
}

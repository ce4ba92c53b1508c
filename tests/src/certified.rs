//! Searches with a certificate.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

pub use broccoli_certificate::Live;
use broccoli_certificate::{Certificate as Written, Form, Mark};
use broccoli_checker::{Certificate, Checked, Limits};
use broccoli_core::problem::{Problem, SystemFactory};
use broccoli_core::search::{Outcome, Search};
use serde_json::{Value, json};

/// Reads a certificate, which may take what a file of its length may take.
///
/// # Errors
/// When it cannot be read.
pub fn read(bytes: &[u8]) -> Result<(Certificate, Limits), String> {
    let limits = Limits::of_file(bytes.len());
    let certificate = Certificate::read(bytes, limits).map_err(|error| error.to_string())?;
    Ok((certificate, limits))
}

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
    let certificate = Written::begin(Box::new(bytes.clone()), form, &problem_json(problem), &json!({}));
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
/// When it does not verify, or comes anywhere near the limits.
pub fn verify(bytes: &[u8], problem: &Problem, factory: &dyn SystemFactory) -> Result<Checked, String> {
    let (certificate, limits) = read(bytes)?;
    let mut system = Live::new(problem, factory).map_err(|error| error.to_string())?;
    // A third of each is enough for any certificate of the tests.
    let limits = Limits { memory: limits.memory / 3, work: limits.work / 3 };
    certificate.check(Some(&mut system), 1.0, limits).map_err(|error| error.to_string())
}

/// Checks a full certificate without any system.
///
/// # Errors
/// When it does not verify.
pub fn verify_alone(bytes: &[u8]) -> Result<Checked, String> {
    let (certificate, limits) = read(bytes)?;
    certificate.check(None, 0.0, limits).map_err(|error| error.to_string())
}

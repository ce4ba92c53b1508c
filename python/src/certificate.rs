//! Certificates: written while a search runs, and checked by code that shares nothing with the search.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use broccoli_certificate::{Form, Live};
use broccoli_checker::{Certificate as Read, Checked, Claim, Failure, Limits, System, Verdict};
use broccoli_core::problem::{Action, Problem, RunError, SystemFactory};
use broccoli_core::search::{Engine, Outcome, Witness};
use broccoli_core::tree::Tree as CoreTree;
use broccoli_environments::Variant;
use broccoli_export::json::{ProblemJson, SystemJson};
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use serde::Deserialize;

use crate::blackbox::BlackBox;
use crate::problem::{ProblemData, chosen, wrong};
use crate::tree::Tree;

/// After how many steps signals are looked for.
const SIGNALS_EVERY: u32 = 1024;

/// A certificate that is being written.
pub struct Certificate {
    path: PathBuf,
    certificate: Arc<broccoli_certificate::Certificate>,
}

impl Certificate {
    /// Begins a certificate of a form, about a problem as [`described`] describes it.
    pub fn begin(path: PathBuf, form: &str, problem: &ProblemJson, about: &str) -> PyResult<Self> {
        let form = match form {
            "light" => Form::Light,
            "full" => Form::Full,
            other => {
                return Err(wrong(format_args!(
                    "certificate_form is {other:?}: it must be \"light\" or \"full\""
                )));
            }
        };
        let begun = broccoli_certificate::create(&path).and_then(|file| {
            // Nobody can see from outside what an object in Python is made of.
            let identity = BTreeMap::from([("system", about), ("version", env!("CARGO_PKG_VERSION"))]);
            broccoli_certificate::Certificate::begin(Box::new(file), form, problem, &identity)
        });
        match begun {
            Ok(certificate) => Ok(Certificate { path, certificate: Arc::new(certificate) }),
            Err(error) => Err(PyOSError::new_err(format!("certificate {path:?} cannot be written: {error}"))),
        }
    }

    pub fn witness(&self) -> Arc<dyn Witness> {
        self.certificate.clone()
    }

    /// Ends it with what the search claims; if that is not possible, says why.
    pub fn end(&self, problem: &Problem, factory: &dyn SystemFactory, outcome: &Outcome) -> Option<String> {
        let ended = self.certificate.end(problem, factory, outcome);
        ended.err().map(|error| format!("the certificate {:?} is of no use: {error}", self.path))
    }
}

/// A problem as it is written into a certificate. `about` tells systems in Python apart.
pub fn described(problem: &Problem, black_box: &BlackBox<'_>, about: &str) -> ProblemJson {
    match black_box {
        BlackBox::Environment(variant) => {
            let system = SystemJson::built_in(variant.environment().name, 0.0);
            // The problem knows actions by their numbers only.
            let actions = variant.actions().to_vec();
            ProblemJson { actions, ..ProblemJson::new(system, problem, Engine::Behaviour) }
        }
        BlackBox::Python(_) => {
            ProblemJson::new(SystemJson::Python(about.to_owned()), problem, Engine::Behaviour)
        }
    }
}

/// The first block of a certificate, as far as the checker does not look at it.
#[derive(Deserialize)]
struct Header {
    problem: ProblemJson,
}

/// What came of checking a certificate.
#[derive(IntoPyObject)]
pub struct VerificationData {
    status: &'static str,
    refutation: Option<String>,
    claim: &'static str,
    value: Option<u64>,
    bound: Option<u64>,
    tree: Option<Tree>,
    choices: Vec<String>,
    is_full: bool,
    behaviours: u64,
    transitions: u64,
    queries: u64,
    work: u64,
}

/// How to check a certificate.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct HowToVerify {
    replay: Option<f64>,
    record_only: bool,
    memory_limit: Option<usize>,
    work_limit: Option<u64>,
}

/// Checks the certificate in a file. The system is a given one, about which `given` tells everything, or the
/// built-in environment that the file names.
#[pyfunction]
pub fn verify(
    py: Python<'_>,
    path: PathBuf,
    given: Option<(Py<ProblemData>, Bound<'_, PyAny>, String)>,
    how: HowToVerify,
) -> PyResult<VerificationData> {
    let HowToVerify { replay, record_only, memory_limit, work_limit } = how;
    let complaint = |what: &dyn std::fmt::Display| wrong(format_args!("{}: {what}", path.display()));
    let bytes = fs::read(&path)?;
    let default = Limits::of_file(bytes.len());
    let limits =
        Limits { memory: memory_limit.unwrap_or(default.memory), work: work_limit.unwrap_or(default.work) };
    let certificate = py.detach(|| Read::read(&bytes, limits)).map_err(|error| complaint(&error))?;
    drop(bytes);
    let Header { problem: json } = serde_json::from_str(&certificate.header)
        .map_err(|error| complaint(&format_args!("its problem is damaged: {error}")))?;
    let problem = Arc::new(json.to_problem().map_err(|error| complaint(&error))?);
    if (replay.is_some() || record_only) && !certificate.is_full {
        let option = if record_only { "record_only" } else { "replay" };
        return Err(complaint(&format_args!(
            "{option} works with full certificates only: a light one is always checked by running the system"
        )));
    }
    let is_built_in = json.system.environment().is_some();
    let black_box = match &given {
        Some((expected, system, about)) => {
            let black_box = BlackBox::of(system, expected.get().core())?;
            if described(expected.get().core(), &black_box, about) != json {
                return Err(complaint(&"it is the certificate of another problem"));
            }
            Some(black_box)
        }
        // What is not given and not built in cannot be run: the record is all there is.
        None if certificate.is_full && replay.is_none() && !is_built_in => None,
        None => Some(BlackBox::Environment(environment(&json).map_err(|error| complaint(&error))?)),
    };
    let choices = match &black_box {
        Some(BlackBox::Environment(variant)) => variant.environment().choices(&problem),
        _ => Vec::new(),
    };
    let raised = Mutex::new(None);
    let needed = black_box.as_ref().filter(|_| !record_only);
    let checked = match needed {
        None => py.detach(|| certificate.check(None, 0.0, limits)),
        Some(black_box) => {
            let factory = black_box.factory();
            let check = || -> Result<_, RunError> {
                let live = Live::new(&problem, factory)?;
                let mut system = Interruptible { live, asked: 0, raised: &raised };
                Ok(certificate.check(Some(&mut system), replay.unwrap_or(1.0), limits))
            };
            match py.detach(check) {
                Ok(checked) => checked,
                Err(error) => Err(Failure::System(error.to_string())),
            }
        }
    };
    let (checked, refutation) = match checked {
        Ok(checked) => (checked, None),
        Err(Failure::Refuted(refutation)) => (Checked::default(), Some(refutation.to_string())),
        Err(Failure::TooMuch(limit)) => return Err(complaint(&limit)),
        Err(other) => {
            let signal = raised.into_inner().unwrap_or_else(PoisonError::into_inner);
            let raised = signal.or_else(|| needed.and_then(BlackBox::take_raised));
            return Err(raised.unwrap_or_else(|| PyRuntimeError::new_err(other.to_string())));
        }
    };
    let solution = certificate.claim.solution();
    let thresholds = &certificate.problem.thresholds;
    let value = solution.map(|solution| solution.value);
    let (claim, bound) = match &certificate.claim {
        Claim::Optimal(_) => ("optimal", value),
        Claim::Infeasible => ("infeasible", None),
        Claim::Bound { bound, .. } => ("bound", Some(*bound)),
    };
    Ok(VerificationData {
        status: match &refutation {
            Some(_) => "refuted",
            None if checked.recorded > 0 => "recorded",
            None => "verified",
        },
        refutation,
        claim,
        value,
        bound,
        tree: solution.map(|solution| Tree::of(tree(thresholds, &solution.tree), &problem)),
        choices: choices.iter().map(ToString::to_string).collect(),
        is_full: certificate.is_full,
        behaviours: checked.behaviours,
        transitions: checked.transitions,
        queries: checked.asked,
        work: checked.work,
    })
}

/// A system that lets Python handle signals now and then: Ctrl-C ends the check.
struct Interruptible<'a> {
    live: Live<'a>,
    asked: u32,
    raised: &'a Mutex<Option<PyErr>>,
}

impl System for Interruptible<'_> {
    fn reset(&mut self, initial: usize, observation: &mut [f64]) -> Result<Verdict, String> {
        self.live.reset(initial, observation)
    }

    fn step(&mut self, action: u16, observation: &mut [f64]) -> Result<Verdict, String> {
        self.asked = self.asked.wrapping_add(1);
        if self.asked.is_multiple_of(SIGNALS_EVERY)
            && let Err(error) = Python::attach(|py| py.check_signals())
        {
            *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            return Err("interrupted".to_owned());
        }
        self.live.step(action, observation)
    }

    fn save(&mut self) -> Option<Vec<u8>> {
        self.live.save()
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        self.live.restore(state)
    }
}

/// The built-in environment that a certificate is about.
fn environment(json: &ProblemJson) -> Result<Variant, String> {
    let Some((name, noise)) = json.system.environment() else {
        let name = json.system.name();
        return Err(format!(
            "its system is {name}, which is run only if you give it: build the broccoli.Problem that was solved, \
             and call problem.verify(path)"
        ));
    };
    if noise != 0.0 || json.dimensions.iter().any(|dimension| dimension.expression.is_some()) {
        return Err("its environment has noise or features: check it with `broccoli verify`".to_owned());
    }
    let names: Vec<&str> = json.actions.iter().map(|action| action.name.as_str()).collect();
    let variant = chosen(name, &names).map_err(|error| error.to_string())?;
    if variant.actions() != json.actions {
        let shown = |actions: &[Action]| {
            actions.iter().map(|a| format!("{} ({})", a.name, a.value)).collect::<Vec<_>>().join(", ")
        };
        let (here, there) = (shown(&json.actions), shown(variant.actions()));
        return Err(format!("its actions are {here}, and those of {name} are {there}"));
    }
    let here: Vec<&str> = json.dimensions.iter().map(|dimension| dimension.name.as_str()).collect();
    let there: Vec<&str> = variant.environment().dimensions.iter().map(|dimension| dimension.name).collect();
    if here != there {
        let (here, there) = (here.join(", "), there.join(", "));
        return Err(format!("its dimensions are {here}, and those of {name} are {there}"));
    }
    Ok(variant)
}

fn tree(thresholds: &[broccoli_checker::Thresholds], from: &broccoli_checker::Tree) -> CoreTree {
    match from {
        broccoli_checker::Tree::Leaf(action) => CoreTree::Leaf(usize::from(*action)),
        broccoli_checker::Tree::Node { dimension, threshold, branches } => {
            let [yes, no] = [&branches[0], &branches[1]].map(|branch| tree(thresholds, branch));
            CoreTree::node(
                *dimension,
                thresholds[*dimension].threshold(*threshold).unwrap_or_default(),
                yes,
                no,
            )
        }
    }
}

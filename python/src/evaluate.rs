//! Trees as nested tuples, their traces, and what they are worth.

use broccoli_core::problem::{Instance, Problem, RunError, SystemFactory, Verdict};
use broccoli_core::tree::{End, Trace, Tree as CoreTree};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::blackbox::{BlackBox, FailureData};
use crate::number::Number;
use crate::problem::{ProblemData, wrong};
use crate::tree::Tree;

/// A tree nested deeper than this is refused.
const MOST_LEVELS: usize = 128;

/// The value of a tree, if it has one, and what that took.
#[derive(IntoPyObject)]
pub struct EvaluationData {
    value: Option<Number>,
    queries: u64,
    failure: Option<FailureData>,
}

/// Makes a tree of nested tuples: an action, or a dimension, a threshold, and the trees for yes and no.
#[pyfunction]
pub fn tree(problem: &ProblemData, nested: &Bound<'_, PyAny>) -> PyResult<Tree> {
    Ok(Tree::of(read(problem.core(), nested, 0)?, problem.core()))
}

fn read(problem: &Problem, nested: &Bound<'_, PyAny>, level: usize) -> PyResult<CoreTree> {
    let Ok(tuple) = nested.cast::<PyTuple>() else {
        let names = problem.actions().iter().map(|action| action.name.as_str());
        return Ok(CoreTree::Leaf(index("action", nested, names)?));
    };
    if level == MOST_LEVELS {
        return Err(wrong(format_args!("the tree is deeper than {MOST_LEVELS}")));
    }
    if tuple.len() != 4 {
        let count = tuple.len();
        return Err(wrong(format_args!(
            "a predicate is (dimension, threshold, tree if true, tree if false), not {count} values"
        )));
    }
    let names = problem.dimensions().iter().map(|dimension| dimension.name.as_str());
    let dimension = index("dimension", &tuple.get_item(0)?, names)?;
    let threshold: f64 = tuple.get_item(1)?.extract()?;
    if !threshold.is_finite() {
        return Err(wrong(format_args!("the threshold is {threshold}: it must be a finite number")));
    }
    let [yes, no] = [tuple.get_item(2)?, tuple.get_item(3)?];
    Ok(CoreTree::node(dimension, threshold, read(problem, &yes, level + 1)?, read(problem, &no, level + 1)?))
}

/// The index of what is given by its index or its name.
fn index<'n>(
    what: &str,
    given: &Bound<'_, PyAny>,
    mut names: impl ExactSizeIterator<Item = &'n str>,
) -> PyResult<usize> {
    let count = names.len();
    let found = match given.cast::<PyString>() {
        Ok(name) => {
            let name = name.to_string_lossy();
            names.position(|known| known == name)
        }
        Err(_) => given.extract().ok().filter(|&index| index < count),
    };
    found.ok_or_else(|| {
        let given = given.repr().map_or_else(|_| "that".to_owned(), |text| text.to_string());
        wrong(format_args!("there is no {what} {given}: give its name, or its index, below {count}"))
    })
}

/// Runs a tree from all initial states, each for at most `horizon` steps and no longer than it matters.
#[pyfunction]
#[pyo3(signature = (problem, system, tree, horizon=None))]
pub fn evaluate(
    py: Python<'_>,
    problem: &ProblemData,
    system: &Bound<'_, PyAny>,
    tree: &Tree,
    horizon: Option<u64>,
) -> PyResult<EvaluationData> {
    let core = problem.core();
    tree.check_for(core)?;
    let is_plain = core.objective().is_plain();
    if horizon.is_some() && !is_plain {
        return Err(wrong("horizon: only for reach and survive, from the worst initial state"));
    }
    let black_box = BlackBox::of(system, core)?;
    let factory = black_box.factory();
    let mut queries = 0;
    let evaluated = py.detach(|| match is_plain {
        true => value(core, factory, tree.core(), horizon, &mut queries),
        false => overall(core, factory, tree.core(), &mut queries),
    });
    match evaluated {
        Ok(value) => {
            let value = value.and_then(|value| Number::of(core.objective(), value));
            Ok(EvaluationData { value, queries, failure: None })
        }
        Err(error) => {
            Ok(EvaluationData { value: None, queries, failure: Some(black_box.failure(py, &error)) })
        }
    }
}

fn value(
    problem: &Problem,
    factory: &dyn SystemFactory,
    tree: &CoreTree,
    horizon: Option<u64>,
    queries: &mut u64,
) -> Result<Option<u64>, RunError> {
    let objective = problem.objective();
    let horizon = horizon.unwrap_or(u64::MAX).min(objective.horizon());
    let mut instance = Instance::new(problem, factory)?;
    let is_reach = objective.is_minimised();
    let mut worst = if is_reach { 0 } else { horizon };
    for initial in 0..problem.initial_states().len() {
        // A trace that survives as long as the worst before it changes nothing.
        let limit = if is_reach { horizon } else { worst };
        let mut verdict = instance.reset(initial)?;
        while verdict == Verdict::Running && instance.steps() < limit {
            verdict = instance.step(tree.action(instance.observation()))?;
            *queries += 1;
        }
        match verdict {
            Verdict::Satisfied if is_reach => worst = worst.max(instance.steps()),
            _ if is_reach => return Ok(None),
            Verdict::Violated => worst = worst.min(instance.steps()),
            _ => {}
        }
    }
    Ok(Some(worst))
}

/// The value over all initial states, from whole traces.
fn overall(
    problem: &Problem,
    factory: &dyn SystemFactory,
    tree: &CoreTree,
    queries: &mut u64,
) -> Result<Option<u64>, RunError> {
    let mut values = Vec::new();
    for initial in 0..problem.initial_states().len() {
        let trace = Trace::run(problem, factory, tree, initial)?;
        *queries += trace.states.iter().filter(|state| state.action.is_some()).count() as u64;
        values.push(trace.value(problem.objective()));
    }
    Ok(problem.overall(&values))
}

/// The trace of a tree from one initial state: observations, actions, and what ended it.
#[derive(IntoPyObject)]
pub struct TraceData {
    observations: Vec<Vec<f64>>,
    actions: Vec<usize>,
    end: &'static str,
    value: Option<Number>,
    failure: Option<FailureData>,
}

/// Runs a tree from the initial state with this index.
#[pyfunction]
pub fn trace(
    py: Python<'_>,
    problem: &ProblemData,
    system: &Bound<'_, PyAny>,
    tree: &Tree,
    initial: usize,
) -> PyResult<TraceData> {
    let core = problem.core();
    if initial >= core.initial_states().len() {
        let count = core.initial_states().len();
        return Err(wrong(format_args!(
            "there is no initial state {initial}: there are {count}, counted from 0"
        )));
    }
    tree.check_for(core)?;
    let black_box = BlackBox::of(system, core)?;
    let factory = black_box.factory();
    match py.detach(|| Trace::run(core, factory, tree.core(), initial)) {
        Err(error) => Ok(TraceData {
            observations: Vec::new(),
            actions: Vec::new(),
            end: "error",
            value: None,
            failure: Some(black_box.failure(py, &error)),
        }),
        Ok(trace) => Ok(TraceData {
            value: trace
                .value(core.objective())
                .map(|value| Number::of_trace(core.objective(), value, trace.total)),
            actions: trace.states.iter().filter_map(|step| step.action).collect(),
            end: match trace.end {
                End::Satisfied => "satisfied",
                End::Violated => "violated",
                End::Horizon => "horizon",
            },
            observations: trace.states.into_iter().map(|step| step.observation).collect(),
            failure: None,
        }),
    }
}

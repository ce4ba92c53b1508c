//! What a tree is worth: trees as nested tuples, and their value with the queries that took.

use broccoli_core::problem::{Instance, Problem, RunError, SystemFactory, Verdict};
use broccoli_core::tree::Tree as CoreTree;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::problem::{ProblemData, wrong};
use crate::search::{BlackBox, FailureData};
use crate::tree::Tree;

/// A tree nested deeper than this is refused.
const MOST_LEVELS: usize = 128;

/// The value of a tree, if it has one, and what that took.
#[derive(IntoPyObject)]
pub struct EvaluationData {
    value: Option<u64>,
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
    if !core.objective().is_plain() {
        return Err(wrong(
            "only the objectives reach and survive, from the worst initial state, can be evaluated",
        ));
    }
    let black_box = BlackBox::of(system, core)?;
    let factory = black_box.factory();
    let mut queries = 0;
    match py.detach(|| value(core, factory, tree.core(), horizon, &mut queries)) {
        Ok(value) => Ok(EvaluationData { value, queries, failure: None }),
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

//! Every tree, in increasing size, each run to its end from every initial state. No pruning, no
//! early stop, nothing clever: the oracle that the other engines are tested against.

use std::ops::ControlFlow;

use super::flat::{FlatNode, FlatTree};
use super::progress::Progress;
use super::shape::Shape;
use super::value::trace_value;
use crate::problem::{Instance, Problem, RunError, SystemFactory};

pub(super) fn search(
    problem: &Problem,
    factory: &dyn SystemFactory,
    progress: &mut Progress<'_>,
) -> Result<(), RunError> {
    let mut instance = progress.instance(problem, factory)?;
    let predicates: Vec<(usize, f64)> = (problem.dimensions().iter().enumerate())
        .flat_map(|(i, d)| d.thresholds.as_slice().iter().map(move |&t| (i, t)))
        .collect();
    let limits = problem.limits();
    let largest = if predicates.is_empty() { 0 } else { limits.nodes() };
    for size in 0..=largest {
        progress.size(size);
        let ended = Shape::for_each(size, limits.depth(), |shape| {
            match every_tree(shape, &predicates, problem, &mut instance, progress) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => ControlFlow::Break(error),
            }
        });
        if let ControlFlow::Break(error) = ended {
            return Err(error);
        }
    }
    Ok(())
}

/// Runs every tree of one shape. The trees are counted like the numbers of an odometer: `digits[n]`
/// is the choice at node n, a predicate or an action.
fn every_tree(
    shape: &Shape,
    predicates: &[(usize, f64)],
    problem: &Problem,
    instance: &mut Instance<'_>,
    progress: &mut Progress<'_>,
) -> Result<(), RunError> {
    let mut flat = FlatTree::new(shape);
    let mut digits = vec![0; flat.nodes.len()];
    let size = flat.nodes.len() as u64 / 2;
    loop {
        for (node, &digit) in flat.nodes.iter_mut().zip(&digits) {
            match node {
                FlatNode::Leaf { action } => *action = digit,
                FlatNode::Node { dimension, threshold, .. } => (*dimension, *threshold) = predicates[digit],
            }
        }
        let queries = instance.queries();
        let (traces, value) = value(&flat, problem, instance);
        progress.ran(traces, instance.queries() - queries);
        let value = value?;
        progress.considered();
        if let Some(value) = value
            && progress.value_to_beat(size).is_none_or(|best| problem.objective().is_better(value, best))
        {
            progress.improved(flat.to_tree(), value);
        }
        let choices = |node: &FlatNode| match node {
            FlatNode::Leaf { .. } => problem.actions().len(),
            FlatNode::Node { .. } => predicates.len(),
        };
        let mut place = 0;
        loop {
            let Some(digit) = digits.get_mut(place) else {
                return Ok(());
            };
            *digit += 1;
            if *digit < choices(&flat.nodes[place]) {
                break;
            }
            *digit = 0;
            place += 1;
        }
    }
}

/// How many traces were run, and the value of a tree over all initial states; `None` if a trace fails.
fn value(
    tree: &FlatTree,
    problem: &Problem,
    instance: &mut Instance<'_>,
) -> (u64, Result<Option<u64>, RunError>) {
    let mut values = Vec::new();
    for initial in 0..problem.initial_states().len() {
        match trace_value(|seen| tree.action(seen), problem.objective(), initial, instance) {
            Ok(value) => values.push(value),
            Err(error) => return (values.len() as u64 + 1, Err(error)),
        }
    }
    (values.len() as u64, Ok(problem.overall(&values)))
}

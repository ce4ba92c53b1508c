//! The smallest tree that agrees with given labels, from scratch: plain recursion over all splits.
//!
//! Slow next to the version space, which it checks in the tests; it makes the tree that is returned.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::version_space::Cost;
use crate::problem::{Problem, Rank};
use crate::tree::{Intervals, Tree};

/// A labelled cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::search) struct Labelled {
    pub(in crate::search) cell: Vec<Rank>,
    pub(in crate::search) label: u16,
}

impl Labelled {
    /// Whether it can be a labelled cell of this problem.
    pub(in crate::search) fn is_of(&self, problem: &Problem) -> bool {
        are_cells(&self.cell, 1, problem) && is_action(self.label, problem)
    }
}

/// Whether these can be the ranks of so many cells of a problem.
pub(super) fn are_cells(ranks: &[Rank], count: usize, problem: &Problem) -> bool {
    let dimensions = problem.dimensions();
    let thresholds = dimensions.iter().map(|dimension| dimension.thresholds.len());
    Some(ranks.len()) == count.checked_mul(dimensions.len())
        && ranks.iter().zip(thresholds.cycle()).all(|(&rank, most)| rank <= most)
}

pub(super) fn is_action(label: u16, problem: &Problem) -> bool {
    usize::from(label) < problem.actions().len()
}

type Labels<'a> = Vec<&'a Labelled>;

/// The fewest predicate nodes, at most `nodes`, of a tree that agrees with the labels.
pub(super) fn least_nodes(labels: &[&Labelled], depth: u32, nodes: u64) -> Option<u64> {
    if is_uniform(labels) {
        return Some(0);
    }
    if depth == 0 || nodes == 0 {
        return None;
    }
    let does_one = one_predicate_does(labels);
    if does_one || depth == 1 {
        return does_one.then_some(1);
    }
    let (mut best, mut most) = (None, nodes);
    for dimension in 0..labels[0].cell.len() {
        for k in splits(labels, dimension, depth, most) {
            if most < 2 {
                return best;
            }
            let (yes, no) = partition(labels, dimension, k);
            // With a greater k the false side is no cheaper.
            let Some(first) = least_nodes(&no, depth - 1, most - 1) else { break };
            if let Some(second) = least_nodes(&yes, depth - 1, most - 1 - first) {
                (best, most) = (Some(1 + first + second), first + second);
            }
        }
    }
    best
}

/// Whether no tree of fewer predicates than `size` agrees with the labels, but one of `size`.
pub(super) fn is_least(problem: &Problem, labels: &[Labelled], size: u64) -> bool {
    let all: Labels = labels.iter().collect();
    least_nodes(&all, problem.limits().depth(), size) == Some(size)
}

/// Visits every tree of exactly `nodes` predicates that agrees with the labels, in canonical order, until
/// `visit` breaks. No smaller tree agrees with them.
pub(super) fn for_each_tree<B>(
    problem: &Problem,
    labels: &[&Labelled],
    depth: u32,
    nodes: u64,
    visit: &mut dyn FnMut(Tree) -> ControlFlow<B>,
) -> ControlFlow<B> {
    if nodes == 0 {
        return match labels.first() {
            Some(labelled) => visit(Tree::Leaf(usize::from(labelled.label))),
            None => (0..problem.actions().len()).map(Tree::Leaf).try_for_each(visit),
        };
    }
    for dimension in 0..labels[0].cell.len() {
        let thresholds = &problem.dimensions()[dimension].thresholds;
        for k in splits(labels, dimension, depth, nodes) {
            let (yes, no) = partition(labels, dimension, k);
            let Some(second) = least_nodes(&no, depth - 1, nodes - 1) else { break };
            let Some(first) = least_nodes(&yes, depth - 1, nodes - 1 - second) else { continue };
            // Up to the least rank on the true side, all predicates split the cells alike.
            let alike = yes.iter().map(|labelled| labelled.cell[dimension]).min().unwrap_or(k + 1);
            // Of all numbers one will do: which one is settled when all traces are known.
            let lowest = if thresholds.is_all() { alike - 1 } else { k };
            for threshold in (lowest..alike).map(|position| thresholds.threshold(position)) {
                for_each_tree(problem, &yes, depth - 1, first, &mut |yes| {
                    for_each_tree(problem, &no, depth - 1, second, &mut |no| {
                        visit(Tree::node(dimension, threshold, yes.clone(), no))
                    })
                })?;
            }
        }
    }
    ControlFlow::Continue(())
}

/// Whether some predicate has one label on its true side and another on its false side. There are two labels or more.
fn one_predicate_does(labels: &[&Labelled]) -> bool {
    let (own, others): (Labels, Labels) = labels.iter().partition(|one| one.label == labels[0].label);
    let is_below = |some: &Labels, others: &Labels, dimension: usize| {
        let greatest = some.iter().map(|one| one.cell[dimension]).max();
        greatest < others.iter().map(|one| one.cell[dimension]).min()
    };
    let is_apart = |dimension| is_below(&own, &others, dimension) || is_below(&others, &own, dimension);
    is_uniform(&others) && (0..labels[0].cell.len()).any(is_apart)
}

fn is_uniform(labels: &[&Labelled]) -> bool {
    labels.windows(2).all(|pair| pair[0].label == pair[1].label)
}

/// The predicates of a dimension that tell some of the cells apart and whose true side a tree of fewer than `nodes`
/// predicates can tell apart, from the lowest threshold on; of those that split the cells alike, the one with the lowest.
/// Predicate `k` is true where the rank is greater than k.
fn splits(labels: &[&Labelled], dimension: usize, depth: u32, nodes: u64) -> Vec<Rank> {
    let mut ranks: Vec<Rank> = labels.iter().map(|labelled| labelled.cell[dimension]).collect();
    ranks.sort_unstable();
    ranks.dedup();
    ranks.pop(); // nothing lies above the greatest
    // With a greater k the true side is no dearer.
    let first = ranks.partition_point(|&k| {
        let (yes, _) = partition(labels, dimension, k);
        least_nodes(&yes, depth - 1, nodes - 1).is_none()
    });
    ranks.split_off(first)
}

/// The labels on the true side of a predicate, and those on its false side.
fn partition<'a>(labels: &[&'a Labelled], dimension: usize, k: Rank) -> (Labels<'a>, Labels<'a>) {
    labels.iter().copied().partition(|labelled| labelled.cell[dimension] > k)
}

/// The same tree, in which every threshold that may be any number is the shortest that acts alike in these cells.
pub(super) fn settled(problem: &Problem, tree: Tree, behaviour: &[Labelled]) -> Tree {
    if problem.without_grid().is_none() {
        return tree;
    }
    let mut intervals = Intervals::new(&tree);
    let mut least = vec![0.0; problem.dimensions().len()];
    for labelled in behaviour {
        for ((value, dimension), &rank) in least.iter_mut().zip(problem.dimensions()).zip(&labelled.cell) {
            *value = dimension.thresholds.least(rank);
        }
        intervals.see(&least);
    }
    tree.with_shortest(&intervals.of(problem))
}

/// The first of the smallest trees that realise a behaviour, of the size that the version space has found.
pub(super) fn realised(problem: &Problem, behaviour: &[Labelled], size: Cost) -> Tree {
    let labels: Labels = behaviour.iter().collect();
    let depth = problem.limits().depth();
    let first = for_each_tree(problem, &labels, depth, size.into(), &mut ControlFlow::Break);
    let tree = first.break_value().unwrap_or(Tree::Leaf(0));
    debug_assert_eq!(tree.size(), u64::from(size));
    settled(problem, tree, behaviour)
}

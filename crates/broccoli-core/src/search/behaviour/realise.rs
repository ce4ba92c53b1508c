//! The smallest tree that agrees with given labels, from scratch: plain recursion over all splits.
//!
//! Slow next to the version space, which it checks in the tests; it makes the tree that is returned.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::version_space::Cost;
use crate::problem::Problem;
use crate::tree::Tree;

/// A labelled cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::search) struct Labelled {
    pub(in crate::search) cell: Vec<u16>,
    pub(in crate::search) label: u16,
}

impl Labelled {
    /// Whether it can be a labelled cell of this problem.
    pub(in crate::search) fn is_of(&self, problem: &Problem) -> bool {
        let mut ranks = self.cell.iter().zip(problem.dimensions());
        self.cell.len() == problem.dimensions().len()
            && usize::from(self.label) < problem.actions().len()
            && ranks.all(|(&rank, d)| usize::from(rank) <= d.thresholds.len())
    }
}

/// The first tree in the canonical order of exactly `nodes` predicates that agrees with the labels. It is known
/// to exist, and none is smaller. Without any label it is the first action.
pub(super) fn first_tree(problem: &Problem, labels: &[&Labelled], depth: u32, nodes: u64) -> Tree {
    if nodes > 0 {
        for dimension in 0..labels[0].cell.len() {
            let ks = splits(labels, dimension);
            for &k in &ks[first_possible(labels, dimension, &ks, depth, nodes)..] {
                let (yes, no) = partition(labels, dimension, k);
                let Some(second) = least_nodes(&no, depth - 1, nodes - 1) else { break };
                let Some(first) = least_nodes(&yes, depth - 1, nodes - 1 - second) else { continue };
                let threshold = problem.dimensions()[dimension].thresholds.as_slice()[usize::from(k)];
                let yes = first_tree(problem, &yes, depth - 1, first);
                let no = first_tree(problem, &no, depth - 1, second);
                return Tree::node(dimension, threshold, yes, no);
            }
        }
    }
    Tree::Leaf(labels.first().map_or(0, |labelled| usize::from(labelled.label)))
}

/// The fewest predicate nodes, at most `nodes`, of a tree that agrees with the labels.
pub(super) fn least_nodes(labels: &[&Labelled], depth: u32, nodes: u64) -> Option<u64> {
    if is_uniform(labels) {
        return Some(0);
    }
    if depth == 0 || nodes == 0 {
        return None;
    }
    if one_predicate_does(labels) {
        return Some(1);
    }
    if depth == 1 {
        return None;
    }
    let mut best = None;
    for dimension in 0..labels[0].cell.len() {
        let ks = splits(labels, dimension);
        let most = |best: Option<u64>| best.map_or(nodes, |best| best - 1);
        for &k in &ks[first_possible(labels, dimension, &ks, depth, most(best))..] {
            let most = most(best);
            if most < 2 {
                return best;
            }
            let (yes, no) = partition(labels, dimension, k);
            // With a greater k the false side is no cheaper.
            let Some(first) = least_nodes(&no, depth - 1, most - 1) else { break };
            let second = least_nodes(&yes, depth - 1, most - 1 - first);
            best = second.map(|second| 1 + first + second).or(best);
        }
    }
    best
}

/// The first of the splits of a dimension whose true side a tree of fewer than `nodes` predicates can
/// tell apart: with a greater k it is no dearer.
fn first_possible(labels: &[&Labelled], dimension: usize, ks: &[u16], depth: u32, nodes: u64) -> usize {
    ks.partition_point(|&k| {
        let (yes, _) = partition(labels, dimension, k);
        least_nodes(&yes, depth - 1, nodes - 1).is_none()
    })
}

/// Visits every tree of exactly `nodes` predicates that agrees with the labels, in canonical order, until
/// `visit` breaks. No smaller tree agrees with them.
pub(super) fn for_each_tree(
    problem: &Problem,
    labels: &[&Labelled],
    depth: u32,
    nodes: u64,
    visit: &mut dyn FnMut(Tree) -> ControlFlow<()>,
) -> ControlFlow<()> {
    if nodes == 0 {
        return match labels.first() {
            Some(labelled) => visit(Tree::Leaf(usize::from(labelled.label))),
            None => (0..problem.actions().len()).map(Tree::Leaf).try_for_each(visit),
        };
    }
    for dimension in 0..labels[0].cell.len() {
        let thresholds = problem.dimensions()[dimension].thresholds.as_slice();
        let ks = splits(labels, dimension);
        for &k in &ks[first_possible(labels, dimension, &ks, depth, nodes)..] {
            let (yes, no) = partition(labels, dimension, k);
            let Some(second) = least_nodes(&no, depth - 1, nodes - 1) else { break };
            let Some(first) = least_nodes(&yes, depth - 1, nodes - 1 - second) else { continue };
            // Up to the least rank on the true side, all predicates split the cells alike.
            let alike = yes.iter().map(|labelled| labelled.cell[dimension]).min().unwrap_or(k + 1);
            for &threshold in &thresholds[usize::from(k)..usize::from(alike)] {
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

/// Whether some predicate has one label on its true side and another on its false side.
fn one_predicate_does(labels: &[&Labelled]) -> bool {
    let Some(first) = labels.first() else { return false };
    let (own, others): (Vec<&Labelled>, Vec<&Labelled>) = labels.iter().partition(|l| l.label == first.label);
    let range = |some: &[&Labelled], dimension: usize| {
        let ranks = || some.iter().map(|labelled| labelled.cell[dimension]);
        Some((ranks().min()?, ranks().max()?))
    };
    let is_apart = |dimension| match (range(&own, dimension), range(&others, dimension)) {
        (Some(own), Some(others)) => own.1 < others.0 || others.1 < own.0,
        _ => false,
    };
    is_uniform(&others) && (0..first.cell.len()).any(is_apart)
}

fn is_uniform(labels: &[&Labelled]) -> bool {
    labels.windows(2).all(|pair| pair[0].label == pair[1].label)
}

/// The predicates of a dimension that tell some of the cells apart, from the lowest threshold on; of
/// those that split the cells alike, the one with the lowest. Predicate `k` is true where the rank is
/// greater than k.
fn splits(labels: &[&Labelled], dimension: usize) -> Vec<u16> {
    let mut ranks: Vec<u16> = labels.iter().map(|labelled| labelled.cell[dimension]).collect();
    ranks.sort_unstable();
    ranks.dedup();
    ranks.pop(); // nothing lies above the greatest
    ranks
}

fn partition<'a>(
    labels: &[&'a Labelled],
    dimension: usize,
    k: u16,
) -> (Vec<&'a Labelled>, Vec<&'a Labelled>) {
    labels.iter().copied().partition(|labelled| labelled.cell[dimension] > k)
}

/// The smallest tree that realises a behaviour, of the size that the version space has found.
pub(super) fn realised(problem: &Problem, behaviour: &[Labelled], size: Cost) -> Tree {
    let labels: Vec<&Labelled> = behaviour.iter().collect();
    let tree = first_tree(problem, &labels, problem.limits().depth(), u64::from(size));
    debug_assert_eq!(tree.size(), u64::from(size));
    tree
}

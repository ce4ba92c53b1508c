//! The smallest tree that agrees with given labels, from scratch: plain recursion over all splits.
//!
//! Slow next to the version space, which it checks in the tests; it makes the tree that is returned.

use serde::{Deserialize, Serialize};

use crate::problem::Problem;
use crate::tree::Tree;

/// A labelled cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Labelled {
    pub(super) cell: Vec<u16>,
    pub(super) label: u16,
}

/// The smallest tree within `depth` and `nodes` that agrees with all labels; among equals the first
/// in the canonical order. Without any label it is the first action.
pub(super) fn smallest_tree(problem: &Problem, labels: &[Labelled], depth: u32, nodes: u64) -> Option<Tree> {
    let all: Vec<&Labelled> = labels.iter().collect();
    let least = least_nodes(&all, depth, nodes)?;
    Some(first_tree(problem, &all, depth, least))
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
    for (dimension, k) in splits(labels) {
        let most = best.map_or(nodes, |best: u64| best - 1);
        if most < 2 {
            break;
        }
        let (yes, no) = partition(labels, dimension, k);
        let found = most.checked_sub(1).and_then(|left| {
            let first = least_nodes(&yes, depth - 1, left)?;
            Some(1 + first + least_nodes(&no, depth - 1, left - first)?)
        });
        best = found.or(best);
    }
    best
}

/// The first tree in the canonical order of exactly `nodes` predicates, which is known to exist and to
/// be the smallest.
fn first_tree(problem: &Problem, labels: &[&Labelled], depth: u32, nodes: u64) -> Tree {
    if nodes > 0 {
        for (dimension, k) in splits(labels) {
            let (yes, no) = partition(labels, dimension, k);
            let sizes = least_nodes(&yes, depth - 1, nodes - 1)
                .and_then(|first| Some((first, least_nodes(&no, depth - 1, nodes - 1 - first)?)));
            if let Some((first, second)) = sizes {
                let threshold = problem.dimensions()[dimension].thresholds.as_slice()[usize::from(k)];
                let yes = first_tree(problem, &yes, depth - 1, first);
                let no = first_tree(problem, &no, depth - 1, second);
                return Tree::node(dimension, threshold, yes, no);
            }
        }
    }
    Tree::Leaf(labels.first().map_or(0, |labelled| usize::from(labelled.label)))
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

/// The predicates that tell some of the cells apart, by dimension and threshold; of those that split
/// the cells alike, the one with the lowest threshold. A predicate `(dimension, k)` is true where the
/// rank is greater than k.
fn splits(labels: &[&Labelled]) -> Vec<(usize, u16)> {
    let dimensions = labels.first().map_or(0, |labelled| labelled.cell.len());
    let mut all = Vec::new();
    for dimension in 0..dimensions {
        let mut ranks: Vec<u16> = labels.iter().map(|labelled| labelled.cell[dimension]).collect();
        ranks.sort_unstable();
        ranks.dedup();
        ranks.pop(); // nothing lies above the greatest
        all.extend(ranks.into_iter().map(|rank| (dimension, rank)));
    }
    all
}

fn partition<'a>(
    labels: &[&'a Labelled],
    dimension: usize,
    k: u16,
) -> (Vec<&'a Labelled>, Vec<&'a Labelled>) {
    labels.iter().copied().partition(|labelled| labelled.cell[dimension] > k)
}

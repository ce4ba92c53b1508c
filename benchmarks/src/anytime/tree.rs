//! Trees in the form that the heuristics change: complete trees of the largest depth, in ranks of thresholds.
//!
//! The node `i` has its true child at `2i + 1` and its false child at `2i + 2`; behind the nodes come the leaves.
//! Nodes that decide nothing are taken out only when a tree is shown.

use anyhow::{Result, ensure};
use broccoli_core::problem::Problem;
use broccoli_core::tree::Tree;

use super::dice::Dice;

/// `x[dimension] >= t`, `t` being the threshold of this rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Predicate {
    pub(crate) dimension: usize,
    pub(crate) rank: usize,
}

/// A complete tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ranked {
    pub(crate) nodes: Vec<Predicate>,
    pub(crate) leaves: Vec<usize>,
}

/// All trees of a problem.
pub(crate) struct Space {
    /// By dimension.
    pub(crate) thresholds: Vec<Vec<f64>>,
    /// The dimensions that have thresholds.
    pub(crate) dimensions: Vec<usize>,
    pub(crate) actions: usize,
    pub(crate) nodes: usize,
}

impl Space {
    pub(crate) fn new(problem: &Problem) -> Result<Self> {
        let thresholds: Vec<Vec<f64>> =
            problem.dimensions().iter().map(|dimension| dimension.thresholds.as_slice().to_vec()).collect();
        let dimensions: Vec<usize> = (0..thresholds.len()).filter(|&d| !thresholds[d].is_empty()).collect();
        let limits = problem.limits();
        ensure!(!dimensions.is_empty() && limits.depth() > 0, "there is nothing to choose");
        ensure!(limits.depth() <= 6, "complete trees of depth {} are too large", limits.depth());
        let nodes = (1_usize << limits.depth()) - 1;
        ensure!(limits.nodes() >= nodes as u64, "a limit on nodes is not covered");
        Ok(Space { thresholds, dimensions, actions: problem.actions().len(), nodes })
    }

    /// Every dimension alike, every threshold in it alike.
    pub(crate) fn predicate(&self, dice: &mut Dice) -> Predicate {
        let dimension = self.dimensions[dice.below(self.dimensions.len())];
        Predicate { dimension, rank: dice.below(self.thresholds[dimension].len()) }
    }

    /// Every predicate and every action drawn anew.
    pub(crate) fn random(&self, dice: &mut Dice) -> Ranked {
        let nodes = (0..self.nodes).map(|_| self.predicate(dice)).collect();
        let leaves = (0..=self.nodes).map(|_| dice.below(self.actions)).collect();
        Ranked { nodes, leaves }
    }

    /// All predicates.
    pub(crate) fn predicates(&self) -> impl Iterator<Item = Predicate> {
        let ranks = |&dimension: &usize| {
            (0..self.thresholds[dimension].len()).map(move |rank| Predicate { dimension, rank })
        };
        self.dimensions.iter().flat_map(ranks)
    }

    /// Another action.
    pub(crate) fn other_action(&self, action: usize, dice: &mut Dice) -> usize {
        (action + 1 + dice.below(self.actions - 1)) % self.actions
    }

    /// The tree with one thing changed: a threshold, to a neighbour or to any, a dimension with its threshold, or an
    /// action. And the place of the change.
    pub(crate) fn mutated(&self, tree: &Ranked, dice: &mut Dice) -> (Ranked, usize) {
        let mut tree = tree.clone();
        let kind = dice.below(4);
        if kind == 3 {
            let leaf = dice.below(tree.leaves.len());
            tree.leaves[leaf] = self.other_action(tree.leaves[leaf], dice);
            return (tree, self.nodes + leaf);
        }
        let place = dice.below(self.nodes);
        let node = &mut tree.nodes[place];
        let count = self.thresholds[node.dimension].len();
        match kind {
            0 if dice.chance(0.5) => node.rank = (node.rank + 1).min(count - 1),
            0 => node.rank = node.rank.saturating_sub(1),
            1 => node.rank = dice.below(count),
            _ => *node = self.predicate(dice),
        }
        (tree, place)
    }

    /// The leaves under a node, or the leaf itself, as bits.
    pub(crate) fn under(&self, place: usize) -> u64 {
        let (mut first, mut last) = (place, place);
        while first < self.nodes {
            (first, last) = (2 * first + 1, 2 * last + 2);
        }
        (first..=last).fold(0, |bits, leaf| bits | 1 << (leaf - self.nodes))
    }

    /// Copies all that is at a place and below it into another tree.
    pub(crate) fn graft(&self, into: &mut Ranked, from: &Ranked, place: usize) {
        if place >= self.nodes {
            into.leaves[place - self.nodes] = from.leaves[place - self.nodes];
            return;
        }
        into.nodes[place] = from.nodes[place];
        self.graft(into, from, 2 * place + 1);
        self.graft(into, from, 2 * place + 2);
    }

    /// Changes the sides of a node.
    pub(crate) fn swap(&self, tree: &mut Ranked, node: usize) {
        let before = tree.clone();
        self.copy(tree, &before, (2 * node + 1, 2 * node + 2));
        self.copy(tree, &before, (2 * node + 2, 2 * node + 1));
    }

    fn copy(&self, into: &mut Ranked, from: &Ranked, (to, at): (usize, usize)) {
        if to >= self.nodes {
            into.leaves[to - self.nodes] = from.leaves[at - self.nodes];
            return;
        }
        into.nodes[to] = from.nodes[at];
        self.copy(into, from, (2 * to + 1, 2 * at + 1));
        self.copy(into, from, (2 * to + 2, 2 * at + 2));
    }

    /// The threshold of a predicate.
    pub(crate) fn threshold(&self, predicate: Predicate) -> f64 {
        self.thresholds[predicate.dimension][predicate.rank]
    }

    /// The tree without the nodes that decide nothing.
    pub(crate) fn shown(&self, tree: &Ranked) -> Tree {
        let mut known: Vec<(usize, usize)> = self.thresholds.iter().map(|list| (0, list.len())).collect();
        self.below(tree, 0, &mut known)
    }

    /// The same from a node on. Of each dimension it is known which ranks a value has: as many thresholds are at most
    /// the value, from the first to the second number.
    fn below(&self, tree: &Ranked, node: usize, known: &mut [(usize, usize)]) -> Tree {
        if node >= self.nodes {
            return Tree::Leaf(tree.leaves[node - self.nodes]);
        }
        let predicate = tree.nodes[node];
        let (low, high) = known[predicate.dimension];
        if predicate.rank < low {
            return self.below(tree, 2 * node + 1, known);
        }
        if predicate.rank >= high {
            return self.below(tree, 2 * node + 2, known);
        }
        known[predicate.dimension] = (predicate.rank + 1, high);
        let yes = self.below(tree, 2 * node + 1, known);
        known[predicate.dimension] = (low, predicate.rank);
        let no = self.below(tree, 2 * node + 2, known);
        known[predicate.dimension] = (low, high);
        match yes == no {
            true => yes,
            false => Tree::node(predicate.dimension, self.threshold(predicate), yes, no),
        }
    }
}

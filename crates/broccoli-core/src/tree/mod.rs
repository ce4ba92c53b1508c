//! The decision tree: predicate nodes and action leaves.

mod interval;
mod json;
mod text;
mod trace;

pub use interval::Interval;
pub(crate) use interval::Intervals;
pub use json::{TreeError, TreeJson};
pub use text::{Drawing, OneLine};
pub use trace::{End, Trace, TraceStep};

use std::cmp::Ordering;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::problem::{Problem, Rank};

/// A decision tree over observations. The true child is taken when `x[dimension] >= threshold`.
///
/// The order is canonical: node by node in preorder, a leaf before a predicate, leaves by action,
/// predicates by dimension and then threshold, the true child first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Tree {
    /// Apply this action, given by its index.
    Leaf(usize),
    /// Ask `x[dimension] >= threshold`.
    Node {
        /// The dimension, given by its index.
        dimension: usize,
        /// The threshold, a finite number.
        threshold: f64,
        /// The tree for observations where the predicate is true.
        yes: Box<Tree>,
        /// The tree for the others.
        no: Box<Tree>,
    },
}

impl Tree {
    /// A predicate node.
    ///
    /// ```
    /// use broccoli_core::tree::Tree;
    /// let tree = Tree::node(0, 0.5, Tree::Leaf(1), Tree::Leaf(0));
    /// assert_eq!((tree.size(), tree.depth()), (1, 1));
    /// assert_eq!((tree.action(&[0.5]), tree.action(&[0.4])), (1, 0));
    /// ```
    pub fn node(dimension: usize, threshold: f64, yes: Tree, no: Tree) -> Tree {
        Tree::Node { dimension, threshold, yes: Box::new(yes), no: Box::new(no) }
    }

    /// The action for an observation.
    pub fn action(&self, observation: &[f64]) -> usize {
        let mut tree = self;
        loop {
            match tree {
                Tree::Leaf(action) => return *action,
                Tree::Node { dimension, threshold, yes, no } => {
                    tree = if observation[*dimension] >= *threshold { yes } else { no };
                }
            }
        }
    }

    /// The action for a cell of `problem`, or `None` if a predicate on the way is not one of the
    /// problem's, so that the cell does not decide it.
    ///
    /// ```
    /// use broccoli_core::problem::{Objective, Problem, Thresholds};
    /// use broccoli_core::tree::Tree;
    /// let problem = Problem::builder()
    ///     .dimension("x", Thresholds::list([1.0, 2.0])?)
    ///     .action("a", 0.0)
    ///     .action("b", 1.0)
    ///     .initial([0.0])
    ///     .objective(Objective::reach(1))
    ///     .build()?;
    /// let tree = Tree::node(0, 2.0, Tree::Leaf(1), Tree::Leaf(0));
    /// assert_eq!([0, 1, 2].map(|rank| tree.action_in_cell(&problem, &[rank])), [Some(0), Some(0), Some(1)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn action_in_cell(&self, problem: &Problem, cell: &[Rank]) -> Option<usize> {
        let mut tree = self;
        loop {
            match tree {
                Tree::Leaf(action) => return Some(*action),
                Tree::Node { dimension, threshold, yes, no } => {
                    let thresholds = &problem.dimensions().get(*dimension)?.thresholds;
                    let position = thresholds.position(*threshold)?;
                    tree = if cell[*dimension] > position { yes } else { no };
                }
            }
        }
    }

    /// The predicates, each a dimension and a threshold, in preorder.
    ///
    /// ```
    /// use broccoli_core::tree::Tree;
    /// let tree = Tree::node(1, 0.5, Tree::node(0, 2.0, Tree::Leaf(0), Tree::Leaf(1)), Tree::Leaf(0));
    /// assert_eq!(tree.predicates(), [(1, 0.5), (0, 2.0)]);
    /// ```
    pub fn predicates(&self) -> Vec<(usize, f64)> {
        let Tree::Node { dimension, threshold, yes, no } = self else { return Vec::new() };
        let mut all = vec![(*dimension, *threshold)];
        all.extend(yes.predicates());
        all.extend(no.predicates());
        all
    }

    /// The dimensions that it asks.
    ///
    /// ```
    /// use broccoli_core::tree::Tree;
    /// let tree = Tree::node(2, 0.5, Tree::Leaf(1), Tree::node(2, 0.1, Tree::Leaf(1), Tree::Leaf(0)));
    /// assert_eq!(Vec::from_iter(tree.dimensions()), [2]);
    /// ```
    pub fn dimensions(&self) -> BTreeSet<usize> {
        self.predicates().into_iter().map(|(dimension, _)| dimension).collect()
    }

    /// The number of predicate nodes.
    pub fn size(&self) -> u64 {
        match self {
            Tree::Leaf(_) => 0,
            Tree::Node { yes, no, .. } => 1 + yes.size() + no.size(),
        }
    }

    /// The longest path, in predicate nodes.
    pub fn depth(&self) -> u32 {
        match self {
            Tree::Leaf(_) => 0,
            Tree::Node { yes, no, .. } => 1 + yes.depth().max(no.depth()),
        }
    }
}

impl Eq for Tree {}

impl PartialOrd for Tree {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Tree {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Tree::Leaf(a), Tree::Leaf(b)) => a.cmp(b),
            (Tree::Leaf(_), Tree::Node { .. }) => Ordering::Less,
            (Tree::Node { .. }, Tree::Leaf(_)) => Ordering::Greater,
            (
                Tree::Node { dimension: d1, threshold: t1, yes: y1, no: n1 },
                Tree::Node { dimension: d2, threshold: t2, yes: y2, no: n2 },
            ) => d1.cmp(d2).then_with(|| t1.total_cmp(t2)).then_with(|| y1.cmp(y2)).then_with(|| n1.cmp(n2)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_order() {
        let leaf = Tree::Leaf;
        let ascending = [
            leaf(0),
            leaf(1),
            Tree::node(0, 1.0, leaf(0), leaf(1)),
            Tree::node(0, 1.0, leaf(1), leaf(0)),
            Tree::node(0, 1.0, Tree::node(1, 0.0, leaf(0), leaf(1)), leaf(0)),
            Tree::node(0, 2.0, leaf(0), leaf(0)),
            Tree::node(1, -5.0, leaf(0), leaf(0)),
        ];
        assert!(ascending.windows(2).all(|pair| pair[0] < pair[1]));
    }
}

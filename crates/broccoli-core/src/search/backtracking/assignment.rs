//! The variables of one shape and their values, advanced like an odometer that skips.

use crate::problem::Problem;
use crate::search::flat::{FlatNode, FlatTree};
use crate::search::shape::Shape;

/// The value of a variable: which threshold of which dimension, or which action. An action is
/// counted in `index` and leaves `dimension` at 0.
#[derive(Clone, Copy, Debug, Default)]
struct Value {
    dimension: usize,
    index: usize,
}

pub(super) struct Assignment<'p> {
    problem: &'p Problem,
    pruning: bool,
    tree: FlatTree,
    /// The nodes in the order in which they take their values: first the leaves, then the
    /// predicates, each in preorder. With the leaves fixed a distance need only cover the runs of
    /// one labelling, so it is larger and skips more than with the leaves last.
    order: Vec<usize>,
    /// Per node, its parent.
    parents: Vec<Option<usize>>,
    /// Per node, the value it has.
    values: Vec<Value>,
    /// Per node, the smallest value its predicate found true since it was assigned; infinite if none.
    distances: Vec<f64>,
    /// How many variables of `order` are assigned.
    assigned: usize,
}

impl<'p> Assignment<'p> {
    /// No variable of `shape` assigned; the first [`Assignment::advance`] leads to the first tree.
    pub(super) fn new(problem: &'p Problem, shape: &Shape, pruning: bool) -> Self {
        let count = shape.children.len();
        let mut parents = vec![None; count];
        for (node, children) in shape.children.iter().enumerate() {
            for &child in children.iter().flatten() {
                parents[child] = Some(node);
            }
        }
        let (predicates, leaves): (Vec<usize>, Vec<usize>) =
            (0..count).partition(|&node| shape.children[node].is_some());
        Assignment {
            problem,
            pruning,
            tree: FlatTree::new(shape),
            order: leaves.into_iter().chain(predicates).collect(),
            parents,
            values: vec![Value::default(); count],
            distances: vec![f64::INFINITY; count],
            assigned: 0,
        }
    }

    /// The tree of the present assignment; complete after [`Assignment::advance`] said true.
    pub(super) fn tree(&self) -> &FlatTree {
        &self.tree
    }

    /// Takes over the distances of the trace that decided the present tree.
    pub(super) fn learn(&mut self, distances: &[f64]) {
        for (distance, &seen) in self.distances.iter_mut().zip(distances) {
            *distance = distance.min(seen);
        }
    }

    /// Moves on to the next tree that is to be run; false when there is none.
    pub(super) fn advance(&mut self) -> bool {
        // At the start nothing is assigned; later the last variable is the first to move on.
        let mut forward = self.assigned == 0;
        loop {
            let moved = if forward {
                let node = self.order[self.assigned];
                self.assign_from(node, Value::default())
            } else {
                let node = self.order[self.assigned - 1];
                self.assigned -= 1;
                self.assign_from(node, self.successor(node))
            };
            if moved {
                self.assigned += 1;
                forward = true;
                if self.assigned == self.order.len() {
                    if self.pruning || !self.has_equal_subtrees() {
                        return true;
                    }
                    forward = false;
                }
            } else if self.assigned == 0 {
                return false;
            } else {
                forward = false;
            }
        }
    }

    /// Where the search for the node's next value starts.
    fn successor(&self, node: usize) -> Value {
        let Value { dimension, index } = self.values[node];
        match self.tree.nodes[node] {
            FlatNode::Node { .. } if self.pruning => {
                // The first threshold above the distance; none if the predicate was never true.
                let thresholds = self.problem.dimensions()[dimension].thresholds.as_slice();
                let distance = self.distances[node];
                Value { dimension, index: thresholds.partition_point(|&t| t <= distance).max(index + 1) }
            }
            _ => Value { dimension, index: index + 1 },
        }
    }

    /// Gives the node the first allowed value from `value` on; false when there is none.
    fn assign_from(&mut self, node: usize, value: Value) -> bool {
        match self.tree.nodes[node] {
            FlatNode::Leaf { .. } => self.assign_action(node, value.index),
            FlatNode::Node { .. } => self.assign_predicate(node, value),
        }
    }

    fn assign_action(&mut self, node: usize, mut choice: usize) -> bool {
        if self.assigned_sibling_action(node) == Some(choice) {
            choice += 1; // two equal leaves: a smaller tree acts the same
        }
        if choice >= self.problem.actions().len() {
            return false;
        }
        self.values[node] = Value { dimension: 0, index: choice };
        self.tree.nodes[node] = FlatNode::Leaf { action: choice };
        true
    }

    /// The action of the node's sibling, if that is a leaf that already has its value.
    fn assigned_sibling_action(&self, node: usize) -> Option<usize> {
        let FlatNode::Node { yes, no, .. } = self.tree.nodes[self.parents[node]?] else {
            return None;
        };
        match self.tree.nodes[yes] {
            FlatNode::Leaf { action } if node == no => Some(action),
            _ => None,
        }
    }

    fn assign_predicate(&mut self, node: usize, Value { mut dimension, mut index }: Value) -> bool {
        loop {
            let Some(d) = self.problem.dimensions().get(dimension) else {
                return false;
            };
            let Some(&t) = d.thresholds.as_slice().get(index) else {
                (dimension, index) = (dimension + 1, 0);
                continue;
            };
            if !self.pruning && self.is_decided(node, dimension, t) {
                index += 1;
                continue;
            }
            self.values[node] = Value { dimension, index };
            self.distances[node] = f64::INFINITY;
            if let FlatNode::Node { dimension: at, threshold, .. } = &mut self.tree.nodes[node] {
                (*at, *threshold) = (dimension, t);
            }
            return true;
        }
    }

    /// Whether an ancestor's predicate decides `x[dimension] >= t` at this node.
    fn is_decided(&self, node: usize, dimension: usize, t: f64) -> bool {
        let mut child = node;
        while let Some(parent) = self.parents[child] {
            if let FlatNode::Node { dimension: d, threshold, yes, .. } = self.tree.nodes[parent] {
                let decided = if child == yes { t <= threshold } else { t >= threshold };
                if d == dimension && decided {
                    return true;
                }
            }
            child = parent;
        }
        false
    }

    /// Whether some node's two subtrees are equal.
    fn has_equal_subtrees(&self) -> bool {
        self.tree.nodes.iter().any(|node| match *node {
            FlatNode::Leaf { .. } => false,
            FlatNode::Node { yes, no, .. } => self.is_equal(yes, no),
        })
    }

    fn is_equal(&self, a: usize, b: usize) -> bool {
        use FlatNode::{Leaf, Node};
        match (self.tree.nodes[a], self.tree.nodes[b]) {
            (Leaf { action: a }, Leaf { action: b }) => a == b,
            (
                Node { dimension: d1, threshold: t1, yes: y1, no: n1 },
                Node { dimension: d2, threshold: t2, yes: y2, no: n2 },
            ) => d1 == d2 && t1 == t2 && self.is_equal(y1, y2) && self.is_equal(n1, n2),
            _ => false,
        }
    }
}

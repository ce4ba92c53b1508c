//! A tree laid out in one vector, for engines that change a node and run the tree again.

use super::shape::Shape;
use crate::tree::Tree;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum FlatNode {
    Leaf { action: usize },
    Node { dimension: usize, threshold: f64, yes: usize, no: usize },
}

/// Nodes in preorder; node 0 is the root.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FlatTree {
    pub(super) nodes: Vec<FlatNode>,
}

impl FlatTree {
    /// A tree of this shape; its predicates and actions are to be filled in.
    pub(super) fn new(shape: &Shape) -> Self {
        let blank = |children: &Option<[usize; 2]>| match *children {
            None => FlatNode::Leaf { action: 0 },
            Some([yes, no]) => FlatNode::Node { dimension: 0, threshold: f64::NAN, yes, no },
        };
        FlatTree { nodes: shape.children.iter().map(blank).collect() }
    }

    /// The action for an observation.
    pub(super) fn action(&self, observation: &[f64]) -> usize {
        let mut node = 0;
        loop {
            match self.nodes[node] {
                FlatNode::Leaf { action } => return action,
                FlatNode::Node { dimension, threshold, yes, no } => {
                    node = if observation[dimension] >= threshold { yes } else { no };
                }
            }
        }
    }

    pub(super) fn to_tree(&self) -> Tree {
        self.subtree(0)
    }

    fn subtree(&self, node: usize) -> Tree {
        match self.nodes[node] {
            FlatNode::Leaf { action } => Tree::Leaf(action),
            FlatNode::Node { dimension, threshold, yes, no } => {
                Tree::node(dimension, threshold, self.subtree(yes), self.subtree(no))
            }
        }
    }
}

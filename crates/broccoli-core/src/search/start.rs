//! A tree to start from: it must be one that the search could find, or its answer would be no proof.

use crate::problem::Problem;
use crate::tree::Tree;

/// Why a tree cannot be started from.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StartError {
    /// It is too deep.
    #[error("the tree has depth {depth}, and the limit is {most}")]
    Depth {
        /// The depth of the tree.
        depth: u32,
        /// The problem's limit.
        most: u32,
    },
    /// It has too many predicate nodes.
    #[error("the tree has {size} predicates, and the limit is {most}")]
    Size {
        /// The size of the tree.
        size: u64,
        /// The problem's limit.
        most: u64,
    },
    /// A threshold is not one of the problem's.
    #[error(
        "the predicate {dimension} >= {threshold} is not one of the problem's: no threshold of {dimension} has this value"
    )]
    Threshold {
        /// The name of the dimension.
        dimension: String,
        /// The threshold.
        threshold: f64,
    },
    /// There is no such dimension or action.
    #[error("{what} {index} does not exist: there are {count}, counted from 0")]
    Index {
        /// `"dimension"` or `"action"`.
        what: &'static str,
        /// The index.
        index: usize,
        /// How many there are.
        count: usize,
    },
}

/// Checks that a tree is one of those that are searched.
pub(super) fn check(problem: &Problem, tree: &Tree) -> Result<(), StartError> {
    let limits = problem.limits();
    if tree.depth() > limits.depth() {
        return Err(StartError::Depth { depth: tree.depth(), most: limits.depth() });
    }
    if tree.size() > limits.nodes() {
        return Err(StartError::Size { size: tree.size(), most: limits.nodes() });
    }
    check_predicates(problem, tree)
}

fn check_predicates(problem: &Problem, tree: &Tree) -> Result<(), StartError> {
    let index = |what, index, count| Err(StartError::Index { what, index, count });
    match tree {
        Tree::Leaf(action) if *action >= problem.actions().len() => {
            index("action", *action, problem.actions().len())
        }
        Tree::Leaf(_) => Ok(()),
        Tree::Node { dimension, threshold, yes, no } => {
            let Some(known) = problem.dimensions().get(*dimension) else {
                return index("dimension", *dimension, problem.dimensions().len());
            };
            if known.thresholds.position(*threshold).is_none() {
                let dimension = known.name.clone();
                return Err(StartError::Threshold { dimension, threshold: *threshold });
            }
            check_predicates(problem, yes)?;
            check_predicates(problem, no)
        }
    }
}

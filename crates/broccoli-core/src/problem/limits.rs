//! Limits on the tree that is searched for.

use serde::{Deserialize, Serialize};

/// The deepest tree that can be asked for; 2^16 - 1 predicates are far beyond what any search ends on.
pub const MAX_DEPTH: u32 = 16;

/// Why limits are not possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// The depth is too large.
    #[error("a depth of {0} is too large: it must be from 0 to {MAX_DEPTH}")]
    Depth(u32),
    /// More predicate nodes than the depth has room for.
    #[error("{nodes} predicate nodes do not fit in depth {depth}: at most {most} do")]
    Nodes {
        /// The limit asked for.
        nodes: u64,
        /// The depth.
        depth: u32,
        /// 2^depth - 1.
        most: u64,
    },
}

/// The largest depth and size a tree may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeLimits {
    depth: u32,
    nodes: u64,
}

impl TreeLimits {
    /// Limits of `depth` and `nodes`; without `nodes`, all that the depth allows.
    ///
    /// ```
    /// use broccoli_core::problem::TreeLimits;
    /// assert_eq!(TreeLimits::new(3, None)?.nodes(), 7);
    /// assert!(TreeLimits::new(2, Some(4)).is_err());
    /// # Ok::<(), broccoli_core::problem::LimitError>(())
    /// ```
    ///
    /// # Errors
    /// When the depth is above [`MAX_DEPTH`], or the nodes do not fit in it.
    pub fn new(depth: u32, nodes: Option<u64>) -> Result<Self, LimitError> {
        if depth > MAX_DEPTH {
            return Err(LimitError::Depth(depth));
        }
        let most = (1 << depth) - 1;
        match nodes {
            Some(nodes) if nodes > most => Err(LimitError::Nodes { nodes, depth, most }),
            nodes => Ok(TreeLimits { depth, nodes: nodes.unwrap_or(most) }),
        }
    }

    /// The same with at most so many nodes, of those that it allows.
    pub(crate) fn with_nodes(self, nodes: u64) -> Self {
        TreeLimits { nodes: nodes.min(self.nodes), ..self }
    }

    /// The longest path allowed, in predicate nodes.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// The most predicate nodes allowed.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }
}

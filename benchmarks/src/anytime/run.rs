//! What a method comes to: its improvements, and what it had after so many queries.

use broccoli_core::problem::Objective;
use broccoli_core::tree::Tree;

/// A better tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) queries: u64,
    pub(crate) value: u64,
    pub(crate) size: u64,
}

/// One run of a method.
#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    /// Every one better than the one before.
    pub(crate) points: Vec<Point>,
    /// The tree of the last one.
    pub(crate) best: Option<Tree>,
    pub(crate) queries: u64,
    pub(crate) trees: u64,
    /// Whether the clock ended it.
    pub(crate) is_late: bool,
}

impl Run {
    /// Keeps a tree if it is better, or as good and smaller; and says so.
    pub(crate) fn offer(&mut self, objective: &Objective, point: Point) -> bool {
        let is_better = self.points.last().is_none_or(|last| {
            objective.is_better(point.value, last.value)
                || point.value == last.value && point.size < last.size
        });
        if is_better {
            self.points.push(point);
        }
        is_better
    }

    /// The best tree after so many queries.
    pub(crate) fn after(&self, queries: u64) -> Option<Point> {
        self.points.iter().take_while(|point| point.queries <= queries).last().copied()
    }

    /// Whether the clock ended it before it had made so many queries.
    pub(crate) fn is_cut(&self, queries: u64) -> bool {
        self.is_late && self.queries < queries
    }
}

//! The points of a version space.

use crate::problem::Rank;
use crate::search::behaviour::bounds::{Point, Store};
use crate::search::behaviour::labels::append;

pub(super) struct Points<S: Store> {
    dimensions: usize,
    /// Their ranks, one after the other.
    cells: Vec<Rank>,
    labels: Vec<(u16, S::Corners)>,
}

impl<S: Store> Points<S> {
    pub(super) fn new(dimensions: usize) -> Self {
        Points { dimensions, cells: Vec::new(), labels: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.labels.len()
    }

    pub(super) fn push(&mut self, point: &Point<'_, S>) {
        append(&mut self.cells, point.cell);
        self.labels.push((point.label, point.corners));
    }

    /// Drops all but the first points.
    pub(super) fn truncate(&mut self, count: usize) {
        self.cells.truncate(count * self.dimensions);
        self.labels.truncate(count);
    }

    /// A point by its index.
    #[inline(always)]
    pub(super) fn point(&self, index: usize) -> Point<'_, S> {
        let (label, corners) = self.labels[index];
        // Many have no use for the cell, and then nothing is done for it.
        let cell = self.cells.get(index * self.dimensions..(index + 1) * self.dimensions).unwrap_or_default();
        Point { cell, label, corners }
    }

    /// The rank of a point in one dimension.
    #[inline(always)]
    pub(super) fn rank(&self, index: usize, dimension: usize) -> Rank {
        self.cells[index * self.dimensions + dimension]
    }
}

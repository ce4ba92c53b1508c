//! The points of a version space.

use crate::search::behaviour::bounds::{Point, Store};
use crate::search::behaviour::labels::append;

pub(super) struct Points<S: Store> {
    dimensions: usize,
    /// Their ranks, one after the other.
    cells: Vec<u16>,
    labels: Vec<u16>,
    corners: Vec<S::Corners>,
}

impl<S: Store> Points<S> {
    pub(super) fn new(dimensions: usize) -> Self {
        Points { dimensions, cells: Vec::new(), labels: Vec::new(), corners: Vec::new() }
    }

    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.labels.len()
    }

    #[inline(always)]
    pub(super) fn push(&mut self, point: &Point<'_, S>) {
        append(&mut self.cells, point.cell);
        self.labels.push(point.label);
        self.corners.push(point.corners);
    }

    /// Drops all but the first points.
    pub(super) fn truncate(&mut self, count: usize) {
        self.cells.truncate(count * self.dimensions);
        self.labels.truncate(count);
        self.corners.truncate(count);
    }

    /// A point by its index.
    #[inline(always)]
    pub(super) fn point(&self, index: usize) -> Point<'_, S> {
        let cell = &self.cells[index * self.dimensions..][..self.dimensions];
        Point { cell, label: self.labels[index], corners: self.corners[index] }
    }

    /// All points with their indices.
    #[inline(always)]
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (u32, Point<'_, S>)> {
        let points = self.cells.chunks_exact(self.dimensions).zip(&self.labels).zip(&self.corners);
        (0..self.len() as u32).zip(points.map(|((cell, &label), &corners)| Point { cell, label, corners }))
    }

    /// The rank of a point in one dimension.
    #[inline(always)]
    pub(super) fn rank(&self, index: usize, dimension: usize) -> u16 {
        self.cells[index * self.dimensions + dimension]
    }
}

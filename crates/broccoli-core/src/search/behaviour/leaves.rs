//! The leaves of a round: behaviours set aside to be gone on with, written down compactly.
//!
//! Leaves come in the order of a depth-first walk, so each shares its first labels with the one
//! before; only the others are kept.

use super::walk::Position;

/// A trace that was set aside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaf<'a> {
    pub(super) at: Position,
    /// The cell it has reached.
    pub(super) cell: &'a [u16],
    /// The initial states whose traces are complete or running, in the order of the walk.
    pub(super) started: &'a [u32],
}

#[derive(Clone, Copy, Debug)]
struct Record {
    at: Position,
    /// How many labels it shares with the leaf before.
    shared: u32,
    /// Where its other labels end; they start where those of the leaf before end.
    labels: usize,
    /// Where its initial states end.
    started: usize,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Leaves {
    dimensions: usize,
    records: Vec<Record>,
    /// The cells that the leaves have reached.
    cells: Vec<u16>,
    started: Vec<u32>,
    /// The labels that are not shared: cells, labels, and the steps at which they were given.
    label_cells: Vec<u16>,
    labels: Vec<u16>,
    labelled_at: Vec<u64>,
    /// How many labels the next leaf shares with the last one.
    shared: usize,
}

impl Leaves {
    pub(super) fn new(dimensions: usize) -> Self {
        Leaves { dimensions, ..Leaves::default() }
    }

    pub(super) fn clear(&mut self) {
        self.records.clear();
        self.cells.clear();
        self.started.clear();
        self.label_cells.clear();
        self.labels.clear();
        self.labelled_at.clear();
        self.shared = 0;
    }

    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// About how much memory they take.
    pub(super) fn bytes(&self) -> usize {
        let record = size_of::<Record>() + 2 * self.dimensions;
        let label = size_of::<u64>() + 2 * (1 + self.dimensions);
        record * self.records.len() + label * self.labels.len() + 4 * self.started.len()
    }

    /// The walk has taken back labels: only the first `count` are still those of the last leaf.
    #[inline]
    pub(super) fn share_at_most(&mut self, count: usize) {
        self.shared = self.shared.min(count);
    }

    /// Writes a leaf down. `label` gives each of its `count` labels: the cell, the label, the steps at
    /// which it was given.
    pub(super) fn push<'p>(
        &mut self,
        leaf: Leaf<'_>,
        count: usize,
        label: impl Fn(usize) -> (&'p [u16], u16, u64),
    ) {
        for index in self.shared..count {
            let (cell, label, steps) = label(index);
            self.label_cells.extend_from_slice(cell);
            self.labels.push(label);
            self.labelled_at.push(steps);
        }
        self.cells.extend_from_slice(leaf.cell);
        self.started.extend_from_slice(leaf.started);
        self.records.push(Record {
            at: leaf.at,
            shared: self.shared as u32,
            labels: self.labels.len(),
            started: self.started.len(),
        });
        self.shared = count;
    }

    /// How many labels a leaf shares with the one before.
    pub(super) fn shared(&self, leaf: usize) -> usize {
        self.records[leaf].shared as usize
    }

    /// The labels that a leaf does not share.
    pub(super) fn labels(&self, leaf: usize) -> impl Iterator<Item = (&[u16], u16, u64)> {
        let start = leaf.checked_sub(1).map_or(0, |before| self.records[before].labels);
        (start..self.records[leaf].labels).map(|index| {
            let cell = &self.label_cells[index * self.dimensions..][..self.dimensions];
            (cell, self.labels[index], self.labelled_at[index])
        })
    }

    pub(super) fn leaf(&self, leaf: usize) -> Leaf<'_> {
        let start = leaf.checked_sub(1).map_or(0, |before| self.records[before].started);
        let record = &self.records[leaf];
        Leaf {
            at: record.at,
            cell: &self.cells[leaf * self.dimensions..][..self.dimensions],
            started: &self.started[start..record.started],
        }
    }
}

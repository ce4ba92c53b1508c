//! Which cells are labelled, in the order in which they were: one look-up per step of the walk.
//!
//! A table with one entry per cell while that is small, else a hash table. Labels are taken back in the reverse order
//! in which they were given, so that a slot can be cleared: nothing that is still there was ever moved past it.

use super::version_space::Cost;
use crate::problem::Rank;

/// A cell's place in the table.
pub(super) type Slot = u32;

/// The most cells for which the table has one entry each (16 MiB); and if it is one of many tables (4 KiB).
const MOST_DENSE: usize = 1 << 22;
const MOST_DENSE_OF_MANY: usize = 1 << 10;
const EMPTY: u32 = 0;

/// The version space has not been told of a label. It is more than any number of points, so nothing is taken back.
pub(super) const NOT_TOLD: u32 = u32::MAX;

/// A label that was given to a cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given {
    pub(super) label: u16,
    /// All trees of up to so many predicates that agree with the labels before agree with this one, too; so it is no
    /// point of a version space of such trees.
    pub(super) implied_within: Option<Cost>,
    /// The points of the version space before it, or `NOT_TOLD` if that has not been told of it.
    pub(super) points: u32,
    /// The steps of its trace when it was given.
    pub(super) steps: u64,
    /// The place of its cell.
    pub(super) slot: Slot,
}

pub(super) struct Labels {
    dimensions: usize,
    /// Dense: per dimension, by how much one rank moves the slot. Empty when hashed.
    strides: Vec<usize>,
    /// By slot, the index of the label + 1; 0 for no label.
    table: Vec<u32>,
    /// The labels in order, and their cells.
    given: Vec<Given>,
    cells: Vec<Rank>,
}

impl Labels {
    /// No cell labelled; `thresholds` has the number of thresholds per dimension. One of many is kept small.
    pub(super) fn new(thresholds: &[Rank], is_one_of_many: bool) -> Self {
        let most = if is_one_of_many { MOST_DENSE_OF_MANY } else { MOST_DENSE };
        let mut strides = Vec::new();
        let cells = thresholds.iter().try_fold(1usize, |cells, &count| {
            strides.push(cells);
            cells.checked_mul(usize::try_from(count).ok()?.checked_add(1)?)
        });
        let size = cells.filter(|&cells| cells <= most).unwrap_or_else(|| {
            strides.clear();
            256
        });
        let table = vec![EMPTY; size];
        Labels { dimensions: thresholds.len(), strides, table, given: Vec::new(), cells: Vec::new() }
    }

    /// How many cells are labelled.
    pub(super) fn len(&self) -> usize {
        self.given.len()
    }

    /// A label by its index.
    pub(super) fn given(&self, index: usize) -> &Given {
        &self.given[index]
    }

    /// The same, to be changed.
    #[inline]
    pub(super) fn given_mut(&mut self, index: usize) -> &mut Given {
        &mut self.given[index]
    }

    /// Its cell.
    pub(super) fn cell(&self, index: usize) -> &[Rank] {
        &self.cells[index * self.dimensions..][..self.dimensions]
    }

    /// The cell's slot, and the index of its label if it has one.
    #[inline(always)]
    pub(super) fn find(&self, cell: &[Rank]) -> (Slot, Option<u32>) {
        if self.strides.is_empty() {
            return self.find_hashed(cell);
        }
        let at = |stride: &usize, rank: &Rank| stride * *rank as usize;
        // Few are added up faster without a loop.
        let slot: usize = match (&*self.strides, cell) {
            ([a, b], [i, j]) => at(a, i) + at(b, j),
            ([a, b, c, d], [i, j, k, l]) => at(a, i) + at(b, j) + at(c, k) + at(d, l),
            (strides, cell) => strides.iter().zip(cell).map(|(stride, rank)| at(stride, rank)).sum(),
        };
        (slot as Slot, self.table[slot].checked_sub(1))
    }

    fn find_hashed(&self, cell: &[Rank]) -> (Slot, Option<u32>) {
        let mask = self.table.len() - 1;
        let mut slot = hash(cell) & mask;
        loop {
            let Some(index) = self.table[slot].checked_sub(1) else { return (slot as Slot, None) };
            if self.cell(index as usize) == cell {
                return (slot as Slot, Some(index));
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Labels a cell that has none.
    #[inline(always)]
    pub(super) fn push(&mut self, cell: &[Rank], mut given: Given) {
        if self.strides.is_empty() && 2 * self.len() >= self.table.len() {
            self.grow();
            given.slot = self.find(cell).0;
        }
        self.given.push(given);
        self.table[given.slot as usize] = self.given.len() as u32;
        append(&mut self.cells, cell);
    }

    /// Takes back all labels but the first `count`.
    pub(super) fn cut_back(&mut self, count: usize) {
        for given in self.given.drain(count..).rev() {
            self.table[given.slot as usize] = EMPTY;
        }
        self.cells.truncate(count * self.dimensions);
    }

    /// Doubles the hash table.
    #[cold]
    fn grow(&mut self) {
        self.table = vec![EMPTY; 2 * self.table.len()];
        for index in 0..self.len() {
            let slot = self.find_hashed(self.cell(index)).0;
            self.table[slot as usize] = index as u32 + 1;
            self.given[index].slot = slot;
        }
    }
}

/// Appends a cell. Few ranks are copied faster without a call.
#[inline(always)]
pub(super) fn append(cells: &mut Vec<Rank>, cell: &[Rank]) {
    match *cell {
        [a, b] => cells.extend([a, b]),
        [a, b, c, d] => cells.extend([a, b, c, d]),
        _ => cells.extend_from_slice(cell),
    }
}

fn hash(cell: &[Rank]) -> usize {
    const FACTOR: u64 = 0x517c_c1b7_2722_0a95;
    let mix = |hash: u64, &rank: &Rank| (hash.rotate_left(5) ^ rank).wrapping_mul(FACTOR);
    (cell.iter().fold(0, mix) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Labels given and taken back like a stack, in a table that is dense and one that is hashed and has to grow.
    #[test]
    fn dense_and_hashed_tables_say_what_a_list_says() {
        for thresholds in [[40, 40, 40], [5_000, 5_000, 5_000]] {
            let mut labels = Labels::new(&thresholds, false);
            assert_eq!(labels.strides.is_empty(), thresholds[0] == 5_000);
            let mut points: Vec<[Rank; 3]> = Vec::new();
            let mut random = 7u64;
            let mut draw = |below: u64| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (random >> 33) % below
            };
            for turn in 0..40_000 {
                let cell = [0; 3].map(|_| draw(23) * thresholds[0] / 22);
                let known = points.iter().position(|other| *other == cell);
                let (slot, found) = labels.find(&cell);
                assert_eq!(found.map(|index| index as usize), known, "turn {turn}");
                if let Some(known) = known {
                    assert_eq!((labels.cell(known), labels.given(known).points), (&cell[..], known as u32));
                    continue;
                }
                let before = points.len() as u32;
                labels.push(&cell, Given { label: 0, implied_within: None, points: before, steps: 0, slot });
                points.push(cell);
                if draw(10) == 0 {
                    points.truncate(points.len() - draw(points.len().min(12) as u64 + 1) as usize);
                    labels.cut_back(points.len());
                }
                assert_eq!(labels.len(), points.len());
            }
            assert!(points.len() > 512, "{} points are too few to make it grow", points.len());
        }
    }
}

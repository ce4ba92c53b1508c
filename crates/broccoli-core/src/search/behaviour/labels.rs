//! Which cells are labelled, and as which point: one look-up per step of the walk.
//!
//! A table with one entry per cell while that is small, else a hash table over the points on the
//! path. Labels are taken back in the reverse order in which they were set, so that a slot of the
//! hash table can simply be cleared: nothing that is still there was ever moved past it.

/// A cell's place in the table.
pub(super) type Slot = usize;

/// The most cells for which the table has one entry each (16 MiB); and if it is one of many tables that are
/// to stay small together (4 KiB).
const MOST_DENSE: usize = 1 << 22;
const MOST_DENSE_OF_MANY: usize = 1 << 10;
const EMPTY: u32 = 0;

pub(super) struct Labels {
    /// Dense: per dimension, by how much one rank moves the slot. Empty when hashed.
    strides: Vec<usize>,
    /// Index of the point + 1; 0 for no label.
    slots: Vec<u32>,
    used: usize,
}

impl Labels {
    /// No cell labelled; `thresholds` has the number of thresholds per dimension. One of many is kept small.
    pub(super) fn new(thresholds: &[u16], is_one_of_many: bool) -> Self {
        let most = if is_one_of_many { MOST_DENSE_OF_MANY } else { MOST_DENSE };
        let mut cells = Some(1usize);
        let mut strides = Vec::new();
        for &count in thresholds {
            strides.push(cells.unwrap_or(0));
            cells = cells.and_then(|cells| cells.checked_mul(usize::from(count) + 1));
        }
        match cells {
            Some(cells) if cells <= most => Labels { strides, slots: vec![EMPTY; cells], used: 0 },
            _ => Labels { strides: Vec::new(), slots: vec![EMPTY; 256], used: 0 },
        }
    }

    /// The cell's slot, and the index of its point if it has one. `point` gives the cell of a point by its
    /// index; it is asked only when the table is hashed.
    #[inline(always)]
    pub(super) fn find<'p>(&self, cell: &[u16], point: impl Fn(usize) -> &'p [u16]) -> (Slot, Option<u32>) {
        if self.strides.is_empty() {
            return self.find_hashed(cell, point);
        }
        let slot = self.strides.iter().zip(cell).map(|(stride, &rank)| stride * usize::from(rank)).sum();
        (slot, self.slots[slot].checked_sub(1))
    }

    fn find_hashed<'p>(&self, cell: &[u16], point: impl Fn(usize) -> &'p [u16]) -> (Slot, Option<u32>) {
        let mut slot = hash(cell) as usize & (self.slots.len() - 1);
        loop {
            let Some(index) = self.slots[slot].checked_sub(1) else { return (slot, None) };
            if point(index as usize) == cell {
                return (slot, Some(index));
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    /// Labels a cell that has none. `index` is that of its point.
    pub(super) fn set(&mut self, slot: Slot, index: usize) {
        self.slots[slot] = index as u32 + 1;
        self.used += 1;
    }

    /// Takes back a label; always the last one set.
    pub(super) fn clear(&mut self, slot: Slot) {
        self.slots[slot] = EMPTY;
        self.used -= 1;
    }

    /// Whether the hash table is getting full and [`Labels::grow`] should be called before `set`.
    pub(super) fn is_full(&self) -> bool {
        self.strides.is_empty() && 2 * self.used >= self.slots.len()
    }

    /// Doubles the hash table. `points` are all labelled cells in the order in which they were set;
    /// their new slots are returned in this order.
    pub(super) fn grow<'p>(&mut self, points: impl Iterator<Item = &'p [u16]>) -> Vec<Slot> {
        self.slots = vec![EMPTY; 2 * self.slots.len()];
        let mask = self.slots.len() - 1;
        let place = |(index, cell): (usize, &[u16])| {
            let mut slot = hash(cell) as usize & mask;
            while self.slots[slot] != EMPTY {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = index as u32 + 1;
            slot
        };
        points.enumerate().map(place).collect()
    }
}

fn hash(cell: &[u16]) -> u64 {
    let mix =
        |hash: u64, &rank: &u16| (hash.rotate_left(5) ^ u64::from(rank)).wrapping_mul(0x517c_c1b7_2722_0a95);
    let hash = cell.iter().fold(0, mix);
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Labels given and taken back like a stack, in a table small enough to be dense and in one that
    /// must be hashed and has to grow, against a list.
    #[test]
    fn dense_and_hashed_tables_say_what_a_list_says() {
        for thresholds in [[40, 40, 40], [5_000, 5_000, 5_000]] {
            let mut labels = Labels::new(&thresholds, false);
            assert_eq!(labels.strides.is_empty(), thresholds[0] == 5_000);
            let mut points: Vec<[u16; 3]> = Vec::new();
            let mut slots: Vec<Slot> = Vec::new();
            let mut random = 7u64;
            let mut draw = |below: u64| {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (random >> 33) % below
            };
            for turn in 0..40_000 {
                let cell = [0; 3].map(|_| (draw(23) * u64::from(thresholds[0]) / 22) as u16);
                let known = points.iter().position(|other| *other == cell);
                let (slot, found) = labels.find(&cell, |index| &points[index][..]);
                assert_eq!(found.map(|index| index as usize), known, "turn {turn}");
                if found.is_some() {
                    continue;
                }
                let mut slot = slot;
                if labels.is_full() {
                    slots = labels.grow(points.iter().map(|cell| &cell[..]));
                    slot = labels.find(&cell, |index| &points[index][..]).0;
                }
                labels.set(slot, points.len());
                slots.push(slot);
                points.push(cell);
                if draw(10) == 0 {
                    let keep = points.len() - draw(points.len().min(12) as u64 + 1) as usize;
                    points.truncate(keep);
                    for slot in slots.drain(keep..).rev() {
                        labels.clear(slot);
                    }
                }
            }
            assert!(points.len() > 512, "{} points are too few to make it grow", points.len());
        }
    }
}

//! Which cells are labelled, and with what: one look-up per step of the walk.
//!
//! A table with one entry per cell while that is small, else a hash table over the points on the
//! path. Labels are taken back in the reverse order in which they were set, so that a slot of the
//! hash table can simply be cleared: nothing that is still there was ever moved past it.

/// A cell's place in the table.
pub(super) type Slot = usize;

/// The most cells for which the table has one entry each (8 MiB).
const MOST_DENSE: usize = 1 << 22;
const EMPTY: u32 = 0;

pub(super) struct Labels {
    /// Dense: per dimension, by how much one rank moves the slot. Empty when hashed.
    strides: Vec<usize>,
    /// 0 for no label. Dense: label + 1. Hashed: index of the point + 1.
    slots: Vec<u32>,
    used: usize,
}

impl Labels {
    /// No cell labelled; `thresholds` has the number of thresholds per dimension.
    pub(super) fn new(thresholds: &[u16]) -> Self {
        let mut cells = Some(1usize);
        let mut strides = Vec::new();
        for &count in thresholds {
            strides.push(cells.unwrap_or(0));
            cells = cells.and_then(|cells| cells.checked_mul(usize::from(count) + 1));
        }
        match cells {
            Some(cells) if cells <= MOST_DENSE => Labels { strides, slots: vec![EMPTY; cells], used: 0 },
            _ => Labels { strides: Vec::new(), slots: vec![EMPTY; 1024], used: 0 },
        }
    }

    /// The cell's slot, and its label if it has one. `point` gives the cell and label of a point by
    /// its index; it is asked only when the table is hashed.
    #[inline]
    pub(super) fn find<'p>(
        &self,
        cell: &[u16],
        point: impl Fn(usize) -> (&'p [u16], u16),
    ) -> (Slot, Option<u16>) {
        if !self.strides.is_empty() {
            let slot = self.strides.iter().zip(cell).map(|(stride, &rank)| stride * usize::from(rank)).sum();
            let found = self.slots[slot];
            return (slot, found.checked_sub(1).map(|label| label as u16));
        }
        let mut slot = hash(cell) as usize & (self.slots.len() - 1);
        loop {
            let Some(index) = self.slots[slot].checked_sub(1) else { return (slot, None) };
            let (known, label) = point(index as usize);
            if known == cell {
                return (slot, Some(label));
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    /// Labels a cell that has none. `index` is that of its point.
    pub(super) fn set(&mut self, slot: Slot, label: u16, index: usize) {
        let value = if self.strides.is_empty() { index as u32 } else { u32::from(label) };
        self.slots[slot] = value + 1;
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

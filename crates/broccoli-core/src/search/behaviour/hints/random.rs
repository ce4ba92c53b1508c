//! Numbers drawn from a seed that is written down with the search.

use serde::{Deserialize, Serialize};

/// The generator SplitMix64.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Random(pub(super) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `count`, which is at least 1.
    pub(super) fn below(&mut self, count: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(count.max(1))) >> 64) as u64
    }

    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end as u64 + 1) as usize);
        }
    }
}

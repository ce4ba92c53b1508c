//! A cache of transitions, as far as counting needs one: it knows what was asked before, and not the answers.

use anyhow::Result;
use broccoli_core::problem::Instance;

use super::dice::mixed;

/// Transitions asked for: hashes of a state and an action. Among 10^8 of them two agree by chance with a probability
/// of some 10^-4.
pub(super) struct Asked {
    /// A table with open places, which are 0; not more than half of them are taken.
    hashes: Vec<u64>,
    count: usize,
    state: Vec<u8>,
}

impl Asked {
    pub(super) fn new() -> Self {
        Asked { hashes: vec![0; 1 << 10], count: 0, state: Vec::new() }
    }

    /// Whether this action is asked for in the present state for the first time.
    pub(super) fn is_new(&mut self, instance: &mut Instance<'_>, action: usize) -> Result<bool> {
        self.state.clear();
        instance.save(&mut self.state)?;
        let mut hash = mixed(action as u64 + 1);
        for word in self.state.chunks(8) {
            let mut bytes = [0; 8];
            bytes[..word.len()].copy_from_slice(word);
            hash = mixed(hash.rotate_left(23) ^ u64::from_le_bytes(bytes));
        }
        let is_new = self.insert(hash.max(1));
        if 2 * self.count > self.hashes.len() {
            let before = std::mem::replace(&mut self.hashes, vec![0; 4 * self.count.next_power_of_two()]);
            self.count = 0;
            for hash in before.into_iter().filter(|&hash| hash != 0) {
                self.insert(hash);
            }
        }
        Ok(is_new)
    }

    fn insert(&mut self, hash: u64) -> bool {
        let mask = self.hashes.len() - 1;
        let mut place = hash as usize & mask;
        while self.hashes[place] != 0 {
            if self.hashes[place] == hash {
                return false;
            }
            place = (place + 1) & mask;
        }
        self.hashes[place] = hash;
        self.count += 1;
        true
    }
}

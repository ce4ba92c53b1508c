//! A cache of transitions, as far as counting needs one: it knows what was asked before, and not the answers.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use anyhow::Result;
use broccoli_core::problem::Instance;

use super::dice::mixed;

/// Transitions asked for: hashes of a state and an action. Of 10^8 of them some 10^-4 pairs agree by chance.
#[derive(Default)]
pub(super) struct Asked {
    hashes: HashSet<u64, BuildHasherDefault<Mixed>>,
    state: Vec<u8>,
}

impl Asked {
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
        Ok(self.hashes.insert(hash))
    }
}

/// What is hashed is mixed already.
#[derive(Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = mixed(self.0 ^ u64::from(byte));
        }
    }
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

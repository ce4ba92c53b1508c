//! The bytes that stand for a place: the node, or else the initial state; the actions since; and the system's own state.

use broccoli_core::problem::InitialState;

use crate::trie::Node;

/// Reads a place that was saved.
pub(super) struct Place<'a>(pub(super) &'a [u8]);

impl Place<'_> {
    pub(super) fn read(&mut self) -> Option<(Option<Node>, Option<InitialState>, Vec<u16>)> {
        let number = self.number()? as usize;
        let node = number.checked_sub(1).and_then(Node::new);
        let initial = if number == 0 {
            let count = self.number()? as usize;
            let (bytes, rest) = self.0.split_at_checked(count.checked_mul(8)?)?;
            self.0 = rest;
            let values = bytes.as_chunks::<8>().0.iter().map(|word| f64::from_le_bytes(*word));
            Some(InitialState::new(values.collect::<Vec<_>>()))
        } else {
            None
        };
        let count = self.number()? as usize;
        let (bytes, rest) = self.0.split_at_checked(count.checked_mul(2)?)?;
        self.0 = rest;
        let tail = bytes.as_chunks::<2>().0.iter().map(|word| u16::from_le_bytes(*word)).collect();
        Some((node, initial, tail))
    }

    fn number(&mut self) -> Option<u32> {
        let (word, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*word))
    }
}

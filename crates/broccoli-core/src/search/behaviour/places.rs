//! Places to come back to: the saved states of a system.

use crate::problem::{ComeBack, Instance, RunError};

/// Saved states, one after the other. Where there is none, or an empty one, the way there is to act as the labels
/// say.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    count: usize,
    /// How long each state is; or, if they are not all equally long, where they end.
    length: usize,
    ends: Vec<usize>,
    states: Vec<u8>,
}

impl Places {
    /// So many places without a saved state.
    pub(super) fn unsaved(count: usize) -> Self {
        Places { count, ..Places::default() }
    }

    /// Adds all places of others behind these.
    pub(super) fn append(&mut self, others: &Places) {
        let is_alike = self.count == 0 || self.ends.is_empty() && self.length == others.length;
        if is_alike && others.ends.is_empty() {
            self.length = others.length;
            self.count += others.count;
            self.states.extend_from_slice(&others.states);
            return;
        }
        for index in 0..others.count {
            self.copy(others, index as u32);
        }
    }

    /// What they take in memory.
    pub(super) fn bytes(&self) -> usize {
        size_of::<usize>() * self.ends.len() + self.states.len()
    }

    pub(super) fn clear(&mut self) {
        self.keep_first(0);
    }

    /// Adds the present place of a system.
    #[inline]
    pub(super) fn save(&mut self, instance: &mut Instance<'_>) -> Result<(), RunError> {
        match instance.come_back() {
            ComeBack::Replay => {}
            ComeBack::Snapshot | ComeBack::Clone => instance.save(&mut self.states)?,
        }
        self.end();
        Ok(())
    }

    /// Adds a place that has no saved state.
    pub(super) fn push_unsaved(&mut self) {
        self.push(&[]);
    }

    /// Adds a place of others.
    #[inline]
    pub(super) fn copy(&mut self, others: &Places, index: u32) {
        self.push(others.state(index));
    }

    /// Adds a place with this state.
    #[inline]
    pub(super) fn push(&mut self, state: &[u8]) {
        self.states.extend_from_slice(state);
        self.end();
    }

    /// What was written behind the states is that of one more place.
    #[inline]
    fn end(&mut self) {
        if self.count == 0 {
            self.length = self.states.len();
        }
        self.count += 1;
        if !self.ends.is_empty() || self.states.len() != self.count * self.length {
            self.push_end();
        }
    }

    #[cold]
    fn push_end(&mut self) {
        if self.ends.is_empty() {
            self.ends.extend((1..self.count).map(|count| count * self.length));
        }
        self.ends.push(self.states.len());
    }

    /// The saved state of a place; empty if there is none.
    #[inline]
    pub(super) fn state(&self, index: u32) -> &[u8] {
        let index = index as usize;
        &self.states[self.end_of_first(index)..self.end_of_first(index + 1)]
    }

    /// Where the states of the first places end.
    #[inline]
    fn end_of_first(&self, count: usize) -> usize {
        match count.checked_sub(1) {
            Some(last) if !self.ends.is_empty() => self.ends[last],
            _ => count * self.length,
        }
    }

    /// Drops all but the first places.
    #[inline]
    pub(super) fn keep_first(&mut self, keep: u32) {
        let keep = keep as usize;
        if keep < self.count {
            self.states.truncate(self.end_of_first(keep));
            self.ends.truncate(keep);
            self.count = keep;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// States of any length, none included, are found where they were put, and dropped with their places.
    #[test]
    fn states_lie_one_behind_the_other() {
        for given in [[3, 0, 0, 5], [2, 2, 2, 3], [0, 0, 1, 0], [4, 4, 4, 4], [0; 4]] {
            let mut places = Places::default();
            for (number, length) in (0..).zip(given) {
                places.push(&vec![number; length]);
            }
            let mut all = places.clone();
            all.append(&places);
            let mut copies = Places::default();
            for index in (0..8).rev() {
                copies.copy(&all, index);
            }
            let states =
                |places: &Places, count| (0..count).map(|i| places.state(i).to_vec()).collect::<Vec<_>>();
            let expected: Vec<Vec<u8>> = (0..8).map(|i| vec![i % 4; given[usize::from(i % 4)]]).collect();
            assert_eq!(states(&all, 8), expected);
            assert_eq!(states(&copies, 8), expected.iter().rev().cloned().collect::<Vec<_>>());
            assert_eq!(all.ends.is_empty(), given.iter().all(|&length| length == given[0]));
            all.keep_first(5);
            assert_eq!((all.count, states(&all, 5)), (5, expected[..5].to_vec()));
            all.copy(&copies, 0);
            assert_eq!(all.state(5), expected[7]);
            all.clear();
            assert!(all.count == 0 && all.ends.is_empty() && all.states.is_empty());
            all.copy(&places, 3);
            assert_eq!(all.state(0), expected[3]);
        }
    }
}

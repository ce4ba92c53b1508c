//! Places to come back to: the saved states of a system.

use crate::problem::{ComeBack, Instance, RunError};

/// Saved states, one behind the other. Where one is empty or not there, the way is to act as the labels say.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    ends: Vec<usize>,
    states: Vec<u8>,
}

impl Places {
    /// So many places without a saved state.
    pub(super) fn unsaved(count: usize) -> Self {
        Places { ends: vec![0; count], states: Vec::new() }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// What they take in memory.
    pub(super) fn bytes(&self) -> usize {
        size_of::<usize>() * self.ends.len() + self.states.len()
    }

    /// Adds the present place of a system.
    #[inline]
    pub(super) fn save(&mut self, instance: &mut Instance<'_>) -> Result<(), RunError> {
        if instance.come_back() != ComeBack::Replay {
            instance.save(&mut self.states)?;
        }
        self.ends.push(self.states.len());
        Ok(())
    }

    /// Adds a place with this state.
    #[inline]
    pub(super) fn push(&mut self, state: &[u8]) {
        self.states.extend_from_slice(state);
        self.ends.push(self.states.len());
    }

    /// Adds all places of others behind these, the first of them as the place with this index.
    pub(super) fn append(&mut self, others: &Places, index: usize) {
        let before = self.states.len();
        self.ends.resize(index, before);
        self.ends.extend(others.ends.iter().map(|end| before + end));
        self.states.extend_from_slice(&others.states);
    }

    /// The saved state of a place; empty if there is none.
    #[inline]
    pub(super) fn state(&self, index: u32) -> &[u8] {
        let index = index as usize;
        let Some(&end) = self.ends.get(index) else { return &[] };
        &self.states[index.checked_sub(1).map_or(0, |before| self.ends[before])..end]
    }

    /// Drops all but the first places.
    #[inline]
    pub(super) fn keep_first(&mut self, count: usize) {
        if count < self.ends.len() {
            self.ends.truncate(count);
            self.states.truncate(self.ends.last().copied().unwrap_or(0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// States of any length, none included, are found where they were put, and dropped with their places.
    #[test]
    fn states_lie_one_behind_the_other() {
        let mut places = Places::default();
        [&[1, 2, 3][..], &[], &[], &[4; 5], &[6]].iter().for_each(|state| places.push(state));
        let mut all = Places::default();
        all.push(&[7]);
        all.append(&places, 2);
        all.keep_first(5);
        all.push(&[8, 9]);
        let found: Vec<&[u8]> = (0..7).map(|index| all.state(index)).collect();
        assert_eq!(found, [&[7][..], &[], &[1, 2, 3], &[], &[], &[8, 9], &[]]);
        assert_eq!((all.len(), all.states.len()), (6, 6));
    }
}

//! Keeps the memory of a search within its limit.

use std::sync::Arc;

use super::Rounds;
use crate::search::behaviour::bounds::Store;
use crate::search::behaviour::schedule::Round;
use crate::search::behaviour::state::State;
use crate::search::behaviour::tuning::HintTuning;

/// First traces may take one part in so many of the room for remembered traces.
const FIRST_PART: usize = 4;

impl<'s, 'p: 's, 'o: 'p, S: Store> Rounds<'s, '_, 'p, 'o, S> {
    /// Keeps memory within its limit: when there is too little, nothing more is set aside.
    pub(super) fn look_at_memory(&mut self) {
        let (now, next) = self.state.left.bytes();
        let ladder = self.state.ladder.bytes();
        // Leaves are copied when a round ends, and twice when they are written down.
        let copies = if self.progress.has_keeper() { 3 } else { 2 };
        let is_over = self.options.memory.is_some_and(|most| copies * (now + next) + ladder > most);
        if (is_over || next > self.state.tuning.most_leaf_bytes) && self.state.round != Round::LAST {
            let all = self.state.left.take_all();
            if !all.is_empty() {
                self.begin_round(Round::LAST, all);
            }
        }
    }

    /// How much memory remembered traces may take: an eighth, if memory is limited.
    pub(super) fn recall_bytes(&self) -> usize {
        let share = self.options.memory.map_or(usize::MAX, |memory| memory / 8);
        share.min(self.state.tuning.most_recall_bytes)
    }

    /// Whether the walk writes its first traces down: they are of use to hints only, and there are many.
    pub(super) fn writes_first(&self) -> bool {
        let State { hints, tuning, .. } = &self.state;
        let has_hints = hints.is_some() && tuning.hints != HintTuning::OFF;
        has_hints && self.state.trie.bytes() < self.recall_bytes() / FIRST_PART
    }

    /// Forgets all remembered traces if there is no room for more.
    pub(super) fn look_at_recall(&mut self) {
        if self.state.trie.bytes() >= self.recall_bytes() {
            Arc::make_mut(&mut self.state.trie).forget();
        }
    }
}

//! Keeps the memory of a search within its limit.

use super::Rounds;
use crate::search::behaviour::Options;
use crate::search::behaviour::bounds::Store;
use crate::search::behaviour::schedule::Round;

impl Options {
    fn cache_bytes(&self) -> usize {
        self.cache.as_ref().map_or(0, |cache| cache.lock().bytes())
    }

    /// Whether the cache alone takes more memory than there may be.
    pub(super) fn is_cache_too_large(&self) -> bool {
        self.memory.is_some_and(|most| self.cache_bytes() > most)
    }
}

impl<'s, 'p: 's, 'o: 'p, S: Store> Rounds<'s, '_, 'p, 'o, S> {
    /// Keeps memory within its limit: shrinks the cache first, then gives up the scout if that takes more than the
    /// search, then sets nothing more aside.
    pub(super) fn look_at_memory(&mut self) {
        let (now, next) = self.state.left.bytes();
        let scout = self.state.scout.as_ref().map_or((0, 0), |(_, left)| left.bytes());
        let cache = self.options.cache_bytes();
        // Leaves are copied when a round ends, and twice when they are written down.
        let copies = if self.progress.has_keeper() { 3 } else { 2 };
        let is_over =
            self.options.memory.is_some_and(|most| copies * (now + next + scout.0 + scout.1) + cache > most);
        if is_over && cache > 0 {
            self.shrink_cache();
        } else if is_over && scout.0 + scout.1 > now + next {
            self.state.scout = None;
        } else if (is_over || next > self.state.tuning.most_leaf_bytes) && self.state.round != Round::LAST {
            let all = self.state.left.take_all();
            if !all.is_empty() {
                self.begin_round(Round::LAST, all);
            }
        }
    }

    /// Gives back half of the cache's memory, or more. All that it knew is forgotten; and places were known by its nodes.
    pub(super) fn shrink_cache(&mut self) {
        if let Some(cache) = &self.options.cache {
            cache.lock().shrink();
            self.state.forget_places();
        }
    }
}

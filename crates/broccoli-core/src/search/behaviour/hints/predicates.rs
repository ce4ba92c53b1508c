//! The predicates of which one is drawn at random.
//!
//! Of a dimension with a list of thresholds these are all of them. Where all numbers are thresholds they are those at
//! the values that remembered traces have come to: others tell nothing apart.

use super::random::Random;
use crate::problem::{Problem, Rank, value_of_rank};
use crate::search::behaviour::recall::Trie;

/// Of so many remembered places the values are taken.
const MOST_PLACES: usize = 256;

pub(super) struct Predicates {
    /// Per dimension, the number of thresholds.
    counts: Vec<Rank>,
    /// Per dimension without a list of thresholds, the positions of those at values that were seen, in ascending order.
    seen: Vec<Option<Vec<Rank>>>,
}

impl Predicates {
    pub(super) fn new(problem: &Problem) -> Self {
        let thresholds = || problem.dimensions().iter().map(|dimension| &dimension.thresholds);
        let seen = thresholds().map(|thresholds| thresholds.is_all().then(Vec::new)).collect();
        Predicates { counts: thresholds().map(|thresholds| thresholds.len()).collect(), seen }
    }

    /// Of lists of so many thresholds.
    #[cfg(test)]
    pub(super) fn of_lists(counts: &[Rank]) -> Self {
        Predicates { counts: counts.to_vec(), seen: vec![None; counts.len()] }
    }

    /// The values that these traces have come to count from now on.
    pub(super) fn see(&mut self, trie: &Trie) {
        for (dimension, seen) in self.seen.iter_mut().enumerate() {
            let Some(seen) = seen else { continue };
            seen.clear();
            // The least value of all tells nothing apart.
            seen.extend(trie.some_cells(MOST_PLACES).filter_map(|cell| cell[dimension].checked_sub(1)));
            seen.sort_unstable();
            seen.dedup();
        }
    }

    /// Per dimension, the number of thresholds.
    pub(super) fn counts(&self) -> &[Rank] {
        &self.counts
    }

    /// How many there are to draw from in a dimension.
    fn count(&self, dimension: usize) -> u64 {
        self.seen[dimension].as_ref().map_or(self.counts[dimension], |seen| seen.len() as u64)
    }

    pub(super) fn is_empty(&self) -> bool {
        (0..self.counts.len()).all(|dimension| self.count(dimension) == 0)
    }

    /// Any predicate: a dimension that has one, and then a threshold.
    pub(super) fn any(&self, random: &mut Random) -> (u16, Rank) {
        let some = || (0..self.counts.len()).filter(|&dimension| self.count(dimension) > 0);
        let chosen = random.below(some().count() as u64) as usize;
        let dimension = some().nth(chosen).unwrap_or(0) as u16;
        (dimension, self.of(dimension, random).unwrap_or(0))
    }

    /// Any of a dimension, if it has one.
    pub(super) fn of(&self, dimension: u16, random: &mut Random) -> Option<Rank> {
        let chosen = random.below(self.count(dimension.into()));
        match &self.seen[usize::from(dimension)] {
            Some(seen) => seen.get(chosen as usize).copied(),
            None => (chosen < self.counts[usize::from(dimension)]).then_some(chosen),
        }
    }

    /// The next one of a dimension, above or below; or the same one, if there is none.
    pub(super) fn beside(&self, (dimension, rank): (u16, Rank), is_above: bool) -> Rank {
        let next = match (&self.seen[usize::from(dimension)], is_above) {
            (None, true) => Some(rank + 1).filter(|&next| next < self.counts[usize::from(dimension)]),
            (None, false) => rank.checked_sub(1),
            (Some(seen), true) => seen.get(seen.partition_point(|&other| other <= rank)).copied(),
            (Some(seen), false) => {
                seen.partition_point(|&other| other < rank).checked_sub(1).map(|last| seen[last])
            }
        };
        next.unwrap_or(rank)
    }

    /// One of those from `low` to below `high`, which there are.
    pub(super) fn between(&self, dimension: u16, (low, high): (Rank, Rank), random: &mut Random) -> Rank {
        let chosen = low + random.below(high - low);
        if self.seen[usize::from(dimension)].is_none() {
            return chosen;
        }
        // Where nothing lies beyond, the nearest one; else one in the middle of the values.
        match (low, high) {
            (0, _) => high - 1,
            (_, high) if high == self.counts[usize::from(dimension)] => low,
            _ => {
                let middle = value_of_rank(low + 1) / 2.0 + value_of_rank(high) / 2.0;
                let all = crate::problem::Thresholds::all();
                all.position(middle).map_or(low, |middle| middle.clamp(low, high - 1))
            }
        }
    }
}

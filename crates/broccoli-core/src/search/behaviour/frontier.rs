//! All that is left to do in a search: behaviours set aside, and the places of their traces.

use std::sync::Arc;

use super::driver::Places;
use super::leaves::Leaves;
use crate::problem::{Objective, Problem};

/// Leaves, each with the place that its trace has reached. Shared by the workers of a round, who only
/// read it.
#[derive(Clone, Debug)]
pub(super) struct Frontier {
    pub(super) leaves: Arc<Leaves>,
    pub(super) places: Arc<Places>,
}

impl Frontier {
    /// Nothing is left to do.
    pub(super) fn new(dimensions: usize) -> Self {
        Frontier { leaves: Arc::new(Leaves::new(dimensions)), places: Arc::default() }
    }

    /// Everything is left to do.
    pub(super) fn root(dimensions: usize, objective: Objective) -> Self {
        Frontier::from_leaves(Leaves::root(dimensions, objective))
    }

    /// Leaves of which only the labels are known.
    pub(super) fn from_leaves(leaves: Leaves) -> Self {
        let places = Places::unsaved(leaves.len());
        Frontier { leaves: Arc::new(leaves), places: Arc::new(places) }
    }

    /// Leaves of which only the labels are known, if they can be of this problem.
    pub(super) fn checked(leaves: Leaves, problem: &Problem) -> Option<Self> {
        leaves.are_of(problem).then(|| Frontier::from_leaves(leaves))
    }

    /// Several one after the other.
    pub(super) fn join(dimensions: usize, mut parts: Vec<Frontier>) -> Self {
        parts.retain(|part| !part.is_empty());
        let mut parts = parts.into_iter();
        let mut all = parts.next().unwrap_or_else(|| Frontier::new(dimensions));
        for part in parts {
            Arc::make_mut(&mut all.leaves).append(&part.leaves);
            Arc::make_mut(&mut all.places).append(&part.places);
        }
        all
    }

    /// Some of the leaves.
    pub(super) fn part(&self, agenda: &[u32]) -> Self {
        let mut places = Places::default();
        for &leaf in agenda {
            places.copy(&self.places, leaf);
        }
        Frontier { leaves: Arc::new(self.leaves.part(agenda)), places: Arc::new(places) }
    }

    pub(super) fn len(&self) -> usize {
        self.leaves.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    /// What it takes in memory.
    pub(super) fn bytes(&self) -> usize {
        self.leaves.bytes() + self.places.bytes()
    }

    /// All leaves in their order.
    pub(super) fn in_order(&self) -> Vec<u32> {
        (0..self.len() as u32).collect()
    }

    /// The leaves whose next trace is still to be started, those first whose traces were the longest.
    pub(super) fn waiting_best_first(&self) -> Vec<u32> {
        let mut agenda = self.in_order();
        agenda.retain(|&leaf| self.leaves.leaf(leaf as usize).is_waiting());
        agenda.sort_by_cached_key(|&leaf| std::cmp::Reverse(self.leaves.leaf(leaf as usize).at.worst));
        agenda
    }

    /// All leaves, those that promise most first, in bands.
    pub(super) fn promising_first(&self) -> Vec<u32> {
        in_bands(self.leaves.promises())
    }
}

/// Behind what share of the leaves the bands end, and all others come in their order.
const IN_BANDS: usize = 4;

/// The numbers of all keys in bands of growing size: first the greatest key, then the next ones, and in the end
/// all that do not promise much. Within a band they are in order: neighbours have labels in common, which need
/// not be set up again.
fn in_bands(keys: impl Iterator<Item = i64>) -> Vec<u32> {
    // The greatest key is the least here. A key and its number are one word: there can be many.
    let word = |(key, number): (i64, u32)| {
        let key = key.clamp(i64::from(i32::MIN), i64::from(i32::MAX));
        ((i64::from(i32::MAX) - key) as u64) << 32 | u64::from(number)
    };
    let mut words: Vec<u64> = keys.zip(0..).map(word).collect();
    let (mut starts, mut end, mut band) = (Vec::new(), 0, 1);
    while end < words.len() {
        starts.push(end);
        end += band;
        band = if end > words.len() / IN_BANDS { words.len() } else { band + band / 2 + 1 };
    }
    // The last band is the largest: what is before it is a part of what there was, each time.
    let mut band_of = vec![0u8; words.len()];
    let mut rest = &mut words[..];
    for (band, &start) in starts.iter().enumerate().rev() {
        rest.select_nth_unstable(start);
        let (before, own) = rest.split_at_mut(start);
        own.iter().for_each(|&word| band_of[word as u32 as usize] = band as u8);
        rest = before;
    }
    let mut in_bands = vec![0; band_of.len()];
    for (number, band) in (0..).zip(band_of) {
        let start = &mut starts[usize::from(band)];
        in_bands[*start] = number;
        *start += 1;
    }
    in_bands
}

#[cfg(test)]
mod tests {
    use super::in_bands;

    #[test]
    fn bands_are_those_of_the_sorted_keys() {
        let keys: Vec<i64> = (0..500).map(|i| i * i % 37 - 20).collect();
        let mut sorted: Vec<u32> = (0..500).collect();
        sorted.sort_by_key(|&number| -keys[number as usize]);
        let (mut start, mut band) = (0, 1);
        while start < sorted.len() {
            let end = sorted.len().min(start + band);
            sorted[start..end].sort_unstable();
            (start, band) = (end, if end > 125 { 500 } else { band + band / 2 + 1 });
        }
        assert_eq!(in_bands(keys.into_iter()), sorted);
        assert!(in_bands(std::iter::empty()).is_empty());
    }
}

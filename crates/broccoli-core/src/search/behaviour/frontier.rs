//! All that is left to do in a search: behaviours set aside, and the places of their traces.

use std::ops::Range;
use std::sync::Arc;

use super::leaves::Leaves;
use super::places::Places;
use super::tuning::Tuning;
use crate::problem::Problem;

/// Numbers of leaves, in the order in which they are to be gone on with.
#[derive(Clone, Debug, Default)]
pub(super) struct Agenda {
    leaves: Arc<Vec<u32>>,
    left: Range<usize>,
}

impl Agenda {
    pub(super) fn new(leaves: Vec<u32>) -> Self {
        Agenda { left: 0..leaves.len(), leaves: Arc::new(leaves) }
    }

    /// The leaves that are left.
    pub(super) fn as_slice(&self) -> &[u32] {
        &self.leaves[self.left.clone()]
    }

    /// Takes the first leaves, up to so many.
    pub(super) fn take_first(&mut self, count: usize) -> Agenda {
        let end = self.left.end.min(self.left.start.saturating_add(count));
        let first = Agenda { leaves: Arc::clone(&self.leaves), left: self.left.start..end };
        self.left.start = end;
        first
    }
}

impl Iterator for Agenda {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        self.left.next().map(|place| self.leaves[place])
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}

impl ExactSizeIterator for Agenda {}

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
    pub(super) fn root(problem: &Problem) -> Self {
        Frontier::from_leaves(Leaves::root(problem.dimensions().len(), problem.objective()))
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
    pub(super) fn in_order(&self) -> Agenda {
        Agenda::new((0..self.len() as u32).collect())
    }

    /// The leaves whose next trace is still to be started, those first whose traces were the longest.
    pub(super) fn waiting_best_first(&self) -> Vec<u32> {
        let is_waiting = |&leaf: &u32| self.leaves.leaf(leaf as usize).is_waiting();
        let mut agenda: Vec<u32> = self.in_order().filter(is_waiting).collect();
        agenda.sort_by_cached_key(|&leaf| std::cmp::Reverse(self.leaves.leaf(leaf as usize).at.worst));
        agenda
    }

    /// All leaves, those that promise most first, in bands.
    pub(super) fn promising_first(&self, tuning: &Tuning) -> Agenda {
        Agenda::new(in_bands(self.leaves.promises(tuning.label_price), tuning.in_bands))
    }
}

/// What is so much less than the greatest key is as little as any.
const MOST_LESS: u32 = 1 << 14;

/// The numbers of all keys in bands of growing size: first the greatest key, then the next ones, and in the end
/// all that do not promise much. Within a band they are in order: neighbours have labels in common, which need
/// not be set up again. The bands end behind one part in so many, and all others come in their order.
fn in_bands(keys: impl Iterator<Item = i64>, share: usize) -> Vec<u32> {
    let clamp = |key: i64| key.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
    let keys: Vec<i32> = keys.map(clamp).collect();
    let greatest = keys.iter().copied().max().unwrap_or(0);
    let less = |key: i32| greatest.abs_diff(key).min(MOST_LESS) as usize;
    // Where each would be if they were sorted: by how much less a key is, the next place.
    let mut places = vec![0; keys.iter().copied().min().map_or(0, less) + 2];
    keys.iter().for_each(|&key| places[less(key) + 1] += 1);
    let mut sum = 0;
    for place in &mut places {
        sum += *place;
        *place = sum;
    }
    let (mut starts, mut end, mut band) = (Vec::new(), 0, 1);
    let mut band_of_place = Vec::new();
    while end <= keys.len() / share {
        band_of_place.resize(end + band, starts.len());
        starts.push(end);
        end += band;
        band += band / 2 + 1;
    }
    let rest = starts.len();
    starts.push(end);
    let mut in_bands = vec![0; keys.len()];
    for (number, &key) in (0..).zip(&keys) {
        let place = &mut places[less(key)];
        let start = &mut starts[band_of_place.get(*place).copied().unwrap_or(rest)];
        *place += 1;
        in_bands[*start] = number;
        *start += 1;
    }
    in_bands
}

#[cfg(test)]
mod tests {
    use super::{Agenda, MOST_LESS, in_bands};

    /// Parts have all leaves, each once and in order, also of an agenda that was begun.
    #[test]
    fn parts_of_an_agenda() {
        for (count, begun) in [(0, 0), (1, 0), (7, 0), (7, 3), (7, 7), (8, 2)] {
            let mut agenda = Agenda::new((100..100 + count).collect());
            let done: Vec<u32> = agenda.by_ref().take(begun).collect();
            for each in 1..10 {
                let mut left = agenda.clone();
                let mut all = done.clone();
                while left.len() > 0 {
                    let part = left.take_first(each);
                    assert!((1..=each).contains(&part.len()));
                    all.extend(part.as_slice());
                }
                assert!(all.into_iter().eq(100..100 + count));
            }
        }
    }

    #[test]
    fn bands_are_those_of_the_sorted_keys() {
        for count in (0..20).chain([100, 499, 500, 501]) {
            for scale in [1, 1_000, 1 << 40] {
                let keys: Vec<i64> = (0..count).map(|i| (i * i % 37 - 20) * scale).collect();
                let clamp = |key: i64| key.clamp(i32::MIN.into(), i32::MAX.into());
                let greatest = keys.iter().copied().map(clamp).max().unwrap_or(0);
                let mut sorted: Vec<u32> = (0..count as u32).collect();
                sorted.sort_by_key(|&i| (greatest - clamp(keys[i as usize])).min(MOST_LESS.into()));
                let (mut start, mut band) = (0, 1);
                while start < sorted.len() {
                    let end = sorted.len().min(start + band);
                    sorted[start..end].sort_unstable();
                    (start, band) =
                        (end, if end > sorted.len() / 4 { sorted.len() } else { band + band / 2 + 1 });
                }
                assert_eq!(in_bands(keys.into_iter(), 4), sorted);
            }
        }
    }
}

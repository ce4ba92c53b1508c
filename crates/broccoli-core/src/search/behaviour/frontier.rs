//! What is left to do: leaves in the order in which they are to be gone on with.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::leaves::Leaves;
use super::tuning::Tuning;
use crate::problem::Problem;

/// Leaves to go on with, in an order. A copy is cheap: tasks share the leaves and only read them.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "Leaves", from = "Leaves")]
pub(super) struct Frontier {
    pub(super) leaves: Arc<Leaves>,
    order: Arc<Vec<u32>>,
    /// Where in the order those lie that are left.
    left: Range<usize>,
}

impl Frontier {
    /// Everything is left to do.
    pub(super) fn root(problem: &Problem) -> Self {
        Leaves::root(problem.dimensions().len(), problem.objective()).into()
    }

    /// The numbers of the leaves that are left.
    pub(super) fn left(&self) -> &[u32] {
        &self.order[self.left.clone()]
    }

    pub(super) fn len(&self) -> usize {
        self.left.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// Takes the next leaf: its number.
    #[inline]
    pub(super) fn next(&mut self) -> Option<u32> {
        self.left.next().map(|place| self.order[place])
    }

    /// Takes the first leaves, up to so many.
    pub(super) fn take_first(&mut self, count: usize) -> Frontier {
        let end = self.left.end.min(self.left.start.saturating_add(count));
        let first = Frontier { left: self.left.start..end, ..self.clone() };
        self.left.start = end;
        first
    }

    /// What is left of several, one after the other.
    pub(super) fn join(parts: Vec<Frontier>) -> Option<Frontier> {
        let whole = |part: Frontier| {
            let is_whole = part.len() == part.leaves.len() && part.order.is_sorted();
            if is_whole { part.leaves } else { Arc::new(part.leaves.part(part.left())) }
        };
        let mut parts = parts.into_iter().filter(|part| !part.is_empty()).map(whole);
        let mut all = parts.next()?;
        parts.for_each(|part| Arc::make_mut(&mut all).append(&part));
        Some(Arc::unwrap_or_clone(all).into())
    }

    /// What several take in memory: many have leaves in common.
    pub(super) fn bytes<'f>(frontiers: impl Iterator<Item = &'f Frontier>) -> usize {
        let mut all: Vec<&Arc<Leaves>> = frontiers.map(|frontier| &frontier.leaves).collect();
        all.sort_by_key(|leaves| Arc::as_ptr(leaves));
        all.dedup_by(|one, other| Arc::ptr_eq(one, other));
        all.iter().map(|leaves| leaves.bytes()).sum()
    }

    /// Only the labels of the leaves are known from now on, and not their places. Many have leaves in common: `known`
    /// has those with and without places.
    pub(super) fn forget_places(&mut self, known: &mut Vec<[Arc<Leaves>; 2]>) {
        let same = known.iter().find(|[with, _]| Arc::ptr_eq(with, &self.leaves));
        let without = same.map(|[_, without]| Arc::clone(without)).unwrap_or_else(|| {
            let without = Arc::new(self.leaves.without_places());
            known.push([Arc::clone(&self.leaves), Arc::clone(&without)]);
            without
        });
        self.leaves = without;
    }

    /// All leaves, those that promise most first, in bands of growing size: within a band they are in reverse
    /// order, as neighbours have labels in common, which need not be set up again. The bands end behind one part in so
    /// many of the leaves, and all others come in order.
    pub(super) fn promising_first(self, tuning: &Tuning) -> Frontier {
        let order = in_bands(self.leaves.promises(tuning.label_price), tuning.in_bands);
        self.in_order(order)
    }

    /// Those first whose traces were the longest.
    pub(super) fn longest_first(self) -> Frontier {
        let mut order = self.left().to_vec();
        order.sort_by_cached_key(|&leaf| Reverse(self.leaves.leaf(leaf as usize).at.worst));
        self.in_order(order)
    }

    fn in_order(self, order: Vec<u32>) -> Frontier {
        Frontier { left: 0..order.len(), order: Arc::new(order), ..self }
    }
}

impl From<Leaves> for Frontier {
    fn from(leaves: Leaves) -> Self {
        let count = leaves.len();
        Frontier { leaves: Arc::new(leaves), order: Arc::new((0..count as u32).collect()), left: 0..count }
    }
}

impl From<Frontier> for Leaves {
    fn from(frontier: Frontier) -> Self {
        frontier.leaves.part(frontier.left())
    }
}

fn in_bands(keys: impl Iterator<Item = i64>, share: usize) -> Vec<u32> {
    let clamp = |key: i64| key.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
    // The greatest key first, and of equals the first: both in one number, which is sorted quickly.
    let sortable = |(number, key)| u64::from(!(clamp(key).cast_unsigned() ^ 1 << 31)) << 32 | number;
    let mut sorted: Vec<u64> = (0..).zip(keys).map(sortable).collect();
    let (mut bands, mut start, mut band) = (Vec::new(), 0, 1);
    while start <= sorted.len() / share && start < sorted.len() {
        let end = sorted.len().min(start + band);
        bands.push(start..end);
        (start, band) = (end, band + band / 2 + 1);
    }
    if let Some(last) = start.checked_sub(1) {
        sorted.select_nth_unstable(last);
        sorted[..last].sort_unstable();
    }
    let mut order: Vec<u32> = sorted[..start].iter().map(|&sortable| sortable as u32).collect();
    bands.into_iter().for_each(|band| order[band].sort_unstable_by_key(|&number| Reverse(number)));
    let mut is_in_a_band = vec![false; sorted.len()];
    order.iter().for_each(|&number| is_in_a_band[number as usize] = true);
    order.extend((0..).zip(is_in_a_band).filter(|(_, is_in)| !is_in).map(|(number, _)| number));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Objective;

    /// Parts have all leaves, each once and in order, also of what was begun.
    #[test]
    fn parts_of_a_frontier() {
        for (count, begun) in [(0, 0), (1, 0), (7, 0), (7, 3), (7, 7), (8, 2)] {
            let order = Arc::new((100..100 + count).collect());
            let all = Frontier { order, left: 0..count as usize, ..Frontier::from(Leaves::default()) };
            for each in 1..10 {
                let mut left = all.clone();
                let mut seen: Vec<u32> = (0..begun).map_while(|_| left.next()).collect();
                while !left.is_empty() {
                    let part = left.take_first(each);
                    assert!((1..=each).contains(&part.len()));
                    seen.extend(part.left());
                }
                assert!(seen.into_iter().eq(100..100 + count));
            }
        }
    }

    /// Leaves that several frontiers share take memory once.
    #[test]
    fn shared_leaves_count_once() {
        let one = Frontier::from(Leaves::root(2, Objective::reach(5)));
        let other = Frontier::from((*one.leaves).clone());
        let bytes = Frontier::bytes([&one].into_iter());
        assert!(bytes > 0);
        assert_eq!(Frontier::bytes([&one, &one.clone(), &one].into_iter()), bytes);
        assert_eq!(Frontier::bytes([&one, &other, &one].into_iter()), 2 * bytes);
    }

    /// Of 12 keys the bands are the greatest, the next two, the next four, as long as there are not enough.
    #[test]
    fn greater_keys_are_in_earlier_bands() {
        let keys = [5, 1 << 40, 3, 9, -(1 << 40), 9, 0, 1, 9, 2, 2, 2];
        assert_eq!(in_bands(keys.into_iter(), 12), [1, 5, 3, 0, 2, 4, 6, 7, 8, 9, 10, 11]);
        assert_eq!(in_bands(keys.into_iter(), 4), [1, 5, 3, 9, 8, 2, 0, 4, 6, 7, 10, 11]);
        assert!(in_bands([].into_iter(), 4).is_empty());
    }
}

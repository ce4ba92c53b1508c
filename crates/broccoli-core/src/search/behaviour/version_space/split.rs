//! The first split of a region: its entries, made from the points in it.
//!
//! A region is split when the last point is added and one predicate no longer tells its labels apart. Without
//! the last point one still does. So does it in any part of the region that the last point is not in: of the
//! two sides of an entry, only the one with the last point can need a split.

use super::{Budget, Change, Cost, Entry, Group, Region, VersionSpace, Way};
use crate::search::behaviour::bounds::Store;

/// A point on the other side of the last one, given by how far its rank is and by its index, in one number: that
/// is sorted quickly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Far(u64);

impl Far {
    #[inline(always)]
    fn new(distance: u16, index: u32) -> Self {
        Far(u64::from(distance) << 32 | u64::from(index))
    }

    #[inline(always)]
    fn distance(self) -> u16 {
        (self.0 >> 32) as u16
    }

    #[inline(always)]
    pub(super) fn index(self) -> usize {
        self.0 as u32 as usize
    }
}

/// Ranks, or their complements, so that what is beyond the last point is greater if this is on the given side.
#[inline(always)]
fn distance<const SIDE: usize>(rank: u16) -> u16 {
    if SIDE == 0 { rank } else { !rank }
}

/// What a split works with.
#[derive(Clone, Debug)]
pub(super) struct Scratch<B> {
    /// The points in the region.
    pub(super) members: Vec<u32>,
    /// Per dimension and side, the bounds of the points that no threshold tells from the last one if this is on
    /// that side: those with its rank and those farther on its side.
    pub(super) near: Vec<[B; 2]>,
    /// The other points by their rank, the nearest first.
    pub(super) far: Vec<Far>,
    /// The bounds of none of these, of the last one, of the last two, …
    pub(super) others: Vec<B>,
}

impl<B> Default for Scratch<B> {
    fn default() -> Self {
        Scratch { members: Vec::new(), near: Vec::new(), far: Vec::new(), others: Vec::new() }
    }
}

impl<S: Store> VersionSpace<S> {
    /// Makes the entries of a region that costs more than 1, from the points in it.
    #[inline(never)]
    pub(super) fn split(
        &mut self,
        region: &mut Region<S::Bounds>,
        budget: Budget,
        way: Option<&Way<'_>>,
    ) -> Change {
        if budget.depth < 2 || budget.nodes < 2 {
            return Change::Impossible;
        }
        if budget.nodes == 2 && S::HAS_DIRECTIONS {
            return self.split_by_two(region, way);
        }
        let last = self.points.point(self.points.len() - 1);
        if budget.nodes == 2 && self.two_suffice(&region.bounds, &last, way) == Some(false) {
            return Change::Impossible;
        }
        if budget.depth == 2 {
            return self.split_flat(region, budget.nodes, way);
        }
        let level = budget.depth as usize - 3;
        let first = self.entries[level].len();
        let mut scratch = std::mem::take(&mut self.scratch[level]);
        self.find_members(way, &mut scratch);
        let mut cost = Cost::MAX;
        let mut whole = None;
        for dimension in 0..self.thresholds.len() {
            cost = cost.min(self.enter::<0>(dimension, way, &mut scratch, budget, &mut whole));
            cost = cost.min(self.enter::<1>(dimension, way, &mut scratch, budget, &mut whole));
        }
        self.scratch[level] = scratch;
        let entries = &mut self.entries[level];
        let end = entries.len();
        if let Some(best) = (first..end).find(|&index| entries.item(index).cost() == cost) {
            entries.swap(first, best);
        }
        region.become_split(first, end - first, cost)
    }

    /// The points in the region at the end of the way, and the bounds of those near the last one.
    pub(super) fn find_members(&mut self, way: Option<&Way<'_>>, scratch: &mut Scratch<S::Bounds>) {
        let (store, points) = (&mut self.store, &self.points);
        let Scratch { members, near, .. } = scratch;
        members.clear();
        near.clear();
        let empty = store.empty();
        near.extend(self.thresholds.iter().map(|_| [store.copy(&empty), store.copy(&empty)]));
        let last = points.point(points.len() - 1);
        let is_at_end = S::is_at_end(way);
        for (index, point) in (0..).zip(points.iter()) {
            if is_at_end(&point) {
                members.push(index);
                store.widen_around(near, &last, &point);
            }
        }
    }

    /// The points beyond the last one in one dimension, if this is on the given side.
    #[inline(always)]
    pub(super) fn find_far<const SIDE: usize>(&mut self, dimension: usize, scratch: &mut Scratch<S::Bounds>) {
        let (store, points) = (&mut self.store, &self.points);
        let Scratch { members, far, others, .. } = scratch;
        let last = distance::<SIDE>(points.rank(points.len() - 1, dimension));
        far.clear();
        for &index in &*members {
            let distance = distance::<SIDE>(points.rank(index as usize, dimension));
            if distance > last {
                far.push(Far::new(distance, index));
            }
        }
        far.sort_unstable();
        others.clear();
        let mut bounds = store.empty();
        others.push(bounds);
        for far in far.iter().rev() {
            bounds = store.copy(&bounds);
            store.widen(&mut bounds, &points.point(far.index()));
            others.push(bounds);
        }
    }

    /// The thresholds that have so many of the points beyond the last one on its side, if there are any.
    #[inline(always)]
    pub(super) fn group<const SIDE: usize>(
        &self,
        dimension: usize,
        scratch: &Scratch<S::Bounds>,
        taken: usize,
    ) -> Option<Group> {
        let near = match taken.checked_sub(1) {
            None => distance::<SIDE>(self.points.rank(self.points.len() - 1, dimension)),
            Some(before) => scratch.far[before].distance(),
        };
        let farthest = if SIDE == 0 { self.thresholds[dimension] } else { u16::MAX };
        let end = scratch.far.get(taken).map_or(farthest, |next| next.distance());
        let (low, end) = if SIDE == 0 { (near, end) } else { (!end, !near) };
        (low < end).then(|| Group { dimension: dimension as u16, low, high: end - 1 })
    }

    /// Makes the entries of one dimension that have the last point on one side, the nearest threshold first, as far
    /// as they are possible; the least of their costs. Where this side has all points, it is the same for all
    /// entries, and is worked out once.
    fn enter<const SIDE: usize>(
        &mut self,
        dimension: usize,
        way: Option<&Way<'_>>,
        scratch: &mut Scratch<S::Bounds>,
        budget: Budget,
        whole: &mut Option<(Change, Region<S::Bounds>)>,
    ) -> Cost {
        self.find_far::<SIDE>(dimension, scratch);
        let mut least = Cost::MAX;
        let mut bounds = scratch.near[dimension][SIDE];
        for (taken, &others) in scratch.others.iter().rev().enumerate() {
            let next = scratch.far.get(taken).copied();
            // What each side costs: exactly if it needs no split, else at least 2.
            let cost = self.store.cost_without_split(&bounds);
            let other = self.store.cost_without_split(&others);
            debug_assert!(other.is_some(), "one predicate tells all points but the last apart");
            let (mut own, other) =
                (Region::simple(bounds, cost.unwrap_or(2)), Region::simple(others, other.unwrap_or(2)));
            let group = self.group::<SIDE>(dimension, scratch, taken);
            if let Some(group) = group.filter(|_| 1 + own.cost + other.cost <= budget.nodes) {
                let mut change = Change::Another;
                if cost.is_none() {
                    let is_whole = next.is_none();
                    (change, own) = match *whole {
                        Some(known) if is_whole => known,
                        _ => {
                            let (budget, way) = (budget.side(1 + other.cost), Way::new(group, SIDE, way));
                            let split = |budget| self.split(&mut own, budget, Some(&way));
                            (budget.map_or(Change::Impossible, split), own)
                        }
                    };
                    if is_whole {
                        *whole = Some((change, own));
                    }
                }
                if change != Change::Impossible {
                    least = least.min(1 + own.cost + other.cost);
                    let sides = if SIDE == 0 { [own, other] } else { [other, own] };
                    self.entries[budget.depth as usize - 3].push(Entry { group, sides });
                }
            }
            let Some(next) = next else { break };
            bounds = self.store.copy(&bounds);
            self.store.widen(&mut bounds, &self.points.point(next.index()));
        }
        least
    }
}

//! The first split of a region: its entries, made from the points in it.
//!
//! A region is split when the last point is added and one predicate no longer tells its labels apart. Without
//! the last point one still does. So does it in any part of the region that the last point is not in: of the
//! two sides of an entry, only the one with the last point can need a split.

use super::{Budget, Change, Cost, Entry, Group, Pair, Region, VersionSpace, Way};
use crate::search::behaviour::bounds::Store;

/// A gap between the ranks of points, where a threshold can split a region.
#[derive(Clone, Copy, Debug)]
struct Gap<B> {
    /// Its thresholds, from `low` up to but without `end`.
    low: u16,
    end: u16,
    /// How many of the points beyond the last one are on the side of the last one.
    taken: usize,
    /// The bounds of that side, and what it costs without a split.
    bounds: B,
    cost: Option<Cost>,
}

/// A point on the other side of the last one, given by how far its rank is and by its index, in one number: that
/// is sorted quickly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Far(u64);

impl Far {
    fn new(side: usize, rank: u16, index: u32) -> Self {
        let distance = if side == 0 { rank } else { !rank };
        Far(u64::from(distance) << 32 | u64::from(index))
    }

    fn rank(self, side: usize) -> u16 {
        let distance = (self.0 >> 32) as u16;
        if side == 0 { distance } else { !distance }
    }

    fn index(self) -> usize {
        self.0 as u32 as usize
    }
}

/// What a split works with.
#[derive(Clone, Debug)]
pub(super) struct Scratch<B> {
    /// The points in the region.
    members: Vec<u32>,
    /// Per dimension and side, the bounds of the points that no gap tells from the last one if this is on that
    /// side: those with its rank and those farther on its side.
    near: Vec<[B; 2]>,
    /// The other points by their rank, the nearest first, and the gaps between them, likewise.
    far: Vec<Far>,
    gaps: Vec<Gap<B>>,
}

impl<B> Default for Scratch<B> {
    fn default() -> Self {
        Scratch { members: Vec::new(), near: Vec::new(), far: Vec::new(), gaps: Vec::new() }
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
        if budget.nodes == 2 && S::HAS_PAIRS {
            return self.split_by_two(region, way);
        }
        let last = self.points.point(self.points.len() - 1);
        if budget.nodes == 2 && self.two_suffice(&region.bounds, &last, way) == Some(false) {
            return Change::Impossible;
        }
        let depth = budget.depth as usize;
        let first = self.entry_count(depth);
        let mut scratch = std::mem::take(&mut self.scratch[depth]);
        self.find_members(way, &mut scratch);
        let mut cost = Cost::MAX;
        let mut whole = None;
        for dimension in 0..self.thresholds.len() {
            for side in [0, 1] {
                // At depth 2 neither side may need a split.
                let near = &scratch.near[dimension][side];
                if depth > 2 || self.store.cost_without_split(near).is_some() {
                    self.find_gaps(dimension, side, depth == 2, &mut scratch);
                    cost = cost.min(self.enter(dimension, side, way, &scratch, budget, &mut whole));
                }
            }
        }
        self.scratch[depth] = scratch;
        region.become_split(first, self.entry_count(depth) - first, cost)
    }

    /// How many entries the stack for regions of this depth has.
    fn entry_count(&self, depth: usize) -> usize {
        if depth == 2 { self.pairs.len() } else { self.entries[depth - 3].len() }
    }

    /// The points in the region at the end of the way, and the bounds of those near the last one.
    fn find_members(&mut self, way: Option<&Way<'_>>, scratch: &mut Scratch<S::Bounds>) {
        let (store, points) = (&mut self.store, &self.points);
        let Scratch { members, near, .. } = scratch;
        members.clear();
        near.clear();
        let empty = store.empty();
        near.extend(self.thresholds.iter().map(|_| [store.copy(&empty), store.copy(&empty)]));
        let last = points.point(points.len() - 1);
        for (index, point) in points.iter() {
            if Way::leads_to(way, point.cell) {
                members.push(index);
                store.widen_around(near, &last, &point);
            }
        }
    }

    /// The gaps of one dimension that have the last point on the given side, the nearest first; if they are to
    /// be `simple`, only as long as this side needs no split.
    fn find_gaps(&mut self, dimension: usize, side: usize, simple: bool, scratch: &mut Scratch<S::Bounds>) {
        let (store, points) = (&mut self.store, &self.points);
        let Scratch { members, near, far, gaps } = scratch;
        let last = points.rank(points.len() - 1, dimension);
        far.clear();
        far.extend(
            members.iter().map(|&index| Far::new(side, points.rank(index as usize, dimension), index)),
        );
        far.retain(|far| *far > Far::new(side, last, u32::MAX));
        far.sort_unstable();
        gaps.clear();
        let mut bounds = near[dimension][side];
        let (mut edge, mut taken) = (last, 0);
        loop {
            let cost = store.cost_without_split(&bounds);
            if simple && cost.is_none() {
                break;
            }
            let next = far.get(taken).map(|far| far.rank(side));
            let (low, end) = match side {
                0 => (edge, next.unwrap_or(self.thresholds[dimension])),
                _ => (next.unwrap_or(0), edge),
            };
            if low < end {
                gaps.push(Gap { low, end, taken, bounds, cost });
            }
            let Some(next) = next else { break };
            edge = next;
            bounds = store.copy(&bounds);
            while let Some(far) = far.get(taken)
                && far.rank(side) == next
            {
                store.widen(&mut bounds, &points.point(far.index()));
                taken += 1;
            }
        }
    }

    /// Makes the entries of the gaps, as far as they are possible; the least of their costs. The given side
    /// has the last point. Where it has all points, it is the same for all entries, and is worked out once.
    fn enter(
        &mut self,
        dimension: usize,
        side: usize,
        way: Option<&Way<'_>>,
        scratch: &Scratch<S::Bounds>,
        budget: Budget,
        whole: &mut Option<(Change, Region<S::Bounds>)>,
    ) -> Cost {
        let mut least = Cost::MAX;
        // The other side has the fewest points where this one has the most.
        let mut others = self.store.empty();
        let mut end = scratch.far.len();
        for gap in scratch.gaps.iter().rev() {
            others = self.store.copy(&others);
            for far in &scratch.far[gap.taken..end] {
                self.store.widen(&mut others, &self.points.point(far.index()));
            }
            end = gap.taken;
            let other = self.store.cost_without_split(&others);
            debug_assert!(other.is_some(), "one predicate tells all points but the last apart");
            let group = Group { dimension: dimension as u16, low: gap.low, high: gap.end - 1 };
            // What each side costs: exactly if it needs no split, else at least 2.
            let simple = [gap.cost, other].map(|cost| cost.unwrap_or(2));
            if 1 + simple[0] + simple[1] > budget.nodes {
                continue;
            }
            let mut sides = [Region::simple(others, simple[1]); 2];
            sides[side] = Region::simple(gap.bounds, simple[0]);
            if gap.cost.is_none() {
                let Some(budget) = budget.side(1 + simple[1]) else { continue };
                let way = Way { dimension: group.dimension, k: group.low, side, before: way };
                let is_whole = gap.taken == scratch.far.len();
                let (change, region) = match *whole {
                    Some(known) if is_whole => known,
                    _ => (self.split(&mut sides[side], budget, Some(&way)), sides[side]),
                };
                if is_whole {
                    *whole = Some((change, region));
                }
                if change == Change::Impossible {
                    continue;
                }
                sides[side] = region;
            }
            let costs = [sides[0].cost, sides[1].cost];
            least = least.min(1 + costs[0] + costs[1]);
            match budget.depth {
                2 => {
                    let bounds = [sides[0].bounds, sides[1].bounds];
                    self.pairs.push(Pair { group, costs: costs.map(|cost| cost as u8), bounds });
                }
                depth => self.entries[depth as usize - 3].push(Entry { group, sides }),
            }
        }
        least
    }
}

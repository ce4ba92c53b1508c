//! The first split of a region: its entries, made from the points in it.
//!
//! A region is split when the last point is added and one predicate no longer tells its labels apart. Without
//! the last point one still does. So does it in any part of the region that the last point is not in: of the
//! two sides of an entry, only the one with the last point can need a split.

use super::{Budget, Change, Cost, Entry, Group, Pair, Region, VersionSpace, Way};
use crate::search::behaviour::bounds::{Point, Store};

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

/// What a split works with.
#[derive(Clone, Debug)]
pub(super) struct Scratch<B> {
    /// The points in the region, the last one first.
    members: Vec<u32>,
    /// The other points by their rank, the nearest first, and the gaps between them, likewise.
    far: Vec<(u16, u32)>,
    gaps: Vec<Gap<B>>,
}

impl<B> Default for Scratch<B> {
    fn default() -> Self {
        Scratch { members: Vec::new(), far: Vec::new(), gaps: Vec::new() }
    }
}

impl<S: Store> VersionSpace<S> {
    /// Makes the entries of a region that costs more than 1, from the points in it.
    pub(super) fn split(
        &mut self,
        region: &mut Region<S::Bounds>,
        budget: Budget,
        way: Option<&Way<'_>>,
    ) -> Change {
        if budget.depth < 2 || budget.nodes < 2 {
            return Change::Impossible;
        }
        let depth = budget.depth as usize;
        let first = self.entry_count(depth);
        let mut scratch = std::mem::take(&mut self.scratch[depth]);
        self.find_members(way, &mut scratch.members);
        let mut cost = Cost::MAX;
        for dimension in 0..self.thresholds.len() {
            for side in [0, 1] {
                // At depth 2 neither side may need a split.
                let simple = depth == 2;
                if let Some(near) = self.near(dimension, side, simple, &scratch.members) {
                    self.find_gaps(dimension, side, near, simple, &mut scratch);
                    cost = cost.min(self.enter(dimension, side, way, &scratch, budget));
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

    /// The points in the region at the end of the way, the last one first.
    fn find_members(&self, way: Option<&Way<'_>>, members: &mut Vec<u32>) {
        members.clear();
        let cells = self.points.chunks_exact(self.thresholds.len());
        let indices = (0..self.labels.len() as u32).rev();
        members.extend(
            indices.zip(cells.rev()).filter(|(_, cell)| Way::leads_to(way, cell)).map(|(index, _)| index),
        );
    }

    /// The bounds of the points that no gap of a dimension tells from the last one if this is on the given side:
    /// those with its rank and those farther on its side. Nothing if they are to be `simple` and need a split.
    fn near(&mut self, dimension: usize, side: usize, simple: bool, members: &[u32]) -> Option<S::Bounds> {
        let (dimensions, count) = (self.thresholds.len(), self.labels.len());
        let last = self.points[(count - 1) * dimensions + dimension];
        let empty = self.store.empty();
        let mut bounds = self.store.copy(&empty);
        for &index in members {
            let point = points(&self.points, &self.labels, &self.corners).point(index as usize, dimensions);
            let rank = point.cell[dimension];
            let is_near = if side == 0 { rank <= last } else { rank >= last };
            self.store.widen_if(is_near, &mut bounds, &point);
            if simple && self.store.cost_without_split(&bounds).is_none() {
                return None;
            }
        }
        Some(bounds)
    }

    /// The gaps of one dimension that have the last point on the given side, the nearest first; if they are to
    /// be `simple`, only as long as this side needs no split.
    fn find_gaps(
        &mut self,
        dimension: usize,
        side: usize,
        near: S::Bounds,
        simple: bool,
        scratch: &mut Scratch<S::Bounds>,
    ) {
        let (store, points) = (&mut self.store, points(&self.points, &self.labels, &self.corners));
        let dimensions = self.thresholds.len();
        let Scratch { members, far, gaps } = scratch;
        let rank_of = |index: u32| self.points[index as usize * dimensions + dimension];
        let last = rank_of(self.labels.len() as u32 - 1);
        far.clear();
        far.extend(members.iter().map(|&index| (rank_of(index), index)).filter(|&(rank, _)| match side {
            0 => rank > last,
            _ => rank < last,
        }));
        match side {
            0 => far.sort_unstable(),
            _ => far.sort_unstable_by(|a, b| b.cmp(a)),
        }
        gaps.clear();
        let mut bounds = near;
        let (mut edge, mut taken) = (last, 0);
        loop {
            let cost = store.cost_without_split(&bounds);
            if simple && cost.is_none() {
                break;
            }
            let next = far.get(taken).map(|&(rank, _)| rank);
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
            while let Some(&(rank, index)) = far.get(taken)
                && rank == next
            {
                store.widen(&mut bounds, &points.point(index as usize, dimensions));
                taken += 1;
            }
        }
    }

    /// Makes the entries of the gaps, as far as they are possible; the least of their costs. The given side
    /// has the last point.
    fn enter(
        &mut self,
        dimension: usize,
        side: usize,
        way: Option<&Way<'_>>,
        scratch: &Scratch<S::Bounds>,
        budget: Budget,
    ) -> Cost {
        let dimensions = self.thresholds.len();
        let mut least = Cost::MAX;
        // The other side has the fewest points where this one has the most.
        let mut others = self.store.empty();
        let mut end = scratch.far.len();
        for gap in scratch.gaps.iter().rev() {
            others = self.store.copy(&others);
            let points = points(&self.points, &self.labels, &self.corners);
            for &(_, index) in &scratch.far[gap.taken..end] {
                self.store.widen(&mut others, &points.point(index as usize, dimensions));
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
                if self.split(&mut sides[side], budget, Some(&way)) == Change::Impossible {
                    continue;
                }
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

/// All points.
#[derive(Clone, Copy)]
struct Points<'p, S: Store> {
    cells: &'p [u16],
    labels: &'p [u16],
    corners: &'p [S::Corners],
}

fn points<'p, S: Store>(cells: &'p [u16], labels: &'p [u16], corners: &'p [S::Corners]) -> Points<'p, S> {
    Points { cells, labels, corners }
}

impl<'p, S: Store> Points<'p, S> {
    #[inline(always)]
    fn point(&self, index: usize, dimensions: usize) -> Point<'p, S> {
        let cell = &self.cells[index * dimensions..][..dimensions];
        Point { cell, label: self.labels[index], corners: self.corners[index] }
    }
}

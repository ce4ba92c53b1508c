//! The first split of a region: its entries, made from the points in it.

use super::{Budget, Cost, Entry, Group, HalfSpace, Pair, Ranked, Region, VersionSpace};
use crate::search::behaviour::bounds::Store;

/// A gap between the ranks of points, where a threshold can split a region.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    /// How many points lie below it.
    place: usize,
    /// Its thresholds, from `low` up to but without `end`.
    low: u16,
    end: u16,
    /// What the points below cost.
    cost: Cost,
}

impl<S: Store> VersionSpace<S> {
    /// Makes the entries of a region that costs more than 1, from the points in it.
    pub(super) fn split(&mut self, bounds: S::Bounds, budget: Budget) -> Option<Region<S::Bounds>> {
        if budget.depth < 2 || budget.nodes < 2 {
            return None;
        }
        let depth = budget.depth as usize;
        let first = self.entry_count(depth);
        let mut cost = Cost::MAX;
        let mut sorted = std::mem::take(&mut self.sorted[depth]);
        let mut is_in = std::mem::take(&mut self.is_in[depth]);
        self.order_points();
        self.find_members(&mut is_in);
        for dimension in 0..self.thresholds.len() {
            sorted.clear();
            sorted.extend(self.order[dimension].iter().filter(|&&(_, index)| is_in[index as usize]));
            cost = cost.min(match depth {
                2 => self.split_into_pairs(dimension as u16, &sorted, budget.nodes),
                _ => self.split_dimension(dimension as u16, &sorted, bounds, budget),
            });
        }
        self.sorted[depth] = sorted;
        self.is_in[depth] = is_in;
        Self::written(first, self.entry_count(depth), bounds, cost)
    }

    /// How many entries the stack for regions of this depth has.
    fn entry_count(&self, depth: usize) -> usize {
        if depth == 2 { self.pairs.len() } else { self.entries[depth - 3].len() }
    }

    /// The region whose entries were just written, if there are any.
    pub(super) fn written(
        first: usize,
        end: usize,
        bounds: S::Bounds,
        cost: Cost,
    ) -> Option<Region<S::Bounds>> {
        (end > first).then_some(Region { bounds, cost, first: first as u32, count: (end - first) as u32 })
    }

    /// Brings the order of the points in each dimension up to date.
    fn order_points(&mut self) {
        let dimensions = self.thresholds.len();
        for order in &mut self.order {
            if order.len() > self.ordered {
                order.retain(|&(_, index)| (index as usize) < self.ordered);
            }
        }
        for index in self.ordered..self.labels.len() {
            for (dimension, order) in self.order.iter_mut().enumerate() {
                let ranked = (self.points[index * dimensions + dimension], index as u32);
                let place = order.partition_point(|&other| other < ranked);
                order.insert(place, ranked);
            }
        }
        self.ordered = self.labels.len();
    }

    /// Which points are in the region at the end of the way.
    fn find_members(&self, is_in: &mut Vec<bool>) {
        is_in.clear();
        is_in.resize(self.labels.len(), true);
        for half in &self.way {
            let ranks = self.points.iter().skip(usize::from(half.dimension)).step_by(self.thresholds.len());
            for (is_in, &rank) in is_in.iter_mut().zip(ranks) {
                *is_in &= usize::from(rank > half.k) == half.side;
            }
        }
    }

    /// [`VersionSpace::split_dimension`] for a region of depth 2. Neither side may need a split, and the
    /// more points a side has the sooner it does: the points are added from both ends only as long as
    /// they do not.
    fn split_into_pairs(&mut self, dimension: u16, sorted: &[Ranked], nodes: Cost) -> Cost {
        let same_rank = |a: &Ranked, b: &Ranked| a.0 == b.0;
        // The gaps, each the place of the first point above it, whose false side needs no split.
        let mut prefixes = std::mem::take(&mut self.suffixes[2]);
        prefixes.clear();
        let mut prefix = self.store.empty();
        let mut low = 0;
        let mut place = 0;
        let mut gaps = std::mem::take(&mut self.gaps);
        gaps.clear();
        for points in sorted.chunk_by(same_rank).map(Some).chain([None]) {
            let Some(cost) = self.store.cost_without_split(prefix) else { break };
            let end = points.map_or(self.thresholds[usize::from(dimension)], |points| points[0].0);
            gaps.push(Gap { place, low, end, cost });
            prefixes.push(prefix);
            if let Some(points) = points {
                prefix = self.with_points(prefix, points);
                (low, place) = (points[0].0, place + points.len());
            }
        }
        let mut best = Cost::MAX;
        let mut suffix = self.store.empty();
        let mut above = sorted.len();
        for (gap, &prefix) in gaps.iter().zip(&prefixes).rev() {
            suffix = self.with_points(suffix, &sorted[gap.place..above]);
            above = gap.place;
            let Some(cost) = self.store.cost_without_split(suffix) else { break };
            let total = 1 + gap.cost + cost;
            if gap.low < gap.end && total <= nodes {
                let group = Group { dimension, low: gap.low, high: gap.end - 1 };
                self.pairs.push(Pair {
                    group,
                    costs: [gap.cost as u8, cost as u8],
                    bounds: [prefix, suffix],
                });
                best = best.min(total);
            }
        }
        self.suffixes[2] = prefixes;
        self.gaps = gaps;
        best
    }

    /// The entries of one dimension: the gaps between neighbouring ranks, and those before the first
    /// and behind the last, where all points are on one side. The least of their costs.
    fn split_dimension(&mut self, dimension: u16, sorted: &[Ranked], all: S::Bounds, budget: Budget) -> Cost {
        let mut suffixes = std::mem::take(&mut self.suffixes[budget.depth as usize]);
        suffixes.clear();
        let mut suffix = self.store.empty();
        suffixes.push(suffix);
        for points in sorted.chunk_by(|a, b| a.0 == b.0).rev() {
            suffix = self.with_points(suffix, points);
            suffixes.push(suffix);
        }
        let mut cost = Cost::MAX;
        let mut prefix = self.store.empty();
        let mut low = 0;
        let ranks = sorted.chunk_by(|a, b| a.0 == b.0).map(Some).chain([None]);
        for (points, &suffix) in ranks.zip(suffixes.iter().rev()) {
            // The gap before these points: the thresholds from `low` up to `end`.
            let end = points.map_or(self.thresholds[usize::from(dimension)], |points| points[0].0);
            if low < end {
                let prefix = if points.is_none() { all } else { prefix };
                let group = Group { dimension, low, high: end - 1 };
                cost = cost.min(self.enter(group, [prefix, suffix], budget));
            }
            if let Some(points) = points {
                prefix = self.with_points(prefix, points);
                low = points[0].0;
            }
        }
        self.suffixes[budget.depth as usize] = suffixes;
        cost
    }

    /// Makes one entry from the bounds of its two sides, if it is possible; its cost.
    fn enter(&mut self, group: Group, bounds: [S::Bounds; 2], budget: Budget) -> Cost {
        // What each side costs: exactly if it needs no split, else at least 2.
        let simple = bounds.map(|bounds| self.store.cost_without_split(bounds));
        let mut costs = simple.map(|cost| cost.unwrap_or(2));
        if 1 + costs[0] + costs[1] > budget.nodes {
            return Cost::MAX;
        }
        let mut sides = [0, 1].map(|side| Region::simple(bounds[side], costs[side]));
        for side in [0, 1] {
            if simple[side].is_some() {
                continue;
            }
            let Some(budget) = budget.side(1 + costs[1 - side]) else { return Cost::MAX };
            self.way.push(HalfSpace { dimension: group.dimension, k: group.low, side });
            let region = self.split(bounds[side], budget);
            self.way.pop();
            let Some(region) = region else { return Cost::MAX };
            (sides[side], costs[side]) = (region, region.cost);
        }
        self.entries[budget.depth as usize - 3].push(Entry { group, sides });
        1 + costs[0] + costs[1]
    }

    /// Bounds with some points more.
    fn with_points(&mut self, bounds: S::Bounds, points: &[Ranked]) -> S::Bounds {
        let VersionSpace { store, points: ranks, labels, thresholds, .. } = self;
        let dimensions = thresholds.len();
        let point = |&(_, index): &Ranked| {
            let index = index as usize;
            (&ranks[index * dimensions..][..dimensions], labels[index])
        };
        store.with_all(bounds, points.iter().map(point))
    }
}

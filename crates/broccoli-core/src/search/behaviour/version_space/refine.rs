//! One more point: what it does to the regions, and whether they can take it.

use super::{Added, Budget, Cost, Entry, HalfSpace, Pair, Region, VersionSpace};
use crate::search::behaviour::bounds::Store;

impl<S: Store> VersionSpace<S> {
    /// Whether a region stays within its budget with one more point; `None` if it must be split first.
    #[inline]
    pub(super) fn fits(
        &self,
        region: &Region<S::Bounds>,
        budget: Budget,
        cell: &[u16],
        label: u16,
    ) -> Option<bool> {
        if region.count == 0 {
            return match self.store.cost_with(region.bounds, cell, label) {
                Some(cost) => Some(budget.covers(cost)),
                None if budget.depth < 2 || budget.nodes < 2 => Some(false),
                None => None,
            };
        }
        if budget.depth == 2 {
            return Some(self.pairs_fit(region, budget.nodes, cell, label));
        }
        self.entries_fit(region, budget, cell, label)
    }

    /// [`VersionSpace::fits`] for a region of depth 3 or more that is split.
    fn entries_fit(
        &self,
        region: &Region<S::Bounds>,
        budget: Budget,
        cell: &[u16],
        label: u16,
    ) -> Option<bool> {
        let mut unknown = false;
        for entry in &self.entries[budget.depth as usize - 3][region.entries()] {
            let rank = cell[usize::from(entry.group.dimension)];
            for side in [0, 1] {
                if entry.group.part(side, rank).is_none() {
                    continue;
                }
                let Some(budget) = budget.side(1 + entry.sides[1 - side].cost) else { continue };
                match self.fits(&entry.sides[side], budget, cell, label) {
                    Some(true) => return Some(true),
                    Some(false) => {}
                    None => unknown = true,
                }
            }
        }
        if unknown { None } else { Some(false) }
    }

    /// [`VersionSpace::fits`] for a region of depth 2 that is split.
    #[inline]
    fn pairs_fit(&self, region: &Region<S::Bounds>, nodes: Cost, cell: &[u16], label: u16) -> bool {
        self.pairs[region.entries()].iter().any(|pair| {
            let rank = cell[usize::from(pair.group.dimension)];
            [0, 1].into_iter().any(|side| {
                pair.group.part(side, rank).is_some()
                    && (self.store.cost_with(pair.bounds[side], cell, label))
                        .is_some_and(|cost| 1 + Cost::from(pair.costs[1 - side]) + cost <= nodes)
            })
        })
    }

    /// Adds one more point to a region.
    #[inline]
    pub(super) fn add(
        &mut self,
        region: &Region<S::Bounds>,
        budget: Budget,
        cell: &[u16],
        label: u16,
    ) -> Added<S::Bounds> {
        if region.count > 0 {
            return match budget.depth {
                2 => self.refine_pairs(region, budget.nodes, cell, label),
                _ => self.refine(region, budget, cell, label),
            };
        }
        if self.store.is_inside(region.bounds, cell, label) {
            return if region.cost <= budget.nodes { Added::Same } else { Added::Impossible };
        }
        let bounds = self.store.with(region.bounds, cell, label);
        match self.store.cost_without_split(bounds) {
            Some(cost) if budget.covers(cost) => Added::New(Region::simple(bounds, cost)),
            Some(_) => Added::Impossible,
            None => self.split(bounds, budget).map_or(Added::Impossible, Added::New),
        }
    }

    /// Brings the entries of a region up to date with one more point. While nothing changes nothing is
    /// written; from the first change on, the new list is written on top of the stack.
    fn refine(
        &mut self,
        region: &Region<S::Bounds>,
        budget: Budget,
        cell: &[u16],
        label: u16,
    ) -> Added<S::Bounds> {
        let level = budget.depth as usize - 3;
        let first = self.entries[level].len();
        let mut changed = false;
        let mut cost = Cost::MAX;
        for index in region.entries() {
            let entry = self.entries[level][index];
            let rank = cell[usize::from(entry.group.dimension)];
            for side in [1, 0] {
                let Some(group) = entry.group.part(side, rank) else { continue };
                let spent = 1 + entry.sides[1 - side].cost;
                let added = match budget.side(spent) {
                    None => Added::Impossible,
                    Some(budget) => {
                        self.way.push(HalfSpace { dimension: group.dimension, k: group.low, side });
                        let added = self.add(&entry.sides[side], budget, cell, label);
                        self.way.pop();
                        added
                    }
                };
                let whole = group.low == entry.group.low && group.high == entry.group.high;
                let same = whole && matches!(added, Added::Same);
                if !same && !changed {
                    changed = true;
                    self.entries[level].extend_from_within(region.first as usize..index);
                }
                let mut entry = Entry { group, ..entry };
                match added {
                    Added::Impossible => continue,
                    Added::Same => {}
                    Added::New(region) => entry.sides[side] = region,
                }
                cost = cost.min(spent + entry.sides[side].cost);
                if changed {
                    self.entries[level].push(entry);
                }
            }
        }
        if !changed {
            return Added::Same;
        }
        Self::written(first, self.entries[level].len(), region.bounds, cost)
            .map_or(Added::Impossible, Added::New)
    }

    /// [`VersionSpace::refine`] for a region of depth 2.
    fn refine_pairs(
        &mut self,
        region: &Region<S::Bounds>,
        nodes: Cost,
        cell: &[u16],
        label: u16,
    ) -> Added<S::Bounds> {
        let first = self.pairs.len();
        let mut is_changed = false;
        let mut cost = Cost::MAX;
        for index in region.entries() {
            let pair = &self.pairs[index];
            let rank = cell[usize::from(pair.group.dimension)];
            let is_split = pair.group.low < rank && rank <= pair.group.high;
            let side = usize::from(rank > pair.group.high);
            let total = 1 + Cost::from(pair.costs[0]) + Cost::from(pair.costs[1]);
            if !is_split && total <= nodes && self.store.is_inside(pair.bounds[side], cell, label) {
                cost = cost.min(total);
                if is_changed {
                    self.pairs.push(self.pairs[index]);
                }
                continue;
            }
            if !is_changed {
                is_changed = true;
                self.pairs.extend_from_within(region.first as usize..index);
            }
            let pair = self.pairs[index];
            if is_split {
                for side in [1, 0] {
                    if let Some(group) = pair.group.part(side, rank) {
                        cost = cost.min(self.add_pair(Pair { group, ..pair }, side, nodes, cell, label));
                    }
                }
            } else {
                cost = cost.min(self.add_pair(pair, side, nodes, cell, label));
            }
        }
        if !is_changed {
            return Added::Same;
        }
        Self::written(first, self.pairs.len(), region.bounds, cost).map_or(Added::Impossible, Added::New)
    }

    /// Writes a pair with one more point on one side, if that is possible; its cost.
    #[inline]
    fn add_pair(
        &mut self,
        mut pair: Pair<S::Bounds>,
        side: usize,
        nodes: Cost,
        cell: &[u16],
        label: u16,
    ) -> Cost {
        pair.bounds[side] = self.store.with(pair.bounds[side], cell, label);
        let Some(cost) = self.store.cost_without_split(pair.bounds[side]) else { return Cost::MAX };
        pair.costs[side] = cost as u8;
        let total = 1 + Cost::from(pair.costs[0]) + Cost::from(pair.costs[1]);
        if total > nodes {
            return Cost::MAX;
        }
        self.pairs.push(pair);
        total
    }
}

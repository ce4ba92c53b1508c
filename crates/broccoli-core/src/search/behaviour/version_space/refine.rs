//! One more point: what it does to the regions, and whether they can take it.

use super::{Budget, Change, Cost, Entry, Region, VersionSpace, Way};
use crate::search::behaviour::bounds::{Point, Store};

impl<S: Store> VersionSpace<S> {
    /// Whether a region stays within its budget with one more point; `None` if it must be split first.
    #[inline]
    pub(super) fn fits(
        &self,
        region: &Region<S::Bounds>,
        budget: Budget,
        point: &Point<'_, S>,
    ) -> Option<bool> {
        if region.count == 0 {
            return match self.store.cost_with(&region.bounds, point) {
                Some(cost) => Some(budget.covers(cost)),
                None if budget.depth < 2 || budget.nodes < 2 => Some(false),
                None => None,
            };
        }
        if budget.depth == 2 {
            return Some(self.pairs_fit(region, budget.nodes, point));
        }
        self.entries_fit(region, budget, point)
    }

    /// [`VersionSpace::fits`] for a region of depth 3 or more that is split.
    fn entries_fit(
        &self,
        region: &Region<S::Bounds>,
        budget: Budget,
        point: &Point<'_, S>,
    ) -> Option<bool> {
        let mut is_unknown = false;
        for entry in self.entries[budget.depth as usize - 3].items(region.entries()) {
            for side in entry.group.sides(point.cell) {
                let Some(budget) = budget.side(1 + entry.sides[1 - side].cost) else { continue };
                match self.fits(&entry.sides[side], budget, point) {
                    Some(true) => return Some(true),
                    Some(false) => {}
                    None => is_unknown = true,
                }
            }
        }
        if is_unknown { None } else { Some(false) }
    }

    /// [`VersionSpace::fits`] for a region of depth 2 that is split.
    #[inline]
    fn pairs_fit(&self, region: &Region<S::Bounds>, nodes: Cost, point: &Point<'_, S>) -> bool {
        for pair in self.pairs.items(region.entries()) {
            for side in pair.group.sides(point.cell) {
                let spent = 1 + Cost::from(pair.costs[1 - side]);
                let cost = self.store.cost_with(&pair.bounds[side], point);
                if cost.is_some_and(|cost| spent + cost <= nodes) {
                    return true;
                }
            }
        }
        false
    }

    /// Adds one more point to a region.
    #[inline]
    pub(super) fn add(
        &mut self,
        region: &mut Region<S::Bounds>,
        budget: Budget,
        point: &Point<'_, S>,
        way: Option<&Way<'_>>,
    ) -> Change {
        if region.count > 0 {
            return match budget.depth {
                2 => self.refine_pairs(region, budget.nodes, point),
                _ => self.refine(region, budget, point, way),
            };
        }
        if self.store.is_inside(&region.bounds, point) {
            return if region.cost <= budget.nodes { Change::Nothing } else { Change::Impossible };
        }
        region.bounds = self.store.copy(&region.bounds);
        self.store.widen(&mut region.bounds, point);
        match self.store.cost_without_split(&region.bounds) {
            Some(cost) if budget.covers(cost) => {
                region.cost = cost;
                Change::Another
            }
            Some(_) => Change::Impossible,
            None => self.split(region, budget, way),
        }
    }

    /// Brings the entries of a region up to date with one more point. The new list is written on top of the
    /// stack, and left there if it is another one.
    fn refine(
        &mut self,
        region: &mut Region<S::Bounds>,
        budget: Budget,
        point: &Point<'_, S>,
        way: Option<&Way<'_>>,
    ) -> Change {
        let level = budget.depth as usize - 3;
        let first = self.entries[level].len();
        self.entries[level].make_room(2 * region.count as usize);
        let mut end = first;
        let mut is_changed = false;
        let mut least = Cost::MAX;
        for index in region.entries() {
            let entries = &mut self.entries[level];
            let entry = entries.item(index);
            let sides = entry.group.sides(point.cell);
            let [same, other] = [sides.start, 1 - sides.start].map(|side| &entry.sides[side]);
            let total = 1 + same.cost + other.cost;
            if sides.len() == 1
                && same.count == 0
                && total <= budget.nodes
                && self.store.is_inside(&same.bounds, point)
            {
                least = least.min(total);
                entries.copy(index, end);
                end += 1;
                continue;
            }
            let entry = *entry;
            for side in sides {
                let group = entry.group.part(side, point.cell);
                let mut entry = Entry { group, ..entry };
                let spent = 1 + entry.sides[1 - side].cost;
                let change = match budget.side(spent) {
                    None => Change::Impossible,
                    Some(budget) => {
                        let way = Way { dimension: group.dimension, k: group.low, side, before: way };
                        self.add(&mut entry.sides[side], budget, point, Some(&way))
                    }
                };
                is_changed |= change != Change::Nothing;
                if change != Change::Impossible {
                    least = least.min(spent + entry.sides[side].cost);
                    self.entries[level].write(end, entry);
                    end += 1;
                }
            }
        }
        // If none was changed, some may have been cut in two.
        if !is_changed && end - first == region.count as usize {
            return Change::Nothing;
        }
        self.entries[level].grow_to(end);
        region.become_split(first, end - first, least)
    }

    /// [`VersionSpace::refine`] for a region of depth 2.
    fn refine_pairs(
        &mut self,
        region: &mut Region<S::Bounds>,
        nodes: Cost,
        point: &Point<'_, S>,
    ) -> Change {
        let VersionSpace { store, pairs, .. } = self;
        let first = pairs.len();
        pairs.make_room(2 * region.count as usize);
        let mut end = first;
        let mut is_changed = false;
        let mut least = Cost::MAX;
        for index in region.entries() {
            let sides = pairs.item(index).group.sides(point.cell);
            for side in sides {
                pairs.copy(index, end);
                let pair = pairs.item_mut(end);
                pair.group = pair.group.part(side, point.cell);
                if !store.is_inside(&pair.bounds[side], point) {
                    is_changed = true;
                    pair.bounds[side] = store.copy(&pair.bounds[side]);
                    store.widen(&mut pair.bounds[side], point);
                    let Some(cost) = store.cost_without_split(&pair.bounds[side]) else { continue };
                    pair.costs[side] = cost as u8;
                }
                let total = 1 + Cost::from(pair.costs[0]) + Cost::from(pair.costs[1]);
                if total > nodes {
                    is_changed = true;
                    continue;
                }
                least = least.min(total);
                end += 1;
            }
        }
        // If none was changed, some may have been cut in two.
        if !is_changed && end - first == region.count as usize {
            return Change::Nothing;
        }
        pairs.grow_to(end);
        region.become_split(first, end - first, least)
    }
}

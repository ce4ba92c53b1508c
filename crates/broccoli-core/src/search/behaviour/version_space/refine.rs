//! One more point: what it does to the regions, and whether they can take it.

use super::{Budget, Change, Cost, Entry, Pair, Region, VersionSpace, Way};
use crate::search::behaviour::bounds::{Point, Store};

impl<S: Store> VersionSpace<S> {
    /// Whether a region stays within its budget with one more point; `None` if it must be split first.
    #[inline]
    pub(super) fn fits(
        &self,
        region: &Region<S::Bounds>,
        budget: Budget,
        point: &Point<'_, S>,
        way: Option<&Way<'_>>,
    ) -> Option<bool> {
        if region.is_two() {
            return Some(self.two_fit(region, budget, point, way));
        }
        if region.count == 0 {
            return match self.store.cost_with(&region.bounds, point) {
                Some(cost) => Some(budget.covers(cost)),
                None if budget.depth < 2 || budget.nodes < 2 => Some(false),
                None if budget.nodes == 2 => self.two_suffice(&region.bounds, point, way),
                None => None,
            };
        }
        if budget.depth == 2 {
            return Some(self.pairs_fit(region, budget.nodes, point));
        }
        self.entries_fit(region, budget, point, way)
    }

    /// [`VersionSpace::fits`] for a region of depth 3 or more that is split.
    fn entries_fit(
        &self,
        region: &Region<S::Bounds>,
        budget: Budget,
        point: &Point<'_, S>,
        way: Option<&Way<'_>>,
    ) -> Option<bool> {
        let mut is_unknown = false;
        let mut is_whole_known = false;
        for entry in self.entries[budget.depth as usize - 3].items(region.entries()) {
            let (side, is_cut) = entry.group.side(point.cell);
            let mut fits = |side: usize| {
                let is_whole = self.is_whole(entry, side);
                if is_whole && is_whole_known {
                    return false;
                }
                is_whole_known |= is_whole;
                let Some(budget) = budget.side(1 + entry.sides[1 - side].cost) else { return false };
                // No point is between the predicates of the group.
                let way = Way { dimension: entry.group.dimension, k: entry.group.low, side, before: way };
                let fits = self.fits(&entry.sides[side], budget, point, Some(&way));
                is_unknown |= fits.is_none();
                fits == Some(true)
            };
            if fits(side) || is_cut && fits(1 - side) {
                return Some(true);
            }
        }
        if is_unknown { None } else { Some(false) }
    }

    /// [`VersionSpace::fits`] for a region of depth 2 that is split.
    #[inline]
    fn pairs_fit(&self, region: &Region<S::Bounds>, nodes: Cost, point: &Point<'_, S>) -> bool {
        for pair in self.pairs.items(region.entries()) {
            let (side, is_cut) = pair.group.side(point.cell);
            let fits = |side: usize| {
                let cost = self.store.cost_with(&pair.bounds[side], point);
                cost.is_some_and(|cost| 1 + Cost::from(pair.costs[1 - side]) + cost <= nodes)
            };
            if fits(side) || is_cut && fits(1 - side) {
                return true;
            }
        }
        false
    }

    /// Adds one more point to a region.
    #[inline(always)]
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
        if region.is_two() {
            return self.add_to_two(region, budget, point, way);
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
    #[inline(never)]
    fn refine(
        &mut self,
        region: &mut Region<S::Bounds>,
        budget: Budget,
        point: &Point<'_, S>,
        way: Option<&Way<'_>>,
    ) -> Change {
        let level = budget.depth as usize - 3;
        // Only lists of lesser depth are written meanwhile.
        let mut entries = std::mem::take(&mut self.entries[level]);
        entries.make_room(2 * region.count as usize);
        let first = entries.len();
        let mut end = first;
        let mut is_changed = false;
        let mut least = Cost::MAX;
        let mut whole = None;
        for index in region.entries() {
            let group = entries.item(index).group;
            let (side, is_cut) = group.side(point.cell);
            if is_cut {
                let entry = entries.copy(index, end);
                entry.group = group.cut(point.cell)[1];
                if self.add_to_entry(entry, 0, budget, point, way, &mut whole) != Change::Impossible {
                    least = least.min(entry.cost());
                    end += 1;
                }
            }
            let entry = entries.copy(index, end);
            if is_cut {
                entry.group = group.cut(point.cell)[0];
            }
            let change = self.add_to_entry(entry, side, budget, point, way, &mut whole);
            is_changed |= is_cut || change != Change::Nothing;
            if change != Change::Impossible {
                least = least.min(entry.cost());
                end += 1;
            }
        }
        if is_changed {
            entries.grow_to(end);
        }
        self.entries[level] = entries;
        if is_changed { region.become_split(first, end - first, least) } else { Change::Nothing }
    }

    /// Whether an entry has all points of its region on one side.
    #[inline(always)]
    fn is_whole(&self, entry: &Entry<S::Bounds>, side: usize) -> bool {
        let other = &entry.sides[1 - side];
        other.cost == 0 && self.store.are_empty(&other.bounds)
    }

    /// Adds one more point to one side of an entry. All entries that have all points of their region on one side
    /// have the same points there: what became of them is worked out once.
    #[inline(always)]
    fn add_to_entry(
        &mut self,
        entry: &mut Entry<S::Bounds>,
        side: usize,
        budget: Budget,
        point: &Point<'_, S>,
        way: Option<&Way<'_>>,
        whole: &mut Option<(Change, Region<S::Bounds>)>,
    ) -> Change {
        let is_whole = self.is_whole(entry, side);
        if is_whole && let Some((change, region)) = *whole {
            entry.sides[side] = region;
            return change;
        }
        let Some(budget) = budget.side(1 + entry.sides[1 - side].cost) else { return Change::Impossible };
        let way = Way { dimension: entry.group.dimension, k: entry.group.low, side, before: way };
        let change = self.add(&mut entry.sides[side], budget, point, Some(&way));
        if is_whole {
            *whole = Some((change, entry.sides[side]));
        }
        change
    }

    /// [`VersionSpace::refine`] for a region of depth 2.
    #[inline(never)]
    fn refine_pairs(&mut self, region: &mut Region<S::Bounds>, nodes: Cost, point: &Point<'_, S>) -> Change {
        let VersionSpace { store, pairs, .. } = self;
        // Most lists change little or not at all.
        let mut least = Cost::MAX;
        let mut same = 0;
        for pair in pairs.items(region.entries()) {
            let (side, is_cut) = pair.group.side(point.cell);
            if is_cut || pair.cost() > nodes || !store.is_inside(&pair.bounds[side], point) {
                break;
            }
            least = least.min(pair.cost());
            same += 1;
        }
        if same == region.count as usize {
            return Change::Nothing;
        }
        pairs.make_room(2 * region.count as usize);
        let first = pairs.len();
        let mut end = first;
        for index in region.entries().take(same) {
            pairs.copy(index, end);
            end += 1;
        }
        for index in region.entries().skip(same) {
            let group = pairs.item(index).group;
            let (side, is_cut) = group.side(point.cell);
            if is_cut {
                let pair = pairs.copy(index, end);
                pair.group = group.cut(point.cell)[1];
                if Self::add_to_pair(store, pair, 0, nodes, point) {
                    least = least.min(pair.cost());
                    end += 1;
                }
            }
            let pair = pairs.copy(index, end);
            if is_cut {
                pair.group = group.cut(point.cell)[0];
            }
            if Self::add_to_pair(store, pair, side, nodes, point) {
                least = least.min(pair.cost());
                end += 1;
            }
        }
        pairs.grow_to(end);
        region.become_split(first, end - first, least)
    }

    /// Adds one more point to one side of a pair; whether it stays within its budget.
    #[inline(always)]
    fn add_to_pair(
        store: &mut S,
        pair: &mut Pair<S::Bounds>,
        side: usize,
        nodes: Cost,
        point: &Point<'_, S>,
    ) -> bool {
        let bounds = &mut pair.bounds[side];
        if !store.is_inside(bounds, point) {
            *bounds = store.copy(bounds);
            store.widen(bounds, point);
            let Some(cost) = store.cost_without_split(bounds) else { return false };
            pair.costs[side] = cost as u8;
        }
        pair.cost() <= nodes
    }
}

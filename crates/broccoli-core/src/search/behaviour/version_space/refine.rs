//! One more point: what it does to the regions, and whether they can take it.

use super::{Budget, Change, Cost, Entry, Fit, Region, VersionSpace, Way};
use crate::search::behaviour::bounds::{Point, Store};

impl<S: Store> VersionSpace<S> {
    /// Whether a region stays within its budget with one more point.
    #[inline(always)]
    pub(super) fn fits(
        &self,
        region: &Region<S::Bounds>,
        budget: Budget,
        point: &Point<'_, S>,
        way: Option<&Way<'_>>,
    ) -> Fit {
        if region.count > 0 {
            return match budget.depth {
                2 => Fit::within(self.flat_fit(region, budget.nodes, point)),
                _ => self.entries_fit(region, budget, point, way),
            };
        }
        if region.is_two() {
            return Fit::within(self.two_fit(region, budget, point, way).then_some(2));
        }
        let (is_enough, cost) = match self.store.cost_with(&region.bounds, point) {
            Some(cost) => (Some(budget.covers(cost)), cost),
            None if budget.depth < 2 || budget.nodes < 2 => (Some(false), 2),
            None if budget.nodes == 2 => (self.two_suffice(&region.bounds, point, way), 2),
            None => (None, 2),
        };
        is_enough.map_or(Fit::Unknown, |is_enough| Fit::within(is_enough.then_some(cost)))
    }

    /// [`VersionSpace::fits`] for a region of depth 3 or more that is split.
    #[inline(never)]
    fn entries_fit(
        &self,
        region: &Region<S::Bounds>,
        budget: Budget,
        point: &Point<'_, S>,
        way: Option<&Way<'_>>,
    ) -> Fit {
        let mut is_unknown = false;
        let mut is_whole_known = false;
        for entry in self.entries[budget.depth as usize - 3].items(region.entries()) {
            if entry.cost() > budget.nodes {
                continue; // more points never make it cheaper
            }
            let (mut side, mut is_cut) = entry.group.side(point.cell);
            loop {
                let is_whole = self.is_whole(entry, side);
                let others = 1 + entry.sides[1 - side].cost;
                if !(is_whole && is_whole_known)
                    && let Some(budget) = budget.side(others)
                {
                    is_whole_known |= is_whole;
                    let way = Way::new(entry.group, side, way);
                    match self.fits(&entry.sides[side], budget, point, Some(&way)) {
                        Fit::Within(cost) => return Fit::Within(others + cost),
                        Fit::No => {}
                        Fit::Unknown => is_unknown = true,
                    }
                }
                if !is_cut {
                    break;
                }
                (side, is_cut) = (1 - side, false);
            }
        }
        if is_unknown { Fit::Unknown } else { Fit::No }
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
                2 => self.refine_flat(region, budget.nodes, point),
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
        let first = entries.len();
        let (old, new) = entries.with_room(region.entries());
        let mut count = 0;
        let mut is_changed = false;
        let (mut least, mut best) = (Cost::MAX, 0);
        let mut whole = None;
        for old in old {
            let group = old.group;
            let (side, is_cut) = group.side(point.cell);
            if is_cut {
                let entry = &mut new[count];
                *entry = *old;
                entry.group = group.cut(point.cell)[1];
                if self.add_to_entry(entry, 0, budget, point, way, &mut whole) != Change::Impossible {
                    (least, best) = (least, best).min((entry.cost(), count));
                    count += 1;
                }
            }
            let entry = &mut new[count];
            *entry = *old;
            if is_cut {
                entry.group = group.cut(point.cell)[0];
            }
            let change = self.add_to_entry(entry, side, budget, point, way, &mut whole);
            is_changed |= is_cut || change != Change::Nothing;
            if change != Change::Impossible {
                (least, best) = (least, best).min((entry.cost(), count));
                count += 1;
            }
        }
        if is_changed {
            entries.grow(count);
            entries.swap(first, first + best);
        }
        self.entries[level] = entries;
        if !is_changed {
            return Change::Nothing;
        }
        region.become_split(first, count, least)
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
        let way = Way::new(entry.group, side, way);
        let change = self.add(&mut entry.sides[side], budget, point, Some(&way));
        if is_whole {
            *whole = Some((change, entry.sides[side]));
        }
        change
    }
}

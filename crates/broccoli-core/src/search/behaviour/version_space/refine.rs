//! One more point: what it does to the regions, and whether they can take it.
//!
//! What is not `DEEP` is compiled apart: a region that cannot be split, or one whose sides cannot.

use super::{Cost, Entry, Fit, Group, IMPOSSIBLE, Place, Region, VersionSpace};
use crate::search::behaviour::bounds::{Point, Store};

impl<S: Store> VersionSpace<S> {
    /// Whether a region stays within its budget with one more point. It is within it without.
    #[inline(always)]
    pub(super) fn fits<const DEEP: bool>(
        &self,
        region: &Region<S::Bounds>,
        point: &Point<'_, S>,
        place: &Place<'_>,
    ) -> Fit {
        let two = || if self.two_fit(region, point, place) { Fit::Within(2) } else { Fit::No };
        if DEEP && region.cost > 1 {
            return match (region.count, place.depth) {
                (0, _) => two(),
                (_, 2) => self.entries_fit::<false>(region, point, place),
                _ => self.deep_entries_fit(region, point, place),
            };
        }
        let cost = self.store.cost(&region.bounds, Some(point));
        match place.nodes {
            nodes if cost <= nodes => Fit::Within(cost),
            2 if DEEP && S::HAS_DIRECTIONS => two(),
            2.. if DEEP => Fit::Unknown,
            _ => Fit::No,
        }
    }

    /// The same for a region with entries.
    #[inline(always)]
    fn entries_fit<const DEEP: bool>(
        &self,
        region: &Region<S::Bounds>,
        point: &Point<'_, S>,
        place: &Place<'_>,
    ) -> Fit {
        let (mut fit, mut is_whole_known) = (Fit::No, false);
        for entry in &self.entries[place.depth as usize - 2].items[region.entries()] {
            if DEEP && entry.cost() > place.nodes {
                continue; // more points never make it cheaper
            }
            let (mut side, is_cut) = entry.group.side(point.cell);
            loop {
                let spent = 1 + entry.sides[1 - side].cost;
                let is_whole = DEEP && entry.is_whole(side, S::EMPTY);
                if (DEEP || spent <= place.nodes) && !(is_whole && is_whole_known) {
                    is_whole_known |= is_whole;
                    let place = place.side(entry.group, side, spent);
                    match self.fits::<DEEP>(&entry.sides[side], point, &place) {
                        Fit::Within(cost) => return Fit::Within(spent + cost),
                        Fit::Unknown => fit = Fit::Unknown,
                        Fit::No => {}
                    }
                }
                if side == 0 || !is_cut {
                    break;
                }
                side = 0;
            }
        }
        fit
    }

    /// The one that calls itself.
    #[inline(never)]
    fn deep_entries_fit(&self, region: &Region<S::Bounds>, point: &Point<'_, S>, place: &Place<'_>) -> Fit {
        self.entries_fit::<true>(region, point, place)
    }

    /// Adds one more point to a region; says whether it is another one. If it goes beyond its budget its
    /// cost does, and the rest of it is of no interest.
    #[inline(always)]
    pub(super) fn add<const DEEP: bool>(
        &mut self,
        region: &mut Region<S::Bounds>,
        point: &Point<'_, S>,
        place: &Place<'_>,
    ) -> bool {
        if DEEP && region.cost > 1 {
            return match (region.count, place.depth) {
                (0, _) => self.add_to_two(region, point, place),
                (_, 2) => self.refine::<false>(region, point, place),
                _ => self.refine::<true>(region, point, place),
            };
        }
        region.cost = self.store.cost(&region.bounds, Some(point));
        let is_other = self.store.widen(&mut region.bounds, point);
        if DEEP && region.cost == IMPOSSIBLE {
            self.split(region, place);
        }
        is_other
    }

    /// Brings the entries of a region up to date with one more point; says whether it is another one. The new list is
    /// written on top of the stack, and left there if it is. All that cannot be predicted is done without a branch.
    #[inline(never)]
    fn refine<const DEEP: bool>(
        &mut self,
        region: &mut Region<S::Bounds>,
        point: &Point<'_, S>,
        place: &Place<'_>,
    ) -> bool {
        let level = place.depth as usize - 2;
        // Only lists of lesser depth are written meanwhile.
        let mut entries = std::mem::take(&mut self.entries[level]);
        let first = entries.len;
        let (old, new) = entries.with_room(region.entries());
        let (mut count, mut is_changed, mut whole) = (0, false, None);
        let (mut least, mut best) = (IMPOSSIBLE, 0);
        for old in old {
            let (side, is_cut) = old.group.side(point.cell);
            let mut group = old.group;
            if is_cut {
                let [others, these] = group.cut(point.cell);
                let (cost, _) =
                    self.add_to_entry::<DEEP>(old, &mut new[count], (others, 0), point, place, &mut whole);
                (least, best) = if cost < least { (cost, count) } else { (least, best) };
                count += usize::from(cost <= place.nodes);
                group = these;
            }
            let (cost, is_other) =
                self.add_to_entry::<DEEP>(old, &mut new[count], (group, side), point, place, &mut whole);
            (least, best) = if cost < least { (cost, count) } else { (least, best) };
            count += usize::from(cost <= place.nodes);
            is_changed |= is_other | is_cut | (cost > place.nodes);
        }
        if is_changed {
            entries.len += count;
            region.become_split(&mut entries, first, least, first + best);
        }
        self.entries[level] = entries;
        is_changed
    }

    /// Writes an entry down elsewhere, for some of its predicates, with one more point on one side of it; its cost
    /// then, and whether it is another one. All entries that have all points of their region on one side have the same
    /// points there: what became of them is worked out once.
    #[inline(always)]
    fn add_to_entry<const DEEP: bool>(
        &mut self,
        old: &Entry<S::Bounds>,
        entry: &mut Entry<S::Bounds>,
        (group, side): (Group, usize),
        point: &Point<'_, S>,
        place: &Place<'_>,
        whole: &mut Option<(Region<S::Bounds>, bool)>,
    ) -> (Cost, bool) {
        *entry = *old;
        entry.group = group;
        let region = &mut entry.sides[side];
        let spent = 1 + old.sides[1 - side].cost;
        let is_whole = DEEP && old.is_whole(side, S::EMPTY);
        let is_other = match *whole {
            Some((known, is_other)) if is_whole => {
                *region = known;
                is_other
            }
            _ => self.add::<DEEP>(region, point, &place.side(group, side, spent)),
        };
        if is_whole {
            *whole = Some((*region, is_other));
        }
        (spent + region.cost, is_other)
    }
}

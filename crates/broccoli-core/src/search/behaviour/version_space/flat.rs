//! Regions of depth 2. Their sides are never split, so an entry is a flat record of bounds and costs: most of the
//! work is done on these.

use super::split::Scratch;
use super::{Change, Cost, Group, Region, VersionSpace, Way};
use crate::search::behaviour::bounds::{Point, Store};

/// An [entry](super::Entry) of a region of depth 2.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlatEntry<B> {
    pub(super) group: Group,
    pub(super) costs: [u8; 2],
    pub(super) bounds: [B; 2],
}

impl<S: Store> VersionSpace<S> {
    /// [`VersionSpace::split`] for a region of depth 2.
    pub(super) fn split_flat(
        &mut self,
        region: &mut Region<S::Bounds>,
        nodes: Cost,
        way: Option<&Way<'_>>,
    ) -> Change {
        let first = self.flat.len();
        let mut scratch = std::mem::take(&mut self.flat_scratch);
        self.find_members(way, &mut scratch);
        let mut cost = Cost::MAX;
        for dimension in 0..self.thresholds.len() {
            cost = cost.min(self.enter_flat::<0>(dimension, &mut scratch, nodes));
            cost = cost.min(self.enter_flat::<1>(dimension, &mut scratch, nodes));
        }
        self.flat_scratch = scratch;
        region.become_split(first, self.flat.len() - first, cost)
    }

    /// Makes the entries of one dimension that have the last point on one side, the nearest threshold first, as long
    /// as this side needs no split; the least of their costs.
    #[inline(always)]
    fn enter_flat<const SIDE: usize>(
        &mut self,
        dimension: usize,
        scratch: &mut Scratch<S::Bounds>,
        nodes: Cost,
    ) -> Cost {
        let mut least = Cost::MAX;
        let mut bounds = scratch.near[dimension][SIDE];
        let Some(mut cost) = self.store.cost_without_split(&bounds) else { return least };
        self.find_far::<SIDE>(dimension, scratch);
        for (taken, other) in scratch.others.iter().rev().enumerate() {
            if let Some(group) = self.group::<SIDE>(dimension, scratch, taken) {
                let other_cost = self.store.cost_without_split(other).unwrap_or(2);
                let all = 1 + cost + other_cost;
                if all <= nodes {
                    least = least.min(all);
                    let [cost, other_cost] = [cost as u8, other_cost as u8];
                    self.flat.push(match SIDE {
                        0 => FlatEntry { group, costs: [cost, other_cost], bounds: [bounds, *other] },
                        _ => FlatEntry { group, costs: [other_cost, cost], bounds: [*other, bounds] },
                    });
                }
            }
            let Some(next) = scratch.far.get(taken) else { break };
            bounds = self.store.copy(&bounds);
            self.store.widen(&mut bounds, &self.points.point(next.index()));
            match self.store.cost_without_split(&bounds) {
                Some(more) => cost = more,
                None => break,
            }
        }
        least
    }

    /// [`VersionSpace::fits`] for a region of depth 2 that is split.
    #[inline]
    pub(super) fn flat_fit(
        &self,
        region: &Region<S::Bounds>,
        nodes: Cost,
        point: &Point<'_, S>,
    ) -> Option<Cost> {
        for entry in self.flat.items(region.entries()) {
            let (side, is_cut) = entry.group.side(point.cell);
            let fits = |side: usize| {
                let cost = self.store.cost_with(&entry.bounds[side], point)?;
                Some(1 + Cost::from(entry.costs[1 - side]) + cost).filter(|&cost| cost <= nodes)
            };
            let cost = fits(side).or_else(|| if is_cut { fits(1 - side) } else { None });
            if cost.is_some() {
                return cost;
            }
        }
        None
    }

    /// [`VersionSpace::refine`] for a region of depth 2.
    #[inline(never)]
    pub(super) fn refine_flat(
        &mut self,
        region: &mut Region<S::Bounds>,
        nodes: Cost,
        point: &Point<'_, S>,
    ) -> Change {
        let VersionSpace { store, flat, .. } = self;
        let first = flat.len();
        let (old, new) = flat.with_room(region.entries());
        let mut count = 0;
        let mut is_changed = false;
        let mut least = Cost::MAX;
        // All that cannot be predicted is done without a branch.
        for entry in old {
            let (side, is_cut) = entry.group.side(point.cell);
            if is_cut {
                let (cost, _) = entry.add(store, 0, point, &mut new[count]);
                new[count].group = entry.group.cut(point.cell)[1];
                least = least.min(cost);
                count += usize::from(cost <= nodes);
            }
            let (cost, is_other) = entry.add(store, side, point, &mut new[count]);
            if is_cut {
                new[count].group = entry.group.cut(point.cell)[0];
            }
            is_changed |= is_other | is_cut | (cost > nodes);
            least = least.min(cost);
            count += usize::from(cost <= nodes);
        }
        if !is_changed {
            return Change::Nothing;
        }
        flat.grow(count);
        region.become_split(first, count, least)
    }
}

impl<B: Copy> FlatEntry<B> {
    /// Writes it down elsewhere with one more point on one side of it; its cost then, and whether it is another one.
    #[inline(always)]
    fn add<S: Store<Bounds = B>>(
        &self,
        store: &mut S,
        side: usize,
        point: &Point<'_, S>,
        place: &mut Self,
    ) -> (Cost, bool) {
        let (cost, other) = (Cost::from(self.costs[side]), Cost::from(self.costs[1 - side]));
        let (bounds, is_other, cost) = store.with(&self.bounds[side], cost, point);
        // A changed copy that is written there would have to wait until it is changed.
        *place = *self;
        place.bounds[side] = bounds;
        place.costs[side] = cost as u8;
        // A side that needs a split is beyond any budget.
        (if cost < 2 { 1 + cost + other } else { Cost::MAX }, is_other)
    }
}

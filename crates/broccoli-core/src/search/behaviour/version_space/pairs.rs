//! Regions of depth 2. Their sides are never split, so an entry is a flat pair of bounds and costs: most of the
//! work is done on these.

use super::split::Scratch;
use super::stack::Stack;
use super::{Change, Cost, Group, Region, VersionSpace, Way};
use crate::search::behaviour::bounds::{Point, Store};

/// An [entry](super::Entry) of a region of depth 2.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair<B> {
    pub(super) group: Group,
    pub(super) costs: [u8; 2],
    pub(super) bounds: [B; 2],
}

impl<S: Store> VersionSpace<S> {
    /// Whether a region of depth 2 that needs no split without one more point can be split with it, if that is
    /// quickly told. A side without the point needs no split.
    #[inline(never)]
    pub(super) fn pairs_suffice(&self, point: &Point<'_, S>, way: Option<&Way<'_>>) -> Option<bool> {
        let members = self.points.iter().rev().filter(S::is_at_end(way));
        self.store.are_simple_around(members, point)
    }

    /// [`VersionSpace::split`] for a region of depth 2.
    pub(super) fn split_into_pairs(
        &mut self,
        region: &mut Region<S::Bounds>,
        nodes: Cost,
        way: Option<&Way<'_>>,
    ) -> Change {
        let first = self.pairs.len();
        let mut scratch = std::mem::take(&mut self.scratch_of_pairs);
        self.find_members(way, &mut scratch);
        let mut cost = Cost::MAX;
        for dimension in 0..self.thresholds.len() {
            cost = cost.min(self.pair::<0>(dimension, &mut scratch, nodes));
            cost = cost.min(self.pair::<1>(dimension, &mut scratch, nodes));
        }
        self.scratch_of_pairs = scratch;
        region.become_split(first, self.pairs.len() - first, cost)
    }

    /// Makes the pairs of one dimension that have the last point on one side, the nearest threshold first, as long
    /// as this side needs no split; the least of their costs.
    #[inline(always)]
    fn pair<const SIDE: usize>(
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
                    self.pairs.push(match SIDE {
                        0 => Pair { group, costs: [cost, other_cost], bounds: [bounds, *other] },
                        _ => Pair { group, costs: [other_cost, cost], bounds: [*other, bounds] },
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
    pub(super) fn pairs_fit(
        &self,
        region: &Region<S::Bounds>,
        nodes: Cost,
        point: &Point<'_, S>,
    ) -> Option<Cost> {
        for pair in self.pairs.items(region.entries()) {
            let (side, is_cut) = pair.group.side(point.cell);
            let fits = |side: usize| {
                let cost = self.store.cost_with(&pair.bounds[side], point)?;
                Some(1 + Cost::from(pair.costs[1 - side]) + cost).filter(|&cost| cost <= nodes)
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
    pub(super) fn refine_pairs(
        &mut self,
        region: &mut Region<S::Bounds>,
        nodes: Cost,
        point: &Point<'_, S>,
    ) -> Change {
        let VersionSpace { store, pairs, .. } = self;
        pairs.make_room(2 * region.count as usize);
        let first = pairs.len();
        let mut end = first;
        let mut is_changed = false;
        let mut least = Cost::MAX;
        // All that cannot be predicted is done without a branch.
        for index in region.entries() {
            let group = pairs.item(index).group;
            let (side, is_cut) = group.side(point.cell);
            if is_cut {
                let (pair, cost, _) = Self::add_to_pair(store, pairs, index, end, 0, point);
                pair.group = group.cut(point.cell)[1];
                least = least.min(cost);
                end += usize::from(cost <= nodes);
            }
            let (pair, cost, is_other) = Self::add_to_pair(store, pairs, index, end, side, point);
            if is_cut {
                pair.group = group.cut(point.cell)[0];
            }
            is_changed |= is_other | is_cut | (cost > nodes);
            least = least.min(cost);
            end += usize::from(cost <= nodes);
        }
        if !is_changed {
            return Change::Nothing;
        }
        pairs.grow_to(end);
        region.become_split(first, end - first, least)
    }

    /// Copies a pair with one more point on one side of it; its cost, and whether it is another one.
    #[inline(always)]
    fn add_to_pair<'p>(
        store: &mut S,
        pairs: &'p mut Stack<Pair<S::Bounds>>,
        from: usize,
        to: usize,
        side: usize,
        point: &Point<'_, S>,
    ) -> (&'p mut Pair<S::Bounds>, Cost, bool) {
        let Pair { costs, bounds, .. } = pairs.item(from);
        let (cost, other) = (Cost::from(costs[side]), Cost::from(costs[1 - side]));
        let (bounds, is_other, cost) = store.with(&bounds[side], cost, point);
        let pair = pairs.copy(from, to);
        pair.bounds[side] = bounds;
        pair.costs[side] = cost as u8;
        // A side that needs a split is beyond any budget.
        let cost = if cost < 2 { 1 + cost + other } else { Cost::MAX };
        (pair, cost, is_other)
    }
}

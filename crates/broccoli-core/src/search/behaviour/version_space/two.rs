//! Regions that may have two predicates and no more. No entries are made of them.
//!
//! A tree of two predicates has three leaves. With two labels, one of these has two leaves, and the points of
//! the other one, X, are where both predicates lead to the third leaf. So two predicates do exactly if there
//! are two directions in one of which each point that is not of X is beyond the bounds of X. There are at most
//! eight directions, up and down in each dimension, and 64 pairs of them: those that are left are one number
//! for each label as X.

use super::{Budget, Change, Region, VersionSpace, Way};
use crate::search::behaviour::bounds::{Point, Store};

/// By label X, the pairs of directions in one of which each point of the other label is beyond the bounds of X.
pub(super) type DirectionPairs = [u64; 2];

impl<S: Store> VersionSpace<S> {
    /// Whether two predicates tell the points of a region apart that needs no split without one more point, if
    /// that is quickly told.
    ///
    /// If the new point is beyond the bounds of the other label in some direction, a predicate there has on one
    /// side the new point and no point of the other label. What is left one predicate tells apart. If it is not,
    /// the other label cannot be X.
    #[inline(never)]
    pub(super) fn two_suffice(
        &self,
        bounds: &S::Bounds,
        point: &Point<'_, S>,
        way: Option<&Way<'_>>,
    ) -> Option<bool> {
        let other = self.store.only_other(bounds, point.label)?;
        let is_beyond = self.store.directions_beyond(bounds, other, None, point) != 0;
        Some(is_beyond || self.directions_beyond(u64::MAX, bounds, point.label, Some(point), way) != 0)
    }

    /// Splits a region, one that costs more than 1, by two predicates.
    pub(super) fn split_by_two(&mut self, region: &mut Region<S::Bounds>, way: Option<&Way<'_>>) -> Change {
        let pairs = [0, 1].map(|label| self.directions_beyond(u64::MAX, &region.bounds, label, None, way));
        self.become_two(region, pairs)
    }

    fn become_two(&mut self, region: &mut Region<S::Bounds>, pairs: DirectionPairs) -> Change {
        if pairs == [0, 0] {
            return Change::Impossible;
        }
        (region.first, region.cost) = (self.twos.len() as u32, 2);
        self.twos.push(pairs);
        Change::Another
    }

    /// Whether two predicates still do for a region with one more point.
    #[inline]
    pub(super) fn two_fit(
        &self,
        region: &Region<S::Bounds>,
        budget: Budget,
        point: &Point<'_, S>,
        way: Option<&Way<'_>>,
    ) -> bool {
        let [own, other] = self.directions_of(region, point);
        budget.nodes >= 2
            && (other != 0
                || own != 0
                    && (self.store.is_inside(&region.bounds, point)
                        || self.directions_beyond(own, &region.bounds, point.label, Some(point), way) != 0))
    }

    /// Adds one more point to a region that costs two predicates.
    #[inline]
    pub(super) fn add_to_two(
        &mut self,
        region: &mut Region<S::Bounds>,
        budget: Budget,
        point: &Point<'_, S>,
        way: Option<&Way<'_>>,
    ) -> Change {
        let [mut own, other] = self.directions_of(region, point);
        if budget.nodes < 2 || own == 0 && other == 0 {
            return Change::Impossible;
        }
        let label = usize::from(point.label);
        let is_inside = self.store.is_inside(&region.bounds, point);
        if is_inside && other == self.twos.item(region.first as usize)[1 - label] {
            return Change::Nothing;
        }
        if !is_inside {
            region.bounds = self.store.copy(&region.bounds);
            self.store.widen(&mut region.bounds, point);
            // Pairs that are lost are lost for good.
            if own != 0 {
                own = self.directions_beyond(own, &region.bounds, point.label, None, way);
            }
        }
        let mut pairs = [own; 2];
        pairs[1 - label] = other;
        self.become_two(region, pairs)
    }

    /// The pairs with the label of a point as X, before it is added, and those with the other label, after that.
    #[inline(always)]
    fn directions_of(&self, region: &Region<S::Bounds>, point: &Point<'_, S>) -> DirectionPairs {
        let pairs = self.twos.item(region.first as usize);
        let (own, other) = (usize::from(point.label), usize::from(point.label == 0));
        [pairs[own], pairs[other] & self.store.directions_beyond(&region.bounds, other, None, point)]
    }

    /// Those of some pairs of directions in one of which each point of a region with another label is beyond the
    /// bounds of this one, with one more point if there is one.
    fn directions_beyond(
        &self,
        mut pairs: u64,
        bounds: &S::Bounds,
        label: u16,
        more: Option<&Point<'_, S>>,
        way: Option<&Way<'_>>,
    ) -> u64 {
        // If there were only one direction left, one predicate would do.
        pairs &= self.store.directions_across(bounds, usize::from(label), more);
        if pairs == 0 {
            return 0;
        }
        let is_at_end = S::is_at_end(way);
        for point in self.points.iter().rev() {
            if point.label != label && is_at_end(&point) {
                pairs &= self.store.directions_beyond(bounds, usize::from(label), more, &point);
                if pairs == 0 {
                    break;
                }
            }
        }
        pairs
    }
}

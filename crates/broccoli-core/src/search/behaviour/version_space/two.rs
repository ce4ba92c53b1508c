//! Regions that may have two predicates and no more. No entries are made of them.
//!
//! A tree of two predicates has three leaves. With two labels, one of these has two leaves, and the points of the
//! other one, X, are where both predicates lead to the third leaf. So two predicates do exactly if there are two
//! directions in one of which each point that is not of X is beyond the bounds of X. There are at most eight
//! directions, up and down in each dimension, and 64 pairs: those that are left are one number for each label as X.

use super::{IMPOSSIBLE, Place, Region, VersionSpace};
use crate::search::behaviour::bounds::{Point, Store};

/// By label X, the pairs of directions in one of which each point of the other label is beyond the bounds of X.
pub(super) type DirectionPairs = [u64; 2];

/// By set of eight directions, the pairs of directions one of which is in the set.
static PAIRS_WITH: [u64; 256] = {
    let mut pairs_with = [0; 256];
    let mut place = 0;
    while place < 256 * 64 {
        let (set, pair) = (place / 64, place % 64);
        let is_in = set >> (pair / 8) & 1 == 1 || set >> (pair % 8) & 1 == 1;
        pairs_with[set] |= (is_in as u64) << pair;
        place += 1;
    }
    pairs_with
};

#[inline(always)]
fn pairs_with(directions: u8) -> u64 {
    PAIRS_WITH[usize::from(directions)]
}

impl<S: Store> VersionSpace<S> {
    /// Splits a region by two predicates, if they do.
    pub(super) fn split_by_two(&mut self, region: &mut Region<S::Bounds>, place: &Place<'_>) {
        let pairs = [0, 1].map(|label| self.pairs_left(u64::MAX, &region.bounds, label, None, place));
        self.become_two(region, pairs);
    }

    fn become_two(&mut self, region: &mut Region<S::Bounds>, pairs: DirectionPairs) {
        region.cost = if pairs == [0, 0] { IMPOSSIBLE } else { 2 };
        region.first = self.twos.len() as u32;
        self.twos.push(pairs);
    }

    /// Whether two predicates do for a region with one more point. They do without it.
    ///
    /// If one does without it, all pairs are left. Then if the new point is beyond the bounds of the other label in
    /// some direction, a predicate there has on one side the new point and no point of the other label. What is left
    /// one predicate tells apart. If it is not, the other label cannot be X.
    #[inline]
    pub(super) fn two_fit(
        &self,
        region: &Region<S::Bounds>,
        point: &Point<'_, S>,
        place: &Place<'_>,
    ) -> bool {
        let pairs = self.pairs_of(region, point);
        let own = pairs[usize::from(point.label)];
        let reach = self.store.reach_of(&region.bounds, point.label, None);
        pairs[usize::from(1 - point.label)] != 0
            || own != 0
                && (S::farther(point.corners, reach) == 0
                    || self.pairs_left(own, &region.bounds, point.label, Some(point), place) != 0)
    }

    /// Adds one more point to a region that costs two predicates; says whether it is another one.
    #[inline]
    pub(super) fn add_to_two(
        &mut self,
        region: &mut Region<S::Bounds>,
        point: &Point<'_, S>,
        place: &Place<'_>,
    ) -> bool {
        let mut pairs = self.pairs_of(region, point);
        let own = &mut pairs[usize::from(point.label)];
        let is_other = self.store.widen(&mut region.bounds, point);
        // Pairs that are lost are lost for good.
        if is_other && *own != 0 {
            *own = self.pairs_left(*own, &region.bounds, point.label, None, place);
        }
        let is_changed = is_other || pairs != self.twos[region.first as usize];
        if is_changed {
            self.become_two(region, pairs);
        }
        is_changed
    }

    /// The pairs with the label of a point as X, before it is added, and those with the other label, after that.
    #[inline(always)]
    fn pairs_of(&self, region: &Region<S::Bounds>, point: &Point<'_, S>) -> DirectionPairs {
        let mut pairs = self.twos[region.first as usize];
        let other = 1 - point.label;
        let reach = self.store.reach_of(&region.bounds, other, None);
        pairs[usize::from(other)] &= pairs_with(S::farther(point.corners, reach));
        pairs
    }

    /// Those of some pairs of directions in one of which each point of a region with another label is beyond the
    /// bounds of this one, with one more point if there is one.
    fn pairs_left(
        &self,
        mut pairs: u64,
        bounds: &S::Bounds,
        label: u16,
        more: Option<&Point<'_, S>>,
        place: &Place<'_>,
    ) -> u64 {
        let reach = self.store.reach_of(bounds, label, more);
        // In both some point of the other label is beyond it: else one predicate would do.
        pairs &= !pairs_with(!S::farther(self.store.reach_of(bounds, 1 - label, None), reach));
        let is_in = S::is_in(place);
        for index in (0..self.len()).rev() {
            if pairs == 0 {
                break;
            }
            let point = self.points.point(index);
            if point.label != label && is_in(&point) {
                pairs &= pairs_with(S::farther(point.corners, reach));
            }
        }
        pairs
    }
}

//! Bounds in the machine's wide registers.

use super::{Point, Store, cost_of, pairs_with};
use crate::search::behaviour::lanes::Lanes;
use crate::search::behaviour::version_space::{Cost, Way};

/// Of up to four dimensions, the greatest ranks, then the complements of the least; zeros if there is no point.
/// So one more point is a maximum in each place. Dimensions that there are not have all ranks.
type Corners = Lanes;

/// Whether bounds are disjoint in some dimension: where they overlap, a greatest rank and the complement of the other's least one
/// add up to at least the greatest number there is.
#[inline(always)]
fn are_disjoint(a: Corners, b: Corners) -> bool {
    !a.all_reach_across(b)
}

/// Bounds for `D` dimensions, at most four, and `L` labels, held in the handle itself.
pub(in super::super) struct Inline<const D: usize, const L: usize>;

impl<const D: usize, const L: usize> Store for Inline<D, L> {
    type Bounds = [Corners; L];
    type Corners = Corners;

    fn new(dimensions: usize, labels: usize) -> Self {
        debug_assert_eq!((dimensions, labels), (D, L));
        Inline
    }

    #[inline(always)]
    fn corners(cell: &[u16]) -> Corners {
        let cell = &cell[..D];
        Lanes::new(std::array::from_fn(|i| match i {
            _ if i % 4 >= D => u16::MAX,
            0..4 => cell[i],
            _ => !cell[i - 4],
        }))
    }

    #[inline(always)]
    fn is_at_end<'w>(mut way: Option<&'w Way<'w>>) -> impl Fn(&Point<'_, Self>) -> bool + use<'w, D, L> {
        let mut corners = Lanes::greatest();
        while let Some(&Way { dimension, k, side, before }) = way {
            let (place, most) = if side == 0 { (dimension, k) } else { (4 + dimension, !(k + 1)) };
            corners = corners.min(Lanes::only(place, most));
            way = before;
        }
        move |point| point.corners.are_within(corners)
    }

    #[inline(always)]
    fn empty(&self) -> Self::Bounds {
        [Lanes::zero(); L]
    }

    #[inline(always)]
    fn are_empty(&self, bounds: &Self::Bounds) -> bool {
        bounds.iter().all(|corners| corners.is_zero())
    }

    #[inline(always)]
    fn copy(&mut self, bounds: &Self::Bounds) -> Self::Bounds {
        *bounds
    }

    #[inline(always)]
    fn widen(&mut self, bounds: &mut Self::Bounds, point: &Point<'_, Self>) {
        if L == 2 {
            // Both stay in registers: one that is chosen by the label would have to be in memory.
            let is_second = Lanes::all(point.label == 1);
            bounds[0] = bounds[0].max(point.corners.and_not(is_second));
            bounds[1] = bounds[1].max(point.corners.and(is_second));
            return;
        }
        let own = &mut bounds[usize::from(point.label)];
        *own = own.max(point.corners);
    }

    #[inline(always)]
    fn with(
        &mut self,
        bounds: &Self::Bounds,
        _: Cost,
        point: &Point<'_, Self>,
    ) -> (Self::Bounds, bool, Cost) {
        // Without a branch: it cannot be predicted.
        let is_inside = self.is_inside(bounds, point);
        let mut with = *bounds;
        self.widen(&mut with, point);
        if L == 2 {
            let are_both = !with[0].is_zero() & !with[1].is_zero();
            let are_across = !are_disjoint(with[0], with[1]);
            return (with, !is_inside, Cost::from(are_both) + Cost::from(are_both & are_across));
        }
        (with, !is_inside, self.cost_without_split(&with).unwrap_or(2))
    }

    #[inline(always)]
    fn widen_around(
        &mut self,
        bounds: &mut [[Self::Bounds; 2]],
        other: &Point<'_, Self>,
        point: &Point<'_, Self>,
    ) {
        // A greater rank has a lesser complement. Without a branch: zeros widen nothing.
        let at_most = point.corners.at_most(other.corners);
        let mut widen = |dimension: usize, side: usize, mask: Lanes| {
            if dimension < D {
                let own = &mut bounds[dimension][side][usize::from(point.label)];
                *own = own.max(point.corners.and(mask));
            }
        };
        widen(0, 0, at_most.spread::<0>());
        widen(0, 1, at_most.spread::<4>());
        widen(1, 0, at_most.spread::<1>());
        widen(1, 1, at_most.spread::<5>());
        widen(2, 0, at_most.spread::<2>());
        widen(2, 1, at_most.spread::<6>());
        widen(3, 0, at_most.spread::<3>());
        widen(3, 1, at_most.spread::<7>());
    }

    #[inline(always)]
    fn are_simple_around<'p>(
        &self,
        points: impl Iterator<Item = Point<'p, Self>>,
        last: &Point<'_, Self>,
    ) -> Option<bool> {
        let mut near = [[[Lanes::zero(); L]; 2]; D];
        Inline.widen_around(&mut near, last, last);
        let are_simple = |near: &[[Self::Bounds; 2]]| {
            near.as_flattened().iter().any(|bounds| self.cost_without_split(bounds).is_some())
        };
        for (number, point) in (1..).zip(points) {
            Inline.widen_around(&mut near, last, &point);
            if number % 8 == 0 && !are_simple(&near) {
                return Some(false);
            }
        }
        Some(are_simple(&near))
    }

    #[inline(always)]
    fn is_inside(&self, bounds: &Self::Bounds, point: &Point<'_, Self>) -> bool {
        point.corners.are_within(bounds[usize::from(point.label)])
    }

    #[inline(always)]
    fn cost_with(&self, bounds: &Self::Bounds, point: &Point<'_, Self>) -> Option<Cost> {
        if L == 2 {
            let other = bounds[usize::from(point.label == 0)];
            let own = bounds[usize::from(point.label)].max(point.corners);
            return if other.is_zero() { Some(0) } else { are_disjoint(own, other).then_some(1) };
        }
        let mut bounds = *bounds;
        Inline.widen(&mut bounds, point);
        self.cost_without_split(&bounds)
    }

    #[inline(always)]
    fn cost_without_split(&self, bounds: &Self::Bounds) -> Option<Cost> {
        if let &[a, b] = bounds.as_slice() {
            let both = !a.is_zero() & !b.is_zero();
            return if !both { Some(0) } else { are_disjoint(a, b).then_some(1) };
        }
        cost_of(bounds.iter().copied().filter(|corners| !corners.is_zero()), are_disjoint)
    }

    #[inline(always)]
    fn only_other(&self, bounds: &Self::Bounds, label: u16) -> Option<usize> {
        let mut others = (0..L).filter(|&other| other != usize::from(label) && !bounds[other].is_zero());
        others.next().filter(|_| others.next().is_none())
    }

    const HAS_PAIRS: bool = L == 2;

    #[inline(always)]
    fn pairs_beyond(
        &self,
        bounds: &Self::Bounds,
        label: usize,
        more: Option<&Point<'_, Self>>,
        point: &Point<'_, Self>,
    ) -> u64 {
        let own = more.map_or(bounds[label], |more| bounds[label].max(more.corners));
        pairs_with(point.corners.greater(own))
    }

    #[inline(always)]
    fn pairs_across(&self, bounds: &Self::Bounds, label: usize, more: Option<&Point<'_, Self>>) -> u64 {
        let own = more.map_or(bounds[label], |more| bounds[label].max(more.corners));
        let others = (0..L).filter(|&other| other != label).map(|other| bounds[other]);
        let directions = others.fold(Lanes::zero(), Lanes::max).greater(own);
        !pairs_with(!directions)
    }

    fn reach(&self) -> usize {
        0
    }

    fn cut_back(&mut self, _: usize) {}
}

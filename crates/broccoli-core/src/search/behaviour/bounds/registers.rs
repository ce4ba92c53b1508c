//! Bounds of two labels in the machine's wide registers.

use wide::i16x8;

use super::{Point, Store, pairs_with};
use crate::search::behaviour::version_space::{Cost, Way};

/// Of up to four dimensions, the greatest ranks, then the complements of the least; [`NOTHING`] if there is no point.
/// So one more point is a maximum in each place. Dimensions that there are not have all ranks.
type Corners = i16x8;

const NOTHING: Corners = i16x8::splat(i16::MIN);

/// Ranks have no sign, and registers compare numbers that have one.
#[inline(always)]
fn signed(rank: u16) -> i16 {
    (rank ^ 1 << 15).cast_signed()
}

/// Corners where a mask has ones, else nothing.
#[inline(always)]
fn only(mask: i16x8, corners: Corners) -> Corners {
    mask.bitselect(corners, NOTHING)
}

#[inline(always)]
fn mask(is: bool) -> i16x8 {
    i16x8::splat(-i16::from(is))
}

/// The complements of the least ranks, then the greatest.
#[inline(always)]
fn swapped(corners: Corners) -> i16x8 {
    let [a, b, c, d, e, f, g, h] = corners.to_array();
    i16x8::new([e, f, g, h, a, b, c, d])
}

/// Whether some greatest rank of one is less than the least of the other in the same dimension.
#[inline(always)]
fn are_disjoint(a: Corners, b: Corners) -> bool {
    (!swapped(b)).simd_gt(a).any()
}

#[inline(always)]
fn are_within(a: Corners, b: Corners) -> bool {
    a.simd_gt(b).none()
}

/// By direction, a bit for each in which one reaches farther than the other.
#[inline(always)]
fn farther(a: Corners, b: Corners) -> u8 {
    a.simd_gt(b).to_bitmask() as u8
}

/// Bounds for up to four dimensions and two labels, held in the handle itself.
pub(in super::super) struct Registers;

impl Registers {
    /// Whether it can hold bounds of so many dimensions and labels.
    pub(in super::super) fn can_hold(dimensions: usize, labels: usize) -> bool {
        dimensions <= 4 && labels == 2
    }
}

impl Store for Registers {
    type Bounds = [Corners; 2];
    type Corners = Corners;

    fn new(dimensions: usize, labels: usize) -> Self {
        debug_assert!(Registers::can_hold(dimensions, labels));
        Registers
    }

    #[inline(always)]
    fn corners(cell: &[u16]) -> Corners {
        const ALL: i16 = i16::MAX;
        // Few are put together faster without a loop.
        i16x8::new(match *cell {
            [a, b] => {
                let [a, b] = [a, b].map(signed);
                [a, b, ALL, ALL, !a, !b, ALL, ALL]
            }
            [a, b, c, d] => {
                let [a, b, c, d] = [a, b, c, d].map(signed);
                [a, b, c, d, !a, !b, !c, !d]
            }
            _ => {
                let rank = |place: usize| cell.get(place).map(|&rank| signed(rank));
                std::array::from_fn(|place| match place {
                    0..4 => rank(place).unwrap_or(ALL),
                    _ => rank(place - 4).map_or(ALL, |rank| !rank),
                })
            }
        })
    }

    #[inline(always)]
    fn is_at_end<'w>(mut way: Option<&'w Way<'w>>) -> impl Fn(&Point<'_, Self>) -> bool + use<'w> {
        let mut most = [i16::MAX; 8];
        while let Some(&Way { dimension, k, side, before }) = way {
            let (place, corner) = match side {
                0 => (dimension, signed(k)),
                _ => (4 + dimension, !signed(k + 1)),
            };
            let most = &mut most[usize::from(place) % 8];
            *most = corner.min(*most);
            way = before;
        }
        let most = i16x8::new(most);
        move |point| are_within(point.corners, most)
    }

    #[inline(always)]
    fn empty(&self) -> Self::Bounds {
        [NOTHING; 2]
    }

    #[inline(always)]
    fn are_empty(&self, bounds: &Self::Bounds) -> bool {
        bounds[0] == NOTHING && bounds[1] == NOTHING
    }

    #[inline(always)]
    fn copy(&mut self, bounds: &Self::Bounds) -> Self::Bounds {
        *bounds
    }

    #[inline(always)]
    fn widen(&mut self, bounds: &mut Self::Bounds, point: &Point<'_, Self>) {
        // Both stay in registers: one that is chosen by the label would have to be in memory.
        let is_second = mask(point.label == 1);
        bounds[0] = bounds[0].max(only(!is_second, point.corners));
        bounds[1] = bounds[1].max(only(is_second, point.corners));
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
        let are_both = (with[0] != NOTHING) & (with[1] != NOTHING);
        let are_across = !are_disjoint(with[0], with[1]);
        (with, !is_inside, Cost::from(are_both) + Cost::from(are_both & are_across))
    }

    #[inline(always)]
    fn widen_around(
        &mut self,
        bounds: &mut [[Self::Bounds; 2]],
        other: &Point<'_, Self>,
        point: &Point<'_, Self>,
    ) {
        // A greater rank has a lesser complement. Without a branch: nothing widens nothing.
        let is_beyond = point.corners.simd_gt(other.corners).to_array();
        for (dimension, bounds) in bounds.iter_mut().enumerate().take(4) {
            for (side, bounds) in bounds.iter_mut().enumerate() {
                let is_here = i16x8::splat(!is_beyond[4 * side + dimension]);
                let own = &mut bounds[usize::from(point.label)];
                *own = own.max(only(is_here, point.corners));
            }
        }
    }

    #[inline(always)]
    fn is_inside(&self, bounds: &Self::Bounds, point: &Point<'_, Self>) -> bool {
        are_within(point.corners, bounds[usize::from(point.label)])
    }

    #[inline(always)]
    fn cost_with(&self, bounds: &Self::Bounds, point: &Point<'_, Self>) -> Option<Cost> {
        let other = bounds[usize::from(point.label == 0)];
        let own = bounds[usize::from(point.label)].max(point.corners);
        if other == NOTHING { Some(0) } else { are_disjoint(own, other).then_some(1) }
    }

    #[inline(always)]
    fn cost_without_split(&self, &[a, b]: &Self::Bounds) -> Option<Cost> {
        let are_both = (a != NOTHING) & (b != NOTHING);
        if !are_both { Some(0) } else { are_disjoint(a, b).then_some(1) }
    }

    #[inline(always)]
    fn only_other(&self, bounds: &Self::Bounds, label: u16) -> Option<usize> {
        let other = usize::from(label == 0);
        (bounds[other] != NOTHING).then_some(other)
    }

    const HAS_DIRECTIONS: bool = true;

    #[inline(always)]
    fn directions_beyond(
        &self,
        bounds: &Self::Bounds,
        label: usize,
        more: Option<&Point<'_, Self>>,
        point: &Point<'_, Self>,
    ) -> u64 {
        let own = more.map_or(bounds[label], |more| bounds[label].max(more.corners));
        pairs_with(farther(point.corners, own))
    }

    #[inline(always)]
    fn directions_across(&self, bounds: &Self::Bounds, label: usize, more: Option<&Point<'_, Self>>) -> u64 {
        let own = more.map_or(bounds[label], |more| bounds[label].max(more.corners));
        !pairs_with(!farther(bounds[1 - label], own))
    }

    fn reach(&self) -> usize {
        0
    }

    fn cut_back(&mut self, _: usize) {}
}

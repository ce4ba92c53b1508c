//! Bounds of two labels in one of the machine's wide registers, for up to 254 thresholds in a dimension.

use super::{Point, Store, pairs_with};
use crate::search::behaviour::bytes::Bytes;
use crate::search::behaviour::version_space::{Cost, Way};

/// Of up to four dimensions, the greatest ranks, then the complements of the least; zeros if there is no point.
/// So one more point is a maximum in each place. Dimensions that there are not have all ranks. One half for each
/// label; those of a cell are in both.
type Corners = Bytes;

/// Bounds for `D` dimensions, at most four, and two labels.
pub(in super::super) struct Narrow<const D: usize>;

/// Where there are bits of zeros for labels that have no points: a complement of the least rank is no zero.
const ABSENT: u16 = 0x1010;

/// The bits of one half.
#[inline(always)]
fn half(bits: u16, label: usize) -> u8 {
    (bits >> (8 * label)) as u8
}

impl<const D: usize> Narrow<D> {
    /// The most thresholds in a dimension: a rank has 8 bits, and its complement is not zero.
    pub(in super::super) const MOST: usize = u8::MAX as usize - 1;

    /// The bounds of one point.
    #[inline(always)]
    fn alone(point: &Point<'_, Self>) -> Bytes {
        point.corners.half(usize::from(point.label))
    }
}

impl<const D: usize> Store for Narrow<D> {
    type Bounds = Bytes;
    type Corners = Corners;

    fn new(dimensions: usize, labels: usize) -> Self {
        debug_assert_eq!((dimensions, labels), (D, 2));
        Narrow
    }

    #[inline(always)]
    fn corners(cell: &[u16]) -> Corners {
        debug_assert!(cell.iter().all(|&rank| usize::from(rank) <= Self::MOST));
        let unused = u32::MAX.checked_shl(8 * D as u32).unwrap_or(0);
        let ranks = cell[..D].iter().rev().fold(0, |ranks, &rank| ranks << 8 | u32::from(rank)) | unused;
        Bytes::twice(u64::from(ranks) | u64::from(!ranks | unused) << 32)
    }

    #[inline(always)]
    fn is_at_end<'w>(mut way: Option<&'w Way<'w>>) -> impl Fn(&Point<'_, Self>) -> bool + use<'w, D> {
        let mut corners = Bytes::twice(u64::MAX);
        while let Some(&Way { dimension, k, side, before }) = way {
            let (place, most) = if side == 0 { (dimension, k) } else { (4 + dimension, 0xff - (k + 1)) };
            let others = !(0xff << (8 * place));
            corners = corners.min(Bytes::twice(others | u64::from(most) << (8 * place)));
            way = before;
        }
        move |point| point.corners.at_most(corners) == u16::MAX
    }

    #[inline(always)]
    fn empty(&self) -> Bytes {
        Bytes::zero()
    }

    #[inline(always)]
    fn are_empty(&self, bounds: &Bytes) -> bool {
        bounds.equal(Bytes::zero()) & ABSENT == ABSENT
    }

    #[inline(always)]
    fn copy(&mut self, bounds: &Bytes) -> Bytes {
        *bounds
    }

    #[inline(always)]
    fn widen(&mut self, bounds: &mut Bytes, point: &Point<'_, Self>) {
        *bounds = bounds.max(Self::alone(point));
    }

    #[inline(always)]
    fn with(&mut self, bounds: &Bytes, _: Cost, point: &Point<'_, Self>) -> (Bytes, bool, Cost) {
        // Without a branch: it cannot be predicted.
        let with = bounds.max(Self::alone(point));
        let are_both = with.equal(Bytes::zero()) & ABSENT == 0;
        let cost = Cost::from(are_both) + Cost::from(are_both & with.halves_reach_across());
        (with, with.equal(*bounds) != u16::MAX, cost)
    }

    #[inline(always)]
    fn widen_around(&mut self, bounds: &mut [[Bytes; 2]], other: &Point<'_, Self>, point: &Point<'_, Self>) {
        // A greater rank has a lesser complement. Without a branch: zeros widen nothing.
        let (own, alone) = (point.corners, Self::alone(point));
        let mut widen = |dimension: usize, side: usize, mask: Bytes| {
            if dimension < D {
                let bounds = &mut bounds[dimension][side];
                *bounds = bounds.max(alone.and(mask));
            }
        };
        widen(0, 0, own.at_most_in::<0>(other.corners));
        widen(0, 1, own.at_most_in::<4>(other.corners));
        widen(1, 0, own.at_most_in::<1>(other.corners));
        widen(1, 1, own.at_most_in::<5>(other.corners));
        widen(2, 0, own.at_most_in::<2>(other.corners));
        widen(2, 1, own.at_most_in::<6>(other.corners));
        widen(3, 0, own.at_most_in::<3>(other.corners));
        widen(3, 1, own.at_most_in::<7>(other.corners));
    }

    #[inline(always)]
    fn are_simple_around<'p>(
        &self,
        points: impl Iterator<Item = Point<'p, Self>>,
        last: &Point<'_, Self>,
    ) -> Option<bool> {
        let mut near = [[Bytes::zero(); 2]; D];
        Narrow.widen_around(&mut near, last, last);
        let are_simple = |near: &[[Bytes; 2]]| {
            near.as_flattened().iter().any(|bounds| self.cost_without_split(bounds).is_some())
        };
        for (number, point) in (1..).zip(points) {
            Narrow.widen_around(&mut near, last, &point);
            if number % 8 == 0 && !are_simple(&near) {
                return Some(false);
            }
        }
        Some(are_simple(&near))
    }

    #[inline(always)]
    fn is_inside(&self, bounds: &Bytes, point: &Point<'_, Self>) -> bool {
        Self::alone(point).at_most(*bounds) == u16::MAX
    }

    #[inline(always)]
    fn cost_with(&self, bounds: &Bytes, point: &Point<'_, Self>) -> Option<Cost> {
        self.cost_without_split(&bounds.max(Self::alone(point)))
    }

    #[inline(always)]
    fn cost_without_split(&self, bounds: &Bytes) -> Option<Cost> {
        if bounds.equal(Bytes::zero()) & ABSENT != 0 {
            return Some(0);
        }
        (!bounds.halves_reach_across()).then_some(1)
    }

    #[inline(always)]
    fn only_other(&self, bounds: &Bytes, label: u16) -> Option<usize> {
        let other = usize::from(label == 0);
        (half(bounds.equal(Bytes::zero()) & ABSENT, other) == 0).then_some(other)
    }

    const HAS_PAIRS: bool = true;

    #[inline(always)]
    fn pairs_beyond(
        &self,
        bounds: &Bytes,
        label: usize,
        more: Option<&Point<'_, Self>>,
        point: &Point<'_, Self>,
    ) -> u64 {
        let own = more.map_or(*bounds, |more| bounds.max(more.corners));
        pairs_with(!half(point.corners.at_most(own), label))
    }

    #[inline(always)]
    fn pairs_across(&self, bounds: &Bytes, label: usize, more: Option<&Point<'_, Self>>) -> u64 {
        let own = more.map_or(*bounds, |more| bounds.max(more.corners));
        !pairs_with(half(bounds.swapped().at_most(own), label))
    }

    fn reach(&self) -> usize {
        0
    }

    fn cut_back(&mut self, _: usize) {}
}

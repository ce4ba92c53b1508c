//! Bounds of two labels in the machine's wide registers.

use std::array;

use wide::i16x8;

use super::{Point, Store};
use crate::search::behaviour::version_space::{Cost, IMPOSSIBLE, Place};

/// Of up to four dimensions, the greatest ranks, then the complements of the least; [`NOTHING`] if there is no point.
/// So one more point is a maximum in each place. Dimensions that there are not have all ranks.
type Corners = i16x8;

const NOTHING: Corners = i16x8::splat(i16::MIN);

/// Ranks have no sign, and registers compare numbers that have one.
#[inline(always)]
fn signed(rank: u16) -> i16 {
    (rank ^ 1 << 15).cast_signed()
}

/// Whether some greatest rank of one is less than the least of the other in the same dimension.
#[inline(always)]
fn are_disjoint(a: Corners, b: Corners) -> bool {
    let [a0, a1, a2, a3, b0, b1, b2, b3] = b.to_array();
    let swapped = i16x8::new([b0, b1, b2, b3, a0, a1, a2, a3]);
    (!swapped).simd_gt(a).any()
}

#[inline(always)]
fn are_within(a: Corners, b: Corners) -> bool {
    a.simd_gt(b).none()
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
    const EMPTY: Self::Bounds = [NOTHING; 2];
    const HAS_DIRECTIONS: bool = true;

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
            _ => array::from_fn(|place| {
                let rank = cell.get(place % 4).map(|&rank| signed(rank));
                rank.map_or(ALL, |rank| if place < 4 { rank } else { !rank })
            }),
        })
    }

    #[inline(always)]
    fn is_in<'p>(mut place: &'p Place<'p>) -> impl Fn(&Point<'_, Self>) -> bool + use<'p> {
        let mut most = [i16::MAX; 8];
        while let &Place { before: Some(before), dimension, k, side, .. } = place {
            let (direction, corner) = match side {
                0 => (dimension, signed(k)),
                _ => (4 + dimension, !signed(k + 1)),
            };
            let most = &mut most[usize::from(direction) % 8];
            *most = corner.min(*most);
            place = before;
        }
        let most = i16x8::new(most);
        move |point| are_within(point.corners, most)
    }

    #[inline(always)]
    fn widen(&mut self, bounds: &mut Self::Bounds, point: &Point<'_, Self>) -> bool {
        let own = &mut bounds[usize::from(point.label) % 2];
        let is_inside = are_within(point.corners, *own);
        *own = own.max(point.corners);
        !is_inside
    }

    #[inline(always)]
    fn cost(&self, bounds: &Self::Bounds, more: Option<&Point<'_, Self>>) -> Cost {
        let label = more.map_or(0, |point| point.label);
        let [own, other] = [self.reach_of(bounds, label, more), self.reach_of(bounds, 1 - label, None)];
        // Without a branch: it cannot be predicted.
        let are_both = (more.is_some() | (own != NOTHING)) & (other != NOTHING);
        if are_both & !are_disjoint(own, other) { IMPOSSIBLE } else { Cost::from(are_both) }
    }

    #[inline(always)]
    fn reach_of(&self, bounds: &Self::Bounds, label: u16, more: Option<&Point<'_, Self>>) -> Corners {
        let own = bounds[usize::from(label) % 2];
        more.map_or(own, |point| own.max(point.corners))
    }

    #[inline(always)]
    fn farther(one: Corners, other: Corners) -> u8 {
        one.simd_gt(other).to_bitmask() as u8
    }
}

//! Bounds of two labels in the machine's wide registers.

use std::array;
use std::marker::PhantomData;

use super::lanes::Lanes;
use super::{Point, Store};
use crate::problem::Rank;
use crate::search::behaviour::version_space::{Cost, IMPOSSIBLE, Place};

/// Bounds for up to four dimensions and two labels, held in the handle itself: of the points of a label, the greatest
/// ranks and the [complements](Lanes::complement) of the least. So one more point is a maximum in each place. Dimensions
/// that there are not have all ranks.
pub(in super::super) struct Registers<L>(PhantomData<L>);

impl<L> Registers<L> {
    /// Whether it can hold bounds of so many dimensions and labels.
    pub(in super::super) fn can_hold(dimensions: usize, labels: usize) -> bool {
        dimensions <= 4 && labels == 2
    }
}

impl<L: Lanes> Store for Registers<L> {
    type Bounds = [L; 2];
    type Corners = L;
    const EMPTY: Self::Bounds = [L::NOTHING; 2];
    const HAS_DIRECTIONS: bool = true;

    fn new(dimensions: usize, labels: usize) -> Self {
        debug_assert!(Registers::<L>::can_hold(dimensions, labels));
        Registers(PhantomData)
    }

    #[inline(always)]
    fn corners(cell: &[Rank]) -> L {
        // Few are put together faster without a loop.
        L::new(match *cell {
            [a, b] => {
                let [a, b] = [a, b].map(L::lane);
                [a, b, L::ALL, L::ALL, L::complement(a), L::complement(b), L::ALL, L::ALL]
            }
            [a, b, c, d] => {
                let own = [a, b, c, d].map(L::lane);
                let [e, f, g, h] = own.map(L::complement);
                let [a, b, c, d] = own;
                [a, b, c, d, e, f, g, h]
            }
            _ => array::from_fn(|place| {
                let rank = cell.get(place % 4).map(|&rank| L::lane(rank));
                rank.map_or(L::ALL, |rank| if place < 4 { rank } else { L::complement(rank) })
            }),
        })
    }

    #[inline(always)]
    fn is_in<'p>(mut place: &'p Place<'p>) -> impl Fn(&Point<'_, Self>) -> bool + use<'p, L> {
        let mut most = [L::ALL; 8];
        while let &Place { before: Some(before), dimension, k, side, .. } = place {
            let (direction, corner) = match side {
                0 => (dimension, L::lane(k)),
                _ => (4 + dimension, L::complement(L::lane(k + 1))),
            };
            let most = &mut most[usize::from(direction) % 8];
            *most = if corner < *most { corner } else { *most };
            place = before;
        }
        let most = L::new(most);
        move |point| !point.corners.exceeds(most)
    }

    #[inline(always)]
    fn widen(&mut self, bounds: &mut Self::Bounds, point: &Point<'_, Self>) -> bool {
        let own = &mut bounds[usize::from(point.label) % 2];
        let is_beyond = point.corners.exceeds(*own);
        *own = own.max(point.corners);
        is_beyond
    }

    #[inline(always)]
    fn cost(&self, bounds: &Self::Bounds, more: Option<&Point<'_, Self>>) -> Cost {
        let label = more.map_or(0, |point| point.label);
        let [own, other] = [self.reach_of(bounds, label, more), self.reach_of(bounds, 1 - label, None)];
        // Without a branch: it cannot be predicted.
        let are_both = (more.is_some() | (own != L::NOTHING)) & (other != L::NOTHING);
        // Whether some greatest rank of one is less than the least of the other in the same dimension.
        let are_disjoint = other.opposite().exceeds(own);
        if are_both & !are_disjoint { IMPOSSIBLE } else { Cost::from(are_both) }
    }

    #[inline(always)]
    fn reach_of(&self, bounds: &Self::Bounds, label: u16, more: Option<&Point<'_, Self>>) -> L {
        let own = bounds[usize::from(label) % 2];
        more.map_or(own, |point| own.max(point.corners))
    }

    #[inline(always)]
    fn farther(one: L, other: L) -> u8 {
        one.exceeding(other)
    }
}

//! Bounds: per label, the least and greatest rank in every dimension of the points of a region.
//!
//! All that the version space asks of a region's points is answered from their bounds. Two stores hold them:
//! [`Registers`] in the machine's wide registers, for two labels and up to four dimensions, which is the usual case: with
//! [`Short`] numbers if all thresholds are listed, and with [`Long`] ones if not. [`Arena`] holds any number.

mod arena;
mod lanes;
mod registers;

pub(super) use self::arena::Arena;
pub(super) use self::lanes::{Long, Short};
pub(super) use self::registers::Registers;
use super::version_space::{Cost, Place};
use crate::problem::Rank;

/// A cell with a label, as a store wants it.
pub(super) struct Point<'c, S: Store> {
    pub(super) cell: &'c [Rank],
    pub(super) label: u16,
    pub(super) corners: S::Corners,
}

impl<'c, S: Store> Point<'c, S> {
    #[inline(always)]
    pub(super) fn new(cell: &'c [Rank], label: u16) -> Self {
        Point { cell, label, corners: S::corners(cell) }
    }
}

/// Keeps bounds, and gives out handles to them.
pub(super) trait Store: Sized {
    /// A handle to the bounds of one region.
    type Bounds: Copy + Default + PartialEq;
    /// How far points reach in each direction: worked out once for each point.
    type Corners: Copy;
    /// The bounds of no point.
    const EMPTY: Self::Bounds;
    /// Whether there are two labels, and it tells [directions](Store::farther).
    const HAS_DIRECTIONS: bool;

    /// A store for this many dimensions and labels.
    fn new(dimensions: usize, labels: usize) -> Self;

    fn corners(cell: &[Rank]) -> Self::Corners;

    /// What tells whether a point is in a place: worked out once for each place.
    fn is_in<'p>(place: &'p Place<'p>) -> impl Fn(&Point<'_, Self>) -> bool + use<'p, Self>;

    /// Adds one more point to bounds; says whether it changes them.
    fn widen(&mut self, bounds: &mut Self::Bounds, point: &Point<'_, Self>) -> bool;

    /// What bounds cost without a split, with one more point if there is one: 0 if at most one label is present, 1 if
    /// there are two whose bounds are disjoint in some dimension, so that one predicate tells them apart. Else
    /// [`IMPOSSIBLE`](super::version_space::IMPOSSIBLE).
    fn cost(&self, bounds: &Self::Bounds, more: Option<&Point<'_, Self>>) -> Cost;

    /// How far the points of one of two labels reach, with one more point of it if there is one.
    fn reach_of(&self, bounds: &Self::Bounds, label: u16, more: Option<&Point<'_, Self>>) -> Self::Corners;

    /// A bit for each of eight directions, up and down in each dimension, in which one reaches farther than the other.
    fn farther(one: Self::Corners, other: Self::Corners) -> u8;

    /// How much the store holds, for [`Store::cut_back`].
    fn len(&self) -> usize {
        0
    }

    /// Forgets all bounds made since the store held so much.
    fn cut_back(&mut self, _: usize) {}
}

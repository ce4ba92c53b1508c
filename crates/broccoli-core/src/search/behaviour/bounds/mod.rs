//! Bounds: per label, the least and greatest rank in every dimension of the points of a region.
//!
//! All that the version space asks of a region's points is answered from their bounds. Two stores hold them:
//! [`Registers`] in the machine's wide registers, for two labels and up to four dimensions, which is the usual case;
//! [`Arena`] holds any number.

mod arena;
mod registers;

pub(super) use self::arena::Arena;
pub(super) use self::registers::Registers;
use super::version_space::{Cost, Way};

/// A cell with a label, as a store wants it.
pub(super) struct Point<'c, S: Store> {
    pub(super) cell: &'c [u16],
    pub(super) label: u16,
    pub(super) corners: S::Corners,
}

impl<'c, S: Store> Point<'c, S> {
    #[inline(always)]
    pub(super) fn new(cell: &'c [u16], label: u16) -> Self {
        Point { cell, label, corners: S::corners(cell) }
    }
}

/// Keeps bounds, and gives out handles to them.
pub(super) trait Store: Sized {
    /// A handle to the bounds of one region.
    type Bounds: Copy;
    /// What is worked out once for each point.
    type Corners: Copy;

    /// A store for this many dimensions and labels.
    fn new(dimensions: usize, labels: usize) -> Self;

    fn corners(cell: &[u16]) -> Self::Corners;

    /// What tells whether a way leads to a point: worked out once for each way.
    fn is_at_end<'w>(way: Option<&'w Way<'w>>) -> impl Fn(&Point<'_, Self>) -> bool + use<'w, Self>;

    /// The bounds of no point.
    fn empty(&self) -> Self::Bounds;

    /// Whether they are those of no point.
    fn are_empty(&self, bounds: &Self::Bounds) -> bool;

    /// Bounds to be [widened](Store::widen).
    fn copy(&mut self, bounds: &Self::Bounds) -> Self::Bounds;

    /// Adds one more point to bounds that were copied for that.
    fn widen(&mut self, bounds: &mut Self::Bounds, point: &Point<'_, Self>);

    /// Bounds of this cost with one more point, and whether they are others; and what [`Store::cost_without_split`]
    /// says of them, but 2 if a split is needed.
    fn with(
        &mut self,
        bounds: &Self::Bounds,
        cost: Cost,
        point: &Point<'_, Self>,
    ) -> (Self::Bounds, bool, Cost);

    /// Adds one more point to bounds that were copied for that, by dimension and then for the ranks up to that of
    /// another point and for those from it on: only where its rank is one of these.
    fn widen_around(
        &mut self,
        bounds: &mut [[Self::Bounds; 2]],
        other: &Point<'_, Self>,
        point: &Point<'_, Self>,
    );

    /// Whether a cell lies within the bounds of its label, so that adding it changes nothing.
    fn is_inside(&self, bounds: &Self::Bounds, point: &Point<'_, Self>) -> bool;

    /// What [`Store::cost_without_split`] would say with one more point.
    fn cost_with(&self, bounds: &Self::Bounds, point: &Point<'_, Self>) -> Option<Cost>;

    /// 0 if at most one label is present, 1 if there are two whose bounds are disjoint in some
    /// dimension, so that one predicate tells them apart; else `None`.
    fn cost_without_split(&self, bounds: &Self::Bounds) -> Option<Cost>;

    /// The only label present other than this one, if there is one and [`Store::directions_beyond`] tells something.
    fn only_other(&self, bounds: &Self::Bounds, label: u16) -> Option<usize>;

    /// Whether there are two labels, and it tells [pairs of directions](Store::directions_beyond).
    const HAS_DIRECTIONS: bool;

    /// The pairs of directions in one of which a point is beyond the bounds of a label, with one more point if
    /// there is one.
    fn directions_beyond(
        &self,
        bounds: &Self::Bounds,
        label: usize,
        more: Option<&Point<'_, Self>>,
        point: &Point<'_, Self>,
    ) -> u64;

    /// The pairs of directions in both of which some point of another label is beyond the bounds of this one, with
    /// one more point if there is one.
    fn directions_across(&self, bounds: &Self::Bounds, label: usize, more: Option<&Point<'_, Self>>) -> u64;

    /// How far the store reaches, for [`Store::cut_back`].
    fn reach(&self) -> usize;

    /// Forgets all bounds made since the store reached this far.
    fn cut_back(&mut self, reach: usize);
}

/// By set of eight directions, the pairs of directions one of which is in the set.
static PAIRS_WITH: [u64; 256] = {
    let mut pairs_with = [0; 256];
    let mut set = 0;
    while set < 256 {
        let mut pair = 0;
        while pair < 64 {
            if set >> (pair / 8) & 1 == 1 || set >> (pair % 8) & 1 == 1 {
                pairs_with[set] |= 1 << pair;
            }
            pair += 1;
        }
        set += 1;
    }
    pairs_with
};

/// The pairs of directions one of which is in a set of eight.
#[inline(always)]
fn pairs_with(directions: u8) -> u64 {
    PAIRS_WITH[usize::from(directions)]
}

/// What [`Store::cost_without_split`] says, from the labels present.
#[inline]
fn cost_of<T: Copy>(mut present: impl Iterator<Item = T>, are_apart: impl Fn(T, T) -> bool) -> Option<Cost> {
    match (present.next(), present.next(), present.next()) {
        (_, None, _) => Some(0),
        (Some(a), Some(b), None) if are_apart(a, b) => Some(1),
        _ => None,
    }
}

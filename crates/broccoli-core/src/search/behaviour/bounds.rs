//! Bounds: per label, the least and greatest rank in every dimension of the points of a region.
//!
//! All that the version space asks of a region's points is answered from their bounds. Two stores
//! hold them: [`Inline`] has them in the machine's [wide registers](super::lanes), for the usual small
//! numbers of dimensions and labels; [`Arena`] holds any number.

use super::lanes::Lanes;
use super::version_space::Cost;

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

    /// The bounds of no point.
    fn empty(&self) -> Self::Bounds;

    /// Whether they are those of no point.
    fn are_empty(&self, bounds: &Self::Bounds) -> bool;

    /// Bounds to be [widened](Store::widen).
    fn copy(&mut self, bounds: &Self::Bounds) -> Self::Bounds;

    /// Adds one more point to bounds that were copied for that.
    fn widen(&mut self, bounds: &mut Self::Bounds, point: &Point<'_, Self>);

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

    /// The only label present other than this one, if there is one and [`Store::pairs_beyond`] tells something.
    fn only_other(&self, bounds: &Self::Bounds, label: u16) -> Option<usize>;

    /// Whether there are two labels, and it tells [pairs of directions](Store::pairs_beyond).
    const HAS_PAIRS: bool;

    /// The pairs of directions in one of which a point is beyond the bounds of a label, with one more point if
    /// there is one.
    fn pairs_beyond(
        &self,
        bounds: &Self::Bounds,
        label: usize,
        more: Option<&Point<'_, Self>>,
        point: &Point<'_, Self>,
    ) -> u64;

    /// The pairs of directions in both of which some point of another label is beyond the bounds of this one, with
    /// one more point if there is one.
    fn pairs_across(&self, bounds: &Self::Bounds, label: usize, more: Option<&Point<'_, Self>>) -> u64;

    /// How far the store reaches, for [`Store::cut_back`].
    fn reach(&self) -> usize;

    /// Forgets all bounds made since the store reached this far.
    fn cut_back(&mut self, reach: usize);
}

/// The least and greatest rank; the least is the greater one if there is no point.
type Range = [u16; 2];
const NO_POINT: Range = [u16::MAX, 0];

/// Whether the ranges are disjoint in some dimension. Without a branch: there are few dimensions.
#[inline]
fn are_apart(a: &[Range], b: &[Range]) -> bool {
    a.iter().zip(b).fold(false, |apart, (a, b)| apart | (a[1] < b[0]) | (b[1] < a[0]))
}

/// Whether every rank is within its range. Without a branch, too.
#[inline]
fn is_within(cell: &[u16], ranges: &[Range]) -> bool {
    cell.iter()
        .zip(ranges)
        .fold(true, |within, (&rank, range)| within & (range[0] <= rank) & (rank <= range[1]))
}

#[inline]
fn is_present(ranges: &[Range]) -> bool {
    ranges[0][0] <= ranges[0][1]
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

/// Of up to four dimensions, the greatest ranks, then the complements of the least; zeros if there is no point.
/// So one more point is a maximum in each place. Dimensions that there are not have all ranks.
type Corners = Lanes;

/// [`are_apart`] for corners: where they overlap, a greatest rank and the complement of the other's least one
/// add up to at least the greatest number there is.
#[inline(always)]
fn are_disjoint(a: Corners, b: Corners) -> bool {
    !a.all_reach_across(b)
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

/// Bounds for `D` dimensions, at most four, and `L` labels, held in the handle itself.
pub(super) struct Inline<const D: usize, const L: usize>;

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
        let own = &mut bounds[usize::from(point.label)];
        *own = own.max(point.corners);
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
        PAIRS_WITH[usize::from(point.corners.greater(own))]
    }

    #[inline(always)]
    fn pairs_across(&self, bounds: &Self::Bounds, label: usize, more: Option<&Point<'_, Self>>) -> u64 {
        let own = more.map_or(bounds[label], |more| bounds[label].max(more.corners));
        let others = (0..L).filter(|&other| other != label).map(|other| bounds[other]);
        let directions = others.fold(Lanes::zero(), Lanes::max).greater(own);
        !PAIRS_WITH[usize::from(!directions)]
    }

    fn reach(&self) -> usize {
        0
    }

    fn cut_back(&mut self, _: usize) {}
}

/// Bounds for any number of dimensions and labels, held in one vector; a handle is an offset.
pub(super) struct Arena {
    dimensions: usize,
    /// Ranges by label and dimension; those of no point come first.
    ranges: Vec<Range>,
    stride: usize,
}

impl Store for Arena {
    type Bounds = u32;
    type Corners = ();

    fn new(dimensions: usize, labels: usize) -> Self {
        let stride = dimensions * labels;
        Arena { dimensions, ranges: vec![NO_POINT; stride], stride }
    }

    fn corners(_: &[u16]) {}

    fn empty(&self) -> u32 {
        0
    }

    fn are_empty(&self, &bounds: &u32) -> bool {
        let all = &self.ranges[bounds as usize..][..self.stride];
        !all.chunks_exact(self.dimensions).any(is_present)
    }

    fn copy(&mut self, &bounds: &u32) -> u32 {
        let (from, copy) = (bounds as usize, self.ranges.len());
        self.ranges.extend_from_within(from..from + self.stride);
        copy as u32
    }

    fn widen_around(&mut self, bounds: &mut [[u32; 2]], other: &Point<'_, Self>, point: &Point<'_, Self>) {
        for ((bounds, own), other) in bounds.iter_mut().zip(point.cell).zip(other.cell) {
            if own <= other {
                self.widen(&mut bounds[0], point);
            }
            if own >= other {
                self.widen(&mut bounds[1], point);
            }
        }
    }

    fn widen(&mut self, bounds: &mut u32, point: &Point<'_, Self>) {
        let ranges = &mut self.ranges[*bounds as usize + usize::from(point.label) * self.dimensions..];
        for (&rank, range) in point.cell.iter().zip(ranges) {
            *range = [rank.min(range[0]), rank.max(range[1])];
        }
    }

    fn is_inside(&self, &bounds: &u32, point: &Point<'_, Self>) -> bool {
        let ranges = &self.ranges[bounds as usize + usize::from(point.label) * self.dimensions..];
        is_within(point.cell, ranges)
    }

    fn cost_with(&self, &bounds: &u32, point: &Point<'_, Self>) -> Option<Cost> {
        let Point { cell, label, .. } = *point;
        let all = &self.ranges[bounds as usize..][..self.stride];
        let mut present = (0..).zip(all.chunks_exact(self.dimensions));
        // At most one other label may be there, and apart from this one with its new point.
        let own = &all[usize::from(label) * self.dimensions..][..self.dimensions];
        let mut others = present.by_ref().filter(|&(other, ranges)| other != label && is_present(ranges));
        match (others.next(), others.next()) {
            (None, _) => Some(0),
            (Some((_, other)), None) => {
                let apart = |((range, &rank), other): ((&Range, &u16), &Range)| {
                    rank.max(range[1]) < other[0] || other[1] < rank.min(range[0])
                };
                own.iter().zip(cell).zip(other).any(apart).then_some(1)
            }
            _ => None,
        }
    }

    fn cost_without_split(&self, &bounds: &u32) -> Option<Cost> {
        let all = &self.ranges[bounds as usize..][..self.stride];
        cost_of(all.chunks_exact(self.dimensions).filter(|ranges| is_present(ranges)), are_apart)
    }

    fn only_other(&self, _: &u32, _: u16) -> Option<usize> {
        None
    }

    const HAS_PAIRS: bool = false;

    fn pairs_beyond(&self, _: &u32, _: usize, _: Option<&Point<'_, Self>>, _: &Point<'_, Self>) -> u64 {
        u64::MAX
    }

    fn pairs_across(&self, _: &u32, _: usize, _: Option<&Point<'_, Self>>) -> u64 {
        u64::MAX
    }

    fn reach(&self) -> usize {
        self.ranges.len()
    }

    fn cut_back(&mut self, reach: usize) {
        self.ranges.truncate(reach);
    }
}

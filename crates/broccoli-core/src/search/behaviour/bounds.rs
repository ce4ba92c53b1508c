//! Bounds: per label, the least and greatest rank in every dimension of the points of a region.
//!
//! All that the version space asks of a region's points is answered from their bounds. Two stores
//! hold them: [`Inline`] has them as a plain array, for the usual small numbers of dimensions and
//! labels, and the compiler unrolls every loop over them; [`Arena`] holds any number.

use super::version_space::Cost;

/// Keeps bounds, and gives out handles to them.
pub(super) trait Store {
    /// A handle to the bounds of one region.
    type Bounds: Copy;

    /// A store for this many dimensions and labels.
    fn new(dimensions: usize, labels: usize) -> Self;

    /// The bounds of no point.
    fn empty(&self) -> Self::Bounds;

    /// Whether a cell lies within the bounds of its label, so that adding it changes nothing.
    fn is_inside(&self, bounds: Self::Bounds, cell: &[u16], label: u16) -> bool;

    /// The bounds with one more point.
    fn with(&mut self, bounds: Self::Bounds, cell: &[u16], label: u16) -> Self::Bounds;

    /// The bounds with some points more, given by their cells and labels.
    fn with_all<'p>(
        &mut self,
        bounds: Self::Bounds,
        points: impl Iterator<Item = (&'p [u16], u16)>,
    ) -> Self::Bounds;

    /// What [`Store::cost_without_split`] would say with one more point.
    fn cost_with(&self, bounds: Self::Bounds, cell: &[u16], label: u16) -> Option<Cost>;

    /// 0 if at most one label is present, 1 if there are two whose bounds are disjoint in some
    /// dimension, so that one predicate tells them apart; else `None`.
    fn cost_without_split(&self, bounds: Self::Bounds) -> Option<Cost>;

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

/// The greatest ranks, and the complements of the least: one more point is a maximum of either, which
/// the compiler takes of all dimensions at once. Zeros if there is no point.
type Corners<const D: usize> = [[u16; D]; 2];

#[inline]
fn widen<const D: usize>(corners: &mut Corners<D>, cell: &[u16]) {
    let cell = &cell[..D];
    for dimension in 0..D {
        corners[0][dimension] = corners[0][dimension].max(cell[dimension]);
        corners[1][dimension] = corners[1][dimension].max(!cell[dimension]);
    }
}

#[inline]
fn has_points<const D: usize>(corners: &Corners<D>) -> bool {
    !corners[1][0] <= corners[0][0]
}

/// [`are_apart`] for corners.
#[inline]
fn are_disjoint<const D: usize>(a: &Corners<D>, b: &Corners<D>) -> bool {
    (0..D).fold(false, |apart, i| apart | (a[0][i] < !b[1][i]) | (b[0][i] < !a[1][i]))
}

/// Bounds for `D` dimensions and `L` labels, held in the handle itself.
pub(super) struct Inline<const D: usize, const L: usize>;

impl<const D: usize, const L: usize> Store for Inline<D, L> {
    type Bounds = [Corners<D>; L];

    fn new(dimensions: usize, labels: usize) -> Self {
        debug_assert_eq!((dimensions, labels), (D, L));
        Inline
    }

    fn empty(&self) -> Self::Bounds {
        [[[0; D]; 2]; L]
    }

    #[inline]
    fn is_inside(&self, bounds: Self::Bounds, cell: &[u16], label: u16) -> bool {
        let [greatest, complements] = &bounds[usize::from(label)];
        let cell = &cell[..D];
        (0..D).fold(true, |inside, i| inside & (cell[i] <= greatest[i]) & (!cell[i] <= complements[i]))
    }

    #[inline]
    fn with(&mut self, mut bounds: Self::Bounds, cell: &[u16], label: u16) -> Self::Bounds {
        widen(&mut bounds[usize::from(label)], cell);
        bounds
    }

    #[inline]
    fn with_all<'p>(
        &mut self,
        mut bounds: Self::Bounds,
        points: impl Iterator<Item = (&'p [u16], u16)>,
    ) -> Self::Bounds {
        for (cell, label) in points {
            widen(&mut bounds[usize::from(label)], cell);
        }
        bounds
    }

    #[inline]
    fn cost_with(&self, bounds: Self::Bounds, cell: &[u16], label: u16) -> Option<Cost> {
        self.cost_without_split(Inline.with(bounds, cell, label))
    }

    #[inline]
    fn cost_without_split(&self, bounds: Self::Bounds) -> Option<Cost> {
        if let [a, b] = bounds.as_slice() {
            let both = has_points(a) & has_points(b);
            return if !both { Some(0) } else { are_disjoint(a, b).then_some(1) };
        }
        cost_of(bounds.iter().filter(|corners| has_points(corners)), are_disjoint)
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

    fn new(dimensions: usize, labels: usize) -> Self {
        let stride = dimensions * labels;
        Arena { dimensions, ranges: vec![NO_POINT; stride], stride }
    }

    fn empty(&self) -> u32 {
        0
    }

    fn is_inside(&self, bounds: u32, cell: &[u16], label: u16) -> bool {
        is_within(cell, &self.ranges[bounds as usize + usize::from(label) * self.dimensions..])
    }

    fn with(&mut self, bounds: u32, cell: &[u16], label: u16) -> u32 {
        self.with_all(bounds, std::iter::once((cell, label)))
    }

    fn with_all<'p>(&mut self, bounds: u32, points: impl Iterator<Item = (&'p [u16], u16)>) -> u32 {
        let (from, copy) = (bounds as usize, self.ranges.len());
        self.ranges.extend_from_within(from..from + self.stride);
        for (cell, label) in points {
            let ranges = &mut self.ranges[copy + usize::from(label) * self.dimensions..];
            for (&rank, range) in cell.iter().zip(ranges) {
                *range = [rank.min(range[0]), rank.max(range[1])];
            }
        }
        copy as u32
    }

    fn cost_with(&self, bounds: u32, cell: &[u16], label: u16) -> Option<Cost> {
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

    fn cost_without_split(&self, bounds: u32) -> Option<Cost> {
        let all = &self.ranges[bounds as usize..][..self.stride];
        cost_of(all.chunks_exact(self.dimensions).filter(|ranges| is_present(ranges)), are_apart)
    }

    fn reach(&self) -> usize {
        self.ranges.len()
    }

    fn cut_back(&mut self, reach: usize) {
        self.ranges.truncate(reach);
    }
}

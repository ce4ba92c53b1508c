//! Bounds of any number of dimensions and labels.

use super::{Point, Store, cost_of};
use crate::search::behaviour::version_space::{Cost, Way};

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

/// Bounds for any number of dimensions and labels, held in one vector; a handle is an offset.
pub(in super::super) struct Arena {
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

    fn is_at_end<'w>(way: Option<&'w Way<'w>>) -> impl Fn(&Point<'_, Self>) -> bool + use<'w> {
        move |point| way.is_none_or(|way| way.leads_to(point.cell))
    }

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

    fn with(&mut self, bounds: &u32, cost: Cost, point: &Point<'_, Self>) -> (u32, bool, Cost) {
        if self.is_inside(bounds, point) {
            return (*bounds, false, cost);
        }
        let mut with = self.copy(bounds);
        self.widen(&mut with, point);
        (with, true, self.cost_without_split(&with).unwrap_or(2))
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

    const HAS_DIRECTIONS: bool = false;

    fn directions_beyond(&self, _: &u32, _: usize, _: Option<&Point<'_, Self>>, _: &Point<'_, Self>) -> u64 {
        u64::MAX
    }

    fn directions_across(&self, _: &u32, _: usize, _: Option<&Point<'_, Self>>) -> u64 {
        u64::MAX
    }

    fn reach(&self) -> usize {
        self.ranges.len()
    }

    fn cut_back(&mut self, reach: usize) {
        self.ranges.truncate(reach);
    }
}

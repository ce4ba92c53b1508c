//! Bounds of any number of dimensions and labels.

use super::{Point, Store};
use crate::problem::Rank;
use crate::search::behaviour::version_space::{Cost, IMPOSSIBLE, Place};

/// The least and greatest rank; the least is the greater one if there is no point.
type Range = [Rank; 2];

const NO_POINT: Range = [Rank::MAX, 0];

fn widened([least, greatest]: Range, rank: Rank) -> Range {
    [least.min(rank), greatest.max(rank)]
}

/// Bounds for any number of dimensions and labels, held in one vector; a handle is an offset.
pub(in super::super) struct Arena {
    dimensions: usize,
    labels: usize,
    /// Ranges by label and dimension; those of no point come first.
    ranges: Vec<Range>,
}

impl Store for Arena {
    type Bounds = u32;
    type Corners = ();
    const EMPTY: u32 = 0;
    const HAS_DIRECTIONS: bool = false;

    fn new(dimensions: usize, labels: usize) -> Self {
        Arena { dimensions, labels, ranges: vec![NO_POINT; dimensions * labels] }
    }

    fn corners(_: &[Rank]) {}

    fn is_in<'p>(place: &'p Place<'p>) -> impl Fn(&Point<'_, Self>) -> bool + use<'p> {
        move |point| {
            let places = std::iter::successors(Some(place), |place| place.before);
            let mut way = places.filter(|place| place.before.is_some());
            way.all(|place| usize::from(point.cell[usize::from(place.dimension)] > place.k) == place.side)
        }
    }

    fn widen(&mut self, bounds: &mut u32, point: &Point<'_, Self>) -> bool {
        let (start, own) = (*bounds as usize, usize::from(point.label) * self.dimensions);
        let mut ranges = self.ranges[start + own..].iter().zip(point.cell);
        if ranges.all(|(&range, &rank)| range == widened(range, rank)) {
            return false;
        }
        *bounds = self.ranges.len() as u32;
        self.ranges.extend_from_within(start..start + self.dimensions * self.labels);
        for (range, &rank) in self.ranges[*bounds as usize + own..].iter_mut().zip(point.cell) {
            *range = widened(*range, rank);
        }
        true
    }

    fn cost(&self, &bounds: &u32, more: Option<&Point<'_, Self>>) -> Cost {
        let of = |label: usize| &self.ranges[bounds as usize + label * self.dimensions..][..self.dimensions];
        let is_own = |label: usize| more.is_some_and(|point| usize::from(point.label) == label);
        let are_apart = |a, b| {
            let (own, other) = if is_own(b) { (b, a) } else { (a, b) };
            of(own).iter().zip(of(other)).enumerate().any(|(dimension, (&own, other))| {
                let own = more.map_or(own, |point| widened(own, point.cell[dimension]));
                own[1] < other[0] || other[1] < own[0]
            })
        };
        let mut present = (0..self.labels).filter(|&label| is_own(label) || of(label)[0] != NO_POINT);
        match (present.next(), present.next(), present.next()) {
            (_, None, _) => 0,
            (Some(a), Some(b), None) if are_apart(a, b) => 1,
            _ => IMPOSSIBLE,
        }
    }

    fn reach_of(&self, _: &u32, _: u16, _: Option<&Point<'_, Self>>) {}

    fn farther((): (), (): ()) -> u8 {
        0
    }

    fn len(&self) -> usize {
        self.ranges.len()
    }

    fn cut_back(&mut self, len: usize) {
        self.ranges.truncate(len);
    }
}

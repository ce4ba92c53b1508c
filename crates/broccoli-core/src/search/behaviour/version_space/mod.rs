//! The version space: all trees that agree with the labels so far, kept small and kept up to date.
//!
//! Labels are coloured points on the grid of cells. Per region of the grid and label the *bounds* are kept: the least
//! and greatest rank in every dimension. A region with at most one label costs no predicate. One with two labels whose
//! bounds are disjoint in some dimension costs one. Any other region needs a split and has a list of *entries*: the
//! predicates by which a tree could split it, each with the two regions it leads to. Predicates of one dimension
//! between which no point of the region lies split it alike and share an entry, until a point falls between them; so
//! thousands of thresholds cost no more than the points that tell them apart.
//!
//! Adding a point touches one side of every entry. An entry whose side has become impossible within the depth and node
//! limits is dropped, for good: more points never make a region cheaper. If no entry is left, no tree agrees.
//!
//! Everything lives in a few stacks. [`VersionSpace::push`] writes the changed parts on top and shares the rest,
//! [`VersionSpace::pop`] cuts the stacks back. After some growth nothing is allocated.

use std::ops::Range;

mod points;
mod refine;
mod split;
mod stack;
mod two;

use self::points::Points;
use self::split::Scratch;
use self::stack::Stack;
use super::bounds::{Point, Store};
use crate::problem::Rank;

/// The number of predicate nodes that a set of points needs, at least.
pub(super) type Cost = u32;

/// More than any budget, and so little that costs can be added up.
pub(super) const IMPOSSIBLE: Cost = Cost::MAX / 4;

/// A region of the grid: the intersection of the half-spaces on the way to it.
#[derive(Clone, Copy, Debug, Default)]
struct Region<B> {
    /// Of no more interest once it has entries.
    bounds: B,
    /// The fewest predicate nodes that tell its points apart; [`IMPOSSIBLE`] if that takes a split.
    cost: Cost,
    /// Its entries, if it costs more than 1, the first of them one of the cheapest. If it costs 2 and has none it may
    /// have no more, and this is where its [directions](two::DirectionPairs) are; if it costs less, all of them.
    first: u32,
    count: u32,
}

impl<B: Copy + Default> Region<B> {
    /// A region that is not split.
    fn simple(bounds: B, cost: Cost) -> Self {
        Region { bounds, cost, first: 0, count: 0 }
    }

    fn entries(&self) -> Range<usize> {
        self.first as usize..self.first as usize + self.count as usize
    }

    /// Takes over the entries that were just written, with their least cost and where it is.
    fn become_split(&mut self, entries: &mut Stack<Entry<B>>, first: usize, least: Cost, best: usize) {
        if best != first {
            entries.items.swap(first, best);
        }
        (self.first, self.count, self.cost) = (first as u32, (entries.len - first) as u32, least);
    }
}

/// The predicates `rank > k` of one dimension for k from `low` to `high`, which split a region alike.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    dimension: u16,
    low: Rank,
    high: Rank,
}

impl Group {
    /// The side on which a cell is. It is 1 if the cell is on the other one of some predicates; and whether it is.
    #[inline(always)]
    fn side(self, cell: &[Rank]) -> (usize, bool) {
        let rank = cell[usize::from(self.dimension)];
        let is_true = rank > self.low;
        (usize::from(is_true), is_true && rank <= self.high)
    }

    /// The predicates that have a cell on their false side, and those that have it on their true side. There are both.
    fn cut(self, cell: &[Rank]) -> [Group; 2] {
        let rank = cell[usize::from(self.dimension)];
        [Group { low: rank, ..self }, Group { high: rank - 1, ..self }]
    }
}

/// A way to split a region: the predicates, the false side, the true side.
#[derive(Clone, Copy, Debug, Default)]
struct Entry<B> {
    group: Group,
    sides: [Region<B>; 2],
}

impl<B: PartialEq> Entry<B> {
    /// Whether it has all points of its region on one side.
    fn is_whole(&self, side: usize, empty: B) -> bool {
        let other = &self.sides[1 - side];
        other.cost == 0 && other.bounds == empty
    }

    fn cost(&self) -> Cost {
        1 + self.sides[0].cost + self.sides[1].cost
    }
}

/// Where a region is, and its budget: how deep its tree may be, and of how many nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'p> {
    depth: u32,
    nodes: Cost,
    /// The last of the half-spaces on the way there: where `rank[dimension] > k` is `side`, of the place before.
    /// That of all cells has none.
    pub(super) before: Option<&'p Place<'p>>,
    pub(super) dimension: u16,
    pub(super) k: Rank,
    pub(super) side: usize,
}

impl Place<'_> {
    /// One side of predicates, when they and the other side have spent this much.
    #[inline(always)]
    fn side(&self, group: Group, side: usize, spent: Cost) -> Place<'_> {
        let nodes = self.nodes.saturating_sub(spent);
        // No point is between the predicates of the group.
        let Group { dimension, low: k, .. } = group;
        Place { depth: self.depth - 1, nodes, before: Some(self), dimension, k, side }
    }
}

/// Whether a region stays within its budget with one more point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// It does, and costs at most so much.
    Within(Cost),
    No,
    /// That takes a split to know.
    Unknown,
}

/// All trees that agree with the points pushed.
pub(super) struct VersionSpace<S: Store> {
    /// Per dimension, the number of thresholds.
    thresholds: Vec<Rank>,
    depth: u32,
    nodes: Cost,
    store: S,
    points: Points<S>,
    /// Per number of points, from none on, the region of all of them.
    roots: Vec<Region<S::Bounds>>,
    /// Per point, how far each of the stacks below reached before it was pushed.
    marks: Vec<usize>,
    /// The entries of regions, by depth less 2.
    entries: Vec<Stack<Entry<S::Bounds>>>,
    /// Of regions that are split by two predicates. All pairs come first.
    twos: Vec<two::DirectionPairs>,
    /// Scratch space of [`VersionSpace::split`], likewise.
    scratch: Vec<Scratch<S::Bounds>>,
}

impl<S: Store> VersionSpace<S> {
    /// No points yet. `thresholds` has the number of thresholds per dimension.
    pub(super) fn new(thresholds: Vec<Rank>, labels: usize, depth: u32, nodes: Cost) -> Self {
        VersionSpace {
            depth,
            nodes,
            store: S::new(thresholds.len(), labels),
            points: Points::new(thresholds.len()),
            roots: vec![Region::simple(S::EMPTY, 0)],
            marks: Vec::new(),
            entries: (2..=depth).map(|_| Stack::default()).collect(),
            twos: vec![[u64::MAX; 2]],
            scratch: (2..=depth).map(|_| Scratch::default()).collect(),
            thresholds,
        }
    }

    /// From now on trees of up to `nodes` predicates count, of those of its depth. There must be no points.
    pub(super) fn limit(&mut self, nodes: Cost) {
        debug_assert!(self.len() == 0 && nodes >> self.depth == 0);
        self.nodes = nodes;
    }

    /// The fewest predicate nodes of any tree that agrees with all points.
    pub(super) fn cost(&self) -> Cost {
        self.cost_of_first(self.len())
    }

    /// The same for the first `count` points alone.
    pub(super) fn cost_of_first(&self, count: usize) -> Cost {
        self.roots[count].cost
    }

    /// The number of points.
    pub(super) fn len(&self) -> usize {
        self.points.len()
    }

    /// The most predicates of a tree.
    pub(super) fn nodes(&self) -> Cost {
        self.nodes
    }

    /// Whether some tree of at most `nodes` predicates agrees with one more point, as far as that is plain to see:
    /// where it would take a split to know, only [`VersionSpace::push`] tells. Changes nothing.
    #[inline(never)]
    pub(super) fn fit(&self, point: &Point<'_, S>, nodes: Cost) -> Fit {
        let place = self.everywhere(nodes.min(self.nodes));
        let root = &self.roots[self.len()];
        if root.cost > place.nodes { Fit::No } else { self.fits::<true>(root, point, &place) }
    }

    /// Adds a point, if some tree within the limits agrees with it and all others; says whether.
    pub(super) fn push(&mut self, point: &Point<'_, S>) -> bool {
        self.marks.extend([self.store.len(), self.twos.len()]);
        self.marks.extend(self.entries.iter().map(|entries| entries.len));
        self.points.push(point);
        let mut root = self.roots[self.roots.len() - 1];
        self.add::<true>(&mut root, point, &self.everywhere(self.nodes));
        // It is pushed in any case, so that one way back serves both.
        self.roots.push(root);
        if root.cost > self.nodes {
            self.pop();
        }
        root.cost <= self.nodes
    }

    /// Takes back the last point.
    pub(super) fn pop(&mut self) {
        self.pop_to(self.len().saturating_sub(1));
    }

    /// Takes back all points but the first `count`.
    pub(super) fn pop_to(&mut self, count: usize) {
        if count >= self.len() {
            return;
        }
        let start = count * (2 + self.entries.len());
        self.store.cut_back(self.marks[start]);
        self.twos.truncate(self.marks[start + 1]);
        for (entries, &mark) in self.entries.iter_mut().zip(&self.marks[start + 2..]) {
            entries.len = mark;
        }
        self.marks.truncate(start);
        self.points.truncate(count);
        self.roots.truncate(count + 1);
    }

    /// The place of all cells.
    fn everywhere(&self, nodes: Cost) -> Place<'static> {
        Place { depth: self.depth, nodes, before: None, dimension: 0, k: 0, side: 0 }
    }
}

#[cfg(test)]
mod tests;

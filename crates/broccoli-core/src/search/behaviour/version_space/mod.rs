//! The version space: all trees that agree with the labels so far, kept small and kept up to date.
//!
//! Labels are coloured points on the grid of cells. Per region of the grid and label the *bounds* are
//! kept: the least and greatest rank in every dimension. A region with at most one label costs no
//! predicate. One with two labels whose bounds are disjoint in some dimension costs one. Any other
//! region needs a split and has a list of candidate *entries*: the predicates by which a tree could
//! split it, each with the two regions it leads to. Predicates of one dimension between which no
//! point of the region lies split it alike and share an entry, until a point falls between them; so
//! thousands of thresholds cost no more than the points that tell them apart.
//!
//! Adding a point touches one side of every entry. An entry whose side has become impossible within
//! the depth and node limits is dropped, for good: more points never make a region cheaper. If no
//! entry is left, no tree agrees with the labels.
//!
//! Everything lives in a few stacks. [`VersionSpace::push`] writes the changed parts on top and
//! shares the rest with the levels below, [`VersionSpace::pop`] cuts the stacks back. After some
//! growth nothing is allocated.

use std::ops::Range;

mod flat;
mod points;
mod refine;
mod split;
mod stack;
mod two;

use self::flat::FlatEntry;
use self::points::Points;
use self::split::Scratch;
use self::stack::Stack;
use super::bounds::{Point, Store};

/// The number of predicate nodes that a set of points needs, at least.
pub(super) type Cost = u32;

/// A region of the grid: the intersection of the half-spaces on the way to it.
#[derive(Clone, Copy, Debug)]
struct Region<B> {
    /// Of no more interest once it is split.
    bounds: B,
    /// The fewest predicate nodes that tell its points apart.
    cost: Cost,
    /// Its entries, if it has been split, the first of them one of the cheapest; it is split only when it costs more
    /// than 1. One that costs 2 and has none may have no more, and this is where its [directions](two::DirectionPairs) are.
    first: u32,
    count: u32,
}

impl<B> Region<B> {
    /// A region that needs no split.
    fn simple(bounds: B, cost: Cost) -> Self {
        Region { bounds, cost, first: 0, count: 0 }
    }

    /// Whether it is split by two predicates without entries.
    #[inline(always)]
    fn is_two(&self) -> bool {
        self.count == 0 && self.cost == 2
    }

    #[inline(always)]
    fn entries(&self) -> Range<usize> {
        self.first as usize..self.first as usize + self.count as usize
    }

    /// Takes over entries that were just written, if there are any.
    #[inline(always)]
    fn become_split(&mut self, first: usize, count: usize, cost: Cost) -> Change {
        if count == 0 {
            return Change::Impossible;
        }
        (self.first, self.count, self.cost) = (first as u32, count as u32, cost);
        Change::Another
    }
}

/// The predicates `rank > k` of one dimension for k from `low` to `high`, which split a region alike.
#[derive(Clone, Copy, Debug)]
struct Group {
    dimension: u16,
    low: u16,
    high: u16,
}

impl Group {
    /// The side on which a cell is; and whether it is on the other one of some predicates of the group. Then the
    /// side is 1.
    #[inline(always)]
    fn side(self, cell: &[u16]) -> (usize, bool) {
        let rank = cell[usize::from(self.dimension)];
        let is_true = rank > self.low;
        (usize::from(is_true), is_true && rank <= self.high)
    }

    /// The predicates that have a cell on their true side, and those that have it on their false side, if there
    /// are both.
    fn cut(self, cell: &[u16]) -> [Group; 2] {
        let rank = cell[usize::from(self.dimension)];
        [Group { high: rank - 1, ..self }, Group { low: rank, ..self }]
    }
}

/// A way to split a region: the predicates, the false side, the true side.
#[derive(Clone, Copy, Debug)]
struct Entry<B> {
    group: Group,
    sides: [Region<B>; 2],
}

impl<B> Entry<B> {
    #[inline(always)]
    fn cost(&self) -> Cost {
        1 + self.sides[0].cost + self.sides[1].cost
    }
}

/// The last of the half-spaces on the way to a region, `rank[dimension] > k` is `side`, and those before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way<'w> {
    pub(super) dimension: u16,
    pub(super) k: u16,
    pub(super) side: usize,
    pub(super) before: Option<&'w Way<'w>>,
}

impl<'w> Way<'w> {
    /// The way to one side of an entry.
    #[inline(always)]
    fn new(group: Group, side: usize, before: Option<&'w Way<'w>>) -> Self {
        // No point is between the predicates of the group.
        Way { dimension: group.dimension, k: group.low, side, before }
    }

    /// Whether it leads to a cell.
    pub(super) fn leads_to(&self, cell: &[u16]) -> bool {
        let is_there = (cell[usize::from(self.dimension)] > self.k) == (self.side == 1);
        is_there && self.before.is_none_or(|before| before.leads_to(cell))
    }
}

/// What a region may still be: how deep its tree, and of how many nodes.
#[derive(Clone, Copy, Debug)]
struct Budget {
    depth: u32,
    nodes: Cost,
}

impl Budget {
    /// What is left for one side when the predicate and the other side have spent this much.
    fn side(self, spent: Cost) -> Option<Budget> {
        Some(Budget { depth: self.depth - 1, nodes: self.nodes.checked_sub(spent)? })
    }

    fn covers(self, cost: Cost) -> bool {
        cost <= self.nodes && cost <= self.depth
    }
}

/// All points up to some number of them.
#[derive(Clone, Copy, Debug)]
struct Level<B> {
    /// The region of all of them.
    root: Region<B>,
    /// How far each of these reached before the last one was pushed.
    store: usize,
    flat: usize,
    twos: usize,
}

/// What one more point has done to a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Nothing,
    /// It is another one now.
    Another,
    /// It goes beyond its budget, and is of no more interest.
    Impossible,
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

impl Fit {
    /// It does if it costs at most so much.
    #[inline(always)]
    fn within(cost: Option<Cost>) -> Self {
        cost.map_or(Fit::No, Fit::Within)
    }
}

/// All trees that agree with the points pushed.
pub(super) struct VersionSpace<S: Store> {
    /// Per dimension, the number of thresholds.
    thresholds: Vec<u16>,
    budget: Budget,
    store: S,
    points: Points<S>,
    /// Per number of points, from none on.
    levels: Vec<Level<S::Bounds>>,
    /// Per point, how far each of the entries reached before it was pushed.
    marks: Vec<usize>,
    /// The entries of regions of depth 2, and of deeper ones by depth less 3.
    flat: Stack<FlatEntry<S::Bounds>>,
    entries: Vec<Stack<Entry<S::Bounds>>>,
    /// Of regions that are split by two predicates.
    twos: Stack<two::DirectionPairs>,
    /// Scratch space of [`VersionSpace::split`], likewise.
    flat_scratch: Scratch<S::Bounds>,
    scratch: Vec<Scratch<S::Bounds>>,
}

impl<S: Store> VersionSpace<S> {
    /// No points yet. `thresholds` has the number of thresholds per dimension.
    pub(super) fn new(thresholds: Vec<u16>, labels: usize, depth: u32, nodes: Cost) -> Self {
        let store = S::new(thresholds.len(), labels);
        let depths = depth as usize + 1;
        VersionSpace {
            budget: Budget { depth, nodes },
            points: Points::new(thresholds.len()),
            levels: vec![Level { root: Region::simple(store.empty(), 0), store: 0, flat: 0, twos: 0 }],
            marks: Vec::new(),
            flat: Stack::default(),
            entries: (3..depths).map(|_| Stack::default()).collect(),
            twos: Stack::default(),
            flat_scratch: Scratch::default(),
            scratch: (3..depths).map(|_| Scratch::default()).collect(),
            thresholds,
            store,
        }
    }

    /// From now on trees of up to `nodes` predicates count. There must be no points.
    pub(super) fn limit(&mut self, nodes: Cost) {
        debug_assert_eq!(self.len(), 0);
        self.budget.nodes = nodes;
    }

    /// The fewest predicate nodes of any tree that agrees with all points.
    #[inline]
    pub(super) fn cost(&self) -> Cost {
        self.root().cost
    }

    /// The same for the first `count` points alone.
    pub(super) fn cost_of_first(&self, count: usize) -> Cost {
        self.levels[count].root.cost
    }

    /// The number of points.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.points.len()
    }

    /// The most predicates of a tree.
    #[inline]
    pub(super) fn nodes(&self) -> Cost {
        self.budget.nodes
    }

    /// Whether some tree of at most `nodes` predicates agrees with one more point, as far as that is plain to see:
    /// where it would take a split to know, only [`VersionSpace::push`] tells. Changes nothing.
    #[inline]
    pub(super) fn fit(&self, point: &Point<'_, S>, nodes: Cost) -> Fit {
        let budget = Budget { nodes: nodes.min(self.budget.nodes), ..self.budget };
        self.fits(self.root(), budget, point, None)
    }

    /// Adds a point, if some tree within the limits agrees with it and all others; says whether.
    pub(super) fn push(&mut self, point: &Point<'_, S>) -> bool {
        let (store, flat, twos) = (self.store.reach(), self.flat.len(), self.twos.len());
        self.marks.extend(self.entries.iter().map(Stack::len));
        self.points.push(point);
        // The level is pushed in any case, so that one way back serves both.
        let mut levels = std::mem::take(&mut self.levels);
        levels.push(Level { store, flat, twos, ..levels[levels.len() - 1] });
        let root = &mut levels[self.len()].root;
        let change = self.add(root, self.budget, point, None);
        self.levels = levels;
        let is_possible = change != Change::Impossible;
        if !is_possible {
            self.pop();
        }
        is_possible
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
        let Level { store, flat, twos, .. } = self.levels[count + 1];
        self.store.cut_back(store);
        self.flat.truncate(flat);
        self.twos.truncate(twos);
        let start = count * self.entries.len();
        for (entries, &mark) in self.entries.iter_mut().zip(&self.marks[start..]) {
            entries.truncate(mark);
        }
        self.marks.truncate(start);
        self.points.truncate(count);
        self.levels.truncate(count + 1);
    }

    #[inline]
    fn root(&self) -> &Region<S::Bounds> {
        &self.levels[self.levels.len() - 1].root
    }
}

#[cfg(test)]
mod tests;

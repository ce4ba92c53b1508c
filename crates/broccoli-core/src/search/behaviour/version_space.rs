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

use super::bounds::Store;

/// The number of predicate nodes that a set of points needs, at least.
pub(super) type Cost = u32;

/// A region of the grid: the intersection of the half-spaces on the way to it.
#[derive(Clone, Copy, Debug)]
struct Region<B> {
    /// Of no more interest once it is split.
    bounds: B,
    /// The fewest predicate nodes that tell its points apart.
    cost: Cost,
    /// Its entries, if it has been split; it is split only when it costs more than 1.
    first: u32,
    count: u32,
}

impl<B> Region<B> {
    /// A region that needs no split.
    fn simple(bounds: B, cost: Cost) -> Self {
        Region { bounds, cost, first: 0, count: 0 }
    }

    fn entries(&self) -> Range<usize> {
        self.first as usize..(self.first + self.count) as usize
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
    /// The part of the group that has a point of this rank on the given side, if any.
    #[inline]
    fn part(self, side: usize, rank: u16) -> Option<Group> {
        match side {
            1 => (self.low < rank).then(|| Group { high: self.high.min(rank - 1), ..self }),
            _ => (rank <= self.high).then(|| Group { low: self.low.max(rank), ..self }),
        }
    }
}

/// A way to split a region: the predicates, the false side, the true side.
#[derive(Clone, Copy, Debug)]
struct Entry<B> {
    group: Group,
    sides: [Region<B>; 2],
}

/// The same for a region of depth 2, whose sides are never split: most of the work is done on these.
#[derive(Clone, Copy, Debug)]
struct Pair<B> {
    group: Group,
    costs: [u8; 2],
    bounds: [B; 2],
}

/// A half-space on the way to a region: `rank[dimension] > k` is `side`.
#[derive(Clone, Copy, Debug)]
struct HalfSpace {
    dimension: u16,
    k: u16,
    side: usize,
}

/// A point's rank in some dimension, and its index.
type Ranked = (u16, u32);

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
    /// How far the store and the pairs reached before the last one was pushed.
    store: usize,
    pairs: usize,
}

/// What one more point does to a region.
enum Added<B> {
    /// Nothing.
    Same,
    /// It becomes this one.
    New(Region<B>),
    /// It goes beyond its budget.
    Impossible,
}

/// All trees that agree with the points pushed.
pub(super) struct VersionSpace<S: Store> {
    /// Per dimension, the number of thresholds.
    thresholds: Vec<u16>,
    budget: Budget,
    store: S,
    /// The points, their ranks one after the other, and their labels.
    points: Vec<u16>,
    labels: Vec<u16>,
    /// Per number of points, from none on.
    levels: Vec<Level<S::Bounds>>,
    /// Per point, how far each of the entries reached before it was pushed.
    marks: Vec<usize>,
    /// The entries of regions of depth 2, and of deeper ones by depth less 3.
    pairs: Vec<Pair<S::Bounds>>,
    entries: Vec<Vec<Entry<S::Bounds>>>,
    /// The half-spaces around the region being changed.
    way: Vec<HalfSpace>,
    /// Per dimension, the first `ordered` points by their rank.
    order: Vec<Vec<Ranked>>,
    ordered: usize,
    /// Scratch space of [`VersionSpace::split`], by depth: points by rank, and the bounds of those from
    /// each distinct rank on.
    sorted: Vec<Vec<Ranked>>,
    suffixes: Vec<Vec<S::Bounds>>,
    gaps: Vec<Gap>,
}

/// A gap between the ranks of points, where a threshold can split a region.
#[derive(Clone, Copy, Debug)]
struct Gap {
    /// How many points lie below it.
    place: usize,
    /// Its thresholds, from `low` up to but without `end`.
    low: u16,
    end: u16,
    /// What the points below cost.
    cost: Cost,
}

impl<S: Store> VersionSpace<S> {
    /// No points yet. `thresholds` has the number of thresholds per dimension.
    pub(super) fn new(thresholds: Vec<u16>, labels: usize, depth: u32, nodes: Cost) -> Self {
        let store = S::new(thresholds.len(), labels);
        let depths = depth as usize + 1;
        VersionSpace {
            budget: Budget { depth, nodes },
            points: Vec::new(),
            labels: Vec::new(),
            levels: vec![Level { root: Region::simple(store.empty(), 0), store: 0, pairs: 0 }],
            marks: Vec::new(),
            pairs: Vec::new(),
            entries: (3..depths).map(|_| Vec::new()).collect(),
            way: Vec::new(),
            order: vec![Vec::new(); thresholds.len()],
            ordered: 0,
            sorted: vec![Vec::new(); depths],
            suffixes: vec![Vec::new(); depths],
            gaps: Vec::new(),
            thresholds,
            store,
        }
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
        self.labels.len()
    }

    /// The ranks of a point, counted in the order in which they were pushed.
    #[inline]
    pub(super) fn point(&self, index: usize) -> &[u16] {
        let dimensions = self.thresholds.len();
        &self.points[index * dimensions..][..dimensions]
    }

    /// The label of a point.
    #[inline]
    pub(super) fn label(&self, index: usize) -> u16 {
        self.labels[index]
    }

    /// Whether it is plain to see that no tree of at most `nodes` predicates agrees with one more point
    /// and all others but the last `without`. Changes nothing; where it would take a split to know, it
    /// says no, and only [`VersionSpace::push`] tells.
    #[inline]
    pub(super) fn refutes(&self, cell: &[u16], label: u16, nodes: Cost, without: usize) -> bool {
        let budget = Budget { nodes: nodes.min(self.budget.nodes), ..self.budget };
        let root = &self.levels[self.levels.len() - 1 - without].root;
        self.fits(root, budget, cell, label) == Some(false)
    }

    /// Adds a point, if some tree within the limits agrees with it and all others; says whether.
    pub(super) fn push(&mut self, cell: &[u16], label: u16) -> bool {
        let (store, pairs) = (self.store.reach(), self.pairs.len());
        self.marks.extend(self.entries.iter().map(Vec::len));
        self.points.extend(cell.iter().copied());
        self.labels.push(label);
        let root = *self.root();
        let added = self.add(&root, self.budget, cell, label);
        // The level is pushed in any case, so that one way back serves both.
        let possible = !matches!(added, Added::Impossible);
        self.levels.push(Level {
            root: if let Added::New(root) = added { root } else { root },
            store,
            pairs,
        });
        if !possible {
            self.pop();
        }
        possible
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
        let Level { store, pairs, .. } = self.levels[count + 1];
        self.store.cut_back(store);
        self.pairs.truncate(pairs);
        let start = count * self.entries.len();
        for (entries, &mark) in self.entries.iter_mut().zip(&self.marks[start..]) {
            entries.truncate(mark);
        }
        self.marks.truncate(start);
        self.labels.truncate(count);
        self.points.truncate(count * self.thresholds.len());
        self.levels.truncate(count + 1);
        if self.ordered > count {
            self.ordered = count;
            for order in &mut self.order {
                order.retain(|&(_, index)| (index as usize) < count);
            }
        }
    }

    #[inline]
    fn root(&self) -> &Region<S::Bounds> {
        &self.levels[self.levels.len() - 1].root
    }

    /// Whether a region stays within its budget with one more point; `None` if it must be split first.
    fn fits(&self, region: &Region<S::Bounds>, budget: Budget, cell: &[u16], label: u16) -> Option<bool> {
        if region.count == 0 {
            return match self.store.cost_with(region.bounds, cell, label) {
                Some(cost) => Some(budget.covers(cost)),
                None if budget.depth < 2 || budget.nodes < 2 => Some(false),
                None => None,
            };
        }
        if budget.depth == 2 {
            return Some(self.pairs_fit(region, budget.nodes, cell, label));
        }
        let mut unknown = false;
        for entry in &self.entries[budget.depth as usize - 3][region.entries()] {
            let rank = cell[usize::from(entry.group.dimension)];
            for side in [0, 1] {
                if entry.group.part(side, rank).is_none() {
                    continue;
                }
                let Some(budget) = budget.side(1 + entry.sides[1 - side].cost) else { continue };
                match self.fits(&entry.sides[side], budget, cell, label) {
                    Some(true) => return Some(true),
                    Some(false) => {}
                    None => unknown = true,
                }
            }
        }
        if unknown { None } else { Some(false) }
    }

    /// [`VersionSpace::fits`] for a region of depth 2 that is split.
    #[inline]
    fn pairs_fit(&self, region: &Region<S::Bounds>, nodes: Cost, cell: &[u16], label: u16) -> bool {
        self.pairs[region.entries()].iter().any(|pair| {
            let rank = cell[usize::from(pair.group.dimension)];
            [0, 1].into_iter().any(|side| {
                pair.group.part(side, rank).is_some()
                    && (self.store.cost_with(pair.bounds[side], cell, label))
                        .is_some_and(|cost| 1 + Cost::from(pair.costs[1 - side]) + cost <= nodes)
            })
        })
    }

    /// Adds one more point to a region.
    #[inline]
    fn add(
        &mut self,
        region: &Region<S::Bounds>,
        budget: Budget,
        cell: &[u16],
        label: u16,
    ) -> Added<S::Bounds> {
        if region.count > 0 {
            return match budget.depth {
                2 => self.refine_pairs(region, budget.nodes, cell, label),
                _ => self.refine(region, budget, cell, label),
            };
        }
        if self.store.is_inside(region.bounds, cell, label) {
            return if region.cost <= budget.nodes { Added::Same } else { Added::Impossible };
        }
        let bounds = self.store.with(region.bounds, cell, label);
        match self.store.cost_without_split(bounds) {
            Some(cost) if budget.covers(cost) => Added::New(Region::simple(bounds, cost)),
            Some(_) => Added::Impossible,
            None => self.split(bounds, budget).map_or(Added::Impossible, Added::New),
        }
    }

    /// Brings the entries of a region up to date with one more point. While nothing changes nothing is
    /// written; from the first change on, the new list is written on top of the stack.
    fn refine(
        &mut self,
        region: &Region<S::Bounds>,
        budget: Budget,
        cell: &[u16],
        label: u16,
    ) -> Added<S::Bounds> {
        let level = budget.depth as usize - 3;
        let first = self.entries[level].len();
        let mut changed = false;
        let mut cost = Cost::MAX;
        for index in region.entries() {
            let entry = self.entries[level][index];
            let rank = cell[usize::from(entry.group.dimension)];
            for side in [1, 0] {
                let Some(group) = entry.group.part(side, rank) else { continue };
                let spent = 1 + entry.sides[1 - side].cost;
                let added = match budget.side(spent) {
                    None => Added::Impossible,
                    Some(budget) => {
                        self.way.push(HalfSpace { dimension: group.dimension, k: group.low, side });
                        let added = self.add(&entry.sides[side], budget, cell, label);
                        self.way.pop();
                        added
                    }
                };
                let whole = group.low == entry.group.low && group.high == entry.group.high;
                let same = whole && matches!(added, Added::Same);
                if !same && !changed {
                    changed = true;
                    self.entries[level].extend_from_within(region.first as usize..index);
                }
                let mut entry = Entry { group, ..entry };
                match added {
                    Added::Impossible => continue,
                    Added::Same => {}
                    Added::New(region) => entry.sides[side] = region,
                }
                cost = cost.min(spent + entry.sides[side].cost);
                if changed {
                    self.entries[level].push(entry);
                }
            }
        }
        if !changed {
            return Added::Same;
        }
        Self::written(first, self.entries[level].len(), region.bounds, cost)
            .map_or(Added::Impossible, Added::New)
    }

    /// [`VersionSpace::refine`] for a region of depth 2.
    fn refine_pairs(
        &mut self,
        region: &Region<S::Bounds>,
        nodes: Cost,
        cell: &[u16],
        label: u16,
    ) -> Added<S::Bounds> {
        let first = self.pairs.len();
        let mut is_changed = false;
        let mut cost = Cost::MAX;
        for index in region.entries() {
            let pair = &self.pairs[index];
            let rank = cell[usize::from(pair.group.dimension)];
            let is_split = pair.group.low < rank && rank <= pair.group.high;
            let side = usize::from(rank > pair.group.high);
            let total = 1 + Cost::from(pair.costs[0]) + Cost::from(pair.costs[1]);
            if !is_split && total <= nodes && self.store.is_inside(pair.bounds[side], cell, label) {
                cost = cost.min(total);
                if is_changed {
                    self.pairs.push(self.pairs[index]);
                }
                continue;
            }
            if !is_changed {
                is_changed = true;
                self.pairs.extend_from_within(region.first as usize..index);
            }
            let pair = self.pairs[index];
            if is_split {
                for side in [1, 0] {
                    if let Some(group) = pair.group.part(side, rank) {
                        cost = cost.min(self.add_pair(Pair { group, ..pair }, side, nodes, cell, label));
                    }
                }
            } else {
                cost = cost.min(self.add_pair(pair, side, nodes, cell, label));
            }
        }
        if !is_changed {
            return Added::Same;
        }
        Self::written(first, self.pairs.len(), region.bounds, cost).map_or(Added::Impossible, Added::New)
    }

    /// Writes a pair with one more point on one side, if that is possible; its cost.
    #[inline]
    fn add_pair(
        &mut self,
        mut pair: Pair<S::Bounds>,
        side: usize,
        nodes: Cost,
        cell: &[u16],
        label: u16,
    ) -> Cost {
        pair.bounds[side] = self.store.with(pair.bounds[side], cell, label);
        let Some(cost) = self.store.cost_without_split(pair.bounds[side]) else { return Cost::MAX };
        pair.costs[side] = cost as u8;
        let total = 1 + Cost::from(pair.costs[0]) + Cost::from(pair.costs[1]);
        if total > nodes {
            return Cost::MAX;
        }
        self.pairs.push(pair);
        total
    }

    /// Makes the entries of a region that costs more than 1, from the points in it.
    fn split(&mut self, bounds: S::Bounds, budget: Budget) -> Option<Region<S::Bounds>> {
        if budget.depth < 2 || budget.nodes < 2 {
            return None;
        }
        let depth = budget.depth as usize;
        let first = self.entry_count(depth);
        let mut cost = Cost::MAX;
        let mut sorted = std::mem::take(&mut self.sorted[depth]);
        self.order_points();
        for dimension in 0..self.thresholds.len() {
            self.sort_region(dimension, &mut sorted);
            cost = cost.min(match depth {
                2 => self.split_into_pairs(dimension as u16, &sorted, budget.nodes),
                _ => self.split_dimension(dimension as u16, &sorted, bounds, budget),
            });
        }
        self.sorted[depth] = sorted;
        Self::written(first, self.entry_count(depth), bounds, cost)
    }

    /// How many entries the stack for regions of this depth has.
    fn entry_count(&self, depth: usize) -> usize {
        if depth == 2 { self.pairs.len() } else { self.entries[depth - 3].len() }
    }

    /// The region whose entries were just written, if there are any.
    fn written(first: usize, end: usize, bounds: S::Bounds, cost: Cost) -> Option<Region<S::Bounds>> {
        (end > first).then_some(Region { bounds, cost, first: first as u32, count: (end - first) as u32 })
    }

    /// Brings the order of the points in each dimension up to date.
    fn order_points(&mut self) {
        let dimensions = self.thresholds.len();
        for index in self.ordered..self.labels.len() {
            for (dimension, order) in self.order.iter_mut().enumerate() {
                let ranked = (self.points[index * dimensions + dimension], index as u32);
                let place = order.partition_point(|&other| other < ranked);
                order.insert(place, ranked);
            }
        }
        self.ordered = self.labels.len();
    }

    /// The points of the region at the end of the way, by their rank in one dimension.
    fn sort_region(&self, dimension: usize, sorted: &mut Vec<Ranked>) {
        sorted.clear();
        let is_in = |&&(_, index): &&Ranked| {
            let point = self.point(index as usize);
            self.way.iter().all(|h| usize::from(point[usize::from(h.dimension)] > h.k) == h.side)
        };
        sorted.extend(self.order[dimension].iter().filter(is_in));
    }

    /// [`VersionSpace::split_dimension`] for a region of depth 2. Neither side may need a split, and the
    /// more points a side has the sooner it does: the points are added from both ends only as long as
    /// they do not.
    fn split_into_pairs(&mut self, dimension: u16, sorted: &[Ranked], nodes: Cost) -> Cost {
        let same_rank = |a: &Ranked, b: &Ranked| a.0 == b.0;
        // The gaps, each the place of the first point above it, whose false side needs no split.
        let mut prefixes = std::mem::take(&mut self.suffixes[2]);
        prefixes.clear();
        let mut prefix = self.store.empty();
        let mut low = 0;
        let mut place = 0;
        let mut gaps = std::mem::take(&mut self.gaps);
        gaps.clear();
        for points in sorted.chunk_by(same_rank).map(Some).chain([None]) {
            let Some(cost) = self.store.cost_without_split(prefix) else { break };
            let end = points.map_or(self.thresholds[usize::from(dimension)], |points| points[0].0);
            gaps.push(Gap { place, low, end, cost });
            prefixes.push(prefix);
            if let Some(points) = points {
                prefix = self.with_points(prefix, points);
                (low, place) = (points[0].0, place + points.len());
            }
        }
        let mut best = Cost::MAX;
        let mut suffix = self.store.empty();
        let mut above = sorted.len();
        for (gap, &prefix) in gaps.iter().zip(&prefixes).rev() {
            suffix = self.with_points(suffix, &sorted[gap.place..above]);
            above = gap.place;
            let Some(cost) = self.store.cost_without_split(suffix) else { break };
            let total = 1 + gap.cost + cost;
            if gap.low < gap.end && total <= nodes {
                let group = Group { dimension, low: gap.low, high: gap.end - 1 };
                self.pairs.push(Pair {
                    group,
                    costs: [gap.cost as u8, cost as u8],
                    bounds: [prefix, suffix],
                });
                best = best.min(total);
            }
        }
        self.suffixes[2] = prefixes;
        self.gaps = gaps;
        best
    }

    /// The entries of one dimension: the gaps between neighbouring ranks, and those before the first
    /// and behind the last, where all points are on one side. The least of their costs.
    fn split_dimension(&mut self, dimension: u16, sorted: &[Ranked], all: S::Bounds, budget: Budget) -> Cost {
        let mut suffixes = std::mem::take(&mut self.suffixes[budget.depth as usize]);
        suffixes.clear();
        let mut suffix = self.store.empty();
        suffixes.push(suffix);
        for points in sorted.chunk_by(|a, b| a.0 == b.0).rev() {
            suffix = self.with_points(suffix, points);
            suffixes.push(suffix);
        }
        let mut cost = Cost::MAX;
        let mut prefix = self.store.empty();
        let mut low = 0;
        let ranks = sorted.chunk_by(|a, b| a.0 == b.0).map(Some).chain([None]);
        for (points, &suffix) in ranks.zip(suffixes.iter().rev()) {
            // The gap before these points: the thresholds from `low` up to `end`.
            let end = points.map_or(self.thresholds[usize::from(dimension)], |points| points[0].0);
            if low < end {
                let prefix = if points.is_none() { all } else { prefix };
                let group = Group { dimension, low, high: end - 1 };
                cost = cost.min(self.enter(group, [prefix, suffix], budget));
            }
            if let Some(points) = points {
                prefix = self.with_points(prefix, points);
                low = points[0].0;
            }
        }
        self.suffixes[budget.depth as usize] = suffixes;
        cost
    }

    /// Makes one entry from the bounds of its two sides, if it is possible; its cost.
    fn enter(&mut self, group: Group, bounds: [S::Bounds; 2], budget: Budget) -> Cost {
        // What each side costs: exactly if it needs no split, else at least 2.
        let simple = bounds.map(|bounds| self.store.cost_without_split(bounds));
        let mut costs = simple.map(|cost| cost.unwrap_or(2));
        if 1 + costs[0] + costs[1] > budget.nodes {
            return Cost::MAX;
        }
        let mut sides = [0, 1].map(|side| Region::simple(bounds[side], costs[side]));
        for side in [0, 1] {
            if simple[side].is_some() {
                continue;
            }
            let Some(budget) = budget.side(1 + costs[1 - side]) else { return Cost::MAX };
            self.way.push(HalfSpace { dimension: group.dimension, k: group.low, side });
            let region = self.split(bounds[side], budget);
            self.way.pop();
            let Some(region) = region else { return Cost::MAX };
            (sides[side], costs[side]) = (region, region.cost);
        }
        self.entries[budget.depth as usize - 3].push(Entry { group, sides });
        1 + costs[0] + costs[1]
    }

    /// Bounds with some points more.
    fn with_points(&mut self, mut bounds: S::Bounds, points: &[Ranked]) -> S::Bounds {
        let dimensions = self.thresholds.len();
        for &(_, index) in points {
            let index = index as usize;
            let cell = &self.points[index * dimensions..][..dimensions];
            bounds = self.store.with(bounds, cell, self.labels[index]);
        }
        bounds
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::bounds::{Arena, Inline};
    use super::super::realise::{Labelled, least_nodes};
    use super::*;

    /// Pushes the points that fit, takes some back now and then, and compares every answer with the
    /// plain recursion.
    fn check<S: Store>(
        dimensions: usize,
        labels: usize,
        (depth, nodes): (u32, Cost),
        moves: &[([u16; 4], u16, u8)],
    ) -> Result<(), TestCaseError> {
        let mut space = VersionSpace::<S>::new(vec![7; dimensions], labels, depth, nodes);
        let mut points: Vec<Labelled> = Vec::new();
        for &(cell, label, back) in moves {
            let (cell, label) = (cell[..dimensions].to_vec(), label % labels as u16);
            if points.iter().any(|point| point.cell == cell) {
                continue;
            }
            let before = space.cost();
            points.push(Labelled { cell: cell.clone(), label });
            let all: Vec<&Labelled> = points.iter().collect();
            let expected = least_nodes(&all, depth, u64::from(nodes));
            for most in 0..=nodes {
                let possible = expected.is_some_and(|least| least <= u64::from(most));
                prop_assert!(!(possible && space.refutes(&cell, label, most, 0)), "refuted within {most}");
            }
            let pushed = space.push(&cell, label);
            prop_assert_eq!(pushed.then(|| u64::from(space.cost())), expected);
            if pushed {
                prop_assert_eq!(space.cost_of_first(points.len() - 1), before);
            } else {
                points.pop();
                prop_assert_eq!(space.cost(), before);
            }
            if usize::from(back) < points.len() && back % 3 == 0 {
                points.truncate(usize::from(back));
                space.pop_to(points.len());
            }
            prop_assert_eq!(space.len(), points.len());
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

        #[test]
        fn agrees_with_the_plain_recursion(
            depth in 0..=4u32,
            nodes in 0..=15u32,
            moves in vec((any::<[u16; 4]>().prop_map(|cell| cell.map(|rank| rank % 8)), 0..3u16, 0..24u8), 0..24),
        ) {
            let limits = (depth, nodes.min((1 << depth) - 1));
            check::<Inline<1, 2>>(1, 2, limits, &moves)?;
            check::<Inline<2, 2>>(2, 2, limits, &moves)?;
            check::<Inline<2, 3>>(2, 3, limits, &moves)?;
            check::<Inline<4, 2>>(4, 2, limits, &moves)?;
            check::<Arena>(1, 3, limits, &moves)?;
            check::<Arena>(2, 2, limits, &moves)?;
            check::<Arena>(3, 3, limits, &moves)?;
        }
    }

    /// Thousands of thresholds cost no more than the points that tell them apart.
    #[test]
    fn thousands_of_thresholds_take_little_memory() {
        let mut space = VersionSpace::<Inline<4, 2>>::new(vec![2_000; 4], 2, 3, 7);
        let mut random = 1u64;
        let mut draw = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((random >> 33) % below) as u16
        };
        let mut most = 0;
        for _ in 0..2_000 {
            let cell = [draw(2_001), draw(2_001), draw(2_001), draw(2_001)];
            let label = u16::from(cell[0] > 700) ^ u16::from(cell[1] > 1_200 && cell[2] > 300);
            space.push(&cell, label);
            let entries: usize = space.entries.iter().map(Vec::len).sum();
            let bytes = entries * size_of::<Entry<[[[u16; 2]; 4]; 2]>>()
                + space.pairs.len() * size_of::<Pair<[[[u16; 2]; 4]; 2]>>();
            most = most.max(bytes);
        }
        assert_eq!(space.len(), 2_000, "every label is that of a tree of depth 3");
        assert!(most < 1 << 30, "{most} bytes");
    }
}

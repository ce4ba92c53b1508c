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

/// The number of predicate nodes that a set of points needs, at least.
pub(super) type Cost = u32;

/// A region of the grid: the intersection of the half-spaces on the way to it.
#[derive(Clone, Copy, Debug)]
struct Region {
    /// Where its bounds are.
    bounds: u32,
    /// The fewest predicate nodes that tell its points apart.
    cost: Cost,
    /// Its entries, if it has been split; it is split only when it costs more than 1.
    first: u32,
    count: u32,
}

/// The predicates `rank > k` of one dimension for k from `low` to `high`, which split a region alike.
#[derive(Clone, Copy, Debug)]
struct Entry {
    dimension: u16,
    low: u16,
    high: u16,
    /// The false side, then the true side.
    sides: [Region; 2],
}

/// A half-space on the way to a region: `rank[dimension] > k` is `side`.
#[derive(Clone, Copy, Debug)]
struct HalfSpace {
    dimension: u16,
    k: u16,
    side: usize,
}

/// How far the stacks reached before a level was pushed.
#[derive(Clone, Debug)]
struct Level {
    root: Region,
    bounds: usize,
}

pub(super) struct VersionSpace {
    /// Per dimension, the number of thresholds.
    thresholds: Vec<u16>,
    labels: usize,
    depth: u32,
    nodes: Cost,
    /// The points, their ranks one after the other, and their labels.
    points: Vec<u16>,
    point_labels: Vec<u16>,
    levels: Vec<Level>,
    /// Per level and depth, how far the stack of entries reached before it was pushed.
    marks: Vec<usize>,
    /// Per depth, the entries of regions that may be that deep.
    entries: Vec<Vec<Entry>>,
    /// Per region, label and dimension: least and greatest rank. The first are those of no point.
    bounds: Vec<u16>,
    /// The half-spaces around the region being changed.
    way: Vec<HalfSpace>,
    /// Scratch space of [`VersionSpace::split`], one per depth: its points by rank.
    sorted: Vec<Vec<(u16, u32)>>,
}

impl VersionSpace {
    /// No points yet. `thresholds` has the number of thresholds per dimension.
    pub(super) fn new(thresholds: Vec<u16>, labels: usize, depth: u32, nodes: Cost) -> Self {
        let empty: Vec<u16> = [u16::MAX, 0].repeat(labels * thresholds.len());
        VersionSpace {
            labels,
            depth,
            nodes,
            points: Vec::new(),
            point_labels: Vec::new(),
            levels: vec![Level { root: Region { bounds: 0, cost: 0, first: 0, count: 0 }, bounds: 0 }],
            marks: Vec::new(),
            entries: vec![Vec::new(); depth as usize + 1],
            bounds: empty,
            way: Vec::new(),
            sorted: vec![Vec::new(); depth as usize + 1],
            thresholds,
        }
    }

    /// The fewest predicate nodes of any tree that agrees with all points.
    pub(super) fn cost(&self) -> Cost {
        self.root().cost
    }

    /// The number of points.
    pub(super) fn len(&self) -> usize {
        self.point_labels.len()
    }

    /// The ranks of a point, counted in the order in which they were pushed.
    pub(super) fn point(&self, index: usize) -> &[u16] {
        let dimensions = self.thresholds.len();
        &self.points[index * dimensions..][..dimensions]
    }

    /// The label of a point.
    pub(super) fn label(&self, index: usize) -> u16 {
        self.point_labels[index]
    }

    /// Adds a point, if some tree within the limits agrees with it and all others; says whether.
    pub(super) fn push(&mut self, cell: &[u16], label: u16) -> bool {
        let bounds = self.bounds.len();
        self.marks.extend(self.entries.iter().map(Vec::len));
        self.points.extend_from_slice(cell);
        self.point_labels.push(label);
        let root = self.add(*self.root(), self.depth, self.nodes, cell, label);
        // The level is pushed in any case, so that one way back serves both.
        self.levels.push(Level { root: root.unwrap_or(*self.root()), bounds });
        if root.is_none() {
            self.pop();
        }
        root.is_some()
    }

    /// Takes back the last point added.
    pub(super) fn pop(&mut self) {
        let Some(level) = self.levels.pop() else { return };
        self.bounds.truncate(level.bounds);
        let start = self.marks.len() - self.entries.len();
        for (entries, &mark) in self.entries.iter_mut().zip(&self.marks[start..]) {
            entries.truncate(mark);
        }
        self.marks.truncate(start);
        self.point_labels.pop();
        self.points.truncate(self.point_labels.len() * self.thresholds.len());
    }

    /// Takes back all points but the first `count`.
    pub(super) fn pop_to(&mut self, count: usize) {
        while self.len() > count {
            self.pop();
        }
    }

    fn root(&self) -> &Region {
        &self.levels[self.levels.len() - 1].root
    }

    /// The region with one more point, or `None` if it then costs more than `budget` or needs to be
    /// deeper than `depth`.
    fn add(&mut self, region: Region, depth: u32, budget: Cost, cell: &[u16], label: u16) -> Option<Region> {
        let inside = self.is_inside(region.bounds, cell, label);
        if inside && region.count == 0 {
            return (region.cost <= budget).then_some(region);
        }
        let bounds = if inside { region.bounds } else { self.extended(region.bounds, cell, label) };
        if let Some(cost) = self.cost_without_split(bounds) {
            let possible = cost <= budget && cost <= depth;
            return possible.then_some(Region { bounds, cost, first: 0, count: 0 });
        }
        if depth < 2 || budget < 2 {
            return None;
        }
        if region.count == 0 { self.split(bounds, depth, budget) } else { self.refine(region, bounds, depth, budget, cell, label) }
    }

    /// Brings the entries of a region up to date with one more point.
    fn refine(
        &mut self,
        region: Region,
        bounds: u32,
        depth: u32,
        budget: Cost,
        cell: &[u16],
        label: u16,
    ) -> Option<Region> {
        let first = self.entries[depth as usize].len();
        let mut cost = Cost::MAX;
        for index in region.first as usize..(region.first + region.count) as usize {
            let entry = self.entries[depth as usize][index];
            let rank = cell[usize::from(entry.dimension)];
            if rank > entry.high {
                cost = cost.min(self.refine_entry(entry, 1, depth, budget, cell, label));
            } else if rank <= entry.low {
                cost = cost.min(self.refine_entry(entry, 0, depth, budget, cell, label));
            } else {
                let below = Entry { high: rank - 1, ..entry };
                let above = Entry { low: rank, ..entry };
                cost = cost.min(self.refine_entry(below, 1, depth, budget, cell, label));
                cost = cost.min(self.refine_entry(above, 0, depth, budget, cell, label));
            }
        }
        self.finish(first, bounds, depth, cost)
    }

    /// Adds the point to one side of an entry and keeps the entry if it is still possible; its cost.
    #[inline]
    fn refine_entry(&mut self, mut entry: Entry, side: usize, depth: u32, budget: Cost, cell: &[u16], label: u16) -> Cost {
        let other = entry.sides[1 - side].cost;
        let Some(left) = budget.checked_sub(1 + other) else { return Cost::MAX };
        self.way.push(HalfSpace { dimension: entry.dimension, k: entry.low, side });
        let region = self.add(entry.sides[side], depth - 1, left, cell, label);
        self.way.pop();
        let Some(region) = region else { return Cost::MAX };
        entry.sides[side] = region;
        self.entries[depth as usize].push(entry);
        1 + other + region.cost
    }

    /// Makes the entries of a region that costs more than 1, from the points in it.
    fn split(&mut self, bounds: u32, depth: u32, budget: Cost) -> Option<Region> {
        let first = self.entries[depth as usize].len();
        let mut cost = Cost::MAX;
        let mut sorted = std::mem::take(&mut self.sorted[depth as usize]);
        for dimension in 0..self.thresholds.len() {
            self.sort_points(dimension, &mut sorted);
            cost = cost.min(self.split_dimension(dimension as u16, &sorted, bounds, depth, budget));
        }
        self.sorted[depth as usize] = sorted;
        self.finish(first, bounds, depth, cost)
    }

    /// The points of the region at the end of the way, by their rank in one dimension.
    fn sort_points(&self, dimension: usize, sorted: &mut Vec<(u16, u32)>) {
        let dimensions = self.thresholds.len();
        sorted.clear();
        for (index, point) in self.points.chunks_exact(dimensions).enumerate() {
            let on_way = |h: &HalfSpace| usize::from(point[usize::from(h.dimension)] > h.k) == h.side;
            if self.way.iter().all(on_way) {
                sorted.push((point[dimension], index as u32));
            }
        }
        sorted.sort_unstable();
    }

    /// The entries of one dimension: the gaps between neighbouring ranks, and those before the first
    /// and behind the last, where all points are on one side.
    fn split_dimension(
        &mut self,
        dimension: u16,
        sorted: &[(u16, u32)],
        all: u32,
        depth: u32,
        budget: Cost,
    ) -> Cost {
        // Bounds of the points from each distinct rank on, the last rank first.
        let mut ranks = 0;
        let mut suffix = 0;
        let mut suffixes_end = self.bounds.len();
        for group in sorted.chunk_by(|a, b| a.0 == b.0).rev() {
            suffix = self.extended_by(suffix, group);
            suffixes_end = self.bounds.len();
            ranks += 1;
        }
        let stride = self.stride();
        let mut cost = Cost::MAX;
        let mut prefix = 0;
        let mut low = 0;
        let groups = sorted.chunk_by(|a, b| a.0 == b.0).map(Some).chain([None]);
        for (nth, group) in groups.enumerate() {
            // The gap before this group: thresholds with index from `low` to `high`.
            let end = group.map_or(self.thresholds[usize::from(dimension)], |group| group[0].0);
            if low < end {
                let suffix = match nth {
                    0 => all,
                    _ if nth < ranks => (suffixes_end - (nth + 1) * stride) as u32,
                    _ => 0,
                };
                let prefix = if nth == ranks { all } else { prefix };
                cost = cost.min(self.enter(dimension, low, end - 1, [prefix, suffix], depth, budget));
            }
            if let Some(group) = group {
                prefix = self.extended_by(prefix, group);
                low = group[0].0;
            }
        }
        cost
    }

    /// Makes one entry from the bounds of its two sides, if it is possible; its cost.
    fn enter(&mut self, dimension: u16, low: u16, high: u16, bounds: [u32; 2], depth: u32, budget: Cost) -> Cost {
        // What each side costs at least: exact if it needs no split.
        let least = bounds.map(|bounds| self.cost_without_split(bounds).unwrap_or(2));
        let mut sides = [Region { bounds: 0, cost: 0, first: 0, count: 0 }; 2];
        let mut spent = 1 + least[0] + least[1];
        for side in [0, 1] {
            spent -= least[side];
            let Some(left) = budget.checked_sub(spent) else { return Cost::MAX };
            let region = match self.cost_without_split(bounds[side]) {
                Some(cost) if cost < depth && cost <= left => Region { bounds: bounds[side], cost, first: 0, count: 0 },
                None if depth >= 3 && left >= 2 => {
                    self.way.push(HalfSpace { dimension, k: low, side });
                    let region = self.split(bounds[side], depth - 1, left);
                    self.way.pop();
                    match region {
                        Some(region) => region,
                        None => return Cost::MAX,
                    }
                }
                _ => return Cost::MAX,
            };
            spent += region.cost;
            sides[side] = region;
        }
        self.entries[depth as usize].push(Entry { dimension, low, high, sides });
        spent
    }

    /// The region whose entries were just written from `first` on, if there is one.
    fn finish(&mut self, first: usize, bounds: u32, depth: u32, cost: Cost) -> Option<Region> {
        let count = self.entries[depth as usize].len() - first;
        (count > 0).then_some(Region { bounds, cost, first: first as u32, count: count as u32 })
    }

    /// The length of one region's bounds.
    fn stride(&self) -> usize {
        2 * self.labels * self.thresholds.len()
    }

    /// Whether a cell lies within the bounds of its label.
    #[inline]
    fn is_inside(&self, bounds: u32, cell: &[u16], label: u16) -> bool {
        let of_label = bounds as usize + usize::from(label) * 2 * cell.len();
        let ranges = self.bounds[of_label..of_label + 2 * cell.len()].as_chunks::<2>().0;
        cell.iter().zip(ranges).all(|(rank, [least, greatest])| least <= rank && rank <= greatest)
    }

    /// A copy of some bounds with one more point.
    #[inline]
    fn extended(&mut self, bounds: u32, cell: &[u16], label: u16) -> u32 {
        let (start, stride) = (bounds as usize, self.stride());
        let copy = self.bounds.len();
        self.bounds.extend_from_within(start..start + stride);
        let of_label = copy + usize::from(label) * 2 * cell.len();
        let ranges = self.bounds[of_label..of_label + 2 * cell.len()].as_chunks_mut::<2>().0;
        for (&rank, [least, greatest]) in cell.iter().zip(ranges) {
            (*least, *greatest) = (rank.min(*least), rank.max(*greatest));
        }
        copy as u32
    }

    /// A copy of some bounds with a group of points more.
    fn extended_by(&mut self, bounds: u32, group: &[(u16, u32)]) -> u32 {
        let (start, stride) = (bounds as usize, self.stride());
        let copy = self.bounds.len();
        self.bounds.extend_from_within(start..start + stride);
        let dimensions = self.thresholds.len();
        for &(_, index) in group {
            let label = usize::from(self.point_labels[index as usize]);
            for dimension in 0..dimensions {
                let rank = self.points[index as usize * dimensions + dimension];
                let at = copy + 2 * (label * dimensions + dimension);
                self.bounds[at] = self.bounds[at].min(rank);
                self.bounds[at + 1] = self.bounds[at + 1].max(rank);
            }
        }
        copy as u32
    }

    /// 0 with at most one label, 1 with two that a predicate separates, `None` if that is not enough.
    #[inline]
    fn cost_without_split(&self, bounds: u32) -> Option<Cost> {
        let dimensions = self.thresholds.len();
        let all = &self.bounds[bounds as usize..][..self.stride()];
        let mut seen: Option<&[u16]> = None;
        let mut cost = 0;
        for ranges in all.chunks_exact(2 * dimensions) {
            if ranges[0] > ranges[1] {
                continue; // no point has this label
            }
            match seen {
                None => seen = Some(ranges),
                Some(_) if cost == 1 => return None, // a third label
                Some(other) => {
                    let apart = |(a, b): (&[u16; 2], &[u16; 2])| a[1] < b[0] || b[1] < a[0];
                    let (a, b) = (ranges.as_chunks::<2>().0, other.as_chunks::<2>().0);
                    if !a.iter().zip(b).any(apart) {
                        return None;
                    }
                    cost = 1;
                }
            }
        }
        Some(cost)
    }
}

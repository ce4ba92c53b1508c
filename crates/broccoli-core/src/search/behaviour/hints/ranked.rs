//! Trees whose predicates compare ranks, laid out so that parts can be exchanged.

use serde::{Deserialize, Serialize};

use super::predicates::Predicates;
use super::random::Random;
use crate::problem::{Problem, Rank};
use crate::tree::Tree;

/// A node of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Place {
    Leaf(u16),
    /// True where the rank of the dimension is greater than `rank`. The true side comes next, and the false side so many
    /// places later.
    Node {
        dimension: u16,
        rank: Rank,
        no: u16,
    },
}

/// A tree in preorder, the true side first. A part of it is a tree, too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in super::super) struct Ranked {
    pub(super) places: Vec<Place>,
}

/// The action of a tree for a cell.
pub(super) fn action(tree: &[Place], cell: &[Rank]) -> u16 {
    let mut at = 0;
    loop {
        match tree[at] {
            Place::Leaf(action) => return action,
            Place::Node { dimension, rank, no } => {
                at += if cell[usize::from(dimension)] > rank { 1 } else { usize::from(no) };
            }
        }
    }
}

/// The length of the tree that begins here.
fn length(places: &[Place]) -> usize {
    let (mut open, mut count) = (1, 0);
    while open > 0 {
        open = match places[count] {
            Place::Leaf(_) => open - 1,
            Place::Node { .. } => open + 1,
        };
        count += 1;
    }
    count
}

/// The number of its predicates.
pub(super) fn size(tree: &[Place]) -> usize {
    tree.len() / 2
}

/// The most predicates on a path.
pub(super) fn depth(tree: &[Place]) -> u32 {
    match tree[0] {
        Place::Leaf(_) => 0,
        Place::Node { no, .. } => 1 + depth(&tree[1..]).max(depth(&tree[usize::from(no)..])),
    }
}

impl Ranked {
    pub(in super::super) fn action(&self, cell: &[Rank]) -> u16 {
        action(&self.places, cell)
    }

    pub(super) fn leaf(action: u16) -> Self {
        Ranked { places: vec![Place::Leaf(action)] }
    }

    /// A predicate with its two sides.
    pub(super) fn node(dimension: u16, rank: Rank, yes: &[Place], no: &[Place]) -> Self {
        let mut places = vec![Place::Node { dimension, rank, no: 1 + yes.len() as u16 }];
        places.extend_from_slice(yes);
        places.extend_from_slice(no);
        Ranked { places }
    }

    /// A tree whose thresholds are those of the problem; none if they are not, or if it is too large to be changed.
    pub(in super::super) fn of(problem: &Problem, tree: &Tree) -> Option<Self> {
        Some(match tree {
            Tree::Leaf(action) => Ranked::leaf(u16::try_from(*action).ok()?),
            Tree::Node { dimension, threshold, yes, no } => {
                let rank = problem.dimensions().get(*dimension)?.thresholds.position(*threshold)?;
                let (yes, no) = (Ranked::of(problem, yes)?, Ranked::of(problem, no)?);
                let is_small = yes.places.len() + no.places.len() < MOST_PLACES;
                is_small.then(|| Ranked::node(*dimension as u16, rank, &yes.places, &no.places))?
            }
        })
    }

    pub(in super::super) fn tree(&self, problem: &Problem) -> Tree {
        tree(problem, &self.places)
    }

    /// What a checkpoint says may be anything.
    pub(in super::super) fn is_of(&self, problem: &Problem) -> bool {
        let (mut open, mut ends) = (1_usize, Vec::new());
        for (at, place) in self.places.iter().enumerate() {
            if open == 0 {
                return false;
            }
            match *place {
                Place::Leaf(action) => {
                    open -= 1;
                    // The true side of the last predicate that is open ends here.
                    if ends.pop().is_some_and(|end| end != at + 1)
                        || usize::from(action) >= problem.actions().len()
                    {
                        return false;
                    }
                }
                Place::Node { dimension, rank, no } => {
                    open += 1;
                    ends.push(at + usize::from(no));
                    let dimension = problem.dimensions().get(usize::from(dimension));
                    if dimension.is_none_or(|dimension| rank >= dimension.thresholds.len()) {
                        return false;
                    }
                }
            }
        }
        let limits = problem.limits();
        open == 0
            && self.places.len() <= MOST_PLACES + 1
            && self.size() as u64 <= limits.nodes()
            && depth(&self.places) <= limits.depth()
    }

    pub(in super::super) fn size(&self) -> usize {
        size(&self.places)
    }

    /// How many places it has.
    pub(super) fn place_count(&self) -> usize {
        self.places.len()
    }

    /// The part that begins at a place.
    pub(super) fn part(&self, at: usize) -> &[Place] {
        let places = &self.places[at..];
        &places[..length(places)]
    }

    /// The two sides of a predicate.
    pub(super) fn sides(&self, at: usize) -> Option<[&[Place]; 2]> {
        match self.places[at] {
            Place::Leaf(_) => None,
            Place::Node { no, .. } => Some([self.part(at + 1), self.part(at + usize::from(no))]),
        }
    }

    /// The same with another part at a place.
    pub(super) fn with(&self, at: usize, part: &[Place]) -> Ranked {
        let end = at + self.part(at).len();
        let mut places = self.places.clone();
        places.splice(at..end, part.iter().copied());
        let (old, new) = ((end - at) as u16, part.len() as u16);
        for (above, place) in places[..at].iter_mut().enumerate() {
            if let Place::Node { no, .. } = place
                && above + usize::from(*no) > at
            {
                *no = *no - old + new;
            }
        }
        Ranked { places }
    }

    /// How many predicates lie above a place.
    pub(super) fn depth_of(&self, at: usize) -> u32 {
        let (mut now, mut depth) = (0, 0);
        while now != at {
            let Place::Node { no, .. } = self.places[now] else { break };
            now += if now + usize::from(no) > at { 1 } else { usize::from(no) };
            depth += 1;
        }
        depth
    }

    /// Whether a cell's way leads through a place.
    pub(super) fn leads_through(&self, at: usize, cell: &[Rank]) -> bool {
        let mut now = 0;
        while now < at {
            match self.places[now] {
                Place::Leaf(_) => return false,
                Place::Node { dimension, rank, no } => {
                    now += if cell[usize::from(dimension)] > rank { 1 } else { usize::from(no) };
                }
            }
        }
        now == at
    }

    /// The same for these cells, without predicates that tell none of them apart and those whose sides are alike.
    pub(super) fn pruned(&self, cells: &[&[Rank]]) -> Ranked {
        let Place::Node { dimension, rank, .. } = self.places[0] else { return self.clone() };
        let Some([yes, no]) = self.sides(0) else { return self.clone() };
        let (above, below): (Vec<&[Rank]>, Vec<&[Rank]>) =
            cells.iter().partition(|cell| cell[usize::from(dimension)] > rank);
        let side = |places: &[Place], cells: &[&[Rank]]| Ranked { places: places.to_vec() }.pruned(cells);
        if below.is_empty() {
            return side(yes, &above);
        }
        if above.is_empty() {
            return side(no, &below);
        }
        let (yes, no) = (side(yes, &above), side(no, &below));
        if yes == no { yes } else { Ranked::node(dimension, rank, &yes.places, &no.places) }
    }

    /// The same with more predicates below its leaves, both sides of which act alike, as far as there is room.
    pub(super) fn filled(
        &self,
        random: &mut Random,
        predicates: &Predicates,
        depth: u32,
        nodes: usize,
    ) -> Ranked {
        let (mut tree, mut at) = (self.clone(), 0);
        while !predicates.is_empty() && at < tree.places.len() && tree.size() < nodes {
            if let Place::Leaf(_) = tree.places[at]
                && tree.depth_of(at) < depth
            {
                let (dimension, rank) = predicates.any(random);
                let leaf = [tree.places[at]];
                tree = tree.with(at, &Ranked::node(dimension, rank, &leaf, &leaf).places);
            }
            at += 1;
        }
        tree
    }

    /// A tree of up to so many predicates.
    pub(super) fn random(
        random: &mut Random,
        predicates: &Predicates,
        actions: u16,
        depth: u32,
        nodes: usize,
    ) -> Ranked {
        if depth == 0 || nodes == 0 || predicates.is_empty() {
            return Ranked::leaf(random.below(actions.into()) as u16);
        }
        // Where a tree need not be full, as often as not it is on one side.
        let most = (1_usize << (depth - 1).min(20)) - 1;
        let yes = random.below(nodes.min(most + 1) as u64) as usize;
        let yes = yes.max((nodes - 1).saturating_sub(most));
        let (dimension, rank) = predicates.any(random);
        let yes = Ranked::random(random, predicates, actions, depth - 1, yes);
        let left = (nodes - 1).saturating_sub(yes.size()).min(most);
        let no = Ranked::random(random, predicates, actions, depth - 1, left);
        Ranked::node(dimension, rank, &yes.places, &no.places)
    }
}

/// Trees of more places are not changed.
const MOST_PLACES: usize = 510;

fn tree(problem: &Problem, places: &[Place]) -> Tree {
    match places[0] {
        Place::Leaf(action) => Tree::Leaf(action.into()),
        Place::Node { dimension, rank, no } => {
            let dimension = usize::from(dimension);
            let threshold = problem.dimensions()[dimension].thresholds.threshold(rank);
            Tree::node(
                dimension,
                threshold,
                tree(problem, &places[1..]),
                tree(problem, &places[usize::from(no)..]),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A part is exchanged where it stands and nowhere else; pruned trees act alike on the cells that they were pruned for.
    #[test]
    fn parts_are_exchanged_and_pruned() {
        let (predicates, mut random) = (Predicates::of_lists(&[4, 3]), Random(1));
        let cells: Vec<[Rank; 2]> = (0..=4).flat_map(|a| (0..=3).map(move |b| [a, b])).collect();
        for _ in 0..500 {
            let tree = Ranked::random(&mut random, &predicates, 3, 3, 7);
            assert!(tree.size() <= 7 && depth(&tree.places) <= 3);
            let at = random.below(tree.places.len() as u64) as usize;
            let part = Ranked::random(&mut random, &predicates, 3, 2, 3);
            let changed = tree.with(at, &part.places);
            assert_eq!(changed.places.len(), changed.part(0).len());
            for cell in &cells {
                let expected = if tree.leads_through(at, cell) { &part } else { &tree };
                assert_eq!(changed.action(cell), expected.action(cell));
            }
            let some: Vec<&[Rank]> =
                cells.iter().filter(|_| random.below(3) == 0).map(|cell| &cell[..]).collect();
            let pruned = tree.pruned(&some);
            assert!(pruned.size() <= tree.size());
            assert!(some.iter().all(|cell| pruned.action(cell) == tree.action(cell)));
        }
    }
}

//! All trees that differ from one in a single place: which of them agree with the labels given so far.
//!
//! At the place there may be any predicate, and on either side of it one of a few *options*: an action, or a side of the
//! predicate that is there. Or an option alone. Per pair of options and per dimension the thresholds that agree with all
//! labels are an interval, so no threshold is looked at by itself: trees that act alike are one.

use super::predicates::Predicates;
use super::random::Random;
use super::ranked::{self, Place, Ranked};
use crate::problem::Rank;

/// Trees that agree: a pair of options, and predicates `low..high` of a dimension. If both options are the same one it
/// stands alone.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Entry {
    yes: u8,
    no: u8,
    dimension: u16,
    low: Rank,
    high: Rank,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Neighbours {
    options: Vec<Vec<Place>>,
    sizes: Vec<usize>,
    /// The entries after each label that took some away, one level behind the other; and where each level starts, with
    /// the fewest predicates that one of its trees has at the place.
    entries: Vec<Entry>,
    levels: Vec<(usize, usize)>,
    /// What each option does in the present cell.
    acts: Vec<u16>,
}

impl Neighbours {
    /// One tree alone.
    pub(super) fn one(tree: &Ranked) -> Self {
        let entry = Entry { yes: 0, no: 0, dimension: 0, low: 0, high: 1 };
        Neighbours {
            options: vec![tree.places.clone()],
            sizes: vec![tree.size()],
            entries: vec![entry],
            levels: vec![(0, tree.size())],
            acts: Vec::new(),
        }
    }

    /// All trees with something else at a place, of up to so many predicates and this depth there.
    pub(super) fn of(
        tree: &Ranked,
        at: usize,
        thresholds: &[Rank],
        actions: u16,
        depth: u32,
        nodes: usize,
    ) -> Self {
        let mut options: Vec<Vec<Place>> = Vec::new();
        let sides = tree.sides(at).into_iter().flatten().map(<[Place]>::to_vec);
        let leaves = (0..actions.min(MOST_ACTIONS)).map(|action| vec![Place::Leaf(action)]);
        for option in sides.chain(leaves) {
            if !options.contains(&option) {
                options.push(option);
            }
        }
        let sizes: Vec<usize> = options.iter().map(|option| ranked::size(option)).collect();
        let depths: Vec<u32> = options.iter().map(|option| ranked::depth(option)).collect();
        let mut entries = Vec::new();
        for (yes, no) in (0..options.len()).flat_map(|yes| (0..options.len()).map(move |no| (yes, no))) {
            let is_alone = yes == no;
            let (size, deep) = match is_alone {
                true => (sizes[yes], depths[yes]),
                false => (sizes[yes] + sizes[no] + 1, depths[yes].max(depths[no]) + 1),
            };
            if size > nodes || deep > depth {
                continue;
            }
            let (yes, no) = (yes as u8, no as u8);
            if is_alone {
                entries.push(Entry { yes, no, dimension: 0, low: 0, high: 1 });
                continue;
            }
            let some = (0..).zip(thresholds).filter(|(_, high)| **high > 0);
            entries.extend(some.map(|(dimension, &high)| Entry { yes, no, dimension, low: 0, high }));
        }
        let mut all = Neighbours { options, sizes, entries, levels: Vec::new(), acts: Vec::new() };
        let least = all.least_size_from(0);
        all.levels.push((0, least));
        all
    }

    fn size(&self, entry: &Entry) -> usize {
        let [yes, no] = [entry.yes, entry.no].map(|option| self.sizes[usize::from(option)]);
        if entry.yes == entry.no { yes } else { yes + no + 1 }
    }

    fn least_size_from(&self, start: usize) -> usize {
        self.entries[start..].iter().map(|entry| self.size(entry)).min().unwrap_or(usize::MAX)
    }

    /// The fewest predicates at the place.
    pub(super) fn least_size(&self) -> usize {
        self.levels.last().map_or(usize::MAX, |&(_, least)| least)
    }

    pub(super) fn level(&self) -> usize {
        self.levels.len()
    }

    /// Takes back all levels but the first `count`.
    pub(super) fn pop_to(&mut self, count: usize) {
        if count < self.levels.len() {
            self.entries.truncate(self.levels[count].0);
            self.levels.truncate(count);
        }
    }

    fn present(&self) -> &[Entry] {
        &self.entries[self.levels.last().map_or(0, |&(start, _)| start)..]
    }

    /// The actions that some of the trees take in a cell whose way leads through the place.
    pub(super) fn actions(&mut self, cell: &[Rank], found: &mut Vec<u16>) {
        self.acts.clear();
        let Neighbours { options, acts, .. } = self;
        acts.extend(options.iter().map(|option| ranked::action(option, cell)));
        found.clear();
        for entry in self.present() {
            let Entry { yes, no, dimension, low, high } = *entry;
            let rank = cell[usize::from(dimension)];
            let sides = [(yes, low < high.min(rank)), (no, low.max(rank) < high)];
            let is_alone = yes == no;
            for (option, is_possible) in sides {
                let action = self.acts[usize::from(option)];
                if (is_possible || is_alone) && !found.contains(&action) {
                    found.push(action);
                }
            }
        }
    }

    /// The cell that [`Neighbours::actions`] was asked for is given an action.
    pub(super) fn give(&mut self, cell: &[Rank], action: u16) {
        let start = self.entries.len();
        let before = start - self.present().len();
        for index in before..start {
            let entry = self.entries[index];
            let Entry { yes, no, dimension, low, high } = entry;
            let rank = cell[usize::from(dimension)];
            let does = |option: u8| self.acts[usize::from(option)] == action;
            let narrowed = match (does(yes), does(no)) {
                (true, true) => entry,
                (true, false) => Entry { high: high.min(rank), ..entry },
                (false, true) => Entry { low: low.max(rank), ..entry },
                (false, false) => continue,
            };
            if narrowed.low < narrowed.high {
                self.entries.push(narrowed);
            }
        }
        let least = self.least_size_from(start);
        self.levels.push((start, least));
    }

    /// One of the smallest that agree: what stands at the place.
    pub(super) fn draw(&self, predicates: &Predicates, random: &mut Random) -> Option<Ranked> {
        let least = self.least_size();
        let smallest: Vec<&Entry> = self.present().iter().filter(|entry| self.size(entry) == least).collect();
        let Entry { yes, no, dimension, low, high } =
            **smallest.get(random.below(smallest.len() as u64) as usize)?;
        let option = |option: u8| &self.options[usize::from(option)];
        if yes == no {
            return Some(Ranked { places: option(yes).clone() });
        }
        let rank = predicates.between(dimension, (low, high), random);
        Some(Ranked::node(dimension, rank, option(yes), option(no)))
    }
}

/// Only the first ones are tried where there are more.
const MOST_ACTIONS: u16 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    /// After any labels the actions that are possible are those of the trees that brute force finds to agree; and the tree
    /// drawn is one of the smallest of them.
    #[test]
    fn intervals_say_what_all_trees_say() {
        let (thresholds, actions, depth, nodes) = ([3, 2], 3, 2, 3);
        let predicates = Predicates::of_lists(&thresholds);
        let mut random = Random(7);
        for _ in 0..300 {
            let tree = Ranked::random(&mut random, &predicates, actions, depth, nodes);
            let at = random.below(tree.places.len() as u64) as usize;
            let (room, others) = (depth - tree.depth_of(at), tree.size() - ranked::size(tree.part(at)));
            let mut all = every_part(&tree, at, &thresholds, actions);
            all.retain(|part| ranked::depth(part) <= room && ranked::size(part) + others <= nodes);
            let mut some = Neighbours::of(&tree, at, &thresholds, actions, room, nodes - others);
            for _ in 0..4 {
                let cell = [random.below(4), random.below(3)];
                let mut found = Vec::new();
                some.actions(&cell, &mut found);
                let mut expected: Vec<u16> = all.iter().map(|part| ranked::action(part, &cell)).collect();
                expected.sort_unstable();
                expected.dedup();
                found.sort_unstable();
                assert_eq!(found, expected, "{tree:?} at {at}, cell {cell:?}");
                let chosen = found[random.below(found.len() as u64) as usize];
                some.give(&cell, chosen);
                all.retain(|part| ranked::action(part, &cell) == chosen);
                let least = all.iter().map(|part| ranked::size(part)).min().expect("one is left");
                let drawn = some.draw(&predicates, &mut random).expect("one is left");
                assert_eq!((some.least_size(), drawn.size()), (least, least));
                assert!(all.contains(&drawn.places), "{drawn:?}");
            }
            let level = some.level();
            some.pop_to(1);
            assert_eq!((level, some.level()), (5, 1));
        }
    }

    /// All that may stand at a place.
    fn every_part(tree: &Ranked, at: usize, thresholds: &[Rank], actions: u16) -> Vec<Vec<Place>> {
        let sides = tree.sides(at).into_iter().flatten().map(<[Place]>::to_vec);
        let options: Vec<Vec<Place>> =
            sides.chain((0..actions).map(|action| vec![Place::Leaf(action)])).collect();
        let mut all = options.clone();
        for (yes, no) in options.iter().flat_map(|yes| options.iter().map(move |no| (yes, no))) {
            for (dimension, &count) in (0..).zip(thresholds) {
                all.extend((0..count).map(|rank| Ranked::node(dimension, rank, yes, no).places));
            }
        }
        all
    }
}

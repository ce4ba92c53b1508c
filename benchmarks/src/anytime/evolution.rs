//! Evolution: two trees win a tournament each, a part of one takes the place of the same part of the other, something
//! is changed, and the child takes the place of the worst if it is not worse.

use super::arena::{Arena, Ended, Known};
use super::dice::Dice;

const POPULATION: usize = 20;
/// Each of the first is the best of so many random trees.
const DRAWS: u32 = 100;
const TOURNAMENT: usize = 3;
/// How often a child has two parents, and how often it is changed.
const CROSSOVER: f64 = 0.7;
const MUTATION: f64 = 0.8;
/// So many children without a better best make it begin anew.
const PATIENCE: usize = 50 * POPULATION;

pub(crate) fn search(arena: &mut Arena<'_>, dice: &mut Dice) -> Result<(), Ended> {
    loop {
        let mut all = Vec::new();
        while all.len() < POPULATION {
            all.push(arena.start(dice, DRAWS)?);
        }
        let mut idle = 0;
        while idle < PATIENCE {
            idle += 1;
            let mut child = all[winner(&all, dice)].tree.clone();
            if dice.chance(CROSSOVER) {
                let place = dice.below(2 * arena.space().nodes + 1);
                let other = &all[winner(&all, dice)].tree;
                arena.space().graft(&mut child, other, place);
            }
            if dice.chance(MUTATION) {
                child = arena.space().mutated(&child, dice).0;
            }
            if all.iter().any(|known| known.tree == child) {
                continue;
            }
            let worst = extreme(&all, |a, b| all[a].score > all[b].score);
            let best = extreme(&all, |a, b| all[a].score < all[b].score);
            if let Some(found) = arena.score(child, Some(all[worst].score))? {
                if found.score < all[best].score {
                    idle = 0;
                }
                all[worst] = found;
            }
        }
    }
}

/// The best of some.
fn winner(all: &[Known], dice: &mut Dice) -> usize {
    (1..TOURNAMENT).fold(dice.below(all.len()), |best, _| {
        let other = dice.below(all.len());
        if all[other].score < all[best].score { other } else { best }
    })
}

/// The last that is beyond all before.
fn extreme(all: &[Known], is_beyond: impl Fn(usize, usize) -> bool) -> usize {
    (1..all.len()).fold(0, |extreme, index| if is_beyond(index, extreme) { index } else { extreme })
}

//! Coordinate descent: of one node after the other, in any order, all predicates are tried, of a leaf all actions.

use super::arena::{Arena, Ended, Known};
use super::dice::Dice;
use super::tree::Ranked;

/// It begins with the best of so many random trees.
const DRAWS: u32 = 100;

pub(crate) fn search(arena: &mut Arena<'_>, dice: &mut Dice) -> Result<(), Ended> {
    loop {
        let mut now = arena.start(dice, DRAWS)?;
        loop {
            let before = now.score;
            let mut places: Vec<usize> = (0..2 * arena.space().nodes + 1).collect();
            dice.shuffle(&mut places);
            for place in places {
                now = best_at(arena, dice, now, place)?;
            }
            if now.score >= before {
                break; // another sweep finds as little, as a rule: better begin anew
            }
        }
    }
}

/// The best tree that differs at a place only.
fn best_at(arena: &mut Arena<'_>, dice: &mut Dice, now: Known, place: usize) -> Result<Known, Ended> {
    let mut best = now;
    for tree in choices(arena, dice, &best.tree, place) {
        if let Some(next) = arena.changed(&best, tree, place, best.score)? {
            best = next;
        }
    }
    Ok(best)
}

fn choices(arena: &Arena<'_>, dice: &mut Dice, tree: &Ranked, place: usize) -> Vec<Ranked> {
    let space = arena.space();
    let mut all = Vec::new();
    let mut take = |change: &dyn Fn(&mut Ranked)| {
        let mut changed = tree.clone();
        change(&mut changed);
        if changed != *tree {
            all.push(changed);
        }
    };
    match place.checked_sub(space.nodes) {
        None => space.predicates().for_each(|predicate| take(&|tree| tree.nodes[place] = predicate)),
        Some(leaf) => (0..space.actions).for_each(|action| take(&|tree| tree.leaves[leaf] = action)),
    }
    dice.shuffle(&mut all);
    all
}

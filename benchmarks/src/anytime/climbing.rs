//! Plain hill climbing: change one thing, keep what is not worse, begin anew when nothing has become better for long.

use super::arena::{Arena, Ended};
use super::dice::Dice;

/// So many changes without an improvement make it begin anew.
const PATIENCE: u32 = 300;

pub(crate) fn search(arena: &mut Arena<'_>, dice: &mut Dice) -> Result<(), Ended> {
    loop {
        let mut tree = arena.space().random(dice);
        let mut score = arena.full(&tree)?;
        let mut idle = 0;
        while idle < PATIENCE {
            let next = arena.space().mutated(&tree, dice);
            idle += 1;
            if let Some(found) = arena.score(&next, Some(score))?
                && found <= score
            {
                if found < score {
                    idle = 0;
                }
                (tree, score) = (next, found);
            }
        }
    }
}

/// The same on a system whose answers are kept: only new ones count.
pub(crate) fn search_cached(arena: &mut Arena<'_>, dice: &mut Dice) -> Result<(), Ended> {
    arena.count_distinct()?;
    search(arena, dice)
}

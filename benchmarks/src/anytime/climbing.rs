//! Plain hill climbing: change one thing, keep what is not worse, begin anew when nothing has become better for long.

use super::arena::{Arena, Ended};
use super::dice::Dice;

/// So many changes without an improvement make it begin anew.
const PATIENCE: u32 = 300;

pub(crate) fn search(arena: &mut Arena<'_>, dice: &mut Dice) -> Result<(), Ended> {
    loop {
        let mut now = arena.start(dice, 1)?;
        let mut idle = 0;
        while idle < PATIENCE {
            let (tree, place) = arena.space().mutated(&now.tree, dice);
            idle += 1;
            if let Some(next) = arena.changed(&now, tree, place, now.score)? {
                if next.score < now.score {
                    idle = 0;
                }
                now = next;
            }
        }
    }
}

/// The same on a system whose answers are kept: only new ones count.
pub(crate) fn search_cached(arena: &mut Arena<'_>, dice: &mut Dice) -> Result<(), Ended> {
    arena.count_distinct()?;
    search(arena, dice)
}

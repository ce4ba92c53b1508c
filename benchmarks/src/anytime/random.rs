//! Random search: every tree is drawn anew.

use super::arena::{Arena, Ended};
use super::dice::Dice;

pub(crate) fn search(arena: &mut Arena<'_>, dice: &mut Dice) -> Result<(), Ended> {
    loop {
        let tree = arena.space().random(dice);
        arena.score(&tree, arena.best())?;
    }
}

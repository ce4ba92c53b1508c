//! Random search: every tree is drawn anew, and given up as soon as it cannot be better than the best.

use super::arena::{Arena, Ended};
use super::dice::Dice;
use super::judge::Score;

pub(crate) fn search(arena: &mut Arena<'_>, dice: &mut Dice) -> Result<(), Ended> {
    loop {
        let tree = arena.space().random(dice);
        let need = arena.best().unwrap_or(Score::ANY_VALUE);
        arena.score(tree, Some(need))?;
    }
}

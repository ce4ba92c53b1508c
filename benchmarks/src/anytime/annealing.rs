//! Simulated annealing, with restarts that take longer and longer; every second one begins with the best tree.
//!
//! Steps count by their logarithm, so that a temperature of 0.1 means about 10 % worse; returns by how far they are
//! apart among random trees.

use broccoli_core::problem::Objective;

use super::arena::{Arena, Ended, Known};
use super::dice::Dice;
use super::judge::Score;

const HOT: f64 = 0.1;
const COLD: f64 = 0.003;
/// Trees tried until the first restart, and how many more until the next.
const LENGTH: f64 = 200.0;
const GROWTH: f64 = 1.5;
/// It begins with the best of so many random trees.
const DRAWS: u32 = 100;
/// How often a change is one of sides.
const SWAP: f64 = 0.1;
/// So many trees tell how far returns are apart.
const SAMPLE: usize = 20;
/// What it is worse if no initial state gets there rather than all.
const ALL_FAIL: f64 = 3.0;
/// More than the energy of any tree that gets there; `exp` of it is more than the first cut.
const FAIL: f64 = 5.5;

pub(crate) fn search(arena: &mut Arena<'_>, dice: &mut Dice) -> Result<(), Ended> {
    let scale = Scale::new(arena, dice)?;
    let mut best: Option<Known> = None;
    let mut length = LENGTH;
    loop {
        for begin in [None, best.clone()] {
            let start = match begin {
                Some(known) => known,
                None => arena.start(dice, DRAWS)?,
            };
            let found = cycle(arena, dice, &scale, start, length)?;
            if best.as_ref().is_none_or(|best| found.score < best.score) {
                best = Some(found);
            }
            length *= GROWTH;
        }
    }
}

/// Cools down once, and returns the best.
fn cycle(
    arena: &mut Arena<'_>,
    dice: &mut Dice,
    scale: &Scale,
    start: Known,
    length: f64,
) -> Result<Known, Ended> {
    let cooling = (COLD / HOT).powf(1.0 / length);
    let mut temperature = HOT;
    let (mut now, mut best) = (start.clone(), start);
    for _ in 0..length as u64 {
        temperature *= cooling;
        // What will be accepted is drawn first, so that a tree that will not be is given up early.
        let need = scale.score(scale.energy(now.score) + temperature * dice.exponential());
        let (tree, place) = match dice.chance(SWAP) {
            true => {
                let (mut tree, node) = (now.tree.clone(), dice.below(arena.space().nodes));
                arena.space().swap(&mut tree, node);
                (tree, node)
            }
            false => arena.space().mutated(&now.tree, dice),
        };
        if let Some(next) = arena.changed(&now, tree, place, need.max(now.score))? {
            now = next;
            if now.score < best.score {
                best = now.clone();
            }
        }
    }
    Ok(best)
}

/// Scores as energies.
struct Scale {
    objective: Objective,
    wanted: f64,
    /// What a return is divided by.
    spread: f64,
}

impl Scale {
    fn new(arena: &mut Arena<'_>, dice: &mut Dice) -> Result<Self, Ended> {
        let (objective, wanted) = (arena.objective(), arena.wanted() as f64);
        let mut scale = Scale { objective, wanted, spread: 1.0 };
        if objective.wants_rewards() {
            let mut numbers = Vec::new();
            for _ in 0..SAMPLE {
                numbers.push(arena.start(dice, 1)?.score.number);
            }
            let mean = numbers.iter().sum::<f64>() / SAMPLE as f64;
            let spread = numbers.iter().map(|number| (number - mean).abs()).sum::<f64>() / SAMPLE as f64;
            scale.spread = if spread > 0.0 { spread } else { 1.0 };
        }
        Ok(scale)
    }

    fn energy(&self, score: Score) -> f64 {
        if score.failed > 0 {
            return FAIL + ALL_FAIL * f64::from(score.failed) / self.wanted;
        }
        match self.objective {
            Objective::Reach { .. } => score.number.max(1.0).ln(),
            Objective::Survive { .. } => -(-score.number).max(1.0).ln(),
            Objective::Return(_) => score.number / self.spread,
        }
    }

    /// The worst score of this energy.
    fn score(&self, energy: f64) -> Score {
        let failed = ((energy - FAIL) / ALL_FAIL * self.wanted + 1e-9).floor();
        let is_reach = matches!(self.objective, Objective::Reach { .. });
        if is_reach && failed >= 1.0 {
            return Score { failed: failed.min(self.wanted) as u32, number: f64::INFINITY };
        }
        let number = match self.objective {
            Objective::Reach { .. } => energy.exp(),
            Objective::Survive { .. } => -(-energy).exp(),
            Objective::Return(_) => energy * self.spread,
        };
        Score { failed: 0, number }
    }
}

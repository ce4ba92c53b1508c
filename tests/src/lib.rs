//! What the tests across crates share: small systems given by tables, random ones, and an oracle that
//! uses no code of the search.

pub mod batch;
pub mod certified;
pub mod check;
pub mod forged;
pub mod jittery;
pub mod mutants;
pub mod options;
pub mod oracle;
mod pieces;
pub mod plants;
pub mod random;
pub mod table;
pub mod wall;

use std::num::NonZeroUsize;
use std::sync::Arc;

use broccoli_core::problem::{BatchSystem, Problem, System, SystemError, SystemFactory};
use broccoli_core::search::{HintTuning, Outcome, Status, Tuning};
use broccoli_store::{Remembered, Store};

/// The systems of a factory; what they answer is remembered in so much memory, if in any.
pub fn remembering<'f>(
    problem: &Problem,
    factory: &'f dyn SystemFactory,
    bytes: Option<usize>,
) -> Box<dyn SystemFactory + 'f> {
    let Some(bytes) = bytes else { return Box::new(Same(factory)) };
    let store = Arc::new(Store::in_memory(problem.dimensions().len(), bytes));
    let wants_rewards = problem.objective().wants_rewards();
    Box::new(Remembered::new(factory, store, problem.actions(), wants_rewards))
}

/// The same systems.
struct Same<'f>(&'f dyn SystemFactory);

impl SystemFactory for Same<'_> {
    fn make(&self) -> Result<Box<dyn System>, SystemError> {
        self.0.make()
    }
    fn is_quick(&self) -> bool {
        self.0.is_quick()
    }
    fn rows(&self) -> Option<NonZeroUsize> {
        self.0.rows()
    }
    fn make_batch(&self) -> Result<Box<dyn BatchSystem>, SystemError> {
        self.0.make_batch()
    }
}

/// The search without hints. One with hints may find another tree that is as good and as small after it was stopped: a
/// hint that had begun is begun again.
pub fn walk_only() -> Tuning {
    Tuning { hints: HintTuning::OFF, ..Tuning::default() }
}

/// What two searches must agree on, whichever of the equal trees each has found: status, bound, value and size.
pub fn worth(outcome: &Outcome) -> (Status, Option<u64>, Option<(u64, u64)>) {
    (outcome.status, outcome.bound, outcome.best.as_ref().map(|best| (best.value, best.tree.size())))
}

/// Numbers that look random, from a seed.
pub fn numbers(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}

/// The code in the book's page about Rust compiles and does what it says.
#[cfg(doctest)]
#[doc = include_str!("../../docs/rust.md")]
pub struct FromRust;

//! A search written down, to be gone on with later.

use serde::{Deserialize, Serialize};

use super::behaviour::{Counts, Saved};
use crate::problem::Problem;
use crate::tree::Tree;

/// All that is left of a search by [`Engine::Behaviour`](super::Engine::Behaviour), and all that it has
/// found. Made for a [`Keeper`], gone on with by [`Search::resume`](super::Search::resume); any format
/// of serde will do to keep it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    pub(super) fingerprint: u64,
    pub(super) is_any_optimal: bool,
    pub(super) gap: f64,
    /// Value and size of the best tree.
    pub(super) incumbent: Option<(u64, u64)>,
    /// The best tree, if it is the one that the search started from.
    pub(super) start: Option<Tree>,
    pub(super) bound: u64,
    pub(super) of_start: (u64, u64),
    pub(super) counts: Counts,
    pub(super) before_canonical: Option<u64>,
    pub(super) saved: Saved,
}

impl Checkpoint {
    /// Value and size of the best tree so far.
    pub fn best(&self) -> Option<(u64, u64)> {
        self.incumbent
    }

    /// No tree has a better value than this.
    pub fn bound(&self) -> u64 {
        self.bound
    }
}

/// Why a search cannot be resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    /// The checkpoint is that of another problem.
    #[error("the checkpoint is that of another problem")]
    OtherProblem,
    /// The checkpoint is not what was written.
    #[error("the checkpoint is damaged")]
    Damaged,
}

/// Keeps checkpoints, in a file for instance.
pub trait Keeper {
    /// Whether it is time for one; asked often, so it should be quick.
    fn is_due(&mut self) -> bool;

    /// Keeps a checkpoint: when it was due, and when the search is stopped or its system fails.
    fn keep(&mut self, checkpoint: &Checkpoint);
}

/// A number that differs, but for unlikely coincidence, between problems.
pub(super) fn fingerprint(problem: &Problem) -> u64 {
    let text = format!("{problem:?}");
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

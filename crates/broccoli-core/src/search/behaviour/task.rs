//! What is done at a time: a task, a function of nothing but what it is given.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::frontier::{Agenda, Frontier};
use super::realise::Labelled;
use super::recall::{Added, Trie};
use super::score::Score;
use super::walk::Job;
use crate::problem::StopReason;

/// Some leaves to go on from, and all that what comes of them depends on.
#[derive(Clone)]
pub(super) struct Task {
    pub(super) job: Job,
    pub(super) frontier: Frontier,
    pub(super) agenda: Agenda,
    /// After so many steps what is left is set aside.
    pub(super) budget: u64,
    /// What is to be improved on.
    pub(super) incumbent: Option<Score>,
    /// What ends the task at once, as nothing that comes after it is of interest.
    pub(super) goal: Option<Score>,
    /// Per initial state, how often its trace has failed.
    pub(super) failures: Arc<[u64]>,
    /// Remembered traces, and what the task has added to them before it was interrupted.
    pub(super) trie: Arc<Trie>,
    pub(super) added: Option<Added>,
    /// How much memory these may take.
    pub(super) recall_bytes: usize,
    /// How many queries may be made, if that is limited.
    pub(super) quota: u64,
}

/// What came of a task.
pub(super) struct Done {
    /// The best behaviour that was found, if any is better than the incumbent.
    pub(super) found: Option<Found>,
    /// Leaves for the next round.
    pub(super) next: Frontier,
    /// What was begun and is left, and then the leaves that were not begun with.
    pub(super) rest: Frontier,
    pub(super) agenda: Agenda,
    /// How often traces have failed by now.
    pub(super) failures: Vec<u64>,
    pub(super) added: Added,
    /// The steps made.
    pub(super) work: u64,
    /// Why it was interrupted before its budget was spent, if it was.
    pub(super) interrupted: Option<Interruption>,
}

/// Why a task is interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interruption {
    /// All tasks are, for a checkpoint or because of an error.
    Paused,
    /// No more queries may be made.
    Stopped(StopReason),
}

/// A behaviour that was found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Found {
    pub(super) score: Score,
    /// Its labels; none if it is a tree that the search was given.
    pub(super) labels: Option<Vec<Labelled>>,
    /// The steps of its trace that no smaller tree makes.
    pub(super) own_steps: u64,
}

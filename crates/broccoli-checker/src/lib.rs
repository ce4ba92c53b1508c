//! Checks the certificates that `broccoli solve --certificate` writes.
//!
//! A certificate claims that a tree is optimal, or that none exists, or that none is better than a bound. It
//! holds the evidence: the behaviours that were walked. [`Certificate::check`] walks them again, and finds
//! out by itself which of them there must be and which cannot matter. It shares no code with the search, and
//! is meant to be read: `docs/certificates.md` specifies the format and the rules, and here is
//!
//! | file | what it does |
//! |---|---|
//! | `file.rs`, `record.rs` | read the file; the behaviours as a tree |
//! | `problem.rs` | the problem, the claim, the tree |
//! | `size.rs` | the fewest predicates that give some cells their labels |
//! | `limits.rs` | memory and work are counted, and limited |
//! | `known.rs` | the same actions give the same answers |
//! | `source.rs` | transitions from the record, from the system, or from both to be compared |
//! | `check.rs` | the check |

mod check;
mod file;
mod known;
mod limits;
mod problem;
mod record;
mod size;
mod source;

pub use file::{Certificate, Unreadable};
pub use limits::{Limits, TooMuch};
pub use problem::{Claim, Objective, Problem, Rank, Solution, Thresholds, Tree};

/// What the system says about a run so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Neither satisfied nor violated yet.
    Running,
    /// The goal is reached.
    Satisfied,
    /// The run has failed.
    Violated,
}

/// The system that a certificate is about. Errors are in its own words.
pub trait System {
    /// Starts a run from one of the problem's initial states, given by its index; writes what is seen.
    ///
    /// # Errors
    /// When the system fails.
    fn reset(&mut self, initial: usize, observation: &mut [f64]) -> Result<Verdict, String>;

    /// Applies an action; writes what is seen then.
    ///
    /// # Errors
    /// When the system fails.
    fn step(&mut self, action: u16, observation: &mut [f64]) -> Result<Verdict, String>;

    /// The present state, if the system can come back to it.
    fn save(&mut self) -> Option<Vec<u8>> {
        None
    }

    /// Comes back to a state that was saved.
    ///
    /// # Errors
    /// When the system fails, or cannot.
    fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        let _ = state;
        Err("this system cannot come back to a state".to_owned())
    }
}

/// What was checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Behaviours that have come to their end.
    pub behaviours: u64,
    /// Labels on the way to them.
    pub labels: u64,
    /// How often it was computed whether a tree can give certain labels.
    pub tests: u64,
    /// Transitions, those of the tree's own traces included.
    pub transitions: u64,
    /// Those of them that the system was asked for.
    pub asked: u64,
    /// Answers that were looked at: to the transitions, and to the resets that traces begin with.
    pub answers: u64,
    /// Those of them that were taken from the record, and that the system was not asked for. If there are
    /// none, what is claimed is true of the system.
    pub recorded: u64,
    /// Units of work, see [`Limits`].
    pub work: u64,
}

/// Why a claim does not follow from the evidence: the first step that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refutation {
    /// What is wrong.
    pub what: String,
    /// The initial state of the trace, by its index.
    pub initial: usize,
    /// The steps of the trace.
    pub step: u64,
    /// The cell that it has reached; none if it is about the whole tree.
    pub cell: Vec<Rank>,
    /// How many labels the behaviour has.
    pub labels: usize,
}

impl std::fmt::Display for Refutation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Refutation { what, initial, step, cell, labels } = self;
        if cell.is_empty() {
            return write!(f, "from initial state {initial}, step {step}: {what}");
        }
        write!(f, "from initial state {initial}, step {step}, in cell {cell:?}, with {labels} labels: {what}")
    }
}

/// Why a certificate could not be verified.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// Its claim does not follow.
    #[error("{0}")]
    Refuted(Refutation),
    /// The system failed, in its own words.
    #[error("the system failed: {0}")]
    System(String),
    /// It is in the light form, and there is no system to run.
    #[error("it is a light certificate, which can be checked only by running the system")]
    NeedsSystem,
    /// It would take more than allowed.
    #[error("{0}")]
    TooMuch(#[from] TooMuch),
}

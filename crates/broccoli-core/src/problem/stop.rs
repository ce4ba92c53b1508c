//! Whether another query may be made: asked before every one, so that a search can be stopped.
//!
//! There is no clock and no signal here. Whoever has one implements [`Stop`].

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::RunError;

/// Why a search ended before everything was proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// The time was up.
    TimeLimit,
    /// So many queries were made as were allowed.
    QueryLimit,
    /// It took more memory than it was allowed to.
    MemoryLimit,
    /// Somebody asked it to end.
    Interrupted,
    /// The best tree is proved to be within the gap.
    Gap,
    /// A first tree was found, and no better one was wanted.
    First,
}

impl StopReason {
    /// `"time limit"`, `"query limit"`, `"memory limit"`, `"interrupted"`, `"gap"` or `"first"`.
    pub fn name(self) -> &'static str {
        match self {
            StopReason::TimeLimit => "time limit",
            StopReason::QueryLimit => "query limit",
            StopReason::MemoryLimit => "memory limit",
            StopReason::Interrupted => "interrupted",
            StopReason::Gap => "gap",
            StopReason::First => "first",
        }
    }
}

/// Says when a search is to stop. It is asked before every query, so it should be quick: look at a flag
/// that a timer or a signal sets. Any closure will do.
pub trait Stop: Sync {
    /// Why to stop, if it is time to.
    fn reason(&self) -> Option<StopReason>;
}

impl<F: Fn() -> Option<StopReason> + Sync> Stop for F {
    fn reason(&self) -> Option<StopReason> {
        self()
    }
}

/// Lets queries pass until there is a reason not to; from then on none.
pub(crate) struct Gate<'a> {
    stop: Option<&'a dyn Stop>,
    limit: Option<u64>,
    /// Queries that have passed; counted only if there is a limit.
    passed: AtomicU64,
    closed: OnceLock<StopReason>,
}

impl<'a> Gate<'a> {
    pub(crate) fn new(stop: Option<&'a dyn Stop>, limit: Option<u64>) -> Self {
        Gate { stop, limit, passed: AtomicU64::new(0), closed: OnceLock::new() }
    }

    /// Lets no more query pass. The first reason is the one that counts.
    pub(crate) fn close(&self, reason: StopReason) {
        self.closed.get_or_init(|| reason);
    }

    /// Why it is closed, if it is known to be.
    pub(crate) fn closed(&self) -> Option<StopReason> {
        self.closed.get().copied()
    }

    /// How many queries may still pass, if that is limited.
    pub(crate) fn left(&self) -> Option<u64> {
        self.limit.map(|limit| limit.saturating_sub(self.passed.load(Relaxed)))
    }

    /// Whether queries could still pass.
    pub(crate) fn look(&self) -> Result<(), RunError> {
        if let Some(reason) = self.stop.and_then(Stop::reason) {
            self.close(reason);
        }
        self.refuse()
    }

    /// One query wants to pass.
    #[inline]
    pub(crate) fn pass(&self) -> Result<(), RunError> {
        if self.closed.get().is_none() {
            if let Some(reason) = self.stop.and_then(Stop::reason) {
                self.close(reason);
            } else if self.limit.is_none_or(|limit| self.passed.fetch_add(1, Relaxed) < limit) {
                return Ok(());
            } else {
                self.close(StopReason::QueryLimit);
            }
        }
        self.refuse()
    }

    /// The reason not to let queries pass, if there is one.
    #[cold]
    fn refuse(&self) -> Result<(), RunError> {
        self.closed.get().map_or(Ok(()), |&reason| Err(RunError::Stopped(reason)))
    }
}

//! A walk and the driver that does what it asks, run some queries at a time.

use super::bounds::Store;
use super::driver::Driver;
use super::version_space::Cost;
use super::walk::{Ask, Round, Walk};
use crate::problem::{Instance, Problem, RunError};
use crate::search::Behaviours;

/// Why a lane has paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paused {
    /// It has made the queries it was given.
    Slice,
    /// It has found a behaviour better than its incumbent, which is the incumbent now.
    Found { value: u64, size: Cost },
    /// The round is over.
    Done,
}

pub(super) struct Lane<'p, S: Store> {
    driver: Driver<'p>,
    walk: Walk<S>,
    ask: Ask,
    /// Whether this walk has found a solution.
    found: bool,
    /// What became of the behaviours of earlier walks.
    counts_before: Behaviours,
}

impl<'p, S: Store> Lane<'p, S> {
    pub(super) fn new(problem: &'p Problem, instance: Instance<'p>, mut walk: Walk<S>) -> Self {
        let ask = walk.start();
        Lane {
            driver: Driver::new(problem, instance),
            walk,
            ask,
            found: false,
            counts_before: Behaviours::default(),
        }
    }

    /// Another walk on the same system.
    pub(super) fn restart(&mut self, walk: Walk<S>) {
        self.driver.clear();
        self.counts_before = self.counts();
        self.walk = walk;
        self.ask = self.walk.start();
        self.found = false;
    }

    /// Another round of the same walk.
    pub(super) fn next_round(&mut self, round: Round) {
        self.driver.next_round();
        self.ask = self.walk.next_round(round);
    }

    /// Goes on for `queries` queries, or until there is something to say.
    pub(super) fn advance(&mut self, queries: u64) -> Result<Paused, RunError> {
        let end = self.driver.queries() + queries;
        if matches!(self.ask, Ask::Found { .. }) {
            // It has been told.
            self.ask = self.walk.resume();
        }
        loop {
            self.ask = match self.driver.answer(self.ask)? {
                Some(verdict) => self.walk.tell(verdict, self.driver.cell()),
                None => match self.ask {
                    Ask::Found { value, size } => {
                        self.found = true;
                        return Ok(Paused::Found { value, size });
                    }
                    Ask::Done => return Ok(Paused::Done),
                    _ => self.walk.resume(),
                },
            };
            // A solution is told before anything else happens: another lane's could be worse.
            if self.driver.queries() >= end && !matches!(self.ask, Ask::Found { .. }) {
                return Ok(Paused::Slice);
            }
        }
    }

    /// A solution found elsewhere becomes the incumbent.
    pub(super) fn improve(&mut self, value: u64, size: Cost) {
        self.walk.improve(value, size);
    }

    /// The walk, to look at.
    pub(super) fn walk(&self) -> &Walk<S> {
        &self.walk
    }

    /// Whether this walk itself has found a solution.
    pub(super) fn found(&self) -> bool {
        self.found
    }

    pub(super) fn has_leaves(&self) -> bool {
        self.walk.has_leaves()
    }

    /// What the leaves of this round take in memory.
    pub(super) fn leaf_bytes(&self) -> usize {
        self.walk.leaf_bytes() + self.driver.leaf_bytes()
    }

    /// What became of the behaviours of all walks.
    pub(super) fn counts(&self) -> Behaviours {
        self.counts_before + self.walk.counts()
    }

    pub(super) fn traces(&self) -> u64 {
        self.driver.traces()
    }

    pub(super) fn queries(&self) -> u64 {
        self.driver.queries()
    }

    pub(super) fn replayed(&self) -> u64 {
        self.driver.replayed()
    }
}

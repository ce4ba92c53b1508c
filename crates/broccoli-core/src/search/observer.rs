//! What a search tells while it runs.

use super::{Forecast, Statistics};
use crate::tree::Tree;

/// Something that happened in a search.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Trees of this size are searched from now on.
    Size(u64),
    /// A better tree was found.
    Improved(Improvement<'a>),
    /// Traces run up to this many steps from now on.
    Horizon(u64),
    /// No tree has a better value than this.
    Bound(u64),
    /// By the rewards that were seen so far no tree has a better value than this. An estimate, for returns whose rewards
    /// have no bound, and nothing is proved by it: a better reward may still come.
    Estimate(u64),
    /// So much of the whole walk is done, from 0 to 1 (`behaviour`). An estimate: the labels that a cell may
    /// be given all count alike, though one may lead to much more than another. It never goes back, and
    /// jumps when a better tree spares work. Sent often.
    Share(f64),
    /// So many queries are still to come (`behaviour`): a range, wide and honest. Sent often.
    Forecast(Forecast),
    /// Another tree was considered, or some more behaviours; sent often, so an observer should be quick.
    Considered(&'a Statistics),
}

/// A better tree than the best before.
#[derive(Clone, Copy)]
pub struct Improvement<'a> {
    /// Its value, as in [`Solution::value`](super::Solution::value).
    pub value: u64,
    /// The number of its predicate nodes.
    pub size: u64,
    tree: &'a dyn Fn() -> Tree,
}

impl<'a> Improvement<'a> {
    pub(super) fn new(value: u64, size: u64, tree: &'a dyn Fn() -> Tree) -> Self {
        Improvement { value, size, tree }
    }

    /// The tree itself. It takes a moment to make it, so ask only if you need it.
    pub fn tree(&self) -> Tree {
        (self.tree)()
    }
}

impl std::fmt::Debug for Improvement<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Improvement {{ value: {}, size: {} }}", self.value, self.size)
    }
}

/// Is told what happens. Implemented by progress displays; any closure over [`Event`] will do.
pub trait Observer {
    /// Called for every event, in order.
    fn notify(&mut self, event: Event<'_>);
}

impl<F: FnMut(Event<'_>)> Observer for F {
    fn notify(&mut self, event: Event<'_>) {
        self(event);
    }
}

/// Tells an observer what happens in a search that comes after others, which did `before`: how many queries
/// are made. What it finds and proves is not about the whole. Of the first search everything is told.
pub(super) struct Later<'o> {
    pub(super) observer: &'o mut dyn Observer,
    pub(super) before: Option<Statistics>,
}

impl Observer for Later<'_> {
    fn notify(&mut self, event: Event<'_>) {
        match (self.before, event) {
            (None, event) => self.observer.notify(event),
            (Some(before), Event::Considered(statistics)) => {
                self.observer.notify(Event::Considered(&(before + *statistics)));
            }
            _ => {}
        }
    }
}

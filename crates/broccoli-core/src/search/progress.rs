//! The state that every engine keeps: the incumbent, the counters and who is told about them.

use super::{Event, Observer, Solution, Statistics};
use crate::tree::Tree;

pub(super) struct Progress<'a> {
    observer: Option<&'a mut dyn Observer>,
    best: Option<Solution>,
    statistics: Statistics,
}

impl<'a> Progress<'a> {
    pub(super) fn new(observer: Option<&'a mut dyn Observer>) -> Self {
        Progress { observer, best: None, statistics: Statistics::default() }
    }

    /// The value of the incumbent.
    pub(super) fn best_value(&self) -> Option<u64> {
        self.best.as_ref().map(|best| best.value)
    }

    /// Trees of `size` are searched from now on.
    pub(super) fn size(&mut self, size: u64) {
        if let Some(observer) = &mut self.observer {
            observer.notify(Event::Size(size));
        }
    }

    /// A tree was run; `traces` and `queries` are what it took.
    pub(super) fn considered(&mut self, traces: u64, queries: u64) {
        self.statistics.trees += 1;
        self.statistics.traces += traces;
        self.statistics.queries += queries;
        if let Some(observer) = &mut self.observer {
            observer.notify(Event::Considered(&self.statistics));
        }
    }

    /// A tree better than the incumbent takes its place.
    pub(super) fn improved(&mut self, tree: Tree, value: u64) {
        let best = self.best.insert(Solution { tree, value });
        if let Some(observer) = &mut self.observer {
            observer.notify(Event::Improved(best));
        }
    }

    pub(super) fn finish(self) -> (Option<Solution>, Statistics) {
        (self.best, self.statistics)
    }
}

//! The state that every engine keeps: the incumbent, the counters and who is told about them.

use super::{Behaviours, Event, Improvement, Observer, Solution, Statistics};
use crate::tree::Tree;

pub(super) struct Progress<'a> {
    observer: Option<&'a mut dyn Observer>,
    best: Option<Solution>,
    statistics: Statistics,
    /// The queries made before the canonical pass, once it has begun.
    before_canonical: Option<u64>,
}

impl<'a> Progress<'a> {
    pub(super) fn new(observer: Option<&'a mut dyn Observer>) -> Self {
        Progress { observer, best: None, statistics: Statistics::default(), before_canonical: None }
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

    /// Some traces were run, and took so many queries.
    pub(super) fn ran(&mut self, traces: u64, queries: u64) {
        self.statistics.traces += traces;
        self.statistics.queries += queries;
    }

    /// A tree was considered.
    pub(super) fn considered(&mut self) {
        self.statistics.trees += 1;
        if let Some(observer) = &mut self.observer {
            observer.notify(Event::Considered(&self.statistics));
        }
    }

    /// Behaviours were walked: the totals so far of traces, queries, and queries only to come back.
    pub(super) fn walked(&mut self, traces: u64, queries: u64, replayed: u64, behaviours: Behaviours) {
        let statistics = &mut self.statistics;
        statistics.traces = traces;
        statistics.replayed = replayed;
        statistics.behaviours = behaviours;
        match self.before_canonical {
            None => statistics.queries = queries,
            Some(before) => statistics.queries_canonical = queries - before,
        }
        if let Some(observer) = &mut self.observer {
            observer.notify(Event::Considered(&self.statistics));
        }
    }

    /// From now on queries count for the canonical pass, and the best tree is replaced by the canonical
    /// one.
    pub(super) fn canonical(&mut self) {
        self.before_canonical = Some(self.statistics.queries);
    }

    /// Traces run up to this many steps from now on.
    pub(super) fn horizon(&mut self, steps: u64) {
        if let Some(observer) = &mut self.observer {
            observer.notify(Event::Horizon(steps));
        }
    }

    /// No tree has a better value than this.
    pub(super) fn bound(&mut self, bound: u64) {
        if let Some(observer) = &mut self.observer {
            observer.notify(Event::Bound(bound));
        }
    }

    /// How many queries any search must make.
    pub(super) fn necessary(&mut self, queries: u64) {
        self.statistics.necessary_queries = Some(queries);
    }

    /// A tree better than the incumbent takes its place.
    pub(super) fn improved(&mut self, tree: Tree, value: u64) {
        self.tell_improved(value, tree.size(), &|| tree.clone());
        self.keep(tree, value);
    }

    /// Tells the observer of a better tree, which is only made if it is looked at. The canonical pass
    /// only replaces one tree by another as good.
    pub(super) fn tell_improved(&mut self, value: u64, size: u64, tree: &dyn Fn() -> Tree) {
        if let Some(observer) = &mut self.observer
            && self.before_canonical.is_none()
        {
            observer.notify(Event::Improved(Improvement::new(value, size, tree)));
        }
    }

    /// This tree is the incumbent.
    pub(super) fn keep(&mut self, tree: Tree, value: u64) {
        self.best = Some(Solution { tree, value });
    }

    pub(super) fn finish(self) -> (Option<Solution>, Statistics) {
        (self.best, self.statistics)
    }
}

//! The scout: walks the small sizes one after the other, for good solutions early.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::bounds::Store;
use super::crew::{Crew, Found};
use super::frontier::Frontier;
use super::lane::{Counts, Lane, Paused};
use super::passes::{FIRST_CUT, next_cut};
use super::version_space::Cost;
use super::walk::{Incumbent, Job, Round};
use crate::problem::{Objective, RunError};

pub(super) struct Scout<'p, S: Store> {
    lane: Lane<'p, S>,
    root: Frontier,
    gap: f64,
    /// The most predicates of the trees walked now.
    nodes: Cost,
    cut: u64,
}

impl<'p, S: Store> Scout<'p, S> {
    pub(super) fn new(
        lane: Lane<'p, S>,
        dimensions: usize,
        objective: Objective,
        gap: f64,
        crew: &Crew,
    ) -> Self {
        let root = Frontier::root(dimensions, objective);
        let mut scout = Scout { lane, root, gap, nodes: 0, cut: 0 };
        scout.next_size(crew);
        scout
    }

    /// Goes on until it has asked for so many transitions in all, or has walked all sizes below `most`.
    pub(super) fn advance(&mut self, transitions: u64, most: Cost, crew: &Crew) -> Result<(), RunError> {
        while self.nodes < most && self.lane.transitions() < transitions && self.lane.stopped().is_none() {
            let left = transitions - self.lane.transitions();
            let advanced = catch_unwind(AssertUnwindSafe(|| self.lane.advance(left)));
            match advanced.unwrap_or_else(|panic| Err(self.lane.panicked(&*panic)))? {
                Paused::Slice => {}
                Paused::Asked => break,
                Paused::Found { value, size } => {
                    let labels = Some(self.lane.walk().labels());
                    crew.tell(Found::elsewhere(value, size, labels), false);
                }
                Paused::Done => {
                    let (next, _) = self.lane.finish();
                    if next.is_empty() || crew.best().is_some() {
                        self.next_size(crew);
                    } else {
                        self.cut = next_cut(self.cut);
                        self.begin(&next, crew);
                    }
                }
            }
            self.improve(crew);
        }
        Ok(())
    }

    /// Begins with trees of one predicate more.
    fn next_size(&mut self, crew: &Crew) {
        self.nodes += 1;
        self.cut = if crew.best().is_some() { u64::MAX } else { FIRST_CUT };
        self.begin(&self.root.clone(), crew);
    }

    fn begin(&mut self, frontier: &Frontier, crew: &Crew) {
        let round = Round { cut: self.cut, nodes: Cost::MAX, only_first: false };
        let job = Job { nodes: self.nodes, round, gap: self.gap, is_counted: false };
        self.lane.begin(job, frontier, frontier.in_order(), None, None);
        self.improve(crew);
    }

    /// The best of all is what it has to improve on.
    fn improve(&mut self, crew: &Crew) {
        if let Some(best) = crew.best().as_ref() {
            self.lane.improve(Incumbent { value: best.value, size: best.size, is_weak: false });
        }
    }

    pub(super) fn counts(&self) -> Counts {
        self.lane.counts()
    }
}

//! Dimensions may have a price, as a sensor has. A tree pays once for each dimension that it asks. Among the
//! trees of the best value and the smallest size, one of the least price is wanted.
//!
//! Once value and size are proved, the sets of priced dimensions are gone through in the order of their
//! prices; of equal ones the set of fewer dimensions comes first, then the one whose dimensions come first. On
//! the thresholds of such a set and of the dimensions without a price, a pass looks for a tree of this value
//! and size. The first set that has one is the cheapest there is: a tree of a lower price would have been found
//! on its own dimensions before. No pass is needed for the dimensions of a tree that is known, and none for more
//! dimensions than a tree of this size can ask.

use std::sync::Arc;

use super::behaviour::{self, State};
use super::observer::Later;
use super::progress::Progress;
use super::{Observer, Outcome, Search, Solution, Statistics};
use crate::problem::{Gate, Problem, RunError};
use crate::tree::Tree;

/// The dimensions that have a price, and thresholds.
fn priced(problem: &Problem) -> Vec<usize> {
    let is_priced = |&i: &usize| {
        let dimension = &problem.dimensions()[i];
        dimension.price > 0.0 && !dimension.thresholds.is_empty()
    };
    (0..problem.dimensions().len()).filter(is_priced).collect()
}

/// The priced dimensions that a tree asks, in their order.
pub(super) fn asked(problem: &Problem, tree: &Tree) -> Vec<usize> {
    let asked = tree.dimensions();
    priced(problem).into_iter().filter(|dimension| asked.contains(dimension)).collect()
}

/// The sets of priced dimensions that a tree of this size can ask, in the order of their prices.
pub(super) fn sets(problem: &Problem, size: u64) -> Vec<Vec<usize>> {
    let priced = priced(problem);
    let set = |mask: u32| -> Vec<usize> {
        priced.iter().enumerate().filter(|(bit, _)| mask >> bit & 1 == 1).map(|(_, &i)| i).collect()
    };
    // A problem has at most 16 prices.
    let masks = (0..1 << priced.len()).filter(|mask: &u32| u64::from(mask.count_ones()) <= size);
    let mut sets: Vec<Vec<usize>> = masks.map(set).collect();
    sets.sort_by(|a, b| {
        let prices = problem.price_of(a).total_cmp(&problem.price_of(b));
        prices.then(a.len().cmp(&b.len())).then_with(|| a.cmp(b))
    });
    sets
}

/// The problem on the thresholds of these dimensions and of those without a price.
pub(super) fn restricted(problem: &Problem, set: &[usize]) -> Problem {
    let priced = priced(problem);
    problem.asking(|dimension| !priced.contains(&dimension) || set.contains(&dimension))
}

/// What the passes after a search have in common with it.
pub(super) struct After<'a> {
    pub(super) gate: Arc<Gate<'a>>,
    pub(super) memory: Option<usize>,
    pub(super) observer: Option<&'a mut dyn Observer>,
}

impl<'a> Search<'a> {
    /// Replaces the best tree by one of the least price among those of its value and size.
    pub(super) fn choose_by_price(
        &self,
        after: &mut After<'a>,
        outcome: &mut Outcome,
    ) -> Result<(), RunError> {
        let Some(Solution { tree, value }) = outcome.best.clone() else { return Ok(()) };
        let known = asked(self.problem, &tree);
        for set in sets(self.problem, tree.size()).into_iter().take_while(|set| *set != known) {
            let problem = restricted(self.problem, &set).limited_to(tree.size());
            let (found, statistics) =
                self.first_equal(after, &problem, value, tree.size(), outcome.statistics);
            outcome.statistics.add_pass(statistics);
            if let Some(tree) = found? {
                outcome.best = Some(Solution { tree, value });
                break;
            }
        }
        Ok(())
    }

    /// A tree of this value and size, if there is one; no tree is better.
    fn first_equal(
        &self,
        after: &mut After<'a>,
        problem: &Problem,
        value: u64,
        size: u64,
        before: Statistics,
    ) -> (Result<Option<Tree>, RunError>, Statistics) {
        let gate = Arc::clone(&after.gate);
        let mut later =
            after.observer.as_deref_mut().map(|observer| Later { observer, before: Some(before) });
        let observer = later.as_mut().map(|later| later as &mut dyn Observer);
        let mut progress = Progress::new(problem, observer, gate, 0.0, false);
        let options = self.options();
        let saved = State::for_equal(problem, value, size);
        let ended = behaviour::search(problem, self.factory, &options, &mut progress, Some(saved));
        let (conclusion, statistics) = progress.finish(None);
        (ended.map(|()| conclusion.best.map(|best| best.tree)), statistics)
    }
}

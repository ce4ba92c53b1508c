//! `broccoli solve --refine`: coarse thresholds first, then finer ones around those that the best tree uses.
//!
//! Every grid holds the one before, so the tree found on that is one of those searched next: it is given as
//! the tree to start from, and the value never gets worse. A tree has a handful of predicates, each of which
//! adds two thresholds, so grids grow by little where a finer step everywhere would double them.

use broccoli_core::problem::Problem;
use broccoli_core::search::{Outcome, Solution, Statistics, Status, StopReason};
use broccoli_core::tree::Tree;
use broccoli_export::stages::StageJson;
use broccoli_problem::Target;

use crate::complaint::Complaint;
use crate::running::{SearchError, Searched, Session};
use crate::searching::SearchOptions;

/// Solves `problem`, then up to `most` finer ones, until the tree gets no better. Returns the last problem
/// with its answer, whose counts are those of all.
pub fn run(
    search: &SearchOptions,
    target: &mut Target,
    problem: Problem,
    start: Option<Tree>,
    most: usize,
) -> Result<(Problem, Searched), SearchError> {
    let mut session = Session::of_stages();
    let searched = search.run_in(&mut session, target, &problem, start)?;
    let mut last = Stages { problem, searched, stages: Vec::new(), spent: Statistics::default() };
    last.note();
    for _ in 0..most {
        let Some((finer, before)) = last.finer(target)? else { break };
        if session.stop_reason().is_some() {
            break;
        }
        let start = Some(before.tree.clone());
        let searched = search.run_in(&mut session, target, &finer, start)?;
        if !last.go_on(finer, searched, before) {
            break;
        }
    }
    Ok(last.end())
}

/// The searches so far; `problem` and `searched` are the last one.
struct Stages {
    problem: Problem,
    searched: Searched,
    stages: Vec<StageJson>,
    /// What the searches before the last one did.
    spent: Statistics,
}

impl Stages {
    /// Adds the last search to the list.
    fn note(&mut self) {
        if let Ok(outcome) = &self.searched.found {
            self.stages.push(StageJson::new(&self.problem, outcome));
        }
    }

    /// The next problem, and the tree to start from; none if there is no answer to go on from, or nothing to
    /// refine.
    fn finer(&self, target: &mut Target) -> Result<Option<(Problem, Solution)>, Complaint> {
        let Ok(Outcome {
            status: Status::Optimal | Status::Stopped(StopReason::Gap), best: Some(best), ..
        }) = &self.searched.found
        else {
            return Ok(None);
        };
        let predicates = best.tree.predicates();
        for (index, dimension) in target.dimensions.iter_mut().enumerate() {
            let used = predicates.iter().filter(|(d, _)| *d == index);
            let around: Vec<f64> = used.map(|(_, threshold)| *threshold).collect();
            dimension.thresholds = dimension.thresholds.finer(&around, dimension.range);
        }
        let finer = target.problem().map_err(|error| Complaint::input(error.to_string()))?;
        let is_finer = finer.predicate_count() > self.problem.predicate_count();
        Ok(is_finer.then(|| (finer, best.clone())))
    }

    /// Takes the next search, which started from `before`; whether it is worth going on.
    fn go_on(&mut self, problem: Problem, mut searched: Searched, before: Solution) -> bool {
        let is_better = match &mut searched.found {
            // Stopped before it had even run the tree to start from: what was known before is more.
            Ok(Outcome { best: None, .. }) => return false,
            Ok(Outcome { best: Some(best), .. }) => {
                problem.objective().is_better(best.value, before.value)
                    || best.tree.size() < before.tree.size()
            }
            Err(failure) => {
                failure.best.get_or_insert(before);
                false
            }
        };
        self.spent = self.spent + self.statistics();
        (self.problem, self.searched) = (problem, searched);
        self.note();
        is_better
    }

    /// What the last search did.
    fn statistics(&self) -> Statistics {
        match &self.searched.found {
            Ok(outcome) => outcome.statistics,
            Err(failure) => failure.statistics,
        }
    }

    /// The last search with the counts of all.
    fn end(self) -> (Problem, Searched) {
        let Stages { problem, mut searched, stages, spent } = self;
        if stages.len() > 1 {
            match &mut searched.found {
                Ok(outcome) => outcome.statistics = spent + outcome.statistics,
                Err(failure) => failure.statistics = spent + failure.statistics,
            }
        }
        (problem, Searched { stages, ..searched })
    }
}

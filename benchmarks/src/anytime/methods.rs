//! The methods by name. A new one, or a variant of ours, is an entry here.

use anyhow::Result;
use broccoli_core::problem::{ComeBack, Instance, Problem, SystemFactory};

use super::arena::{Arena, Budget, Ended};
use super::dice::{Dice, mixed};
use super::run::Run;
use super::{annealing, climbing, cma, descent, evolution, ours, random};

/// What a method is given.
pub(crate) struct Task<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) factory: &'a dyn SystemFactory,
    pub(crate) budget: Budget,
}

type Heuristic = fn(&mut Arena<'_>, &mut Dice) -> Result<(), Ended>;

/// How a method runs.
#[derive(Clone, Copy)]
enum How {
    /// By a seed, in an arena.
    Heuristic(Heuristic),
    /// The same each time.
    Search(fn(&Task<'_>) -> Result<Run>),
}

/// A method.
#[derive(Clone, Copy)]
pub(crate) struct Method {
    pub(crate) name: &'static str,
    how: How,
}

/// Plain hill climbing, which everything is compared with.
pub(crate) const CLIMBING: &str = "climbing";
/// A cache counts other queries than the rest, so it is not one of the heuristics that ours is compared with.
pub(crate) const CACHED: &str = "climbing-cached";

/// All of them, in the order of reports.
pub(crate) const ALL: &[Method] = &[
    Method { name: "ours", how: How::Search(ours::run) },
    Method { name: "without-hints", how: How::Search(ours::run_without_hints) },
    Method { name: "random", how: How::Heuristic(random::search) },
    Method { name: CLIMBING, how: How::Heuristic(climbing::search) },
    Method { name: "annealing", how: How::Heuristic(annealing::search) },
    Method { name: "descent", how: How::Heuristic(descent::search) },
    Method { name: "evolution", how: How::Heuristic(evolution::search) },
    Method { name: "cma-es", how: How::Heuristic(cma::search) },
    Method { name: CACHED, how: How::Heuristic(climbing::search_cached) },
];

impl Method {
    /// Whether it depends on a seed, and is one of those that ours is compared with.
    pub(crate) fn is_heuristic(&self) -> bool {
        matches!(self.how, How::Heuristic(_))
    }

    /// Whether it can run there: a cache needs a system that tells its state.
    pub(crate) fn fits(&self, task: &Task<'_>) -> Result<bool> {
        let tells = || Instance::new(task.problem, task.factory).map(|i| i.come_back() == ComeBack::Clone);
        Ok(self.name != CACHED || tells()?)
    }

    /// Runs it once.
    pub(crate) fn run(&self, task: &Task<'_>, seed: u64) -> Result<Run> {
        let search = match self.how {
            How::Search(search) => return search(task),
            How::Heuristic(search) => search,
        };
        let mut arena = Arena::new(task.problem, task.factory, task.budget)?;
        match search(&mut arena, &mut Dice::new(mixed(seed + 1))) {
            Ok(()) | Err(Ended::Spent) => Ok(arena.into_run()),
            Err(Ended::Failed(error)) => Err(error),
        }
    }
}

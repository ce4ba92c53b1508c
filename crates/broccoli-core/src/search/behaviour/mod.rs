//! The behaviour engine: never enumerate trees, walk behaviours.
//!
//! A tree is a function of the cell alone, and a run sees only some cells. So run the system; in a cell
//! that has a label the action is forced, in any other branch over the labels that some tree within
//! the limits still allows; go on, and go back. Trees that act alike are run once, and what runs have
//! in common at their start is run once. `docs/behaviour.md` explains the algorithm from zero, with
//! the proof that its answer is exact and that it asks for hardly more than any algorithm must.
//!
//! | file | what it does |
//! |---|---|
//! | [`rounds`] | the search itself: one loop |
//! | [`schedule`], [`tuning`] | which rounds there are, and every constant |
//! | [`chunk`], [`task`] | the next tasks of a round, and what comes of them |
//! | [`team`], [`batch`] | run tasks: in threads, or many steps at a time |
//! | [`lane`] | a walk and its driver: performs a task |
//! | [`walk`] | the machine: asks for a transition, is told the answer |
//! | [`score`] | which behaviour is better, and what may still be |
//! | [`version_space`], [`bounds`], [`lanes`] | which labels some tree still allows, and how large it must be |
//! | [`labels`] | cell -> label |
//! | [`leaves`], [`frontier`] | behaviours set aside, to be gone on with |
//! | [`recall`] | traces of later initial states, so that they are not run again |
//! | [`driver`], [`places`] | does on a system what the machine asks, and comes back to places |
//! | [`saved`] | what is left of a search, to be written down |
//! | [`sample`] | some of what the system has answered, to be asked again by a search that is resumed |
//! | [`transitions`] | counts what was asked for |
//! | [`realise`] | from the labels of the best behaviour to the tree |
//! | [`equals`] | all behaviours that are as good as the best, and all their trees |

mod batch;
mod bounds;
mod bytes;
mod chunk;
mod driver;
mod equals;
mod frontier;
mod labels;
mod lane;
mod lanes;
mod leaves;
mod places;
mod realise;
mod recall;
mod rounds;
mod sample;
mod saved;
mod schedule;
mod score;
mod task;
mod team;
mod transitions;
mod tuning;
mod version_space;
mod walk;

use std::sync::Arc;

use self::bounds::{Arena, Inline, Narrow};
pub(super) use self::equals::for_each_equal;
pub(super) use self::lane::{Counts, MOST_PLAUSIBLE};
use self::rounds::Rounds;
pub(super) use self::saved::Saved;
pub use self::tuning::Tuning;
use super::evidence::Witness;
use super::progress::Progress;
use crate::problem::cache::Shared;
use crate::problem::{Problem, RunError, SystemFactory};

/// How to search.
pub(super) struct Options {
    /// How many threads may be used.
    pub(super) threads: usize,
    pub(super) tuning: Tuning,
    /// What the system has answered, if that is to be kept.
    pub(super) cache: Option<Shared>,
    /// How much memory cache and leaves may take.
    pub(super) memory: Option<usize>,
    /// Takes down what is walked.
    pub(super) witness: Option<Arc<dyn Witness>>,
}

/// Searches from the start, or goes on with what was left.
pub(super) fn search(
    problem: &Problem,
    factory: &dyn SystemFactory,
    options: &Options,
    progress: &mut Progress<'_>,
    saved: Option<Saved>,
) -> Result<(), RunError> {
    // The usual numbers of dimensions and actions have the version space made for them.
    let is_narrow =
        problem.dimensions().iter().all(|dimension| dimension.thresholds.len() <= Narrow::<1>::MOST);
    match (problem.dimensions().len(), problem.actions().len()) {
        (1, 2) if is_narrow => Rounds::<Narrow<1>>::run(problem, factory, options, progress, saved),
        (2, 2) if is_narrow => Rounds::<Narrow<2>>::run(problem, factory, options, progress, saved),
        (3, 2) if is_narrow => Rounds::<Narrow<3>>::run(problem, factory, options, progress, saved),
        (4, 2) if is_narrow => Rounds::<Narrow<4>>::run(problem, factory, options, progress, saved),
        (1, 2) => Rounds::<Inline<1, 2>>::run(problem, factory, options, progress, saved),
        (2, 2) => Rounds::<Inline<2, 2>>::run(problem, factory, options, progress, saved),
        (3, 2) => Rounds::<Inline<3, 2>>::run(problem, factory, options, progress, saved),
        (4, 2) => Rounds::<Inline<4, 2>>::run(problem, factory, options, progress, saved),
        (2, 3) => Rounds::<Inline<2, 3>>::run(problem, factory, options, progress, saved),
        (4, 3) => Rounds::<Inline<4, 3>>::run(problem, factory, options, progress, saved),
        _ => Rounds::<Arena>::run(problem, factory, options, progress, saved),
    }
}

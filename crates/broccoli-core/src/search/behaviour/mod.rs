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
//! | [`walk`] | the machine: asks for a transition, is told the answer |
//! | [`version_space`], [`bounds`], [`lanes`] | which labels some tree still allows, and how large it must be |
//! | [`labels`] | cell -> label |
//! | [`leaves`], [`frontier`] | behaviours set aside, to be gone on with |
//! | [`memory`] | traces of later initial states, so that they are not run again |
//! | [`driver`], [`places`] | does on a system what the machine asks, and comes back to places |
//! | [`lane`] | a walk and its driver, run a number of queries at a time |
//! | [`crew`] | several lanes on one round, in threads |
//! | [`batch`] | many lanes in one thread, whose steps are made together |
//! | [`worker`] | a lane alone, or a batch |
//! | [`passes`], [`scout`] | which rounds there are |
//! | [`saved`] | what is left of a search, to be written down |
//! | [`sample`] | some of what the system has answered, to be asked again by a search that is resumed |
//! | [`transitions`] | counts what was asked for |
//! | [`realise`] | from the labels of the best behaviour to the tree |
//! | [`equals`] | all behaviours that are as good as the best, and all their trees |
//!
//! **Order of passes.** A search is a sequence of rounds; what goes beyond a round's limits is left for
//! the next one. `reach`: each round lets the traces run longer; the search ends with the round that
//! finds a solution. Beside it, for a tenth of the queries, a *scout* walks the small sizes: its
//! solutions are often good and spare the main walk the longer traces. `survive`: each round allows one
//! node more, and the search ends with the first tree that survives the whole horizon. With several
//! initial states there is a canonical pass at the end: the first solution of a walk that knows value
//! and size.

mod batch;
mod bounds;
mod bytes;
mod crew;
mod driver;
mod equals;
mod frontier;
mod labels;
mod lane;
mod lanes;
mod leaves;
mod memory;
mod passes;
mod places;
mod realise;
mod sample;
mod saved;
mod scout;
mod transitions;
mod version_space;
mod walk;
mod worker;

use std::sync::Arc;

use self::bounds::{Arena, Inline, Narrow};
pub(super) use self::equals::for_each_equal;
pub(super) use self::lane::{Counts, MOST_PLAUSIBLE};
use self::passes::Passes;
pub(super) use self::saved::Saved;
use super::evidence::Witness;
use super::progress::Progress;
use crate::problem::cache::Shared;
use crate::problem::{Problem, RunError, SystemFactory};

/// How to search.
pub(super) struct Options {
    /// Whether any of the best trees will do.
    pub(super) any_optimal: bool,
    /// How many threads may be used, and after how many queries they are started.
    pub(super) threads: usize,
    pub(super) threads_after: u64,
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
        (1, 2) if is_narrow => Passes::<Narrow<1>>::run(problem, factory, options, progress, saved),
        (2, 2) if is_narrow => Passes::<Narrow<2>>::run(problem, factory, options, progress, saved),
        (3, 2) if is_narrow => Passes::<Narrow<3>>::run(problem, factory, options, progress, saved),
        (4, 2) if is_narrow => Passes::<Narrow<4>>::run(problem, factory, options, progress, saved),
        (1, 2) => Passes::<Inline<1, 2>>::run(problem, factory, options, progress, saved),
        (2, 2) => Passes::<Inline<2, 2>>::run(problem, factory, options, progress, saved),
        (3, 2) => Passes::<Inline<3, 2>>::run(problem, factory, options, progress, saved),
        (4, 2) => Passes::<Inline<4, 2>>::run(problem, factory, options, progress, saved),
        (2, 3) => Passes::<Inline<2, 3>>::run(problem, factory, options, progress, saved),
        (4, 3) => Passes::<Inline<4, 3>>::run(problem, factory, options, progress, saved),
        _ => Passes::<Arena>::run(problem, factory, options, progress, saved),
    }
}

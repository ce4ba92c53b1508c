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
//! | [`state`], [`task`] | all that is left of a search; a task, and what comes of it |
//! | [`team`], [`batch`] | run tasks: in threads, or many steps at a time |
//! | [`lane`] | a walk on a system: performs a task |
//! | [`walk`] | the machine: asks for a transition, is told the answer |
//! | [`score`] | which behaviour is better, and what may still be |
//! | [`version_space`], [`bounds`] | which labels some tree still allows, and how large it must be |
//! | [`labels`] | cell -> label |
//! | [`leaves`], [`frontier`], [`places`] | behaviours set aside, in an order, and how to come back to them |
//! | [`hints`] | good trees early, by local search |
//! | [`ladder`] | good trees early, by walks on coarser grids |
//! | [`recall`] | traces that were run, so that they are not run again |
//! | [`transitions`] | counts what was asked for |
//! | [`realise`] | from the labels of the best behaviour to the tree |
//! | [`equals`] | all behaviours that are as good as the best, and all their trees |

mod batch;
mod bounds;
mod equals;
mod frontier;
mod hints;
mod labels;
mod ladder;
mod lane;
mod leaves;
mod places;
mod realise;
mod recall;
mod rounds;
mod schedule;
mod score;
mod state;
mod task;
mod team;
mod transitions;
mod tuning;
mod version_space;
mod walk;

use std::sync::Arc;

use self::bounds::{Arena, Long, Registers, Short};
pub(super) use self::equals::for_each_equal;
use self::lane::Setting;
pub(super) use self::realise::Labelled;
pub(super) use self::recall::{KnownTraces, Trie};
use self::rounds::Rounds;
pub(super) use self::state::State;
use self::team::Board;
pub use self::tuning::{HintTuning, Tuning};
use super::evidence::Witness;
use super::progress::Progress;
use super::sample::{self, Sample};
use crate::problem::{Problem, RunError, SystemFactory};
use crate::tree::Tree;

/// How to search.
pub(super) struct Options {
    /// How many threads may be used.
    pub(super) threads: usize,
    pub(super) tuning: Tuning,
    /// How much memory leaves may take.
    pub(super) memory: Option<usize>,
    /// The tree that was run before the search began, and what it did.
    pub(super) start: Option<(Tree, Trie)>,
    /// Takes down what is walked.
    pub(super) witness: Option<Arc<dyn Witness>>,
}

/// Searches from the start, or goes on with what was left.
pub(super) fn search(
    problem: &Problem,
    factory: &dyn SystemFactory,
    options: &Options,
    progress: &mut Progress<'_>,
    state: Option<State>,
) -> Result<(), RunError> {
    let sample = state.as_ref().and_then(|state| state.sample.clone());
    let sample = sample.unwrap_or_else(|| Sample::new(factory.is_quick()));
    let setting = Setting {
        problem,
        factory,
        gate: progress.gate(),
        witness: options.witness.clone(),
        rewards: progress.rewards(),
        sample: progress.has_keeper().then(|| sample::Shared::new(sample)),
    };
    let state = state.unwrap_or_else(|| State::root(problem, options.tuning.bounded()));
    let board = Board::new(options.threads);
    let is_usual = Registers::<Short>::can_hold(problem.dimensions().len(), problem.actions().len());
    let has_grid = problem.without_grid().is_none();
    std::thread::scope(|scope| match (is_usual, has_grid) {
        (true, true) => {
            Rounds::<Registers<Short>>::new(options, progress, state, setting, &board, scope)?.search()
        }
        (true, false) => {
            Rounds::<Registers<Long>>::new(options, progress, state, setting, &board, scope)?.search()
        }
        (false, _) => Rounds::<Arena>::new(options, progress, state, setting, &board, scope)?.search(),
    })
}

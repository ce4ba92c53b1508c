//! All behaviours of the best value and the smallest size, and all trees that realise them.
//!
//! One walk alone, depth first: value and size are known, so they bound it from the start. When a behaviour is
//! complete the walk goes on as if it had not been found, for others that are just as good.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::bounds::Arena;
use super::frontier::Frontier;
use super::lane::{Lane, Paused, Setting};
use super::realise::{Labelled, for_each_tree};
use super::recall::Trie;
use super::schedule::Round;
use super::score::Score;
use super::task::{Brief, Found, Task, What};
use super::tuning::Tuning;
use super::version_space::Cost;
use super::walk::Job;
use crate::problem::{Problem, RunError, SystemFactory};
use crate::search::Statistics;
use crate::search::observer::Later;
use crate::search::prices::After;
use crate::search::progress::Progress;
use crate::tree::Tree;

/// How many transitions are made between two reports.
const SLICE: u64 = 1_000;

/// Visits all trees of this value and size until `visit` breaks; no tree is better. Also says what it took.
pub(in crate::search) fn for_each_equal(
    problem: &Problem,
    factory: &dyn SystemFactory,
    after: &mut After<'_>,
    (value, size): (u64, u64),
    before: Statistics,
    visit: &mut dyn FnMut(Tree) -> ControlFlow<()>,
) -> (Result<ControlFlow<()>, RunError>, Statistics) {
    let gate = Arc::clone(&after.gate);
    let mut later = after.observer.as_deref_mut().map(|observer| Later { observer, before: Some(before) });
    let observer = later.as_mut().map(|later| later as _);
    let mut progress = Progress::new(problem, observer, gate, 0.0, false);
    let (gate, rewards) = (progress.gate(), progress.rewards());
    let setting = Setting { problem, factory, gate, witness: None, sample: None, rewards };
    let nodes = Cost::try_from(size).unwrap_or(Cost::MAX);
    // What is just as good is better than what has one predicate more.
    let worse = Score::new(problem.objective(), value, nodes.saturating_add(1));
    let recall_bytes = after.memory.map_or(usize::MAX, |memory| memory / 8);
    let brief = Brief {
        job: Job { nodes, round: Round::LAST, wants_equals: true, ..Job::default() },
        incumbent: Some(worse),
        goal: None,
        trie: Arc::new(Trie::new(problem)),
        recall_bytes: recall_bytes.min(Tuning::default().most_recall_bytes),
        is_short: false,
        writes_first: false,
        grid: None,
    };
    let failures = vec![0; problem.initial_states().len()];
    let todo = [Frontier::root(problem)].into();
    let task = Task { todo, budget: u64::MAX, failures, brief, ..Task::default() };
    let walk = || {
        let mut lane = Lane::<Arena>::alone(&setting)?;
        lane.begin(task);
        loop {
            let paused = catch_unwind(AssertUnwindSafe(|| lane.advance(SLICE)));
            let paused = paused.unwrap_or_else(|panic| Err(lane.instance.panicked(&*panic)));
            progress.walked(lane.counts());
            match (paused?, lane.task.stopped) {
                (Paused::Slice | Paused::Asked, _) => {}
                (Paused::Found, _) => {
                    let Some(Found { what: What::Labels(labels), .. }) = &lane.task.found else { continue };
                    let labels: Vec<&Labelled> = labels.iter().collect();
                    if for_each_tree(problem, &labels, problem.limits().depth(), size, visit).is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                (Paused::Done, Some(reason)) => return Err(RunError::Stopped(reason)),
                (Paused::Done, None) => return Ok(ControlFlow::Continue(())),
            }
        }
    };
    (walk(), progress.finish(None).1)
}

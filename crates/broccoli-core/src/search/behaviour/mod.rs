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
//! | [`version_space`], [`bounds`] | which labels some tree still allows, and how large it must be |
//! | [`labels`] | cell -> label |
//! | [`leaves`] | traces set aside at the end of a round |
//! | [`driver`] | does on a system what the machine asks |
//! | [`realise`] | from the labels of the best behaviour to the tree |
//!
//! **Order of passes.** `reach`: one walk over all sizes in rounds, each of which lets the traces run
//! longer; it ends in the round that finds a solution. `survive`: one walk per size, because a tree
//! that survives the whole horizon ends the search, and small trees are cheap to rule out; the sizes
//! that are left are taken together as soon as one more node no longer makes much of a difference.
//! Last, the canonical pass: the first solution of a walk that knows value and size.

mod bounds;
mod driver;
mod labels;
mod leaves;
mod realise;
mod version_space;
mod walk;

use std::ops::ControlFlow;

use self::bounds::{Arena, Inline, Store};
use self::driver::Driver;
use self::realise::{Labelled, smallest_tree};
use self::version_space::Cost;
use self::walk::{Ask, Walk};
use super::progress::Progress;
use crate::problem::{Objective, Problem, RunError, SystemFactory};
use crate::tree::Tree;

/// Where the first round of `reach` cuts the traces, and by what factor it grows.
const FIRST_CUT: u64 = 2;
const CUT_GROWTH: (u64, u64) = (17, 16);
/// When the leaves of a round take more memory than this, the next round is the last: depth first.
const MOST_LEAF_BYTES: usize = 256 << 20;
/// `survive`: when one more node makes the walk less than this much longer, the rest is one walk.
const WORTHWHILE_GROWTH: u64 = 2;
/// How many queries go by between two reports to the observer.
const REPORT_INTERVAL: u64 = 256;

pub(super) fn search(
    problem: &Problem,
    factory: &dyn SystemFactory,
    progress: &mut Progress<'_>,
) -> Result<(), RunError> {
    // The usual numbers of dimensions and actions have the version space made for them.
    match (problem.dimensions().len(), problem.actions().len()) {
        (1, 2) => Passes::<Inline<1, 2>>::run(problem, factory, progress),
        (2, 2) => Passes::<Inline<2, 2>>::run(problem, factory, progress),
        (3, 2) => Passes::<Inline<3, 2>>::run(problem, factory, progress),
        (4, 2) => Passes::<Inline<4, 2>>::run(problem, factory, progress),
        (2, 3) => Passes::<Inline<2, 3>>::run(problem, factory, progress),
        (4, 3) => Passes::<Inline<4, 3>>::run(problem, factory, progress),
        _ => Passes::<Arena>::run(problem, factory, progress),
    }
}

/// The passes of one search.
struct Passes<'a, 'p, 'o, S> {
    problem: &'p Problem,
    driver: Driver<'p>,
    progress: &'a mut Progress<'o>,
    /// Value and size of the best behaviour.
    best: Option<(u64, Cost)>,
    store: std::marker::PhantomData<S>,
}

impl<'a, 'p, 'o, S: Store> Passes<'a, 'p, 'o, S> {
    fn run(
        problem: &'p Problem,
        factory: &dyn SystemFactory,
        progress: &'a mut Progress<'o>,
    ) -> Result<(), RunError> {
        let driver = Driver::new(problem, factory)?;
        let mut passes =
            Passes::<S> { problem, driver, progress, best: None, store: std::marker::PhantomData };
        let ended = passes.search();
        passes.report();
        ended
    }

    fn search(&mut self) -> Result<(), RunError> {
        let necessary = match self.problem.objective() {
            Objective::Reach { .. } => self.reach()?,
            Objective::Survive { horizon } => self.survive(horizon)?,
        };
        if self.problem.initial_states().len() == 1 {
            self.progress.necessary(necessary);
        }
        match self.best {
            Some((value, size)) => self.canonical(value, size),
            None => Ok(()),
        }
    }

    /// One walk over all sizes, in rounds. Returns the number of necessary queries.
    fn reach(&mut self) -> Result<u64, RunError> {
        let horizon = self.problem.objective().horizon();
        let mut cut = FIRST_CUT.min(horizon);
        let mut walk = Walk::<S>::new(self.problem, self.problem.limits().nodes(), cut, None);
        let mut ask = walk.start();
        loop {
            self.progress.horizon(cut);
            self.drive(&mut walk, ask, |_| ControlFlow::Continue(()))?;
            // What was set aside before the first solution was found cannot be better.
            if !walk.has_leaves() || self.best.is_some() {
                break;
            }
            self.progress.bound(cut + 1);
            let too_many = walk.leaf_bytes() + self.driver.leaf_bytes() > MOST_LEAF_BYTES;
            let longer = (cut.saturating_mul(CUT_GROWTH.0) / CUT_GROWTH.1).max(cut + 1);
            cut = if too_many { horizon } else { longer.min(horizon) };
            self.driver.next_round();
            ask = walk.next_round(cut);
        }
        // Every transition number 1 to value - 1, and number `value` of all that a smaller tree can do.
        Ok(match self.best {
            Some((value, size)) => {
                let shorter = value.checked_sub(1).map_or(0, |most| walk.transitions(1..=most, Cost::MAX));
                let smaller = size.checked_sub(1).map_or(0, |most| walk.transitions(value..=value, most));
                shorter + if value > 0 { smaller } else { 0 }
            }
            None => walk.transitions(1..=horizon, Cost::MAX),
        })
    }

    /// One walk per size, until a tree survives the horizon. Returns the number of necessary queries.
    fn survive(&mut self, horizon: u64) -> Result<u64, RunError> {
        let most = self.problem.limits().nodes();
        let mut nodes = 0;
        let mut before = u64::MAX;
        let mut smaller = 0;
        loop {
            self.progress.size(nodes);
            let queries = self.driver.queries();
            let mut walk = Walk::<S>::new(self.problem, nodes, horizon, self.best);
            let ask = walk.start();
            let mut own_steps = 0;
            // A perfect tree that is as small as can be ends the search at once.
            let is_smallest = |size: Cost| size == 0 || u64::from(size) == nodes && smaller + 1 == nodes;
            let mut found = None;
            self.drive(&mut walk, ask, |walk| {
                found = walk.incumbent();
                match found {
                    Some((value, size)) if value == horizon => {
                        own_steps = walk.steps_beyond(size);
                        if is_smallest(size) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                    }
                    _ => ControlFlow::Continue(()),
                }
            })?;
            let spent = self.driver.queries() - queries;
            match self.best {
                Some((value, size)) if value == horizon => {
                    // Its own trace, and all that smaller trees can do.
                    let Some(below) = size.checked_sub(1) else { return Ok(own_steps) };
                    let by_smaller =
                        if is_smallest(size) { before } else { walk.transitions(1..=horizon, below) };
                    return Ok(own_steps + by_smaller);
                }
                _ if nodes == most => return Ok(spent),
                _ => {}
            }
            smaller = nodes;
            let grows = nodes < 2 || spent >= WORTHWHILE_GROWTH.saturating_mul(before);
            nodes = if grows { nodes + 1 } else { most };
            before = spent;
        }
    }

    /// The one answer among equals: the first solution of a walk that knows value and size.
    fn canonical(&mut self, value: u64, size: Cost) -> Result<(), RunError> {
        // Any value better than the next worse one will do.
        let incumbent = match self.problem.objective() {
            Objective::Reach { .. } => value.checked_add(1),
            Objective::Survive { .. } => value.checked_sub(1),
        };
        let incumbent = incumbent.map(|worse| (worse, 0));
        self.report();
        self.progress.canonical();
        let mut walk = Walk::<S>::new(self.problem, u64::from(size), u64::MAX, incumbent);
        let ask = walk.start();
        self.drive(&mut walk, ask, |_| ControlFlow::Break(()))
    }

    /// Does what a walk asks until it is done or `found`, called with every solution, breaks.
    fn drive(
        &mut self,
        walk: &mut Walk<S>,
        mut ask: Ask,
        mut found: impl FnMut(&Walk<S>) -> ControlFlow<()>,
    ) -> Result<(), RunError> {
        let mut next_report = self.driver.queries() + REPORT_INTERVAL;
        loop {
            ask = match self.driver.answer(ask)? {
                Some(verdict) => walk.tell(verdict, self.driver.cell()),
                None => match ask {
                    Ask::Done => return Ok(()),
                    Ask::Found { value, size } => {
                        self.best = Some((value, size));
                        self.report();
                        self.progress.improved(self.tree(walk, size), value);
                        if found(walk).is_break() {
                            self.driver.clear();
                            return Ok(());
                        }
                        walk.resume()
                    }
                    _ => walk.resume(),
                },
            };
            if self.driver.queries() >= next_report {
                next_report = self.driver.queries() + REPORT_INTERVAL;
                self.report();
            }
        }
    }

    /// The smallest tree that realises the present behaviour.
    fn tree(&self, walk: &Walk<S>, size: Cost) -> Tree {
        let labels: Vec<Labelled> =
            walk.behaviour().map(|(cell, label)| Labelled { cell: cell.to_vec(), label }).collect();
        let depth = self.problem.limits().depth();
        let tree = smallest_tree(self.problem, &labels, depth, u64::from(size));
        debug_assert_eq!(tree.as_ref().map(Tree::size), Some(u64::from(size)));
        // The version space has found a tree of this size, so there is one.
        tree.unwrap_or(Tree::Leaf(0))
    }

    fn report(&mut self) {
        self.progress.walked(self.driver.traces(), self.driver.queries(), self.driver.replayed());
    }
}

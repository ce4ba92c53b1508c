//! All optimal trees: all that have the best value, the smallest size and, if there are prices, the least price.
//!
//! They are distinct as trees, over the given thresholds; thresholds between which no cell lies that a run comes
//! to make different trees that act alike. None of them has a predicate that an ancestor decides, a node with
//! two equal leaves, or a leaf that no run comes to: without it the tree would do the same and be smaller.
//!
//! The behaviours of the known value and size are walked, one after the other. A tree's runs are one path of
//! the walk, so each optimal tree agrees with the labels of exactly one of these behaviours; and any tree of
//! this size that agrees with them is optimal.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::behaviour;
use super::confirm::intervals;
use super::prices::{After, asked, restricted, sets};
use super::{Failure, Outcome, Search, Status};
use crate::problem::{Gate, Instance, RunError};
use crate::tree::Tree;

/// The optimal trees.
#[derive(Clone, Debug, PartialEq)]
pub struct Optima {
    /// The outcome of the search. Its queries include those of the walk for the other trees; it is stopped if
    /// that walk was.
    pub outcome: Outcome,
    /// Optimal trees: first that of the outcome, then the others in canonical order. None unless value and
    /// size are proved.
    pub trees: Vec<Tree>,
    /// Whether it is proved that these are all.
    pub is_complete: bool,
}

impl<'a> Search<'a> {
    /// Finds up to `most` optimal trees. If there are more, those are listed that a walk which does not depend
    /// on threads meets first.
    ///
    /// ```
    /// use std::num::NonZeroUsize;
    /// use broccoli_core::search::Search;
    /// # use broccoli_core::problem::*;
    /// # struct Token(f64);
    /// # impl System for Token {
    /// #     fn reset(&mut self, initial: &InitialState, seen: &mut [f64]) -> Result<Reply, SystemError> {
    /// #         self.0 = initial.values()[0];
    /// #         seen[0] = self.0;
    /// #         Ok(Verdict::Running.into())
    /// #     }
    /// #     fn step(&mut self, action: usize, seen: &mut [f64]) -> Result<Reply, SystemError> {
    /// #         self.0 += if action == 0 { -1.0 } else { 2.0 };
    /// #         seen[0] = self.0;
    /// #         Ok(if self.0 == 4.0 { Verdict::Satisfied } else { Verdict::Running }.into())
    /// #     }
    /// # }
    /// # let problem = Problem::builder().dimension("x", Thresholds::grid(0.0, 9.0, 1.0)?)
    /// #     .action("a", 0.0).action("b", 1.0).initial([1.0]).objective(Objective::reach(60)).depth(2).build()?;
    /// # let factory = || Ok(Box::new(Token(0.0)) as Box<dyn System>);
    /// let optima = Search::new(&problem, &factory).all_optimal(NonZeroUsize::MAX)?;
    /// assert!(optima.is_complete);
    /// assert_eq!(optima.trees.len(), 3); // x >= 3, x >= 4 or x >= 5 ? down : up
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the system fails, or is not deterministic; the failure keeps the best tree found before.
    pub fn all_optimal(mut self, most: NonZeroUsize) -> Result<Optima, Box<Failure>> {
        let mut after = self.after();
        let (ended, outcome) = self.search(&mut after);
        let mut outcome = self.conclude(ended, outcome, &mut after)?;
        let (mut others, mut is_complete) = (Vec::new(), false);
        let Some(best) = outcome.best.clone().filter(|_| outcome.status == Status::Optimal) else {
            return Ok(Optima { outcome, trees: others, is_complete });
        };
        let mut failed = None;
        let mut confirming = 0;
        let mut shortest = |tree: Tree| {
            let (tree, queries) = self.with_shortest(tree);
            confirming += queries;
            tree
        };
        let walked = shortest(best.tree.clone()).and_then(|known| {
            self.others(&mut after, &mut outcome, &best.tree, |tree| match shortest(tree) {
                Ok(tree) if tree == known => ControlFlow::Continue(()),
                Ok(tree) if others.len() + 1 < most.get() => {
                    others.push(tree);
                    ControlFlow::Continue(())
                }
                Ok(_) => ControlFlow::Break(()),
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            })
        });
        outcome.statistics.queries_confirming += confirming;
        match failed.map_or(walked, Err) {
            Ok(flow) => is_complete = flow.is_continue(),
            Err(RunError::Stopped(reason)) => outcome.status = Status::Stopped(reason),
            Err(error) => {
                let Outcome { engine, best, statistics, .. } = outcome;
                return Err(Box::new(Failure { engine, error, best, statistics }));
            }
        }
        others.sort();
        let trees = std::iter::once(best.tree).chain(others).collect();
        Ok(Optima { outcome, trees, is_complete })
    }

    /// A tree with the shortest thresholds that leave all its traces as they are, where these may be any numbers; and the
    /// queries that this took.
    fn with_shortest(&self, tree: Tree) -> (Result<Tree, RunError>, u64) {
        if self.problem.without_grid().is_none() {
            return (Ok(tree), 0);
        }
        let gate = Arc::new(Gate::new(self.stop, None));
        match Instance::gated(self.problem, self.factory, gate) {
            Ok(mut instance) => {
                let intervals = instance.guarded(|instance| intervals(self.problem, &tree, instance));
                (intervals.map(|intervals| tree.with_shortest(&intervals)), instance.queries())
            }
            Err(error) => (Err(error), 0),
        }
    }

    /// Visits all optimal trees but the one that is known, until `visit` breaks. Of those that differ only in which of the
    /// numbers between two values are thresholds it visits one.
    fn others(
        &self,
        after: &mut After<'a>,
        outcome: &mut Outcome,
        known: &Tree,
        mut visit: impl FnMut(Tree) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, RunError> {
        let Some(value) = outcome.best.as_ref().map(|best| best.value) else {
            return Ok(ControlFlow::Continue(()));
        };
        let price = self.problem.price(known);
        let of_price = |set: &Vec<usize>| self.problem.price_of(set).total_cmp(&price).is_eq();
        for set in sets(self.problem, known.size()).into_iter().filter(of_price) {
            let problem = restricted(self.problem, &set);
            // Each tree belongs to the set that it asks, and to no other.
            let mut visit = |tree: Tree| match tree == *known || asked(self.problem, &tree) != set {
                true => ControlFlow::Continue(()),
                false => visit(tree),
            };
            let before = outcome.statistics;
            let (flow, statistics) = behaviour::for_each_equal(
                &problem,
                self.factory,
                after,
                (value, known.size()),
                before,
                &mut visit,
            );
            outcome.statistics.add_pass(statistics);
            if flow?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

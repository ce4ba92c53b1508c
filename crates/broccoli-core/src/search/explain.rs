//! Why no tree exists: which of several initial states are to blame.
//!
//! First every initial state is tried alone. If a tree exists for each, some of them must be at odds. A
//! small set of such states is collected by example: a tree for those collected fails from some other
//! state, which is added, until there is no tree. Then each is left out in turn, and stays out if there
//! is still no tree.

use std::sync::Arc;

use super::value::trace_value;
use super::{Outcome, Search, Status, Stop};
use crate::problem::{Gate, Instance, Over, Problem, SystemFactory};
use crate::tree::Tree;

/// Initial states, by index, for which no tree exists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// No tree exists for any of these, even alone.
    pub alone: Vec<usize>,
    /// If there is a tree for each state alone: no tree exists for all of these together. When any one is
    /// left out there is a tree, unless this was cut short.
    pub together: Vec<usize>,
    /// Whether the queries were not enough to find out more, or the system failed.
    pub is_cut_short: bool,
    /// The queries it took.
    pub queries: u64,
}

/// Explains why `problem`, which is known to be infeasible, is so, within about `query_limit` queries.
pub fn explain(
    problem: &Problem,
    factory: &dyn SystemFactory,
    query_limit: u64,
    stop: Option<&dyn Stop>,
) -> Explanation {
    let mut explainer = Explainer { problem, factory, query_limit, stop, queries: 0 };
    let mut explanation = Explanation::default();
    explanation.is_cut_short = explainer.explain(&mut explanation).is_none();
    explanation.queries = explainer.queries;
    explanation
}

struct Explainer<'a> {
    problem: &'a Problem,
    factory: &'a dyn SystemFactory,
    query_limit: u64,
    stop: Option<&'a dyn Stop>,
    queries: u64,
}

impl Explainer<'_> {
    /// `None` if it is cut short; what is found until then is true.
    fn explain(&mut self, found: &mut Explanation) -> Option<()> {
        if let Over::Share(_) = self.problem.objective().over() {
            return Some(()); // states that may fail are not to blame
        }
        let all = 0..self.problem.initial_states().len();
        for state in all.clone() {
            if self.tree(&[state])?.is_none() {
                found.alone.push(state);
            }
        }
        if !found.alone.is_empty() {
            return Some(());
        }
        let mut some = vec![0];
        while let Some(tree) = self.tree(&some)? {
            let mut others = all.clone().filter(|state| !some.contains(state));
            let failing = loop {
                let state = others.next()?;
                if !self.works(&tree, state)? {
                    break state;
                }
            };
            some.push(failing);
        }
        some.sort_unstable();
        found.together = some.clone();
        for state in some {
            let without: Vec<usize> =
                found.together.iter().copied().filter(|&other| other != state).collect();
            if self.tree(&without)?.is_none() {
                found.together = without;
            }
        }
        Some(())
    }

    /// A tree for some of the initial states, if one exists. `None` if this cannot be found out.
    fn tree(&mut self, states: &[usize]) -> Option<Option<Tree>> {
        let problem = self.problem.starting_from(states);
        let left = self.query_limit.saturating_sub(self.queries);
        let mut search = Search::new(&problem, self.factory).first().query_limit(left);
        if let Some(stop) = self.stop {
            search = search.stop(stop);
        }
        let Outcome { status, best, statistics, .. } = search.run().ok()?;
        self.queries += statistics.queries + statistics.replayed + statistics.queries_confirming;
        match best {
            Some(best) => Some(Some(best.tree)),
            None => (status == Status::Infeasible).then_some(None),
        }
    }

    /// Whether a tree has a value from an initial state.
    fn works(&mut self, tree: &Tree, state: usize) -> Option<bool> {
        let left = self.query_limit.saturating_sub(self.queries);
        let gate = Arc::new(Gate::new(self.stop, Some(left)));
        let mut instance = Instance::gated(self.problem, self.factory, gate).ok()?;
        let policy = |seen: &[f64]| tree.action(seen);
        let value = trace_value(policy, self.problem.objective(), state, &mut instance);
        self.queries += instance.queries();
        value.ok().map(|value| value.is_some())
    }
}

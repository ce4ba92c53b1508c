//! Which rounds come one after the other, and what each is to do.

use serde::{Deserialize, Serialize};

use super::frontier::Frontier;
use super::score::Score;
use super::state::Left;
use super::tuning::Tuning;
use super::version_space::Cost;
use super::walk::Job;
use crate::problem::{Objective, Problem};

/// A round: what goes beyond these limits is set aside for the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Round {
    /// `reach`: traces of so many steps.
    pub(super) cut: u64,
    /// All other objectives: behaviours that need more predicates than this.
    pub(super) nodes: Cost,
}

impl Round {
    /// A last round, which sets nothing aside for another one.
    pub(super) const LAST: Round = Round { cut: u64::MAX, nodes: Cost::MAX };

    /// The first round.
    pub(super) fn first(problem: &Problem, tuning: &Tuning) -> Self {
        match is_reach(problem) {
            true => Round { cut: tuning.first_cut, ..Round::LAST },
            false => Round { nodes: 0, ..Round::LAST },
        }
    }

    /// Whether a search for this can come to it.
    pub(super) fn is_of(self, problem: &Problem) -> bool {
        match is_reach(problem) {
            true => self.nodes == Cost::MAX,
            false => self.cut == u64::MAX,
        }
    }

    /// What its tasks are to do.
    pub(super) fn job(self, problem: &Problem, gap: f64) -> Job {
        Job { nodes: most_nodes(problem), round: self, gap, is_counted: true, wants_equals: false }
    }

    /// What ends it at once: a perfect tree, if all smaller ones have been walked.
    pub(super) fn goal(self, problem: &Problem) -> Option<Score> {
        (self.nodes < Cost::MAX).then(|| Score::new(problem.objective(), problem.perfect(), self.nodes))
    }

    /// What it has to do with all these leaves, in an order.
    pub(super) fn begin(self, problem: &Problem, tuning: &Tuning, leaves: Vec<Frontier>) -> Left {
        match is_reach(problem) {
            true => Left::new(leaves),
            false => Left::new(Frontier::join(leaves).map(|all| all.promising_first(tuning))),
        }
    }

    /// The round after this one, which has left something for it; none if the search is settled.
    pub(super) fn after(
        self,
        problem: &Problem,
        tuning: &Tuning,
        best: Option<Score>,
        leaf_bytes: usize,
    ) -> Option<Round> {
        let Round { cut, nodes } = self;
        if is_reach(problem) {
            let is_plain = problem.objective().is_plain();
            // What was set aside cannot be better than a solution within the cut, if the worst trace is what counts.
            // If not, what cannot be better is dropped when it is gone on with.
            let value = best.map(|best| best.value(problem.objective()));
            if is_plain && value.is_some_and(|value| value <= cut) {
                return None;
            }
            // The last round, if there are too many leaves or the best so far is near.
            let near = u128::from(cut) * u128::from(tuning.near) / 100;
            let is_near = value.is_some_and(|value| !is_plain || u128::from(value) <= near);
            let is_last = is_near || leaf_bytes > tuning.most_leaf_bytes;
            return Some(Round { cut: if is_last { u64::MAX } else { tuning.next_cut(cut) }, ..self });
        }
        if best.is_some() && best <= self.goal(problem) {
            return None;
        }
        Some(Round { nodes: nodes.saturating_add(1), ..self })
    }
}

fn is_reach(problem: &Problem) -> bool {
    matches!(problem.objective(), Objective::Reach { .. })
}

/// The most predicates of a tree.
pub(super) fn most_nodes(problem: &Problem) -> Cost {
    Cost::try_from(problem.limits().nodes()).unwrap_or(Cost::MAX)
}

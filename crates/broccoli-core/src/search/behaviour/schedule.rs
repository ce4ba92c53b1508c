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
    pub(super) fn job(self, problem: &Problem) -> Job {
        Job { nodes: most_nodes(problem), round: self, is_counted: true, wants_equals: false }
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
            let next = match value {
                _ if leaf_bytes > tuning.most_leaf_bytes => u64::MAX,
                Some(_) if !is_plain => u64::MAX,
                Some(value) => cut_towards(value, cut, tuning.next_cut(cut)),
                None => tuning.next_cut(cut),
            };
            return Some(Round { cut: next, ..self });
        }
        if best.is_some() && best <= self.goal(problem) {
            return None;
        }
        Some(Round { nodes: nodes.saturating_add(1), ..self })
    }
}

/// After a round with one of these cuts it is proved how far from the optimum the best so far is: at most so many
/// percent of its value.
const MILESTONES: [u8; 2] = [20, 5];

/// The cut after this one if a solution of this value is known: the next of the milestones, but no more than `grown`;
/// none in the last round, where the solution cuts all traces.
fn cut_towards(value: u64, cut: u64, grown: u64) -> u64 {
    let milestones =
        MILESTONES.map(|percent| value - (u128::from(value) * u128::from(percent) / 100) as u64 - 1);
    milestones
        .into_iter()
        .find(|&milestone| milestone > cut)
        .map_or(u64::MAX, |milestone| milestone.min(grown))
}

fn is_reach(problem: &Problem) -> bool {
    matches!(problem.objective(), Objective::Reach { .. })
}

/// The most predicates of a tree.
pub(super) fn most_nodes(problem: &Problem) -> Cost {
    Cost::try_from(problem.limits().nodes()).unwrap_or(Cost::MAX)
}

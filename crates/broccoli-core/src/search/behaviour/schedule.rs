//! Which rounds come one after the other, and what each is to do.

use serde::{Deserialize, Serialize};

use super::frontier::Frontier;
use super::score::Score;
use super::state::Left;
use super::tuning::Tuning;
use super::version_space::Cost;
use super::walk::{Job, Round};
use crate::problem::{Objective, Problem};

/// A round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Stage {
    /// `reach`: traces of up to `cut` steps.
    Reach { cut: u64 },
    /// `survive`: trees of up to `nodes` predicates; first their traces from the first initial state only.
    Survive { nodes: Cost, only_first: bool },
}

impl Stage {
    /// The first round.
    pub(super) fn first(problem: &Problem, tuning: &Tuning) -> Self {
        match problem.objective() {
            Objective::Reach { .. } => Stage::Reach { cut: tuning.first_cut },
            _ => Stage::Survive { nodes: 0, only_first: is_in_parts(problem) },
        }
    }

    /// A last round, which sets nothing aside.
    pub(super) fn last(problem: &Problem) -> Self {
        match problem.objective() {
            Objective::Reach { .. } => Stage::Reach { cut: u64::MAX },
            _ => Stage::Survive { nodes: Cost::MAX, only_first: false },
        }
    }

    /// Whether a search for this can come to it.
    pub(super) fn is_of(self, objective: Objective) -> bool {
        matches!(objective, Objective::Reach { .. }) == matches!(self, Stage::Reach { .. })
    }

    /// Whether it sets nothing aside.
    pub(super) fn is_last(self) -> bool {
        matches!(self, Stage::Reach { cut: u64::MAX } | Stage::Survive { nodes: Cost::MAX, .. })
    }

    /// What its tasks are to do.
    pub(super) fn job(self, problem: &Problem, gap: f64) -> Job {
        let round = match self {
            Stage::Reach { cut } => Round { cut, nodes: Cost::MAX, only_first: false },
            Stage::Survive { nodes, only_first } => Round { cut: u64::MAX, nodes, only_first },
        };
        Job { nodes: most_nodes(problem), round, gap, is_counted: true }
    }

    /// What ends it at once: a perfect tree, if all smaller ones have been walked.
    pub(super) fn goal(self, problem: &Problem) -> Option<Score> {
        match self {
            Stage::Survive { nodes, .. } if nodes < Cost::MAX => {
                Some(Score::new(problem.objective(), problem.perfect(), nodes))
            }
            _ => None,
        }
    }

    /// The round with all these leaves, in the order in which they are to be gone on with; some may be left for the next
    /// round.
    pub(super) fn begin(self, problem: &Problem, tuning: &Tuning, leaves: Vec<Frontier>) -> Left {
        if let Stage::Reach { .. } = self {
            return Left::new(leaves, None);
        }
        let Some(all) = Frontier::join(leaves) else { return Left::default() };
        match self {
            Stage::Survive { nodes, only_first: false } if is_in_parts(problem) => {
                let (waiting, others) = all.waiting_best_first();
                match nodes {
                    Cost::MAX => Left::new([waiting, others], None),
                    _ => Left::new([waiting], Some(others)),
                }
            }
            _ => Left::new([all.promising_first(tuning)], None),
        }
    }

    /// The round after this one, which has left something for it; none if the search is settled.
    pub(super) fn after(
        self,
        problem: &Problem,
        tuning: &Tuning,
        best: Option<Score>,
        leaf_bytes: usize,
    ) -> Option<Stage> {
        let objective = problem.objective();
        let is_plain = objective.is_plain();
        match self {
            Stage::Reach { cut } => {
                // What was set aside cannot be better than a solution within the cut, if the worst trace is what counts.
                // If not, what cannot be better is dropped when it is gone on with.
                let value = best.map(|best| best.value(objective));
                if is_plain && value.is_some_and(|value| value <= cut) {
                    return None;
                }
                // The last round, if there are too many leaves or the best so far is near.
                let near = u128::from(cut) * u128::from(tuning.near) / 100;
                let is_near = value.is_some_and(|value| !is_plain || u128::from(value) <= near);
                let is_last = is_near || leaf_bytes > tuning.most_leaf_bytes;
                Some(Stage::Reach { cut: if is_last { u64::MAX } else { tuning.next_cut(cut) } })
            }
            Stage::Survive { nodes, only_first } => {
                let is_settled = self.goal(problem).is_some_and(|goal| best.is_some_and(|best| best <= goal));
                match (is_settled, only_first) {
                    (true, _) => None,
                    (false, true) => Some(Stage::Survive { nodes, only_first: false }),
                    (false, false) => {
                        let only_first = is_in_parts(problem);
                        Some(Stage::Survive { nodes: nodes.saturating_add(1), only_first })
                    }
                }
            }
        }
    }
}

/// The most predicates of a tree.
pub(super) fn most_nodes(problem: &Problem) -> Cost {
    Cost::try_from(problem.limits().nodes()).unwrap_or(Cost::MAX)
}

/// Whether the rounds of `survive` have two parts.
fn is_in_parts(problem: &Problem) -> bool {
    problem.initial_states().len() > 1 && problem.objective().is_plain()
}

/// The small sizes, walked beside the rounds of `reach` for good solutions early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Scout {
    /// The most predicates of the trees walked now.
    pub(super) nodes: Cost,
    pub(super) cut: u64,
}

impl Scout {
    /// Trees of so many predicates, from the beginning, if they are to be walked: up to one fewer than allowed.
    pub(super) fn of(problem: &Problem, tuning: &Tuning, nodes: Cost, has_best: bool) -> Option<Self> {
        let is_wanted = matches!(problem.objective(), Objective::Reach { .. }) && nodes < most_nodes(problem);
        is_wanted.then(|| Scout { nodes, cut: if has_best { u64::MAX } else { tuning.first_cut } })
    }

    /// What its tasks are to do.
    pub(super) fn job(self, gap: f64) -> Job {
        let round = Round { cut: self.cut, nodes: Cost::MAX, only_first: false };
        Job { nodes: self.nodes, round, gap, is_counted: false }
    }
}

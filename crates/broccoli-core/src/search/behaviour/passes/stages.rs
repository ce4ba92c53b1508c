//! Which rounds come one after the other, and what each is to do.

use serde::{Deserialize, Serialize};

use super::{MOST_LEAF_BYTES, Passes};
use crate::problem::{Objective, Problem};
use crate::search::behaviour::bounds::Store;
use crate::search::behaviour::crew::{Key, Order, elsewhere};
use crate::search::behaviour::frontier::{Agenda, Frontier};
use crate::search::behaviour::version_space::Cost;
use crate::search::behaviour::walk::{Job, Round};

/// Where the first round of `reach` cuts the traces, and by what factor it grows.
pub(in super::super) const FIRST_CUT: u64 = 2;
const CUT_GROWTH: (u64, u64) = (4, 3);
/// Of `survive`, from one leaf in so many trees of one predicate more are walked beforehand, if their traces are
/// longer than one part in so many of the horizon.
const AHEAD_OF_LEAVES: usize = 32;
const AHEAD_OF_HORIZON: u64 = 8;
/// The canonical pass is cut into so many subproblems, at least.
const CANONICAL_PARTS: usize = 64;

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in super::super) enum Stage {
    /// `reach`: traces of up to `cut` steps.
    Reach { cut: u64 },
    /// `survive`: trees of up to `nodes` predicates; first their traces from the first initial state only.
    Survive { nodes: Cost, only_first: bool },
    /// Value and size are known; the first solution is looked for.
    Canonical { round: Round },
    /// `survive`: the round of so many predicates is next, of the canonical pass or before. But first trees of one
    /// predicate more are walked, from some of its leaves.
    Ahead { nodes: Cost, is_canonical: bool },
}

impl Stage {
    /// The beginning of a search.
    pub(in super::super) fn first(problem: &Problem) -> Self {
        match problem.objective() {
            Objective::Reach { .. } => Stage::Reach { cut: FIRST_CUT },
            _ => Stage::Survive { nodes: 0, only_first: is_in_parts(problem) },
        }
    }

    /// Whether a search for this can come to it.
    pub(in super::super) fn is_of(self, objective: Objective) -> bool {
        let is_reach = matches!(objective, Objective::Reach { .. });
        match self {
            Stage::Reach { .. } => is_reach,
            Stage::Survive { .. } | Stage::Ahead { .. } => !is_reach,
            Stage::Canonical { .. } => true,
        }
    }

    /// The beginning of the canonical pass.
    pub(in super::super) fn canonical(objective: Objective) -> Self {
        let round = match objective {
            Objective::Reach { .. } => Round { cut: FIRST_CUT, nodes: Cost::MAX, only_first: false },
            _ => Round { cut: u64::MAX, nodes: 0, only_first: false },
        };
        Stage::Canonical { round }
    }

    /// The round of `survive` that some leaves are gone ahead of.
    pub(in super::super) fn round_of(nodes: Cost, is_canonical: bool) -> Self {
        if is_canonical {
            Stage::Canonical { round: Round { cut: u64::MAX, nodes, only_first: false } }
        } else {
            Stage::Survive { nodes, only_first: false }
        }
    }
}

impl<'s, 'e, 'p: 's, 'o: 'p, S: Store> Passes<'s, 'e, 'p, 'o, S> {
    /// Begins a round.
    pub(super) fn begin(&mut self, frontier: Frontier) {
        let mut rest = Vec::new();
        let agenda = match (self.problem.objective(), self.stage) {
            (Objective::Reach { .. }, _) => frontier.in_order(),
            (_, Stage::Survive { nodes, only_first: false }) if is_in_parts(self.problem) => {
                let mut waiting = frontier.waiting_best_first();
                let is_left = |leaf: &u32| !frontier.leaves.leaf(*leaf as usize).is_waiting();
                rest = frontier.in_order().filter(is_left).collect();
                if nodes == Cost::MAX {
                    waiting.append(&mut rest);
                }
                Agenda::new(waiting)
            }
            _ => frontier.promising_first(),
        };
        let rest = frontier.part(&rest);
        match self.ahead(&frontier, &agenda) {
            Some((stage, some)) => {
                self.stage = stage;
                self.waiting = Some((frontier.clone(), agenda));
                self.begin_with(frontier, some, rest);
            }
            None => self.begin_with(frontier, agenda, rest),
        }
    }

    /// Begins the next round after one that has left this, if there is one; says whether.
    pub(super) fn begin_next(&mut self, next: Frontier) -> bool {
        if let Stage::Ahead { nodes, is_canonical } = self.stage {
            return self.begin_after_ahead(nodes, is_canonical);
        }
        let Some((stage, left)) = self.after(next) else { return false };
        self.stage = stage;
        self.begin(left);
        true
    }

    /// Begins the round that some leaves were gone ahead of, unless what was found there is the answer; says whether.
    fn begin_after_ahead(&mut self, nodes: Cost, is_canonical: bool) -> bool {
        let goal = (self.problem.perfect(), nodes.saturating_add(1));
        if let Some(best) = self.crew.best().as_mut() {
            let is_goal = (best.value, best.size) == goal && best.key != elsewhere();
            if is_goal && is_canonical {
                return false;
            }
            // A perfect tree of one predicate more is the answer if there is no smaller one. Of others as good as
            // what was found, that is the answer which the rounds find first.
            best.key = if is_goal { Key::new() } else { elsewhere() };
        }
        self.stage = Stage::round_of(nodes, is_canonical);
        // A checkpoint that somebody has changed may hold none of the leaves that wait: then all is walked anew.
        let (frontier, agenda) = self.waiting.take().unwrap_or_else(|| {
            let root = self.root();
            let agenda = root.in_order();
            (root, agenda)
        });
        self.begin_with(frontier, agenda, Frontier::new(self.problem.dimensions().len()));
        true
    }

    fn begin_with(&mut self, frontier: Frontier, agenda: Agenda, rest: Frontier) {
        let order = self.order();
        self.crew.begin(order, frontier, agenda, rest);
    }

    /// The leaves to go ahead from, if there are any: those that promise most, and whose traces have come far. If
    /// that leads to a perfect tree, nothing need be set aside in the round. Whether it does must not depend on what
    /// is known from elsewhere, as the answer does; so the canonical pass does the same.
    fn ahead(&self, frontier: &Frontier, agenda: &Agenda) -> Option<(Stage, Agenda)> {
        let (nodes, is_canonical) = match self.stage {
            Stage::Survive { nodes, .. } => (nodes, false),
            Stage::Canonical { round } => (round.nodes, true),
            _ => return None,
        };
        let is_wanted = match (self.crew.best().as_ref(), is_canonical) {
            (Some(best), _) if best.value == self.problem.perfect() && best.key == elsewhere() => {
                if is_canonical {
                    best.size == nodes.saturating_add(1)
                } else {
                    best.size > nodes
                }
            }
            (Some(best), false) => best.value != self.problem.perfect(),
            (_, is_canonical) => !is_canonical,
        };
        let is_plain = matches!(self.problem.objective(), Objective::Survive { .. })
            && self.problem.objective().is_plain()
            && self.problem.initial_states().len() == 1;
        if !is_wanted || !is_plain || u64::from(nodes) >= self.problem.limits().nodes() {
            return None;
        }
        let far = self.problem.objective().horizon() / AHEAD_OF_HORIZON;
        let first = &agenda.as_slice()[..agenda.len().div_ceil(AHEAD_OF_LEAVES)];
        let is_far = |&leaf: &u32| frontier.leaves.leaf(leaf as usize).at.steps > far;
        let some: Vec<u32> = first.iter().copied().filter(is_far).collect();
        (!some.is_empty()).then(|| (Stage::Ahead { nodes, is_canonical }, Agenda::new(some)))
    }

    /// Whether there is a perfect tree, and none of fewer predicates, if all trees of up to so many were walked.
    fn is_settled(&self, walked: Cost) -> bool {
        self.crew.best().as_ref().is_some_and(|best| {
            // One from elsewhere may not be the first.
            let most = if best.key == elsewhere() { walked } else { walked.saturating_add(1) };
            best.value == self.problem.perfect() && best.size <= most
        })
    }

    /// What the present stage asks of the crew.
    pub(super) fn order(&mut self) -> Order {
        let most = Cost::try_from(self.problem.limits().nodes()).unwrap_or(Cost::MAX);
        let horizon = self.problem.objective().horizon();
        let gap = self.progress.gap();
        let all = |round| Job { nodes: most, round, gap, is_counted: true };
        let is_ordered = self.is_ordered;
        match self.stage {
            Stage::Reach { cut } => {
                self.progress.horizon(cut.min(horizon));
                let job = all(Round { cut, nodes: Cost::MAX, only_first: false });
                Order { job, goal: None, is_ordered, is_whole: false }
            }
            Stage::Survive { nodes, only_first } => {
                self.progress.size(u64::from(nodes.min(most)));
                let job = all(Round { cut: u64::MAX, nodes, only_first });
                // All smaller trees have been walked.
                let goal = (nodes < Cost::MAX).then_some((self.problem.perfect(), nodes));
                Order { job, goal, is_ordered, is_whole: false }
            }
            Stage::Ahead { nodes, .. } => {
                let round = Round { cut: u64::MAX, nodes: Cost::MAX, only_first: false };
                let nodes = nodes.saturating_add(1);
                // What it walks is walked again.
                let job = Job { nodes, round, gap: 0.0, is_counted: false };
                Order { job, goal: Some((self.problem.perfect(), nodes)), is_ordered: true, is_whole: false }
            }
            Stage::Canonical { round } => {
                let goal = self.best();
                let nodes = goal.map_or(most, |(_, size)| size);
                let job = Job { nodes, round, gap: 0.0, is_counted: false };
                Order { job, goal, is_ordered: true, is_whole: true }
            }
        }
    }

    /// What comes after a round that has left this.
    fn after(&mut self, next: Frontier) -> Option<(Stage, Frontier)> {
        self.crew.settle_order();
        let best = self.best();
        if self.relief.take().is_some() {
            self.is_ordered = false;
            let stage = match self.stage {
                Stage::Survive { .. } => Stage::Survive { nodes: Cost::MAX, only_first: false },
                _ => Stage::Reach { cut: u64::MAX },
            };
            return Some((stage, next));
        }
        match self.stage {
            Stage::Reach { cut } => {
                // What was set aside cannot be better than a solution within the cut, if the worst trace is
                // what counts. If not, what cannot be better is dropped when it is gone on with.
                let is_plain = self.problem.objective().is_plain();
                let is_settled = is_plain && best.is_some_and(|(value, _)| value <= cut);
                if is_settled || next.is_empty() {
                    return self.canonical();
                }
                if is_plain {
                    self.progress.bound(cut.saturating_add(1));
                }
                // The last round, if there are too many leaves or the scout's solution is near.
                let is_near = best.is_some_and(|(value, _)| !is_plain || value <= cut.saturating_mul(6) / 5);
                let is_last = is_near || next.bytes() > MOST_LEAF_BYTES;
                Some((Stage::Reach { cut: if is_last { u64::MAX } else { next_cut(cut) } }, next))
            }
            Stage::Survive { nodes, only_first } => {
                if next.is_empty() || self.is_settled(nodes) && nodes < Cost::MAX {
                    return self.canonical();
                }
                let stage = if only_first {
                    Stage::Survive { nodes, only_first: false }
                } else {
                    let only_first = is_in_parts(self.problem);
                    Stage::Survive { nodes: nodes.saturating_add(1), only_first }
                };
                Some((stage, next))
            }
            // Not asked: what comes then has been waiting.
            Stage::Ahead { nodes, is_canonical } => Some((Stage::round_of(nodes, is_canonical), self.root())),
            Stage::Canonical { mut round } => {
                let is_found = self.crew.best().as_ref().is_none_or(|best| best.key != elsewhere());
                if is_found || next.is_empty() {
                    return None;
                }
                let is_last = next.bytes() > MOST_LEAF_BYTES;
                match self.problem.objective() {
                    Objective::Reach { .. } if is_last || next.len() >= CANONICAL_PARTS => {
                        round.cut = u64::MAX;
                    }
                    Objective::Reach { .. } => round.cut = next_cut(round.cut),
                    _ if is_last => round.nodes = Cost::MAX,
                    _ => round.nodes = round.nodes.saturating_add(1),
                }
                Some((Stage::Canonical { round }, next))
            }
        }
    }

    /// The canonical pass, if there is need of one.
    fn canonical(&mut self) -> Option<(Stage, Frontier)> {
        // If a gap has let some values be passed over, there may be a smaller tree as good.
        let objective = self.problem.objective();
        let is_proved = self.crew.best().as_ref().is_some_and(|best| {
            best.passed_over.is_none_or(|passed_over| objective.is_better(best.value, passed_over))
        });
        if self.is_ordered || self.options.any_optimal || !is_proved {
            return None;
        }
        self.report();
        self.progress.canonical();
        if let Some(best) = self.crew.best().as_mut() {
            best.key = elsewhere();
        }
        Some((Stage::canonical(self.problem.objective()), self.root()))
    }
}

/// Whether the rounds of `survive` have two parts.
pub(super) fn is_in_parts(problem: &Problem) -> bool {
    problem.initial_states().len() > 1 && problem.objective().is_plain()
}

pub(in super::super) fn next_cut(cut: u64) -> u64 {
    (cut.saturating_mul(CUT_GROWTH.0) / CUT_GROWTH.1).max(cut.saturating_add(1))
}

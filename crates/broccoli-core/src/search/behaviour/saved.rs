//! All that is left of a search, as a checkpoint or a subproblem holds it.

use serde::{Deserialize, Serialize};

use super::crew::{Found, Key, Part};
use super::frontier::Frontier;
use super::leaves::Leaves;
use super::passes::{Stage, is_ordered, realised};
use super::realise::{Labelled, least_nodes};
use super::sample::Sample;
use super::transitions::Transitions;
use super::version_space::Cost;
use crate::problem::Problem;
use crate::search::Solution;

/// All that is left of a search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::search) struct Saved {
    pub(super) stage: Stage,
    /// Whether the walk itself finds the canonical solution.
    pub(super) is_ordered: bool,
    pub(super) parts: Vec<SavedPart>,
    pub(super) best: Option<Found>,
    pub(super) transitions: Transitions,
    /// Some of what the system has answered.
    pub(in crate::search) sample: Sample,
}

/// Some leaves that are left.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SavedPart {
    pub(super) is_next: bool,
    pub(super) leaves: Leaves,
    pub(super) failures: Option<Vec<u64>>,
}

impl Saved {
    /// A search that is still to be begun.
    pub(in crate::search) fn root(problem: &Problem, is_any_optimal: bool) -> Self {
        Saved {
            stage: Stage::first(problem),
            is_ordered: is_ordered(problem, is_any_optimal),
            parts: vec![SavedPart {
                is_next: false,
                leaves: Leaves::root(problem.dimensions().len(), problem.objective()),
                failures: None,
            }],
            best: None,
            transitions: Transitions::default(),
            sample: Sample::default(),
        }
    }

    /// A canonical pass that is still to be made: for the first behaviour of this value and size, if there is
    /// one at all. No behaviour is better.
    pub(in crate::search) fn canonical(problem: &Problem, value: u64, size: u64) -> Self {
        let size = Cost::try_from(size).unwrap_or(Cost::MAX);
        let objective = problem.objective();
        let root = SavedPart {
            is_next: false,
            leaves: Leaves::root(problem.dimensions().len(), objective),
            failures: Some(vec![0; problem.initial_states().len()]),
        };
        Saved {
            stage: Stage::canonical(objective),
            is_ordered: false,
            parts: vec![root],
            best: Some(Found::elsewhere(value, size, None)),
            transitions: Transitions::default(),
            sample: Sample::default(),
        }
    }

    /// The parts with their keys, if they can be of this problem.
    pub(super) fn checked(&self, problem: &Problem) -> Option<Vec<(Key, Part)>> {
        let initials = problem.initial_states().len();
        let part = |(index, part): (u32, &SavedPart)| {
            let leaves = Frontier::checked(part.leaves.clone(), problem)?;
            let failures = part.failures.clone();
            let fits = failures.as_ref().is_none_or(|failures| failures.len() == initials);
            fits.then_some((vec![2 * index + 1], Part { is_next: part.is_next, leaves, failures }))
        };
        (0..).zip(&self.parts).map(part).collect()
    }

    /// Whether it can be what is left of a search for this problem.
    pub(in crate::search) fn is_of(&self, problem: &Problem) -> bool {
        let is_found = |found: &Found| {
            let limits = problem.limits();
            let size = u64::from(found.size);
            // Only what a tree does is a behaviour.
            found.labels.as_ref().is_none_or(|labels| {
                let all: Vec<&Labelled> = labels.iter().collect();
                size <= limits.nodes()
                    && labels.iter().all(|labelled| labelled.is_of(problem))
                    && least_nodes(&all, limits.depth(), size) == Some(size)
            })
        };
        self.best.as_ref().is_none_or(is_found)
            && self.stage.is_of(problem.objective())
            && self.transitions.is_plausible()
            && self.sample.is_of(problem)
            && self.checked(problem).is_some()
    }

    /// The best tree, if it was found by walking, and its value.
    pub(in crate::search) fn best(&self, problem: &Problem) -> Option<Solution> {
        let Found { value, size, labels, .. } = self.best.as_ref()?;
        let tree = realised(problem, labels.as_ref()?, *size);
        Some(Solution { tree, value: *value })
    }

    /// How many leaves there are.
    pub(in crate::search) fn len(&self) -> usize {
        self.parts.iter().map(|part| part.leaves.len()).sum()
    }

    /// The same, but it does not go ahead: the leaves to go ahead from wait with the others of their round.
    pub(in crate::search) fn without_ahead(mut self) -> Self {
        if let Stage::Ahead { nodes, is_canonical } = self.stage {
            self.stage = Stage::round_of(nodes, is_canonical);
            self.parts.retain(|part| part.is_next);
            for part in &mut self.parts {
                part.is_next = false;
            }
        }
        self
    }

    /// Cuts it into up to `count` pieces that take about equal shares of the walk. Of each piece any of the
    /// best solutions will do.
    pub(in crate::search) fn split(&self, count: usize) -> Vec<Saved> {
        let shares = |part: &SavedPart| -> f64 {
            (0..part.leaves.len()).map(|leaf| part.leaves.leaf(leaf).at.share).sum()
        };
        let each = self.parts.iter().map(shares).sum::<f64>() / count as f64;
        let empty = Saved {
            is_ordered: false,
            parts: Vec::new(),
            transitions: Transitions::default(),
            ..self.clone()
        };
        let (mut pieces, mut share) = (vec![empty.clone()], 0.0);
        for part in &self.parts {
            let mut piece = SavedPart { leaves: Leaves::new(part.leaves.dimensions()), ..part.clone() };
            for leaf in 0..part.leaves.len() {
                if share >= each * pieces.len() as f64 && pieces.len() < count {
                    push(&mut pieces, &mut piece);
                    pieces.push(empty.clone());
                }
                piece.leaves.push_from(&part.leaves, leaf);
                share += part.leaves.leaf(leaf).at.share;
            }
            push(&mut pieces, &mut piece);
        }
        pieces.retain(|piece| !piece.parts.is_empty());
        pieces
    }
}

/// Moves some leaves, if there are any, to the last piece.
fn push(pieces: &mut [Saved], part: &mut SavedPart) {
    let empty = SavedPart { leaves: Leaves::new(part.leaves.dimensions()), ..part.clone() };
    let part = std::mem::replace(part, empty);
    if !part.leaves.is_empty()
        && let Some(piece) = pieces.last_mut()
    {
        piece.parts.push(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Objective;

    #[test]
    fn what_is_gone_ahead_from_is_not_split_twice() {
        let part =
            |is_next| SavedPart { is_next, leaves: Leaves::root(2, Objective::survive(9)), failures: None };
        let saved = Saved {
            stage: Stage::Ahead { nodes: 3, is_canonical: false },
            is_ordered: true,
            parts: vec![part(false), part(true)],
            best: None,
            transitions: Transitions::default(),
            sample: Sample::default(),
        };
        let pieces = saved.without_ahead().split(2);
        assert_eq!(pieces.len(), 1);
        assert_eq!((pieces[0].len(), pieces[0].parts[0].is_next), (1, false));
        assert_eq!(pieces[0].stage, Stage::Survive { nodes: 3, only_first: false });
    }
}

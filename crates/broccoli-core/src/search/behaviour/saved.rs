//! All that is left of a search, as a checkpoint or a subproblem holds it.

use serde::{Deserialize, Serialize};

use super::chunk::{Left, Piece, SavedLeft, SavedPending, is_plausible};
use super::frontier::Frontier;
use super::leaves::Leaves;
use super::realise::{Labelled, least_nodes, realised};
use super::recall::Trie;
use super::schedule::{Scout, Stage, scout_of};
use super::score::Score;
use super::task::Found;
use super::transitions::Transitions;
use super::tuning::Tuning;
use super::version_space::Cost;
use crate::problem::Problem;
use crate::search::Solution;
use crate::search::sample::Sample;

/// All that is left of a search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::search) struct Saved {
    pub(super) tuning: Tuning,
    pub(super) stage: Stage,
    pub(super) left: SavedLeft,
    pub(super) scout: Option<(Scout, SavedLeft)>,
    pub(super) chunk: Vec<SavedPending>,
    pub(super) work: u64,
    pub(super) scout_work: u64,
    /// What ends the search, as it is known that nothing is better. Not for a search that is written down.
    #[serde(skip)]
    pub(super) goal: Option<Score>,
    pub(super) best: Option<Found>,
    pub(super) passed_over: Option<u64>,
    pub(super) failures: Vec<u64>,
    pub(super) trie: Trie,
    /// None if it is not known how many there were: a task has failed and is done again, or this is a part of a search.
    pub(super) transitions: Option<Transitions>,
    /// Some of what the system has answered.
    pub(in crate::search) sample: Sample,
}

impl Saved {
    /// A search that is still to be begun.
    pub(in crate::search) fn root(problem: &Problem, tuning: Tuning) -> Self {
        let left = Left::new([Piece::all(Frontier::root(problem))], None).saved();
        Saved {
            tuning,
            stage: Stage::first(problem, &tuning),
            left,
            scout: scout_of(problem, &tuning, 1, false).map(|(scout, left)| (scout, left.saved())),
            chunk: Vec::new(),
            work: 0,
            scout_work: 0,
            goal: None,
            best: None,
            passed_over: None,
            failures: vec![0; problem.initial_states().len()],
            trie: Trie::new(problem),
            transitions: Some(Transitions::default()),
            sample: Sample::default(),
        }
    }

    /// The search for any behaviour of this value and size, if there is one at all. No behaviour is better.
    pub(in crate::search) fn for_equal(problem: &Problem, value: u64, size: u64) -> Self {
        let score =
            |size: u64| Score::new(problem.objective(), value, Cost::try_from(size).unwrap_or(Cost::MAX));
        let larger = Found { score: score(size.saturating_add(1)), labels: None, own_steps: 0 };
        Saved { goal: Some(score(size)), best: Some(larger), ..Saved::root(problem, Tuning::default()) }
    }

    /// What is left, of the search and of its scout, if it can be of this problem.
    pub(super) fn checked(&self, problem: &Problem) -> Option<(Left, Option<(Scout, Left)>)> {
        let left = Left::checked(&self.left, problem)?;
        match &self.scout {
            None => Some((left, None)),
            Some((scout, saved)) => Some((left, Some((*scout, Left::checked(saved, problem)?)))),
        }
    }

    /// Whether it can be what is left of a search for this problem.
    pub(in crate::search) fn is_of(&self, problem: &Problem) -> bool {
        let is_found = |found: &Found| {
            let limits = problem.limits();
            let size = u64::from(found.score.size);
            // Only what a tree does is a behaviour.
            found.labels.as_ref().is_none_or(|labels| {
                let all: Vec<&Labelled> = labels.iter().collect();
                size <= limits.nodes()
                    && labels.iter().all(|labelled| labelled.is_of(problem))
                    && least_nodes(&all, limits.depth(), size) == Some(size)
            })
        };
        let found = self.chunk.iter().filter_map(|pending| pending.found.as_ref());
        found.chain(&self.best).all(is_found)
            && self.stage.is_of(problem.objective())
            && self.failures.len() == problem.initial_states().len()
            && self.failures.iter().chain([&self.work, &self.scout_work]).copied().all(is_plausible)
            && self.chunk.iter().all(|pending| pending.is_of(problem))
            && self.transitions.as_ref().is_none_or(Transitions::is_plausible)
            && self.sample.is_of(problem)
            && self.trie.clone().is_of(problem)
            && self.checked(problem).is_some()
    }

    /// How many leaves there are.
    pub(in crate::search) fn len(&self) -> usize {
        self.parts().map(|(_, leaves)| leaves.len()).sum()
    }

    /// All leaves in their order: whether they are for the next round, and the leaves.
    fn parts(&self) -> impl Iterator<Item = (bool, &Leaves)> {
        let chunk = self.chunk.iter().filter(|pending| !pending.is_scout).flat_map(SavedPending::parts);
        let todo = self.left.todo.iter().map(|leaves| (false, leaves));
        chunk.chain(todo).chain(self.left.next.iter().map(|leaves| (true, leaves)))
    }

    /// Cuts it into up to `count` pieces that take about equal shares of the walk.
    pub(in crate::search) fn split(&self, count: usize) -> Vec<Saved> {
        let share = |leaves: &Leaves, leaf| leaves.leaf(leaf).at.share;
        let all = |leaves: &Leaves| (0..leaves.len()).map(|leaf| share(leaves, leaf)).sum::<f64>();
        let each = self.parts().map(|(_, leaves)| all(leaves)).sum::<f64>() / count as f64;
        let found = self.chunk.iter().filter_map(|pending| pending.found.as_ref());
        let empty = Saved {
            left: SavedLeft::default(),
            scout: None,
            chunk: Vec::new(),
            best: found.chain(&self.best).min_by_key(|found| found.score).cloned(),
            transitions: None,
            ..self.clone()
        };
        let (mut pieces, mut sum) = (vec![empty.clone()], 0.0);
        for (is_next, leaves) in self.parts() {
            let mut is_new = true;
            for leaf in 0..leaves.len() {
                if sum >= each * pieces.len() as f64 && pieces.len() < count {
                    pieces.push(empty.clone());
                    is_new = true;
                }
                if let Some(piece) = pieces.last_mut() {
                    let parts = if is_next { &mut piece.left.next } else { &mut piece.left.todo };
                    if std::mem::take(&mut is_new) {
                        parts.push(Leaves::new(leaves.dimensions()));
                    }
                    parts.iter_mut().last().into_iter().for_each(|part| part.push_from(leaves, leaf));
                }
                sum += share(leaves, leaf);
            }
        }
        pieces.retain(|piece| piece.len() > 0);
        pieces
    }

    /// The best tree, if it was found by walking, and its value.
    pub(in crate::search) fn best(&self, problem: &Problem) -> Option<Solution> {
        let found = self.chunk.iter().filter_map(|pending| pending.found.as_ref());
        let Found { score, labels, .. } = found.chain(&self.best).min_by_key(|found| found.score)?;
        let tree = realised(problem, labels.as_ref()?, score.size);
        Some(Solution { tree, value: score.value(problem.objective()) })
    }
}

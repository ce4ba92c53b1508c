//! The state of a search: all that is left of it and all that it knows. A checkpoint is this, written down; a
//! subproblem is a part of it.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::frontier::Frontier;
use super::hints::Hints;
use super::ladder::Ladder;
use super::realise::{Labelled, is_least};
use super::recall::Trie;
use super::schedule::Round;
use super::score::Score;
use super::task::{Found, Task, What};
use super::transitions::Transitions;
use super::tuning::Tuning;
use super::version_space::Cost;
use crate::problem::Problem;
use crate::search::Solution;
use crate::search::counts::MOST_PLAUSIBLE;
use crate::search::sample::Sample;

/// All that is left of a search, and all that it knows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::search) struct State {
    pub(super) tuning: Tuning,
    pub(super) round: Round,
    pub(super) left: Left,
    /// The local search beside the walk, if there is one.
    pub(super) hints: Option<Hints>,
    /// Others side by side with it, with other random numbers.
    pub(super) climbers: Vec<Hints>,
    /// The walks on coarser grids beside it.
    pub(super) ladder: Ladder,
    /// The tasks of the present chunk, and what has come of them.
    pub(super) chunk: Vec<Task>,
    /// The steps of all tasks that were folded, but for hints.
    pub(super) work: u64,
    /// What ends the search, as it is known that nothing is better. Not for a search that is written down.
    #[serde(skip)]
    pub(super) goal: Option<Score>,
    pub(super) best: Option<Found>,
    /// Per initial state, how often its trace has failed.
    pub(super) failures: Vec<u64>,
    pub(super) trie: Arc<Trie>,
    /// None if it is not known how many there were: a task has failed and is done again, or this is a part of a search.
    pub(super) transitions: Option<Transitions>,
    /// Some of what the system has answered.
    pub(in crate::search) sample: Option<Sample>,
}

impl State {
    /// A search that is still to be begun.
    pub(in crate::search) fn root(problem: &Problem, tuning: Tuning) -> Self {
        State {
            tuning,
            round: Round::first(problem, &tuning),
            left: Left::root(problem),
            hints: Some(Hints::new(problem, &tuning.hints)),
            climbers: Hints::others(problem, &tuning.hints),
            ladder: Ladder::new(problem, &tuning),
            chunk: Vec::new(),
            work: 0,
            goal: None,
            best: None,
            failures: vec![0; problem.initial_states().len()],
            trie: Arc::new(Trie::new(problem)),
            transitions: Some(Transitions::default()),
            sample: None,
        }
    }

    /// The search for any behaviour of this value and size, if there is one at all. No behaviour is better.
    pub(in crate::search) fn for_equal(problem: &Problem, value: u64, size: u64) -> Self {
        let score =
            |size: u64| Score::new(problem.objective(), value, Cost::try_from(size).unwrap_or(Cost::MAX));
        let larger = Found::of_start(score(size.saturating_add(1)));
        let root = State::root(problem, Tuning::default());
        State {
            goal: Some(score(size)),
            best: Some(larger),
            hints: None,
            climbers: Vec::new(),
            ladder: Ladder::default(),
            ..root
        }
    }

    /// The best behaviour so far, also of a chunk that is not folded.
    pub(super) fn best_found(&self) -> Option<&Found> {
        let found = self.chunk.iter().filter_map(|task| task.found.as_ref());
        found.chain(&self.best).min_by_key(|found| found.score)
    }

    /// The best tree, if it was found by walking, and its value.
    pub(in crate::search) fn best(&self, problem: &Problem) -> Option<Solution> {
        let found = self.best_found()?;
        Some(Solution { tree: found.tree(problem)?, value: found.score.value(problem.objective()) })
    }

    /// Only the labels of leaves are known from now on, and not their places.
    pub(super) fn forget_places(&mut self) {
        let rungs = self.ladder.rungs.iter_mut();
        let lefts = rungs.map(|rung| &mut rung.left).chain([&mut self.left]);
        let left = lefts.flat_map(|left| left.todo.iter_mut().chain(&mut left.next));
        let chunk = self.chunk.iter_mut().flat_map(|task| task.todo.iter_mut().chain(&mut task.next));
        let mut known = Vec::new();
        left.chain(chunk).for_each(|frontier| frontier.forget_places(&mut known));
        let trie = Arc::make_mut(&mut self.trie);
        trie.forget_places();
        self.ladder.rungs.iter_mut().for_each(|rung| Arc::make_mut(&mut rung.trie).forget_places());
        for task in &mut self.chunk {
            let rung = task.rung.and_then(|rung| self.ladder.rungs.get(rung));
            task.brief.trie = Arc::clone(rung.map_or(&self.trie, |rung| &rung.trie));
            task.added.iter_mut().for_each(Trie::forget_places);
        }
    }

    /// The traces that are remembered.
    pub(in crate::search) fn trie(&self) -> &Trie {
        &self.trie
    }

    /// Whether it can be the state of a search for this problem.
    pub(in crate::search) fn is_of(&self, problem: &Problem) -> bool {
        let is_found = |found: &Found| {
            let limits = problem.limits();
            let size = u64::from(found.score.size);
            match &found.what {
                What::Start => true,
                What::Tree(tree, labels) => {
                    let is_own = |one: &Labelled| one.is_of(problem) && tree.action(&one.cell) == one.label;
                    tree.is_of(problem) && tree.size() as u64 == size && labels.iter().all(is_own)
                }
                // Only what a tree does is a behaviour.
                What::Labels(labels) => {
                    size <= limits.nodes()
                        && labels.iter().all(|labelled| labelled.is_of(problem))
                        && is_least(problem, labels, size)
                }
            }
        };
        let mut found = self.chunk.iter().filter_map(|task| task.found.as_ref()).chain(&self.best);
        let mut counts = self.failures.iter().chain([&self.work]);
        found.all(is_found)
            && counts.all(|&count| count < MOST_PLAUSIBLE)
            && self.failures.len() == problem.initial_states().len()
            && self.round.is_of(problem)
            && self.left.is_of(problem)
            && self.hints.iter().chain(&self.climbers).all(|hints| hints.is_of(problem))
            && self.chunk.iter().all(|task| task.climber <= self.climbers.len())
            && self.chunk.iter().filter(|task| task.rung.is_none()).all(|task| task.is_of(problem))
            && self.ladder.is_of(problem, self.chunk.iter().filter(|task| task.rung.is_some()))
            && self.transitions.as_ref().is_none_or(Transitions::is_plausible)
            && self.sample.as_ref().is_none_or(|sample| sample.is_of(problem))
            && (*self.trie).clone().restore(problem)
    }

    /// How many leaves there are.
    pub(in crate::search) fn len(&self) -> usize {
        self.frontiers().map(|(_, frontier)| frontier.len()).sum()
    }

    /// All leaves in their order: whether they are for the next round, and the leaves.
    fn frontiers(&self) -> impl Iterator<Item = (bool, &Frontier)> {
        let tasks = || self.chunk.iter().filter(|task| task.rung.is_none());
        let todo = tasks().flat_map(|task| task.todo.iter().chain(&task.waiting)).chain(&self.left.todo);
        let next = tasks().flat_map(|task| &task.next).chain(&self.left.next);
        todo.map(|frontier| (false, frontier)).chain(next.map(|frontier| (true, frontier)))
    }

    /// Cuts it into up to `count` pieces that take about equal shares of the walk.
    pub(in crate::search) fn split(&self, count: usize) -> Vec<State> {
        let share = |frontier: &Frontier, leaf: u32| frontier.leaves.leaf(leaf as usize).at.share;
        let all =
            |(_, frontier)| Frontier::left(frontier).iter().map(|&leaf| share(frontier, leaf)).sum::<f64>();
        let each = self.frontiers().map(all).sum::<f64>() / count as f64;
        let empty = State {
            left: Left::default(),
            hints: None,
            climbers: Vec::new(),
            ladder: Ladder::default(),
            chunk: Vec::new(),
            best: self.best_found().cloned(),
            transitions: None,
            ..self.clone()
        };
        let (mut pieces, mut sum) = (vec![empty; count], 0.0);
        let piece_at = |sum: f64| ((sum / each) as usize).min(count - 1);
        for (is_next, frontier) in self.frontiers() {
            let mut frontier = frontier.clone();
            while !frontier.is_empty() {
                let (piece, mut taken) = (piece_at(sum), 0);
                while let Some(&leaf) =
                    frontier.left().get(taken).filter(|_| taken == 0 || piece_at(sum) == piece)
                {
                    sum += share(&frontier, leaf);
                    taken += 1;
                }
                let (part, left) = (frontier.take_first(taken), &mut pieces[piece].left);
                if is_next { left.next.push(part) } else { left.todo.push_back(part) }
            }
        }
        pieces.retain(|piece| piece.len() > 0);
        pieces
    }
}

/// What is left of a round, and for the next one.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Left {
    pub(super) todo: VecDeque<Frontier>,
    pub(super) next: Vec<Frontier>,
    /// The leaves that were gone on with, and the steps that this took.
    leaves: u64,
    steps: u64,
}

impl Left {
    /// The beginning of a round: leaves to go on with.
    pub(super) fn new(todo: impl IntoIterator<Item = Frontier>) -> Self {
        Left { todo: todo.into_iter().collect(), ..Left::default() }
    }

    /// Everything is left to do.
    pub(super) fn root(problem: &Problem) -> Self {
        Left::new([Frontier::root(problem)])
    }

    /// What leaves take in memory: those of this round, and those for the next one.
    pub(super) fn bytes(&self) -> (usize, usize) {
        (Frontier::bytes(self.todo.iter()), Frontier::bytes(self.next.iter()))
    }

    /// All that is left, of this round and for the next.
    pub(super) fn take_all(&mut self) -> Vec<Frontier> {
        self.todo.drain(..).chain(self.next.drain(..)).collect()
    }

    /// Takes the leaves of up to so many tasks, each of which is to make about so many steps. If they are few they may be
    /// spread over all tasks.
    pub(super) fn take_tasks(&mut self, count: usize, steps: u64, is_spread: bool) -> Vec<Frontier> {
        let mut each = match count {
            1 => usize::MAX,
            _ => usize::try_from(steps.saturating_mul(self.leaves) / self.steps.max(1)).unwrap_or(usize::MAX),
        };
        if is_spread {
            each = each.min(self.todo.iter().map(Frontier::len).sum::<usize>() / count);
        }
        let mut tasks = Vec::new();
        while tasks.len() < count
            && let Some(first) = self.todo.front_mut()
        {
            tasks.push(first.take_first(each.max(1)));
            if first.is_empty() {
                self.todo.pop_front();
            }
        }
        tasks
    }

    /// Puts back what tasks have left, in their order.
    pub(super) fn fold(&mut self, tasks: Vec<Task>) {
        let (mut todo, mut waiting) = (Vec::new(), Vec::new());
        for mut task in tasks {
            let rest = task.todo.pop_back();
            let left = rest.as_ref().map_or(0, |rest| rest.len() as u64);
            self.leaves += task.leaves.saturating_sub(left);
            self.steps += task.work;
            // One part of each kind for a task, however often it was interrupted: other tasks begin with parts.
            todo.extend(Frontier::join(task.todo.into()));
            todo.extend(rest.filter(|rest| !rest.is_empty()));
            waiting.extend(task.waiting);
            self.next.extend(Frontier::join(task.next));
        }
        let waiting = Frontier::join(waiting).map(Frontier::longest_first);
        self.todo = waiting.into_iter().chain(todo).chain(self.todo.drain(..)).collect();
    }

    /// Whether there is something to do in this round.
    pub(super) fn has_tasks(&self) -> bool {
        !self.todo.is_empty()
    }

    pub(super) fn is_of(&self, problem: &Problem) -> bool {
        self.leaves.max(self.steps) < MOST_PLAUSIBLE
            && self.todo.iter().chain(&self.next).all(|frontier| frontier.leaves.are_of(problem))
    }
}

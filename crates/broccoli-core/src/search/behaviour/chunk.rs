//! Chunks: what is left of a round, the next tasks of it, and what comes of them.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::frontier::{Agenda, Frontier};
use super::lane::MOST_PLAUSIBLE;
use super::leaves::Leaves;
use super::task::{Done, Found, Task};
use crate::problem::Problem;

/// Leaves in the order in which they are to be gone on with.
pub(super) struct Piece {
    pub(super) frontier: Frontier,
    pub(super) agenda: Agenda,
}

impl Piece {
    /// All leaves of a frontier, in their order.
    pub(super) fn all(frontier: Frontier) -> Self {
        Piece { agenda: frontier.in_order(), frontier }
    }

    /// The leaves alone, in one frontier.
    fn leaves(&self) -> Leaves {
        self.frontier.leaves.part(self.agenda.as_slice())
    }
}

/// What is left of a round, and for the next one.
#[derive(Default)]
pub(super) struct Left {
    todo: VecDeque<Piece>,
    next: Vec<Frontier>,
    /// The leaves that were gone on with, and the steps that this took.
    leaves: u64,
    steps: u64,
}

/// The same, as it is written down.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct SavedLeft {
    pub(super) todo: Vec<Leaves>,
    pub(super) next: Vec<Leaves>,
    leaves: u64,
    steps: u64,
}

impl Left {
    /// The beginning of a round: leaves in their order, and some that are left for the next one.
    pub(super) fn new(todo: impl IntoIterator<Item = Piece>, next: Option<Frontier>) -> Self {
        Left { todo: todo.into_iter().collect(), next: next.into_iter().collect(), leaves: 0, steps: 0 }
    }

    /// Whether nothing is left of the round.
    pub(super) fn is_over(&self) -> bool {
        self.todo.is_empty()
    }

    /// Nothing of the round is of interest any more.
    pub(super) fn clear(&mut self) {
        self.todo.clear();
    }

    /// What leaves take in memory: those of this round, and those for the next one.
    pub(super) fn bytes(&self) -> (usize, usize) {
        let todo = self.todo.iter().map(|piece| piece.frontier.bytes()).sum();
        (todo, self.next.iter().map(Frontier::bytes).sum())
    }

    /// The leaves for the next round, in several parts.
    pub(super) fn take_next(&mut self) -> Vec<Frontier> {
        std::mem::take(&mut self.next)
    }

    /// Only the labels of leaves are known from now on, and not their places.
    pub(super) fn forget_places(&mut self) {
        let forget = |frontier: &mut Frontier| {
            *frontier = Frontier::from_leaves((*frontier.leaves).clone());
        };
        self.todo.iter_mut().for_each(|piece| forget(&mut piece.frontier));
        self.next.iter_mut().for_each(forget);
    }

    /// All that is left, of this round and for the next.
    pub(super) fn take_all(&mut self) -> Vec<Frontier> {
        let todo = self.todo.drain(..).map(|piece| piece.frontier.part(piece.agenda.as_slice()));
        todo.chain(self.next.drain(..)).collect()
    }

    /// Takes the leaves of up to so many tasks, each of which is to make about so many steps.
    pub(super) fn take_tasks(&mut self, count: usize, steps: u64) -> Vec<Piece> {
        let each = match count {
            1 => usize::MAX,
            _ => usize::try_from(steps.saturating_mul(self.leaves) / self.steps.max(1)).unwrap_or(usize::MAX),
        };
        let mut tasks = Vec::new();
        while tasks.len() < count
            && let Some(first) = self.todo.front_mut()
        {
            let agenda = first.agenda.take_first(each.max(1));
            tasks.push(Piece { frontier: first.frontier.clone(), agenda });
            if first.agenda.len() == 0 {
                self.todo.pop_front();
            }
        }
        tasks
    }

    /// Puts back what tasks have left, in their order.
    pub(super) fn fold(&mut self, tasks: Vec<Pending>) {
        let mut todo = VecDeque::new();
        for Pending { task, rest, next, leaves, work, .. } in tasks {
            self.leaves += leaves.saturating_sub(task.agenda.len() as u64);
            self.steps += work;
            todo.extend(rest.map(Piece::all));
            // One part for a task, however often it was interrupted: the tasks of the next round begin with parts.
            let next = Frontier::join(task.frontier.leaves.dimensions(), next);
            self.next.extend((!next.is_empty()).then_some(next));
            if task.agenda.len() > 0 {
                todo.push_back(Piece { frontier: task.frontier, agenda: task.agenda });
            }
        }
        todo.append(&mut self.todo);
        self.todo = todo;
    }

    pub(super) fn saved(&self) -> SavedLeft {
        SavedLeft {
            todo: self.todo.iter().map(Piece::leaves).collect(),
            next: self.next.iter().map(|next| (*next.leaves).clone()).collect(),
            leaves: self.leaves,
            steps: self.steps,
        }
    }

    /// What was written down, if it can be of this problem.
    pub(super) fn checked(saved: &SavedLeft, problem: &Problem) -> Option<Self> {
        if ![saved.leaves, saved.steps].into_iter().all(is_plausible) {
            return None;
        }
        let checked = |leaves: &Leaves| Frontier::checked(leaves.clone(), problem);
        let todo = saved.todo.iter().map(|leaves| checked(leaves).map(Piece::all));
        Some(Left {
            todo: todo.collect::<Option<_>>()?,
            next: saved.next.iter().map(checked).collect::<Option<_>>()?,
            leaves: saved.leaves,
            steps: saved.steps,
        })
    }
}

/// Whether a number can be a count: it is not so large that more could not be added.
pub(super) fn is_plausible(count: u64) -> bool {
    count < MOST_PLAUSIBLE
}

/// A task of the present chunk, and what has come of it so far.
pub(super) struct Pending {
    pub(super) task: Task,
    pub(super) is_scout: bool,
    /// How many leaves it began with, and how many of these are left: the last ones of its agenda.
    leaves: u64,
    own: usize,
    pub(super) work: u64,
    pub(super) found: Option<Found>,
    next: Vec<Frontier>,
    /// What it had begun when its budget was spent.
    rest: Option<Frontier>,
    pub(super) is_done: bool,
}

/// The same, as it is written down.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SavedPending {
    pub(super) is_scout: bool,
    pub(super) is_done: bool,
    leaves: u64,
    own: usize,
    work: u64,
    budget: u64,
    pub(super) found: Option<Found>,
    todo: Leaves,
    rest: Option<Leaves>,
    next: Vec<Leaves>,
    failures: Vec<u64>,
}

impl SavedPending {
    /// Its leaves in their order: whether they are for the next round, and the leaves.
    pub(super) fn parts(&self) -> impl Iterator<Item = (bool, &Leaves)> {
        let todo = self.rest.iter().chain([&self.todo]).map(|leaves| (false, leaves));
        todo.chain(self.next.iter().map(|leaves| (true, leaves)))
    }

    /// Whether it can be of this problem.
    pub(super) fn is_of(&self, problem: &Problem) -> bool {
        let mut parts = self.parts();
        let counts = self.failures.iter().chain([&self.leaves, &self.work]);
        self.failures.len() == problem.initial_states().len()
            && counts.copied().all(is_plausible)
            && parts.all(|(_, leaves)| leaves.are_of(problem))
    }
}

impl Pending {
    pub(super) fn new(task: Task, is_scout: bool) -> Self {
        let own = task.agenda.len();
        Pending {
            task,
            is_scout,
            leaves: own as u64,
            own,
            work: 0,
            found: None,
            next: Vec::new(),
            rest: None,
            is_done: false,
        }
    }

    /// Only the labels of its leaves are known from now on, and not their places.
    pub(super) fn forget_places(&mut self) {
        let forget = |frontier: &mut Frontier| {
            *frontier = Frontier::from_leaves((*frontier.leaves).clone());
        };
        forget(&mut self.task.frontier);
        self.rest.iter_mut().chain(&mut self.next).for_each(forget);
        if let Some(added) = &mut self.task.added {
            added.forget_places();
        }
    }

    /// Takes what came of the task. If it was interrupted the rest is still to be done. In the end it has left the same,
    /// and in the same parts, as if it had not been: what it had begun, and the leaves that it had not.
    pub(super) fn take(&mut self, done: Done, dimensions: usize) {
        let task = &mut self.task;
        self.work += done.work;
        task.budget = task.budget.saturating_sub(done.work);
        task.failures = done.failures.into();
        task.added = Some(done.added);
        if let Some(found) = done.found {
            task.incumbent = Some(found.score);
            self.found = Some(found);
        }
        if !done.next.is_empty() {
            self.next.push(done.next);
        }
        self.is_done = done.interrupted.is_none() || done.rest.is_empty() && done.agenda.len() == 0;
        task.agenda = done.agenda;
        self.own = self.own.min(task.agenda.len());
        if self.is_done {
            let begun = task.agenda.take_first(task.agenda.len() - self.own);
            let begun = task.frontier.part(begun.as_slice());
            let rest = Frontier::join(dimensions, vec![done.rest, begun]);
            self.rest = Some(rest).filter(|rest| !rest.is_empty());
        } else if !done.rest.is_empty() {
            let left = task.frontier.part(task.agenda.as_slice());
            let left = Piece::all(Frontier::join(dimensions, vec![done.rest, left]));
            (task.frontier, task.agenda) = (left.frontier, left.agenda);
        }
    }

    pub(super) fn saved(&self) -> SavedPending {
        let task = &self.task;
        SavedPending {
            is_scout: self.is_scout,
            is_done: self.is_done,
            leaves: self.leaves,
            own: self.own,
            work: self.work,
            budget: task.budget,
            found: self.found.clone(),
            todo: task.frontier.leaves.part(task.agenda.as_slice()),
            rest: self.rest.as_ref().map(|rest| (*rest.leaves).clone()),
            next: self.next.iter().map(|next| (*next.leaves).clone()).collect(),
            failures: task.failures.to_vec(),
        }
    }

    /// What was written down, if it can be of this problem; a task like `like` in all that is not written down.
    pub(super) fn checked(saved: &SavedPending, problem: &Problem, like: Task) -> Option<Self> {
        let checked = |leaves: &Leaves| Frontier::checked(leaves.clone(), problem);
        let frontier = checked(&saved.todo)?;
        let failures: Arc<[u64]> = saved.failures.clone().into();
        if failures.len() != problem.initial_states().len() {
            return None;
        }
        let incumbent = saved.found.as_ref().map(|found| found.score).or(like.incumbent);
        let agenda = frontier.in_order();
        let own = saved.own.min(agenda.len());
        let task = Task { frontier, agenda, budget: saved.budget, incumbent, failures, ..like };
        Some(Pending {
            task,
            is_scout: saved.is_scout,
            leaves: saved.leaves,
            own,
            work: saved.work,
            found: saved.found.clone(),
            next: saved.next.iter().map(checked).collect::<Option<_>>()?,
            rest: match &saved.rest {
                Some(rest) => Some(checked(rest)?),
                None => None,
            },
            is_done: saved.is_done,
        })
    }
}

//! A task: what is done at a time, a function of nothing but what it is given.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::frontier::Frontier;
use super::hints::{Hints, Ranked};
use super::ladder::Grid;
use super::realise::{Labelled, is_least, realised, settled};
use super::recall::Trie;
use super::score::Score;
use super::walk::Job;
use crate::problem::{Problem, StopReason};
use crate::search::counts::MOST_PLAUSIBLE;
use crate::tree::Tree;

/// Some leaves to go on from, with all that what comes of them depends on; and what has come of them so far. One that
/// was interrupted goes on where it was.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Task {
    /// Where the local search is, if it is a task for that.
    pub(super) hints: Option<Box<Hints>>,
    /// Which of those side by side it is then.
    pub(super) climber: usize,
    /// Which rung of the ladder it is for, if it is for one.
    pub(super) rung: Option<usize>,
    /// What is left of it: what it had begun, and last the leaves that it was given, of which there were so many.
    pub(super) todo: VecDeque<Frontier>,
    pub(super) leaves: u64,
    /// The steps that it may still make.
    pub(super) budget: u64,
    /// Per initial state, how often its trace has failed.
    pub(super) failures: Vec<u64>,
    pub(super) is_done: bool,

    /// The best behaviour that was found, if any is better than the incumbent.
    pub(super) found: Option<Found>,
    /// Leaves for the next round, and those that wait until the chunk is folded.
    pub(super) next: Vec<Frontier>,
    pub(super) waiting: Vec<Frontier>,
    /// The steps made.
    pub(super) work: u64,

    /// What follows from the state of the search.
    #[serde(skip)]
    pub(super) brief: Brief,
    /// What it adds to the remembered traces.
    #[serde(skip)]
    pub(super) added: Option<Trie>,
    /// How many queries may be made, if that is limited; and why it was stopped, if it was.
    #[serde(skip)]
    pub(super) quota: Option<u64>,
    #[serde(skip)]
    pub(super) stopped: Option<StopReason>,
}

/// A short task goes on beyond its budget for one part in so many of the steps that it takes to come back to where it is.
pub(super) const WAY_PART: u64 = 8;

/// What a task is to do, and what it knows: the same for all tasks of a kind in a chunk.
#[derive(Clone, Debug, Default)]
pub(super) struct Brief {
    pub(super) job: Job,
    /// What is to be improved on, and what ends the task at once, as nothing that comes after it is of interest.
    pub(super) incumbent: Option<Score>,
    pub(super) goal: Option<Score>,
    /// Remembered traces, and how much memory they may take.
    pub(super) trie: Arc<Trie>,
    pub(super) recall_bytes: usize,
    /// Whether tasks are short: those for hints end within a trace, too, and none far from its beginning for a few steps.
    pub(super) is_short: bool,
    /// Whether the walk writes its first traces down, too.
    pub(super) writes_first: bool,
    /// The grid that is walked on, if that is a coarser one.
    pub(super) grid: Option<Arc<Grid>>,
}

impl Task {
    /// What is to be improved on.
    pub(super) fn incumbent(&self) -> Option<Score> {
        self.found.as_ref().map(|found| found.score).or(self.brief.incumbent)
    }

    /// Whether it can be of this problem.
    pub(super) fn is_of(&self, problem: &Problem) -> bool {
        let mut counts = self.failures.iter().chain([&self.leaves, &self.work, &self.budget]);
        let mut leaves = self.todo.iter().chain(&self.next).chain(&self.waiting);
        self.failures.len() == problem.initial_states().len()
            && self.hints.as_ref().is_none_or(|hints| hints.is_of(problem))
            && counts.all(|&count| count < MOST_PLAUSIBLE)
            && leaves.all(|frontier| frontier.leaves.are_of(problem))
    }
}

/// A behaviour that was found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Found {
    pub(super) score: Score,
    pub(super) what: What,
    /// The steps of its trace that no smaller tree makes.
    pub(super) own_steps: u64,
}

/// How a behaviour is known.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum What {
    /// It is that of the tree that the search was given.
    Start,
    /// By its labels.
    Labels(Vec<Labelled>),
    /// By a tree, that of a hint, and by its labels: there may be a smaller tree that agrees with them. Of one that was
    /// found on a coarser grid no labels are known.
    Tree(Ranked, Vec<Labelled>),
}

impl Found {
    /// The tree that the search was given, or one that it need not find.
    pub(super) fn of_start(score: Score) -> Self {
        Found { score, what: What::Start, own_steps: 0 }
    }

    /// Its tree, unless that is the one that the search was given.
    pub(super) fn tree(&self, problem: &Problem) -> Option<Tree> {
        match &self.what {
            What::Start => None,
            What::Labels(labels) => Some(realised(problem, labels, self.score.size)),
            What::Tree(tree, labels) => Some(settled(problem, tree.tree(problem), labels)),
        }
    }

    /// The first of the smallest trees that act like it, if it is one of the smallest.
    pub(super) fn first_tree(&self, problem: &Problem) -> Option<Tree> {
        let size = u64::from(self.score.size);
        match &self.what {
            What::Tree(_, labels) if !labels.is_empty() && is_least(problem, labels, size) => {
                Some(realised(problem, labels, self.score.size))
            }
            _ => self.tree(problem),
        }
    }
}

//! The search itself: one round after the other, each in chunks of tasks.
//!
//! A round goes on from the leaves of the last one, within wider limits; what goes beyond them is left for the next. A
//! chunk is the next tasks of a round. Each task sees the incumbent and the counts of failures as they were when the
//! chunk began, and nothing of the other tasks; what comes of them is folded in their order. So all that is found, and
//! what it takes, depends on the problem and the [`Tuning`](super::Tuning) alone, and not on who does the tasks.

mod ladder;
mod memory;
mod report;

use std::sync::Arc;
use std::thread::Scope;

use super::Options;
use super::bounds::Store;
use super::frontier::Frontier;
use super::hints::{Hints, Ranked};
use super::lane::Setting;
use super::realise::is_least;
use super::schedule::{Round, most_nodes};
use super::score::Score;
use super::state::State;
use super::task::{Brief, Found, Task, What};
use super::team::{Board, Team};
use super::version_space::Cost;
use crate::problem::{Objective, Problem, RunError, StopReason};
use crate::search::progress::Progress;
use crate::search::sample;

/// The limit on queries is near if there are fewer left than so many times the steps of a chunk.
const NEAR_LIMIT: u64 = 8;

/// A task for hints that is alone has one part in so many of the steps of a chunk, at most.
const HINT_PARTS: u64 = 8;

/// Leaves are few if there are fewer than so many for each of the local searches side by side.
const FEW_LEAVES: usize = 4;

/// A search.
pub(super) struct Rounds<'s, 'e, 'p, 'o, S: Store> {
    problem: &'p Problem,
    options: &'s Options,
    progress: &'s mut Progress<'o>,
    board: &'s Board,
    team: Team<'s, 'e, 'p, S>,
    sample: Option<sample::Shared>,
    state: State,
}

impl<'s, 'e, 'p: 's, 'o: 'p, S: Store> Rounds<'s, 'e, 'p, 'o, S> {
    /// A search that goes on with what is left. The threads of the team belong to the scope.
    pub(super) fn new(
        options: &'s Options,
        progress: &'s mut Progress<'o>,
        mut state: State,
        setting: Setting<'p>,
        board: &'s Board,
        scope: &'s Scope<'s, 'e>,
    ) -> Result<Self, RunError> {
        state.tuning = state.tuning.bounded();
        state.forget_places();
        Arc::make_mut(&mut state.trie).restore(setting.problem);
        state.ladder.restore(setting.problem);
        if let Some((tree, traces)) = &options.start {
            state.trie = Arc::new(traces.clone());
            let tree = Ranked::of(setting.problem, tree);
            tree.into_iter().zip(&mut state.hints).for_each(|(tree, hints)| hints.adopt(tree));
        }
        let (problem, sample) = (setting.problem, setting.sample.clone());
        let team = Team::new(setting, board, scope)?;
        let mut rounds = Rounds { problem, options, progress, board, team, sample, state };
        if rounds.state.best_found().is_none() {
            rounds.take_start();
        }
        let briefs: Vec<Brief> = rounds.state.chunk.iter().map(|task| rounds.brief_of(task)).collect();
        rounds.state.chunk.iter_mut().zip(briefs).for_each(|(task, brief)| task.brief = brief);
        rounds.tell_round();
        rounds.progress.look_at_gap();
        Ok(rounds)
    }

    /// The tree to start from is the first incumbent.
    fn take_start(&mut self) {
        if let Some((value, size)) = self.progress.incumbent() {
            let size = Cost::try_from(size).unwrap_or(Cost::MAX);
            let score = Score::new(self.problem.objective(), value, size);
            self.tell(Found::of_start(score));
        }
    }

    /// One round after the other, each in chunks of tasks, until nothing better can be found. When the search is
    /// stopped, what is left is written down.
    pub(super) fn search(mut self) -> Result<(), RunError> {
        let ended = loop {
            let Some(tasks) = self.next_tasks() else { break Ok(()) };
            // What is remembered may be enough to find another tree: the first one was wanted.
            if self.progress.gate().closed() == Some(StopReason::First) {
                self.keep();
                break Err(RunError::Stopped(StopReason::First));
            }
            let Rounds { team, progress, board, .. } = &mut self;
            let mut is_checkpoint_due = false;
            let mut look = || {
                progress.walked(board.counts());
                is_checkpoint_due = is_checkpoint_due || progress.is_checkpoint_due();
                if is_checkpoint_due {
                    board.pause();
                }
            };
            let done = team.perform(tasks, &mut look);
            let taken = self.take_done(done);
            self.report();
            if let Err(error) = taken {
                self.keep();
                break Err(error);
            }
            self.fold_if_done();
            if is_checkpoint_due {
                self.keep();
            }
        };
        self.report();
        self.conclude(&ended);
        ended
    }

    /// The tasks that come next: those of the chunk that are not done, or else of the next chunk or round. None if the
    /// search is over.
    fn next_tasks(&mut self) -> Option<Vec<Task>> {
        self.fold_if_done();
        while self.state.chunk.is_empty() {
            if !self.state.left.todo.is_empty() {
                self.state.chunk = self.next_chunk();
            } else if !self.next_round() {
                return None;
            }
        }
        Some(self.open_tasks())
    }

    /// Begins the next round, if there is one; says whether.
    fn next_round(&mut self) -> bool {
        let State { round, tuning, best, left, goal, .. } = &mut self.state;
        let next = std::mem::take(&mut left.next);
        let best = best.as_ref().map(|best| best.score);
        if next.is_empty() || has_reached(best, *goal) {
            return false;
        }
        let bytes = Frontier::bytes(next.iter());
        let Some(after) = round.after(self.problem, tuning, best, bytes) else { return false };
        if round.cut < u64::MAX && self.problem.objective().is_plain() {
            self.progress.bound(round.cut.saturating_add(1));
        }
        self.begin_round(after, next);
        true
    }

    fn begin_round(&mut self, round: Round, leaves: Vec<Frontier>) {
        self.state.round = round;
        self.state.left = round.begin(self.problem, &self.state.tuning, leaves);
        self.tell_round();
    }

    fn tell_round(&mut self) {
        let Round { cut, nodes, .. } = self.state.round;
        match self.problem.objective() {
            Objective::Reach { horizon, .. } => self.progress.horizon(cut.min(horizon)),
            _ => self.progress.size(u64::from(nodes.min(most_nodes(self.problem)))),
        }
    }

    /// The next tasks: as many, and as long, as what has been done makes worthwhile.
    fn next_chunk(&mut self) -> Vec<Task> {
        let State { tuning, work, hints, .. } = &self.state;
        let (steps, count) = tuning.chunk(*work);
        let best = self.state.best.as_ref().map(|best| best.score);
        let due = hints.as_ref().map_or(0, |hints| hints.due(self.problem, *work, best, tuning));
        if tuning.first_tasks > 1 {
            return self.wide_chunk(steps, count, due);
        }
        // What hints find is known when the chunk is folded: alone they are not to be long.
        let most = if count == 1 { steps / HINT_PARTS } else { steps };
        let longest = most.max(tuning.least_chunk);
        let rung = self.ladder_task(longest);
        let is_behind = due > most || rung.as_ref().is_some_and(|&(_, due)| due > most);
        // It is the longest, so it comes first: others can be done beside it.
        let mut chunk = self.hint_tasks(due.min(1) as usize, due.min(longest));
        chunk.extend(rung.map(|(task, _)| task));
        // A lone one waits for what it finds, and so do all if hints are behind.
        if chunk.is_empty() || count > 1 && !is_behind {
            let each = steps / count as u64;
            let leaves = self.state.left.take_tasks(count, each, false);
            chunk.extend(leaves.into_iter().map(|leaves| self.task(vec![leaves], each)));
        }
        chunk
    }

    /// The next tasks where those who do them mostly wait: walk, hints and ladder do not wait for each other. As long as
    /// there are few leaves hints do what else nobody would; but not for longer than the walk, which waits for them.
    fn wide_chunk(&mut self, steps: u64, count: usize, due: u64) -> Vec<Task> {
        let each = (steps / count as u64).max(1);
        let climbers = self.state.tuning.hints.climbers;
        if due > steps {
            // Hints are behind: the walk waits for them.
            return self.hint_tasks(climbers, (steps / HINT_PARTS).max(1));
        }
        let leaves = self.state.left.take_tasks(count, each, true);
        let is_narrow = leaves.len() < FEW_LEAVES * climbers;
        let longest = if is_narrow { each } else { (steps / HINT_PARTS).max(1) };
        let wanted = usize::try_from(due.div_ceil(longest)).unwrap_or(usize::MAX);
        let mut chunk = match leaves.len().next_multiple_of(climbers) - leaves.len() {
            idle if is_narrow && idle > 0 => self.hint_tasks(idle, longest),
            _ => self.hint_tasks(wanted, due.min(longest)),
        };
        chunk.extend(self.ladder_task(longest).map(|(task, _)| task));
        chunk.extend(leaves.into_iter().map(|leaves| self.task(vec![leaves], each)));
        chunk
    }

    /// Tasks for up to so many local searches side by side.
    fn hint_tasks(&self, count: usize, budget: u64) -> Vec<Task> {
        let all = self.state.hints.iter().chain(&self.state.climbers).enumerate();
        let hints = |hints: &Hints| Some(Box::new(hints.clone()));
        let task = |(climber, one)| Task { hints: hints(one), climber, ..self.task(Vec::new(), budget) };
        all.take(count).map(task).collect()
    }

    fn task(&self, leaves: Vec<Frontier>, budget: u64) -> Task {
        let (brief, failures) = (self.brief(), self.state.failures.clone());
        let (leaves, todo) = (leaves.iter().map(Frontier::len).sum::<usize>() as u64, leaves.into());
        Task { todo, leaves, budget, failures, brief, ..Task::default() }
    }

    fn brief_of(&self, task: &Task) -> Brief {
        task.rung.map_or_else(|| self.brief(), |rung| self.brief_of_rung(rung))
    }

    /// What follows for a task from the state of the search.
    fn brief(&self) -> Brief {
        let State { round, best, trie, .. } = &self.state;
        Brief {
            job: round.job(self.problem),
            incumbent: best.as_ref().map(|best| best.score),
            goal: self.round_goal(),
            trie: Arc::clone(trie),
            recall_bytes: self.recall_bytes(),
            is_short: self.state.tuning.first_tasks > 1,
            writes_first: self.writes_first(),
            grid: None,
        }
    }

    /// What ends the round: of two scores, the worse one.
    fn round_goal(&self) -> Option<Score> {
        self.state.round.goal(self.problem).max(self.state.goal)
    }

    /// The tasks that are still to be done. If queries are limited each may make an equal part of them; and when the
    /// limit is near, only the first is done.
    fn open_tasks(&self) -> Vec<Task> {
        let mut tasks: Vec<Task> = self.state.chunk.iter().filter(|task| !task.is_done).cloned().collect();
        let left = self.progress.gate().left();
        // To come back to a state may take queries, too.
        // One that has spent its budget may still have to go on for a while.
        let steps = tasks.iter().fold(0_u64, |sum, task| sum.saturating_add(task.budget.max(1)));
        if left.is_some_and(|left| left / NEAR_LIMIT < steps) {
            tasks.truncate(1);
        }
        let count = tasks.len() as u64;
        tasks.iter_mut().for_each(|task| task.quota = left.map(|left| left / count));
        tasks
    }

    /// Takes what came of the tasks that were still to be done. One that has failed is left as it was.
    fn take_done(&mut self, done: Vec<Result<Task, RunError>>) -> Result<(), RunError> {
        let is_limit_reached = self.progress.gate().left() == Some(0);
        let mut ended = Ok(());
        let open = self.state.chunk.iter_mut().filter(|task| !task.is_done);
        for (task, done) in open.zip(done) {
            match done {
                Ok(done) => {
                    *task = done;
                    let stopped = task.stopped.take().filter(|_| !task.is_done);
                    // If others have made fewer queries than they might, they are shared out again.
                    let stopped = stopped.filter(|&why| why != StopReason::QueryLimit || is_limit_reached);
                    ended = ended.and(stopped.map_or(Ok(()), |reason| Err(RunError::Stopped(reason))));
                }
                // An error counts more than that others were stopped because of it.
                Err(error) => {
                    self.state.transitions = None;
                    if matches!(ended, Ok(()) | Err(RunError::Stopped(_))) {
                        ended = Err(error);
                    }
                }
            }
        }
        ended
    }

    /// Folds what came of the chunk, in the order of its tasks, if they are done.
    fn fold_if_done(&mut self) {
        if self.state.chunk.is_empty() || self.state.chunk.iter().any(|task| !task.is_done) {
            return;
        }
        let mut chunk = std::mem::take(&mut self.state.chunk);
        // Nobody reads the remembered traces now: they can grow where they are.
        chunk.iter_mut().for_each(|task| task.brief.trie = Arc::default());
        let before = self.state.failures.clone();
        let (rungs, mut chunk): (Vec<Task>, Vec<Task>) =
            chunk.into_iter().partition(|task| task.rung.is_some());
        rungs.into_iter().for_each(|task| self.fold_rung(task));
        for task in &mut chunk {
            let more = task.failures.iter().zip(&before).map(|(after, before)| after.saturating_sub(*before));
            self.state.failures.iter_mut().zip(more).for_each(|(all, more)| *all += more);
            if let Some(added) = task.added.take() {
                Arc::make_mut(&mut self.state.trie).add(&added);
            }
            let found = task.found.take();
            match task.hints.take() {
                None => self.state.work += task.work,
                Some(mut hints) if task.climber == 0 => {
                    hints.worked(task.work);
                    self.state.hints = Some(*hints);
                }
                Some(mut hints) => {
                    if let Some(first) = &mut self.state.hints {
                        first.helped(&mut hints, task.work);
                    }
                    if let Some(other) = self.state.climbers.get_mut(task.climber - 1) {
                        *other = *hints;
                    }
                }
            }
            if let Some(found) = found {
                self.adopt(&found, task.climber);
                self.tell(found);
            }
        }
        chunk.retain(|task| task.leaves > 0);
        self.state.left.fold(chunk);
        if has_reached(self.state.best.as_ref().map(|best| best.score), self.round_goal()) {
            self.state.left.todo.clear();
        }
        self.look_at_recall();
        self.report();
        self.look_at_memory();
    }

    /// What the walk has found, or another local search beside the first one, is improved by hints from now on, if it is
    /// better than the best.
    fn adopt(&mut self, found: &Found, climber: usize) {
        let is_better = self.state.best.as_ref().is_none_or(|best| found.score < best.score);
        let labels = match &found.what {
            What::Labels(labels) => labels,
            What::Tree(tree, _) if is_better && climber > 0 => {
                self.state.hints.iter_mut().for_each(|hints| hints.adopt(tree.clone()));
                return;
            }
            _ => return,
        };
        // From leaves that somebody has forged something may be found that no tree does.
        if is_better && is_least(self.problem, labels, found.score.size.into()) {
            let tree = found.tree(self.problem).and_then(|tree| Ranked::of(self.problem, &tree));
            tree.into_iter().zip(&mut self.state.hints).for_each(|(tree, hints)| hints.adopt(tree));
        }
    }

    /// A behaviour was found. Keeps it if it is better than the best.
    fn tell(&mut self, found: Found) {
        if self.state.best.as_ref().is_some_and(|best| best.score <= found.score) {
            return;
        }
        self.state.best = Some(found);
    }
}

fn has_reached(best: Option<Score>, goal: Option<Score>) -> bool {
    goal.is_some_and(|goal| best.is_some_and(|best| best <= goal))
}

//! The search itself: one round after the other, each in chunks of tasks.
//!
//! A round goes on from the leaves of the last one, within wider limits; what goes beyond them is left for the next. A
//! chunk is the next tasks of a round. Each task sees the incumbent and the counts of failures as they were when the
//! chunk began, and nothing of the other tasks; what comes of them is folded in their order. So all that is found, and
//! what it takes, depends on the problem and the [`Tuning`] alone, and not on who does the tasks.

mod memory;
mod report;

use std::sync::Arc;
use std::thread::Scope;

use super::Options;
use super::bounds::Store;
use super::chunk::{Left, Pending, Piece, SavedPending};
use super::frontier::Frontier;
use super::lane::Setting;
use super::recall::Trie;
use super::saved::Saved;
use super::schedule::{Scout, Stage, most_nodes, scout_of};
use super::score::{Score, passed_over};
use super::task::{Done, Found, Interruption, Task};
use super::team::{Board, Team};
use super::transitions::Transitions;
use super::tuning::Tuning;
use super::version_space::Cost;
use crate::problem::{Problem, RunError, StopReason};
use crate::search::progress::Progress;
use crate::search::sample;

/// The limit on queries is near if there are fewer left than so many times the steps of a chunk.
const NEAR_LIMIT: u64 = 8;

/// A search.
pub(super) struct Rounds<'s, 'e, 'p, 'o, S: Store> {
    problem: &'p Problem,
    options: &'s Options,
    tuning: Tuning,
    progress: &'s mut Progress<'o>,
    board: &'s Board,
    team: Team<'s, 'e, 'p, S>,
    stage: Stage,
    left: Left,
    /// The small sizes of `reach`, and what is left of those.
    scout: Option<(Scout, Left)>,
    chunk: Vec<Pending>,
    /// The steps of all tasks that were folded, and those of the scout.
    work: u64,
    scout_work: u64,
    /// What ends the search, as it is known that nothing is better.
    goal: Option<Score>,
    best: Option<Found>,
    /// The best value that was not looked for since the best behaviour or one before it was good enough: with a gap only.
    passed_over: Option<u64>,
    /// Per initial state, how often its trace has failed.
    failures: Arc<[u64]>,
    trie: Arc<Trie>,
    /// None once a task has failed: it is done again.
    transitions: Option<Transitions>,
    sample: Option<sample::Shared>,
}

impl<'s, 'e, 'p: 's, 'o: 'p, S: Store> Rounds<'s, 'e, 'p, 'o, S> {
    /// A search that goes on with what is left. The threads of the team belong to the scope.
    pub(super) fn new(
        options: &'s Options,
        progress: &'s mut Progress<'o>,
        mut saved: Saved,
        setting: Setting<'p>,
        board: &'s Board,
        scope: &'s Scope<'s, 'e>,
    ) -> Result<Self, RunError> {
        let problem = setting.problem;
        let sample = setting.sample.clone();
        // What was read has been checked before.
        let anew = || (Left::new([Piece::all(Frontier::root(problem))], None), None);
        let (left, scout) = saved.checked(problem).unwrap_or_else(anew);
        let trie =
            if saved.trie.is_of(problem) { std::mem::take(&mut saved.trie) } else { Trie::new(problem) };
        let mut rounds = Rounds {
            problem,
            options,
            tuning: saved.tuning.bounded(),
            progress,
            board,
            team: Team::new(setting, board, scope)?,
            stage: saved.stage,
            left,
            scout,
            chunk: Vec::new(),
            work: saved.work,
            scout_work: saved.scout_work,
            goal: saved.goal,
            best: None,
            passed_over: saved.passed_over,
            failures: std::mem::take(&mut saved.failures).into(),
            trie: Arc::new(trie),
            transitions: saved.transitions.take(),
            sample,
        };
        if let Some(best) = saved.best.take() {
            // The gap may be another one than before: what it passes over from now on is noted.
            rounds.tell(best);
        }
        if saved.chunk.iter().all(|pending| pending.found.is_none()) {
            rounds.take_start();
        }
        let pending = |pending: &SavedPending| {
            let like = rounds.task(Piece::all(Frontier::root(problem)), pending.is_scout, 1);
            Pending::checked(pending, problem, like)
        };
        match saved.chunk.iter().map(pending).collect() {
            Some(chunk) => rounds.chunk = chunk,
            None => rounds.left = Left::new([Piece::all(Frontier::root(problem))], None),
        }
        rounds.tell_stage();
        Ok(rounds)
    }

    /// The tree to start from is the first incumbent.
    fn take_start(&mut self) {
        if let Some((value, size)) = self.progress.incumbent()
            && self.best.is_none()
        {
            let size = Cost::try_from(size).unwrap_or(Cost::MAX);
            self.tell(Found { score: self.score(value, size), labels: None, own_steps: 0 });
        }
    }

    fn score(&self, value: u64, size: Cost) -> Score {
        Score::new(self.problem.objective(), value, size)
    }

    /// One round after the other, each in chunks of tasks, until nothing better can be found. When the search is
    /// stopped, what is left is written down.
    pub(super) fn search(mut self) -> Result<(), RunError> {
        let ended = loop {
            let Some(tasks) = self.next_tasks() else { break Ok(()) };
            let Rounds { team, progress, board, options, .. } = &mut self;
            let mut is_checkpoint_due = false;
            let mut look = || {
                progress.walked(board.counts());
                is_checkpoint_due = is_checkpoint_due || progress.is_checkpoint_due();
                if is_checkpoint_due || options.is_cache_too_large() {
                    board.pause();
                }
            };
            team.post(tasks);
            team.worker.work(0, board, &mut look);
            let done = team.collect(&mut look);
            self.report();
            let taken = self.take_done(done);
            if let Err(error) = self.team.take_error().and(taken) {
                self.keep();
                break Err(error);
            }
            if self.options.is_cache_too_large() {
                self.shrink_cache();
            }
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
        while self.chunk.iter().all(|pending| pending.is_done) {
            if !self.chunk.is_empty() {
                self.fold();
                self.look_at_memory();
            }
            if !self.left.is_over() {
                self.chunk = self.next_chunk();
            } else if !self.next_round() {
                return None;
            }
        }
        Some(self.open_tasks())
    }

    /// Begins the next round, if there is one; says whether.
    fn next_round(&mut self) -> bool {
        let next = self.left.take_next();
        let best = self.best.as_ref().map(|best| best.score);
        if next.is_empty() || self.has_reached(self.goal) {
            return false;
        }
        let bytes = next.iter().map(Frontier::bytes).sum();
        let Some(stage) = self.stage.after(self.problem, &self.tuning, best, bytes) else {
            return false;
        };
        if let (Stage::Reach { cut }, true) = (self.stage, self.problem.objective().is_plain()) {
            self.progress.bound(cut.saturating_add(1));
        }
        self.begin_round(stage, next);
        true
    }

    fn begin_round(&mut self, stage: Stage, leaves: Vec<Frontier>) {
        self.stage = stage;
        self.left = stage.begin(self.problem, &self.tuning, leaves);
        self.tell_stage();
    }

    fn tell_stage(&mut self) {
        match self.stage {
            Stage::Reach { cut } => self.progress.horizon(cut.min(self.problem.objective().horizon())),
            Stage::Survive { nodes, .. } => {
                self.progress.size(u64::from(nodes.min(most_nodes(self.problem))))
            }
        }
    }

    /// The next tasks: as many, and as long, as what has been done makes worthwhile.
    fn next_chunk(&mut self) -> Vec<Pending> {
        let (steps, count) = self.tuning.chunk(self.work);
        let mut chunk = Vec::new();
        let due = (self.work / self.tuning.scout_share).saturating_sub(self.scout_work).min(steps);
        if due > 0
            && let Some((_, left)) = &mut self.scout
            && let Some(piece) = left.take_tasks(1, due).pop()
        {
            // It is the longest, so it comes first: others can be done beside it. A lone one waits for what it finds.
            chunk.push(Pending::new(self.task(piece, true, due), true));
            if count == 1 {
                return chunk;
            }
        }
        let each = steps / count as u64;
        let pieces = self.left.take_tasks(count, each);
        chunk.extend(pieces.into_iter().map(|piece| Pending::new(self.task(piece, false, each), false)));
        chunk
    }

    fn task(&self, Piece { frontier, agenda }: Piece, is_scout: bool, budget: u64) -> Task {
        let gap = self.progress.gap();
        let job = match (&self.scout, is_scout) {
            (Some((scout, _)), true) => scout.job(gap),
            _ => self.stage.job(self.problem, gap),
        };
        Task {
            job,
            frontier,
            agenda,
            budget,
            incumbent: self.best.as_ref().map(|best| best.score),
            goal: if is_scout { self.goal } else { self.goal() },
            failures: Arc::clone(&self.failures),
            trie: Arc::clone(&self.trie),
            added: None,
            recall_bytes: self.recall_bytes(),
            quota: u64::MAX,
        }
    }

    /// What ends the round: of two scores, the worse one.
    fn goal(&self) -> Option<Score> {
        self.stage.goal(self.problem).max(self.goal)
    }

    fn has_reached(&self, goal: Option<Score>) -> bool {
        goal.is_some_and(|goal| self.best.as_ref().is_some_and(|best| best.score <= goal))
    }

    /// How much memory remembered traces may take: if memory is limited, an eighth of it.
    fn recall_bytes(&self) -> usize {
        self.tuning.most_recall_bytes.min(self.options.memory.map_or(usize::MAX, |memory| memory / 8))
    }

    /// The tasks that are still to be done. If queries are limited each may make an equal part of them; and when the
    /// limit is near, only the first is done.
    fn open_tasks(&self) -> Vec<Task> {
        let open = self.chunk.iter().filter(|pending| !pending.is_done);
        let mut tasks: Vec<Task> = open.map(|pending| pending.task.clone()).collect();
        let Some(left) = self.progress.gate().left() else { return tasks };
        // To come back to a state may take queries, too.
        let steps: u64 = tasks.iter().map(|task| task.budget).sum();
        if left / NEAR_LIMIT < steps {
            tasks.truncate(1);
        }
        let count = tasks.len() as u64;
        tasks.iter_mut().for_each(|task| task.quota = left / count);
        tasks
    }

    /// Takes what came of the tasks that were still to be done.
    fn take_done(&mut self, done: Vec<Result<Done, RunError>>) -> Result<(), RunError> {
        let dimensions = self.problem.dimensions().len();
        let mut ended = Ok(());
        let open = self.chunk.iter_mut().filter(|pending| !pending.is_done);
        for (pending, done) in open.zip(done) {
            match done {
                Ok(done) => {
                    let interrupted = done.interrupted;
                    pending.take(done, dimensions);
                    let is_left = self.progress.gate().left() != Some(0);
                    match interrupted {
                        // Others have made fewer queries than they might: they are shared out again.
                        Some(Interruption::Stopped(StopReason::QueryLimit)) if is_left => {}
                        Some(Interruption::Stopped(reason)) if ended.is_ok() && !pending.is_done => {
                            ended = Err(RunError::Stopped(reason));
                        }
                        _ => {}
                    }
                }
                // An error counts more than that others were stopped because of it.
                Err(error) => {
                    self.transitions = None;
                    if matches!(ended, Ok(()) | Err(RunError::Stopped(_))) {
                        ended = Err(error);
                    }
                }
            }
        }
        ended
    }

    /// Folds what came of the chunk, in the order of its tasks.
    fn fold(&mut self) {
        let mut failures = self.failures.to_vec();
        // Nobody reads the remembered traces now: they can grow where they are.
        self.chunk.iter_mut().for_each(|pending| pending.task.trie = Arc::default());
        let (mut main, mut scout) = (Vec::new(), Vec::new());
        let mut is_found = false;
        for mut pending in std::mem::take(&mut self.chunk) {
            for (all, (after, before)) in
                failures.iter_mut().zip(pending.task.failures.iter().zip(&*self.failures))
            {
                *all += after.saturating_sub(*before);
            }
            if let Some(added) = pending.task.added.take() {
                Arc::make_mut(&mut self.trie).add(&added);
            }
            *(if pending.is_scout { &mut self.scout_work } else { &mut self.work }) += pending.work;
            if let Some(found) = pending.found.take() {
                is_found |= !pending.is_scout;
                self.tell(found);
            }
            if pending.is_scout { scout.push(pending) } else { main.push(pending) }
        }
        self.failures = failures.into();
        self.left.fold(main);
        if self.has_reached(self.goal()) {
            self.left.clear();
        }
        self.fold_scout(scout, is_found);
        self.report();
    }

    /// Goes on with the small sizes, unless the search has found something itself and knows better.
    fn fold_scout(&mut self, tasks: Vec<Pending>, is_found: bool) {
        let Some((scout, left)) = &mut self.scout else { return };
        left.fold(tasks);
        if is_found {
            self.scout = None;
        } else if left.is_over() {
            let next = left.take_next();
            if next.is_empty() || self.best.is_some() {
                let nodes = scout.nodes + 1;
                self.scout = scout_of(self.problem, &self.tuning, nodes, self.best.is_some());
            } else {
                scout.cut = self.tuning.next_cut(scout.cut);
                *left = Left::new(next.into_iter().map(Piece::all), None);
            }
        }
    }

    /// A behaviour was found. Keeps it if it is better than the best.
    fn tell(&mut self, found: Found) {
        if self.best.as_ref().is_some_and(|best| best.score <= found.score) {
            return;
        }
        let objective = self.problem.objective();
        let value = found.score.value(objective);
        self.passed_over = passed_over(objective, self.passed_over, value, self.progress.enough(value));
        self.best = Some(found);
    }
}

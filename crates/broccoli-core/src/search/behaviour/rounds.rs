//! The search itself: one round after the other, each in chunks of tasks.
//!
//! A round goes on from the leaves of the last one, within wider limits; what goes beyond them is left for the next. A
//! chunk is the next tasks of a round. Each task sees the incumbent and the counts of failures as they were when the
//! chunk began, and nothing of the other tasks; what comes of them is folded in their order. So all that is found, and
//! what it takes, depends on the problem and the [`Tuning`] alone, and not on who does the tasks.

use std::sync::Arc;
use std::thread::Scope;

use super::Options;
use super::bounds::Store;
use super::chunk::{Left, Pending, Piece};
use super::frontier::Frontier;
use super::lane::Setting;
use super::realise::{Labelled, first_tree};
use super::recall::Trie;
use super::sample;
use super::saved::Saved;
use super::schedule::{Scout, Stage, most_nodes};
use super::score::{Score, passed_over};
use super::task::{Found, Interruption, Task};
use super::team::{Board, Makings, Team};
use super::transitions::Transitions;
use super::tuning::Tuning;
use super::version_space::Cost;
use crate::problem::{Objective, Problem, RunError, StopReason, SystemFactory};
use crate::search::progress::Progress;
use crate::tree::Tree;

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
    transitions: Transitions,
    sample: Option<sample::Shared>,
}

impl<'s, 'e, 'p: 's, 'o: 'p, S: Store> Rounds<'s, 'e, 'p, 'o, S> {
    /// Searches from the start, or goes on with what was left.
    pub(super) fn run(
        problem: &'p Problem,
        factory: &'p dyn SystemFactory,
        options: &Options,
        progress: &mut Progress<'o>,
        saved: Option<Saved>,
    ) -> Result<(), RunError> {
        let sample = saved.as_ref().map(|saved| saved.sample.clone()).unwrap_or_default();
        let sample = progress.has_keeper().then(|| sample::Shared::new(sample));
        let setting = Setting {
            problem,
            gate: progress.gate(),
            witness: options.witness.clone(),
            sample: sample.clone(),
            is_quick: factory.is_quick(),
        };
        let makings = Makings { setting, factory, cache: options.cache.clone() };
        let saved = saved.unwrap_or_else(|| Saved::root(problem, options.tuning.bounded()));
        let board = Board::new(options.threads);
        std::thread::scope(|scope| {
            let mut rounds =
                Rounds::<S>::begin(problem, options, progress, saved, makings, &board, scope, sample)?;
            let ended = rounds.search();
            rounds.report();
            rounds.conclude(&ended);
            ended
        })
    }

    #[expect(clippy::too_many_arguments, reason = "each is a part of the search")]
    fn begin(
        problem: &'p Problem,
        options: &'s Options,
        progress: &'s mut Progress<'o>,
        mut saved: Saved,
        makings: Makings<'p>,
        board: &'s Board,
        scope: &'s Scope<'s, 'e>,
        sample: Option<sample::Shared>,
    ) -> Result<Self, RunError> {
        // What was read has been checked before.
        let lefts = saved.checked(problem);
        let anew = || (Left::new([Piece::all(root(problem))], None), None);
        let (left, scout) = lefts.unwrap_or_else(anew);
        let trie =
            if saved.trie.is_of(problem) { std::mem::take(&mut saved.trie) } else { Trie::new(problem) };
        let mut rounds = Rounds {
            problem,
            options,
            tuning: saved.tuning.bounded(),
            progress,
            board,
            team: Team::new(makings, board, scope)?,
            stage: saved.stage,
            left,
            scout,
            chunk: Vec::new(),
            work: saved.work,
            scout_work: saved.scout_work,
            goal: saved.goal,
            best: saved.best.take(),
            passed_over: saved.passed_over,
            failures: std::mem::take(&mut saved.failures).into(),
            trie: Arc::new(trie),
            transitions: std::mem::take(&mut saved.transitions),
            sample,
        };
        if saved.chunk.iter().all(|pending| pending.found.is_none()) {
            rounds.take_start();
        }
        for pending in &saved.chunk {
            let like = rounds.task(Piece::all(root(problem)), pending.is_scout, 1);
            rounds.chunk.extend(Pending::checked(pending, problem, like));
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

    /// One round after the other, each in chunks, until nothing better can be found.
    fn search(&mut self) -> Result<(), RunError> {
        loop {
            if self.chunk.is_empty() && self.left.is_over() {
                if !self.next_round() {
                    return Ok(());
                }
                continue;
            }
            if self.chunk.is_empty() {
                self.chunk = self.next_chunk();
            }
            self.run_chunk()?;
            self.fold();
            self.look_at_memory();
        }
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
        let each = steps / count as u64;
        let pieces = self.left.take_tasks(count, each);
        let mut chunk: Vec<Pending> =
            pieces.into_iter().map(|piece| Pending::new(self.task(piece, false, each), false)).collect();
        let due = (self.work / self.tuning.scout_share).saturating_sub(self.scout_work).min(steps);
        if due > 0
            && let Some((_, left)) = &mut self.scout
            && let Some(piece) = left.take_tasks(1, due).pop()
        {
            // It is the longest, so it comes first: others can be done beside it.
            chunk.insert(0, Pending::new(self.task(piece, true, due), true));
        }
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

    /// Runs the tasks of the chunk to their end. When the search is stopped, what is left is written down.
    fn run_chunk(&mut self) -> Result<(), RunError> {
        while self.chunk.iter().any(|pending| !pending.is_done) {
            let tasks = self.open_tasks();
            let Rounds { team, progress, board, options, .. } = self;
            let mut is_checkpoint_due = false;
            let is_cache_too_large = || {
                let cache = options.cache.as_ref().map_or(0, |cache| cache.lock().bytes());
                options.memory.is_some_and(|most| cache > most)
            };
            let done = team.run(tasks, &mut || {
                progress.walked(board.counts());
                if is_cache_too_large() {
                    board.pause();
                }
                if !is_checkpoint_due && progress.is_checkpoint_due() {
                    is_checkpoint_due = true;
                    board.pause();
                }
            });
            self.report();
            let done = match done {
                Ok(done) => done,
                Err(error) => {
                    self.keep();
                    return Err(error);
                }
            };
            if let Err(error) = self.take_done(done) {
                self.keep();
                return Err(error);
            }
            if is_cache_too_large() {
                self.shrink_cache();
            }
            if is_checkpoint_due {
                self.keep();
            }
        }
        Ok(())
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
    fn take_done(&mut self, done: Vec<Result<super::task::Done, RunError>>) -> Result<(), RunError> {
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
                Err(error) if !matches!(ended, Err(ref error) if !matches!(error, RunError::Stopped(_))) => {
                    ended = Err(error);
                }
                Err(_) => {}
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

    /// Sees to it that no more memory is taken than may be: first the cache is shrunk, then nothing more is set aside.
    fn look_at_memory(&mut self) {
        let (now, next) = self.left.bytes();
        let cache = self.options.cache.as_ref().map_or(0, |cache| cache.lock().bytes());
        // Leaves are copied when a round ends, and twice when they are written down.
        let copies = if self.progress.has_keeper() { 3 } else { 2 };
        let is_over = self.options.memory.is_some_and(|most| copies * (now + next) + cache > most);
        if is_over && cache > 0 {
            self.shrink_cache();
        } else if (is_over || next > self.tuning.most_leaf_bytes) && !self.stage.is_last() {
            let all = self.left.take_all();
            if !all.is_empty() {
                self.begin_round(Stage::last(self.problem), all);
            }
        }
    }

    /// Gives back half of the cache's memory, or more. All that it knew is forgotten; and places were known by its nodes.
    fn shrink_cache(&mut self) {
        let Some(cache) = &self.options.cache else { return };
        cache.lock().shrink();
        self.left.forget_places();
        self.chunk.iter_mut().for_each(Pending::forget_places);
        if let Some((_, left)) = &mut self.scout {
            left.forget_places();
        }
        Arc::make_mut(&mut self.trie).forget_places();
        self.chunk.iter_mut().for_each(|pending| pending.task.trie = Arc::clone(&self.trie));
    }

    /// Writes down all that is left.
    fn keep(&mut self) {
        self.transitions.add(&self.team.take_transitions());
        if !self.progress.has_keeper() {
            return;
        }
        let queries = self.progress.queries();
        let saved = Saved {
            tuning: self.tuning,
            stage: self.stage,
            left: self.left.saved(),
            scout: self.scout.as_ref().map(|(scout, left)| (*scout, left.saved())),
            chunk: self.chunk.iter().map(Pending::saved).collect(),
            work: self.work,
            scout_work: self.scout_work,
            goal: self.goal,
            best: self.best.clone(),
            passed_over: self.passed_over,
            failures: self.failures.to_vec(),
            trie: (*self.trie).clone(),
            transitions: self.transitions.clone(),
            sample: self.sample.as_ref().map(|sample| sample.bounded(queries)).unwrap_or_default(),
        };
        self.progress.keep_checkpoint(saved);
    }

    /// Tells the observer what there is to tell.
    fn report(&mut self) {
        self.progress.walked(self.board.counts());
        let found = self.chunk.iter().filter_map(|pending| pending.found.as_ref());
        let Some(best) = found.chain(&self.best).min_by_key(|found| found.score) else { return };
        if let Found { score, labels: Some(labels), .. } = best {
            let (problem, size) = (self.problem, score.size);
            let tree = || realised(problem, labels, size);
            self.progress.tell_improved(score.value(problem.objective()), u64::from(size), &tree);
        }
    }

    /// Says what was found, also in a chunk that was not folded; and if the search has come to its end, what any search
    /// must ask for.
    fn conclude(&mut self, ended: &Result<(), RunError>) {
        for pending in std::mem::take(&mut self.chunk) {
            if let Some(found) = pending.found {
                self.tell(found);
            }
        }
        let objective = self.problem.objective();
        if let Some(Found { score, labels: Some(labels), .. }) = &self.best {
            self.progress.keep(realised(self.problem, labels, score.size), score.value(objective));
        }
        if let Some(passed_over) = self.passed_over {
            self.progress.pass_over(passed_over);
        }
        if ended.is_ok() && self.problem.initial_states().len() == 1 {
            self.transitions.add(&self.team.take_transitions());
            if let Some(necessary) = necessary(objective, self.best.as_ref(), &self.transitions) {
                self.progress.necessary(necessary);
            }
        }
    }
}

/// Everything is left to do.
pub(super) fn root(problem: &Problem) -> Frontier {
    Frontier::root(problem.dimensions().len(), problem.objective())
}

/// The scout of so many predicates, if there is to be one: up to one fewer than allowed.
pub(super) fn scout_of(
    problem: &Problem,
    tuning: &Tuning,
    nodes: Cost,
    has_best: bool,
) -> Option<(Scout, Left)> {
    let is_wanted = matches!(problem.objective(), Objective::Reach { .. }) && nodes < most_nodes(problem);
    is_wanted.then(|| (Scout::new(nodes, tuning, has_best), Left::new([Piece::all(root(problem))], None)))
}

/// How many queries any search must make from one initial state, if that is known.
fn necessary(objective: Objective, best: Option<&Found>, transitions: &Transitions) -> Option<u64> {
    let horizon = objective.horizon();
    let up_to = |steps, nodes| transitions.up_to(steps, horizon, nodes);
    let smaller = |steps, size: Cost| size.checked_sub(1).map_or(Some(0), |most| up_to(steps, most));
    if !objective.is_plain() {
        return None;
    }
    let best = best.map(|best| (best.score.value(objective), best.score.size, best.own_steps));
    match (objective, best) {
        (Objective::Reach { .. }, Some((0, ..))) => Some(0),
        // Every transition number 1 to value - 1, and number `value` of all that a smaller tree can do.
        (Objective::Reach { .. }, Some((value, size, _))) => {
            Some(up_to(1..=value - 1, Cost::MAX)? + smaller(value..=value, size)?)
        }
        (Objective::Reach { .. }, None) => up_to(1..=horizon, Cost::MAX),
        // Its own trace, and all that smaller trees can do.
        (_, Some((value, size, own_steps))) if value == horizon => {
            Some(own_steps + smaller(1..=horizon, size)?)
        }
        _ => Some(transitions.all()),
    }
}

/// The smallest tree that realises a behaviour, of the size that the version space has found.
pub(super) fn realised(problem: &Problem, behaviour: &[Labelled], size: Cost) -> Tree {
    let labels: Vec<&Labelled> = behaviour.iter().collect();
    let tree = first_tree(problem, &labels, problem.limits().depth(), u64::from(size));
    debug_assert_eq!(tree.size(), u64::from(size));
    tree
}

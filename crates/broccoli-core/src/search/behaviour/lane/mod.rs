//! A walk on a system: performs tasks.

mod hints;
mod steps;

use std::num::NonZeroUsize;
use std::sync::Arc;

use super::bounds::Store;
use super::frontier::Frontier;
use super::hints::Climb;
use super::ladder::Grid;
use super::recall::Trie;
use super::score::Score;
use super::task::{Found, Task, WAY_PART, What};
use super::walk::{Ask, Origin, Walk};
use crate::problem::seen::SeenRewards;
use crate::problem::{Gate, Instance, Problem, Rank, RunError, StopReason, SystemFactory, Verdict};
use crate::search::counts::Counts;
use crate::search::evidence::{Recorder, Witness};
use crate::search::sample::{self, Sampler};

/// How many steps are made between two looks at everything else, at least; and after many steps, one part in so many of
/// them, up to a limit if they are quick.
const SLICE: u64 = 32;
const SLICES: u64 = 128;
const LONGEST_SLICE: u64 = 512;

/// Why a lane has paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paused {
    /// It has made the steps it was to make.
    Slice,
    /// It waits for a step that is made together with others.
    Asked,
    /// It has found a behaviour better than its incumbent.
    Found,
    /// The task is done, or all that is left of it is set aside.
    Done,
}

/// What the lanes of a search have in common.
#[derive(Clone)]
pub(super) struct Setting<'p> {
    pub(super) problem: &'p Problem,
    pub(super) factory: &'p dyn SystemFactory,
    pub(super) gate: Arc<Gate<'p>>,
    /// Takes down what is walked.
    pub(super) witness: Option<Arc<dyn Witness>>,
    /// Where some of what the system answers is taken down, if it is.
    pub(super) sample: Option<sample::Shared>,
    /// Where the best rewards are taken down, if they are.
    pub(super) rewards: Option<Arc<SeenRewards>>,
}

impl Setting<'_> {
    /// How many lanes a thread has, if their steps are made together. The witness is for one step at a time.
    pub(super) fn rows(&self) -> Option<NonZeroUsize> {
        self.factory.rows().filter(|_| self.witness.is_none())
    }
}

pub(super) struct Lane<'p, S: Store> {
    problem: &'p Problem,
    pub(super) instance: Instance<'p>,
    gate: Arc<Gate<'p>>,
    pub(super) walk: Walk<S>,
    /// The local search, and whether that is what the task is for.
    climb: Option<Box<Climb<'p>>>,
    /// The grid that is walked on, if that is a coarser one, and the walk on the whole one that rests.
    grid: Option<Arc<Grid>>,
    rests: Option<Box<Walk<S>>>,
    is_hint: bool,
    /// Queries made for hints, but for this task; and all others.
    hints: u64,
    before_hints: u64,
    /// The cell after the last answer.
    cell: Vec<Rank>,
    /// Whether its steps are made elsewhere, together with others; and the next one's action.
    is_batched: bool,
    action: usize,
    /// On the way to a place without a saved state: how many steps are left.
    way: Option<u64>,
    traces: u64,

    /// The task, and what has come of it so far. Its budget is spent after so many steps, and there were so many before.
    pub(super) task: Task,
    budget_ends: u64,
    work_before: u64,
    /// How many queries may still be made.
    quota: u64,
    /// Whether all that was begun is set aside; and whether that is so because it was interrupted.
    is_suspended: bool,
    is_interrupted: bool,

    longest_slice: u64,
    /// Whether what the system answers is written down, and room for its state.
    wants_replies: bool,
    state: Vec<u8>,
    /// After how many queries some of what the system answers is taken down.
    sample_at: u64,
    sampler: Option<Box<Sampler>>,
    /// Whether all answers are looked at, for those that are extreme.
    looks_at_all: bool,
}

impl<'p, S: Store> Lane<'p, S> {
    /// A lane with a system of its own, and nothing to do yet.
    pub(super) fn alone(setting: &Setting<'p>) -> Result<Self, RunError> {
        let Setting { problem, factory, gate, .. } = setting;
        let instance = Instance::for_lane(problem, *factory, Arc::clone(gate))?;
        Ok(Lane::new(setting, instance, false))
    }

    /// A lane with nothing to do yet. If it is batched, its steps are made elsewhere.
    pub(super) fn new(setting: &Setting<'p>, mut instance: Instance<'p>, is_batched: bool) -> Self {
        let Setting { problem, factory, gate, witness, sample, rewards, .. } = setting;
        instance.note_rewards(rewards.clone());
        Lane {
            problem,
            instance,
            gate: Arc::clone(gate),
            walk: Walk::new(problem, is_batched, witness.clone().map(Recorder::new)),
            climb: None,
            grid: None,
            rests: None,
            is_hint: false,
            hints: 0,
            before_hints: 0,
            cell: vec![0; problem.dimensions().len()],
            is_batched,
            action: 0,
            way: None,
            traces: 0,
            task: Task::default(),
            budget_ends: 0,
            work_before: 0,
            quota: 0,
            is_suspended: false,
            is_interrupted: false,
            longest_slice: if factory.is_quick() { LONGEST_SLICE } else { SLICE },
            wants_replies: witness.as_ref().is_some_and(|witness| witness.wants_replies()),
            state: Vec::new(),
            sample_at: if sample.is_some() { 0 } else { u64::MAX },
            sampler: sample.clone().map(|sample| Box::new(Sampler::new(sample, problem.dimensions().len()))),
            looks_at_all: sample.is_some() && !factory.is_quick(),
        }
    }

    /// How many steps to make before the next look at everything else.
    pub(super) fn slice(&self) -> u64 {
        (self.walk.work / SLICES).clamp(SLICE, self.longest_slice)
    }

    /// Begins a task, or goes on with one that was interrupted.
    pub(super) fn begin(&mut self, mut task: Task) {
        self.begin_grid(task.brief.grid.clone());
        self.is_hint = task.hints.is_some();
        if self.is_hint {
            self.begin_hints(task);
            return;
        }
        self.work_before = self.walk.work;
        self.budget_ends = self.work_before.saturating_add(task.budget);
        self.quota = task.quota.unwrap_or(u64::MAX);
        (self.way, self.is_suspended, self.is_interrupted) = (None, false, false);
        // What the system answers is written down only if each trace is run.
        let mut recall_bytes = task.brief.recall_bytes;
        if self.wants_replies {
            (recall_bytes, task.brief.trie) = (0, Arc::new(Trie::new(self.problem)));
        }
        self.walk.begin(&mut task, recall_bytes);
        self.task = task;
    }

    /// Goes on for so many steps, or until there is something to say, or the budget is spent.
    #[inline(never)]
    pub(super) fn advance(&mut self, steps: u64) -> Result<Paused, RunError> {
        if self.is_hint {
            return self.advance_hints(steps);
        }
        let slice_ends = self.walk.work.saturating_add(steps);
        loop {
            // The step that is asked for is counted, but not made.
            if self.walk.work > self.budget_ends && !self.is_suspended && self.ends_here() {
                self.suspend()?;
            }
            // If the gate is closed a step is not made, and the walk can still take it back.
            let answer = match self.walk.ask {
                Ask::Step { from, action } => self.step(from, usize::from(action)),
                Ask::Reset { initial } => {
                    self.traces += 1;
                    self.reset(initial as usize).map(Some)
                }
                Ask::Leave => {
                    self.walk.save_places(|places| places.save(&mut self.instance))?;
                    self.walk.resume();
                    continue;
                }
                Ask::Found(score) => return Ok(self.note_found(score)),
                Ask::Done => return Ok(Paused::Done),
            };
            match answer {
                Ok(Some(verdict)) => self.tell(verdict)?,
                Ok(None) => return Ok(Paused::Asked),
                Err(RunError::Stopped(reason)) => self.interrupt(Some(reason))?,
                Err(error) => return Err(error),
            }
            if self.walk.work >= slice_ends {
                return Ok(Paused::Slice);
            }
        }
    }

    /// Whether the task ends where the walk is, as its budget is spent.
    #[cold]
    fn ends_here(&self) -> bool {
        let way = match self.walk.ask {
            Ask::Step { .. } if self.task.brief.is_short => self.walk.place_before_step().1,
            _ => 0,
        };
        self.walk.work > self.budget_ends.saturating_add(way / WAY_PART)
    }

    fn note_found(&mut self, score: Score) -> Paused {
        let (labels, own_steps) = (self.walk.labelled_cells(false), self.walk.steps_beyond(score.size));
        let what = match &self.grid {
            None => Some(What::Labels(labels)),
            Some(grid) => grid.tree(self.problem, &labels, score.size),
        };
        self.task.found = what.map(|what| Found { score, what, own_steps }).or(self.task.found.take());
        if self.task.brief.goal.is_some_and(|goal| score <= goal) {
            return Paused::Done;
        }
        self.walk.resume();
        Paused::Found
    }

    /// Tells the walk, and keeps the present place for it if it wants that.
    #[inline(always)]
    fn tell(&mut self, verdict: Verdict) -> Result<(), RunError> {
        if self.wants_replies {
            self.record(verdict)?;
        }
        self.look_for_sample(verdict);
        self.walk.tell(verdict, self.instance.reward(), &self.cell);
        if self.walk.recall.wants_place() {
            self.keep_place()?;
        }
        Ok(())
    }

    #[cold]
    fn keep_place(&mut self) -> Result<(), RunError> {
        let instance = &mut self.instance;
        self.walk.recall.keep_place(|places| places.save(instance))
    }

    /// Writes down what the system has answered.
    #[cold]
    fn record(&mut self, verdict: Verdict) -> Result<(), RunError> {
        let depth = self.walk.labels.len();
        let Some(recorder) = self.walk.recorder() else { return Ok(()) };
        self.state.clear();
        if verdict == Verdict::Running {
            self.instance.complete_state(&mut self.state)?;
        }
        recorder.reply(depth, verdict, self.instance.observation(), &self.state);
        Ok(())
    }

    /// Takes down what the system has answered to a step, if that is wanted.
    #[inline(always)]
    fn look_for_sample(&mut self, verdict: Verdict) {
        if self.instance.queries() >= self.sample_at || self.looks_at_all {
            self.sample(verdict);
        }
    }

    #[cold]
    fn sample(&mut self, verdict: Verdict) {
        let climb = self.climb.as_ref().filter(|_| self.is_hint);
        let Ask::Step { from, action } = climb.map_or(self.walk.ask, |climb| climb.ask) else { return };
        // The labels of a coarser grid are those of other cells.
        if self.grid.is_some() {
            return;
        }
        let now = self.instance.queries();
        let Some(sampler) = &mut self.sampler else { return };
        let observation = self.instance.observation();
        let (is_due, is_extreme) = (now >= self.sample_at, sampler.is_extreme(observation, verdict));
        if !is_due && !is_extreme {
            return;
        }
        let goes_on = from == Origin::Here;
        let (initial, before) =
            climb.map_or_else(|| self.walk.place_before_step(), |climb| climb.place_before_step());
        let answer = sample::Answer::new(observation, verdict, self.instance.reward());
        let is_last = verdict != Verdict::Running;
        let step = sample::Step { initial, number: before + 1, action, goes_on, answer, is_last };
        let labels = || climb.map_or_else(|| self.walk.labelled_cells(true), |climb| climb.labelled_cells());
        if is_extreme {
            sampler.take_extreme(step, observation, verdict, labels);
        }
        if is_due {
            self.sample_at = sampler.take(now, step, labels);
        }
    }

    /// Interrupts the task, because it is stopped for this reason or only paused. It is done as soon as it goes on.
    pub(super) fn interrupt(&mut self, reason: Option<StopReason>) -> Result<(), RunError> {
        if self.is_hint {
            (self.is_interrupted, self.task.stopped) = (true, reason);
            (self.way, self.is_suspended) = (None, true);
        } else if !self.is_suspended {
            (self.is_interrupted, self.task.stopped) = (true, reason);
            self.suspend()?;
        }
        Ok(())
    }

    /// Sets aside all that was begun. It takes no query; the lane is done as soon as it goes on.
    fn suspend(&mut self) -> Result<(), RunError> {
        (self.way, self.is_suspended) = (None, true);
        self.task.next.push(self.walk.suspend(&mut self.instance, &self.cell)?);
        Ok(())
    }

    /// What was taken down so far is a run: another place comes next.
    fn end_run(&mut self) {
        let now = self.instance.queries();
        if let Some(sampler) = &mut self.sampler {
            self.sample_at = sampler.end(now).unwrap_or(self.sample_at);
        }
    }

    /// The task with what has come of it. If it was interrupted it may not be done.
    pub(super) fn finish(&mut self) -> Task {
        self.end_run();
        let mut task = std::mem::take(&mut self.task);
        if self.is_hint {
            return self.finish_hints(task);
        }
        self.walk.end_task(&mut task);
        // What was begun comes before what was not, and is for this round.
        let last = self.walk.take_leaves();
        match self.is_suspended {
            true => task.todo.push_front(last),
            false => task.next.push(last),
        }
        let work = self.walk.work - self.work_before;
        task.work += work;
        task.budget = task.budget.saturating_sub(work);
        task.is_done = !self.is_interrupted || task.todo.iter().all(Frontier::is_empty);
        self.end_grid();
        task
    }

    pub(super) fn counts(&self) -> Counts {
        let walk = self.rests.as_deref().unwrap_or(&self.walk);
        let (behaviours, ended) = (walk.counts, walk.ended);
        let (traces, hits, replayed) = (self.traces, self.instance.hits(), self.instance.replayed());
        Counts {
            traces,
            queries: self.instance.queries() - replayed,
            hints: self.queries_for_hints(),
            hits,
            replayed,
            ended,
            behaviours,
        }
    }
}

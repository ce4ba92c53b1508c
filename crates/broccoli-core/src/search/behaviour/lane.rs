//! A walk and the driver that does what it asks: performs tasks.

use std::any::Any;
use std::num::NonZeroUsize;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::bounds::Store;
use super::driver::{Answer, Driver};
use super::frontier::Frontier;
use super::score::Score;
use super::task::{Done, Found, Interruption, Task};
use super::transitions::Transitions;
use super::walk::{Ask, From, Walk};
use crate::problem::cache::Shared as Cache;
use crate::problem::{Gate, Instance, Problem, Reply, RunError, SystemError, SystemFactory, Verdict};
use crate::search::Behaviours;
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
    /// It has found a behaviour better than its incumbent, which is the incumbent now.
    Found(Score),
    /// The task is done, or all that is left of it is set aside.
    Done,
}

/// What a lane has done so far.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(in crate::search) struct Counts {
    pub(in crate::search) traces: u64,
    pub(in crate::search) queries: u64,
    /// Transitions that the cache knew.
    pub(in crate::search) hits: u64,
    pub(in crate::search) replayed: u64,
    /// The share of the whole walk that has ended.
    pub(in crate::search) ended: f64,
    pub(in crate::search) behaviours: Behaviours,
}

impl Counts {
    /// Whether they can be counts: none is so large that more could not be added.
    pub(in crate::search) fn are_plausible(&self) -> bool {
        let Behaviours { complete, bound, violated, realisable, unrealisable } = self.behaviours;
        let counts = [self.traces, self.queries, self.hits, self.replayed];
        let behaviours = [complete, bound, violated, realisable, unrealisable];
        let is_plausible = |&count: &u64| count < MOST_PLAUSIBLE;
        counts.iter().chain(&behaviours).all(is_plausible) && (0.0..=2.0).contains(&self.ended)
    }
}

/// More than any search can count.
pub(in crate::search) const MOST_PLAUSIBLE: u64 = 1 << 60;

impl std::ops::Add for Counts {
    type Output = Counts;
    fn add(self, other: Counts) -> Counts {
        Counts {
            traces: self.traces + other.traces,
            queries: self.queries + other.queries,
            hits: self.hits + other.hits,
            replayed: self.replayed + other.replayed,
            ended: self.ended + other.ended,
            behaviours: self.behaviours + other.behaviours,
        }
    }
}

/// What the lanes of a search have in common.
#[derive(Clone)]
pub(super) struct Setting<'p> {
    pub(super) problem: &'p Problem,
    pub(super) factory: &'p dyn SystemFactory,
    pub(super) gate: Arc<Gate<'p>>,
    /// What the system has answered, if that is kept.
    pub(super) cache: Option<Cache>,
    /// Takes down what is walked.
    pub(super) witness: Option<Arc<dyn Witness>>,
    /// Where some of what the system answers is taken down, if it is.
    pub(super) sample: Option<sample::Shared>,
}

impl Setting<'_> {
    /// How many lanes a thread has, if their steps are made together. The cache and the witness are for one step at a
    /// time.
    pub(super) fn rows(&self) -> Option<NonZeroUsize> {
        self.factory.rows().filter(|_| self.cache.is_none() && self.witness.is_none())
    }
}

pub(super) struct Lane<'p, S: Store> {
    driver: Driver<'p>,
    walk: Walk<S>,
    /// The task: its budget is spent after so many steps, and there were so many before.
    goal: Option<Score>,
    budget_ends: u64,
    work_before: u64,
    is_quick: bool,
    /// Whether what it has found has been told; and the best of it.
    is_told: bool,
    found: Option<Found>,
    /// The leaves for the next round that were there when the lane was suspended.
    next: Option<Frontier>,
    interrupted: Option<Interruption>,
    /// Whether what the system answers is written down, of all tasks that prove something, and of the present one; and
    /// room for its state.
    is_recorded_in_full: bool,
    wants_replies: bool,
    state: Vec<u8>,
    /// After how many steps some of what the system answers is taken down.
    sample_at: u64,
    sampler: Option<Box<Sampler>>,
}

impl<'p, S: Store> Lane<'p, S> {
    /// A lane with a system of its own, and nothing to do yet.
    pub(super) fn alone(setting: &Setting<'p>) -> Result<Self, RunError> {
        let Setting { problem, factory, gate, cache, .. } = setting;
        let instance = match cache {
            None => Instance::new(problem, *factory)?,
            Some(cache) => Instance::cached(problem, *factory, cache.clone(), Arc::clone(gate))?,
        };
        Ok(Lane::new(setting, instance, false))
    }

    /// A lane with nothing to do yet. If it is batched, its steps are made elsewhere.
    pub(super) fn new(setting: &Setting<'p>, instance: Instance<'p>, is_batched: bool) -> Self {
        let driver = Driver::new(setting.problem, instance, Arc::clone(&setting.gate), is_batched);
        let mut walk = Walk::new(setting.problem, is_batched);
        if let Some(witness) = &setting.witness {
            walk.record_by(Recorder::new(Arc::clone(witness)));
        }
        Lane {
            driver,
            walk,
            goal: None,
            budget_ends: 0,
            work_before: 0,
            is_quick: setting.factory.is_quick(),
            is_told: false,
            found: None,
            next: None,
            interrupted: None,
            is_recorded_in_full: setting.witness.as_ref().is_some_and(|witness| witness.wants_replies()),
            wants_replies: false,
            state: Vec::new(),
            sample_at: if setting.sample.is_some() { 0 } else { u64::MAX },
            sampler: setting.sample.clone().map(|sample| Box::new(Sampler::new(sample))),
        }
    }

    /// How many steps to make before the next look at everything else.
    pub(super) fn slice(&self) -> u64 {
        let longest = if self.is_quick { LONGEST_SLICE } else { SLICE };
        (self.walk.work() / SLICES).clamp(SLICE, longest)
    }

    /// Begins a task.
    pub(super) fn begin(&mut self, task: &Task) {
        let Task { job, frontier, agenda, budget, incumbent, goal, failures, .. } = task;
        self.walk.set_failures(failures);
        self.driver.begin(task.quota);
        self.work_before = self.walk.work();
        self.budget_ends = self.work_before.saturating_add(*budget);
        self.goal = *goal;
        (self.is_told, self.found, self.next, self.interrupted) = (false, None, None, None);
        // What the system answers is written down only if each trace is run.
        let most_bytes = if self.is_recorded_in_full { 0 } else { task.recall_bytes };
        self.walk.begin_recall(Arc::clone(&task.trie), task.added.clone(), most_bytes);
        self.walk.begin(*job, frontier.clone(), agenda.clone(), *incumbent);
        self.wants_replies = self.walk.recorder().is_some_and(|recorder| recorder.wants_replies());
    }

    /// Goes on for so many steps, or until there is something to say, or the budget is spent.
    pub(super) fn advance(&mut self, steps: u64) -> Result<Paused, RunError> {
        let slice_ends = self.walk.work().saturating_add(steps);
        if std::mem::take(&mut self.is_told) {
            self.walk.resume();
        }
        loop {
            // The step that is asked for is counted, but not made.
            if self.walk.work() > self.budget_ends && self.next.is_none() && !self.has_found() {
                self.suspend()?;
            }
            match self.driver.answer(&mut self.walk) {
                Ok(Answer::Verdict(verdict)) => self.tell(verdict)?,
                Ok(Answer::Later) => return Ok(Paused::Asked),
                Ok(Answer::Nothing) => match *self.walk.ask() {
                    Ask::Found(score) => return Ok(self.note_found(score)),
                    Ask::Done => return Ok(Paused::Done),
                    _ => self.walk.resume(),
                },
                Err(RunError::Stopped(reason)) => {
                    self.interrupt(Interruption::Stopped(reason))?;
                    continue;
                }
                Err(error) => return Err(error),
            }
            if self.walk.work() >= slice_ends && !self.has_found() {
                return Ok(Paused::Slice);
            }
        }
    }

    fn note_found(&mut self, score: Score) -> Paused {
        let own_steps = self.walk.steps_beyond(score.size);
        self.found = Some(Found { score, labels: Some(self.walk.labels()), own_steps });
        if self.goal.is_some_and(|goal| score <= goal) {
            return Paused::Done;
        }
        self.is_told = true;
        Paused::Found(score)
    }

    /// Tells the walk, and keeps the present place for it if it wants that.
    #[inline(always)]
    fn tell(&mut self, verdict: Verdict) -> Result<(), RunError> {
        if self.wants_replies {
            self.record(verdict)?;
        }
        if self.walk.work() >= self.sample_at {
            self.sample(verdict);
        }
        self.walk.tell(verdict, self.driver.reward(), self.driver.cell());
        if self.walk.recall_mut().wants_place() {
            self.keep_place()?;
        }
        Ok(())
    }

    /// Takes down what the system has answered to a step.
    #[cold]
    fn sample(&mut self, verdict: Verdict) {
        let Ask::Step { from, action, .. } = *self.walk.ask() else { return };
        let Some(sampler) = &mut self.sampler else { return };
        let goes_on = from == From::Here;
        let (initial, before) = self.walk.place_before_step();
        let answer = sample::Answer::new(self.driver.observation(), verdict, self.driver.reward());
        let is_last = verdict != Verdict::Running;
        let step = sample::Step { initial, number: before + 1, action, goes_on, answer, is_last };
        self.sample_at = sampler.take(self.walk.work(), step, || self.walk.all_labels());
    }

    /// The step it waits for: appends the state that it starts from, and returns its action.
    pub(super) fn asked(&mut self, states: &mut Vec<u8>) -> Result<usize, RunError> {
        self.driver.asked(states)
    }

    /// What came of the step it waited for.
    pub(super) fn told(&mut self, state: &[u8], observation: &[f64], reply: Reply) -> Result<(), RunError> {
        if let Some(verdict) = self.driver.told(&mut self.walk, state, observation, reply)? {
            self.tell(verdict)?;
        }
        Ok(())
    }

    #[cold]
    fn keep_place(&mut self) -> Result<(), RunError> {
        let driver = &mut self.driver;
        self.walk.recall_mut().keep_place(|places| driver.keep_place(places))
    }

    /// The error of the step it waited for.
    pub(super) fn failed(&self, source: SystemError) -> RunError {
        self.driver.failed(source)
    }

    /// Writes down what the system has answered.
    #[cold]
    fn record(&mut self, verdict: Verdict) -> Result<(), RunError> {
        self.state.clear();
        if verdict == Verdict::Running {
            self.driver.complete_state(&mut self.state)?;
        }
        self.walk.record_reply(verdict, self.driver.observation(), &self.state);
        Ok(())
    }

    /// Interrupts the task. It is done as soon as it goes on.
    pub(super) fn interrupt(&mut self, why: Interruption) -> Result<(), RunError> {
        if self.next.is_none() {
            self.interrupted = Some(why);
            self.suspend()?;
        }
        Ok(())
    }

    /// Sets aside all that was begun. It takes no query; the lane is done as soon as it goes on.
    fn suspend(&mut self) -> Result<(), RunError> {
        while let Ask::Leave = self.walk.ask() {
            self.driver.answer(&mut self.walk)?;
            self.walk.resume();
        }
        if let Some(sampler) = &mut self.sampler {
            self.sample_at = sampler.end(self.walk.work()).unwrap_or(self.sample_at);
        }
        self.next = Some(self.walk.take_leaves());
        self.walk.suspend();
        self.driver.retract(&mut self.walk)
    }

    /// What came of the task.
    pub(super) fn finish(&mut self) -> Done {
        if let Some(recorder) = self.walk.recorder() {
            recorder.finish();
        }
        let last = self.walk.take_leaves();
        let (next, rest) = match self.next.take() {
            None => (last, Frontier::new(self.walk.dimensions())),
            Some(next) => (next, last),
        };
        Done {
            found: self.found.take(),
            next,
            rest,
            agenda: self.walk.take_agenda(),
            failures: self.walk.failures().to_vec(),
            added: self.walk.end_recall(),
            work: self.walk.work() - self.work_before,
            interrupted: self.interrupted.take(),
        }
    }

    /// From now on only what is better than this is looked for.
    pub(super) fn improve(&mut self, incumbent: Score) {
        self.walk.improve(incumbent);
    }

    /// Whether it has found a behaviour that it has not told yet.
    fn has_found(&self) -> bool {
        matches!(self.walk.ask(), Ask::Found(_))
    }

    /// Why it was interrupted, if it was.
    pub(super) fn interrupted(&self) -> Option<Interruption> {
        self.interrupted
    }

    /// The walk, to look at.
    pub(super) fn walk(&self) -> &Walk<S> {
        &self.walk
    }

    /// Adds the transitions counted so far to others, and counts anew.
    pub(super) fn move_transitions(&mut self, all: &mut Transitions) {
        self.walk.move_transitions(all);
    }

    /// The error of a system that has panicked.
    pub(super) fn panicked(&self, panic: &(dyn Any + Send)) -> RunError {
        self.driver.panicked(panic)
    }

    pub(super) fn counts(&self) -> Counts {
        Counts {
            traces: self.driver.traces(),
            queries: self.driver.queries(),
            hits: self.driver.hits(),
            replayed: self.driver.replayed(),
            ended: self.walk.ended(),
            behaviours: self.walk.counts(),
        }
    }
}

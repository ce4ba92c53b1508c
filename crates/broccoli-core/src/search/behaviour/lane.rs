//! A walk and the driver that does what it asks, run some queries at a time.

use std::any::Any;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::bounds::Store;
use super::driver::{Answer, Driver};
use super::frontier::{Agenda, Frontier};
use super::sample::{self, Sampler};
use super::transitions::Transitions;
use super::version_space::Cost;
use super::walk::{Ask, Incumbent, Job, Walk};
use crate::problem::{Gate, Instance, Problem, Reply, RunError, StopReason, SystemError, Verdict};
use crate::search::Behaviours;
use crate::search::evidence::{Recorder, Witness};

/// Why a lane has paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paused {
    /// It has made the queries it was given.
    Slice,
    /// It waits for a step that is made together with others.
    Asked,
    /// It has found a behaviour better than its incumbent, which is the incumbent now.
    Found { value: u64, size: Cost },
    /// The job is done, or all that is left of it is set aside.
    Done,
}

/// What a lane has done so far.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(in crate::search) struct Counts {
    pub(in crate::search) traces: u64,
    pub(in crate::search) queries: u64,
    /// Transitions that the cache knew.
    pub(in crate::search) hits: u64,
    /// Of the queries, those made only to find the first of several equally good behaviours.
    pub(in crate::search) canonical: u64,
    pub(in crate::search) replayed: u64,
    /// The share of the whole walk that has ended.
    pub(in crate::search) ended: f64,
    pub(in crate::search) behaviours: Behaviours,
}

impl Counts {
    /// Whether they can be counts: none is so large that more could not be added.
    pub(in crate::search) fn are_plausible(&self) -> bool {
        let Behaviours { complete, bound, violated, realisable, unrealisable } = self.behaviours;
        let counts = [self.traces, self.queries, self.hits, self.canonical, self.replayed];
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
            canonical: self.canonical + other.canonical,
            replayed: self.replayed + other.replayed,
            ended: self.ended + other.ended,
            behaviours: self.behaviours + other.behaviours,
        }
    }
}

pub(super) struct Lane<'p, S: Store> {
    driver: Driver<'p>,
    walk: Walk<S>,
    remembered: usize,
    /// Whether what it has found has been told.
    is_told: bool,
    /// The leaves for the next round that were there when the lane was suspended.
    next: Option<Frontier>,
    /// Why it was stopped, if it was.
    stopped: Option<StopReason>,
    /// Whether what the system answers is written down, and room for its state.
    wants_replies: bool,
    state: Vec<u8>,
    /// After how many transitions some of what the system answers is taken down.
    sample_at: u64,
    sampler: Option<Box<Sampler>>,
}

impl<'p, S: Store> Lane<'p, S> {
    /// A lane with nothing to do yet. If it is batched, its steps are made elsewhere. The traces that it
    /// remembers may take so much memory.
    pub(super) fn new(
        problem: &'p Problem,
        instance: Instance<'p>,
        gate: Arc<Gate<'p>>,
        is_batched: bool,
        remembered: usize,
    ) -> Self {
        let driver = Driver::new(problem, instance, gate, is_batched);
        let mut walk = Walk::new(problem, is_batched);
        if driver.has_cache() || remembered == 0 {
            walk.close_memory();
        }
        Lane {
            driver,
            walk,
            remembered,
            is_told: false,
            next: None,
            stopped: None,
            wants_replies: false,
            state: Vec::new(),
            sample_at: u64::MAX,
            sampler: None,
        }
    }

    /// The same, some of whose answers are taken down, if there is a sample.
    pub(super) fn sampled(mut self, sample: Option<&sample::Shared>) -> Self {
        if let Some(sample) = sample {
            self.sample_at = 0;
            self.sampler = Some(Box::new(Sampler::new(sample.clone())));
        }
        self
    }

    /// The same with a witness, if there is one, who takes down what is walked. If that is to hold what the
    /// system answers, no trace is remembered: each is run.
    pub(super) fn witnessed(mut self, witness: Option<&Arc<dyn Witness>>) -> Self {
        if let Some(witness) = witness {
            self.walk.record_by(Recorder::new(Arc::clone(witness)));
            if witness.wants_replies() {
                self.walk.close_memory();
            }
        }
        self
    }

    /// Begins to go on from some leaves of a frontier, in the order of the agenda; with these counts of
    /// failures, or those that it has.
    pub(super) fn begin(
        &mut self,
        job: Job,
        frontier: &Frontier,
        agenda: Agenda,
        incumbent: Option<Incumbent>,
        failures: Option<&[u64]>,
    ) {
        if let Some(failures) = failures {
            self.walk.set_failures(failures);
        }
        self.driver.begin(Arc::clone(&frontier.places), agenda.len());
        self.walk.begin(job, Arc::clone(&frontier.leaves), agenda, incumbent);
        self.is_told = false;
        self.next = None;
        self.stopped = None;
        self.wants_replies = self.walk.recorder().is_some_and(|recorder| recorder.wants_replies());
    }

    /// Goes on for so many transitions, or until there is something to say.
    pub(super) fn advance(&mut self, transitions: u64) -> Result<Paused, RunError> {
        let end = self.driver.transitions().saturating_add(transitions);
        if std::mem::take(&mut self.is_told) {
            self.walk.resume();
        }
        loop {
            match self.driver.answer(&self.walk) {
                Ok(Answer::Verdict(verdict)) => self.tell(verdict)?,
                Ok(Answer::Later) => return Ok(Paused::Asked),
                Ok(Answer::Nothing) => match *self.walk.ask() {
                    Ask::Found { value, size } => {
                        self.is_told = true;
                        return Ok(Paused::Found { value, size });
                    }
                    Ask::Done => return Ok(Paused::Done),
                    _ => self.walk.resume(),
                },
                Err(RunError::Stopped(reason)) => {
                    self.stopped = Some(reason);
                    self.suspend()?;
                    continue;
                }
                Err(error) => return Err(error),
            }
            // A solution is told before anything else happens: another lane's could be worse.
            if self.driver.transitions() >= end && !self.has_found() {
                return Ok(Paused::Slice);
            }
        }
    }

    /// Tells the walk, and keeps the present place for it if it wants that.
    #[inline(always)]
    fn tell(&mut self, verdict: Verdict) -> Result<(), RunError> {
        if self.wants_replies {
            self.record(verdict)?;
        }
        if self.driver.transitions() >= self.sample_at {
            self.sample(verdict);
        }
        self.walk.tell(verdict, self.driver.reward(), self.driver.cell());
        if self.walk.wants_place() {
            self.keep_place()?;
        }
        Ok(())
    }

    /// Takes down what the system has answered to a step.
    #[cold]
    fn sample(&mut self, verdict: Verdict) {
        let (action, goes_on) = match *self.walk.ask() {
            Ask::Step { action, .. } => (action, true),
            Ask::Return { action, .. } | Ask::Enter { action, .. } | Ask::Recall { action, .. } => {
                (action, false)
            }
            _ => return,
        };
        let Some(sampler) = &mut self.sampler else { return };
        let (initial, before) = self.walk.place_before_step();
        let answer = sample::Answer::new(self.driver.observation(), verdict, self.driver.reward());
        let is_last = verdict != Verdict::Running;
        let step = sample::Step { initial, number: before + 1, action, goes_on, answer, is_last };
        self.sample_at = sampler.take(self.driver.transitions(), step, || self.walk.all_labels());
    }

    /// The step it waits for: appends the state that it starts from, and returns its action.
    pub(super) fn asked(&mut self, states: &mut Vec<u8>) -> Result<usize, RunError> {
        self.driver.asked(states)
    }

    /// What came of the step it waited for.
    pub(super) fn told(&mut self, state: &[u8], observation: &[f64], reply: Reply) -> Result<(), RunError> {
        if let Some(verdict) = self.driver.told(self.walk.ask(), state, observation, reply)? {
            self.tell(verdict)?;
        }
        Ok(())
    }

    /// Keeps the present place for the walk, unless there are too many.
    #[cold]
    fn keep_place(&mut self) -> Result<(), RunError> {
        let bytes = self.driver.keep_place()?;
        if bytes + self.walk.memory_bytes() > self.remembered {
            self.walk.close_memory();
        }
        Ok(())
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

    /// The job is done, and nobody has gone on yet with what it set aside: what is written down counts.
    pub(super) fn finish_record(&mut self) {
        if let Some(recorder) = self.walk.recorder() {
            recorder.finish();
        }
    }

    /// Sets aside all that is left to do. It takes no query; the lane is done as soon as it goes on.
    pub(super) fn suspend(&mut self) -> Result<(), RunError> {
        if self.next.is_some() {
            return Ok(());
        }
        while matches!(
            self.walk.ask(),
            Ask::Leave | Ask::LeaveMarks { .. } | Ask::LeaveKept { .. } | Ask::Keep { .. } | Ask::Wait
        ) {
            self.driver.answer(&self.walk)?;
            self.walk.resume();
        }
        if let Some(sampler) = &mut self.sampler {
            self.sample_at = sampler.end(self.driver.transitions()).unwrap_or(self.sample_at);
        }
        self.next = Some(self.take_leaves());
        self.walk.suspend();
        let ask = *self.walk.ask();
        let instead = self.driver.retract(ask)?;
        match ask {
            Ask::Step { .. } => self.walk.retract(Some(self.driver.cell())),
            Ask::Return { .. } => self.walk.retract(None),
            Ask::Recall { .. } => self.walk.retract_recalled(),
            Ask::Enter { leaf, .. } => self.walk.retract_leaf(leaf),
            _ => {}
        }
        self.walk.ask_instead(instead);
        Ok(())
    }

    /// What is left when the job is done: the leaves for the next round, and what was set aside because
    /// the lane was suspended.
    pub(super) fn finish(&mut self) -> (Frontier, Frontier) {
        let last = self.take_leaves();
        match self.next.take() {
            None => (last, Frontier::new(self.walk.dimensions())),
            Some(next) => (next, last),
        }
    }

    fn take_leaves(&mut self) -> Frontier {
        Frontier { leaves: Arc::new(self.walk.take_leaves()), places: Arc::new(self.driver.take_leaves()) }
    }

    /// Why it was stopped, if it was.
    pub(super) fn stopped(&self) -> Option<StopReason> {
        self.stopped
    }

    /// A solution found elsewhere becomes the incumbent.
    pub(super) fn improve(&mut self, incumbent: Incumbent) {
        self.walk.improve(incumbent);
    }

    /// Whether it has found a behaviour that it has not told yet.
    pub(super) fn has_found(&self) -> bool {
        matches!(self.walk.ask(), Ask::Found { .. })
    }

    /// The walk, to look at.
    pub(super) fn walk(&self) -> &Walk<S> {
        &self.walk
    }

    /// Counts transitions there from now on; what it has counted so far is there instead.
    pub(super) fn swap_transitions(&mut self, transitions: &mut Transitions) {
        self.walk.swap_transitions(transitions);
    }

    /// Adds the transitions counted so far to others, and counts anew.
    pub(super) fn move_transitions(&mut self, all: &mut Transitions) {
        self.walk.move_transitions(all);
    }

    /// The error of a system that has panicked.
    pub(super) fn panicked(&self, panic: &(dyn Any + Send)) -> RunError {
        self.driver.panicked(panic)
    }

    /// What the leaves of this round take in memory.
    pub(super) fn leaf_bytes(&self) -> usize {
        self.walk.leaf_bytes() + self.driver.leaf_bytes()
    }

    /// Transitions that the walk asked for, of the system or of the cache.
    pub(super) fn transitions(&self) -> u64 {
        self.driver.transitions()
    }

    pub(super) fn counts(&self) -> Counts {
        Counts {
            traces: self.driver.traces(),
            queries: self.driver.queries(),
            hits: self.driver.hits(),
            canonical: self.walk.canonical(),
            replayed: self.driver.replayed(),
            ended: self.walk.ended(),
            behaviours: self.walk.counts(),
        }
    }
}

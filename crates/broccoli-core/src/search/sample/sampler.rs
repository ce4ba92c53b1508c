//! Takes runs down as lanes make them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Sample;
use super::extremes::Bounds;
use super::run::{Answer, MOST_ANSWERS, MOST_BEFORE, MOST_LABELS, Run};
use crate::problem::Verdict;
use crate::search::behaviour::Labelled;

/// A sample that lanes share.
#[derive(Clone)]
pub(in crate::search) struct Shared(Arc<Mutex<Sample>>);

impl Shared {
    /// Goes on with a sample.
    pub(in crate::search) fn new(sample: Sample) -> Self {
        Shared(Arc::new(Mutex::new(sample)))
    }

    fn lock(&self) -> MutexGuard<'_, Sample> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a checkpoint keeps of it.
    pub(in crate::search) fn copy(&self) -> Sample {
        self.lock().clone()
    }
}

/// A step as a lane made it.
#[derive(Clone, Copy)]
pub(in crate::search) struct Step {
    pub(in crate::search) initial: usize,
    /// Its number in the run, from 1.
    pub(in crate::search) number: u64,
    pub(in crate::search) action: u16,
    /// Whether it goes on from where the step before led.
    pub(in crate::search) goes_on: bool,
    pub(in crate::search) answer: Answer,
    pub(in crate::search) is_last: bool,
}

/// Takes down runs of one lane.
pub(in crate::search) struct Sampler {
    sample: Shared,
    run: Option<Run>,
    /// The extreme values, as far as this lane knows; none if nobody wants them.
    bounds: Option<Bounds>,
}

impl Sampler {
    pub(in crate::search) fn new(sample: Shared, dimensions: usize) -> Self {
        let bounds = sample.lock().extremes.are_wanted().then(|| Bounds::new(dimensions));
        Sampler { sample, run: None, bounds }
    }

    /// Takes down a step, the lane having made so many queries; after how many it wants to be told of
    /// another. `labels` are asked for at the beginning of a run.
    pub(in crate::search) fn take(
        &mut self,
        now: u64,
        step: Step,
        labels: impl FnOnce() -> Vec<Labelled>,
    ) -> u64 {
        let Step { initial, number, action, goes_on, answer, is_last } = step;
        let mut run = match self.run.take() {
            Some(run) if goes_on && (run.initial as usize, run.steps() + 1) == (initial, number) => run,
            before => {
                let pause = before.map_or(0, |run| self.sample.lock().add(run));
                if pause > 0 {
                    return now.saturating_add(1 + pause);
                }
                match begun(initial, number, labels) {
                    Some(run) => run,
                    None => return now.saturating_add(1 + self.sample.lock().pause),
                }
            }
        };
        run.actions.push(action);
        run.answers.push(answer);
        if is_last || run.actions.len() == MOST_ANSWERS {
            return now.saturating_add(1 + self.sample.lock().add(run));
        }
        self.run = Some(run);
        0
    }

    /// Whether an answer is extreme as far as the lane knows.
    #[inline]
    pub(in crate::search) fn is_extreme(&self, observation: &[f64], verdict: Verdict) -> bool {
        self.bounds.as_ref().is_some_and(|bounds| bounds.is_beyond(observation, verdict))
    }

    /// Takes down a step whose answer is extreme.
    pub(in crate::search) fn take_extreme(
        &mut self,
        step: Step,
        observation: &[f64],
        verdict: Verdict,
        labels: impl FnOnce() -> Vec<Labelled>,
    ) {
        let Step { initial, number, action, answer, .. } = step;
        let (Some(bounds), Some(run)) = (&mut self.bounds, begun(initial, number, labels)) else { return };
        let run = Run { actions: vec![action], answers: vec![answer], ..run };
        self.sample.lock().extremes.take(bounds, observation, verdict, &run);
    }

    /// The lane is set aside after so many queries: what was taken down so far is a run. After how many the
    /// lane wants to take down another, if there was one.
    pub(in crate::search) fn end(&mut self, now: u64) -> Option<u64> {
        let run = self.run.take()?;
        Some(now.saturating_add(self.sample.lock().add(run)))
    }
}

/// A run that begins with the step of this number, unless the way there is too long.
fn begun(initial: usize, number: u64, labels: impl FnOnce() -> Vec<Labelled>) -> Option<Run> {
    let before = number - 1;
    let labels = if before == 0 { Vec::new() } else { labels() };
    let is_short = before <= MOST_BEFORE && labels.len() <= MOST_LABELS;
    let run = Run { initial: initial as u32, before, labels, actions: Vec::new(), answers: Vec::new() };
    is_short.then_some(run)
}

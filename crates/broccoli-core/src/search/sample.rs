//! A sample of what a system has answered, for a search that is resumed to ask again: a search believes what it
//! was told before, so a system that has changed since would give a wrong answer, and a proof of it.
//!
//! The lanes write some of their runs down as they make them, which takes no query. A *run* is the way to a place,
//! given by labels as for a leaf, and what the system answered to the next steps, as digests. A run begins every so
//! many transitions; when there are too many runs every second one goes, and the next ones begin half as often. So
//! the sample spans the whole search, and takes a bounded amount of memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::behaviour::Labelled;
use crate::problem::{Instance, Problem, Rank, RunError, Verdict};

/// The most runs in a sample.
const MOST_RUNS: usize = 64;
/// The most steps on the way to a run, of those that are digested, and the most labels on the way.
const MOST_BEFORE: u64 = 1 << 10;
const MOST_ANSWERS: usize = 64;
const MOST_LABELS: usize = 1 << 10;
/// After how many transitions a lane begins another run, at first.
const FIRST_INTERVAL: u64 = 16;
/// The most steps of all runs together: some, and more after more queries, up to a limit.
const LEAST_STEPS: u64 = 8;
const MOST_STEPS: u64 = 1 << 12;

/// How many steps the runs may have together after so many queries. They are made again each time the search is
/// resumed, so they grow slower than the search: one that is resumed often, for few queries each, must get on.
fn most_steps(queries: u64) -> u64 {
    (LEAST_STEPS + 2 * queries.isqrt()).min(MOST_STEPS)
}

/// What a system answered to a step: a digest of the observation, the verdict, the bits of the reward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Answer {
    observation: u64,
    verdict: u8,
    reward: u64,
}

impl Answer {
    pub(super) fn new(observation: &[f64], verdict: Verdict, reward: f64) -> Self {
        let mix = |digest: u64, value: &f64| {
            (digest.rotate_left(23) ^ value.to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        };
        let observation = observation.iter().fold(0xcbf2_9ce4_8422_2325, mix);
        Answer { observation, verdict: verdict as u8, reward: reward.to_bits() }
    }

    /// What is not as it was, in words.
    fn difference(&self, now: &Answer) -> Option<String> {
        if self.verdict != now.verdict {
            let word = |verdict: u8| match verdict {
                0 => "running",
                1 => "satisfied",
                _ => "violated",
            };
            return Some(format!("the run was {}, and now it is {}", word(self.verdict), word(now.verdict)));
        }
        if self.observation != now.observation {
            return Some("the observation is not what it was".to_owned());
        }
        let (then, now) = (f64::from_bits(self.reward), f64::from_bits(now.reward));
        (then.to_bits() != now.to_bits()).then(|| format!("the reward was {then}, and now it is {now}"))
    }
}

/// A run, or the end of one.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Run {
    initial: u32,
    /// The steps before, and the labels that they follow.
    before: u64,
    labels: Vec<Labelled>,
    /// The steps, and what the system answered.
    actions: Vec<u16>,
    answers: Vec<Answer>,
}

impl Run {
    fn steps(&self) -> u64 {
        self.before + self.actions.len() as u64
    }

    fn is_of(&self, problem: &Problem) -> bool {
        let is_action = |&action: &u16| usize::from(action) < problem.actions().len();
        (self.initial as usize) < problem.initial_states().len()
            && self.before <= MOST_BEFORE
            && self.actions.len() == self.answers.len()
            && self.actions.len() <= MOST_ANSWERS
            && self.labels.iter().all(|labelled| labelled.is_of(problem))
            && self.actions.iter().all(is_action)
    }

    /// Runs it again: the first step at which something differs, and what.
    fn again(&self, problem: &Problem, instance: &mut Instance<'_>) -> Result<(), RunError> {
        let initial = self.initial as usize;
        let changed = |step, what: String| Err(RunError::Changed { initial, step, what });
        let labels: BTreeMap<&[Rank], u16> = self.labels.iter().map(|l| (&*l.cell, l.label)).collect();
        let mut cell = vec![0; problem.dimensions().len()];
        let mut verdict = instance.reset(initial)?;
        for step in 1..=self.before {
            if verdict != Verdict::Running {
                return changed(step - 1, "the run went on, and now it ends".to_owned());
            }
            problem.cell(instance.observation(), &mut cell);
            let Some(&action) = labels.get(&*cell) else {
                return changed(step - 1, "the observation is not what it was".to_owned());
            };
            verdict = instance.step(usize::from(action))?;
        }
        for (step, (&action, answer)) in (self.before + 1..).zip(self.actions.iter().zip(&self.answers)) {
            if verdict != Verdict::Running {
                return changed(step - 1, "the run went on, and now it ends".to_owned());
            }
            verdict = instance.step(usize::from(action))?;
            let now = Answer::new(instance.observation(), verdict, instance.reward());
            if let Some(what) = answer.difference(&now) {
                return changed(step, what);
            }
        }
        Ok(())
    }
}

/// Some of the runs of a search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Sample {
    runs: Vec<Run>,
    /// After how many transitions a lane begins another run.
    interval: u64,
}

impl Default for Sample {
    fn default() -> Self {
        Sample { runs: Vec::new(), interval: FIRST_INTERVAL }
    }
}

impl Sample {
    /// Whether it can be one of this problem.
    pub(super) fn is_of(&self, problem: &Problem) -> bool {
        self.runs.len() <= MOST_RUNS && self.runs.iter().all(|run| run.is_of(problem))
    }

    /// The steps that it takes to run it again, at most.
    #[cfg(test)]
    fn steps(&self) -> u64 {
        self.runs.iter().map(Run::steps).sum()
    }

    /// Adds a run; after how many transitions the next one begins.
    fn add(&mut self, run: Run) -> u64 {
        self.runs.push(run);
        if self.runs.len() > MOST_RUNS {
            self.thin_out();
            self.interval = self.interval.saturating_mul(2);
        }
        self.interval
    }

    /// Drops every second run, and never the first.
    fn thin_out(&mut self) {
        let mut is_kept = false;
        self.runs.retain(|_| {
            is_kept = !is_kept;
            is_kept
        });
    }

    /// What of it a checkpoint keeps after so many queries: running it again is to take a small share of them.
    fn bounded(&self, queries: u64) -> Self {
        let most = most_steps(queries);
        let mut bounded = self.clone();
        while bounded.runs.len() > 1 && bounded.runs.iter().map(Run::steps).sum::<u64>() > most {
            bounded.thin_out();
        }
        bounded
    }

    /// Asks the system again for what it answered.
    ///
    /// # Errors
    /// When it answers something else, or the system fails or is stopped.
    pub(super) fn run_again(&self, problem: &Problem, instance: &mut Instance<'_>) -> Result<(), RunError> {
        self.runs.iter().try_for_each(|run| run.again(problem, instance))
    }
}

/// A sample that lanes share.
#[derive(Clone, Default)]
pub(super) struct Shared(Arc<Mutex<Sample>>);

impl Shared {
    /// Goes on with a sample.
    pub(super) fn new(sample: Sample) -> Self {
        Shared(Arc::new(Mutex::new(sample)))
    }

    fn lock(&self) -> MutexGuard<'_, Sample> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a checkpoint keeps of it after so many queries.
    pub(super) fn bounded(&self, queries: u64) -> Sample {
        self.lock().bounded(queries)
    }
}

/// A step as a lane made it.
pub(super) struct Step {
    pub(super) initial: usize,
    /// Its number in the run, from 1.
    pub(super) number: u64,
    pub(super) action: u16,
    /// Whether it goes on from where the step before led.
    pub(super) goes_on: bool,
    pub(super) answer: Answer,
    pub(super) is_last: bool,
}

/// Takes down runs of one lane.
pub(super) struct Sampler {
    sample: Shared,
    run: Option<Run>,
}

impl Sampler {
    pub(super) fn new(sample: Shared) -> Self {
        Sampler { sample, run: None }
    }

    /// Takes down a step, the lane having made so many transitions; after how many it wants to be told of
    /// another. `labels` are asked for at the beginning of a run.
    pub(super) fn take(&mut self, now: u64, step: Step, labels: impl FnOnce() -> Vec<Labelled>) -> u64 {
        let Step { initial, number, action, goes_on, answer, is_last } = step;
        let mut run = match self.run.take() {
            Some(run) if goes_on && (run.initial as usize, run.steps() + 1) == (initial, number) => run,
            Some(run) => return now.saturating_add(self.sample.lock().add(run)),
            None => {
                let before = number - 1;
                let labels = if before == 0 { Vec::new() } else { labels() };
                if before > MOST_BEFORE || labels.len() > MOST_LABELS {
                    return now.saturating_add(self.sample.lock().interval);
                }
                Run { initial: initial as u32, before, labels, actions: Vec::new(), answers: Vec::new() }
            }
        };
        run.actions.push(action);
        run.answers.push(answer);
        if is_last || run.actions.len() == MOST_ANSWERS {
            return now.saturating_add(self.sample.lock().add(run));
        }
        self.run = Some(run);
        0
    }

    /// The lane is set aside after so many transitions: what was taken down so far is a run. After how many the
    /// lane wants to take down another, if there was one.
    pub(super) fn end(&mut self, now: u64) -> Option<u64> {
        let run = self.run.take()?;
        Some(now.saturating_add(self.sample.lock().add(run)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sample of a lane that only ever goes ahead, in runs of so many steps.
    fn sample_of(transitions: u64, length: u64) -> Sample {
        let shared = Shared::default();
        let mut sampler = Sampler::new(shared.clone());
        let mut at = 0;
        for now in 0..transitions {
            if now >= at {
                let number = now % length + 1;
                let answer = Answer::new(&[now as f64], Verdict::Running, 0.0);
                let is_last = number == length;
                let step = Step { initial: 0, number, action: 0, goes_on: number > 1, answer, is_last };
                at = sampler.take(now, step, Vec::new);
            }
        }
        sampler.end(transitions);
        shared.bounded(transitions)
    }

    #[test]
    fn a_sample_is_bounded_and_spans_the_search() {
        for transitions in [1, 20, 1_000, 100_000] {
            for length in [1, 7, 150, 2_000] {
                let sample = sample_of(transitions, length);
                assert!((1..=MOST_RUNS).contains(&sample.runs.len()));
                assert!(sample.runs.len() == 1 || sample.steps() <= most_steps(transitions));
                assert_eq!(sample.runs[0].before, 0, "the first run is always there");
            }
        }
        assert!(sample_of(100_000, 20).runs.len() > MOST_RUNS / 8);
    }

    #[test]
    fn every_bit_of_an_answer_counts() {
        let answer = Answer::new(&[1.0, 2.0], Verdict::Running, 0.5);
        assert_eq!(answer.difference(&answer), None);
        for (other, what) in [
            (Answer::new(&[1.0, 2.0 + f64::EPSILON * 2.0], Verdict::Running, 0.5), "the observation"),
            (Answer::new(&[2.0, 1.0], Verdict::Running, 0.5), "the observation"),
            (Answer::new(&[1.0, 2.0], Verdict::Satisfied, 0.5), "running, and now it is satisfied"),
            (Answer::new(&[1.0, 2.0], Verdict::Running, 0.25), "the reward was 0.5, and now it is 0.25"),
        ] {
            let difference = answer.difference(&other).expect("they differ");
            assert!(difference.contains(what), "{difference}");
        }
    }
}

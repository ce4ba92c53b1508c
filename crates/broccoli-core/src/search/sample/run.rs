//! Runs of a system, written down to be made again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::problem::{Instance, Problem, Rank, RunError, Verdict};
use crate::search::behaviour::Labelled;

/// The most steps on the way to a run, of those that are digested, and the most labels on the way.
pub(super) const MOST_BEFORE: u64 = 1 << 14;
pub(super) const MOST_ANSWERS: usize = 64;
pub(super) const MOST_LABELS: usize = 1 << 10;

/// What a system answered to a step: a digest of the observation, the verdict, the bits of the reward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::search) struct Answer {
    observation: u64,
    verdict: u8,
    reward: u64,
}

impl Answer {
    pub(in crate::search) fn new(observation: &[f64], verdict: Verdict, reward: f64) -> Self {
        let mix = |digest: u64, value: &f64| {
            (digest.rotate_left(23) ^ value.to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        };
        let observation = observation.iter().fold(0xcbf2_9ce4_8422_2325, mix);
        Answer { observation, verdict: verdict as u8, reward: reward.to_bits() }
    }

    /// What is not as it was, in words.
    pub(super) fn difference(&self, now: &Answer) -> Option<String> {
        if self.verdict != now.verdict {
            return Some(verdict_changed(word(self.verdict), word(now.verdict)));
        }
        if self.observation != now.observation {
            return Some("the observation is not what it was".to_owned());
        }
        let (then, now) = (f64::from_bits(self.reward), f64::from_bits(now.reward));
        (then.to_bits() != now.to_bits()).then(|| format!("the reward was {then}, and now it is {now}"))
    }
}

fn word(verdict: u8) -> &'static str {
    match verdict {
        0 => "running",
        1 => "satisfied",
        _ => "violated",
    }
}

fn verdict_changed(then: &str, now: &str) -> String {
    format!("the run was {then}, and now it is {now}")
}

/// A run, or the end of one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Run {
    pub(super) initial: u32,
    /// The steps before, and the labels that they follow.
    pub(super) before: u64,
    pub(super) labels: Vec<Labelled>,
    /// The steps, and what the system answered.
    pub(super) actions: Vec<u16>,
    pub(super) answers: Vec<Answer>,
}

impl Run {
    pub(super) fn steps(&self) -> u64 {
        self.before + self.actions.len() as u64
    }

    /// What it takes to keep it, in words of four bytes, about.
    pub(super) fn weight(&self) -> usize {
        8 + self.labels.iter().map(|label| label.cell.len() + 8).sum::<usize>() + 6 * self.answers.len()
    }

    pub(super) fn is_of(&self, problem: &Problem) -> bool {
        let is_action = |&action: &u16| usize::from(action) < problem.actions().len();
        (self.initial as usize) < problem.initial_states().len()
            && self.before <= MOST_BEFORE
            && self.actions.len() == self.answers.len()
            && self.actions.len() <= MOST_ANSWERS
            && self.labels.len() <= MOST_LABELS
            && self.labels.iter().all(|labelled| labelled.is_of(problem))
            && self.actions.iter().all(is_action)
    }

    /// Runs it again: the first step at which something differs, and what.
    pub(super) fn again(&self, problem: &Problem, instance: &mut Instance<'_>) -> Result<(), RunError> {
        let initial = self.initial as usize;
        let labels: BTreeMap<&[Rank], u16> = self.labels.iter().map(|l| (&*l.cell, l.label)).collect();
        let mut cell = vec![0; problem.dimensions().len()];
        let mut verdict = instance.reset(initial)?;
        for step in 1..=self.before {
            goes_on(verdict, initial, step - 1)?;
            problem.cell(instance.observation(), &mut cell);
            let Some(&action) = labels.get(&*cell) else {
                return changed(initial, step - 1, "the observation is not what it was");
            };
            verdict = instance.step(usize::from(action))?;
        }
        for (step, (&action, answer)) in (self.before + 1..).zip(self.actions.iter().zip(&self.answers)) {
            goes_on(verdict, initial, step - 1)?;
            verdict = instance.step(usize::from(action))?;
            let now = Answer::new(instance.observation(), verdict, instance.reward());
            if let Some(what) = answer.difference(&now) {
                return changed(initial, step, what);
            }
        }
        Ok(())
    }
}

/// A place on a remembered trace: its number of steps, where it was, and what was done there unless it is the last one.
pub(in crate::search) struct Stop<'t> {
    pub(in crate::search) steps: u64,
    pub(in crate::search) verdict: Verdict,
    pub(in crate::search) cell: &'t [Rank],
    pub(in crate::search) action: Option<u16>,
}

/// Runs a remembered trace again: the first place that is not where it was. In between every cell has been met before.
pub(super) fn trace_again(
    problem: &Problem,
    instance: &mut Instance<'_>,
    initial: usize,
    stops: &[Stop<'_>],
) -> Result<(), RunError> {
    let labels: BTreeMap<&[Rank], u16> =
        stops.iter().filter_map(|stop| Some((stop.cell, stop.action?))).collect();
    let mut cell = vec![0; problem.dimensions().len()];
    let mut verdict = instance.reset(initial)?;
    for stop in stops {
        while instance.steps() < stop.steps {
            goes_on(verdict, initial, instance.steps())?;
            problem.cell(instance.observation(), &mut cell);
            let Some(&action) = labels.get(&*cell) else {
                return changed(initial, instance.steps(), "the observation is not what it was");
            };
            verdict = instance.step(usize::from(action))?;
        }
        problem.cell(instance.observation(), &mut cell);
        if verdict != stop.verdict {
            let words = verdict_changed(word(stop.verdict as u8), word(verdict as u8));
            return changed(initial, stop.steps, words);
        }
        if cell != stop.cell {
            return changed(initial, stop.steps, "the observation is not what it was");
        }
    }
    Ok(())
}

fn goes_on(verdict: Verdict, initial: usize, step: u64) -> Result<(), RunError> {
    match verdict {
        Verdict::Running => Ok(()),
        _ => changed(initial, step, "the run went on, and now it ends"),
    }
}

fn changed(initial: usize, step: u64, what: impl Into<String>) -> Result<(), RunError> {
    Err(RunError::Changed { initial, step, what: what.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

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

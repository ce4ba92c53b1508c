//! What a behaviour is worth, and can still be worth: the rules of every objective, by which traces and behaviours end.
//!
//! Where the worst trace is the value, the steps of the worst one so far tell all, and that is quick. For any other
//! objective the values of all traces are kept, and [`Tally`] knows what is possible at best.

use super::{Position, Walk};
use crate::problem::measure::Tally;
use crate::problem::{Objective, Over, Problem, Verdict};
use crate::search::behaviour::bounds::Store;
use crate::search::behaviour::schedule::Round;
use crate::search::behaviour::score::rank;
use crate::search::behaviour::version_space::Cost;
use crate::search::evidence::End;

/// How the value of a behaviour comes about.
#[derive(Clone, Debug)]
pub(super) enum Measure {
    /// The most steps of a trace.
    Most,
    /// The fewest.
    Fewest,
    /// The values of traces that have ended; and how many of them, in the order of the walk.
    Tally(Box<Tally>, usize),
}

impl Measure {
    pub(super) fn new(problem: &Problem) -> Self {
        match (Tally::new(problem), problem.objective()) {
            (Some(tally), _) => Measure::Tally(Box::new(tally), 0),
            (None, Objective::Reach { .. }) => Measure::Most,
            (None, _) => Measure::Fewest,
        }
    }
}

impl<S: Store> Walk<S> {
    /// Whether the behaviour may need as many predicates as it does, if its value is at best this.
    #[inline]
    fn is_allowed(&self, value: u64) -> bool {
        self.allowance.of(rank(self.objective, value)).is_some_and(|most| self.cost <= most)
    }

    /// How many predicates the behaviour may have if the present trace makes one more step; none if it needs more.
    #[inline(always)]
    pub(super) fn allowance_for_step(&mut self) -> Option<Cost> {
        let allowance = match self.measure {
            Measure::Most if self.at.steps >= self.horizon => None,
            Measure::Most => self.allowance.of(self.at.worst.max(self.at.steps + 1)),
            Measure::Fewest => self.allowance.of(!self.at.worst),
            Measure::Tally(..) => {
                self.best_with_step().and_then(|best| self.allowance.of(rank(self.objective, best)))
            }
        };
        allowance.filter(|&most| self.cost <= most)
    }

    #[inline(never)]
    fn best_with_step(&mut self) -> Option<u64> {
        let Measure::Tally(tally, _) = &mut self.measure else { return None };
        let best = tally.at_best(self.at.total, self.at.steps);
        tally.overall(Some((self.order[self.at.trace as usize] as usize, best)))
    }

    /// The best value that the behaviour can still have before its next trace, or that of all its traces; none if that
    /// is not allowed.
    pub(super) fn allowed_value(&mut self) -> Option<u64> {
        let value = match &mut self.measure {
            Measure::Most | Measure::Fewest => Some(self.at.worst),
            Measure::Tally(tally, _) => tally.overall(None),
        };
        value.filter(|&value| self.is_allowed(value))
    }

    /// The number by which the last step is counted. Only `reach` asks how many steps were made up to some number.
    #[inline(always)]
    pub(super) fn counted_step(&self) -> u64 {
        if let Measure::Fewest = self.measure { 1 } else { self.at.steps }
    }

    /// Whether behaviours wait when their first trace is complete, so that those go on first whose first traces are the
    /// longest: then an incumbent that others cannot beat is found early.
    pub(super) fn waits(&self) -> bool {
        matches!(self.measure, Measure::Fewest) && self.job.round != Round::LAST
    }

    /// The last step gave this reward.
    #[inline]
    pub(super) fn take_reward(&mut self, reward: f64) {
        if matches!(self.measure, Measure::Tally(..)) && self.at.steps > 0 {
            self.add_reward(reward);
        }
    }

    #[inline(never)]
    fn add_reward(&mut self, reward: f64) {
        if let Measure::Tally(tally, _) = &mut self.measure {
            self.at.total = tally.add(self.at.total, self.at.steps, reward);
        }
    }

    /// Whether the running trace ends here because of the horizon, or because its value cannot matter any more.
    #[inline(always)]
    pub(super) fn is_over(&mut self) -> bool {
        match self.measure {
            Measure::Most => false,
            Measure::Fewest => self.at.steps >= self.at.worst,
            Measure::Tally(..) => self.is_long_enough(),
        }
    }

    #[inline(never)]
    fn is_long_enough(&mut self) -> bool {
        let trace = self.at.trace as usize;
        // It takes too long for any value that is wanted, but may fail.
        let is_hopeless =
            matches!(self.objective.over(), Over::Share(_)) && !self.is_allowed(self.at.steps + 1);
        let is_over = self.at.steps >= self.horizon || is_hopeless;
        let Measure::Tally(tally, _) = &mut self.measure else { return false };
        is_over || tally.is_too_long(self.at.steps, &self.order[..trace])
    }

    /// The present trace has ended: whether the behaviour can still be what is wanted.
    pub(super) fn is_complete(&mut self, verdict: Verdict) -> bool {
        let Position { trace, steps, total, .. } = self.at;
        let is_complete = match &mut self.measure {
            Measure::Most => {
                self.at.worst = self.at.worst.max(steps);
                verdict == Verdict::Satisfied
            }
            Measure::Fewest if verdict != Verdict::Violated => true,
            Measure::Fewest => {
                self.at.worst = self.at.worst.min(steps);
                self.is_allowed(self.at.worst)
            }
            Measure::Tally(tally, count) => {
                let best = tally.trace(verdict, steps, total).and_then(|value| {
                    tally.set(self.order[trace as usize] as usize, value);
                    *count = trace as usize + 1;
                    tally.overall(None)
                });
                best.is_some_and(|best| self.is_allowed(best))
            }
        };
        if !is_complete {
            let is_tallied = matches!(self.measure, Measure::Tally(..));
            let is_bound = is_tallied && verdict != Verdict::Violated;
            self.note_end(if is_bound { End::Bound } else { End::Violated });
        }
        is_complete
    }

    /// Forgets the values of all traces but those that are complete now. To be called before the order of the
    /// initial states changes.
    pub(super) fn forget_values(&mut self, complete: usize) {
        let Measure::Tally(tally, count) = &mut self.measure else { return };
        for &initial in self.order.iter().take(*count).skip(complete) {
            tally.forget(initial as usize);
        }
        *count = complete.min(*count);
    }

    /// The values of the complete traces are these, in the order of the walk.
    pub(super) fn set_values(&mut self, values: &[f64]) {
        let Measure::Tally(tally, count) = &mut self.measure else { return };
        for (&initial, &value) in self.order.iter().zip(values) {
            tally.set(initial as usize, value);
        }
        *count = values.len();
    }

    /// The values of the complete traces, in the order of the walk.
    pub(super) fn values(&self) -> Vec<f64> {
        let Measure::Tally(tally, _) = &self.measure else { return Vec::new() };
        let complete = &self.order[..self.at.trace as usize];
        complete.iter().map(|&initial| tally.value(initial as usize)).collect()
    }
}

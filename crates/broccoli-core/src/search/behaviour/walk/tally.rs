//! Objectives whose value takes more than the worst trace to tell: the values of all traces are kept.
//!
//! [`Tally`] knows what is still possible at best. What the rewards of the running trace sum up to is in
//! [`Position::total`](super::Position): going back brings it back.

use super::Walk;
use crate::problem::measure::Tally;
use crate::problem::{Objective, Over, Problem, Verdict};
use crate::search::behaviour::bounds::Store;
use crate::search::evidence::End;

/// How the value of a behaviour comes about.
#[derive(Clone, Debug)]
pub(super) enum Measure {
    /// The most steps of a trace.
    Most,
    /// The fewest.
    Fewest,
    Tally(Box<TraceValues>),
}

impl Measure {
    pub(super) fn new(problem: &Problem) -> Self {
        match (Tally::new(problem), problem.objective()) {
            (Some(tally), _) => Measure::Tally(Box::new(TraceValues { tally, count: 0 })),
            (None, Objective::Reach { .. }) => Measure::Most,
            (None, _) => Measure::Fewest,
        }
    }
}

/// The values of traces that have ended.
#[derive(Clone, Debug)]
pub(super) struct TraceValues {
    tally: Tally,
    /// How many of the traces, in the order of the walk, are known.
    count: usize,
}

impl<S: Store> Walk<S> {
    /// The best value that the behaviour can still have, if the present trace makes one more step.
    #[inline(never)]
    pub(super) fn best_with_step(&mut self) -> Option<u64> {
        let Measure::Tally(known) = &mut self.measure else { return None };
        let best = known.tally.at_best(self.at.total, self.at.steps);
        known.tally.overall(Some((self.order[self.at.trace as usize] as usize, best)))
    }

    /// The best value that the behaviour can still have before its next trace; that of all, if there is none.
    #[inline]
    pub(super) fn best_value(&mut self) -> Option<u64> {
        match &mut self.measure {
            Measure::Most | Measure::Fewest => Some(self.at.worst),
            Measure::Tally(known) => known.tally.overall(None),
        }
    }

    /// The last step gave this reward.
    #[inline]
    pub(super) fn take_reward(&mut self, reward: f64) {
        if matches!(self.measure, Measure::Tally(_)) && self.at.steps > 0 {
            self.add_reward(reward);
        }
    }

    #[inline(never)]
    fn add_reward(&mut self, reward: f64) {
        if let Measure::Tally(known) = &mut self.measure {
            self.at.total = known.tally.add(self.at.total, self.at.steps, reward);
        }
    }

    /// Whether the running trace ends here because of the horizon, or because its value cannot matter.
    #[inline(never)]
    pub(super) fn is_long_enough(&mut self) -> bool {
        let trace = self.at.trace as usize;
        let is_over = self.at.steps >= self.objective.horizon() || self.is_hopeless();
        let Measure::Tally(known) = &mut self.measure else { return false };
        is_over || known.tally.is_too_long(self.at.steps, &self.order[..trace])
    }

    /// Whether the trace takes too long for any value that is wanted, but may fail.
    fn is_hopeless(&self) -> bool {
        let is_share = matches!(self.objective.over(), Over::Share(_));
        is_share && !self.is_allowed(self.at.steps + 1)
    }

    /// The present trace has ended: writes its value down; says whether the behaviour can still be what is
    /// wanted.
    pub(super) fn end_tallied(&mut self, verdict: Verdict) -> bool {
        let (trace, initial) = (self.at.trace as usize, self.order[self.at.trace as usize] as usize);
        let Measure::Tally(known) = &mut self.measure else { return false };
        let value = known.tally.trace(verdict, self.at.steps, self.at.total);
        let best = value.and_then(|value| {
            known.tally.set(initial, value);
            known.count = trace + 1;
            known.tally.overall(None)
        });
        let can_be = best.is_some_and(|best| self.is_allowed(best));
        if !can_be {
            self.note_end(if verdict == Verdict::Violated { End::Violated } else { End::Bound });
        }
        can_be
    }

    /// Forgets the values of all traces but those that are complete now. To be called before the order of the
    /// initial states changes.
    pub(super) fn forget_values(&mut self, complete: usize) {
        let Measure::Tally(known) = &mut self.measure else { return };
        for &initial in self.order.iter().take(known.count).skip(complete) {
            known.tally.forget(initial as usize);
        }
        known.count = known.count.min(complete);
    }

    /// The values of the complete traces are these, in the order of the walk.
    pub(super) fn set_values(&mut self, values: &[f64]) {
        let Measure::Tally(known) = &mut self.measure else { return };
        for (&initial, &value) in self.order.iter().zip(values) {
            known.tally.set(initial as usize, value);
        }
        known.count = values.len();
    }

    /// The values of the complete traces, in the order of the walk.
    pub(super) fn values(&self) -> Vec<f64> {
        let Measure::Tally(known) = &self.measure else { return Vec::new() };
        let complete = &self.order[..self.at.trace as usize];
        complete.iter().map(|&initial| known.tally.value(initial as usize)).collect()
    }
}

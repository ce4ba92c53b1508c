//! The end of a trace, and the start of the next one, as far as it is remembered.

use super::{Ask, Origin, Walk};
use crate::problem::Verdict;
use crate::search::behaviour::bounds::Store;
use crate::search::behaviour::recall::{Node, Record};
use crate::search::behaviour::score::Score;
use crate::search::evidence::End;

/// What comes of a trace that is started.
enum Started {
    /// It has to be run.
    Asks(Ask),
    /// It is remembered, and is complete, or has failed.
    Complete,
    Failed,
}

impl<S: Store> Walk<S> {
    /// The present trace is complete.
    pub(super) fn complete_trace(&mut self) -> Ask {
        self.run_on(Started::Complete).unwrap_or_else(|| self.go_back())
    }

    /// Starts the next trace of a behaviour that has waited for it; nothing if it has failed or is set aside.
    pub(super) fn next_trace(&mut self) -> Option<Ask> {
        if self.allowed_value().is_none() {
            self.note_end(End::Bound);
            self.end(self.at.share);
            return None;
        }
        let started = self.start_trace();
        self.run_on(started)
    }

    /// Goes on with the next traces as long as they are remembered; nothing if the behaviour has failed or is set aside.
    fn run_on(&mut self, mut started: Started) -> Option<Ask> {
        loop {
            match started {
                Started::Asks(ask) => return Some(ask),
                Started::Failed => {
                    self.note_failure();
                    return None;
                }
                Started::Complete => {}
            }
            let Some(value) = self.allowed_value() else {
                self.note_end(End::Bound);
                self.note_failure();
                return None;
            };
            self.at.trace += 1;
            if self.at.trace as usize == self.order.len() {
                self.note_end(End::Complete);
                self.end(self.at.share);
                self.tell_space();
                let score = Score::new(self.objective, value, self.cost);
                if !self.job.wants_equals {
                    self.improve(score);
                }
                return Some(Ask::Found(score));
            }
            if self.at.trace == 1 && self.waits() {
                self.wait();
                return None;
            }
            started = self.start_trace();
        }
    }

    /// Starts the trace, of those that are left, that has failed most.
    fn start_trace(&mut self) -> Started {
        let first = self.at.trace as usize;
        let most_failures = |&place: &usize| {
            let initial = self.order[place];
            (self.failures[initial as usize], std::cmp::Reverse(initial))
        };
        let place = (first..self.order.len()).max_by_key(most_failures).unwrap_or(first);
        self.order.swap(first, place);
        self.at.steps = 0;
        self.at.total = 0.0;
        self.recall.stop();
        let (depth, initial) = (self.labels.len(), self.order[first] as usize);
        if let Some(recorder) = self.recorder() {
            recorder.start(depth, initial as u32);
        }
        // The first trace is never run twice.
        if first > 0
            && !self.is_suspended
            && let Some(root) = self.recall.start(initial)
        {
            return self.follow_recalled(root);
        }
        Started::Asks(Ask::Reset { initial: initial as u32 })
    }

    /// Goes on from a frame that is remembered, with the label that its cell has just been given; nothing if
    /// the behaviour has failed or is set aside.
    pub(super) fn go_on(&mut self, node: Node, action: u16) -> Option<Ask> {
        self.recall.stop();
        let mut seen = Some(node);
        while let Some(node) = seen {
            if let Some(index) = self.labels.find(self.recall.cell(node)).1 {
                self.recall.see(index);
            }
            seen = self.recall.parent(node);
        }
        let started = match self.take(node, action) {
            Ok(next) => self.follow_recalled(next),
            Err(ask) => Started::Asks(ask),
        };
        self.run_on(started)
    }

    /// Goes along what is remembered of the trace, from a node on, as the labels say.
    fn follow_recalled(&mut self, mut node: Node) -> Started {
        loop {
            let Record { steps, total, verdict, .. } = *self.recall.record(node);
            self.work += steps.saturating_sub(self.at.steps);
            (self.at.steps, self.at.total) = (steps, total);
            if verdict != Verdict::Running || self.is_over() {
                return if self.is_complete(verdict) { Started::Complete } else { Started::Failed };
            }
            let Some(most) = self.allowance_for_step() else {
                self.note_end(End::Bound);
                return Started::Failed;
            };
            let point = self.labels.find(self.recall.cell(node)).1;
            let action = match point {
                Some(index) => self.labels.given(index as usize).label,
                None => {
                    let cell = self.recall.cell(node).to_vec();
                    let action = self.choose_action(&cell, most);
                    self.needs_no_mark(node);
                    while self.wants_places() {
                        self.leaves.places.push(self.recall.state(node));
                    }
                    action
                }
            };
            self.recall.see(point.unwrap_or(self.labels.len() as u32 - 1));
            match self.take(node, action) {
                Ok(next) => node = next,
                Err(ask) => return Started::Asks(ask),
            }
        }
    }

    /// Takes an action in a node: the next node, or what to ask if that is not known. What goes beyond the
    /// round is left to the system.
    fn take(&mut self, node: Node, action: u16) -> Result<Node, Ask> {
        let next = self.recall.go_on(node, usize::from(action));
        if let Some(next) = next.filter(|&next| self.recall.record(next).steps < self.job.round.cut) {
            return Ok(next);
        }
        Err(self.step(Origin::Recalled(node), action))
    }
}

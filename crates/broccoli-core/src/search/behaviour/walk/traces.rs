//! The end of a trace, and the start of the next one, as far as it is remembered.

use std::convert::Infallible;

use super::{Ask, Origin, Position, Walk};
use crate::problem::Verdict;
use crate::search::behaviour::bounds::Store;
use crate::search::behaviour::recall::{Node, Record};
use crate::search::behaviour::score::Score;
use crate::search::evidence::End;

/// What comes of a trace that is started.
pub(super) enum Started {
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
    pub(super) fn run_on(&mut self, mut started: Started) -> Option<Ask> {
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
        self.at.node = self.order[first];
        self.recall.stop();
        let (depth, initial) = (self.labels.len(), self.order[first] as usize);
        if let Some(recorder) = self.recorder() {
            recorder.start(depth, initial as u32);
        }
        if !self.is_suspended
            && let Some(root) = self.next_remembered(initial as Node, 0)
        {
            return self.follow_recalled(root);
        }
        Started::Asks(Ask::Reset { initial: initial as u32 })
    }

    /// Goes on from a frame that is remembered, with the label that its cell has just been given; nothing if
    /// the behaviour has failed or is set aside.
    pub(super) fn go_on(&mut self, node: Node, action: u16) -> Option<Ask> {
        self.see_all_up_to(node);
        let started = match self.take(node, action) {
            Ok(next) => self.follow_recalled(next),
            Err(ask) => Started::Asks(ask),
        };
        self.run_on(started)
    }

    /// The trace has seen the cells of a node and of all before it.
    fn see_all_up_to(&mut self, node: Node) {
        self.recall.stop();
        let mut seen = Some(node).filter(|&node| self.recall.is_node(node));
        while let Some(node) = seen.filter(|_| self.is_written()) {
            if let Some(index) = self.labels.find(self.recall.cell(node)).1 {
                self.recall.see(index);
            }
            seen = self.recall.parent(node);
        }
    }

    /// Goes on from a leaf that is here, as far as is remembered how its trace goes on with its labels; nothing if it has to
    /// be run.
    pub(super) fn catch_up(&mut self, state: &[u8]) -> Option<Started> {
        let Position { node, trace, steps, .. } = self.at;
        let (node, next) = self.recall.catch_up(node, self.order[trace as usize], steps, |cell| self.label(cell));
        self.at.node = node;
        if self.recall.is_old(node) && self.recall.record(node).steps == steps {
            self.needs_no_mark(node);
        }
        let next = next.filter(|&next| !self.is_beyond(next))?;
        let Ok(()) = self.save_places(|places| {
            places.push(state);
            Ok::<(), Infallible>(())
        });
        self.see_all_up_to(node);
        Some(self.follow_recalled(next))
    }

    /// Goes along what is remembered of the trace, from a node on, as the labels say.
    fn follow_recalled(&mut self, mut node: Node) -> Started {
        loop {
            let Record { steps, total, verdict, .. } = *self.recall.record(node);
            self.work += steps.saturating_sub(self.at.steps);
            self.count_remembered(steps);
            (self.at.steps, self.at.total) = (steps, total);
            if self.recall.is_old(node) {
                self.at.node = node;
            }
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
        let next = self.next_remembered(node, usize::from(action));
        next.filter(|&next| !self.is_beyond(next)).ok_or_else(|| self.step(Origin::Recalled(node), action))
    }

    /// The node that comes after a node and an action. If it is not known, the trace is written down from here; but not the
    /// first one, as only hints would ever look there.
    fn next_remembered(&mut self, node: Node, action: usize) -> Option<Node> {
        if self.is_written() { self.recall.go_on(node, action) } else { self.recall.next(node, action) }
    }

    fn is_written(&self) -> bool {
        self.at.trace > 0
    }

    /// Whether the trace goes on beyond the round before it comes to this node.
    fn is_beyond(&self, node: Node) -> bool {
        let Record { steps, verdict, .. } = *self.recall.record(node);
        let cut = self.job.round.cut;
        steps > cut || steps == cut && verdict == Verdict::Running
    }
}

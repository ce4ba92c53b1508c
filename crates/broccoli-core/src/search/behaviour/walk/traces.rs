//! The end of a trace, and the start of the next one, as far as it is remembered.

use std::convert::Infallible;

use super::{Ask, Origin, Position, Walk};
use crate::problem::Verdict;
use crate::search::behaviour::bounds::Store;
use crate::search::behaviour::recall::{Node, Record};
use crate::search::behaviour::score::Score;
use crate::search::evidence::End;

/// What is remembered of a running trace.
pub(super) struct Remembered {
    /// The node where it is now, if there is one.
    here: Option<Node>,
    /// The last node on its way, or its initial state; and what comes after it, if it is not here.
    last: Node,
    next: Option<Node>,
    /// How many nodes had been added.
    added: usize,
}

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
    pub(super) fn go_on(&mut self, node: Node, place: Origin, action: u16) -> Option<Ask> {
        self.see_all_up_to(node);
        let started = match self.take(node, action) {
            Some(next) => self.follow_recalled(next),
            None => Started::Asks(self.step(place, action)),
        };
        self.run_on(started)
    }

    /// The trace has seen the cells of a node and of all before it.
    fn see_all_up_to(&mut self, node: Node) {
        self.recall.stop();
        let mut seen = Some(node).filter(|&node| self.at.trace > 0 && self.recall.is_node(node));
        while let Some(node) = seen {
            if let Some(index) = self.labels.find(self.recall.cell(node)).1 {
                self.recall.see(index);
            }
            seen = self.recall.parent(node);
        }
    }

    /// What is remembered of the running trace, which is at a leaf. If it has come to no new cell since it was remembered
    /// last, it is written down from there.
    pub(super) fn look_up(&mut self) -> Remembered {
        // The trace that was set aside last may have been written down.
        self.recall.stop();
        let Position { node, trace, steps, .. } = self.at;
        let initial = self.order[trace as usize];
        let (last, action, next) = self.recall.catch_up(node, initial, steps, |cell| self.label(cell));
        if self.recall.is_old(last) {
            self.at.node = last;
        }
        let is_node = self.recall.is_node(last);
        let here = Some(last).filter(|&last| is_node && self.recall.record(last).steps == steps);
        if here.is_none()
            && next.is_none()
            && trace == 0
            && self.writes_first
            && let Some(action) = action
        {
            let is_forced_since = match self.labels.len().checked_sub(1) {
                None => !is_node,
                Some(label) => is_node && self.labels.given(label).steps <= self.recall.record(last).steps,
            };
            if is_forced_since {
                self.recall.go_on_writing(last, action.into());
            }
        }
        Remembered { here, last, next, added: self.recall.added() }
    }

    /// Goes on with this action from a leaf that is here, as far as is remembered; nothing if it has to be run.
    pub(super) fn catch_up(&mut self, remembered: Remembered, action: u16, state: &[u8]) -> Option<Started> {
        let Remembered { here, last, next, added } = remembered;
        let next = match here {
            Some(here) => {
                self.note_node(here, true);
                self.see_all_up_to(here);
                self.take(here, action)
            }
            None => next.filter(|&next| !self.is_beyond(next)),
        };
        if self.recall.added() > added {
            self.recall.keep_other_place(state);
        }
        let next = next?;
        let Ok(()) = self.save_places(|places| {
            places.push(state);
            Ok::<(), Infallible>(())
        });
        if here.is_none() {
            self.see_all_up_to(last);
        }
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
                    self.note_node(node, false);
                    while self.wants_places() {
                        self.leaves.places.push(self.recall.state(node));
                    }
                    action
                }
            };
            self.recall.see(point.unwrap_or(self.labels.len() as u32 - 1));
            match self.take(node, action) {
                Some(next) => node = next,
                None => return Started::Asks(self.step(Origin::Recalled(node), action)),
            }
        }
    }

    /// Takes an action in a node: the next node, if it is known. What goes beyond the round is left to the system.
    fn take(&mut self, node: Node, action: u16) -> Option<Node> {
        self.next_remembered(node, usize::from(action)).filter(|&next| !self.is_beyond(next))
    }

    /// The node that comes after a node and an action. If it is not known, the trace is written down from here; but of
    /// first ones only some, as only hints ever look there.
    fn next_remembered(&mut self, node: Node, action: usize) -> Option<Node> {
        if self.is_written() { self.recall.go_on(node, action) } else { self.recall.next(node, action) }
    }

    fn is_written(&self) -> bool {
        self.at.trace > 0 || self.writes_first
    }

    /// Whether the trace goes on beyond the round before it comes to this node.
    fn is_beyond(&self, node: Node) -> bool {
        let Record { steps, verdict, .. } = *self.recall.record(node);
        let cut = self.job.round.cut;
        steps > cut || steps == cut && verdict == Verdict::Running
    }
}

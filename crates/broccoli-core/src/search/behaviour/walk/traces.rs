//! The end of a trace, and the start of the next one, as far as it is remembered.

use super::{Ask, Origin, Walk};
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
    /// It is remembered to beyond the round, and is set aside.
    Aside,
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
                Started::Aside => return None,
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
        // The walk itself never runs the first trace twice, but hints may have run it.
        let root = match first {
            _ if self.is_suspended => None,
            0 if !self.job.writes_first => self.recall.next(initial as Node, 0),
            _ => self.recall.start(initial),
        };
        if let Some(root) = root {
            return self.follow_recalled(root);
        }
        Started::Asks(Ask::Reset { initial: initial as u32 })
    }

    /// Goes on from a frame that is remembered, with the label that its cell has just been given; nothing if
    /// the behaviour has failed or is set aside.
    pub(super) fn go_on(&mut self, node: Node, action: u16) -> Option<Ask> {
        self.recall.stop();
        let mut seen = Some(node).filter(|_| self.at.trace > 0 || self.job.writes_first);
        while let Some(node) = seen {
            if let Some(index) = self.labels.find(self.recall.cell(node)).1 {
                self.recall.see(index);
            }
            seen = self.recall.parent(node);
        }
        let taken = self.take(node, action);
        self.go_on_from(taken)
    }

    /// Goes on from a node that was come to; nothing if the behaviour has failed or is set aside.
    pub(super) fn go_on_from(&mut self, taken: Result<Node, Started>) -> Option<Ask> {
        let started = taken.map_or_else(|started| started, |node| self.follow_recalled(node));
        self.run_on(started)
    }

    /// The node where the first trace is, which was set aside, or the next one, if that is remembered. If it is not it is
    /// written down from here, if the first trace is.
    pub(super) fn first_node(&mut self) -> Option<Node> {
        self.recall.stop();
        let labels = self.labels.len();
        let mut next = match self.known.last() {
            None => self.recall.next(self.order[0] as Node, 0),
            Some(&last) => {
                let label = self.labels.given(self.known.len() - 1).label;
                let next = self.recall.next(last, label.into());
                if next.is_none() && self.job.writes_first && self.known.len() == labels {
                    self.write_on(last, label);
                }
                next
            }
        };
        while let Some(node) = next {
            let (cell, count) = (self.recall.cell(node), self.known.len());
            let index = self.labels.find(cell).1.map(|index| index as usize);
            match index {
                // Where a trace was stopped the cell is not new.
                Some(index) if index < count && self.recall.record(node).steps < self.at.steps => {
                    next = self.recall.next(node, self.labels.given(index).label.into());
                }
                Some(index) if index == count && count < labels => {
                    self.known.push(node);
                    next = self.recall.next(node, self.labels.given(index).label.into());
                    if next.is_none() && self.job.writes_first && count + 1 == labels {
                        self.write_on(node, self.labels.given(index).label);
                    }
                }
                _ => {
                    return next
                        .filter(|&node| count == labels && self.recall.record(node).steps >= self.at.steps);
                }
            }
        }
        None
    }

    /// The first trace goes on from here and is written down, after this node and action.
    fn write_on(&mut self, node: Node, action: u16) {
        if self.recall.has_place_to_keep() {
            return; // the system is still at another place
        }
        self.recall.go_on(node, action.into());
        (0..self.labels.len() as u32).for_each(|index| _ = self.recall.see(index));
    }

    /// Goes along what is remembered of the trace, from a node on, as the labels say.
    fn follow_recalled(&mut self, mut node: Node) -> Started {
        loop {
            let Record { steps, total, verdict, .. } = *self.recall.record(node);
            self.work += steps.saturating_sub(self.at.steps);
            if self.at.trace == 0 && self.job.is_counted {
                for step in self.at.steps + 1..=steps {
                    self.at.steps = step;
                    self.transitions.count(self.counted_step(), self.cost);
                }
            }
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
                Err(started) => return started,
            }
        }
    }

    /// Takes an action in a node: the next node, or what to ask if that is not known. What goes beyond the
    /// round is left to the system.
    pub(super) fn take(&mut self, node: Node, action: u16) -> Result<Node, Started> {
        let is_first = self.at.trace == 0;
        let next = match is_first && !self.job.writes_first {
            true => self.recall.next(node, action.into()),
            false => self.recall.go_on(node, action.into()),
        };
        match next {
            Some(next) if self.recall.record(next).steps < self.job.round.cut => Ok(next),
            // It need not be run up to the end of the round: when it is gone on with it is found again.
            Some(_) if is_first => {
                let cell = self.recall.cell(node).to_vec();
                self.set_aside(&cell, None, self.labels.len());
                self.leaves.places.push(self.recall.state(node));
                Err(Started::Aside)
            }
            _ => Err(Started::Asks(self.step(Origin::Recalled(node), action))),
        }
    }
}

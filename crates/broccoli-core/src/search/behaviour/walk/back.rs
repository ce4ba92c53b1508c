//! Going back: to cells with labels that are still to be tried, then to leaves of the last round.

use std::sync::Arc;

use super::{Ask, Frame, Origin, Position, Walk};
use crate::search::behaviour::bounds::{Point, Store};
use crate::search::behaviour::labels::Given;
use crate::search::behaviour::leaves::Leaf;
use crate::search::behaviour::version_space::{Cost, Fit};
use crate::search::evidence::End;

impl<S: Store> Walk<S> {
    pub(super) fn fail(&mut self) -> Ask {
        self.note_failure();
        self.go_back()
    }

    pub(super) fn note_failure(&mut self) {
        self.failures[self.order[self.at.trace as usize] as usize] += 1;
        self.end(self.at.share);
    }

    /// Goes back to the last cell with a label that is still to be tried, or on to the next leaf.
    pub(super) fn go_back(&mut self) -> Ask {
        self.recall.stop();
        loop {
            if let Some(ask) = self.try_frames().or_else(|| self.enter()) {
                return ask;
            }
        }
    }

    /// Goes back to the last cell with a label that is still to be tried, if there is one.
    fn try_frames(&mut self) -> Option<Ask> {
        let mut cell = std::mem::take(&mut self.cell);
        let ask = loop {
            let Some(&Frame { labelled, next, most: most_with, at, node, is_marked }) = self.frames.last()
            else {
                break None;
            };
            let mark = self.marks - u32::from(is_marked);
            let place = node.filter(|_| !is_marked).map_or(Origin::Mark(mark), Origin::Recalled);
            let labelled = labelled as usize;
            if labelled < self.labels.len() {
                cell.clear();
                cell.extend_from_slice(self.labels.cell(labelled));
            } // Else it is still there: a label of this frame has just been set aside.
            self.unlabel(labelled);
            self.forget_values(at.trace as usize);
            let share = at.share / f64::from(self.actions - next);
            self.at = Position { share, ..at };
            // The incumbent may be better than when the frame was made.
            let allowance = self.allowance_for_step();
            match (allowance, self.frames.last_mut()) {
                (Some(_), Some(frame)) if next + 1 < self.actions => {
                    frame.at.share -= share;
                    (frame.next, frame.most) = (next + 1, None);
                }
                _ => self.drop_frame(),
            }
            let Some(most) = allowance else {
                self.end(at.share);
                continue;
            };
            let within = most.min(self.job.round.nodes);
            let point = Point::new(&cell, next);
            let is_given = !self.is_suspended
                && (most_with.is_some() || self.space.fit(&point, within) != Fit::No)
                && self.give(&point, most_with.unwrap_or(Cost::MAX), self.labels.find(&cell).0, within);
            match node {
                None if is_given => break Some(self.step(place, next)),
                Some(node) if is_given => {
                    if let Some(ask) = self.go_on(node, place, next) {
                        break Some(ask);
                    }
                }
                _ if self.is_suspended || within < most => {
                    self.set_aside(&cell, Some(next), labelled);
                    let state = match place {
                        Origin::Recalled(node) => self.recall.state(node),
                        _ => self.mark_places.state(mark),
                    };
                    self.leaves.places.push(state);
                }
                _ => {
                    self.counts.unrealisable += 1;
                    self.end(share);
                }
            }
        };
        self.cell = cell;
        ask
    }

    fn drop_frame(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.marks -= u32::from(frame.is_marked);
        }
    }

    /// Takes back all labels but the first `count`.
    pub(super) fn unlabel(&mut self, count: usize) {
        if count < self.labels.len() {
            self.space.pop_to(self.labels.given(count).points as usize);
            self.labels.cut_back(count);
            self.told = self.told.min(count);
            self.cost = self.space.cost();
        }
        self.leaves.share_at_most(count);
        self.waiting.share_at_most(count);
    }

    /// The next leaf of the last round, by its number. Those of another frontier have no labels in common.
    fn next_leaf(&mut self, path: &mut Vec<u32>) -> Option<u32> {
        while !self.is_suspended {
            let leaf = self.todo.front_mut()?.next();
            // The last frontier stays, with the leaves that the task was given.
            if leaf.is_some() || self.todo.len() == 1 {
                return leaf;
            }
            self.todo.pop_front();
            self.unlabel(0);
            path.clear();
        }
        None
    }

    /// Goes on from the next leaf of the last round that may lead to something better. Nothing if what comes next is
    /// remembered and the behaviour has failed or is set aside: there may be other labels to be tried.
    fn enter(&mut self) -> Option<Ask> {
        let mut path = std::mem::take(&mut self.path);
        let ask = loop {
            let Some(index) = self.next_leaf(&mut path) else { break Some(Ask::Done) };
            let leaves = Arc::clone(&self.todo[0].leaves);
            let shared = leaves.path(index as usize, &mut path);
            self.unlabel(shared.min(self.labels.len()));
            for &label in &path[self.labels.len()..] {
                let (cell, given) = leaves.label(label);
                self.set_label(cell, Given { slot: self.labels.find(cell).0, ..given });
            }
            let leaf = leaves.leaf(index as usize);
            let Leaf { at, cost, cell, label, started, values, .. } = leaf;
            match cost {
                Some(cost) if label.is_none() => self.cost = cost,
                _ => self.tell_space(),
            }
            self.forget_values(0);
            self.at = at;
            for (place, initial) in started.iter().enumerate() {
                let found = self.order[place..].iter().position(|other| other == initial);
                self.order.swap(place, place + found.unwrap_or(0));
            }
            self.set_values(values);
            if leaf.is_waiting() {
                break self.next_trace();
            }
            let Some(most) = self.allowance_for_step() else {
                self.note_end(End::Bound);
                self.end(at.share);
                continue;
            };
            let within = most.min(self.job.round.nodes);
            let remembered = self.look_up();
            let action = match label {
                None => self.choose_action(cell, most),
                Some(label)
                    if self.give(&Point::new(cell, label), Cost::MAX, self.labels.find(cell).0, within) =>
                {
                    self.write(cell, label);
                    label
                }
                _ if within < most => {
                    self.set_aside(cell, label, self.labels.len());
                    self.leaves.places.push(leaves.places.state(index));
                    continue;
                }
                _ => {
                    self.counts.unrealisable += 1;
                    self.end(at.share);
                    continue;
                }
            };
            break match self.catch_up(remembered, action, leaves.places.state(index)) {
                Some(started) => self.run_on(started),
                None => Some(self.step(Origin::Leaf(index), action)),
            };
        };
        self.path = path;
        ask
    }

    /// Tells the version space of the labels that it has not been told of. Many leaves come to no new cell, and
    /// then nobody asks.
    #[inline(always)]
    pub(super) fn tell_space(&mut self) {
        if self.told < self.labels.len() {
            self.tell_space_of_labels();
        }
    }

    #[inline(never)]
    fn tell_space_of_labels(&mut self) {
        let nodes = self.space.nodes();
        for index in self.told..self.labels.len() {
            let Given { label, implied_within, .. } = *self.labels.given(index);
            let points = self.space.len() as u32;
            let follows = match implied_within {
                None => false,
                Some(within) => within >= nodes || self.follows(index, label),
            };
            if !follows {
                let point = Point::new(self.labels.cell(index), label);
                // What was realisable is so again; but a checkpoint that somebody has changed may hold anything, and
                // then what no tree does is walked in vain.
                self.space.push(&point);
            }
            let given = self.labels.given_mut(index);
            given.points = points;
            if !follows {
                given.implied_within = None;
            }
        }
        self.told = self.labels.len();
        self.cost = self.space.cost();
    }

    /// Whether a label that followed from those before when fewer predicates were allowed plainly does so now.
    fn follows(&self, index: usize, label: u16) -> bool {
        let cell = self.labels.cell(index);
        let mut others = (0..self.actions).filter(|&other| other != label);
        others.all(|other| self.space.fit(&Point::new(cell, other), self.space.nodes()) == Fit::No)
    }
}

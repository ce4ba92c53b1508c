//! Going back: to cells with labels that are still to be tried, then to leaves of the last round; and
//! what is set aside for the next one.

use std::sync::Arc;

use super::tally::Measure;
use super::{Ask, Frame, From, Walk};
use crate::search::behaviour::bounds::{Point, Store};
use crate::search::behaviour::labels::Given;
use crate::search::behaviour::leaves::{Leaf, LeafLabel};
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
            let Some(&Frame { labelled, first, next, mut is_open, most: mut most_with, at, node }) =
                self.frames.last()
            else {
                break None;
            };
            let mark = self.marks - u32::from(node.is_none());
            let labelled = labelled as usize;
            let mut implied_within = None;
            if labelled < self.labels.len() {
                cell.clear();
                cell.extend_from_slice(self.labels.cell(labelled));
                implied_within = self.labels.given(labelled).implied_within;
            } // Else it is still there: a label of this frame has just been set aside.
            self.unlabel(labelled);
            let slot = self.labels.find(&cell).0;
            self.at = at;
            self.forget_values(at.trace as usize);
            // The incumbent may be better than when the frame was made.
            let Some(most) = self.allowance_for_step() else {
                self.end(at.share);
                self.drop_frame();
                continue;
            };
            let within = most.min(self.job.round.nodes);
            // The label that is taken back may follow from those before.
            let is_only = implied_within.is_some_and(|nodes| within <= nodes);
            let (mut label, mut left) = (Some(next), at);
            let given = loop {
                let Some(next) = label else { break None };
                label = self.label_from(next + 1, first);
                left = self.divide(at, self.labels_from(next + 1, first));
                let point = Point::new(&cell, next);
                if !self.is_suspended
                    && !is_only
                    && (is_open || self.space.fit(&point, within) != Fit::No)
                    && self.give(&point, most_with, slot, within)
                {
                    break Some((true, next));
                }
                if self.is_suspended || within < most {
                    self.set_aside(&cell, Some(next));
                    break Some((false, next));
                }
                self.counts.unrealisable += 1;
                (is_open, most_with) = (false, Cost::MAX);
            };
            let keep = label.is_some();
            match (label, self.frames.last_mut()) {
                (Some(label), Some(frame)) => {
                    (frame.next, frame.is_open, frame.most, frame.at) = (label, false, Cost::MAX, left);
                }
                _ => self.drop_frame(),
            }
            match (given, node) {
                (None, _) => self.end(at.share),
                (Some((true, action)), None) => {
                    break Some(self.step(From::Mark(mark), false, action));
                }
                (Some((true, action)), Some(node)) => {
                    if let Some(ask) = self.go_on(node, action) {
                        break Some(ask);
                    }
                }
                (Some((false, _)), None) => {
                    self.leaf_places.copy(&self.mark_places, mark);
                    if is_only && !keep {
                        self.set_frames_aside(within);
                    }
                }
                (Some((false, _)), Some(node)) => self.leaf_places.push(self.recall.state(node)),
            }
        };
        self.cell = cell;
        ask
    }

    /// The last label has been set aside of a frame whose other one follows. Most labels follow: sets aside those
    /// of the frames before for which the same holds, without going back to each.
    fn set_frames_aside(&mut self, within: Cost) {
        let Measure::Fewest = self.measure else { return };
        let can_be = |frame: &&Frame| {
            let given = self.labels.given(frame.labelled as usize);
            let follows = given.implied_within.is_some_and(|nodes| within <= nodes);
            let is_alike = frame.at.trace == self.at.trace && frame.node.is_none();
            follows && is_alike && self.label_from(frame.next + 1, frame.first).is_none()
        };
        let count = self.frames.iter().rev().take_while(can_be).count();
        let frames = self.frames.drain(self.frames.len() - count..).rev();
        let (labels, worst) = (&self.labels, self.at.worst);
        self.leaves.push_shorter(frames.map(|Frame { labelled, next, at, .. }| {
            debug_assert_eq!((at.steps, at.worst), (labels.given(labelled as usize).steps, worst));
            (labelled, next, at.share)
        }));
        let marks = self.marks - count as u32;
        for mark in (marks..self.marks).rev() {
            self.leaf_places.copy(&self.mark_places, mark);
        }
        self.marks = marks;
    }

    fn drop_frame(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.marks -= u32::from(frame.node.is_none());
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
    }

    /// Writes the present behaviour down as a leaf. Its trace has reached this cell, which is to be given
    /// this label if any.
    pub(super) fn set_aside(&mut self, cell: &[u16], label: Option<u16>) {
        self.write_leaf(cell, label, self.at.trace as usize + 1);
    }

    /// Sets the present behaviour aside before its next trace is started. It has no place.
    pub(super) fn wait(&mut self) {
        self.at.steps = 0;
        let nowhere = vec![0; self.leaves.dimensions()];
        self.write_leaf(&nowhere, None, self.at.trace as usize);
        self.leaf_places.push_unsaved();
    }

    fn write_leaf(&mut self, cell: &[u16], label: Option<u16>, started: usize) {
        let (started, values) = (&self.order[..started], &*self.values());
        let labels = &self.labels;
        let label_of = |index: usize| {
            let Given { label, implied_within, steps, .. } = *labels.given(index);
            (labels.cell(index), label, implied_within, steps)
        };
        let (at, cost) = (self.at, Some(self.cost));
        let leaf = Leaf { at, labels: labels.len() as u32, cost, cell, label, started, values };
        self.leaves.push(leaf, label_of);
    }

    /// Goes on from the next leaf of the last round that may lead to something better. Nothing if its next
    /// trace is remembered and the behaviour has failed or is set aside: there may be other labels to be tried.
    fn enter(&mut self) -> Option<Ask> {
        let leaves = Arc::clone(&self.old.leaves);
        let mut path = std::mem::take(&mut self.path);
        let ask = loop {
            let next = if self.is_suspended { None } else { self.agenda.next() };
            let Some(index) = next else { break Some(Ask::Done) };
            let shared = leaves.path(index as usize, &mut path);
            self.unlabel(shared.min(self.labels.len()));
            for &label in &path[self.labels.len()..] {
                self.label_again(label, leaves.label(label));
            }
            let leaf = leaves.leaf(index as usize);
            let Leaf { at, cost, cell, label, started, values, .. } = leaf;
            let instead = leaves.instead(index as usize);
            let is_impossible = instead.is_some_and(|instead| self.is_known_to_follow(instead));
            match cost {
                Some(cost) if label.is_none() => self.cost = cost,
                _ if is_impossible => {}
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
            let (mark, action) = match label {
                None => self.choose_action(cell, most),
                Some(label) => {
                    let slot = self.labels.find(cell).0;
                    let within = most.min(self.job.round.nodes);
                    if is_impossible || !self.give(&Point::new(cell, label), Cost::MAX, slot, within) {
                        if most > self.job.round.nodes {
                            self.set_aside(cell, Some(label));
                            self.leaf_places.copy(&self.old.places, index);
                            continue;
                        }
                        self.counts.unrealisable += 1;
                        self.end(at.share);
                        continue;
                    }
                    (false, label)
                }
            };
            break Some(self.step(From::Leaf(index), mark, action));
        };
        self.path = path;
        ask
    }

    /// Gives a cell the label that it had in an earlier round, with this index.
    fn label_again(&mut self, index: u32, (cell, label, implied_within, steps): LeafLabel<'_>) {
        let nodes = self.space.nodes();
        let implied_within = match implied_within {
            Some(within) if within < nodes => {
                self.still_follows(index, &Point::new(cell, label)).then_some(nodes)
            }
            implied_within => implied_within,
        };
        let slot = self.labels.find(cell).0;
        self.set_label(cell, slot, label, implied_within, steps);
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
        for index in self.told..self.labels.len() {
            let given = self.labels.given(index);
            if given.implied_within.is_none() {
                // What was realisable is so again; but a checkpoint that somebody has changed may hold anything, and
                // then what no tree does is walked in vain.
                self.space.push(&Point::new(self.labels.cell(index), given.label));
            }
        }
        self.told = self.labels.len();
        self.cost = self.space.cost();
    }

    /// Whether a label that followed from those before when fewer predicates were allowed plainly does so now. That is
    /// looked at once a round: the leaves that have the label in common come one by one, and one more has another
    /// label instead.
    fn still_follows(&mut self, index: u32, point: &Point<'_, S>) -> bool {
        let index = index as usize;
        if let Some(&Some(follows)) = self.follows.get(index) {
            return follows;
        }
        self.tell_space();
        let mut others = (0..self.actions).filter(|&label| label != point.label);
        let nodes = self.space.nodes();
        let follows = others.all(|label| self.space.fit(&Point { label, ..*point }, nodes) == Fit::No);
        if self.follows.len() <= index {
            self.follows.resize(index + 1, None);
        }
        self.follows[index] = Some(follows);
        follows
    }

    /// Whether that is known of a label.
    fn is_known_to_follow(&self, index: u32) -> bool {
        self.follows.get(index as usize) == Some(&Some(true))
    }
}

//! Going on: the next step of a trace, forced or chosen.

use std::ops::Range;

use super::{Ask, Frame, Origin, Position, Walk};
use crate::problem::{Rank, Verdict};
use crate::search::behaviour::bounds::{Point, Store};
use crate::search::behaviour::labels::{Given, NOT_TOLD, Slot};
use crate::search::behaviour::recall::Node;
use crate::search::behaviour::version_space::{Cost, Fit};
use crate::search::evidence::End;

/// A label that is not plainly impossible.
#[derive(Clone, Copy, Debug)]
struct Open {
    label: u16,
    /// A tree with it needs no more predicates than this; `Cost::MAX` if that is not known.
    most: Cost,
}

impl<S: Store> Walk<S> {
    /// In a running trace: the next step, forced or chosen.
    #[inline(always)]
    pub(super) fn act(&mut self, cell: &[Rank]) {
        if self.is_over() {
            return self.end_trace(Verdict::Running, cell);
        }
        let Some(most) = self.allowance_for_step() else { return self.give_up(cell) };
        if self.is_suspended || self.at.steps >= self.job.round.cut {
            self.set_aside(cell, None, self.labels.len());
            self.ask = Ask::Leave;
            return;
        }
        let action = self.choose_action(cell, most);
        self.count_step();
        // Nothing but this is written: a copy of all that an `Ask` can be would have to wait for it.
        self.ask = Ask::Step { from: Origin::Here, action };
    }

    /// The present trace has ended, at the horizon if it is still running.
    #[inline(never)]
    pub(super) fn end_trace(&mut self, verdict: Verdict, cell: &[Rank]) {
        self.recall.write(self.at, verdict, cell, None);
        self.ask = if self.is_complete(verdict) { self.complete_trace() } else { self.fail() };
    }

    /// The present trace cannot lead to anything better.
    #[inline(never)]
    fn give_up(&mut self, cell: &[Rank]) {
        self.recall.write(self.at, Verdict::Running, cell, None);
        self.note_end(End::Bound);
        self.ask = self.fail();
    }

    /// The action in a cell, forced or chosen.
    #[inline(always)]
    pub(super) fn choose_action(&mut self, cell: &[Rank], most: Cost) -> u16 {
        let (slot, point) = self.labels.find(cell);
        let action = match point {
            Some(index) => self.labels.given(index as usize).label,
            None => self.branch(cell, slot, most),
        };
        if self.recall.is_writing() && self.is_new(point) {
            self.write(cell, action);
        }
        action
    }

    /// The trace is in a cell that it has not been in before, and takes this action there: that is remembered if it is
    /// written down.
    #[inline(always)]
    pub(super) fn write(&mut self, cell: &[Rank], action: u16) {
        if let Some(node) = self.recall.write(self.at, Verdict::Running, cell, Some(usize::from(action))) {
            self.note_node(node, self.at.trace == 0);
        }
    }

    /// Whether the trace has not been in a cell before. A first trace has been in all that have labels.
    #[inline(always)]
    fn is_new(&mut self, point: Option<u32>) -> bool {
        match point {
            Some(index) => self.at.trace > 0 && self.recall.see(index),
            None => self.at.trace == 0 || self.recall.see(self.labels.len() as u32 - 1),
        }
    }

    /// If a frame was made here it is remembered, and so needs no mark. It may keep it, if the system comes here.
    pub(super) fn note_node(&mut self, node: Node, keeps_mark: bool) {
        if self.wants_mark
            && let Some(frame) = self.frames.last_mut()
        {
            frame.node = Some(node);
            if !keeps_mark {
                frame.is_marked = false;
                self.wants_mark = false;
                self.marks -= 1;
            }
        }
    }

    /// In an unlabelled cell: gives it the first label that is possible. If others may be, a frame remembers them; those
    /// that are plainly impossible in this round, but not in others, are set aside at once.
    fn branch(&mut self, cell: &[Rank], slot: Slot, most: Cost) -> u16 {
        self.tell_space();
        let within = most.min(self.job.round.nodes);
        let mut point = Point::new(cell, 0);
        let (mut first, mut open) = self.open_labels(&mut point, within);
        let labelled = self.labels.len();
        if open.is_none() {
            // It follows: fewer predicates may be allowed later, but never more. The version space need not be told.
            self.note_label(cell, slot, first.label, Some(within));
        } else {
            point.label = first.label;
            while !self.give(&point, first.most, slot, within) {
                debug_assert!(open.is_some(), "a tree that agrees with the behaviour labels every cell");
                let Some(next) = open else { break };
                first = next;
                open = self.open_label(&mut point, first.label + 1..self.actions, within);
                point.label = first.label;
            }
        }
        let first = first.label;
        let next = open.map_or(self.actions, |open| open.label);
        let set_aside = if within < most { next - 1 } else { 0 };
        let (at, later) = (self.at, f64::from(self.actions - next));
        self.at.share /= 1.0 + f64::from(set_aside) + later;
        let others = (0..next).filter(|&label| label != first);
        others.take(set_aside.into()).for_each(|label| self.set_aside(cell, Some(label), labelled));
        if within == most {
            self.counts.unrealisable += u64::from(next) - 1;
        }
        if let Some(Open { label: next, most }) = open {
            let (labelled, at) = (labelled as u32, Position { share: self.at.share * later, ..at });
            self.frames.push(Frame { labelled, next, most: Some(most), at, node: None, is_marked: true });
            self.marks += 1;
            self.wants_mark = true;
        }
        first
    }

    /// The first two labels of a point that are not plainly impossible, if there are two.
    #[inline]
    fn open_labels(&mut self, point: &mut Point<'_, S>, within: Cost) -> (Open, Option<Open>) {
        // If no other label is possible the last one is, and there is no need to look.
        let last = self.actions - 1;
        let only = Open { label: last, most: Cost::MAX };
        let first = self.open_label(point, 0..last, within).unwrap_or(only);
        (first, self.open_label(point, first.label + 1..self.actions, within))
    }

    /// The first of some labels of a point that is not plainly impossible.
    #[inline(always)]
    fn open_label(&self, point: &mut Point<'_, S>, labels: Range<u16>, within: Cost) -> Option<Open> {
        for label in labels {
            point.label = label;
            match self.space.fit(point, within) {
                Fit::No => {}
                Fit::Within(most) => return Some(Open { label, most }),
                Fit::Unknown => return Some(Open { label, most: Cost::MAX }),
            }
        }
        None
    }

    /// A behaviour has ended: there is nothing in it that is better than the incumbent.
    #[inline]
    pub(super) fn end(&mut self, share: f64) {
        if self.job.is_counted {
            self.ended += share;
        }
    }

    /// Gives a cell its label, if that is possible within `within` nodes; says whether. If it is known that a tree
    /// with it needs at most `most` nodes, and no fewer, the version space is told when it is asked next: many a
    /// trace comes to no more new cell.
    pub(super) fn give(&mut self, point: &Point<'_, S>, most: Cost, slot: Slot, within: Cost) -> bool {
        debug_assert_eq!(self.told, self.labels.len());
        let is_known = most <= self.cost
            || most == self.cost + 1 && most <= within && self.space.fit(point, self.cost) == Fit::No;
        if is_known {
            self.cost = most;
            self.counts.realisable += 1;
            let (label, steps) = (point.label, self.at.steps);
            self.set_label(point.cell, Given { label, implied_within: None, points: NOT_TOLD, steps, slot });
            return true;
        }
        if !self.space.push(point) {
            return false;
        }
        if self.space.cost() > within {
            self.space.pop();
            return false;
        }
        self.cost = self.space.cost();
        self.note_label(point.cell, slot, point.label, None);
        true
    }

    /// Writes down that a cell has been given a label. The version space has been told, unless all trees of
    /// up to so many predicates agree.
    #[inline(always)]
    fn note_label(&mut self, cell: &[Rank], slot: Slot, label: u16, implied_within: Option<Cost>) {
        self.counts.realisable += 1;
        let points = self.space.len() as u32 - u32::from(implied_within.is_none());
        self.set_label(cell, Given { label, implied_within, points, steps: self.at.steps, slot });
        self.told = self.labels.len();
    }

    /// The same for a label that is not counted, and that the version space may still have to be told.
    #[inline(always)]
    pub(super) fn set_label(&mut self, cell: &[Rank], given: Given) {
        let depth = self.labels.len();
        if let Some(recorder) = self.recorder() {
            recorder.label(depth, given.label);
        }
        self.labels.push(cell, given);
    }

    /// Asks for one more step of the present trace.
    pub(super) fn step(&mut self, from: Origin, action: u16) -> Ask {
        self.count_step();
        Ask::Step { from, action }
    }

    /// Counts the steps of a first trace up to this number as if they had been made.
    pub(super) fn count_remembered(&mut self, steps: u64) {
        if self.job.is_counted && self.at.trace == 0 {
            let last = std::mem::replace(&mut self.at.steps, steps);
            for step in last + 1..=steps {
                self.at.steps = step;
                self.transitions.count(self.counted_step(), self.cost);
            }
        }
    }

    #[inline(always)]
    fn count_step(&mut self) {
        self.at.steps += 1;
        self.work += 1;
        if self.job.is_counted {
            self.transitions.count(self.counted_step(), self.cost);
        }
    }
}

//! Going on: the next step of a trace, forced or chosen, and what is allowed.

use std::ops::Range;

use super::tally::Measure;
use super::{Ask, Frame, From, Position, Walk};
use crate::problem::Verdict;
use crate::search::behaviour::bounds::{Point, Store};
use crate::search::behaviour::labels::{Given, Slot};
use crate::search::behaviour::recall::Node;
use crate::search::behaviour::score::rank;
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
    /// Whether the behaviour may need as many predicates as it does, if its value is at best this.
    #[inline]
    pub(super) fn is_allowed(&self, value: u64) -> bool {
        self.allowance.of(rank(self.objective, value)).is_some_and(|most| self.cost <= most)
    }

    /// The allowance for one more step of the present trace, if the behaviour is within it.
    #[inline(always)]
    pub(super) fn allowance_for_step(&mut self) -> Option<Cost> {
        let allowance = match self.measure {
            Measure::Most if self.at.steps >= self.horizon => None,
            Measure::Most => self.allowance.of(self.at.worst.max(self.at.steps + 1)),
            Measure::Fewest => self.allowance.of(!self.at.worst),
            Measure::Tally(_) => {
                self.best_with_step().and_then(|best| self.allowance.of(rank(self.objective, best)))
            }
        };
        allowance.filter(|&most| self.cost <= most)
    }

    /// In a running trace: the next step, forced or chosen.
    #[inline(always)]
    pub(super) fn act(&mut self, cell: &[u16]) {
        let is_over = match self.measure {
            Measure::Most => false,
            Measure::Fewest => self.at.steps == self.at.worst,
            Measure::Tally(_) => self.is_long_enough(),
        };
        if is_over {
            return self.end_trace(Verdict::Running, cell);
        }
        let Some(most) = self.allowance_for_step() else { return self.give_up(cell) };
        if self.is_suspended || self.at.steps >= self.job.round.cut {
            self.set_aside(cell, None);
            self.ask = Ask::Leave;
            return;
        }
        let (mark, action) = self.choose_action(cell, most);
        self.count_step();
        // Nothing but this is written: a copy of all that an `Ask` can be would have to wait for it.
        self.ask = Ask::Step { from: From::Here, mark, action };
    }

    /// The present trace has ended, at the horizon if it is still running.
    #[inline(never)]
    pub(super) fn end_trace(&mut self, verdict: Verdict, cell: &[u16]) {
        self.recall.write(self.at, verdict, cell, None);
        self.ask = if self.is_complete(verdict) { self.complete_trace() } else { self.fail() };
    }

    /// The present trace cannot lead to anything better.
    #[inline(never)]
    fn give_up(&mut self, cell: &[u16]) {
        self.recall.write(self.at, Verdict::Running, cell, None);
        self.note_end(End::Bound);
        self.ask = self.fail();
    }

    /// The action in a cell, forced or chosen, and whether another one may be possible.
    #[inline(always)]
    pub(super) fn choose_action(&mut self, cell: &[u16], most: Cost) -> (bool, u16) {
        let (slot, point) = self.labels.find(cell);
        let (mark, action) = match point {
            Some(index) => (false, self.labels.given(index as usize).label),
            None => self.branch(cell, slot, most),
        };
        if self.recall.is_writing() && self.recall.see(point.unwrap_or(self.labels.len() as u32 - 1)) {
            let node = self.recall.write(self.at, Verdict::Running, cell, Some(usize::from(action)));
            if let (true, Some(node)) = (mark, node) {
                self.needs_no_mark(node);
                return (false, action);
            }
        }
        (mark, action)
    }

    /// The last frame is remembered, and so needs no mark.
    pub(super) fn needs_no_mark(&mut self, node: Node) {
        if let Some(frame) = self.frames.last_mut() {
            frame.node = Some(node);
            self.marks -= 1;
        }
    }

    /// In an unlabelled cell: the first label that is possible. If another one may be, a frame remembers
    /// it; if plainly no other is, the version space need not be told.
    fn branch(&mut self, cell: &[u16], slot: Slot, most: Cost) -> (bool, u16) {
        self.tell_space();
        let within = most.min(self.job.round.nodes);
        let mut point = Point::new(cell, 0);
        let (mut first, mut open) = self.open_labels(&mut point, within);
        if open.is_none() && within == self.space.nodes() {
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
        let mut next = open.map(|open| open.label);
        if within < most {
            next = self.label_from(0, first);
        }
        if within == most {
            self.counts.unrealisable += u64::from(next.unwrap_or(self.actions)) - 1;
        }
        if let Some(next) = next {
            let at = self.divide(self.at, self.labels_from(next, first));
            let labelled = self.labels.len() as u32 - 1;
            let open = open.filter(|open| open.label == next);
            let most = open.map_or(Cost::MAX, |open| open.most);
            self.frames.push(Frame { labelled, first, next, is_open: open.is_some(), most, at, node: None });
            self.marks += 1;
        }
        (next.is_some(), first)
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

    /// The label from `from` on, other than `first`, if there is one.
    pub(super) fn label_from(&self, from: u16, first: u16) -> Option<u16> {
        let label = if from == first { from + 1 } else { from };
        (label < self.actions).then_some(label)
    }

    /// How many labels there are from `from` on, other than `first`.
    pub(super) fn labels_from(&self, from: u16, first: u16) -> u16 {
        self.actions - from - u16::from(from <= first)
    }

    /// Takes its share for the label that is given here, if so many `others` are still to be tried; what is
    /// left for them.
    pub(super) fn divide(&mut self, at: Position, others: u16) -> Position {
        let share = at.share / f64::from(others + 1);
        self.at.share = share;
        Position { share: at.share - share, ..at }
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
            self.set_label(point.cell, slot, point.label, None, self.at.steps);
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
    fn note_label(&mut self, cell: &[u16], slot: Slot, label: u16, implied_within: Option<Cost>) {
        self.counts.realisable += 1;
        self.set_label(cell, slot, label, implied_within, self.at.steps);
        self.told = self.labels.len();
    }

    /// The same for a label that is not counted, and that the version space may still have to be told.
    #[inline(always)]
    pub(super) fn set_label(
        &mut self,
        cell: &[u16],
        slot: Slot,
        label: u16,
        implied_within: Option<Cost>,
        steps: u64,
    ) {
        let points = match self.labels.len().checked_sub(1).map(|last| self.labels.given(last)) {
            Some(last) => last.points + u32::from(last.implied_within.is_none()),
            None => 0,
        };
        if let Some(recorder) = &mut self.recorder {
            recorder.label(self.labels.len(), label);
        }
        self.labels.push(cell, Given { label, implied_within, points, steps, slot });
    }

    /// The number by which the last step is counted. Only `reach` asks how many steps were made up to some number.
    #[inline(always)]
    pub(super) fn counted_step(&self) -> u64 {
        if let Measure::Fewest = self.measure { 1 } else { self.at.steps }
    }

    /// Asks for one more step of the present trace.
    pub(super) fn step(&mut self, from: From, mark: bool, action: u16) -> Ask {
        self.count_step();
        Ask::Step { from, mark, action }
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

//! Going back: to cells with labels that are still to be tried, then to leaves of the last round; and
//! what is set aside for the next one.

use std::sync::Arc;

use super::{Ask, Frame, Walk};
use crate::search::behaviour::bounds::Store;
use crate::search::behaviour::leaves::Leaf;

impl<S: Store> Walk<S> {
    pub(super) fn fail(&mut self) -> Ask {
        self.failures[self.order[self.at.trace as usize] as usize] += 1;
        self.end(self.at.share);
        self.go_back()
    }

    /// Goes back to the last cell with a label that is still to be tried, or on to the next leaf.
    pub(super) fn go_back(&mut self) -> Ask {
        let mut drop = 0;
        let mut cell = std::mem::take(&mut self.cell);
        let ask = loop {
            let Some(&Frame { labelled, first, next, at }) = self.frames.last() else {
                break None;
            };
            let labelled = labelled as usize;
            if labelled < self.space.len() {
                cell.clear();
                cell.extend_from_slice(self.space.point(labelled));
            } // Else it is still there: a label of this frame has just been set aside.
            self.unlabel(labelled);
            let slot = self.find(&cell).0;
            self.at = at;
            // The incumbent may be better than when the frame was made.
            let Some(most) = self.allowance_for_step() else {
                self.end(at.share);
                self.frames.pop();
                drop += 1;
                continue;
            };
            let within = most.min(self.job.round.nodes);
            let (mut label, mut left) = (Some(next), at);
            let ask = loop {
                let Some(next) = label else { break None };
                label = self.label_from(next + 1, first);
                let keep = label.is_some();
                left = self.divide(at, self.labels_from(next + 1, first));
                if !self.is_suspended && self.give(&cell, slot, next, within) {
                    break Some(self.step(Ask::Return { drop, keep, action: usize::from(next) }));
                }
                if self.is_suspended || within < most {
                    self.set_aside(&cell, Some(next));
                    break Some(Ask::LeaveMark { drop, keep });
                }
                self.counts.unrealisable += 1;
            };
            match (label, self.frames.last_mut()) {
                (Some(label), Some(frame)) => (frame.next, frame.at) = (label, left),
                _ => {
                    self.frames.pop();
                }
            }
            if ask.is_some() {
                break ask;
            }
            self.end(at.share);
            drop += 1;
        };
        self.cell = cell;
        ask.unwrap_or_else(|| self.enter())
    }

    /// Takes back all labels but the first `count`.
    pub(super) fn unlabel(&mut self, count: usize) {
        for slot in self.slots.drain(count..).rev() {
            self.labels.clear(slot);
        }
        self.labelled_at.truncate(count);
        self.space.pop_to(count);
        self.leaves.share_at_most(count);
    }

    /// Sets the present trace aside for the next round.
    pub(super) fn leave(&mut self, cell: &[u16]) -> Ask {
        self.set_aside(cell, None);
        Ask::Leave
    }

    /// Writes the present behaviour down as a leaf. Its trace has reached this cell, which is to be given
    /// this label if any.
    pub(super) fn set_aside(&mut self, cell: &[u16], label: Option<u16>) {
        let started = &self.order[..=self.at.trace as usize];
        let space = &self.space;
        let labels = |index: usize| (space.point(index), space.label(index), self.labelled_at[index]);
        let leaf = Leaf { at: self.at, labels: space.len() as u32, cell, label, started };
        self.leaves.push(leaf, labels);
    }

    /// Goes on from the next leaf of the last round that may lead to something better.
    fn enter(&mut self) -> Ask {
        let leaves = Arc::clone(&self.old_leaves);
        let mut path = std::mem::take(&mut self.path);
        let mut old_path = Vec::new();
        let ask = loop {
            let Some(index) = self.agenda.pop() else {
                self.unlabel(0);
                break Ask::Done;
            };
            let index = index as usize;
            if self.is_suspended {
                self.leaves.push_from(&leaves, index);
                break Ask::Keep { leaf: index };
            }
            std::mem::swap(&mut path, &mut old_path);
            leaves.path(index, &mut path);
            let shared = path.iter().zip(&old_path).take_while(|(a, b)| a == b).count();
            self.unlabel(shared.min(self.slots.len()));
            for &label in &path[self.slots.len()..] {
                let (cell, label, steps) = leaves.label(label);
                self.label_again(cell, label, steps);
            }
            let Leaf { at, cell, label, started, .. } = leaves.leaf(index);
            self.at = at;
            if started.is_empty() {
                break self.start_trace();
            }
            for (place, initial) in started.iter().enumerate() {
                let found = self.order[place..].iter().position(|other| other == initial);
                self.order.swap(place, place + found.unwrap_or(0));
            }
            let Some(most) = self.allowance_for_step() else {
                self.counts.bound += 1;
                self.end(at.share);
                continue;
            };
            let (mark, action) = match label {
                None => self.choose_action(cell, most),
                Some(label) => {
                    let slot = self.find(cell).0;
                    if !self.give(cell, slot, label, most.min(self.job.round.nodes)) {
                        if most > self.job.round.nodes {
                            self.set_aside(cell, Some(label));
                            break Ask::Keep { leaf: index };
                        }
                        self.counts.unrealisable += 1;
                        self.end(at.share);
                        continue;
                    }
                    (false, usize::from(label))
                }
            };
            break self.step(Ask::Enter { leaf: index, mark, action });
        };
        self.path = path;
        ask
    }

    /// Gives a cell the label that it had in an earlier round.
    fn label_again(&mut self, cell: &[u16], label: u16, steps: u64) {
        let pushed = self.space.push(cell, label);
        debug_assert!(pushed, "what was realisable is so again");
        // The point is there already, but its cell has no label in the table yet.
        let slot = self.find(cell).0;
        self.at.steps = steps;
        self.set_label(cell, slot, label);
    }
}

//! What is set aside for the next round, and the places that a walk may come back to.

use super::{Ask, Origin, Walk};
use crate::problem::{Instance, Rank, RunError};
use crate::search::behaviour::bounds::Store;
use crate::search::behaviour::frontier::Frontier;
use crate::search::behaviour::leaves::Leaf;
use crate::search::behaviour::places::Places;

impl<S: Store> Walk<S> {
    /// Writes the present behaviour down as a leaf, with so many of its labels. Its trace has reached this cell, which
    /// is to be given this label if any. The place is to be saved.
    pub(super) fn set_aside(&mut self, cell: &[Rank], label: Option<u16>, labels: usize) {
        let labels = labels as u32;
        let started = &self.order[..=self.at.trace as usize];
        let cost = (labels as usize == self.labels.len()).then_some(self.cost);
        let leaf = Leaf { at: self.at, labels, cost, cell, label, started, values: &self.values() };
        self.leaves.push(leaf, |index| (self.labels.cell(index), *self.labels.given(index)));
    }

    /// Sets the present behaviour aside until the chunk is folded, before its next trace is started. It has no place.
    pub(super) fn wait(&mut self) {
        self.at.steps = 0;
        let (labels, cost, cell) =
            (self.labels.len() as u32, Some(self.cost), &*vec![0; self.leaves.dimensions()]);
        let started = &self.order[..self.at.trace as usize];
        let leaf = Leaf { at: self.at, labels, cost, cell, label: None, started, values: &self.values() };
        self.waiting.push(leaf, |index| (self.labels.cell(index), *self.labels.given(index)));
    }

    /// The leaves so far; it has none from now on.
    pub(in super::super) fn take_leaves(&mut self) -> Frontier {
        self.leaves.take().into()
    }

    /// Whether places are still to be saved.
    #[inline(always)]
    pub(in super::super) fn wants_places(&self) -> bool {
        self.wants_mark || self.leaves.places.len() < self.leaves.len()
    }

    /// The system is where the next step starts: saves the places that are wanted.
    pub(in super::super) fn save_places<E>(
        &mut self,
        mut save: impl FnMut(&mut Places) -> Result<(), E>,
    ) -> Result<(), E> {
        if std::mem::take(&mut self.wants_mark) {
            self.mark_places.keep_first(self.marks as usize - 1);
            save(&mut self.mark_places)?;
        }
        while self.leaves.places.len() < self.leaves.len() {
            save(&mut self.leaves.places)?;
        }
        Ok(())
    }

    /// The state of the system where a step starts; empty if the way there is to act as the labels say, and nothing if
    /// the system is there.
    #[inline(always)]
    pub(in super::super) fn start(&self, from: Origin) -> Option<&[u8]> {
        match from {
            Origin::Here => None,
            Origin::Mark(mark) => Some(self.mark_places.state(mark)),
            Origin::Leaf(leaf) => Some(self.todo[0].leaves.places.state(leaf)),
            Origin::Recalled(node) => Some(self.recall.state(node)),
        }
    }

    /// From now on everything is set aside, each label of each cell, and no more leaf is begun with. The step that is
    /// asked for will not be made: its trace is set aside where it would have started. `cell` is where the last one has
    /// led. Returns the leaves so far, which are for the next round.
    pub(in super::super) fn suspend(
        &mut self,
        instance: &mut Instance<'_>,
        cell: &[Rank],
    ) -> Result<Frontier, RunError> {
        let (cell, state) = match self.ask {
            Ask::Step { from: Origin::Mark(mark), .. } => (&*self.cell, Some(self.mark_places.state(mark))),
            Ask::Step { from: Origin::Leaf(leaf), .. } => {
                let leaves = &self.todo[0].leaves;
                (leaves.leaf(leaf as usize).cell, Some(leaves.places.state(leaf)))
            }
            Ask::Step { from: Origin::Recalled(node), .. } => {
                (self.recall.cell(node), Some(self.recall.state(node)))
            }
            _ => (cell, None),
        };
        let (cell, state) = (cell.to_vec(), state.map(<[u8]>::to_vec));
        let mut save = |places: &mut Places| match &state {
            None => places.save(instance),
            Some(state) => {
                places.push(state);
                Ok(())
            }
        };
        self.save_places(&mut save)?;
        let next = self.take_leaves();
        self.is_suspended = true;
        match self.ask {
            Ask::Step { .. } => {
                if self.job.is_counted {
                    self.transitions.take_back(self.counted_step(), self.cost);
                }
                self.work -= 1;
                self.at.steps -= 1;
                self.set_aside(&cell, None, self.labels.len());
                self.save_places(&mut save)?;
                self.resume();
            }
            Ask::Leave => self.resume(),
            _ => {}
        }
        Ok(next)
    }
}

//! The places that a walk may come back to: marks, leaves, and those of remembered traces.

use std::sync::Arc;

use super::{Ask, From, Walk};
use crate::problem::{Instance, RunError};
use crate::search::behaviour::bounds::Store;
use crate::search::behaviour::frontier::Frontier;

impl<S: Store> Walk<S> {
    /// Takes back the step that is asked for, which will not be made: its trace is set aside where it would have started.
    /// `cell` is where the last one has led.
    pub(in super::super) fn retract(
        &mut self,
        instance: &mut Instance<'_>,
        cell: &[u16],
    ) -> Result<(), RunError> {
        let Ask::Step { from, mark, .. } = self.ask else { return Ok(()) };
        if self.job.is_counted {
            self.transitions.take_back(self.counted_step(), self.cost);
        }
        self.work -= 1;
        self.at.steps -= 1;
        let old = self.old.clone();
        let (cell, state) = match from {
            From::Here => (cell.to_vec(), None),
            From::Mark(mark) => (self.cell.clone(), Some(self.mark_places.state(mark).to_vec())),
            From::Leaf(leaf) => {
                (old.leaves.leaf(leaf as usize).cell.to_vec(), Some(old.places.state(leaf).to_vec()))
            }
            From::Recalled(node) => (self.recall.cell(node).to_vec(), Some(self.recall.state(node).to_vec())),
        };
        self.set_aside(&cell, None);
        match state {
            None => {
                self.set_marks(from, mark, instance)?;
                self.ask = Ask::Leave;
            }
            Some(state) => {
                self.leaf_places.push(&state);
                if mark {
                    self.mark_places.keep_first(self.marks - 1);
                    self.mark_places.push(&state);
                }
                self.resume();
            }
        }
        Ok(())
    }

    /// The state of the system where a step starts; empty if the way there is to act as the labels say, and nothing if
    /// the system is there.
    #[inline(always)]
    pub(in super::super) fn start(&self, from: From) -> Option<&[u8]> {
        match from {
            From::Here => None,
            From::Mark(mark) => Some(self.mark_places.state(mark)),
            From::Leaf(leaf) => Some(self.old.places.state(leaf)),
            From::Recalled(node) => Some(self.recall.state(node)),
        }
    }

    /// The system is where a step starts, and makes it: drops marks, and sets one here if `mark`.
    #[inline(always)]
    pub(in super::super) fn set_marks(
        &mut self,
        from: From,
        mark: bool,
        instance: &mut Instance<'_>,
    ) -> Result<(), RunError> {
        if mark || from != From::Here {
            self.mark_places.keep_first(self.marks - u32::from(mark));
        }
        if mark { self.mark_places.save(instance) } else { Ok(()) }
    }

    /// The system is at the place of the last leaf: saves it.
    pub(in super::super) fn save_leaf(&mut self, instance: &mut Instance<'_>) -> Result<(), RunError> {
        self.leaf_places.save(instance)
    }

    /// The leaves so far; it has none from now on. A copy takes no more memory than it needs, and the room for the next
    /// ones stays.
    pub(in super::super) fn take_leaves(&mut self) -> Frontier {
        let (leaves, places) = (Arc::new(self.leaves.clone()), Arc::new(self.leaf_places.clone()));
        self.leaves.clear();
        self.leaf_places.clear();
        Frontier { leaves, places }
    }
}

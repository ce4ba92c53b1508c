//! Runs a walk on a system: does what it asks, and comes back to marks and leaves as the system can.

use super::walk::Ask;
use crate::problem::{ComeBack, Instance, Problem, RunError, Verdict};

/// A place to come back to.
#[derive(Clone, Copy, Debug)]
struct Place {
    initial: usize,
    steps: u64,
    /// Where its saved state starts; or, to be replayed, the actions of its trace.
    start: usize,
}

/// Places with what it takes to come back to them, one after the other.
#[derive(Clone, Debug, Default)]
struct Places {
    places: Vec<Place>,
    states: Vec<u8>,
    /// The actions of the leaves' traces. Those of marks are in the history of the driver.
    actions: Vec<u16>,
}

impl Places {
    fn clear(&mut self) {
        self.places.clear();
        self.states.clear();
        self.actions.clear();
    }

    /// Drops the last place.
    fn pop(&mut self) {
        if let Some(place) = self.places.pop() {
            self.states.truncate(place.start);
        }
    }

    /// Adds a place of others. `actions` has their actions, if they are to be replayed.
    fn copy(&mut self, others: &Places, index: usize, actions: Option<&[u16]>) {
        let place = others.places[index];
        let start = match actions {
            Some(actions) => {
                self.actions.extend_from_slice(&actions[place.start..][..place.steps as usize]);
                self.actions.len() - place.steps as usize
            }
            None => {
                self.states.extend_from_slice(others.state(index));
                self.states.len() - others.state(index).len()
            }
        };
        self.places.push(Place { start, ..place });
    }

    /// The saved state of a place.
    fn state(&self, index: usize) -> &[u8] {
        let end = self.places.get(index + 1).map_or(self.states.len(), |next| next.start);
        &self.states[self.places[index].start..end]
    }
}

/// A system that a walk runs on.
pub(super) struct Driver<'p> {
    problem: &'p Problem,
    instance: Instance<'p>,
    come_back: ComeBack,
    initial: usize,
    /// The actions of all traces that lead here, one trace after the other, and where the present
    /// trace starts. Kept only to be replayed.
    history: Vec<u16>,
    trace: usize,
    marks: Places,
    /// The leaves of the last round, and of this one.
    old_leaves: Places,
    leaves: Places,
    cell: Vec<u16>,
    traces: u64,
    replayed: u64,
}

impl<'p> Driver<'p> {
    pub(super) fn new(problem: &'p Problem, instance: Instance<'p>) -> Self {
        Driver {
            problem,
            come_back: instance.come_back(),
            instance,
            initial: 0,
            history: Vec::new(),
            trace: 0,
            marks: Places::default(),
            old_leaves: Places::default(),
            leaves: Places::default(),
            cell: vec![0; problem.dimensions().len()],
            traces: 0,
            replayed: 0,
        }
    }

    /// Transitions that walks asked for.
    #[inline]
    pub(super) fn queries(&self) -> u64 {
        self.instance.queries() - self.replayed
    }

    /// Transitions made again only to come back to a state.
    pub(super) fn replayed(&self) -> u64 {
        self.replayed
    }

    /// Traces started.
    pub(super) fn traces(&self) -> u64 {
        self.traces
    }

    /// The cell after the last answer.
    #[inline]
    pub(super) fn cell(&self) -> &[u16] {
        &self.cell
    }

    /// What the leaves of this round take in memory.
    pub(super) fn leaf_bytes(&self) -> usize {
        size_of::<Place>() * self.leaves.places.len()
            + self.leaves.states.len()
            + size_of::<u16>() * self.leaves.actions.len()
    }

    /// Forgets all places, for a new walk.
    pub(super) fn clear(&mut self) {
        self.marks.clear();
        self.leaves.clear();
        self.old_leaves.clear();
        self.history.clear();
    }

    /// The leaves of this round become those of the last one.
    pub(super) fn next_round(&mut self) {
        std::mem::swap(&mut self.leaves, &mut self.old_leaves);
        self.leaves.clear();
    }

    /// Does what a walk asks. `None` if there is nothing to tell it.
    #[inline]
    pub(super) fn answer(&mut self, ask: Ask) -> Result<Option<Verdict>, RunError> {
        let verdict = match ask {
            Ask::Reset { initial } => {
                self.initial = initial;
                self.trace = self.history.len();
                self.traces += 1;
                self.instance.reset(initial)?
            }
            Ask::Step { mark, action } => {
                if mark {
                    self.mark()?;
                }
                self.step(action)?
            }
            Ask::Return { drop, keep, action } => {
                self.drop_marks(drop);
                self.return_to_mark()?;
                if !keep {
                    self.marks.pop();
                }
                self.step(action)?
            }
            Ask::Leave => {
                self.leave()?;
                return Ok(None);
            }
            Ask::LeaveMark { drop, keep } => {
                self.drop_marks(drop);
                let actions = (self.come_back == ComeBack::Replay).then_some(&self.history[..]);
                self.leaves.copy(&self.marks, self.marks.places.len() - 1, actions);
                if !keep {
                    self.marks.pop();
                }
                return Ok(None);
            }
            Ask::Keep { leaf } => {
                let old = &self.old_leaves;
                let actions = (self.come_back == ComeBack::Replay).then_some(&old.actions[..]);
                self.leaves.copy(old, leaf, actions);
                return Ok(None);
            }
            Ask::Enter { leaf, mark, action } => {
                self.enter(leaf)?;
                if mark {
                    self.mark()?;
                }
                self.step(action)?
            }
            Ask::Found { .. } | Ask::Done => return Ok(None),
        };
        self.problem.cell(self.instance.observation(), &mut self.cell);
        Ok(Some(verdict))
    }

    #[inline]
    fn step(&mut self, action: usize) -> Result<Verdict, RunError> {
        if self.come_back == ComeBack::Replay {
            self.history.push(action as u16);
        }
        self.instance.step(action)
    }

    fn mark(&mut self) -> Result<(), RunError> {
        let start = match self.come_back {
            ComeBack::Replay => self.trace,
            ComeBack::Snapshot | ComeBack::Clone => {
                let start = self.marks.states.len();
                self.instance.save(&mut self.marks.states)?;
                start
            }
        };
        self.marks.places.push(Place { initial: self.initial, steps: self.instance.steps(), start });
        Ok(())
    }

    fn return_to_mark(&mut self) -> Result<(), RunError> {
        let last = self.marks.places.len() - 1;
        let Place { initial, steps, start } = self.marks.places[last];
        self.initial = initial;
        match self.come_back {
            ComeBack::Replay => {
                self.trace = start;
                self.history.truncate(start + steps as usize);
                self.replay()
            }
            ComeBack::Snapshot | ComeBack::Clone => {
                self.instance.restore(self.marks.state(last), initial, steps)
            }
        }
    }

    /// Adds the present place to the leaves of this round.
    fn leave(&mut self) -> Result<(), RunError> {
        let start = match self.come_back {
            ComeBack::Replay => {
                self.leaves.actions.extend_from_slice(&self.history[self.trace..]);
                self.leaves.actions.len() - (self.history.len() - self.trace)
            }
            ComeBack::Snapshot | ComeBack::Clone => {
                let start = self.leaves.states.len();
                self.instance.save(&mut self.leaves.states)?;
                start
            }
        };
        self.leaves.places.push(Place { initial: self.initial, steps: self.instance.steps(), start });
        Ok(())
    }

    fn drop_marks(&mut self, count: usize) {
        for _ in 0..count {
            self.marks.pop();
        }
    }

    /// Goes to a leaf of the last round.
    fn enter(&mut self, leaf: usize) -> Result<(), RunError> {
        let Place { initial, steps, start } = self.old_leaves.places[leaf];
        self.initial = initial;
        self.marks.clear();
        match self.come_back {
            ComeBack::Replay => {
                self.history.clear();
                self.history.extend_from_slice(&self.old_leaves.actions[start..start + steps as usize]);
                self.trace = 0;
                self.replay()
            }
            ComeBack::Snapshot | ComeBack::Clone => {
                self.instance.restore(self.old_leaves.state(leaf), initial, steps)
            }
        }
    }

    /// Resets, and applies the actions of the present trace again.
    fn replay(&mut self) -> Result<(), RunError> {
        self.instance.reset(self.initial)?;
        for &action in &self.history[self.trace..] {
            self.replayed += 1;
            self.instance.step(usize::from(action))?;
        }
        Ok(())
    }
}

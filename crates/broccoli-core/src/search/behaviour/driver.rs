//! Runs a walk on a system: does what it asks, and comes back to marks and leaves as the system can.

use std::any::Any;
use std::sync::Arc;

use super::walk::Ask;
use crate::problem::{ComeBack, Gate, Instance, Problem, RunError, Verdict};

/// A place to come back to.
#[derive(Clone, Copy, Debug)]
struct Place {
    initial: u32,
    steps: u64,
    /// Where its saved state starts and ends, if it has one. Without, the way there is to act as the
    /// labels say.
    state: Option<(usize, usize)>,
}

/// Places, and their saved states one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    places: Vec<Place>,
    states: Vec<u8>,
}

impl Places {
    /// A place without a saved state is added.
    pub(super) fn push(&mut self, initial: u32, steps: u64) {
        self.places.push(Place { initial, steps, state: None });
    }

    /// Adds all places of others behind these.
    pub(super) fn append(&mut self, others: &Places) {
        let offset = self.states.len();
        self.states.extend_from_slice(&others.states);
        self.places.extend(others.places.iter().map(|place| Place {
            state: place.state.map(|(start, end)| (start + offset, end + offset)),
            ..*place
        }));
    }

    /// What they take in memory.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Place>() * self.places.len() + self.states.len()
    }

    fn clear(&mut self) {
        self.places.clear();
        self.states.clear();
    }

    /// Adds the present place of a system.
    fn save(&mut self, instance: &mut Instance<'_>, initial: u32) -> Result<(), RunError> {
        let state = match instance.come_back() {
            ComeBack::Replay => None,
            ComeBack::Snapshot | ComeBack::Clone => {
                let start = self.states.len();
                instance.save(&mut self.states)?;
                Some((start, self.states.len()))
            }
        };
        self.places.push(Place { initial, steps: instance.steps(), state });
        Ok(())
    }

    /// Adds a place of others.
    pub(super) fn copy(&mut self, others: &Places, index: usize) {
        let place = others.places[index];
        let start = self.states.len();
        let state = place.state.map(|(from, to)| {
            self.states.extend_from_slice(&others.states[from..to]);
            (start, self.states.len())
        });
        self.places.push(Place { state, ..place });
    }

    /// Drops all but the first places.
    fn keep_first(&mut self, keep: usize) {
        if let Some(start) =
            self.places.iter().skip(keep).find_map(|place| place.state.map(|(start, _)| start))
        {
            self.states.truncate(start);
        }
        self.places.truncate(keep);
    }
}

/// A system that a walk runs on.
pub(super) struct Driver<'p> {
    problem: &'p Problem,
    instance: Instance<'p>,
    gate: Arc<Gate<'p>>,
    initial: u32,
    marks: Places,
    /// The leaves of the last round, and of this one.
    old_leaves: Arc<Places>,
    leaves: Places,
    /// The places kept for the walk to recall.
    kept: Places,
    cell: Vec<u16>,
    traces: u64,
    /// Steps made again only to come back to a state, and those of them that the cache knew.
    replayed: u64,
    replayed_hits: u64,
}

impl<'p> Driver<'p> {
    /// A driver whose queries have to pass the gate.
    pub(super) fn new(problem: &'p Problem, instance: Instance<'p>, gate: Arc<Gate<'p>>) -> Self {
        Driver {
            problem,
            instance,
            gate,
            initial: 0,
            marks: Places::default(),
            old_leaves: Arc::default(),
            leaves: Places::default(),
            kept: Places::default(),
            cell: vec![0; problem.dimensions().len()],
            traces: 0,
            replayed: 0,
            replayed_hits: 0,
        }
    }

    /// Transitions that walks asked for.
    #[inline]
    pub(super) fn transitions(&self) -> u64 {
        self.instance.queries() - self.instance.replayed() + self.instance.hits() - self.replayed
    }

    /// Those of them that the system was asked for.
    pub(super) fn queries(&self) -> u64 {
        self.transitions() - self.hits()
    }

    /// Those of them that the cache knew.
    pub(super) fn hits(&self) -> u64 {
        self.instance.hits() - self.replayed_hits
    }

    /// Queries made again only to come back to a state.
    pub(super) fn replayed(&self) -> u64 {
        self.instance.replayed() + self.replayed - self.replayed_hits
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

    /// The error of a system that has panicked.
    pub(super) fn panicked(&self, panic: &(dyn Any + Send)) -> RunError {
        self.instance.panicked(panic)
    }

    /// What the leaves of this round take in memory.
    pub(super) fn leaf_bytes(&self) -> usize {
        self.leaves.bytes()
    }

    /// Forgets all places, and begins with these leaves of the last round.
    pub(super) fn begin(&mut self, leaves: Arc<Places>) {
        self.marks.clear();
        self.leaves.clear();
        self.old_leaves = leaves;
    }

    /// The leaves so far; it has none from now on.
    pub(super) fn take_leaves(&mut self) -> Places {
        std::mem::take(&mut self.leaves)
    }

    /// Keeps the present place, to be recalled; what all of these take in memory.
    pub(super) fn keep_place(&mut self) -> Result<usize, RunError> {
        self.kept.save(&mut self.instance, self.initial)?;
        Ok(self.kept.bytes())
    }

    /// Whether a cache answers what was asked before.
    pub(super) fn has_cache(&self) -> bool {
        self.instance.has_cache()
    }

    /// Does what a walk asks. `None` if there is nothing to tell it. `label` gives the label of a cell.
    ///
    /// If the gate is closed the step is not made, and the walk can still [retract](Driver::retract).
    #[inline]
    pub(super) fn answer(
        &mut self,
        ask: Ask,
        label: impl Fn(&[u16]) -> Option<u16>,
    ) -> Result<Option<Verdict>, RunError> {
        let verdict = match ask {
            Ask::Reset { marks, initial } => {
                self.marks.keep_first(marks);
                self.initial = initial as u32;
                self.traces += 1;
                self.instance.reset(initial)?
            }
            Ask::Step { mark, action } => {
                self.pass(action)?;
                if mark {
                    self.marks.save(&mut self.instance, self.initial)?;
                }
                self.instance.step(action)?
            }
            Ask::Return { marks, keep, action } => {
                let mark = self.marks.places[marks];
                self.initial = mark.initial;
                match mark.state {
                    Some((start, end)) => {
                        let state = &self.marks.states[start..end];
                        self.instance.restore(state, mark.initial as usize, mark.steps)?;
                    }
                    None => self.follow(mark.steps, label)?,
                }
                self.pass(action)?;
                self.marks.keep_first(marks + usize::from(keep));
                self.instance.step(action)?
            }
            Ask::Enter { leaf, mark, action } => {
                let place = self.old_leaves.places[leaf];
                self.initial = place.initial;
                match place.state {
                    Some((start, end)) => {
                        let state = &self.old_leaves.states[start..end];
                        self.instance.restore(state, place.initial as usize, place.steps)?;
                    }
                    None => self.follow(place.steps, label)?,
                }
                self.pass(action)?;
                self.marks.clear();
                if mark {
                    self.marks.save(&mut self.instance, self.initial)?;
                }
                self.instance.step(action)?
            }
            Ask::Recall { marks, place, action } => {
                let kept = self.kept.places[place];
                self.initial = kept.initial;
                match kept.state {
                    Some((start, end)) => {
                        let state = &self.kept.states[start..end];
                        self.instance.restore(state, kept.initial as usize, kept.steps)?;
                    }
                    None => self.follow(kept.steps, label)?,
                }
                self.pass(action)?;
                self.marks.keep_first(marks);
                self.instance.step(action)?
            }
            Ask::Leave => {
                self.leaves.save(&mut self.instance, self.initial)?;
                return Ok(None);
            }
            Ask::LeaveMark { marks, keep } => {
                self.leaves.copy(&self.marks, marks);
                self.marks.keep_first(marks + usize::from(keep));
                return Ok(None);
            }
            Ask::Keep { leaf } => {
                self.leaves.copy(&self.old_leaves, leaf);
                return Ok(None);
            }
            Ask::LeaveKept { marks, place } => {
                self.marks.keep_first(marks);
                self.leaves.copy(&self.kept, place);
                return Ok(None);
            }
            Ask::Wait => {
                self.leaves.push(0, 0);
                return Ok(None);
            }
            Ask::Found { .. } | Ask::Done => return Ok(None),
        };
        self.problem.cell(self.instance.observation(), &mut self.cell);
        Ok(Some(verdict))
    }

    /// A step that was asked for will not be made. What to do instead, after the mark is set that would
    /// have been set: the place is a leaf of this round.
    pub(super) fn retract(&mut self, ask: Ask) -> Result<Ask, RunError> {
        Ok(match ask {
            Ask::Step { mark, .. } => {
                if mark {
                    self.marks.save(&mut self.instance, self.initial)?;
                }
                Ask::Leave
            }
            Ask::Return { marks, keep, .. } => Ask::LeaveMark { marks, keep },
            Ask::Enter { leaf, mark, .. } => {
                self.marks.clear();
                if mark {
                    self.marks.copy(&self.old_leaves, leaf);
                }
                Ask::Keep { leaf }
            }
            Ask::Recall { marks, place, .. } => Ask::LeaveKept { marks, place },
            other => other,
        })
    }

    /// Asks the gate for a query, unless it takes none. From then on only the system itself can fail.
    #[inline]
    fn pass(&mut self, action: usize) -> Result<(), RunError> {
        if self.instance.is_ready(action)? { self.gate.pass() } else { self.gate.look() }
    }

    /// Goes to a place by acting as the labels say.
    fn follow(&mut self, steps: u64, label: impl Fn(&[u16]) -> Option<u16>) -> Result<(), RunError> {
        self.instance.reset(self.initial as usize)?;
        for _ in 0..steps {
            self.problem.cell(self.instance.observation(), &mut self.cell);
            let action = usize::from(label(&self.cell).unwrap_or_default());
            self.pass(action)?;
            let hits = self.instance.hits();
            self.replayed += 1;
            self.instance.step(action)?;
            self.replayed_hits += self.instance.hits() - hits;
        }
        Ok(())
    }
}

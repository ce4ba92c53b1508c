//! The walk over behaviours, as a machine that asks for one transition and is told the answer.
//!
//! In a labelled cell the action is forced. In any other cell the walk branches over the labels that
//! keep the behaviour realisable, depth first. A walk that fails goes back to the last cell with an
//! untried label. Every tree's run is one path of this walk; trees that act alike are the same path.
//!
//! The machine knows nothing of systems: it says what to do next ([`Ask`]) and is told what happened,
//! a verdict and a cell. The places it may come back to are its *marks*, a stack that its driver
//! mirrors, and its *leaves* (below).
//!
//! **Allowance.** The walk looks for behaviours better than its incumbent (value v, size s): a better
//! value within all the nodes allowed, or the same value with fewer than s nodes. So at any moment
//! there is an allowance: how many nodes the behaviour may need, given the best value it can still
//! have; or none, and then it fails. When the walk is done no better behaviour exists.
//!
//! **Rounds.** What goes beyond the limits of a [`Round`] is set aside as a *leaf*, and the next round,
//! with wider limits, goes on from the leaves; so no transition is asked for twice. A `reach` round
//! limits the steps of a trace: the traces lengthen together, and the first solution found is nearly
//! the best one. A `survive` round limits the nodes: small trees come first, and of the leaves those
//! that promise most.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::bounds::Store;
use super::labels::{Labels, Slot};
use super::leaves::{Leaf, Leaves};
use super::realise::Labelled;
use super::transitions::Transitions;
use super::version_space::{Cost, VersionSpace};
use crate::problem::{Objective, Problem, Verdict};
use crate::search::Behaviours;

/// What the driver is to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// Start a trace from this initial state, and [`Walk::tell`].
    Reset { initial: usize },
    /// Set a mark here if `mark`; then apply the action, and [`Walk::tell`].
    Step { mark: bool, action: usize },
    /// Drop the `drop` last marks, go back to the last one that is left, drop it too unless `keep`;
    /// then apply the action, and [`Walk::tell`].
    Return { drop: usize, keep: bool, action: usize },
    /// Remember this place as the next leaf of the round, and [`Walk::resume`].
    Leave,
    /// Drop the `drop` last marks; remember the place of the last one that is left as the next leaf of
    /// the round, drop it too unless `keep`; and [`Walk::resume`].
    LeaveMark { drop: usize, keep: bool },
    /// A leaf of the last round, given by its index, is the next leaf of this one, too.
    Keep { leaf: usize },
    /// Go to a leaf of the last round, given by its index; set a mark there if `mark`; then apply the
    /// action, and [`Walk::tell`].
    Enter { leaf: usize, mark: bool, action: usize },
    /// A behaviour better than the incumbent is complete, and is the incumbent from now on. Look at
    /// it, and [`Walk::resume`].
    Found { value: u64, size: Cost },
    /// The round is over. If it has left leaves, there can be another: [`Walk::next_round`].
    Done,
}

/// A cell with labels still to be tried.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// How many cells were labelled when it was reached.
    labelled: u32,
    /// The label it had first, and the next one to try.
    first: u16,
    next: u16,
    at: Position,
}

/// Where a walk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Position {
    /// Which trace is being run, counted in the order of the walk.
    pub(super) trace: u32,
    /// Its steps so far.
    pub(super) steps: u64,
    /// Of the traces completed: the most steps (`reach`), or the fewest, at most the horizon
    /// (`survive`).
    pub(super) worst: u64,
}

/// What is set aside for the next round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Round {
    /// `reach`: traces of so many steps.
    pub(super) cut: u64,
    /// Behaviours that need more predicates than this.
    pub(super) nodes: Cost,
}

/// What a walk is to do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    /// The most predicates of a tree.
    pub(super) nodes: Cost,
    pub(super) round: Round,
    /// How far from the optimum an answer may be.
    pub(super) gap: f64,
    /// Whether each leaf starts with failure counters from zero, so that what comes of it depends on
    /// nothing else.
    pub(super) is_fresh: bool,
    /// Whether its transitions are counted.
    pub(super) is_counted: bool,
}

/// What a walk is to improve on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Incumbent {
    pub(super) value: u64,
    pub(super) size: Cost,
    /// Whether a behaviour that is just as good is wanted, too.
    pub(super) is_weak: bool,
}

pub(super) struct Walk<S: Store> {
    objective: Objective,
    actions: u16,
    job: Job,
    round: Round,
    incumbent: Option<Incumbent>,
    /// Whether everything is set aside from now on.
    is_suspended: bool,
    space: VersionSpace<S>,
    labels: Labels,
    /// The slots of the labelled cells, in order.
    slots: Vec<Slot>,
    /// Per labelled cell, the steps of its trace when it was labelled.
    labelled_at: Vec<u64>,
    frames: Vec<Frame>,
    at: Position,
    /// The initial states: first those whose traces are complete or running, in that order.
    order: Vec<u32>,
    /// Per initial state, how often its trace failed.
    failures: Vec<u64>,
    /// The cell of the frame or leaf gone back to.
    cell: Vec<u16>,
    /// The leaves of the last round, those of them to go on with, last first, the labels of the present
    /// one; and the leaves of this round.
    old_leaves: Arc<Leaves>,
    agenda: Vec<u32>,
    path: Vec<u32>,
    leaves: Leaves,
    counts: Behaviours,
    /// Transitions asked for only because the incumbent is weak.
    canonical: u64,
    transitions: Transitions,
}

impl<S: Store> Walk<S> {
    /// A walk with nothing to do yet.
    pub(super) fn new(problem: &Problem) -> Self {
        let thresholds: Vec<u16> = problem.dimensions().iter().map(|d| d.thresholds.len() as u16).collect();
        let initials = problem.initial_states().len();
        let actions = problem.actions().len();
        let round = Round { cut: 0, nodes: 0 };
        Walk {
            objective: problem.objective(),
            actions: actions as u16,
            job: Job { nodes: 0, round, gap: 0.0, is_fresh: false, is_counted: false },
            round,
            incumbent: None,
            is_suspended: false,
            labels: Labels::new(&thresholds),
            leaves: Leaves::new(thresholds.len()),
            old_leaves: Arc::new(Leaves::new(thresholds.len())),
            space: VersionSpace::new(thresholds, actions, problem.limits().depth(), 0),
            slots: Vec::new(),
            labelled_at: Vec::new(),
            frames: Vec::new(),
            at: Position { trace: 0, steps: 0, worst: 0 },
            order: (0..initials as u32).collect(),
            failures: vec![0; initials],
            cell: Vec::new(),
            agenda: Vec::new(),
            path: Vec::new(),
            counts: Behaviours::default(),
            canonical: 0,
            transitions: Transitions::default(),
        }
    }

    /// Begins to go on from some leaves of the last round, in the order of the agenda.
    pub(super) fn begin(
        &mut self,
        job: Job,
        leaves: Arc<Leaves>,
        mut agenda: Vec<u32>,
        incumbent: Option<Incumbent>,
    ) -> Ask {
        self.unlabel(0);
        self.frames.clear();
        self.leaves.clear();
        self.path.clear();
        self.job = job;
        self.round = job.round;
        self.incumbent = incumbent;
        self.is_suspended = false;
        self.old_leaves = leaves;
        agenda.reverse();
        self.agenda = agenda;
        self.space.limit(job.nodes.min(job.round.nodes));
        self.go_back()
    }

    /// From now on everything is set aside, each label of each cell and all leaves that are left, until
    /// the round is over.
    pub(super) fn suspend(&mut self) {
        self.is_suspended = true;
    }

    /// Takes back a step that was asked for and will not be made, and sets the trace aside in this cell;
    /// without one, in that of the last frame gone back to.
    pub(super) fn retract(&mut self, cell: Option<&[u16]>) {
        self.count(-1);
        self.at.steps -= 1;
        match cell {
            Some(cell) => self.set_aside(cell, None),
            None => {
                let cell = std::mem::take(&mut self.cell);
                self.set_aside(&cell, None);
                self.cell = cell;
            }
        }
    }

    /// The same for a step from a leaf of the last round.
    pub(super) fn retract_leaf(&mut self, leaf: usize) {
        let leaves = Arc::clone(&self.old_leaves);
        self.retract(Some(leaves.leaf(leaf).cell));
    }

    pub(super) fn dimensions(&self) -> usize {
        self.leaves.dimensions()
    }

    /// The leaves so far; it has none from now on.
    pub(super) fn take_leaves(&mut self) -> Leaves {
        let empty = Leaves::new(self.leaves.dimensions());
        std::mem::replace(&mut self.leaves, empty)
    }

    /// Transitions asked for only to find the first of several equally good behaviours.
    pub(super) fn canonical(&self) -> u64 {
        self.canonical
    }

    /// Goes on after the answer to [`Ask::Reset`], [`Ask::Step`] or [`Ask::Return`].
    #[inline]
    pub(super) fn tell(&mut self, verdict: Verdict, cell: &[u16]) -> Ask {
        match (self.objective, verdict) {
            (_, Verdict::Running) => self.act(cell),
            (Objective::Reach { .. }, Verdict::Satisfied) => {
                self.at.worst = self.at.worst.max(self.at.steps);
                self.complete_trace()
            }
            (Objective::Survive { .. }, Verdict::Satisfied) => self.complete_trace(),
            (Objective::Reach { .. }, Verdict::Violated) => {
                self.counts.violated += 1;
                self.fail()
            }
            (Objective::Survive { .. }, Verdict::Violated) => {
                self.at.worst = self.at.worst.min(self.at.steps);
                if self.is_allowed(self.allowance(self.at.worst)) {
                    self.complete_trace()
                } else {
                    self.counts.violated += 1;
                    self.fail()
                }
            }
        }
    }

    /// Goes on after [`Ask::Leave`] or [`Ask::Found`].
    pub(super) fn resume(&mut self) -> Ask {
        self.go_back()
    }

    /// A behaviour found elsewhere becomes the incumbent.
    pub(super) fn improve(&mut self, incumbent: Incumbent) {
        self.incumbent = Some(incumbent);
    }

    /// The labelled cells of the present behaviour, in the order in which they were reached.
    pub(super) fn labels(&self) -> Vec<Labelled> {
        let labelled =
            |index| Labelled { cell: self.space.point(index).to_vec(), label: self.space.label(index) };
        (0..self.space.len()).map(labelled).collect()
    }

    /// How many steps of the present behaviour no tree of fewer than `size` predicates makes. Meant for a
    /// single trace.
    pub(super) fn steps_beyond(&self, size: Cost) -> u64 {
        let first = (0..self.space.len()).find(|&index| self.space.cost_of_first(index + 1) >= size);
        match first {
            _ if size == 0 => self.at.steps,
            Some(index) => self.at.steps.saturating_sub(self.labelled_at[index]),
            None => 0,
        }
    }

    /// What the leaves of this round take in memory.
    pub(super) fn leaf_bytes(&self) -> usize {
        self.leaves.bytes()
    }

    /// The label of a cell, if it has one.
    pub(super) fn label(&self, cell: &[u16]) -> Option<u16> {
        let space = &self.space;
        self.labels.find(cell, |index| (space.point(index), space.label(index))).1
    }

    /// What ended behaviours so far.
    pub(super) fn counts(&self) -> Behaviours {
        self.counts
    }

    /// The transitions counted.
    pub(super) fn transitions(&self) -> &Transitions {
        &self.transitions
    }

    /// How many nodes a behaviour may need whose value is at best `value`.
    #[inline]
    fn allowance(&self, value: u64) -> Option<Cost> {
        let Some(Incumbent { value: best, size, is_weak }) = self.incumbent else {
            return Some(self.job.nodes);
        };
        let gap = self.job.gap;
        let enough = if gap > 0.0 { self.objective.within_gap(best, gap) } else { best };
        if value == best && enough == best {
            if is_weak { Some(size) } else { size.checked_sub(1) }
        } else {
            self.objective.is_better(value, enough).then_some(self.job.nodes)
        }
    }

    #[inline]
    fn is_allowed(&self, allowance: Option<Cost>) -> bool {
        allowance.is_some_and(|most| self.space.cost() <= most)
    }

    /// The allowance for one more step of the present trace, if the behaviour is within it.
    #[inline]
    fn allowance_for_step(&self) -> Option<Cost> {
        let allowance = match self.objective {
            Objective::Reach { horizon } if self.at.steps >= horizon => None,
            Objective::Reach { .. } => self.allowance(self.at.worst.max(self.at.steps + 1)),
            Objective::Survive { .. } => self.allowance(self.at.worst),
        };
        allowance.filter(|&most| self.space.cost() <= most)
    }

    /// In a running trace: the next step, forced or chosen.
    #[inline]
    fn act(&mut self, cell: &[u16]) -> Ask {
        let is_reach = matches!(self.objective, Objective::Reach { .. });
        if !is_reach && self.at.steps == self.at.worst {
            return self.complete_trace();
        }
        let Some(most) = self.allowance_for_step() else {
            self.counts.bound += 1;
            return self.fail();
        };
        if self.is_suspended || self.at.steps >= self.round.cut {
            return self.leave(cell);
        }
        let (mark, action) = self.choose_action(cell, most);
        self.step(Ask::Step { mark, action })
    }

    /// The action in a cell, forced or chosen, and whether another one may be possible.
    #[inline]
    fn choose_action(&mut self, cell: &[u16], most: Cost) -> (bool, usize) {
        let space = &self.space;
        let (slot, label) = self.labels.find(cell, |index| (space.point(index), space.label(index)));
        match label {
            Some(label) => (false, usize::from(label)),
            None => self.branch(cell, slot, most),
        }
    }

    /// In an unlabelled cell: the first label that is possible. If another one may be, a frame remembers
    /// it.
    fn branch(&mut self, cell: &[u16], slot: Slot, most: Cost) -> (bool, usize) {
        let within = most.min(self.round.nodes);
        let first = (0..self.actions).find(|&label| {
            // If no other label is possible the last one is, and need not be looked at twice.
            let is_last = label + 1 == self.actions;
            (is_last || !self.space.refutes(cell, label, within, 0)) && self.give(cell, slot, label, within)
        });
        debug_assert!(first.is_some(), "a tree that agrees with the behaviour has a label for every cell");
        let first = first.unwrap_or_default();
        let next = if within < most {
            self.label_from(0, first)
        } else {
            (first + 1..self.actions).find(|&label| !self.space.refutes(cell, label, most, 1))
        };
        if within == most {
            self.counts.unrealisable += u64::from(next.unwrap_or(self.actions)) - 1;
        }
        if let Some(next) = next {
            self.frames.push(Frame { labelled: self.slots.len() as u32 - 1, first, next, at: self.at });
        }
        (next.is_some(), usize::from(first))
    }

    /// The label from `from` on, other than `first`, if there is one.
    fn label_from(&self, from: u16, first: u16) -> Option<u16> {
        let label = if from == first { from + 1 } else { from };
        (label < self.actions).then_some(label)
    }

    /// Gives a cell a label, if that is possible within `most` nodes; says whether.
    fn give(&mut self, cell: &[u16], slot: Slot, label: u16, most: Cost) -> bool {
        if !self.space.push(cell, label) {
            return false;
        }
        if self.space.cost() > most {
            self.space.pop();
            return false;
        }
        self.counts.realisable += 1;
        self.set_label(cell, slot, label);
        true
    }

    /// Where the label of a cell is, or would be.
    fn slot(&self, cell: &[u16]) -> Slot {
        let space = &self.space;
        self.labels.find(cell, |index| (space.point(index), space.label(index))).0
    }

    /// Writes the label of the point just pushed.
    fn set_label(&mut self, cell: &[u16], mut slot: Slot, label: u16) {
        let index = self.slots.len();
        if self.labels.is_full() {
            let space = &self.space;
            self.slots = self.labels.grow((0..index).map(|index| space.point(index)));
            slot = self.labels.find(cell, |index| (space.point(index), space.label(index))).0;
        }
        self.labels.set(slot, label, index);
        self.slots.push(slot);
        self.labelled_at.push(self.at.steps);
    }

    #[inline]
    fn step(&mut self, ask: Ask) -> Ask {
        self.at.steps += 1;
        self.count(1);
        ask
    }

    /// Counts the present step, or takes its count back.
    #[inline]
    fn count(&mut self, by: i64) {
        if self.job.is_counted {
            self.transitions.count(self.at.steps, self.space.cost(), by);
        }
        if let Some(Incumbent { value, size, is_weak: true }) = self.incumbent {
            let best = match self.objective {
                Objective::Reach { .. } => self.at.worst.max(self.at.steps),
                Objective::Survive { .. } => self.at.worst,
            };
            if best == value && self.space.cost() >= size {
                self.canonical = self.canonical.wrapping_add_signed(by);
            }
        }
    }

    fn fail(&mut self) -> Ask {
        self.failures[self.order[self.at.trace as usize] as usize] += 1;
        self.go_back()
    }

    /// Goes back to the last cell with a label that is still to be tried, or on to the next leaf.
    fn go_back(&mut self) -> Ask {
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
            let slot = self.slot(&cell);
            self.at = at;
            // The incumbent may be better than when the frame was made.
            let Some(most) = self.allowance_for_step() else {
                self.frames.pop();
                drop += 1;
                continue;
            };
            let within = most.min(self.round.nodes);
            let mut label = Some(next);
            let ask = loop {
                let Some(next) = label else { break None };
                label = self.label_from(next + 1, first);
                let keep = label.is_some();
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
                (Some(label), Some(frame)) => frame.next = label,
                _ => {
                    self.frames.pop();
                }
            }
            if ask.is_some() {
                break ask;
            }
            drop += 1;
        };
        self.cell = cell;
        ask.unwrap_or_else(|| self.enter())
    }

    /// Takes back all labels but the first `count`.
    fn unlabel(&mut self, count: usize) {
        for slot in self.slots.drain(count..).rev() {
            self.labels.clear(slot);
        }
        self.labelled_at.truncate(count);
        self.space.pop_to(count);
        self.leaves.share_at_most(count);
    }

    /// Sets the present trace aside for the next round.
    fn leave(&mut self, cell: &[u16]) -> Ask {
        self.set_aside(cell, None);
        Ask::Leave
    }

    /// Writes the present behaviour down as a leaf. Its trace has reached this cell, which is to be given
    /// this label if any.
    fn set_aside(&mut self, cell: &[u16], label: Option<u16>) {
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
            if self.job.is_fresh {
                self.failures.fill(0);
            }
            if started.is_empty() {
                break self.start_trace();
            }
            for (place, initial) in started.iter().enumerate() {
                let found = self.order[place..].iter().position(|other| other == initial);
                self.order.swap(place, place + found.unwrap_or(0));
            }
            let Some(most) = self.allowance_for_step() else {
                self.counts.bound += 1;
                continue;
            };
            let (mark, action) = match label {
                None => self.choose_action(cell, most),
                Some(label) => {
                    let slot = self.slot(cell);
                    if !self.give(cell, slot, label, most.min(self.round.nodes)) {
                        if most > self.round.nodes {
                            self.set_aside(cell, Some(label));
                            break Ask::Keep { leaf: index };
                        }
                        self.counts.unrealisable += 1;
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
        let slot = self.slot(cell);
        self.at.steps = steps;
        self.set_label(cell, slot, label);
    }

    fn complete_trace(&mut self) -> Ask {
        // The value can only have become worse with this trace.
        if !self.is_allowed(self.allowance(self.at.worst)) {
            self.counts.bound += 1;
            return self.fail();
        }
        self.at.trace += 1;
        if (self.at.trace as usize) < self.order.len() {
            return self.start_trace();
        }
        self.counts.complete += 1;
        let (value, size) = (self.at.worst, self.space.cost());
        self.incumbent = Some(Incumbent { value, size, is_weak: false });
        Ask::Found { value, size }
    }

    /// Starts the trace, of those that are left, that has failed most.
    fn start_trace(&mut self) -> Ask {
        let first = self.at.trace as usize;
        let most_failures = |&place: &usize| {
            let initial = self.order[place];
            (self.failures[initial as usize], std::cmp::Reverse(initial))
        };
        let place = (first..self.order.len()).max_by_key(most_failures).unwrap_or(first);
        self.order.swap(first, place);
        self.at.steps = 0;
        Ask::Reset { initial: self.order[first] as usize }
    }
}

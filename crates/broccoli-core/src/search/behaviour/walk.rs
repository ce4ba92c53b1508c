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

use std::ops::RangeInclusive;

use super::bounds::Store;
use super::labels::{Labels, Slot};
use super::leaves::{Leaf, Leaves};
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Round {
    /// `reach`: traces of so many steps.
    pub(super) cut: u64,
    /// Behaviours that need more predicates than this.
    pub(super) nodes: Cost,
}

pub(super) struct Walk<S: Store> {
    objective: Objective,
    actions: u16,
    nodes: Cost,
    round: Round,
    incumbent: Option<(u64, Cost)>,
    /// How far from the optimum an answer may be.
    gap: f64,
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
    /// The leaves of the last round, the order in which they are gone on with, the labels of the present
    /// one; and the leaves of this round.
    old_leaves: Leaves,
    agenda: Vec<u32>,
    path: Vec<u32>,
    leaves: Leaves,
    counts: Behaviours,
    /// By the number of a step, and the cost of the behaviour after it: the transitions asked for.
    transitions: Vec<[u64; COSTS]>,
}

/// How many costs are counted apart; greater ones count as the last.
const COSTS: usize = 16;
/// Up to which step transitions are counted apart; later ones count as this one.
const MOST_STEPS: u64 = 1 << 16;

impl<S: Store> Walk<S> {
    /// A walk for trees of at most `nodes` predicates, whose first round ends at `cut`.
    pub(super) fn new(problem: &Problem, nodes: u64, round: Round, incumbent: Option<(u64, Cost)>) -> Self {
        let thresholds: Vec<u16> = problem.dimensions().iter().map(|d| d.thresholds.len() as u16).collect();
        let initials = problem.initial_states().len();
        let actions = problem.actions().len();
        let objective = problem.objective();
        let nodes = Cost::try_from(nodes).unwrap_or(Cost::MAX);
        Walk {
            objective,
            actions: actions as u16,
            nodes,
            round,
            incumbent,
            gap: 0.0,
            labels: Labels::new(&thresholds),
            leaves: Leaves::new(thresholds.len()),
            old_leaves: Leaves::new(thresholds.len()),
            space: VersionSpace::new(thresholds, actions, problem.limits().depth(), nodes.min(round.nodes)),
            slots: Vec::new(),
            labelled_at: Vec::new(),
            frames: Vec::new(),
            at: Position {
                trace: 0,
                steps: 0,
                worst: match objective {
                    Objective::Reach { .. } => 0,
                    Objective::Survive { horizon } => horizon,
                },
            },
            order: (0..initials as u32).collect(),
            failures: vec![0; initials],
            cell: Vec::new(),
            agenda: Vec::new(),
            path: Vec::new(),
            counts: Behaviours::default(),
            transitions: Vec::new(),
        }
    }

    /// The same walk, content with less: values that leave the incumbent within `gap` are no better.
    pub(super) fn within(self, gap: f64) -> Self {
        Walk { gap, ..self }
    }

    /// Begins the first round.
    pub(super) fn start(&mut self) -> Ask {
        self.start_trace()
    }

    /// Begins another round, which goes on from the leaves of the last one.
    pub(super) fn next_round(&mut self, round: Round) -> Ask {
        self.round = round;
        std::mem::swap(&mut self.leaves, &mut self.old_leaves);
        self.leaves.clear();
        self.path.clear();
        self.agenda.clear();
        self.agenda.extend((0..self.old_leaves.len() as u32).rev());
        if matches!(self.objective, Objective::Survive { .. }) {
            self.promising_first();
        }
        self.space.limit(self.nodes.min(round.nodes));
        self.go_back()
    }

    /// Puts the leaves that promise most first, in bands within which they keep their order: neighbours
    /// have labels in common, which need not be set up again.
    fn promising_first(&mut self) {
        let leaves = &self.old_leaves;
        self.agenda.sort_by_cached_key(|&leaf| leaves.leaf(leaf as usize).promise());
        let mut end = self.agenda.len();
        let mut band = 1;
        while end > 0 {
            let start = end - end.min(band);
            self.agenda[start..end].sort_unstable_by(|a, b| b.cmp(a));
            (end, band) = (start, band + band / 4 + 1);
        }
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

    /// A behaviour found elsewhere becomes the incumbent. It is better than the present one.
    pub(super) fn improve(&mut self, value: u64, size: Cost) {
        debug_assert!(
            self.allowance(value).is_some_and(|most| size <= most),
            "an incumbent never gets worse"
        );
        self.incumbent = Some((value, size));
    }

    /// The labelled cells of the present behaviour, in the order in which they were reached.
    pub(super) fn behaviour(&self) -> impl Iterator<Item = (&[u16], u16)> {
        (0..self.space.len()).map(|index| (self.space.point(index), self.space.label(index)))
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

    /// Whether this round left leaves.
    pub(super) fn has_leaves(&self) -> bool {
        !self.leaves.is_empty()
    }

    /// What ended behaviours so far.
    pub(super) fn counts(&self) -> Behaviours {
        self.counts
    }

    /// How many transitions were asked for whose number is in `steps` and after which the behaviour
    /// needs at most `nodes` predicates; `None` if so many steps or nodes are not counted apart.
    pub(super) fn transitions(&self, steps: RangeInclusive<u64>, nodes: Cost) -> Option<u64> {
        let costs = match usize::try_from(nodes).ok()? {
            _ if nodes >= self.nodes => COSTS,
            nodes if nodes + 1 < COSTS => nodes + 1,
            _ => return None,
        };
        if (MOST_STEPS..self.objective.horizon()).contains(steps.end()) {
            return None;
        }
        let counted = self.transitions.iter().zip(0..).filter(|(_, step)| steps.contains(step));
        Some(counted.map(|(by_cost, _)| by_cost[..costs].iter().sum::<u64>()).sum())
    }

    /// How many nodes a behaviour may need whose value is at best `value`.
    #[inline]
    fn allowance(&self, value: u64) -> Option<Cost> {
        match self.incumbent {
            None => Some(self.nodes),
            Some((best, size)) => {
                let enough = if self.gap > 0.0 { self.objective.within_gap(best, self.gap) } else { best };
                if value == best && enough == best {
                    size.checked_sub(1)
                } else {
                    self.objective.is_better(value, enough).then_some(self.nodes)
                }
            }
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
        if is_reach && self.at.steps >= self.round.cut {
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
        let step = self.at.steps.min(MOST_STEPS) as usize;
        if step >= self.transitions.len() {
            self.transitions.resize(step + step / 2 + 1, [0; COSTS]);
        }
        self.transitions[step][(self.space.cost() as usize).min(COSTS - 1)] += 1;
        ask
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
                if self.give(&cell, slot, next, within) {
                    break Some(self.step(Ask::Return { drop, keep, action: usize::from(next) }));
                }
                if within < most {
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
        let leaves = std::mem::take(&mut self.old_leaves);
        let mut path = std::mem::take(&mut self.path);
        let mut old_path = Vec::new();
        let ask = loop {
            let Some(index) = self.agenda.pop() else {
                self.unlabel(0);
                break Ask::Done;
            };
            let index = index as usize;
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
        self.old_leaves = leaves;
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
        self.incumbent = Some((value, size));
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

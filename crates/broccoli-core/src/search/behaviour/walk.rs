//! The walk over behaviours, as a machine that asks for one transition and is told the answer.
//!
//! In a labelled cell the action is forced. In any other cell the walk branches over the labels that
//! keep the behaviour realisable, depth first. A walk that fails goes back to the last cell with an
//! untried label. Every tree's run is one path of this walk; trees that act alike are the same path.
//!
//! The machine knows nothing of systems: it says what to do next ([`Ask`]) and is told what happened,
//! a verdict and a cell. It keeps *marks*, places to come back to, as a stack that its driver mirrors.
//!
//! **Goal and cuts.** The walk looks for behaviours that are better than its incumbent (value v,
//! size s): a better value within all the nodes allowed, or the same value with fewer than s nodes. So
//! at any moment there is an *allowance*: the number of nodes that the behaviour may need, given the
//! value it can still reach, or none at all, and then the walk fails. When it is done, no better
//! behaviour exists within the cut: with no cut the incumbent is optimal and the smallest.

use super::bounds::Store;
use super::labels::{Labels, Slot};
use super::version_space::{Cost, VersionSpace};
use crate::problem::{Objective, Problem, Verdict};
use crate::tree::Tree;

/// What the driver is to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// Start a trace from this initial state, and tell.
    Reset { initial: usize },
    /// Set a mark here if `mark`; then apply the action, and tell.
    Step { mark: bool, action: usize },
    /// Drop the `drop` last marks, go back to the last one that is left, drop it too unless `keep`;
    /// then apply the action, and tell.
    Return { drop: usize, keep: bool, action: usize },
    /// A behaviour better than the incumbent is complete, and is the incumbent from now on. Look at
    /// it, then call [`Walk::resume`].
    Found { value: u64, size: Cost },
    /// There is nothing left to ask.
    Done,
}

/// A cell with labels still to be tried.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// How many cells were labelled when it was reached.
    labelled: u32,
    /// The label tried first, by the guide; and the next one to try.
    guided: u16,
    next: u16,
    /// The state of the walk when it was reached.
    at: Position,
}

/// Where a walk is.
#[derive(Clone, Copy, Debug)]
struct Position {
    /// Which trace is being run, counted in the order of the walk.
    trace: u32,
    /// Its steps so far.
    steps: u64,
    /// Of the traces completed: the most steps (`reach`), or the fewest, at most the horizon
    /// (`survive`).
    worst: u64,
}

/// What ended the walks that failed, and how often labels were tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) complete: u64,
    pub(super) bound: u64,
    pub(super) violated: u64,
    pub(super) realisable: u64,
    pub(super) unrealisable: u64,
}

pub(super) struct Walk<S: Store> {
    objective: Objective,
    actions: u16,
    nodes: Cost,
    /// `reach`: no trace is run further than this.
    cut: u64,
    incumbent: Option<(u64, Cost)>,
    space: VersionSpace<S>,
    labels: Labels,
    /// The slots of the labelled cells, in order.
    slots: Vec<Slot>,
    frames: Vec<Frame>,
    at: Position,
    /// The initial states: first those whose traces are complete or running, in that order.
    order: Vec<u32>,
    /// Per initial state, how often its trace failed.
    failures: Vec<u64>,
    /// Scratch: the cell of the frame gone back to.
    cell: Vec<u16>,
    /// A trace was stopped by the cut, so that being done proves less than without it.
    was_cut: bool,
    ends: Ends,
    /// Says which label to try first.
    guide: Option<Guide>,
    /// Per number of the step and cost of the behaviour after it, the transitions asked for.
    histogram: Histogram,
}

impl<S: Store> Walk<S> {
    /// A walk for trees of at most `nodes` predicates. With `cut`, `reach` traces run no further.
    pub(super) fn new(
        problem: &Problem,
        nodes: u64,
        cut: Option<u64>,
        incumbent: Option<(u64, Cost)>,
    ) -> Self {
        let thresholds: Vec<u16> = problem.dimensions().iter().map(|d| d.thresholds.len() as u16).collect();
        let initials = problem.initial_states().len();
        let actions = problem.actions().len();
        let depth = problem.limits().depth();
        let objective = problem.objective();
        let nodes = Cost::try_from(nodes).unwrap_or(Cost::MAX);
        Walk {
            objective,
            actions: actions as u16,
            nodes,
            cut: cut.unwrap_or(u64::MAX).min(objective.horizon()),
            incumbent,
            labels: Labels::new(&thresholds),
            space: VersionSpace::new(thresholds, actions, depth, nodes),
            slots: Vec::new(),
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
            was_cut: false,
            ends: Ends::default(),
            guide: None,
            histogram: Histogram::default(),
        }
    }

    /// Begins: runs the first trace.
    pub(super) fn start(&mut self) -> Ask {
        self.start_trace()
    }

    /// Goes on after the answer to a [`Ask::Reset`], [`Ask::Step`] or [`Ask::Return`].
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
                self.ends.violated += 1;
                self.fail()
            }
            (Objective::Survive { .. }, Verdict::Violated) => {
                self.at.worst = self.at.worst.min(self.at.steps);
                if self.allowance(self.at.worst).is_some_and(|most| self.space.cost() <= most) {
                    self.complete_trace()
                } else {
                    self.ends.violated += 1;
                    self.fail()
                }
            }
        }
    }

    /// Goes on after [`Ask::Found`].
    pub(super) fn resume(&mut self) -> Ask {
        self.go_back()
    }

    /// The labelled cells of the present behaviour, in the order in which they were reached.
    pub(super) fn behaviour(&self) -> impl Iterator<Item = (&[u16], u16)> {
        (0..self.space.len()).map(|index| (self.space.point(index), self.space.label(index)))
    }

    /// Whether a trace was stopped by the cut.
    pub(super) fn was_cut(&self) -> bool {
        self.was_cut
    }

    pub(super) fn ends(&self) -> Ends {
        self.ends
    }

    pub(super) fn histogram(&self) -> &Histogram {
        &self.histogram
    }

    /// How many nodes a behaviour may need whose value can be at best `value`.
    #[inline]
    fn allowance(&self, value: u64) -> Option<Cost> {
        let Some((best, size)) = self.incumbent else {
            return Some(self.nodes);
        };
        if value == best {
            size.checked_sub(1)
        } else {
            self.objective.is_better(value, best).then_some(self.nodes)
        }
    }

    /// The allowance for one more step of the present trace, or none if it must not be made.
    #[inline]
    fn allowance_for_step(&mut self) -> Option<Cost> {
        match self.objective {
            Objective::Reach { .. } => {
                if self.at.steps >= self.cut {
                    self.was_cut = true;
                    return None;
                }
                self.allowance(self.at.worst.max(self.at.steps + 1))
            }
            Objective::Survive { .. } => self.allowance(self.at.worst),
        }
    }

    /// In a running trace: the next step, forced or chosen.
    #[inline]
    fn act(&mut self, cell: &[u16]) -> Ask {
        if matches!(self.objective, Objective::Survive { .. }) && self.at.steps == self.at.worst {
            return self.complete_trace();
        }
        let Some(most) = self.allowance_for_step().filter(|&most| self.space.cost() <= most) else {
            self.ends.bound += 1;
            return self.fail();
        };
        let space = &self.space;
        let (slot, label) = self.labels.find(cell, |index| (space.point(index), space.label(index)));
        match label {
            Some(label) => self.step(Ask::Step { mark: false, action: usize::from(label) }),
            None => self.branch(cell, slot, most),
        }
    }

    /// From now on, tries the labels of this tree first.
    pub(super) fn follow(&mut self, guide: Guide) {
        self.guide = Some(guide);
    }

    /// In an unlabelled cell: the first label that is possible. If another one may be, a frame
    /// remembers it.
    fn branch(&mut self, cell: &[u16], slot: Slot, most: Cost) -> Ask {
        let guided = self.guide.as_ref().map_or(0, |guide| guide.label(cell));
        let Some((label, next)) = self.choose(cell, slot, guided, 0, most) else {
            // Cannot be: a tree that agrees with the behaviour so far has some label for this cell.
            debug_assert!(false, "a realisable behaviour has a label for every cell");
            return self.fail();
        };
        if let Some(next) = next {
            self.frames.push(Frame { labelled: self.slots.len() as u32 - 1, guided, next, at: self.at });
        }
        self.step(Ask::Step { mark: next.is_some(), action: usize::from(label) })
    }

    /// Labels the cell by the first choice from `first` on that is possible within `most` nodes. Returns
    /// the label, and the next choice that is not refuted.
    fn choose(
        &mut self,
        cell: &[u16],
        slot: Slot,
        guided: u16,
        first: u16,
        most: Cost,
    ) -> Option<(u16, Option<u16>)> {
        for choice in first..self.actions {
            let label = choice_label(guided, choice);
            // If no other label is possible the last one is, and need not be looked at twice.
            let is_last = first == 0 && choice + 1 == self.actions;
            if (is_last || !self.space.refutes(cell, label, most, 0)) && self.space.push(cell, label) {
                if self.space.cost() <= most {
                    self.ends.realisable += 1;
                    self.set_label(cell, slot, label);
                    let may_be = |choice: &u16| {
                        !self.space.refutes(cell, choice_label(guided, *choice), most, 1)
                    };
                    let next = (choice + 1..self.actions).find(may_be);
                    self.ends.unrealisable += u64::from(next.unwrap_or(self.actions) - choice - 1);
                    return Some((label, next));
                }
                self.space.pop();
            }
            self.ends.unrealisable += 1;
        }
        None
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
    }

    #[inline]
    fn step(&mut self, ask: Ask) -> Ask {
        self.at.steps += 1;
        self.histogram.count(self.at.steps, self.space.cost());
        ask
    }

    fn fail(&mut self) -> Ask {
        self.failures[self.order[self.at.trace as usize] as usize] += 1;
        self.go_back()
    }

    /// Goes back to the last cell with a label that is still to be tried.
    fn go_back(&mut self) -> Ask {
        let mut drop = 0;
        let mut cell = std::mem::take(&mut self.cell);
        let ask = loop {
            let Some(&Frame { labelled, guided, next, at }) = self.frames.last() else {
                break Ask::Done;
            };
            let labelled = labelled as usize;
            cell.clear();
            cell.extend_from_slice(self.space.point(labelled));
            let slot = self.slots[labelled];
            self.unlabel(labelled);
            self.at = at;
            // The incumbent may be better than when the frame was made.
            let allowed = self.allowance_for_step().filter(|&most| self.space.cost() <= most);
            let chosen = allowed.and_then(|most| self.choose(&cell, slot, guided, next, most));
            let next = chosen.and_then(|(_, next)| next);
            match (next, self.frames.last_mut()) {
                (Some(next), Some(frame)) => frame.next = next,
                _ => {
                    self.frames.pop();
                }
            }
            match chosen {
                Some((label, _)) => {
                    break self.step(Ask::Return { drop, keep: next.is_some(), action: usize::from(label) });
                }
                None => drop += 1,
            }
        };
        self.cell = cell;
        ask
    }

    /// Takes back all labels but the first `count`.
    fn unlabel(&mut self, count: usize) {
        for slot in self.slots.drain(count..).rev() {
            self.labels.clear(slot);
        }
        self.space.pop_to(count);
    }

    fn complete_trace(&mut self) -> Ask {
        // The value can only have become worse with this trace.
        if self.allowance(self.at.worst).is_none_or(|most| self.space.cost() > most) {
            self.ends.bound += 1;
            return self.fail();
        }
        self.at.trace += 1;
        if (self.at.trace as usize) < self.order.len() {
            return self.start_trace();
        }
        self.ends.complete += 1;
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

/// The labels in the order in which they are tried: the guided one, then the others in their order.
#[inline]
fn choice_label(guided: u16, choice: u16) -> u16 {
    match choice {
        0 => guided,
        _ if choice <= guided => choice - 1,
        _ => choice,
    }
}

/// A tree over cells that says which label to try first.
pub(super) enum Guide {
    Leaf(u16),
    Node { dimension: usize, k: u16, sides: Box<[Guide; 2]> },
}

impl Guide {
    /// The guide that a tree of the problem gives.
    pub(super) fn new(problem: &Problem, tree: &Tree) -> Guide {
        match tree {
            Tree::Leaf(action) => Guide::Leaf(*action as u16),
            Tree::Node { dimension, threshold, yes, no } => {
                let below = problem.dimensions()[*dimension].thresholds.rank(*threshold);
                let sides = Box::new([Guide::new(problem, no), Guide::new(problem, yes)]);
                Guide::Node { dimension: *dimension, k: below.saturating_sub(1), sides }
            }
        }
    }

    fn label(&self, cell: &[u16]) -> u16 {
        let mut guide = self;
        loop {
            match guide {
                Guide::Leaf(label) => return *label,
                Guide::Node { dimension, k, sides } => guide = &sides[usize::from(cell[*dimension] > *k)],
            }
        }
    }
}

/// Counts transitions by the number of their step and the cost of the behaviour after it.
#[derive(Clone, Debug, Default)]
pub(super) struct Histogram {
    /// Per step, transitions of any cost; then per step and cost below [`Histogram::COSTS`].
    steps: Vec<[u64; Self::COSTS]>,
}

impl Histogram {
    /// Costs from this one less one on are counted together.
    const COSTS: usize = 16;

    #[inline]
    fn count(&mut self, step: u64, cost: Cost) {
        let step = step as usize;
        if step >= self.steps.len() {
            self.steps.resize(step + step / 2 + 1, [0; Self::COSTS]);
        }
        self.steps[step][(cost as usize).min(Self::COSTS - 1)] += 1;
    }
}

//! The walk over behaviours, as a machine that asks for one transition and is told the answer.
//!
//! In a labelled cell the action is forced. In any other cell the walk branches over the labels that
//! keep the behaviour realisable, depth first. A walk that fails goes back to the last cell with an
//! untried label. Every tree's run is one path of this walk; trees that act alike are the same path.
//!
//! The machine runs no system: it says what to do next ([`Ask`]) and is told what happened, a verdict
//! and a cell. The places it may come back to are its *marks*, a stack, and its *leaves* (below).
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
//!
//! | file | what it does |
//! |---|---|
//! | [`job`] | what it is to do, and what it asks for |
//! | [`ahead`] | the next step of a trace, and what is allowed |
//! | [`traces`] | the end of a trace, and the start of the next, as far as it is remembered |
//! | [`tally`] | objectives that take more than the worst trace |
//! | [`marks`] | the places to come back to |
//! | [`back`] | going back: other labels of earlier cells, leaves, and what is set aside |

mod ahead;
mod back;
mod job;
mod marks;
mod tally;
mod traces;

use std::sync::Arc;

pub(super) use self::job::{Ask, From, Job, Position, Round};
use self::tally::{Measure, TraceValues};
use super::bounds::Store;
use super::frontier::{Agenda, Frontier};
use super::labels::{Given, Labels};
use super::leaves::Leaves;
use super::places::Places;
use super::realise::Labelled;
use super::recall::{Added, Node, Recall, Trie};
use super::score::{Allowance, Score, rank};
use super::transitions::Transitions;
use super::version_space::{Cost, VersionSpace};
use crate::problem::measure::Tally;
use crate::problem::{Objective, Problem, Verdict};
use crate::search::Behaviours;
use crate::search::evidence::{End, Recorder};

/// A cell with labels still to be tried.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// How many cells were labelled when it was reached.
    labelled: u32,
    /// The label it had first, and the next one to try; and whether it is known that this one is not plainly
    /// impossible, and how many predicates a tree with it needs at most, or `Cost::MAX`.
    first: u16,
    next: u16,
    is_open: bool,
    most: Cost,
    at: Position,
    /// Where it is remembered; else it has a mark.
    node: Option<Node>,
}

pub(super) struct Walk<S: Store> {
    objective: Objective,
    horizon: u64,
    /// The value that no tree can beat.
    perfect: u64,
    measure: Measure,
    actions: u16,
    job: Job,
    /// What is still wanted: only what is better than the incumbent.
    allowance: Allowance,
    /// What is to be done next.
    ask: Ask,
    /// Whether everything is set aside from now on.
    is_suspended: bool,
    space: VersionSpace<S>,
    labels: Labels,
    /// How many of them the version space has been told of: those of a leaf only when it is asked.
    told: usize,
    /// The fewest predicates that a tree with these labels needs.
    cost: Cost,
    frames: Vec<Frame>,
    /// How many of them have a mark; and the places of these, and of others that are to be dropped.
    marks: u32,
    mark_places: Places,
    at: Position,
    /// The initial states: first those whose traces are complete or running, in that order.
    order: Vec<u32>,
    /// Per initial state, how often its trace failed.
    failures: Vec<u64>,
    /// The cell of the frame or leaf gone back to.
    cell: Vec<u16>,
    /// The leaves of the last round, those of them to go on with, the labels of the present one; and the leaves
    /// of this round.
    old: Frontier,
    agenda: Agenda,
    path: Vec<u32>,
    leaves: Leaves,
    leaf_places: Places,
    /// By label of the leaves of the last round, whether it follows from those before in this one, too, if
    /// that has been looked at.
    follows: Vec<Option<bool>>,
    counts: Behaviours,
    /// The shares of all behaviours that have ended.
    ended: f64,
    /// The steps made, those of remembered traces included.
    work: u64,
    transitions: Transitions,
    /// Writes down what is walked, if that is wanted.
    recorder: Option<Box<Recorder>>,
    resting_recorder: Option<Box<Recorder>>,
    recall: Recall,
}

impl<S: Store> Walk<S> {
    /// A walk with nothing to do yet. One of many takes little memory.
    pub(super) fn new(problem: &Problem, is_one_of_many: bool) -> Self {
        let thresholds: Vec<u16> = problem.dimensions().iter().map(|d| d.thresholds.len() as u16).collect();
        let initials = problem.initial_states().len();
        let actions = problem.actions().len();
        let round = Round { cut: 0, nodes: 0, only_first: false };
        Walk {
            objective: problem.objective(),
            horizon: problem.objective().horizon(),
            perfect: problem.perfect(),
            measure: match (Tally::new(problem), problem.objective()) {
                (Some(tally), _) => Measure::Tally(Box::new(TraceValues::new(tally))),
                (None, Objective::Reach { .. }) => Measure::Most,
                (None, _) => Measure::Fewest,
            },
            actions: actions as u16,
            job: Job { nodes: 0, round, gap: 0.0, is_counted: false },
            allowance: Allowance::all(0),
            ask: Ask::Done,
            is_suspended: false,
            labels: Labels::new(&thresholds, is_one_of_many),
            told: 0,
            cost: 0,
            leaves: Leaves::new(thresholds.len()),
            leaf_places: Places::default(),
            old: Frontier::new(thresholds.len()),
            space: VersionSpace::new(thresholds, actions, problem.limits().depth(), 0),
            frames: Vec::new(),
            marks: 0,
            mark_places: Places::default(),
            at: Position { trace: 0, steps: 0, worst: 0, total: 0.0, share: 0.0 },
            order: (0..initials as u32).collect(),
            failures: vec![0; initials],
            cell: Vec::new(),
            agenda: Agenda::default(),
            path: Vec::new(),
            follows: Vec::new(),
            counts: Behaviours::default(),
            ended: 0.0,
            work: 0,
            transitions: Transitions::default(),
            recorder: None,
            resting_recorder: None,
            recall: Recall::new(),
        }
    }

    /// What is walked is written down from now on, but for jobs that are not counted.
    pub(super) fn record_by(&mut self, recorder: Recorder) {
        self.recorder = Some(Box::new(recorder));
    }

    /// Who writes down what is walked.
    #[inline]
    pub(super) fn recorder(&mut self) -> Option<&mut Recorder> {
        self.recorder.as_deref_mut()
    }

    /// The system has answered: to be told before [`Walk::tell`] if the recorder wants it.
    pub(super) fn record_reply(&mut self, verdict: Verdict, observation: &[f64], state: &[u8]) {
        if let Some(recorder) = &mut self.recorder {
            recorder.reply(self.labels.len(), verdict, observation, state);
        }
    }

    /// The present behaviour has ended.
    fn note_end(&mut self, end: End) {
        match end {
            End::Violated => self.counts.violated += 1,
            End::Bound => self.counts.bound += 1,
            End::Complete => self.counts.complete += 1,
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.end(self.labels.len(), end);
        }
    }

    /// Begins to go on from some leaves of the last round, in the order of the agenda.
    pub(super) fn begin(&mut self, job: Job, old: Frontier, agenda: Agenda, incumbent: Option<Score>) {
        if !job.is_counted && self.recorder.is_some() {
            self.resting_recorder = self.recorder.take();
        } else if job.is_counted && self.resting_recorder.is_some() {
            self.recorder = self.resting_recorder.take();
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.begin();
        }
        // Neighbours have labels in common, which need not be set up again. A recorder has to be told of them all.
        let is_going_on =
            Arc::ptr_eq(&old.leaves, &self.old.leaves) && job == self.job && self.recorder.is_none();
        if !is_going_on {
            self.unlabel(0);
            self.path.clear();
            self.follows.clear();
            self.space.limit(job.nodes.min(job.round.nodes));
        }
        self.frames.clear();
        self.marks = 0;
        self.leaves.clear();
        self.leaf_places.clear();
        self.job = job;
        self.allowance = Allowance::all(job.nodes);
        if let Some(incumbent) = incumbent {
            self.improve(incumbent);
        }
        self.is_suspended = false;
        self.old = old;
        self.agenda = agenda;
        self.resume();
    }

    /// What is to be done next.
    #[inline(always)]
    pub(super) fn ask(&self) -> &Ask {
        &self.ask
    }

    /// Per initial state, how often its trace failed.
    pub(super) fn failures(&self) -> &[u64] {
        &self.failures
    }

    /// Counts failures from here.
    pub(super) fn set_failures(&mut self, failures: &[u64]) {
        self.failures.copy_from_slice(failures);
    }

    /// From now on everything is set aside, each label of each cell and all leaves that are left, until
    /// the round is over.
    pub(super) fn suspend(&mut self) {
        self.is_suspended = true;
    }

    pub(super) fn dimensions(&self) -> usize {
        self.leaves.dimensions()
    }

    /// The remembered traces that it reads, and what it has added to them before.
    pub(super) fn begin_recall(&mut self, trie: Arc<Trie>, added: Option<Added>, most_bytes: usize) {
        self.recall.begin(trie, added, most_bytes);
    }

    /// What it has added to the remembered traces.
    pub(super) fn end_recall(&mut self) -> Added {
        self.recall.end()
    }

    /// The traces that it remembers.
    #[inline]
    pub(super) fn recall_mut(&mut self) -> &mut Recall {
        &mut self.recall
    }

    /// The steps made so far, those of remembered traces included.
    #[inline(always)]
    pub(super) fn work(&self) -> u64 {
        self.work
    }

    /// The leaves that it has not begun with.
    pub(super) fn take_agenda(&mut self) -> Agenda {
        std::mem::take(&mut self.agenda)
    }

    /// Goes on after the answer to an [`Ask`] that wants one.
    #[inline(always)]
    pub(super) fn tell(&mut self, verdict: Verdict, reward: f64, cell: &[u16]) {
        self.take_reward(reward);
        if verdict == Verdict::Running {
            self.act(cell);
        } else {
            self.end_trace(verdict, cell);
        }
    }

    /// Goes on after an [`Ask`] that wants no answer.
    pub(super) fn resume(&mut self) {
        self.ask = self.go_back();
    }

    /// From now on only what is better than this is wanted.
    pub(super) fn improve(&mut self, incumbent: Score) {
        let gap = self.job.gap;
        let value = incumbent.value(self.objective);
        let enough = if gap > 0.0 { self.objective.within_gap(value, gap, self.perfect) } else { value };
        self.allowance = Allowance::better_than(incumbent, rank(self.objective, enough), self.job.nodes);
    }

    /// The labelled cells of the present behaviour that all others follow from, in the order in which they
    /// were reached.
    pub(super) fn labels(&self) -> Vec<Labelled> {
        let labelled = |index| {
            let Given { label, implied_within, .. } = *self.labels.given(index);
            implied_within.is_none().then(|| Labelled { cell: self.labels.cell(index).to_vec(), label })
        };
        (0..self.labels.len()).filter_map(labelled).collect()
    }

    /// All labelled cells of the present behaviour.
    pub(super) fn all_labels(&self) -> Vec<Labelled> {
        let labelled = |index| Labelled {
            cell: self.labels.cell(index).to_vec(),
            label: self.labels.given(index).label,
        };
        (0..self.labels.len()).map(labelled).collect()
    }

    /// How many steps of the present behaviour no tree of fewer than `size` predicates makes. Meant for a
    /// single trace.
    pub(super) fn steps_beyond(&self, size: Cost) -> u64 {
        let cost_before = |index: usize| self.space.cost_of_first(self.labels.given(index).points as usize);
        // The label before the first that is given only to a behaviour that needs so many.
        let labels = self.labels.len();
        let first = (0..labels).find(|&index| match index + 1 {
            next if next < labels => cost_before(next) >= size,
            _ => self.cost >= size,
        });
        match first {
            _ if size == 0 => self.at.steps,
            Some(index) => self.at.steps.saturating_sub(self.labels.given(index).steps),
            None => 0,
        }
    }

    /// Where the step that is asked for starts: the initial state of the trace, and the steps before.
    pub(super) fn place_before_step(&self) -> (usize, u64) {
        (self.order[self.at.trace as usize] as usize, self.at.steps - 1)
    }

    /// The label of a cell, if it has one.
    pub(super) fn label(&self, cell: &[u16]) -> Option<u16> {
        self.labels.find(cell).1.map(|index| self.labels.given(index as usize).label)
    }

    /// What ended behaviours so far.
    pub(super) fn counts(&self) -> Behaviours {
        self.counts
    }

    /// The share of the whole walk that has ended.
    pub(super) fn ended(&self) -> f64 {
        self.ended
    }

    /// Adds the transitions counted so far to others, and counts anew.
    pub(super) fn move_transitions(&mut self, all: &mut Transitions) {
        all.add(&self.transitions);
        self.transitions.clear();
    }
}

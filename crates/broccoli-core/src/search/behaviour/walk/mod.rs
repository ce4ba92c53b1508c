//! The walk over behaviours, as a machine that asks for one transition and is told the answer.
//!
//! In a labelled cell the action is forced. In any other cell the walk branches over the labels that
//! keep the behaviour realisable, depth first. A walk that fails goes back to the last cell with an
//! untried label. Every tree's run is one path of this walk; trees that act alike are the same path.
//!
//! The machine runs no system: it says what to do next ([`Ask`]) and is told what happened, a verdict
//! and a cell. The places it may come back to are its *marks*, a stack, and its *leaves* (below).
//!
//! The walk looks for behaviours better than its incumbent: how many nodes one may need, given the best value it can
//! still have, is its [`Allowance`]. What goes beyond the limits of a [`Round`] is set aside as a *leaf*, and the next
//! round goes on from the leaves; so no transition is asked for twice.
//!
//! | file | what it does |
//! |---|---|
//! | [`ahead`] | the next step of a trace |
//! | [`traces`] | the end of a trace, and the start of the next, as far as it is remembered |
//! | [`worth`] | what a behaviour is worth and can still be worth, for every objective |
//! | [`back`] | going back: other labels of earlier cells, and leaves |
//! | [`aside`] | what is set aside, and the places to come back to |

mod ahead;
mod aside;
mod back;
mod traces;
mod worth;

use std::collections::VecDeque;
use std::sync::Arc;

use self::worth::Measure;
use super::bounds::Store;
use super::frontier::Frontier;
use super::labels::Labels;
use super::leaves::Leaves;
use super::places::Places;
use super::realise::Labelled;
use super::recall::{Node, Recall};
use super::schedule::Round;
use super::score::{Allowance, Score};
use super::task::Task;
use super::transitions::Transitions;
use super::version_space::{Cost, VersionSpace};
use crate::problem::{Objective, Problem, Rank, Verdict};
use crate::search::Behaviours;
use crate::search::evidence::{End, Recorder};

/// What a walk is to do.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Job {
    /// The most predicates of a tree.
    pub(super) nodes: Cost,
    pub(super) round: Round,
    /// Whether its transitions are counted, and recorded.
    pub(super) is_counted: bool,
    /// Whether to go on as if nothing had been found, for all others that are as good.
    pub(super) wants_equals: bool,
}

/// What is to be done next. Small: one is made for every step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// Start a trace from this initial state, and `Walk::tell`.
    Reset { initial: u32 },
    /// Go where the step starts; save the places that are wanted; then apply the action, and `Walk::tell`.
    Step { from: Origin, action: u16 },
    /// Save the places that are wanted, and `Walk::resume`.
    Leave,
    /// A behaviour better than the incumbent is complete. Look at it, and `Walk::resume`.
    Found(Score),
    /// There is nothing left to do in this round but what was set aside.
    Done,
}

/// Where a step starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Where the last one has led.
    Here,
    /// At a mark, given by its index.
    Mark(u32),
    /// At a leaf of the last round, given by its index.
    Leaf(u32),
    /// Where a remembered trace was.
    Recalled(Node),
}

/// Where a walk is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Position {
    /// Which trace is being run, counted in the order of the walk.
    pub(super) trace: u32,
    /// The last place on its way that was remembered when the task began, or its initial state.
    pub(super) node: Node,
    /// Its steps so far.
    pub(super) steps: u64,
    /// Of the traces completed: the most steps (`reach`), or the fewest, at most the horizon
    /// (`survive`). Of no interest for other objectives.
    pub(super) worst: u64,
    /// The rewards of the running trace, if they count.
    pub(super) total: f64,
    /// Its share of the whole walk, if the labels that a cell may be given all take equal shares.
    pub(super) share: f64,
}

/// A cell with labels still to be tried.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// How many cells were labelled when it was reached.
    labelled: u32,
    /// The next label to try; all greater ones are untried, too. If it is known that it is not plainly impossible, how
    /// many predicates a tree with it needs at most, or `Cost::MAX`.
    next: u16,
    most: Option<Cost>,
    at: Position,
    /// Where it is remembered, and whether it has a mark: one of a first trace has, as there are many.
    node: Option<Node>,
    is_marked: bool,
}

pub(super) struct Walk<S: Store> {
    objective: Objective,
    horizon: u64,
    actions: u16,
    measure: Measure,
    job: Job,
    /// What is still wanted: only what is better than the incumbent.
    allowance: Allowance,
    /// What is to be done next.
    pub(super) ask: Ask,
    /// Whether everything is set aside from now on.
    is_suspended: bool,
    /// Whether first traces are written down, too, for hints.
    writes_first: bool,
    /// The present behaviour, and the fewest predicates that a tree with its labels needs. Of some labels the version
    /// space is told only when it is asked: of those of a leaf, and where it is known what they cost.
    pub(super) labels: Labels,
    space: VersionSpace<S>,
    told: usize,
    cost: Cost,
    at: Position,
    /// The initial states: first those whose traces are complete or running, in that order.
    order: Vec<u32>,
    /// Per initial state, how often its trace failed.
    failures: Vec<u64>,
    frames: Vec<Frame>,
    /// How many of them have a mark; the places of these, and above them stale ones, which
    /// the next save drops; and whether the place of the last mark is still to be saved.
    marks: u32,
    mark_places: Places,
    wants_mark: bool,
    /// The cell of the frame gone back to.
    cell: Vec<Rank>,
    /// The leaves of the last round, and the labels of the present one.
    todo: VecDeque<Frontier>,
    path: Vec<u32>,
    /// What is set aside for the next round, and what waits for its next trace. Of the last leaves the places may still
    /// have to be saved.
    leaves: Leaves,
    waiting: Leaves,
    pub(super) recall: Recall,
    recorder: Option<Box<Recorder>>,
    pub(super) counts: Behaviours,
    /// The shares of all behaviours that have ended.
    pub(super) ended: f64,
    /// The steps made, those of remembered traces included.
    pub(super) work: u64,
    pub(super) transitions: Transitions,
}

impl<S: Store> Walk<S> {
    /// A walk with nothing to do yet. One of many takes little memory.
    pub(super) fn new(problem: &Problem, is_one_of_many: bool, recorder: Option<Recorder>) -> Self {
        let thresholds: Vec<Rank> = problem.dimensions().iter().map(|d| d.thresholds.len()).collect();
        let initials = problem.initial_states().len();
        let actions = problem.actions().len();
        Walk {
            objective: problem.objective(),
            horizon: problem.objective().horizon(),
            actions: actions as u16,
            measure: Measure::new(problem),
            job: Job::default(),
            allowance: Allowance::all(0),
            ask: Ask::Done,
            is_suspended: false,
            writes_first: false,
            labels: Labels::new(&thresholds, is_one_of_many),
            leaves: Leaves::new(thresholds.len()),
            waiting: Leaves::new(thresholds.len()),
            space: VersionSpace::new(thresholds, actions, problem.limits().depth(), 0),
            told: 0,
            cost: 0,
            at: Position::default(),
            order: (0..initials as u32).collect(),
            failures: vec![0; initials],
            frames: Vec::new(),
            marks: 0,
            mark_places: Places::default(),
            wants_mark: false,
            cell: Vec::new(),
            todo: VecDeque::new(),
            path: Vec::new(),
            recall: Recall::default(),
            recorder: recorder.map(Box::new),
            counts: Behaviours::default(),
            ended: 0.0,
            work: 0,
            transitions: Transitions::default(),
        }
    }

    /// Begins a task. Remembered traces may take so many bytes.
    pub(super) fn begin(&mut self, task: &mut Task, recall_bytes: usize) {
        self.job = task.brief.job;
        if let Some(recorder) = self.recorder() {
            recorder.begin();
        }
        self.unlabel(0);
        self.path.clear();
        self.space.limit(self.job.nodes.min(self.job.round.nodes));
        self.frames.clear();
        self.marks = 0;
        self.wants_mark = false;
        self.leaves.take();
        self.waiting.take();
        self.failures.copy_from_slice(&task.failures);
        self.recall.begin(Arc::clone(&task.brief.trie), task.added.take(), recall_bytes);
        self.allowance = Allowance::all(self.job.nodes);
        if let Some(incumbent) = task.incumbent() {
            self.improve(incumbent);
        }
        self.is_suspended = false;
        self.writes_first = task.brief.writes_first;
        self.todo = std::mem::take(&mut task.todo);
        self.resume();
    }

    /// The task has ended: what it has left of its leaves, and what it has added.
    pub(super) fn end_task(&mut self, task: &mut Task) {
        if let Some(recorder) = self.recorder() {
            recorder.finish();
        }
        task.todo = std::mem::take(&mut self.todo);
        task.waiting.extend((self.waiting.len() > 0).then(|| self.waiting.take().into()));
        task.failures.copy_from_slice(&self.failures);
        task.added = Some(self.recall.end());
    }

    /// Who writes down what is walked, if that is wanted.
    #[inline]
    pub(super) fn recorder(&mut self) -> Option<&mut Recorder> {
        self.recorder.as_deref_mut().filter(|_| self.job.is_counted)
    }

    /// The present behaviour has ended.
    fn note_end(&mut self, end: End) {
        match end {
            End::Violated => self.counts.violated += 1,
            End::Bound => self.counts.bound += 1,
            End::Complete => self.counts.complete += 1,
        }
        let labels = self.labels.len();
        if let Some(recorder) = self.recorder() {
            recorder.end(labels, end);
        }
    }

    /// Goes on after the answer to an [`Ask`] that wants one.
    #[inline(always)]
    pub(super) fn tell(&mut self, verdict: Verdict, reward: f64, cell: &[Rank]) {
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
        self.allowance = Allowance::better_than(incumbent, self.job.nodes);
    }

    /// The labelled cells of the present behaviour, in the order in which they were reached; without those that follow
    /// from the others, if only those are wanted.
    pub(super) fn labelled_cells(&self, with_implied: bool) -> Vec<Labelled> {
        let given = (0..self.labels.len()).map(|index| (index, self.labels.given(index)));
        let wanted = given.filter(|(_, given)| with_implied || given.implied_within.is_none());
        wanted
            .map(|(index, given)| Labelled { cell: self.labels.cell(index).to_vec(), label: given.label })
            .collect()
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
    pub(super) fn label(&self, cell: &[Rank]) -> Option<u16> {
        self.labels.find(cell).1.map(|index| self.labels.given(index as usize).label)
    }
}

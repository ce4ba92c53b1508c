//! The local search, as a machine that asks for one step and is told the answer, like the walk.
//!
//! It goes through all trees that differ from one in a single place, depth first: in a cell in which they act differently
//! it takes one action after the other. It goes along what is remembered wherever it can.

mod turns;

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::loss::{Judge, Loss};
use super::neighbours::Neighbours;
use super::predicates::Predicates;
use super::ranked::Ranked;
use super::{Branch, Hints, Placed};
use crate::problem::measure::FAILED;
use crate::problem::{Objective, Problem, Rank, Verdict};
use crate::search::behaviour::labels::{Given, Labels, NOT_TOLD};
use crate::search::behaviour::realise::{Labelled, least_nodes};
use crate::search::behaviour::recall::{Node, Recall, Record};
use crate::search::behaviour::score::Score;
use crate::search::behaviour::task::{Task, WAY_PART};
use crate::search::behaviour::tuning::HintTuning;
use crate::search::behaviour::version_space::Cost;
use crate::search::behaviour::walk::{Ask, Origin, Position};

/// So many remembered places count as one query: they take time, too.
const RECALLED: u64 = 16;
/// Trees are tried on all initial states for at most so many times as long as all else takes, …
const TRIES: u64 = 2;
/// … and their neighbours are walked for at most so many times as long as changes are drawn at random.
const IN_ORDER: u64 = 4;
/// The first traces towards a goal are given up after so many steps, later ones sometimes after more.
const FIRST_PATIENCE: u64 = 200;

/// What is being done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Doing {
    /// A tree is run from the first few initial states.
    #[default]
    Measure,
    /// Another tree is run that differs from it in one place.
    Probe,
    /// All trees that do are walked.
    Improve,
    /// It is run from all initial states, if it may be better than the best.
    Try,
}

/// A cell in which there are other actions.
struct Frame {
    labelled: usize,
    level: usize,
    trace: usize,
    node: Node,
    untried: Vec<u16>,
}

/// A tree that is better than the incumbent.
pub(in super::super) struct Better {
    pub(in super::super) tree: Ranked,
    pub(in super::super) labels: Vec<Labelled>,
    pub(in super::super) score: Score,
    /// The steps of its trace that no smaller tree makes.
    pub(in super::super) own_steps: u64,
}

pub(in super::super) struct Climb<'p> {
    problem: &'p Problem,
    predicates: Predicates,
    actions: u16,
    judge: Judge,
    pub(in super::super) hints: Hints,
    pub(in super::super) recall: Recall,
    doing: Doing,
    /// How many of the initial states count.
    states: usize,
    /// The tree whose neighbours are walked, and the place where they differ from it; what they have to be better than.
    base: Ranked,
    free: usize,
    neighbours: Neighbours,
    must: Loss,
    /// What a race is run against, by initial state.
    rivals: Vec<f64>,
    labels: Labels,
    frames: Vec<Frame>,
    /// What is left of a path to be found again.
    path: VecDeque<Branch>,
    /// The running trace: which one it is, how long it may be, and where it is; and the losses of those before.
    trace: usize,
    limit: u64,
    at: Position,
    losses: Vec<f64>,
    /// Where the system is.
    here: Option<Node>,
    pub(in super::super) ask: Ask,
    incumbent: Option<Score>,
    pub(in super::super) found: Option<Better>,
    /// The queries made, and what the remembered places count besides.
    pub(in super::super) queries: u64,
    recalled: u64,
    /// Whether it goes on with what another task has begun, and is not yet where that one was.
    is_on_its_way: bool,
    cell_actions: Vec<u16>,
    has_improved: bool,
    /// When the task ends, in steps, and how many it had made when the last ones were counted for what was done.
    ends: u64,
    counted: u64,
    /// Whether it ends within a trace, too.
    is_short: bool,
}

impl<'p> Climb<'p> {
    pub(in super::super) fn new(problem: &'p Problem) -> Self {
        let predicates = Predicates::new(problem);
        Climb {
            problem,
            actions: problem.actions().len() as u16,
            judge: Judge::new(problem),
            hints: Hints::new(problem, &HintTuning::OFF),
            recall: Recall::default(),
            doing: Doing::Measure,
            states: 0,
            base: Ranked::leaf(0),
            free: 0,
            neighbours: Neighbours::default(),
            must: Loss::WORST,
            rivals: Vec::new(),
            labels: Labels::new(predicates.counts(), true),
            predicates,
            frames: Vec::new(),
            path: VecDeque::new(),
            trace: 0,
            limit: 0,
            at: Position::default(),
            losses: Vec::new(),
            here: None,
            ask: Ask::Done,
            incumbent: None,
            found: None,
            queries: 0,
            recalled: 0,
            is_on_its_way: false,
            cell_actions: Vec::new(),
            has_improved: false,
            ends: 0,
            counted: 0,
            is_short: false,
        }
    }

    pub(in super::super) fn begin(&mut self, task: &mut Task) {
        self.is_short = task.brief.is_short;
        self.recall.begin(Arc::clone(&task.brief.trie), task.added.take(), task.brief.recall_bytes);
        self.predicates.see(&task.brief.trie);
        self.incumbent = task.incumbent();
        self.found = None;
        (self.queries, self.recalled, self.counted, self.ends) = (0, 0, 0, task.budget);
        if let Some(hints) = task.hints.take() {
            self.hints = *hints;
        }
        self.doing = self.hints.doing;
        self.begin_scan();
        self.is_on_its_way = true;
        self.path = std::mem::take(&mut self.hints.path).into();
        self.go_on(None);
    }

    /// The task has ended.
    pub(in super::super) fn end_task(&mut self, task: &mut Task) {
        self.count();
        self.hints.asked += self.queries;
        self.hints.doing = self.doing;
        self.hints.probe =
            Some(self.base.clone()).filter(|_| self.doing == Doing::Probe && !self.has_improved);
        task.added = Some(self.recall.end());
        if self.has_improved {
            self.frames.clear();
        }
        let labels = &self.labels;
        let frames = self.frames.drain(..).filter(|frame| frame.labelled < labels.len());
        self.hints.path = frames
            .map(|Frame { labelled, untried, .. }| Branch { action: labels.given(labelled).label, untried })
            .collect();
        task.hints = Some(Box::new(self.hints.clone()));
    }

    /// What has been done, in steps.
    pub(in super::super) fn work(&self) -> u64 {
        self.queries + self.recalled / RECALLED
    }

    /// Counts the steps since it was done last, for what they were made.
    fn count(&mut self) {
        let work = self.work();
        let steps = work - std::mem::replace(&mut self.counted, work);
        match self.doing {
            Doing::Improve => self.hints.in_order += steps,
            Doing::Try => self.hints.trying += steps,
            _ => self.hints.at_random += steps,
        }
    }

    /// What seems better than the best is tried on all initial states, if that has not taken more than all else.
    pub(super) fn wants_try(&self) -> bool {
        let Hints { home, in_order, at_random, trying, .. } = &self.hints;
        (home.is_none() || !self.judge.is_worst() || *trying <= TRIES * (at_random + in_order))
            && self.is_worth_a_try()
    }

    /// Whether walking all neighbours takes too much. The less can be given up early, the less it is worth.
    fn is_too_dear(&self) -> bool {
        let Hints { in_order, at_random, .. } = self.hints;
        let times = match self.problem.objective() {
            objective if objective.wants_rewards() => 0,
            _ if self.judge.is_worst() => IN_ORDER,
            _ => 1,
        };
        self.doing == Doing::Improve && in_order + (self.work() - self.counted) > at_random * times
    }

    /// Nothing more is to be done.
    pub(in super::super) fn stop(&mut self) {
        self.ask = Ask::Done;
    }

    /// The label of a cell, if it has one.
    pub(in super::super) fn label(&self, cell: &[Rank]) -> Option<u16> {
        self.labels.find(cell).1.map(|index| self.labels.given(index as usize).label)
    }

    /// The labels that lead to the present place.
    pub(in super::super) fn labelled_cells(&self) -> Vec<Labelled> {
        let one = |index| Labelled {
            cell: self.labels.cell(index).to_vec(),
            label: self.labels.given(index).label,
        };
        (0..self.labels.len()).map(one).collect()
    }

    /// The state of the system where a step starts; empty if the way there is to act as the labels say.
    pub(in super::super) fn start(&self, from: Origin) -> Option<&[u8]> {
        match from {
            Origin::Recalled(node) => Some(self.recall.state(node)),
            _ => None,
        }
    }

    /// Where the step that is asked for starts.
    pub(in super::super) fn place_before_step(&self) -> (usize, u64) {
        (self.initial() as usize, self.at.steps)
    }

    /// Whether the present tree seems better than the best, from the few initial states, and was not run from all.
    pub(super) fn is_worth_a_try(&self) -> bool {
        let Hints { home, here, order, few, .. } = &self.hints;
        let here = here.as_ref().filter(|here| *few < order.len() && !here.losses.is_empty());
        let Some(here) = here else { return false };
        // From others the best may be worth more or less.
        home.as_ref().is_none_or(|home| here.loss < self.loss_on_few(home))
    }

    /// Whether the present tree fails from none of the few initial states, or others have been tried before.
    pub(super) fn is_promising(&self) -> bool {
        self.hints.home.is_some() || self.hints.here.as_ref().is_some_and(|here| here.loss.fails == 0)
    }

    /// What the best tree is worth from the few initial states.
    pub(super) fn loss_on_few(&self, home: &Placed) -> Loss {
        let few = &self.hints.order[..self.hints.few];
        let losses: Vec<f64> = few.iter().map(|&initial| home.losses[initial as usize]).collect();
        self.judge.total(few, &losses, home.tree.size())
    }

    fn initial(&self) -> u32 {
        self.hints.order[self.trace]
    }

    /// The answer to what was asked.
    pub(in super::super) fn tell(&mut self, verdict: Verdict, reward: f64, cell: &[Rank]) {
        if matches!(self.ask, Ask::Step { .. }) {
            self.queries += 1;
            self.is_on_its_way = false;
            self.at.steps += 1;
            self.at.total = self.judge.add(self.at.total, self.at.steps, reward);
        }
        if verdict == Verdict::Running
            && self.at.steps < self.limit
            && let Some(index) = self.labels.find(cell).1
            && !self.recall.see(index)
            && self.may_go_on()
            && !self.ends_here()
        {
            let action = self.labels.given(index as usize).label;
            self.ask = Ask::Step { from: Origin::Here, action };
            return;
        }
        self.here = self.recall.write(self.at, verdict, cell, None);
        match self.here {
            Some(_) => self.go_on(self.here),
            None => self.stop(), // there is no room left
        }
    }

    /// Whether the task ends within the trace.
    fn ends_here(&self) -> bool {
        self.is_short && self.work() >= self.ends.saturating_add(self.at.steps / WAY_PART)
    }

    /// Goes along what is remembered, from a node or from the next tree on, until a step has to be made.
    fn go_on(&mut self, mut node: Option<Node>) {
        self.ask = loop {
            if self.work() >= self.ends {
                break Ask::Done;
            }
            if self.is_too_dear() && !self.has_improved {
                self.count();
                self.leave_optimum();
                self.begin_scan();
                node = None;
            }
            let now = match node {
                Some(node) => Ok(node),
                None => self.next_trace(),
            };
            match now.and_then(|node| self.leave(node)) {
                Ok(next) => node = next,
                Err(ask) => break ask,
            }
        };
    }

    /// Goes from a node to the next one; none if another trace or tree is to be begun.
    fn leave(&mut self, node: Node) -> Result<Option<Node>, Ask> {
        self.recalled += u64::from(!self.is_on_its_way);
        let Record { steps, total, verdict, .. } = *self.recall.record(node);
        (self.at.steps, self.at.total) = (steps, total);
        if verdict != Verdict::Running || steps >= self.limit {
            let is_reach = matches!(self.problem.objective(), Objective::Reach { .. });
            let loss = match verdict {
                // Towards a goal what comes after the limit has not come; to survive, it is as good as any.
                Verdict::Satisfied if steps > self.limit && is_reach => FAILED,
                _ => self.judge.loss(verdict, steps, total),
            };
            self.losses.push(loss);
            self.hints.has_reached |= loss != FAILED;
            self.trace += 1;
            return self.end_trace();
        }
        if !self.may_go_on() {
            return self.give_up();
        }
        let found = self.labels.find(self.recall.cell(node)).1;
        let (index, action) = match found {
            Some(index) => (index, self.labels.given(index as usize).label),
            None => self.choose(node),
        };
        self.recall.see(index);
        self.take(node, action)
    }

    /// Whether the running trace may still lead to something better.
    fn may_go_on(&mut self) -> bool {
        if !self.problem.objective().wants_rewards() {
            return true;
        }
        let (size, order) = (self.size(), &self.hints.order[..self.states]);
        let so_far = (self.at.steps, self.at.total);
        self.judge.may_go_on(order, &mut self.losses, so_far, &self.must, size)
    }

    /// Takes an action in a node.
    fn take(&mut self, node: Node, action: u16) -> Result<Option<Node>, Ask> {
        if let Some(next) = self.recall.go_on(node, usize::from(action)) {
            return Ok(Some(next));
        }
        if !self.recall.is_writing() {
            return Err(Ask::Done); // there is no room left
        }
        let from = if self.here == Some(node) { Origin::Here } else { Origin::Recalled(node) };
        self.here = None;
        Err(Ask::Step { from, action })
    }

    /// The action in a cell without a label: if there are several, the others come later.
    fn choose(&mut self, node: Node) -> (u32, u16) {
        let cell = self.recall.cell(node).to_vec();
        let labelled = self.labels.len();
        let level = self.neighbours.level();
        let mut actions = std::mem::take(&mut self.cell_actions);
        let is_free = self.base.leads_through(self.free, &cell);
        let own = super::ranked::action(&self.base.places, &cell);
        let mut action = own;
        actions.clear();
        if is_free {
            self.neighbours.actions(&cell, &mut actions);
            // What the tree itself does comes last: that is known.
            actions.sort_by_key(|&action| (action == own, action));
            action = actions.first().copied().unwrap_or(own);
        }
        if actions.len() > 1 {
            let mut untried: Vec<u16> = actions[1..].iter().rev().copied().collect();
            if let Some(before) = self.path.pop_front().filter(|before| actions.contains(&before.action)) {
                action = before.action;
                untried.retain(|action| before.untried.contains(action));
            }
            self.frames.push(Frame { labelled, level, trace: self.trace, node, untried });
            self.neighbours.give(&cell, action);
        }
        self.set_label(&cell, action);
        self.cell_actions = actions;
        (labelled as u32, action)
    }

    fn set_label(&mut self, cell: &[Rank], label: u16) {
        let slot = self.labels.find(cell).0;
        let given = Given { label, implied_within: None, points: NOT_TOLD, steps: self.at.steps, slot };
        self.labels.push(cell, given);
    }

    /// The size of the smallest tree that agrees.
    fn size(&self) -> usize {
        self.base.size() - super::ranked::size(self.base.part(self.free)) + self.neighbours.least_size()
    }

    /// The next trace, or tree.
    fn next_trace(&mut self) -> Result<Node, Ask> {
        let size = self.size();
        let patience = self.patience();
        let order = &self.hints.order[..self.states];
        self.limit = self.judge.limit(order, &self.losses, &self.must, size, patience);
        self.at.steps = 0;
        self.at.total = 0.0;
        self.recall.stop();
        let initial = self.initial();
        match self.recall.start(initial as usize) {
            Some(node) => Ok(node),
            None if self.recall.is_writing() => Err(Ask::Reset { initial }),
            None => Err(Ask::Done),
        }
    }

    /// A trace has ended.
    fn end_trace(&mut self) -> Result<Option<Node>, Ask> {
        let size = self.size();
        let order = &self.hints.order[..self.states];
        let is_hopeful = self.judge.is_hopeful(order, &self.losses, &self.must, size);
        // A new beginning whose first trace fails: that says nothing about where to look.
        let is_blind = self.doing == Doing::Measure && self.losses == [FAILED];
        if !is_hopeful || is_blind || self.judge.seems_worse(order, &self.losses, &self.rivals) {
            return self.give_up();
        }
        if self.trace < order.len() {
            return Ok(None);
        }
        self.note();
        self.give_up()
    }

    /// A tree better than what was to be improved on.
    fn note(&mut self) {
        let Some(part) = self.neighbours.draw(&self.predicates, &mut self.hints.random) else { return };
        let cells: Vec<&[Rank]> = (0..self.labels.len()).map(|index| self.labels.cell(index)).collect();
        let wide = self.base.with(self.free, &part.places);
        let tree = wide.pruned(&cells);
        let mut losses = vec![FAILED; self.hints.order.len()];
        for (&initial, &loss) in self.hints.order.iter().zip(&self.losses) {
            losses[initial as usize] = loss;
        }
        let loss = self.judge.total(&self.hints.order[..self.states], &self.losses, tree.size());
        let is_whole = self.states == losses.len();
        let values: Vec<Option<u64>> = losses.iter().map(|&loss| self.judge.value(loss)).collect();
        let overall = if is_whole && loss.fails == 0 { self.problem.overall(&values) } else { None };
        if let Some(value) = overall {
            let size = Cost::try_from(tree.size()).unwrap_or(Cost::MAX);
            let score = Score::new(self.problem.objective(), value, size);
            if self.incumbent.is_none_or(|incumbent| score < incumbent) {
                self.incumbent = Some(score);
                let labels = self.labelled();
                let own_steps = self.own_steps(&labels);
                self.found = Some(Better { tree: tree.clone(), labels, score, own_steps });
            }
        }
        let is_better = self.hints.here.as_ref().is_none_or(|here| loss < here.loss);
        self.must = loss;
        self.rivals.clone_from(&losses);
        let wide = if self.doing == Doing::Improve { tree.clone() } else { wide };
        let here = Placed { tree, wide, losses, loss };
        if is_whole && self.hints.home.as_ref().is_none_or(|home| loss < home.loss) {
            self.hints.home = Some(here.clone());
            self.hints.has_improved = true;
        }
        if self.doing != Doing::Try {
            self.hints.here = Some(here);
            self.hints.untried.clear();
        }
        self.has_improved = is_better || self.doing != Doing::Probe;
    }

    /// The labelled cells.
    fn labelled(&self) -> Vec<Labelled> {
        let label = |index| Labelled {
            cell: self.labels.cell(index).to_vec(),
            label: self.labels.given(index).label,
        };
        (0..self.labels.len()).map(label).collect()
    }

    /// How many steps of a single trace no smaller tree makes, if that may be asked for.
    fn own_steps(&self, labels: &[Labelled]) -> u64 {
        if self.hints.order.len() > 1 {
            return 0;
        }
        let depth = self.problem.limits().depth();
        let all: Vec<&Labelled> = labels.iter().collect();
        let Some(size) = least_nodes(&all, depth, self.size() as u64) else { return 0 };
        if size == 0 {
            return self.at.steps;
        }
        // The first label with which it takes as many predicates: more labels never take fewer.
        let (mut cheap, mut dear) = (0, all.len());
        while dear - cheap > 1 {
            let middle = cheap.midpoint(dear);
            match least_nodes(&all[..middle], depth, size - 1) {
                Some(_) => cheap = middle,
                None => dear = middle,
            }
        }
        self.at.steps - self.labels.given(dear - 1).steps
    }

    /// Goes back to the last cell in which there is another action; if there is none, on to other trees.
    fn give_up(&mut self) -> Result<Option<Node>, Ask> {
        while let Some(frame) = self.frames.last_mut() {
            let Frame { labelled, level, trace, node, .. } = *frame;
            let Some(action) = frame.untried.pop() else {
                self.frames.pop();
                continue;
            };
            self.labels.cut_back(labelled);
            self.neighbours.pop_to(level);
            self.trace = trace;
            self.losses.truncate(trace);
            let cell = self.recall.cell(node).to_vec();
            let mut actions = std::mem::take(&mut self.cell_actions);
            self.neighbours.actions(&cell, &mut actions);
            self.cell_actions = actions;
            self.neighbours.give(&cell, action);
            let size = self.size();
            let order = &self.hints.order[..self.states];
            let Record { steps, total, .. } = *self.recall.record(node);
            if !self.judge.is_hopeful(order, &self.losses, &self.must, size) {
                continue;
            }
            let patience = self.patience();
            let order = &self.hints.order[..self.states];
            self.limit = self.judge.limit(order, &self.losses, &self.must, size, patience);
            (self.at.steps, self.at.total) = (steps, total);
            if steps >= self.limit {
                continue;
            }
            self.set_label(&cell, action);
            self.recall.stop();
            let mut seen = Some(node);
            while let Some(node) = seen {
                if let Some(index) = self.labels.find(self.recall.cell(node)).1 {
                    self.recall.see(index);
                }
                seen = self.recall.parent(node);
            }
            return self.take(node, action);
        }
        self.end_scan();
        Ok(None)
    }

    /// Traces towards a goal are not run for longer.
    fn patience(&self) -> u64 {
        match &self.hints.home {
            // What is worse than the best is no way to a better one, and the proof need not know it.
            Some(home) if home.loss.fails == 0 => {
                home.losses.iter().copied().filter(|&loss| loss != FAILED).fold(0.0, f64::max) as u64
            }
            // Twice as long every eighth time, four times as long every 64th, and so on.
            _ => FIRST_PATIENCE << (self.hints.starts.trailing_ones() / 3).min(8),
        }
    }
}

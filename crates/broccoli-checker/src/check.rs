//! The check: walks all behaviours that the claim does not rule out, and finds each of them in the evidence.
//!
//! A behaviour gives actions to cells. A tree that agrees with it does what it says, as long as the traces
//! stay in its cells. So at a cell without a label every action must be followed that some tree, small
//! enough to contradict the claim, takes there. A behaviour is done with when no tree that agrees with it can
//! contradict the claim. If that happens on all ways, no tree does.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::file::Certificate;
use crate::limits::{Limits, Meter};
use crate::problem::{Claim, Objective, Problem, Rank, Solution};
use crate::record::{End, ROOT, TRACES};
use crate::size::{Firsts, Point};
use crate::source::{Source, State, Trouble};
use crate::{Checked, Failure, Refutation, System, Verdict};

/// A label that is still to be looked into.
struct Pending {
    /// The behaviour with the label.
    node: u32,
    label: u16,
    cell: Vec<Rank>,
    /// The fewest predicates that it needs, and how trees that agree with it can begin.
    size: u32,
    firsts: Rc<Firsts>,
    /// Where the behaviour before was: labels given, traces begun, steps of the last one.
    labels: usize,
    traces: usize,
    steps: u64,
    worst: u64,
    state: State,
    /// The bytes that it takes.
    taken: usize,
}

struct Check<'a> {
    certificate: &'a Certificate,
    problem: &'a Problem,
    claim: &'a Claim,
    source: Source<'a>,
    /// The present behaviour: its node, its labels in order and by cell, the fewest predicates of a tree
    /// that agrees with them.
    node: u32,
    labels: Vec<(Vec<Rank>, u16)>,
    by_cell: BTreeMap<Vec<Rank>, u16>,
    size: u32,
    firsts: Rc<Firsts>,
    /// The initial states of its traces.
    order: Vec<u32>,
    /// The worst value of the traces that are complete.
    worst: u64,
    /// The bytes that the labels still to be looked into take.
    pending: usize,
    checked: Checked,
}

impl Certificate {
    /// Checks that the claim follows from the evidence. In its light form it takes a system. In its full form a
    /// system is asked for all that the tree does, and for this share, from 0 to 1, of the other recorded
    /// transitions that the proof rests on.
    ///
    /// # Errors
    /// When the claim does not follow; when the system fails, or is needed and missing; when it takes more than
    /// allowed.
    pub fn check<'a>(
        &'a self,
        system: Option<&'a mut dyn System>,
        share: f64,
        limits: Limits,
    ) -> Result<Checked, Failure> {
        let mut meter = Meter::new(limits);
        meter.spend(self.work)?;
        let mut source = Source::new(self, system, meter);
        source.beside = self.taken();
        if let Some(solution) = self.claim.solution() {
            self.check_solution(solution, &mut source)?;
        }
        source.share = share;
        source.go_to(ROOT);
        let problem = &self.problem;
        let worst = if problem.objective == Objective::Reach { 0 } else { problem.horizon };
        // No value is better than this one, and so nothing is ever allowed more.
        let most = self.claim.allowance(problem, worst).unwrap_or(0);
        let mut check = Check {
            certificate: self,
            problem,
            claim: &self.claim,
            source,
            node: ROOT,
            labels: Vec::new(),
            by_cell: BTreeMap::new(),
            size: 0,
            firsts: Rc::new(Firsts::new(&problem.thresholds, problem.depth, most)),
            order: Vec::new(),
            worst,
            pending: 0,
            checked: Checked::default(),
        };
        check.walk()?;
        let Check { source, checked, .. } = check;
        Ok(Checked {
            transitions: source.transitions,
            asked: source.asked,
            answers: source.answers,
            recorded: source.recorded,
            work: source.meter.work,
            ..checked
        })
    }

    /// Checks that the tree is one of those searched, and does what is claimed.
    fn check_solution(&self, solution: &Solution, source: &mut Source<'_>) -> Result<(), Failure> {
        let problem = &self.problem;
        let Solution { tree, value, size, depth } = solution;
        let refuted = |initial, step, what: String| {
            Err(Failure::Refuted(Refutation { what, initial, step, cell: Vec::new(), labels: 0 }))
        };
        if (tree.size(), tree.depth()) != (*size, *depth) {
            let (size, depth) = (tree.size(), tree.depth());
            return refuted(0, 0, format!("the tree has {size} predicates and depth {depth}"));
        }
        if *size > u64::from(problem.nodes) || *depth > problem.depth {
            return refuted(0, 0, "the tree is beyond the limits".to_owned());
        }
        source.go_to(TRACES);
        let mut worst = None;
        for initial in 0..problem.initial_states {
            if self.is_full && source.next_start() != Some(initial as u32) {
                return refuted(initial, 0, "the trace of the tree is not recorded".to_owned());
            }
            let mut went = source.reset(initial);
            let value = loop {
                if let Err(trouble) = went {
                    return match trouble {
                        Trouble::Failure(failure) => Err(failure),
                        Trouble::Wrong(what) => {
                            refuted(initial, source.steps(), format!("{what} (the tree's own trace)"))
                        }
                    };
                }
                match (source.verdict, problem.objective) {
                    (Verdict::Satisfied, Objective::Reach) => break Some(source.steps()),
                    (Verdict::Satisfied, Objective::Survive) => break Some(problem.horizon),
                    (Verdict::Violated, Objective::Reach) => break None,
                    (Verdict::Violated, Objective::Survive) => break Some(source.steps()),
                    (Verdict::Running, _) if source.steps() < problem.horizon => {}
                    (Verdict::Running, Objective::Reach) => break None,
                    (Verdict::Running, Objective::Survive) => break Some(problem.horizon),
                }
                let action = tree.action(&problem.cell(&source.observation));
                let recorded = if self.is_full { source.next_action() } else { Some(action) };
                if recorded != Some(action) {
                    let name = |action: u16| &problem.actions[usize::from(action)];
                    let wrong = match recorded {
                        Some(other) => format!("{:?}", name(other)),
                        None => "no action".to_owned(),
                    };
                    let what =
                        format!("the tree takes the action {:?}, and {wrong} is recorded", name(action));
                    return refuted(initial, source.steps(), what);
                }
                went = source.step(action);
            };
            worst = match (value, worst) {
                (None, _) => {
                    return refuted(initial, source.steps(), "the trace of the tree fails".to_owned());
                }
                (Some(value), Some(worst)) if problem.objective.is_better(worst, value) => Some(value),
                (Some(value), None) => Some(value),
                (Some(_), worst) => worst,
            };
        }
        if !source.is_at_end() {
            let what = "the recorded traces of the tree go on after their end".to_owned();
            return refuted(problem.initial_states - 1, source.steps(), what);
        }
        if worst != Some(*value) {
            let worst = worst.unwrap_or_default();
            return refuted(0, 0, format!("the value of the tree is {worst}, not {value}"));
        }
        Ok(())
    }
}

impl Check<'_> {
    fn walk(&mut self) -> Result<(), Failure> {
        if self.allowance(self.worst).is_none() {
            return Ok(()); // not even a lone leaf of the best value there is would contradict the claim
        }
        let mut pending = Vec::new();
        self.start()?;
        loop {
            let before = pending.len();
            if let Some(most) = self.follow()? {
                self.branch(most, &mut pending)?;
            } else {
                self.checked.behaviours += 1;
            }
            let is_here = pending.len() > before;
            let Some(next) = pending.pop() else { return Ok(()) };
            self.enter(next, is_here)?;
        }
    }

    /// Goes on with the present trace, and those after it, where the labels say what to do: to a cell without
    /// one, and returns how many predicates a tree may have that is of interest there; or to where the
    /// behaviour cannot contradict the claim any more.
    fn follow(&mut self) -> Result<Option<u32>, Failure> {
        let problem = self.problem;
        loop {
            let steps = self.source.steps();
            match (self.source.verdict, problem.objective) {
                (Verdict::Running, Objective::Survive) if steps == self.worst => {}
                (Verdict::Running, objective) => {
                    let best = match objective {
                        Objective::Reach if steps >= problem.horizon => return Ok(None),
                        Objective::Reach => self.worst.max(steps + 1),
                        Objective::Survive => self.worst,
                    };
                    let Some(most) = self.allowance(best) else { return Ok(None) };
                    let cell = problem.cell(&self.source.observation);
                    let Some(&label) = self.by_cell.get(&cell) else { return Ok(Some(most)) };
                    let went = self.source.step(label);
                    self.told(went)?;
                    continue;
                }
                (Verdict::Satisfied, Objective::Reach) => self.worst = self.worst.max(steps),
                (Verdict::Satisfied, Objective::Survive) => {}
                (Verdict::Violated, Objective::Reach) => {
                    if self.certificate.record.end(self.node) != Some(End::Violated) {
                        return Err(self.refuted("the trace is violated, and that is not recorded"));
                    }
                    return Ok(None);
                }
                (Verdict::Violated, Objective::Survive) => self.worst = self.worst.min(steps),
            }
            // The trace is complete.
            if self.allowance(self.worst).is_none() {
                return Ok(None);
            }
            if self.order.len() == problem.initial_states {
                let (size, value) = (self.size, self.worst);
                return Err(self.refuted(&format!("a tree of {size} predicates has the value {value}")));
            }
            self.start()?;
        }
    }

    /// How many predicates a tree of this value may have to contradict the claim, if one that agrees with the
    /// labels may have so few.
    fn allowance(&self, value: u64) -> Option<u32> {
        self.claim.allowance(self.problem, value).filter(|most| self.size <= *most)
    }

    /// Starts the trace that was run next.
    fn start(&mut self) -> Result<(), Failure> {
        let Some(initial) = self.source.next_start() else {
            return Err(self.refuted("which initial state is run next is not recorded"));
        };
        self.source.meter.spend(self.order.len() as u64)?;
        if self.order.contains(&initial) {
            return Err(self.refuted("an initial state is run for the second time"));
        }
        self.order.push(initial);
        let went = self.source.reset(initial as usize);
        self.told(went)
    }

    /// In a cell without a label: every label that some tree gives must be there.
    fn branch(&mut self, most: u32, pending: &mut Vec<Pending>) -> Result<(), Failure> {
        let cell = self.problem.cell(&self.source.observation);
        let mut nodes = vec![None; self.problem.actions.len()];
        self.source.meter.spend(nodes.len() as u64)?;
        for (node, label) in self.certificate.record.children(self.node) {
            nodes[usize::from(label)] = Some(node);
        }
        // What is missing is told before what is there is gone into.
        for action in (0..nodes.len() as u16).filter(|action| nodes[usize::from(*action)].is_none()) {
            if let Some((size, _)) = self.with_label(&cell, action, most)? {
                let name = &self.problem.actions[usize::from(action)];
                return Err(self.refuted(&format!(
                    "the action {name:?} is not looked into, and a tree of {size} predicates takes it"
                )));
            }
        }
        let before = pending.len();
        for (label, node) in nodes.into_iter().enumerate() {
            let (Some(node), label) = (node, label as u16) else { continue };
            let Some((size, firsts)) = self.with_label(&cell, label, most)? else { continue };
            let taken = 2 * size_of::<Pending>() + size_of_val(&*cell) + firsts.taken();
            self.hold(taken)?;
            pending.push(Pending {
                node,
                label,
                cell: cell.clone(),
                size,
                firsts: Rc::new(firsts),
                labels: self.labels.len(),
                traces: self.order.len(),
                steps: self.source.steps(),
                worst: self.worst,
                state: State::Unknown,
                taken,
            });
        }
        // If there is but one, the system stays where it is.
        if pending.len() > before + 1 {
            let state = self.source.save();
            if let State::Saved(bytes) = &state {
                pending[before].taken += bytes.len(); // the first one is the last to go
                self.hold(bytes.len())?;
            }
            pending[before..].iter_mut().for_each(|next| next.state = state.clone());
        }
        Ok(())
    }

    /// More bytes are held by labels that are still to be looked into.
    fn hold(&mut self, bytes: usize) -> Result<(), Failure> {
        self.pending += bytes;
        // A label on the way is in two lists, one of them a tree with some room in its nodes; and a test has
        // lists of its points, one on each level.
        let of_label = 4 * (size_of::<Vec<Rank>>() + size_of::<Rank>() * self.problem.thresholds.len())
            + 2 * size_of::<Point<'_>>() * (self.problem.depth as usize + 2);
        let of_order = 2 * size_of::<u32>() * self.order.len();
        // The present ones, and those that a test is making, in a list that may have twice the room.
        let path = self.labels.len() * of_label + of_order + 3 * self.firsts.taken();
        self.source.beside = self.certificate.taken() + self.pending + path;
        Ok(self.source.meter.holds(self.source.beside)?)
    }

    /// The fewest predicates, at most `most`, with one label more; and how trees can begin then.
    fn with_label(&mut self, cell: &[Rank], label: u16, most: u32) -> Result<Option<(u32, Firsts)>, Failure> {
        self.checked.tests += 1;
        let labelled = self.labels.iter().map(|(cell, label)| Point { cell, label: *label });
        let points: Vec<Point<'_>> = labelled.chain([Point { cell, label }]).collect();
        let meter = &mut self.source.meter;
        meter.spend(points.len() as u64)?;
        let found = self.firsts.with_last(&points, meter).filter(|(size, _)| *size <= most);
        meter.has_work()?;
        Ok(found)
    }

    /// Goes back to where a label is still to be looked into, unless that is here, and takes its step.
    fn enter(&mut self, next: Pending, is_here: bool) -> Result<(), Failure> {
        self.pending -= next.taken;
        if !is_here {
            for (cell, _) in self.labels.drain(next.labels..) {
                self.by_cell.remove(&cell);
            }
            self.order.truncate(next.traces);
            let initial = self.order.last().copied().unwrap_or(0) as usize;
            self.source.come_back(next.traces, initial, next.steps, next.state);
        }
        self.by_cell.insert(next.cell.clone(), next.label);
        self.labels.push((next.cell, next.label));
        self.checked.labels += 1;
        (self.node, self.size, self.worst, self.firsts) = (next.node, next.size, next.worst, next.firsts);
        let went = self.source.step_into(next.node, next.label);
        self.told(went)
    }

    fn told(&self, went: Result<(), Trouble>) -> Result<(), Failure> {
        went.map_err(|trouble| match trouble {
            Trouble::Failure(failure) => failure,
            Trouble::Wrong(what) => self.refuted(&what),
        })
    }

    /// What is wrong, at the present place.
    fn refuted(&self, what: &str) -> Failure {
        Failure::Refuted(Refutation {
            what: what.to_owned(),
            initial: self.order.last().copied().unwrap_or(0) as usize,
            step: self.source.steps(),
            cell: self.problem.cell(&self.source.observation),
            labels: self.labels.len(),
        })
    }
}

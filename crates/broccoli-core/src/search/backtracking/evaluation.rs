//! Runs a tree just far enough to know whether it beats the incumbent, and notes the distances of
//! the one trace that decides it.

use crate::problem::{Instance, Objective, Problem, RunError, Verdict};
use crate::search::PLAIN_ONLY;
use crate::search::flat::{FlatNode, FlatTree};

/// Whether a tree beats the incumbent.
pub(super) enum Judgement {
    /// Yes, with this value.
    Better(u64),
    /// No.
    NotBetter,
}

pub(super) struct Evaluation<'p> {
    problem: &'p Problem,
    instance: Instance<'p>,
    /// Per node, the smallest value that its predicate found true on the trace being run;
    /// infinite if there is none.
    running: Vec<f64>,
    /// The same for the trace that decided the last tree.
    deciding: Vec<f64>,
    traces: u64,
    queries_before: u64,
}

impl<'p> Evaluation<'p> {
    pub(super) fn new(problem: &'p Problem, instance: Instance<'p>) -> Self {
        Evaluation {
            problem,
            instance,
            running: Vec::new(),
            deciding: Vec::new(),
            traces: 0,
            queries_before: 0,
        }
    }

    /// Runs `tree` from the initial states in turn, until one shows that it is no better than `best`.
    pub(super) fn judge(&mut self, tree: &FlatTree, best: Option<u64>) -> Result<Judgement, RunError> {
        self.traces = 0;
        self.queries_before = self.instance.queries();
        self.deciding.clear();
        self.deciding.resize(tree.nodes.len(), f64::INFINITY);
        match self.problem.objective() {
            Objective::Reach { horizon, .. } => self.judge_reach(tree, best.map_or(horizon, |best| best - 1)),
            Objective::Survive { horizon, .. } => self.judge_survive(tree, best, horizon),
            Objective::Return(_) => Err(RunError::Unsupported { engine: "backtracking", only: PLAIN_ONLY }),
        }
    }

    /// Per node, the distance on the deciding trace: a tree better than the incumbent must change it.
    pub(super) fn distances(&self) -> &[f64] {
        &self.deciding
    }

    /// Traces and queries that the last tree took.
    pub(super) fn cost(&self) -> (u64, u64) {
        (self.traces, self.instance.queries() - self.queries_before)
    }

    /// Better if every trace is satisfied within `limit` steps; the longest trace decides.
    fn judge_reach(&mut self, tree: &FlatTree, limit: u64) -> Result<Judgement, RunError> {
        let mut longest = None;
        for initial in 0..self.problem.initial_states().len() {
            let verdict = self.run(tree, initial, limit)?;
            let failed = verdict != Verdict::Satisfied;
            if failed || longest.is_none_or(|longest| self.instance.steps() > longest) {
                longest = Some(self.instance.steps());
                std::mem::swap(&mut self.running, &mut self.deciding);
            }
            if failed {
                return Ok(Judgement::NotBetter);
            }
        }
        Ok(longest.map_or(Judgement::NotBetter, Judgement::Better))
    }

    /// Better if no trace is violated within `best` steps; the shortest trace decides. Later traces
    /// run only as far as the shortest so far.
    fn judge_survive(
        &mut self,
        tree: &FlatTree,
        best: Option<u64>,
        horizon: u64,
    ) -> Result<Judgement, RunError> {
        let mut shortest = horizon;
        for initial in 0..self.problem.initial_states().len() {
            let verdict = self.run(tree, initial, shortest)?;
            if verdict == Verdict::Violated {
                shortest = self.instance.steps();
                std::mem::swap(&mut self.running, &mut self.deciding);
                if best.is_some_and(|best| shortest <= best) {
                    return Ok(Judgement::NotBetter);
                }
            }
        }
        Ok(Judgement::Better(shortest))
    }

    /// Runs one trace for at most `limit` steps and notes its distances in `running`.
    fn run(&mut self, tree: &FlatTree, initial: usize, limit: u64) -> Result<Verdict, RunError> {
        self.traces += 1;
        self.running.clear();
        self.running.resize(tree.nodes.len(), f64::INFINITY);
        let mut verdict = self.instance.reset(initial)?;
        while verdict == Verdict::Running && self.instance.steps() < limit {
            let action = decide(tree, self.instance.observation(), &mut self.running);
            verdict = self.instance.step(action)?;
        }
        Ok(verdict)
    }
}

/// The action of `tree`; lowers the distance of each predicate found true on the way.
#[inline]
fn decide(tree: &FlatTree, observation: &[f64], distances: &mut [f64]) -> usize {
    let mut node = 0;
    loop {
        match tree.nodes[node] {
            FlatNode::Leaf { action } => return action,
            FlatNode::Node { dimension, threshold, yes, no } => {
                let value = observation[dimension];
                node = if value >= threshold {
                    distances[node] = distances[node].min(value);
                    yes
                } else {
                    no
                };
            }
        }
    }
}

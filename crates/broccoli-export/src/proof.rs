//! Whether a given tree is optimal, as text and as JSON.

use broccoli_core::problem::{Objective, Problem, Value};
use broccoli_core::tree::{Tree, TreeJson};
use serde::Serialize;

use crate::json::{ResultJson, VERSION};
use crate::number::{counted, duration, grouped};
use crate::text::wrapped;
use crate::worth;

/// What is proved about a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// No tree within the limits has a better value, and no smaller one the same.
    Optimal,
    /// There is a better tree.
    Refuted,
    /// No tree within the limits is better, but this one is not within them.
    Beyond,
    /// No tree within the limits has a value, nor has this one.
    Infeasible,
    /// The search was stopped before any of this was known.
    Undecided,
}

/// A tree, what is proved about it, and the search that proved it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Proof {
    /// The version of the format.
    pub version: u32,
    /// What is proved.
    pub verdict: Verdict,
    /// The value of the tree, if it has one.
    pub value: Option<Value>,
    /// The number of its predicate nodes.
    pub size: u64,
    /// Its depth.
    pub depth: u32,
    /// The tree.
    pub tree: TreeJson,
    /// Why the tree is not one of those that were searched, if it is not.
    pub misfit: Option<String>,
    /// The search, with the best tree and the problem.
    pub best: ResultJson,
}

/// The problem that a tree is judged by, in one line.
fn judged(problem: &Problem) -> String {
    let (states, limits) = (problem.initial_states().len() as u64, problem.limits());
    format!(
        "{}; {}, depth {}, {}",
        worth::wanted(problem),
        counted(states, "initial state"),
        limits.depth(),
        counted(limits.nodes(), "node")
    )
}

impl Proof {
    /// What `verdict` and the result of a search say about `tree`, which has this value.
    pub fn new(
        problem: &Problem,
        tree: &Tree,
        value: Option<u64>,
        verdict: Verdict,
        misfit: Option<String>,
        best: ResultJson,
    ) -> Self {
        Proof {
            version: VERSION,
            verdict,
            value: value.and_then(|value| problem.objective().shown(value)),
            size: tree.size(),
            depth: tree.depth(),
            tree: tree.to_json(problem),
            misfit,
            best,
        }
    }

    /// For people.
    pub fn text(&self, problem: &Problem) -> String {
        let worth = |value: Option<Value>, size: Option<u64>| match (value, size, problem.objective()) {
            (Some(value), Some(size), objective) => {
                let what = match objective {
                    Objective::Reach { .. } => " to the goal",
                    Objective::Survive { .. } => " survived",
                    Objective::Return(_) => "",
                };
                format!("{}{what} with {}", worth::value(value), counted(size, "predicate"))
            }
            (None, Some(size), _) => format!("fails, with {}", counted(size, "predicate")),
            (_, None, _) => "none".to_owned(),
        };
        let verdict = match self.verdict {
            Verdict::Optimal => "Optimal: no tree within the limits is better, and no smaller one as good.",
            Verdict::Refuted => "Not optimal: there is a better tree.",
            Verdict::Beyond => "No tree within the limits is better, but this one is not within them.",
            Verdict::Infeasible => "No tree within the limits has a value, nor has this one.",
            Verdict::Undecided => "Not decided: the search ended before it found a better tree or a proof.",
        };
        let misfit =
            self.misfit.as_ref().map_or(String::new(), |why| format!(" This tree does not fit: {why}."));
        let mut text = format!("{}\n\n", wrapped(&format!("{verdict}{misfit}")));
        text += &format!("problem  {}\n", judged(problem));
        text += &format!("tree     {}\n", worth(self.value, Some(self.size)));
        text += &format!("best     {}\n", worth(self.best.value, self.best.size));
        if self.verdict != Verdict::Optimal
            && let Some(bound) = self.best.bound
        {
            text += &format!("bound    {}\n", worth::value(bound));
        }
        text += &format!("queries  {}\n", grouped(self.best.queries));
        text += &format!("time     {} ({})\n", duration(self.best.seconds), self.best.engine);
        text
    }
}

//! The problem, the claim and the tree, read from their JSON text with every field checked.

use serde_json::Value;

use crate::Unreadable;

/// The deepest tree that is spoken of.
const MOST_DEPTH: u64 = 16;

/// What is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objective {
    /// The fewest steps until `Satisfied`, the most over the initial states.
    Reach,
    /// The most steps until `Violated`, the fewest over the initial states.
    Survive,
}

impl Objective {
    /// Whether value `a` is strictly better than value `b`.
    pub fn is_better(self, a: u64, b: u64) -> bool {
        match self {
            Objective::Reach => a < b,
            Objective::Survive => a > b,
        }
    }
}

/// The problem, as far as a proof is about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Per dimension of the observation, its thresholds in ascending order.
    pub thresholds: Vec<Vec<f64>>,
    /// The names of the actions.
    pub actions: Vec<String>,
    /// How many initial states there are.
    pub initial_states: usize,
    /// What is wanted.
    pub objective: Objective,
    /// The most steps of a trace.
    pub horizon: u64,
    /// The limit on the depth of a tree.
    pub depth: u32,
    /// The limit on its predicates.
    pub nodes: u32,
}

impl Problem {
    /// The cell of an observation: in every dimension, how many thresholds are at most the value.
    pub fn cell(&self, observation: &[f64]) -> Vec<u32> {
        let rank = |(thresholds, value): (&Vec<f64>, &f64)| thresholds.partition_point(|t| t <= value) as u32;
        self.thresholds.iter().zip(observation).map(rank).collect()
    }

    pub(crate) fn read(json: &Value) -> Result<Self, Unreadable> {
        let thresholds = list(json, "dimensions")?.iter().map(|dimension| {
            let numbers = list(dimension, "thresholds")?.iter().map(|t| t.as_f64().filter(|t| t.is_finite()));
            let numbers: Option<Vec<f64>> = numbers.collect();
            let numbers = numbers.ok_or_else(|| wrong("a threshold is not a finite number"))?;
            if numbers.windows(2).all(|pair| pair[0] < pair[1]) {
                Ok(numbers)
            } else {
                Err(wrong("the thresholds are not in ascending order"))
            }
        });
        let name = |action: &Value| action.get("name").and_then(Value::as_str).map(str::to_owned);
        let actions: Option<Vec<String>> = list(json, "actions")?.iter().map(name).collect();
        let problem = Problem {
            thresholds: thresholds.collect::<Result<_, _>>()?,
            actions: actions.ok_or_else(|| wrong("an action has no name"))?,
            initial_states: list(json, "initial_states")?.len(),
            objective: match json.get("objective").and_then(Value::as_str) {
                Some("reach") => Objective::Reach,
                Some("survive") => Objective::Survive,
                _ => return Err(wrong("the objective is neither reach nor survive")),
            },
            horizon: whole(json, "horizon", u64::MAX)?,
            depth: whole(json, "depth", MOST_DEPTH)? as u32,
            nodes: whole(json, "nodes", u64::from(u32::MAX))? as u32,
        };
        if json.get("over").is_some_and(|over| over != "worst") {
            return Err(wrong("it is not the worst initial state that counts"));
        }
        let count = problem.actions.len();
        if problem.thresholds.is_empty() || !(2..=usize::from(u16::MAX)).contains(&count) {
            return Err(wrong("it needs a dimension and 2 actions at least"));
        }
        if problem.initial_states == 0 || problem.horizon == 0 {
            return Err(wrong("it needs an initial state and a horizon of 1 step at least"));
        }
        Ok(problem)
    }
}

/// A decision tree. The predicate with index `k` of a dimension is true where the rank is greater than `k`.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// Apply this action.
    Leaf(u16),
    /// Ask a predicate.
    Node {
        /// The dimension.
        dimension: usize,
        /// Which of its thresholds.
        threshold: usize,
        /// The tree where the predicate is true, and where it is false.
        branches: Box<[Tree; 2]>,
    },
}

impl Tree {
    /// The action in a cell.
    pub fn action(&self, cell: &[u32]) -> u16 {
        let mut tree = self;
        loop {
            match tree {
                Tree::Leaf(action) => return *action,
                Tree::Node { dimension, threshold, branches } => {
                    let is_true = cell[*dimension] as usize > *threshold;
                    tree = &branches[usize::from(!is_true)];
                }
            }
        }
    }

    /// The number of predicates.
    pub fn size(&self) -> u64 {
        match self {
            Tree::Leaf(_) => 0,
            Tree::Node { branches, .. } => 1 + branches[0].size() + branches[1].size(),
        }
    }

    /// The most predicates on a path.
    pub fn depth(&self) -> u32 {
        match self {
            Tree::Leaf(_) => 0,
            Tree::Node { branches, .. } => 1 + branches[0].depth().max(branches[1].depth()),
        }
    }

    fn read(json: &Value, problem: &Problem, depth: u64) -> Result<Tree, Unreadable> {
        if json.get("action").is_some() {
            let action = whole(json, "action", problem.actions.len() as u64 - 1)?;
            return Ok(Tree::Leaf(action as u16));
        }
        let depth =
            depth.checked_sub(1).ok_or_else(|| wrong("the tree is deeper than any that is searched"))?;
        let dimension = whole(json, "feature", problem.thresholds.len() as u64 - 1)? as usize;
        let value = json.get("threshold").and_then(Value::as_f64);
        let threshold = problem.thresholds[dimension].iter().position(|t| Some(*t) == value);
        let threshold =
            threshold.ok_or_else(|| wrong("the tree has a threshold that is not one of the problem's"))?;
        let child = |name| match json.get(name) {
            Some(child) => Tree::read(child, problem, depth),
            None => Err(wrong("a predicate of the tree lacks a child")),
        };
        Ok(Tree::Node { dimension, threshold, branches: Box::new([child("true")?, child("false")?]) })
    }
}

/// What is said of a tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// The tree.
    pub tree: Tree,
    /// Its value over all initial states, in steps.
    pub value: u64,
    /// Its size as it is claimed.
    pub size: u64,
    /// Its depth as it is claimed.
    pub depth: u32,
}

/// What is claimed.
#[derive(Clone, Debug, PartialEq)]
pub enum Claim {
    /// No tree has a better value than this one, and no smaller tree has the same.
    Optimal(Solution),
    /// No tree has a value.
    Infeasible,
    /// No tree has a better value than the bound; and this is the best tree found, if any.
    Bound {
        /// The bound.
        bound: u64,
        /// The best tree found.
        best: Option<Solution>,
    },
}

impl Claim {
    /// The tree that it speaks of.
    pub fn solution(&self) -> Option<&Solution> {
        match self {
            Claim::Optimal(solution) => Some(solution),
            Claim::Infeasible => None,
            Claim::Bound { best, .. } => best.as_ref(),
        }
    }

    /// How many predicates a tree may have that would contradict the claim if its value were `value`; none
    /// if no tree of this value would.
    pub fn allowance(&self, problem: &Problem, value: u64) -> Option<u32> {
        let is_better = |bound| problem.objective.is_better(value, bound);
        match self {
            Claim::Infeasible => Some(problem.nodes),
            Claim::Optimal(best) if value == best.value => {
                best.size.checked_sub(1).map(|most| most.min(u64::from(problem.nodes)) as u32)
            }
            Claim::Optimal(best) => is_better(best.value).then_some(problem.nodes),
            Claim::Bound { bound, .. } => is_better(*bound).then_some(problem.nodes),
        }
    }

    pub(crate) fn read(json: &Value, problem: &Problem) -> Result<Self, Unreadable> {
        let solution = || {
            let tree = json.get("tree").ok_or_else(|| wrong("there is no tree"))?;
            Ok(Solution {
                tree: Tree::read(tree, problem, MOST_DEPTH)?,
                value: whole(json, "value", u64::MAX)?,
                size: whole(json, "size", u64::MAX)?,
                depth: whole(json, "depth", u64::from(u32::MAX))? as u32,
            })
        };
        match json.get("claim").and_then(Value::as_str) {
            Some("optimal") => {
                let best = solution()?;
                if whole(json, "bound", u64::MAX)? != best.value {
                    return Err(wrong("the bound of an optimal tree is not its value"));
                }
                Ok(Claim::Optimal(best))
            }
            Some("infeasible") => Ok(Claim::Infeasible),
            Some("bound") => Ok(Claim::Bound {
                bound: whole(json, "bound", u64::MAX)?,
                best: match json.get("tree") {
                    None | Some(Value::Null) => None,
                    Some(_) => Some(solution()?),
                },
            }),
            _ => Err(wrong("the claim is neither optimal nor infeasible nor bound")),
        }
    }
}

fn list<'v>(json: &'v Value, key: &str) -> Result<&'v Vec<Value>, Unreadable> {
    json.get(key).and_then(Value::as_array).ok_or_else(|| wrong(&format!("{key:?} is not a list")))
}

fn whole(json: &Value, key: &str, most: u64) -> Result<u64, Unreadable> {
    let number = json.get(key).and_then(Value::as_u64).filter(|number| *number <= most);
    number.ok_or_else(|| wrong(&format!("{key:?} is not a whole number of at most {most}")))
}

fn wrong(what: &str) -> Unreadable {
    Unreadable::Damaged(what.to_owned())
}

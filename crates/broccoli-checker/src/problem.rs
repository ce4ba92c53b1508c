//! The problem, the claim and the tree, read from their JSON text with every field checked.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::Unreadable;

/// The deepest tree that is spoken of.
const MOST_DEPTH: u32 = 16;

/// What is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
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

    pub(crate) fn new(text: ProblemText) -> Result<Self, Unreadable> {
        let thresholds: Vec<Vec<f64>> = text.dimensions.into_iter().map(|d| d.thresholds).collect();
        if thresholds.iter().flatten().any(|threshold| !threshold.is_finite()) {
            return Err(wrong("a threshold is not a finite number"));
        }
        if !thresholds.iter().all(|list| list.windows(2).all(|pair| pair[0] < pair[1])) {
            return Err(wrong("the thresholds are not in ascending order"));
        }
        let problem = Problem {
            thresholds,
            actions: text.actions.into_iter().map(|action| action.name).collect(),
            initial_states: text.initial_states.len(),
            objective: text.objective,
            horizon: text.horizon,
            depth: text.depth,
            nodes: text.nodes,
        };
        if problem.depth > MOST_DEPTH {
            return Err(wrong(&format!("the depth is above {MOST_DEPTH}")));
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

/// The content of the first block. What a check has no use for is read over, so that a text cannot take
/// much more memory than its own length.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HeaderText {
    pub(crate) form: Form,
    pub(crate) problem: ProblemText,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Form {
    Light,
    Full,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProblemText {
    dimensions: Vec<DimensionText>,
    actions: Vec<ActionText>,
    initial_states: Vec<IgnoredAny>,
    objective: Objective,
    horizon: u64,
    depth: u32,
    nodes: u32,
    #[serde(default, rename = "over")]
    _over: Over,
    #[serde(rename = "system")]
    _system: IgnoredAny,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Over {
    #[default]
    Worst,
}

#[derive(Deserialize)]
struct DimensionText {
    thresholds: Vec<f64>,
}

#[derive(Deserialize)]
struct ActionText {
    name: String,
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

    fn new(text: TreeText, problem: &Problem, depth: u32) -> Result<Tree, Unreadable> {
        match text {
            TreeText {
                action: Some(action), feature: None, threshold: None, yes: None, no: None, ..
            } => {
                let known = u16::try_from(action).ok().filter(|a| usize::from(*a) < problem.actions.len());
                known.map(Tree::Leaf).ok_or_else(|| wrong("the tree has an action that the problem has not"))
            }
            TreeText {
                action: None,
                feature: Some(dimension),
                threshold: Some(value),
                yes: Some(yes),
                no: Some(no),
                ..
            } => {
                let depth = depth
                    .checked_sub(1)
                    .ok_or_else(|| wrong("the tree is deeper than any that is searched"))?;
                let thresholds = usize::try_from(dimension).ok().and_then(|d| problem.thresholds.get(d));
                let threshold = thresholds.and_then(|list| list.iter().position(|t| *t == value));
                let threshold = threshold
                    .ok_or_else(|| wrong("the tree has a threshold that is not one of the problem's"))?;
                let branches = [Tree::new(*yes, problem, depth)?, Tree::new(*no, problem, depth)?];
                Ok(Tree::Node { dimension: dimension as usize, threshold, branches: Box::new(branches) })
            }
            _ => Err(wrong("a part of the tree is neither an action nor a predicate with two branches")),
        }
    }
}

/// A tree in JSON: an action, or a predicate with its two branches.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TreeText {
    action: Option<u64>,
    feature: Option<u64>,
    threshold: Option<f64>,
    #[serde(rename = "true")]
    yes: Option<Box<TreeText>>,
    #[serde(rename = "false")]
    no: Option<Box<TreeText>>,
    #[serde(rename = "name")]
    _name: Option<IgnoredAny>,
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

    pub(crate) fn new(text: ClaimText, problem: &Problem) -> Result<Self, Unreadable> {
        let ClaimText { claim, bound, value, size, depth, tree } = text;
        let best = match (tree, value, size, depth) {
            (None, None, None, None) => None,
            (Some(tree), Some(value), Some(size), Some(depth)) => {
                Some(Solution { tree: Tree::new(tree, problem, MOST_DEPTH)?, value, size, depth })
            }
            _ => return Err(wrong("of tree, value, size and depth some are there and some are not")),
        };
        match (claim, bound, best) {
            (Kind::Optimal, Some(bound), Some(best)) if bound == best.value => Ok(Claim::Optimal(best)),
            (Kind::Optimal, Some(_), Some(_)) => Err(wrong("the bound of an optimal tree is not its value")),
            (Kind::Infeasible, None, None) => Ok(Claim::Infeasible),
            (Kind::Bound, Some(bound), Some(best)) if problem.objective.is_better(best.value, bound) => {
                Err(wrong(&format!("the tree has a better value, {}, than the bound {bound}", best.value)))
            }
            (Kind::Bound, Some(bound), best) => Ok(Claim::Bound { bound, best }),
            _ => Err(wrong("its claim says more, or less, than a claim of its kind does")),
        }
    }
}

/// The content of the last block.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClaimText {
    claim: Kind,
    bound: Option<u64>,
    value: Option<u64>,
    size: Option<u64>,
    depth: Option<u32>,
    tree: Option<TreeText>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Optimal,
    Infeasible,
    Bound,
}

fn wrong(what: &str) -> Unreadable {
    Unreadable::Damaged(what.to_owned())
}

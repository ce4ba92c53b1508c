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
    /// Per dimension of the observation, its thresholds.
    pub thresholds: Vec<Thresholds>,
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

/// Where a value lies among the thresholds of a dimension: the greater the value, the greater the rank.
pub type Rank = u64;

/// The thresholds of a dimension.
#[derive(Clone, Debug, PartialEq)]
pub enum Thresholds {
    /// These, in ascending order. A rank is how many of them are at most the value.
    List(Vec<f64>),
    /// All finite numbers. A rank is a number whose order is that of the values.
    All,
}

impl Thresholds {
    /// The rank of a value.
    pub fn rank(&self, value: f64) -> Rank {
        match self {
            Thresholds::List(list) => list.partition_point(|threshold| *threshold <= value) as Rank,
            Thresholds::All => ordered(value),
        }
    }

    /// The least and the greatest predicate, if there are any; that with index `k` is true where the rank is greater than
    /// `k`.
    pub(crate) fn predicates(&self) -> Option<(Rank, Rank)> {
        match self {
            Thresholds::List(list) => Some((0, (list.len() as Rank).checked_sub(1)?)),
            Thresholds::All => Some((ordered(f64::NEG_INFINITY), ordered(f64::MAX) - 1)),
        }
    }

    /// The index of the predicate with this threshold.
    pub fn index(&self, threshold: f64) -> Option<Rank> {
        match self {
            Thresholds::List(list) => Some(list.iter().position(|t| *t == threshold)? as Rank),
            Thresholds::All => threshold.is_finite().then(|| ordered(threshold) - 1),
        }
    }

    /// The threshold of a predicate.
    pub fn threshold(&self, index: Rank) -> Option<f64> {
        match self {
            Thresholds::List(list) => list.get(usize::try_from(index).ok()?).copied(),
            Thresholds::All => Some(value(index.checked_add(1)?)),
        }
    }
}

const SIGN: u64 = 1 << 63;

/// The bits of a number, so changed that their order is that of the numbers. Both zeros are one number; and no finite
/// threshold tells infinity from the greatest finite number.
fn ordered(value: f64) -> Rank {
    let bits = (value + 0.0).min(f64::MAX).to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

/// The number with these bits.
fn value(ordered: Rank) -> f64 {
    // The number before 0 is no second zero.
    f64::from_bits(if ordered & SIGN == 0 { !ordered } else { ordered & !SIGN })
}

impl Problem {
    /// The cell of an observation: its rank in every dimension.
    pub fn cell(&self, observation: &[f64]) -> Vec<Rank> {
        self.thresholds.iter().zip(observation).map(|(thresholds, &value)| thresholds.rank(value)).collect()
    }

    pub(crate) fn new(text: ProblemText) -> Result<Self, Unreadable> {
        let thresholds = text.dimensions.into_iter().map(|dimension| match dimension.thresholds {
            ThresholdsText::All(All::All) => Ok(Thresholds::All),
            ThresholdsText::List(list) if list.iter().any(|threshold| !threshold.is_finite()) => {
                Err(wrong("a threshold is not a finite number"))
            }
            ThresholdsText::List(list) if !list.windows(2).all(|pair| pair[0] < pair[1]) => {
                Err(wrong("the thresholds are not in ascending order"))
            }
            ThresholdsText::List(list) => Ok(Thresholds::List(list)),
        });
        let thresholds = thresholds.collect::<Result<Vec<Thresholds>, Unreadable>>()?;
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
    #[serde(rename = "identity")]
    _identity: IgnoredAny,
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
    thresholds: ThresholdsText,
}

/// A list of thresholds, or the word `all`.
#[derive(Deserialize)]
#[serde(untagged)]
enum ThresholdsText {
    List(Vec<f64>),
    All(All),
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum All {
    All,
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
        /// Which of its predicates.
        threshold: Rank,
        /// The tree where the predicate is true, and where it is false.
        branches: Box<[Tree; 2]>,
    },
}

impl Tree {
    /// The action in a cell.
    pub fn action(&self, cell: &[Rank]) -> u16 {
        let mut tree = self;
        loop {
            match tree {
                Tree::Leaf(action) => return *action,
                Tree::Node { dimension, threshold, branches } => {
                    let is_true = cell[*dimension] > *threshold;
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
                let threshold = thresholds.and_then(|thresholds| thresholds.index(value));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_numbers_are_thresholds_and_each_is_found_again() {
        let numbers = [f64::MIN, -1.0, -5e-324, 0.0, 5e-324, 0.1, 0.1f64.next_up(), f64::MAX];
        for pair in numbers.windows(2) {
            assert!(Thresholds::All.rank(pair[0]) < Thresholds::All.rank(pair[1]));
        }
        for number in numbers {
            let index = Thresholds::All.index(number).expect("it is finite");
            assert_eq!(Thresholds::All.threshold(index), Some(number));
            assert!(
                Thresholds::All.rank(number) > index && Thresholds::All.rank(number.next_down()) <= index
            );
        }
        assert_eq!(Thresholds::All.rank(-0.0), Thresholds::All.rank(0.0));
        assert_eq!(Thresholds::All.rank(f64::INFINITY), Thresholds::All.rank(f64::MAX));
        let (low, high) = Thresholds::All.predicates().expect("there are some");
        assert_eq!(
            (Thresholds::All.rank(f64::NEG_INFINITY), Thresholds::All.rank(f64::MAX)),
            (low, high + 1)
        );
        assert_eq!(Thresholds::All.index(f64::NAN), None);
    }
}

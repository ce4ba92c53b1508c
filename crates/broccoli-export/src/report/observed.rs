//! What is seen when a tree runs from every initial state: traces to be drawn, and facts about every
//! node, which are counted over all states, whether drawn or not.

use broccoli_core::problem::{Objective, Problem, RunError, SystemFactory, Value};
use broccoli_core::tree::{Trace, Tree};
use serde::Serialize;

use crate::simulation::EndJson;

/// The most states of all traces together that a report holds, besides the deciding trace.
const MOST_STATES: usize = 50_000;
/// The most states of the deciding trace.
const MOST_DECIDING: usize = 20_000;
/// The most traces that a report draws.
const MOST_TRACES: usize = 200;
/// With more dimensions than these, fewer states are kept.
const USUAL_DIMENSIONS: usize = 8;

/// The traces of a tree, thinned for drawing, and exact facts about its nodes.
#[derive(Clone, Debug, Serialize)]
pub struct Observed {
    /// The traces that are drawn.
    pub traces: Vec<DrawnTrace>,
    /// How many were run.
    pub trace_count: usize,
    /// The states of all traces in all.
    pub state_count: u64,
    /// The index in `traces` of the one that decides the value.
    pub deciding: usize,
    /// The nodes in preorder.
    pub nodes: Vec<Visits>,
    /// The value over all initial states, if all were run.
    pub value: Option<Value>,
}

/// A trace with every `stride`-th state, and the last one.
#[derive(Clone, Debug, Serialize)]
pub struct DrawnTrace {
    /// The index of its initial state.
    pub initial: usize,
    /// The actions applied.
    pub steps: u64,
    /// What ended it.
    pub end: EndJson,
    /// Its value, if it has one.
    pub value: Option<Value>,
    /// From one state to the next, in steps.
    pub stride: usize,
    /// The states, a list per dimension, rounded to six digits.
    pub states: Vec<Vec<f64>>,
    /// The leaf that each state came to, an index of nodes; none for the last state.
    pub leaves: Vec<Option<usize>>,
}

/// What passed a node, over all traces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Visits {
    /// How many states.
    pub states: u64,
    /// How many of them found the predicate true.
    pub yes: u64,
    /// The first and the last step, over all traces.
    pub steps: Option<(u64, u64)>,
    /// The largest value of its dimension below the threshold that was seen here, and the smallest
    /// at or above it.
    pub seen: (Option<f64>, Option<f64>),
    /// The same, only of states where the other child would have chosen another action. While the
    /// threshold stays above the first and at most the second, every trace stays the same.
    pub decisive: (Option<f64>, Option<f64>),
}

impl Observed {
    /// Runs `tree` from the initial states of `problem`, until all are run or this many steps are made in all:
    /// then [`Observed::trace_count`] is less than their number, and there is no value.
    ///
    /// # Errors
    /// When the system fails.
    pub fn run(
        problem: &Problem,
        factory: &dyn SystemFactory,
        tree: &Tree,
        most_steps: u64,
    ) -> Result<Observed, RunError> {
        let count = problem.initial_states().len();
        let wide = problem.dimensions().len().div_ceil(USUAL_DIMENSIONS);
        let (most, most_deciding) =
            ((MOST_STATES / count.min(MOST_TRACES) / wide).max(2), (MOST_DECIDING / wide).max(2));
        let mut nodes = vec![Visits::default(); 2 * tree.size() as usize + 1];
        let mut ends = vec![0; nodes.len()];
        end_of(tree, 0, &mut ends);
        let mut traces: Vec<DrawnTrace> = Vec::new();
        let mut state_count = 0;
        let mut worst: Option<(Option<u64>, DrawnTrace)> = None;
        let mut values = Vec::new();
        for initial in 0..count {
            if state_count > most_steps {
                break;
            }
            let trace = Trace::run(problem, factory, tree, initial)?;
            state_count += trace.states.len() as u64;
            let leaves = visit(tree, &ends, &trace, &mut nodes);
            let value = trace.value(problem.objective());
            values.push(value);
            if worst.as_ref().is_none_or(|(before, _)| is_worse(problem.objective(), value, *before)) {
                worst = Some((value, drawn(problem, initial, &trace, &leaves, most_deciding)));
            }
            if initial < MOST_TRACES {
                traces.push(drawn(problem, initial, &trace, &leaves, most));
            }
        }
        let mut observed =
            Observed { traces, trace_count: values.len(), state_count, deciding: 0, nodes, value: None };
        observed.value = problem.overall(&values).and_then(|value| problem.objective().shown(value));
        if let Some((_, deciding)) = worst {
            observed.deciding = deciding.initial.min(observed.traces.len());
            match observed.traces.get_mut(observed.deciding) {
                Some(trace) => *trace = deciding,
                None => observed.traces.push(deciding),
            }
        }
        Ok(observed)
    }

    /// The largest distance between drawn states, in steps.
    pub fn coarsest(&self) -> usize {
        self.traces.iter().map(|trace| trace.stride).max().unwrap_or(1)
    }
}

fn is_worse(objective: Objective, value: Option<u64>, than: Option<u64>) -> bool {
    match (objective, value, than) {
        (_, None, Some(_)) => true,
        (_, _, None) => false,
        (objective, Some(value), Some(than)) if objective.is_minimised() => value > than,
        (_, Some(value), Some(than)) => value < than,
    }
}

/// The index behind every subtree, whose nodes in preorder begin at `start`.
fn end_of(tree: &Tree, start: usize, ends: &mut [usize]) -> usize {
    ends[start] = match tree {
        Tree::Leaf(_) => start + 1,
        Tree::Node { yes, no, .. } => {
            let middle = end_of(yes, start + 1, ends);
            end_of(no, middle, ends)
        }
    };
    ends[start]
}

/// Follows every state of a trace through the tree and returns the leaves they come to.
fn visit(tree: &Tree, ends: &[usize], trace: &Trace, nodes: &mut [Visits]) -> Vec<Option<usize>> {
    let states = trace.states.iter().zip(0..);
    let leaves = states.map(|(state, step)| {
        state.action.map(|action| follow(tree, ends, &state.observation, action, step, nodes))
    });
    leaves.collect()
}

/// Follows one state, which leads to `action`, and returns its leaf.
fn follow(
    mut tree: &Tree,
    ends: &[usize],
    state: &[f64],
    action: usize,
    step: u64,
    nodes: &mut [Visits],
) -> usize {
    let mut index = 0;
    loop {
        let visits = &mut nodes[index];
        visits.states += 1;
        visits.steps = Some(visits.steps.map_or((step, step), |(a, b)| (a.min(step), b.max(step))));
        let Tree::Node { dimension, threshold, yes, no } = tree else { return index };
        let value = state[*dimension];
        let holds = value >= *threshold;
        let (child, other) = if holds { (yes, no) } else { (no, yes) };
        narrow(&mut visits.seen, value, holds);
        if other.action(state) != action {
            narrow(&mut visits.decisive, value, holds);
        }
        if holds {
            visits.yes += 1;
            index += 1;
        } else {
            index = ends[index + 1];
        }
        tree = child;
    }
}

/// Moves one end of an interval to a value: the upper end if the value is above the threshold.
fn narrow((low, high): &mut (Option<f64>, Option<f64>), value: f64, above: bool) {
    if above {
        *high = Some(high.map_or(value, |high| high.min(value)));
    } else {
        *low = Some(low.map_or(value, |low| low.max(value)));
    }
}

fn drawn(
    problem: &Problem,
    initial: usize,
    trace: &Trace,
    leaves: &[Option<usize>],
    most: usize,
) -> DrawnTrace {
    let last = trace.states.len() - 1;
    let stride = last.div_ceil(most).max(1);
    let kept: Vec<usize> = (0..last).step_by(stride).chain([last]).collect();
    let dimension = |d: usize| kept.iter().map(|&i| rounded(trace.states[i].observation[d])).collect();
    DrawnTrace {
        initial,
        steps: trace.steps(),
        end: trace.end.into(),
        value: trace.value(problem.objective()).map(|value| match problem.objective() {
            Objective::Return(_) => Value::Number(trace.total),
            _ => Value::Steps(value),
        }),
        stride,
        states: (0..problem.dimensions().len()).map(dimension).collect(),
        leaves: kept.iter().map(|&i| leaves[i]).collect(),
    }
}

/// Six significant digits; infinities, which JSON does not have, become very large numbers.
fn rounded(value: f64) -> f64 {
    let text = format!("{value:.5e}");
    text.parse::<f64>().unwrap_or(value).clamp(f64::MIN, f64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use broccoli_environments::{CARTPOLE, MOUNTAIN_CAR};

    fn car() -> Tree {
        let side = |t| Tree::node(1, t, Tree::Leaf(1), Tree::Leaf(0));
        Tree::node(0, -0.45, side(0.01), side(-0.005))
    }

    #[test]
    fn counts_are_those_of_the_trace() {
        let problem = MOUNTAIN_CAR.problem().build().unwrap();
        let observed = Observed::run(&problem, &MOUNTAIN_CAR, &car(), u64::MAX).unwrap();
        assert_eq!((observed.value, observed.state_count), (Some(Value::Steps(104)), 105));
        let [root, left, right] = [0, 1, 4].map(|i| observed.nodes[i]);
        assert_eq!((root.states, root.steps), (104, Some((0, 103))));
        assert_eq!((left.states, right.states), (root.yes, root.states - root.yes));
        assert_eq!(observed.nodes.iter().skip(2).take(2).map(|n| n.states).sum::<u64>(), left.states);
        let trace = Trace::run(&problem, &MOUNTAIN_CAR, &car(), 0).unwrap();
        let positions = || trace.states.iter().filter(|s| s.action.is_some()).map(|s| s.observation[0]);
        assert_eq!(root.seen.0, positions().filter(|x| *x < -0.45).max_by(f64::total_cmp));
        assert_eq!(root.seen.1, positions().filter(|x| *x >= -0.45).min_by(f64::total_cmp));
        assert_eq!(observed.traces[0].leaves.len(), 105);
        assert!(observed.traces[0].leaves[..104].iter().all(|leaf| [2, 3, 5, 6].map(Some).contains(leaf)));
    }

    #[test]
    fn a_threshold_may_move_within_its_interval_and_no_further() {
        let problem = MOUNTAIN_CAR.problem().build().unwrap();
        let run = |tree: &Tree| Trace::run(&problem, &MOUNTAIN_CAR, tree, 0).unwrap();
        let side = |t| Tree::node(1, t, Tree::Leaf(1), Tree::Leaf(0));
        let with_root = |t| Tree::node(0, t, side(0.01), side(-0.005));
        let with_left = |t| Tree::node(0, -0.45, side(t), side(-0.005));
        let nodes = Observed::run(&problem, &MOUNTAIN_CAR, &car(), u64::MAX).unwrap().nodes;
        let same = run(&car());
        let trees: [(Visits, &dyn Fn(f64) -> Tree); 2] = [(nodes[0], &with_root), (nodes[1], &with_left)];
        for (visits, tree) in trees {
            let (low, high) = (visits.decisive.0.unwrap(), visits.decisive.1.unwrap());
            assert_eq!([run(&tree(low.next_up())), run(&tree(high))], [same.clone(), same.clone()]);
            assert!(run(&tree(low)) != same && run(&tree(high.next_up())) != same);
        }
    }

    #[test]
    fn long_traces_are_thinned_except_the_deciding_one() {
        let states = CARTPOLE.sample(100, 1);
        let problem = CARTPOLE.problem_with(CARTPOLE.grids(None).unwrap(), states).build().unwrap();
        let right = Tree::node(3, -0.2, Tree::Leaf(1), Tree::Leaf(0));
        let tree = Tree::node(2, 0.0, right.clone(), Tree::node(3, 0.2, Tree::Leaf(1), Tree::Leaf(0)));
        let observed = Observed::run(&problem, &CARTPOLE, &tree, u64::MAX).unwrap();
        assert_eq!(observed.trace_count, 100);
        let drawn: usize = observed.traces.iter().map(|trace| trace.leaves.len()).sum();
        assert!(drawn <= MOST_STATES + MOST_DECIDING + 200, "{drawn} states");
        assert_eq!(observed.traces[observed.deciding].value, observed.value);
        assert_eq!(observed.traces[observed.deciding].stride, 1);
    }

    #[test]
    fn steps_end_where_a_report_has_enough_of_them() {
        let problem = CARTPOLE.problem_with(CARTPOLE.grids(None).unwrap(), CARTPOLE.sample(100, 1));
        let problem = problem.build().unwrap();
        let whole = Observed::run(&problem, &CARTPOLE, &Tree::Leaf(1), u64::MAX).unwrap();
        let part = Observed::run(&problem, &CARTPOLE, &Tree::Leaf(1), 50).unwrap();
        assert!((1..100).contains(&part.trace_count) && part.state_count < 100, "{part:?}");
        assert_eq!((whole.trace_count, part.value), (100, None));
    }

    #[test]
    fn numbers_for_drawing() {
        assert_eq!(
            [0.1 + 0.2, -1234567.0, f64::INFINITY, 0.0].map(rounded),
            [0.3, -1234570.0, f64::MAX, 0.0]
        );
    }
}

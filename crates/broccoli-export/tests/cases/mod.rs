//! Trees for the tests of exports: real ones, random ones, and some with names as hostile as can be.

#![allow(dead_code, reason = "not every test needs all of it")]

use broccoli_core::problem::{Dimension, Objective, Problem, Thresholds, sample};
use broccoli_core::tree::Tree;
use broccoli_export::json::StatusJson;
use broccoli_export::policy::Policy;

/// Names that end comments, strings and tags, begin scripts, or are keywords.
pub const HOSTILE: [&str; 14] = [
    "*/ int main(void) { return 1; } /*",
    "\"quoted\" 'name' \\",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "line\nbreak\r\u{2028}\u{0}end",
    "\\input{/etc/passwd} $x^2_3$ #1 & 50% ~{}",
    "class",
    "CLASS",
    "速度 θ̇ é \u{202e}rtl",
    "*) END_FUNCTION (*",
    "]]> &amp; &lt; --> <!--",
    "coding=utf-7 \"\"\"",
    "",
    "{{data}} %s {x} ${y} `z` ??/",
];

/// Policies by name.
pub fn cases() -> Vec<(&'static str, Policy)> {
    let car =
        tree_node(0, -0.45, tree_node(1, 0.01, leaf(1), leaf(0)), tree_node(1, -0.005, leaf(1), leaf(0)));
    let extremes =
        [0.0, 5e-324, -5e-324, 0.1 + 0.2, 1e300, -1e300, f64::MAX, f64::MIN, f64::EPSILON, 1e-7, 1e22];
    let comb =
        extremes.iter().enumerate().fold(leaf(0), |tree, (i, t)| tree_node(i % 2, *t, leaf(i % 3), tree));
    vec![
        ("the car", policy(&["position", "velocity"], &["left", "right"], car)),
        ("a leaf", policy(&["x"], &["a", "b"], leaf(1))),
        ("extreme thresholds", policy(&["x", "y"], &["a", "b", "c"], comb)),
        ("a random tree", policy(&["a", "b", "c", "unused"], &["0", "1", "2"], random(7, 3, 3, 1))),
        ("a small random tree", policy(&["a", "b"], &["0", "1"], random(3, 2, 2, 2))),
        ("hostile names", hostile()),
    ]
}

/// A tree that asks every dimension, all of them and the actions with hostile names.
pub fn hostile() -> Policy {
    let count = HOSTILE.len();
    let tree = (0..count).fold(leaf(0), |tree, i| tree_node(i, i as f64 / 8.0 - 0.5, leaf(i), tree));
    Policy { system: HOSTILE[11].to_owned() + HOSTILE[0] + HOSTILE[4], ..policy(&HOSTILE, &HOSTILE, tree) }
}

/// Policies that ask for derived dimensions; the functions of the second may differ in the last bit.
pub fn derived() -> Vec<(&'static str, Policy)> {
    let exact = [
        ("energy", "0.5*x^2 + 9.8*`the \"y\"`"),
        ("ratio", "max(x, `the \"y\"`, 0.5) / (x - `the \"y\"`)"),
        ("root", "-sqrt(abs(x)) - min(x, `the \"y\"`)^3"),
        ("unused", "x / 0"),
    ];
    let inexact = [
        ("wave", "sin(x) * cos(`the \"y\"`) + tan(x / 3)"),
        ("growth", "exp(x) - ln(abs(`the \"y\"`))"),
        ("angle", "atan2(`the \"y\"`, x) + 2*pi"),
        ("unused", "x"),
    ];
    [("arithmetic", exact), ("functions", inexact)]
        .map(|(name, features)| {
            let tree = random(5, 5, 3, 4);
            let mut policy = policy(&["x", "the \"y\""], &["0", "1", "2"], Tree::Leaf(0));
            let mut builder = Problem::builder().initial([0.0; 2]).objective(policy.problem.objective());
            for dimension in policy.problem.dimensions() {
                builder = builder.dimension_like(dimension);
            }
            for (name, expression) in features {
                builder = builder.dimension_like(&Dimension {
                    name: name.to_owned(),
                    thresholds: Thresholds::none(),
                    expression: Some(expression.to_owned()),
                    price: 0.0,
                });
            }
            for action in policy.problem.actions() {
                builder = builder.action(&action.name, action.value);
            }
            (policy.problem, policy.tree) = (builder.build().unwrap(), tree);
            (name, policy)
        })
        .into()
}

/// A policy with these names.
pub fn policy(dimensions: &[&str], actions: &[&str], tree: Tree) -> Policy {
    let mut builder =
        Problem::builder().initial(vec![0.0; dimensions.len()]).objective(Objective::reach(100));
    for name in dimensions {
        builder = builder.dimension(*name, Thresholds::none());
    }
    for (i, name) in actions.iter().enumerate() {
        builder = builder.action(*name, i as f64 - 0.5);
    }
    let problem = builder.build().unwrap();
    let verdict = "Optimal: this tree reaches the goal in 12 steps.".to_owned();
    Policy { system: "test".to_owned(), problem, tree, status: StatusJson::Optimal, verdict }
}

/// Thousands of random observations, near the thresholds and far away; at every predicate, its threshold
/// and the floats beside it; infinities and NaN.
pub fn observations(policy: &Policy) -> Vec<Vec<f64>> {
    let count = policy.problem.dimensions().len();
    let mut special = vec![f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 0.0, -0.0];
    thresholds(&policy.tree, &mut special);
    let mut observations = Vec::new();
    for (seed, width) in [(0, 1.0), (1, 10.0), (2, 1e9)] {
        let states = sample(&vec![(-width, width); count], 1_500, seed);
        observations.extend(states.iter().map(|state| state.values().to_vec()));
    }
    at_thresholds(&policy.tree, &mut vec![(f64::MIN, f64::MAX); count], &mut observations);
    // Special values in every dimension, the others random or special, too.
    let background = sample(&vec![(-1.0, 1.0); count], special.len() * count * 4, 3);
    let mut background = background.iter();
    for (i, value) in special.iter().enumerate() {
        for dimension in 0..count {
            for other in 0..4 {
                let mut x = background.next().unwrap().values().to_vec();
                if other % 2 == 1 {
                    x.iter_mut()
                        .enumerate()
                        .for_each(|(d, x)| *x = special[(i * 7 + d * 3 + other) % special.len()]);
                }
                x[dimension] = *value;
                observations.push(x);
            }
        }
    }
    observations
}

/// For every predicate, observations that come to it and are at its threshold, just above, just below.
/// The box holds the values that come here: from the first of each pair up to below the second.
fn at_thresholds(tree: &Tree, box_here: &mut Vec<(f64, f64)>, observations: &mut Vec<Vec<f64>>) {
    let Tree::Node { dimension, threshold, yes, no } = tree else { return };
    let (low, high) = box_here[*dimension];
    let middle = |(low, high): &(f64, f64)| f64::max(*low, low / 2.0 + high / 2.0);
    for value in [*threshold, threshold.next_up(), threshold.next_down()] {
        if low <= value && value < high {
            let mut x: Vec<f64> = box_here.iter().map(middle).collect();
            x[*dimension] = value;
            observations.push(x);
        }
    }
    for (child, part) in [(yes, (low.max(*threshold), high)), (no, (low, high.min(*threshold)))] {
        if part.0 < part.1 {
            box_here[*dimension] = part;
            at_thresholds(child, box_here, observations);
        }
    }
    box_here[*dimension] = (low, high);
}

fn thresholds(tree: &Tree, values: &mut Vec<f64>) {
    if let Tree::Node { threshold, yes, no, .. } = tree {
        values.extend([*threshold, threshold.next_up(), threshold.next_down()]);
        thresholds(yes, values);
        thresholds(no, values);
    }
}

fn random(depth: u32, dimensions: usize, actions: usize, seed: u64) -> Tree {
    let numbers = sample(&[(0.0, 1.0), (-1.0, 1.0)], 1 << (depth + 1), seed);
    let mut numbers = numbers.iter().map(|state| (state.values()[0], state.values()[1]));
    grow(depth, dimensions, actions, &mut numbers)
}

fn grow(
    depth: u32,
    dimensions: usize,
    actions: usize,
    numbers: &mut impl Iterator<Item = (f64, f64)>,
) -> Tree {
    let (choice, threshold) = numbers.next().unwrap();
    if depth == 0 || choice < 0.1 {
        return leaf((choice * 1e6) as usize % actions);
    }
    let yes = grow(depth - 1, dimensions, actions, numbers);
    let no = grow(depth - 1, dimensions, actions, numbers);
    tree_node((choice * 1e6) as usize % dimensions, threshold, yes, no)
}

fn leaf(action: usize) -> Tree {
    Tree::Leaf(action)
}

fn tree_node(dimension: usize, threshold: f64, yes: Tree, no: Tree) -> Tree {
    Tree::node(dimension, threshold, yes, no)
}

//! The thresholds with which a tree does the same: per predicate, all numbers between the values that it told apart.

use serde::{Deserialize, Serialize};

use super::Tree;
use crate::problem::Problem;

/// Thresholds that tell some values apart alike: those greater than `low`, up to `high`.
///
/// ```
/// use broccoli_core::tree::Interval;
/// assert_eq!(Interval { low: -0.0123, high: 0.0317 }.shortest(), 0.01);
/// assert_eq!(Interval { low: 0.0, high: 5e-324 }.shortest(), 5e-324);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The greatest value for which the predicate was false; minus infinity if it never was.
    pub low: f64,
    /// The least value for which it was true; infinity if it never was.
    pub high: f64,
}

impl Interval {
    /// Nothing was told apart.
    const WHOLE: Interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };

    fn holds(&self, threshold: f64) -> bool {
        threshold.is_finite() && self.low < threshold && threshold <= self.high
    }

    /// Of the decimals with the fewest digits in it, the one nearest its middle. Where one end is missing, the interval
    /// is taken to be as wide as the other end is far from 0.
    pub fn shortest(&self) -> f64 {
        let width = |end: f64| if end == 0.0 { 1.0 } else { end.abs() };
        let (low, high) = match (self.low.is_finite(), self.high.is_finite()) {
            (true, true) => (self.low, self.high),
            (true, false) => (self.low, self.low + width(self.low)),
            (false, true) => (self.high - width(self.high), self.high),
            (false, false) => (-1.0, 1.0),
        };
        let middle = low / 2.0 + high / 2.0;
        // Seventeen digits tell any two numbers apart.
        let found = (0..17).find_map(|digits| {
            let all = neighbours(middle, digits).into_iter().filter(|&decimal| self.holds(decimal));
            all.min_by(|a, b| (a - middle).abs().total_cmp(&(b - middle).abs()))
        });
        // Between neighbours there is no middle; and an end that is infinite is no threshold.
        let ends = [self.high, self.low.next_up(), f64::MAX, f64::MIN];
        found.or_else(|| ends.into_iter().find(|&end| self.holds(end))).unwrap_or(0.0) + 0.0
    }
}

/// A number with so many digits after the first one, and the numbers of as many digits beside it.
fn neighbours(number: f64, digits: usize) -> [f64; 3] {
    let nearest = format!("{number:.digits$e}");
    let (mantissa, exponent) = nearest.split_once('e').unwrap_or((&nearest, "0"));
    let whole: i64 = mantissa.replace('.', "").parse().unwrap_or(0);
    let exponent: i64 = exponent.parse().unwrap_or(0);
    let decimal = |whole: i64| format!("{whole}e{}", exponent - digits as i64).parse().unwrap_or(f64::NAN);
    [decimal(whole), decimal(whole - 1), decimal(whole + 1)]
}

/// What the predicates of a tree tell apart: one interval for each, in preorder.
pub(crate) struct Intervals {
    nodes: Vec<Node>,
}

struct Node {
    dimension: usize,
    threshold: f64,
    /// How many predicates the true side has; none if a side is a leaf.
    sides: [Option<usize>; 2],
    interval: Interval,
}

impl Intervals {
    pub(crate) fn new(tree: &Tree) -> Self {
        let mut nodes = Vec::new();
        add(tree, &mut nodes);
        Intervals { nodes }
    }

    /// The tree is asked about an observation.
    pub(crate) fn see(&mut self, observation: &[f64]) {
        let mut next = if self.nodes.is_empty() { None } else { Some(0) };
        while let Some(at) = next {
            let Node { dimension, threshold, sides, interval } = &mut self.nodes[at];
            let value = observation[*dimension];
            if value >= *threshold {
                interval.high = interval.high.min(value);
                next = sides[1];
            } else {
                interval.low = interval.low.max(value);
                next = sides[0];
            }
        }
    }

    /// The intervals of those predicates that may have any threshold.
    pub(crate) fn of(&self, problem: &Problem) -> Vec<Option<Interval>> {
        let is_free = |node: &Node| problem.dimensions()[node.dimension].thresholds.is_all();
        self.nodes.iter().map(|node| is_free(node).then_some(node.interval)).collect()
    }
}

/// Adds the predicates of a tree; the place of the first one.
fn add(tree: &Tree, nodes: &mut Vec<Node>) -> Option<usize> {
    let Tree::Node { dimension, threshold, yes, no } = tree else { return None };
    let at = nodes.len();
    let (dimension, threshold) = (*dimension, *threshold);
    nodes.push(Node { dimension, threshold, sides: [None; 2], interval: Interval::WHOLE });
    let yes = add(yes, nodes);
    let no = add(no, nodes);
    nodes[at].sides = [no, yes];
    Some(at)
}

impl Tree {
    /// The same tree with the [shortest](Interval::shortest) threshold in each of these intervals, in preorder.
    pub(crate) fn with_shortest(&self, intervals: &[Option<Interval>]) -> Tree {
        fn go(tree: &Tree, intervals: &mut std::slice::Iter<'_, Option<Interval>>) -> Tree {
            let Tree::Node { dimension, threshold, yes, no } = tree else { return tree.clone() };
            let interval = intervals.next().copied().flatten();
            let threshold = interval.map_or(*threshold, |interval| interval.shortest());
            let yes = go(yes, intervals);
            Tree::node(*dimension, threshold, yes, go(no, intervals))
        }
        go(self, &mut intervals.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_decimals_near_the_middle() {
        let shortest = |low, high| Interval { low, high }.shortest();
        assert_eq!((shortest(0.009765, 0.009766), shortest(0.009764, 0.009766)), (0.009766, 0.009765));
        assert_eq!(shortest(0.0097651, 0.0097659), 0.0097655);
        assert_eq!(shortest(-3.0, 5.0), 1.0);
        assert_eq!(shortest(12.0, 480.0), 200.0);
        assert_eq!(shortest(0.94, 0.98), 0.96);
        assert_eq!(shortest(0.9, 1.1), 1.0);
        assert_eq!(shortest(-0.41, -0.39), -0.4);
        // The lower end is no threshold of it, the upper end is.
        assert_eq!((shortest(1.0, 2.0), shortest(2.0, 3.0), shortest(0.0, 1.0)), (2.0, 3.0, 0.5));
        let one = 1.0f64;
        assert_eq!(shortest(one, one.next_up()), one.next_up());
        assert_eq!(shortest(one.next_down(), one), one);
        assert_eq!(shortest(f64::NEG_INFINITY, 0.3), 0.1);
        assert_eq!(shortest(250.0, f64::INFINITY), 400.0);
        assert_eq!(shortest(f64::NEG_INFINITY, f64::INFINITY), 0.0);
        assert_eq!(shortest(f64::NEG_INFINITY, f64::MIN), f64::MIN);
        assert_eq!(shortest(f64::MAX.next_down(), f64::INFINITY), f64::MAX);
        assert_eq!(shortest(-1e-320, 1e-320), 0.0);
        assert!(shortest(-1.0, 1.0).is_sign_positive());
    }

    /// Whatever the interval is, the number is in it, and no number that is written more shortly is nearer the middle.
    #[test]
    fn always_in_the_interval() {
        let mut random = 1u64;
        let mut draw = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f64::from_bits(random ^ random >> 29)
        };
        let mut tried = 0;
        while tried < 20_000 {
            let (a, b) = (draw(), draw());
            let b = if tried % 2 == 0 { b } else { a * (1.0 + 1e-12 * (b % 1.0)) };
            if a.is_finite() && b.is_finite() && a != b {
                tried += 1;
                let interval = Interval { low: a.min(b), high: a.max(b) };
                assert!(interval.holds(interval.shortest()), "{interval:?}");
            }
        }
    }

    #[test]
    fn a_tree_knows_what_it_tells_apart() {
        let tree = Tree::node(
            0,
            0.5,
            Tree::node(1, 2.0, Tree::Leaf(0), Tree::Leaf(1)),
            Tree::node(0, -1.0, Tree::Leaf(1), Tree::Leaf(0)),
        );
        let mut intervals = Intervals::new(&tree);
        for seen in [[0.5, 3.0], [0.7, 1.0], [0.25, 9.0], [-2.0, 2.0], [0.9, 2.5]] {
            intervals.see(&seen);
        }
        let found: Vec<[f64; 2]> =
            intervals.nodes.iter().map(|node| [node.interval.low, node.interval.high]).collect();
        assert_eq!(found, [[0.25, 0.5], [1.0, 2.5], [-2.0, 0.25]]);
    }
}

//! The oracle: every tree, in a few lines that share nothing with the search. Slow and plain.

use broccoli_core::problem::{Aim, Objective, Over};
use broccoli_core::tree::Tree;

use crate::table::TableProblem;

/// The best value and the smallest size that has it, over every tree; `None` if no tree has a value.
pub fn best(table: &TableProblem) -> Option<(u64, u64)> {
    let all = (0..=table.nodes).flat_map(|size| trees(table, size, table.depth));
    let valued = all.filter_map(|tree| value(table, &tree).map(|value| (value, tree.size())));
    match table.objective {
        Objective::Reach { .. } => valued.min(),
        _ => valued.min_by_key(|&(value, size)| (std::cmp::Reverse(value), size)),
    }
}

/// The same for any objective, as a number.
pub fn best_number(table: &TableProblem) -> Option<(f64, u64)> {
    let sign = match table.objective {
        Objective::Reach { .. } => 1.0,
        Objective::Return(wanted) if wanted.aim == Aim::Minimise => 1.0,
        _ => -1.0,
    };
    let all = (0..=table.nodes).flat_map(|size| trees(table, size, table.depth));
    let valued = all.filter_map(|tree| number(table, &tree).map(|value| (value, tree.size())));
    valued.min_by(|a, b| (sign * a.0).total_cmp(&(sign * b.0)).then(a.1.cmp(&b.1)))
}

/// The value of a tree for any objective, straight from the definition; `None` if it has none.
pub fn number(table: &TableProblem, tree: &Tree) -> Option<f64> {
    let horizon = table.objective.horizon();
    let trace = |&initial: &usize| {
        let (mut at, mut steps, mut total, mut factor) = (initial, 0, 0.0, 1.0);
        while table.states[at].verdict == '.' && steps < horizon {
            let action = tree.action(&table.states[at].observation);
            if let Objective::Return(wanted) = table.objective {
                total += factor * table.states[at].rewards[action];
                factor *= wanted.discount;
            }
            at = table.states[at].next[action];
            steps += 1;
        }
        match (table.objective, table.states[at].verdict) {
            (Objective::Return(_), _) => total,
            (Objective::Reach { .. }, '+') | (Objective::Survive { .. }, '-') => steps as f64,
            (Objective::Reach { .. }, _) => f64::INFINITY,
            (Objective::Survive { .. }, _) => horizon as f64,
        }
    };
    let mut values: Vec<f64> = table.initial.iter().map(trace).collect();
    let is_minimised = match table.objective {
        Objective::Reach { .. } => true,
        Objective::Survive { .. } => false,
        Objective::Return(wanted) => wanted.aim == Aim::Minimise,
    };
    let count = values.len();
    let may_fail = matches!(table.objective.over(), Over::Share(_));
    if !may_fail && values.contains(&f64::INFINITY) {
        return None; // even if it weighs nothing
    }
    let value = match table.objective.over() {
        Over::Worst if is_minimised => values.into_iter().fold(f64::NEG_INFINITY, f64::max),
        Over::Worst => values.into_iter().fold(f64::INFINITY, f64::min),
        Over::Sum => values.iter().sum(),
        Over::Mean => values.iter().sum::<f64>() / count as f64,
        Over::Weighted => values.iter().zip(&table.weights).map(|(value, weight)| weight * value).sum(),
        Over::Share(share) => {
            values.sort_by(f64::total_cmp);
            let needed = (1..=count).find(|&k| k as f64 / count as f64 >= share).unwrap_or(count);
            values[needed - 1]
        }
    };
    (value != f64::INFINITY).then_some(value + 0.0) // one zero
}

/// Every tree of the best value, the smallest size and the least price, in canonical order; `prices` has one for
/// each dimension.
pub fn optima(table: &TableProblem, prices: &[f64]) -> Vec<Tree> {
    let Some((best, size)) = best_number(table) else { return Vec::new() };
    let mut all = trees(table, size, table.depth);
    all.retain(|tree| number(table, tree) == Some(best));
    let least = all.iter().map(|tree| price(tree, prices)).min_by(f64::total_cmp);
    all.retain(|tree| Some(price(tree, prices)) == least);
    all.sort();
    all
}

/// The sum of the prices of the dimensions that a tree asks.
pub fn price(tree: &Tree, prices: &[f64]) -> f64 {
    fn asks(tree: &Tree, asked: usize) -> bool {
        match tree {
            Tree::Leaf(_) => false,
            Tree::Node { dimension, yes, no, .. } => {
                *dimension == asked || asks(yes, asked) || asks(no, asked)
            }
        }
    }
    (0..prices.len()).filter(|&dimension| asks(tree, dimension)).map(|dimension| prices[dimension]).sum()
}

/// Every tree of exactly this size and at most this depth.
pub fn trees(table: &TableProblem, size: u64, depth: u32) -> Vec<Tree> {
    if size == 0 {
        return (0..table.actions()).map(Tree::Leaf).collect();
    }
    let mut all = Vec::new();
    for left in 0..if depth == 0 { 0 } else { size } {
        let (yes, no) = (trees(table, left, depth - 1), trees(table, size - 1 - left, depth - 1));
        for (dimension, thresholds) in table.thresholds.iter().enumerate() {
            for &t in thresholds {
                for y in &yes {
                    all.extend(no.iter().map(|n| Tree::node(dimension, t, y.clone(), n.clone())));
                }
            }
        }
    }
    all
}

/// The value of a tree on the table, straight from the definition; `None` if a trace fails.
pub fn value(table: &TableProblem, tree: &Tree) -> Option<u64> {
    let horizon = table.objective.horizon();
    let trace = |&initial: &usize| {
        let (mut at, mut steps) = (initial, 0);
        while table.states[at].verdict == '.' && steps < horizon {
            at = table.states[at].next[tree.action(&table.states[at].observation)];
            steps += 1;
        }
        match (table.objective, table.states[at].verdict) {
            (Objective::Reach { .. }, '+') | (Objective::Survive { .. }, '-') => Some(steps),
            (Objective::Reach { .. }, _) => None,
            _ => Some(horizon),
        }
    };
    let values: Option<Vec<u64>> = table.initial.iter().map(trace).collect();
    match table.objective {
        Objective::Reach { .. } => values?.into_iter().max(),
        _ => values?.into_iter().min(),
    }
}

/// The actions that a tree applies from a state of the table, until a verdict or `steps`.
pub fn actions(table: &TableProblem, tree: &Tree, initial: usize, steps: u64) -> Vec<usize> {
    let mut at = initial;
    let mut path = Vec::new();
    while table.states[at].verdict == '.' && (path.len() as u64) < steps {
        path.push(tree.action(&table.states[at].observation));
        at = table.states[at].next[path[path.len() - 1]];
    }
    path
}

/// How many trees there are of at most this size and depth, or a large number if that overflows.
pub fn tree_count(predicates: u64, actions: u64, size: u64, depth: u32) -> u64 {
    fn exactly(predicates: u64, actions: u64, size: u64, depth: u32) -> u64 {
        if size == 0 {
            return actions;
        }
        if depth == 0 {
            return 0;
        }
        let split = |left| {
            let yes: u64 = exactly(predicates, actions, left, depth - 1);
            yes.saturating_mul(exactly(predicates, actions, size - 1 - left, depth - 1))
        };
        (0..size).map(split).fold(0, u64::saturating_add).saturating_mul(predicates)
    }
    (0..=size).map(|size| exactly(predicates, actions, size, depth)).fold(0, u64::saturating_add)
}

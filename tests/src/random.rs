//! Random small problems, of two kinds: *scattered* (any state may follow any other) and *structured*
//! (positions on a line or a plane, actions that move, drift), because bugs in pruning hide where
//! neighbouring cells follow each other.
//!
//! Everything is drawn as raw numbers that are then reduced to what the table allows; so every part
//! shrinks by itself.

use broccoli_core::problem::{Aim, Objective, Over, Return};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::oracle::tree_count;
use crate::table::{State, TableProblem};

/// Which objective the problems have.
#[derive(Clone, Copy, Debug)]
pub enum Wanted {
    /// `reach`
    Reach,
    /// `survive`
    Survive,
}

impl Wanted {
    fn objective(self, horizon: u64) -> Objective {
        match self {
            Wanted::Reach => Objective::reach(horizon),
            Wanted::Survive => Objective::survive(horizon),
        }
    }
}

/// Mostly two actions and one initial state, mostly depth 2 with all its nodes: there the rules that
/// skip trees have most to skip, and brute force can still afford several thresholds per dimension.
fn actions() -> impl Strategy<Value = usize> {
    prop_oneof![4 => Just(2usize), 1 => Just(3usize), 1 => Just(4usize)]
}

fn initial() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![1 => vec(any::<u8>(), 1), 1 => vec(any::<u8>(), 1..=5)]
}

/// Depth, and a raw limit on nodes that [`limited`] reduces.
fn limits() -> impl Strategy<Value = (u32, u64)> {
    let depth = prop_oneof![1 => Just(0u32), 1 => Just(1u32), 5 => Just(2u32), 2 => Just(3u32)];
    let nodes = prop_oneof![2 => Just(u64::MAX), 1 => any::<u64>()];
    (depth, nodes)
}

/// Any state may follow any other: 1 to 4 dimensions of 0 to 4 thresholds, 2 to 4 actions, 1 to 14
/// states, 1 to 5 initial states; values fall on thresholds half of the time.
pub fn scattered(wanted: Wanted, most_trees: u64) -> BoxedStrategy<TableProblem> {
    let state = (any::<[u8; 4]>(), any::<[u8; 4]>(), 0..12u8);
    let dimensions = vec(prop_oneof![4 => 1..=4usize, 1 => Just(0usize)], 1..=4);
    let parts = (dimensions, vec(state, 1..=14), actions(), initial());
    (parts, 1..=25u64, limits())
        .prop_map(move |((dimensions, raw, actions, initial), horizon, (depth, nodes))| {
            let count = raw.len();
            let states = raw.iter().map(|(seen, next, verdict)| State {
                observation: dimensions.iter().zip(seen).map(|(&k, &v)| value_of(v, k)).collect(),
                next: next[..actions].iter().map(|&n| usize::from(n) % count).collect(),
                verdict: match verdict {
                    10 => '+',
                    11 => '-',
                    _ => '.',
                },
                rewards: Vec::new(),
            });
            limited(
                TableProblem {
                    thresholds: dimensions.iter().map(|&k| (1..=k).map(|t| t as f64).collect()).collect(),
                    states: states.collect(),
                    initial: initial.iter().map(|&i| usize::from(i) % count).collect(),
                    objective: wanted.objective(horizon),
                    weights: Vec::new(),
                    all: Vec::new(),
                    depth,
                    nodes,
                },
                most_trees,
            )
        })
        .boxed()
}

/// Larger tables, far beyond brute force: up to 3 dimensions of up to 8 thresholds, 2 or 3 actions, up to 200 states, of
/// which few have a verdict; so that rounds have many leaves, and several trees are equally good.
pub fn wide(wanted: Wanted) -> BoxedStrategy<TableProblem> {
    let size = (vec(4..=8usize, 1..=3), 20..=200usize, 2..=3usize, any::<u64>());
    let tree = (2..=3u32, 2..=3u64);
    (size, 1..=40u64, tree, vec(any::<u8>(), 1..=3))
        .prop_map(move |((dimensions, count, actions, seed), horizon, (depth, nodes), initial)| {
            let mut draw = crate::numbers(seed);
            let mut below = |n: usize| (draw() % n as u64) as usize;
            let states = (0..count).map(|_| State {
                observation: dimensions.iter().map(|&k| below(2 * k + 2) as f64 / 2.0).collect(),
                next: (0..actions).map(|_| below(count)).collect(),
                verdict: match below(40) {
                    0 => '+',
                    1 | 2 => '-',
                    _ => '.',
                },
                rewards: Vec::new(),
            });
            TableProblem {
                states: states.collect(),
                thresholds: dimensions.iter().map(|&k| (1..=k).map(|t| t as f64).collect()).collect(),
                initial: initial.iter().map(|&i| usize::from(i) % count).collect(),
                objective: wanted.objective(horizon),
                weights: Vec::new(),
                all: Vec::new(),
                depth,
                nodes,
            }
        })
        .boxed()
}

/// A value for a dimension with thresholds 1, …, k: on a threshold, between two, or outside.
fn value_of(raw: u8, k: usize) -> f64 {
    f64::from(u32::from(raw) % (2 * k as u32 + 2)) / 2.0
}

/// Positions on a line (or a plane) of cells that an action moves along, with a drift that depends on
/// the position, perhaps a hidden phase that flips the drift, a goal cell, and ends that may be fatal.
pub fn structured(wanted: Wanted, most_trees: u64) -> BoxedStrategy<TableProblem> {
    let line = (3..=8usize, vec(-2..=2i8, 4), vec(-1..=1i8, 1..=4), any::<u8>(), 0..4u8);
    let parts = (vec(line, 1..=2), actions(), any::<bool>(), initial());
    (parts, 1..=30u64, limits())
        .prop_map(move |((lines, actions, hidden, initial), horizon, (depth, nodes))| {
            // On a plane the sides are short, or there would be too many predicates.
            let lengths: Vec<usize> =
                lines.iter().map(|l| if lines.len() == 1 { l.0 } else { l.0.min(4) }).collect();
            let cells: usize = lengths.iter().product();
            let phases = if hidden { 2 } else { 1 };
            let states = (0..cells * phases).map(|state| {
                let (phase, mut cell) = (state / cells, state % cells);
                let mut position = Vec::new();
                for &length in &lengths {
                    position.push(cell % length);
                    cell /= length;
                }
                let next = |action: usize| {
                    let mut next_cell = 0;
                    for (i, (_, moves, drift, _, _)) in lines.iter().enumerate().rev() {
                        let drift = drift[position[i] % drift.len()] * if phase == 1 { -1 } else { 1 };
                        let moved = position[i] as i64 + i64::from(moves[action]) + i64::from(drift);
                        next_cell = next_cell * lengths[i] + moved.clamp(0, lengths[i] as i64 - 1) as usize;
                    }
                    next_cell + cells * ((phase + 1) % phases)
                };
                let goal = (0..lines.len()).all(|i| usize::from(lines[i].3) % lengths[i] == position[i]);
                let fatal = (0..lines.len()).any(|i| {
                    let (low, high) = (lines[i].4 & 1 == 1, lines[i].4 & 2 == 2);
                    low && position[i] == 0 || high && position[i] + 1 == lengths[i]
                });
                let verdict = match (goal, fatal) {
                    (true, _) if matches!(wanted, Wanted::Reach) => '+',
                    (_, true) => '-',
                    _ => '.',
                };
                State {
                    observation: position.iter().map(|&p| p as f64).collect(),
                    next: (0..actions).map(next).collect(),
                    verdict,
                    rewards: Vec::new(),
                }
            });
            let states: Vec<State> = states.collect();
            let initial = initial.iter().map(|&i| usize::from(i) % states.len()).collect();
            limited(
                TableProblem {
                    thresholds: lengths.iter().map(|&n| (1..n).map(|t| t as f64).collect()).collect(),
                    states,
                    initial,
                    objective: wanted.objective(horizon),
                    weights: Vec::new(),
                    all: Vec::new(),
                    depth,
                    nodes,
                },
                most_trees,
            )
        })
        .boxed()
}

/// The same problems with another objective: over the initial states in any way, and by rewards.
pub fn any_objective(tables: BoxedStrategy<TableProblem>) -> BoxedStrategy<TableProblem> {
    let over = prop_oneof![1 => Just(0u8), 1 => Just(1), 1 => Just(2), 1 => Just(3), 3 => Just(4)];
    let bounds = (0..4u8, 0..4u8);
    let rewards = (any::<bool>(), vec(any::<u8>(), 1..=16));
    let raw = (over, any::<bool>(), 0..4u8, bounds, rewards, vec(0..5u8, 5), 1..=100u8);
    (tables, raw)
        .prop_map(|(mut table, (over, is_return, discount, bounds, rewards, weights, share))| {
            let horizon = table.objective.horizon();
            let over = match (over, table.objective) {
                (0, _) => Over::Worst,
                (1, _) => Over::Mean,
                (2, _) => Over::Sum,
                (4, Objective::Reach { .. }) if !is_return => Over::Share(f64::from(share) / 100.0),
                _ => Over::Weighted,
            };
            table.weights = Vec::new();
            if over == Over::Weighted {
                table.weights = (0..table.initial.len()).map(|i| f64::from(weights[i % 5]) / 2.0).collect();
                table.weights[0] += 0.1;
            }
            if !is_return {
                table.objective = table.objective.across(over);
                return table;
            }
            const REWARDS: [f64; 8] = [0.0, 1.0, -1.0, 0.1, -0.7, 3.0, 1.0, 0.0];
            // With nothing but 0 and 1 many trees are equally good, and some are perfect.
            let (is_binary, rewards) = rewards;
            let choice = if is_binary { 2 } else { REWARDS.len() };
            let mut drawn = rewards.iter().cycle();
            for state in &mut table.states {
                let reward = |_| REWARDS[usize::from(*drawn.next().unwrap_or(&0)) % choice];
                state.rewards = (0..state.next.len()).map(reward).collect();
            }
            let all = || table.states.iter().flat_map(|state| state.rewards.iter().copied());
            let (least, most) =
                (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
            // Mostly as tight as can be, or loose, or not known.
            let bound =
                |raw, tight: f64, loose| [Some(tight), Some(tight), Some(loose), None][usize::from(raw)];
            table.objective = Objective::Return(Return {
                horizon,
                aim: if weights[0] % 2 == 0 { Aim::Maximise } else { Aim::Minimise },
                discount: [1.0, 1.0, 0.9, 0.0][usize::from(discount)],
                low: bound(bounds.0, least, least - 1.5),
                high: bound(bounds.1, most, most + 1.5),
                over,
            });
            table
        })
        .boxed()
}

/// Half of the problems as they are; in the others all numbers are thresholds of some dimensions, and the values there are
/// other ones in the same order: the same as before, neighbours that differ in the last bit, or as large and as small as
/// numbers can be. Zero is positive or negative.
pub fn with_and_without_grid(
    tables: BoxedStrategy<TableProblem>,
    most_trees: u64,
) -> BoxedStrategy<TableProblem> {
    let dimension = (any::<bool>(), 0..4u8, any::<u8>());
    (tables, any::<bool>(), vec(dimension, 4))
        .prop_map(move |(mut table, has_grid, dimensions)| {
            if has_grid || dimensions.iter().zip(&table.thresholds).all(|((all, ..), _)| !all) {
                return table;
            }
            for (dimension, &(is_all, kind, shift)) in
                dimensions.iter().enumerate().take(table.thresholds.len())
            {
                if is_all {
                    for state in &mut table.states {
                        let value = &mut state.observation[dimension];
                        *value = other_value(*value, kind, shift);
                    }
                }
            }
            let all = dimensions.iter().map(|(all, ..)| *all).take(table.thresholds.len()).collect();
            limited(table.without_grid(all), most_trees)
        })
        .boxed()
}

/// A value in place of a small number that has one digit in binary after the point at most.
fn other_value(value: f64, kind: u8, shift: u8) -> f64 {
    const EXTREMES: [f64; 12] = [
        f64::NEG_INFINITY,
        f64::MIN,
        -1.0,
        -f64::MIN_POSITIVE,
        -5e-324,
        0.0,
        5e-324,
        f64::MIN_POSITIVE,
        1.0,
        1e300,
        f64::MAX,
        f64::INFINITY,
    ];
    let place = (2.0 * value) as usize;
    let made = match kind {
        0 => value - f64::from(shift % 8),
        1 => f64::from_bits((1.0f64 - f64::from(shift % 2) / 3.0).to_bits() + place as u64),
        2 => f64::from_bits(place as u64 / 2 + u64::from(shift % 3)),
        _ => EXTREMES[(place + usize::from(shift % 3)).min(EXTREMES.len() - 1)],
    };
    // One zero is as good as the other.
    if made == 0.0 && (place + usize::from(shift)).is_multiple_of(2) { -0.0 } else { made }
}

/// Reduces the raw limit on nodes to what the depth allows, and lowers it until brute force can
/// afford the number of trees.
fn limited(mut table: TableProblem, most_trees: u64) -> TableProblem {
    let predicates: usize = table.thresholds.iter().map(Vec::len).sum();
    table.nodes %= 1 << table.depth; // u64::MAX becomes all that the depth allows
    let count = |nodes| tree_count(predicates as u64, table.actions() as u64, nodes, table.depth);
    table.nodes = (0..=table.nodes).rev().find(|&nodes| count(nodes) <= most_trees).unwrap_or(0);
    table
}

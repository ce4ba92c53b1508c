//! CMA-ES over a continuous form of trees, with restarts of twice the population each (IPOP).
//!
//! A node is a weight per dimension, of which the largest chooses, and a place on [-1, 1] that is snapped to the
//! thresholds of that dimension. A leaf is a number whose sign is the action, or a weight per action. The strategy is
//! Hansen's, with his constants, but for the root of the covariance: it is Cholesky's, which is as good and cheaper
//! (Krause, Arbonès, Igel, 2016).

use super::arena::{Arena, Ended};
use super::dice::Dice;
use super::judge::Score;
use super::tree::{Predicate, Ranked, Space};

/// How far the first population is spread; the starting point is drawn from [-1, 1].
const SIGMA: f64 = 0.5;
/// It begins anew when it has become so narrow, or after so many generations without a better tree.
const NARROW: f64 = 1e-3;
const PATIENCE: u32 = 20;
/// The largest population.
const MOST: usize = 1_000;

pub(crate) fn search(arena: &mut Arena<'_>, dice: &mut Dice) -> Result<(), Ended> {
    let length = Form::of(arena.space()).length;
    let first = 4 + (8.0 * (length as f64).ln()) as usize;
    let mut population = first;
    loop {
        descend(arena, dice, length, population)?;
        population = if 2 * population > MOST { first } else { 2 * population };
    }
}

/// One run of the strategy.
fn descend(arena: &mut Arena<'_>, dice: &mut Dice, length: usize, population: usize) -> Result<(), Ended> {
    let mut strategy = Strategy::new(dice, length, population);
    let (mut best, mut idle) = (None, 0);
    while idle < PATIENCE && strategy.is_wide() {
        let mut tried: Vec<(Score, Vec<f64>)> = Vec::new();
        for _ in 0..population {
            let step = strategy.draw(dice);
            let tree = Form::of(arena.space()).tree(arena.space(), &strategy.at(&step));
            // Only the better half counts, so a tree that is not among it is given up.
            let need = tried.get(strategy.parents() - 1).map(|(score, _)| *score);
            let score = arena.score(tree, need)?.map_or(Score::WORST, |known| known.score);
            let place = tried.partition_point(|(other, _)| *other <= score);
            tried.insert(place, (score, step));
        }
        idle += 1;
        if best.is_none_or(|best| tried[0].0 < best) {
            (best, idle) = (Some(tried[0].0), 0);
        }
        let steps: Vec<&[f64]> = tried.iter().map(|(_, step)| step.as_slice()).collect();
        strategy.learn(&steps);
    }
    Ok(())
}

/// How vectors stand for trees.
struct Form {
    of_node: usize,
    of_leaf: usize,
    length: usize,
}

impl Form {
    fn of(space: &Space) -> Self {
        let of_node = space.dimensions.len() + 1;
        let of_leaf = if space.actions == 2 { 1 } else { space.actions };
        Form { of_node, of_leaf, length: space.nodes * of_node + (space.nodes + 1) * of_leaf }
    }

    fn tree(&self, space: &Space, vector: &[f64]) -> Ranked {
        let (nodes, leaves) = vector.split_at(space.nodes * self.of_node);
        let node = |part: &[f64]| {
            let dimension = space.dimensions[largest(&part[..self.of_node - 1])];
            let place = ((part[self.of_node - 1] + 1.0) / 2.0).clamp(0.0, 1.0 - 1e-9);
            Predicate { dimension, rank: (place * space.thresholds[dimension].len() as f64) as usize }
        };
        let leaf = |part: &[f64]| if self.of_leaf == 1 { usize::from(part[0] > 0.0) } else { largest(part) };
        Ranked {
            nodes: nodes.chunks(self.of_node).map(node).collect(),
            leaves: leaves.chunks(self.of_leaf).map(leaf).collect(),
        }
    }
}

fn largest(list: &[f64]) -> usize {
    (1..list.len()).fold(0, |best, index| if list[index] > list[best] { index } else { best })
}

/// The state of CMA-ES, in Hansen's names.
struct Strategy {
    mean: Vec<f64>,
    sigma: f64,
    /// The covariance and its root, lower triangles by rows.
    covariance: Vec<Vec<f64>>,
    root: Vec<Vec<f64>>,
    path_sigma: Vec<f64>,
    path_c: Vec<f64>,
    weights: Vec<f64>,
    mass: f64,
    generation: i32,
}

impl Strategy {
    fn new(dice: &mut Dice, length: usize, population: usize) -> Self {
        let parents = population / 2;
        let raw = |rank: usize| ((population as f64 + 1.0) / 2.0).ln() - (rank as f64 + 1.0).ln();
        let sum: f64 = (0..parents).map(raw).sum();
        let weights: Vec<f64> = (0..parents).map(|rank| raw(rank) / sum).collect();
        let unit: Vec<Vec<f64>> =
            (0..length).map(|row| (0..=row).map(|column| f64::from(row == column)).collect()).collect();
        Strategy {
            mean: (0..length).map(|_| 2.0 * dice.share() - 1.0).collect(),
            sigma: SIGMA,
            covariance: unit.clone(),
            root: unit,
            path_sigma: vec![0.0; length],
            path_c: vec![0.0; length],
            mass: 1.0 / weights.iter().map(|weight| weight * weight).sum::<f64>(),
            weights,
            generation: 0,
        }
    }

    fn parents(&self) -> usize {
        self.weights.len()
    }

    fn is_wide(&self) -> bool {
        let widest = self.covariance.iter().enumerate().map(|(row, list)| list[row]).fold(0.0, f64::max);
        self.sigma.is_finite() && self.sigma * widest.sqrt() > NARROW
    }

    /// A step of the standard normal distribution.
    fn draw(&self, dice: &mut Dice) -> Vec<f64> {
        self.mean.iter().map(|_| dice.normal()).collect()
    }

    /// The root times a step.
    fn rotated(&self, step: &[f64]) -> Vec<f64> {
        self.root.iter().map(|row| row.iter().zip(step).map(|(a, b)| a * b).sum()).collect()
    }

    fn at(&self, step: &[f64]) -> Vec<f64> {
        self.mean.iter().zip(self.rotated(step)).map(|(mean, y)| mean + self.sigma * y).collect()
    }

    /// Moves on, given all steps, the best first.
    fn learn(&mut self, steps: &[&[f64]]) {
        let n = self.mean.len() as f64;
        let mass = self.mass;
        let c_sigma = (mass + 2.0) / (n + mass + 5.0);
        let damping = 1.0 + 2.0 * (((mass - 1.0) / (n + 1.0)).sqrt() - 1.0).max(0.0) + c_sigma;
        let c_c = (4.0 + mass / n) / (n + 4.0 + 2.0 * mass / n);
        let c_1 = 2.0 / ((n + 1.3).powi(2) + mass);
        let c_mu = (1.0 - c_1).min(2.0 * (mass - 2.0 + 1.0 / mass) / ((n + 2.0).powi(2) + mass));
        let expected = n.sqrt() * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n));

        let parents = &steps[..self.parents()];
        let mixed = |index: usize| -> f64 {
            self.weights.iter().zip(parents).map(|(weight, step)| weight * step[index]).sum()
        };
        let z: Vec<f64> = (0..self.mean.len()).map(mixed).collect();
        let y = self.rotated(&z);
        let rotated: Vec<Vec<f64>> = parents.iter().map(|step| self.rotated(step)).collect();
        self.generation += 1;
        let keep = (c_sigma * (2.0 - c_sigma) * mass).sqrt();
        for (path, z) in self.path_sigma.iter_mut().zip(&z) {
            *path = (1.0 - c_sigma) * *path + keep * z;
        }
        let length = self.path_sigma.iter().map(|path| path * path).sum::<f64>().sqrt();
        let settled = (1.0 - (1.0 - c_sigma).powi(2 * self.generation)).sqrt();
        let is_short = length / settled < (1.4 + 2.0 / (n + 1.0)) * expected;
        let keep = if is_short { (c_c * (2.0 - c_c) * mass).sqrt() } else { 0.0 };
        for (path, y) in self.path_c.iter_mut().zip(&y) {
            *path = (1.0 - c_c) * *path + keep * y;
        }
        for (mean, y) in self.mean.iter_mut().zip(&y) {
            *mean += self.sigma * y;
        }
        let lost = if is_short { 0.0 } else { c_1 * c_c * (2.0 - c_c) };
        for (row, list) in self.covariance.iter_mut().enumerate() {
            for (column, entry) in list.iter_mut().enumerate() {
                let of_parents: f64 =
                    self.weights.iter().zip(&rotated).map(|(weight, y)| weight * y[row] * y[column]).sum();
                *entry = (1.0 - c_1 - c_mu + lost) * *entry
                    + c_1 * self.path_c[row] * self.path_c[column]
                    + c_mu * of_parents;
            }
        }
        self.sigma *= ((c_sigma / damping) * (length / expected - 1.0)).exp();
        self.factor();
    }

    /// Makes the root anew: Cholesky's.
    fn factor(&mut self) {
        for row in 0..self.mean.len() {
            for column in 0..=row {
                let (a, b) = (&self.root[row][..column], &self.root[column][..column]);
                let rest = self.covariance[row][column] - a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
                self.root[row][column] =
                    if row == column { rest.max(1e-20).sqrt() } else { rest / self.root[column][column] };
            }
        }
    }
}

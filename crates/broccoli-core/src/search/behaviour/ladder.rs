//! The ladder of grids: the walk at full depth on a few of the thresholds, then on more. A tree on some of the thresholds is
//! a tree of the problem with the same value. On a coarse grid trees are few, and the good ones among them often not far
//! from the best of all: what a rung finds is an incumbent, and hints improve it. Where all numbers are thresholds there is
//! no ladder, as there is nothing to choose from before runs are known.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::hints::Ranked;
use super::realise::{Labelled, realised};
use super::recall::Trie;
use super::schedule::Round;
use super::score::Score;
use super::state::Left;
use super::task::{Task, What};
use super::tuning::Tuning;
use super::version_space::Cost;
use crate::problem::{Over, Problem, Rank, Thresholds};
use crate::search::counts::MOST_PLAUSIBLE;

/// Walks on coarser grids, each paused and gone on with, beside the one that proves.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Ladder {
    pub(super) rungs: Vec<Rung>,
}

/// A walk on a coarser grid: what is left of it, as in the state of a search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Rung {
    /// The most thresholds in a dimension.
    most: usize,
    pub(super) round: Round,
    pub(super) left: Left,
    /// Per initial state, how often its trace has failed.
    pub(super) failures: Vec<u64>,
    pub(super) trie: Arc<Trie>,
    /// The steps made.
    pub(super) work: u64,
    /// Its grid, which follows from the problem.
    #[serde(skip)]
    pub(super) grid: Arc<Grid>,
}

/// Some of the thresholds of a problem.
#[derive(Clone, Debug, Default)]
pub(super) struct Grid {
    /// None for a grid that is not known yet.
    coarse: Option<Problem>,
    /// Per dimension and rank, the rank among these thresholds.
    ranks: Vec<Vec<Rank>>,
}

impl Grid {
    /// Up to so many thresholds of each dimension, evenly chosen.
    fn new(problem: &Problem, most: usize) -> Self {
        let mut ranks = Vec::new();
        let coarse = problem.on_thresholds(|thresholds| {
            let all = thresholds.as_slice();
            let count = all.len().min(most);
            let chosen = |index: usize| (2 * index + 1) * all.len() / (2 * count);
            let chosen: Vec<usize> = (0..count).map(chosen).collect();
            let rank = |rank: usize| chosen.iter().filter(|&&index| index < rank).count() as Rank;
            ranks.push((0..=all.len()).map(rank).collect());
            let some: Vec<f64> = chosen.into_iter().map(|index| all[index]).collect();
            Thresholds::list(some).unwrap_or_else(|_| Thresholds::none())
        });
        Grid { coarse: Some(coarse), ranks }
    }

    /// The problem with these thresholds alone.
    pub(super) fn problem<'g>(&'g self, whole: &'g Problem) -> &'g Problem {
        self.coarse.as_ref().unwrap_or(whole)
    }

    /// A cell becomes the one that it is part of.
    pub(super) fn coarsen(&self, cell: &mut [Rank]) {
        for (rank, ranks) in cell.iter_mut().zip(&self.ranks) {
            *rank = ranks[*rank as usize];
        }
    }

    /// The smallest tree that agrees with labels of coarse cells, as a tree of the whole problem; none if it is too large.
    pub(super) fn tree(&self, whole: &Problem, labels: &[Labelled], size: Cost) -> Option<What> {
        let tree = realised(self.problem(whole), labels, size);
        // It is not known which of the finer cells were seen.
        Some(What::Tree(Ranked::of(whole, &tree)?, Vec::new()))
    }
}

impl Ladder {
    pub(super) fn new(problem: &Problem, tuning: &Tuning) -> Self {
        let thresholds = problem.dimensions().iter().map(|dimension| dimension.thresholds.len());
        let finest = thresholds.max().unwrap_or(0);
        // What a tree is worth from one initial state hints find out soon.
        let is_wanted = tuning.hints.ladder > 0
            && problem.without_grid().is_none()
            && problem.objective().over() == Over::Worst
            && problem.initial_states().len() > 1;
        let sizes = RUNGS.into_iter().filter(|&most| is_wanted && (most as Rank) < finest);
        Ladder { rungs: sizes.map(|most| Rung::new(problem, tuning, most)).collect() }
    }

    /// What was not written down follows from the problem.
    pub(super) fn restore(&mut self, problem: &Problem) {
        for rung in &mut self.rungs {
            rung.grid = Arc::new(Grid::new(problem, rung.most));
            Arc::make_mut(&mut rung.trie).restore(rung.grid.problem(problem));
        }
    }

    /// What leaves take in memory.
    pub(super) fn bytes(&self) -> usize {
        self.rungs.iter().map(|rung| rung.left.bytes()).map(|(now, next)| now + next).sum()
    }

    /// Whether it can be that of a search for this problem, and these its tasks.
    pub(super) fn is_of<'t>(&self, problem: &Problem, mut tasks: impl Iterator<Item = &'t Task>) -> bool {
        if self.rungs.len() > RUNGS.len() {
            return false;
        }
        let grids: Vec<Grid> = self.rungs.iter().map(|rung| Grid::new(problem, rung.most)).collect();
        let is_whole = |(rung, grid): (&Rung, &Grid)| rung.is_of(grid.problem(problem));
        self.rungs.iter().zip(&grids).all(is_whole)
            && tasks.all(|task| {
                let grid = task.rung.and_then(|rung| grids.get(rung));
                grid.is_some_and(|grid| task.hints.is_none() && task.is_of(grid.problem(problem)))
            })
    }
}

impl Rung {
    fn new(problem: &Problem, tuning: &Tuning, most: usize) -> Self {
        let grid = Grid::new(problem, most);
        let coarse = grid.problem(problem);
        Rung {
            most,
            round: Round::first(coarse, tuning),
            left: Left::root(coarse),
            failures: vec![0; coarse.initial_states().len()],
            trie: Arc::new(Trie::new(coarse)),
            work: 0,
            grid: Arc::new(grid),
        }
    }

    /// Goes on to the next round if one is over; whether there is something to do.
    pub(super) fn go_on(
        &mut self,
        problem: &Problem,
        tuning: &Tuning,
        best: Option<Score>,
        bytes: usize,
    ) -> bool {
        let (now, next) = self.left.bytes();
        if now + next > bytes {
            // It was too fine.
            self.left = Left::default();
        }
        let coarse = self.grid.problem(problem);
        while !self.left.has_tasks() {
            let leaves = self.left.take_all();
            if leaves.is_empty() {
                return false;
            }
            let Some(after) = self.round.after(coarse, tuning, best, next) else {
                return false;
            };
            self.round = after;
            self.left = after.begin(coarse, tuning, leaves);
        }
        true
    }

    /// Whether it can be one of a problem on this grid.
    fn is_of(&self, coarse: &Problem) -> bool {
        let mut counts = self.failures.iter().chain([&self.work]);
        counts.all(|&count| count < MOST_PLAUSIBLE)
            && self.failures.len() == coarse.initial_states().len()
            && self.round.is_of(coarse)
            && self.left.is_of(coarse)
            && (*self.trie).clone().restore(coarse)
    }
}

/// How many thresholds a dimension has, at most.
const RUNGS: [usize; 3] = [3, 7, 9];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{InitialState, Objective};

    /// The coarse rank of a value follows from its rank, and all thresholds of a grid are those of the problem.
    #[test]
    fn coarse_cells_are_made_of_cells() {
        let thresholds: Vec<f64> = (0..20).map(f64::from).collect();
        let some = |count: usize| Thresholds::list(thresholds[..count].to_vec());
        let build = || -> Result<Problem, Box<dyn std::error::Error>> {
            Ok(Problem::builder()
                .dimension("x", some(20)?)
                .dimension("y", some(2)?)
                .dimension("z", Thresholds::none())
                .action("a", 0.0)
                .action("b", 1.0)
                .initial(InitialState::from([0.0, 0.0, 0.0]))
                .objective(Objective::reach(10))
                .depth(3)
                .build()?)
        };
        let problem = build().expect("a problem");
        for most in RUNGS {
            let grid = Grid::new(&problem, most);
            let coarse = grid.problem(&problem);
            let counts: Vec<Rank> = coarse.dimensions().iter().map(|d| d.thresholds.len()).collect();
            assert_eq!(counts, [most as Rank, 2, 0]);
            for value in -1..=40 {
                let value = f64::from(value) / 2.0;
                let (mut cell, mut expected) = ([0; 3], [0; 3]);
                problem.cell(&[value; 3], &mut cell);
                coarse.cell(&[value; 3], &mut expected);
                grid.coarsen(&mut cell);
                assert_eq!(cell, expected, "{value} with {most} thresholds");
            }
        }
    }
}

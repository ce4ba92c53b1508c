//! Solves one row with one seed after the other and sums up what happened.

use std::time::Instant;

use anyhow::Result;
use broccoli_core::search::{Engine, Search, Statistics, Status};

use crate::instances::Row;

/// What one search gave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) seed: u64,
    pub(crate) status: Status,
    /// Value and size of the best tree, if there is one.
    pub(crate) best: Option<(u64, u64)>,
    pub(crate) statistics: Statistics,
    pub(crate) seconds: f64,
}

/// Solves `row` with the initial states of `seed`.
pub(crate) fn solve(row: &Row, depth: u32, seed: u64, engine: Engine) -> Result<Run> {
    let problem = row.problem(depth, seed)?;
    let environment = row.environment()?;
    let start = Instant::now();
    let outcome = Search::new(&problem, environment).engine(engine).run()?;
    Ok(Run {
        seed,
        status: outcome.status,
        best: outcome.best.map(|best| (best.value, best.tree.size())),
        statistics: outcome.statistics,
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// Mean, standard deviation (of the sample; 0 for a single number) and range of some numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Summary {
    pub(crate) mean: f64,
    pub(crate) deviation: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl Summary {
    /// The summary of `numbers`; none if there are none.
    pub(crate) fn of(numbers: impl Iterator<Item = f64>) -> Option<Self> {
        let numbers: Vec<f64> = numbers.collect();
        let count = numbers.len() as f64;
        let mean = numbers.iter().sum::<f64>() / count;
        let squares: f64 = numbers.iter().map(|n| (n - mean).powi(2)).sum();
        let deviation = if numbers.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 };
        let least = numbers.iter().copied().reduce(f64::min)?;
        let most = numbers.iter().copied().reduce(f64::max)?;
        Some(Summary { mean, deviation, least, most })
    }
}

/// How the runs of a row ended, in words: `optimal`, `infeasible`, or how many of each.
pub(crate) fn outcome(runs: &[Run]) -> String {
    let name = |status| match status {
        Status::Optimal => "optimal",
        Status::Infeasible => "infeasible",
        _ => "other",
    };
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for run in runs {
        let name = name(run.status);
        match counts.iter_mut().find(|(seen, _)| *seen == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    match counts[..] {
        [(name, _)] => name.to_owned(),
        _ => counts.iter().map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_of_numbers() {
        assert_eq!(Summary::of([].into_iter()), None);
        let one = Summary::of([3.0].into_iter()).unwrap();
        assert_eq!((one.mean, one.deviation, one.least, one.most), (3.0, 0.0, 3.0, 3.0));
        let some = Summary::of([1.0, 2.0, 3.0].into_iter()).unwrap();
        assert_eq!((some.mean, some.deviation, some.least, some.most), (2.0, 1.0, 1.0, 3.0));
    }

    #[test]
    fn mixed_outcomes_are_counted() {
        let run =
            |status| Run { seed: 0, status, best: None, statistics: Statistics::default(), seconds: 0.0 };
        assert_eq!(outcome(&[run(Status::Infeasible); 2]), "infeasible");
        let mixed = [run(Status::Optimal), run(Status::Infeasible), run(Status::Optimal)];
        assert_eq!(outcome(&mixed), "2 optimal, 1 infeasible");
    }
}

//! What a search will cost, from short ones.

use std::time::Instant;

use broccoli_core::problem::{ALL, Problem, RunError, SystemFactory};
use broccoli_core::search::{Search, Status};
use serde::{Serialize, Serializer};

/// The depths and the thresholds per dimension that are tried; none is no grid: all numbers.
pub const DEPTHS: [u32; 3] = [1, 2, 3];
pub const COUNTS: [Option<usize>; 4] = [Some(5), Some(10), Some(20), None];
/// From about so many thresholds on a search takes hardly more queries: they lie closer than the values that runs see.
const LIKE_ALL: usize = 1_000;
/// With which power of their number queries grow, by depth, where only one number was measured: about the most
/// that the built-in environments show.
const GROWTH: [f64; 3] = [1.0, 2.3, 4.5];
/// A depth more multiplies the queries by this power of what the depth before did.
const DEEPER: f64 = 1.4;

/// What one search costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    #[serde(serialize_with = "number_or_all")]
    pub thresholds: Option<usize>,
    pub depth: u32,
    pub queries: u64,
    pub seconds: f64,
    pub how: How,
}

fn number_or_all<S: Serializer>(count: &Option<usize>, serializer: S) -> Result<S::Ok, S::Error> {
    match count {
        Some(count) => serializer.serialize_u64(*count as u64),
        None => serializer.serialize_str(ALL),
    }
}

/// As how many thresholds they count where queries are extrapolated.
fn like(cost: &Cost) -> f64 {
    cost.thresholds.unwrap_or(LIKE_ALL) as f64
}

/// How the numbers came about.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// The search came to its end.
    Measured,
    /// It was cut short, and others show what it would have taken.
    Extrapolated,
    /// It was cut short, and nothing shows how much more it would have taken.
    More,
}

/// Runs short searches that take `budget` queries in all, on the problems that `pose` gives for so many
/// thresholds and a depth, and extrapolates to those that did not come to their end.
pub fn costs(
    factory: &dyn SystemFactory,
    budget: u64,
    pose: impl Fn(Option<usize>, u32) -> Option<Problem>,
) -> Result<Vec<Cost>, RunError> {
    let mut costs: Vec<Cost> = Vec::new();
    let mut left = budget;
    for (row, depth) in DEPTHS.into_iter().enumerate() {
        for (column, thresholds) in COUNTS.into_iter().enumerate() {
            let open = (DEPTHS.len() - row) * COUNTS.len() - column;
            let Some(problem) = pose(thresholds, depth) else { continue };
            let started = Instant::now();
            let search = Search::new(&problem, factory).query_limit(left / open as u64);
            let outcome = search.run().map_err(|failure| failure.error)?;
            let seconds = started.elapsed().as_secs_f64();
            let statistics = outcome.statistics;
            let queries = statistics.queries + statistics.replayed;
            left = left.saturating_sub(queries);
            let cost = Cost { thresholds, depth, queries, seconds, how: How::Measured };
            costs.push(match outcome.status {
                Status::Optimal | Status::Infeasible => cost,
                _ => extrapolated(&costs, cost),
            });
        }
    }
    Ok(costs)
}

/// What a search that was cut short at `cut` would have cost, from those before.
fn extrapolated(before: &[Cost], cut: Cost) -> Cost {
    let known = || before.iter().filter(|cost| cost.how != How::More);
    let find = |depth| known().find(|c| (c.thresholds, c.depth) == (cut.thresholds, depth));
    let same: Vec<&Cost> = known().filter(|c| c.depth == cut.depth).collect();
    let estimate = match same[..] {
        [.., first, second] => Some(grown(second, cut, power(first, second).max(0.0))),
        [only] => Some(grown(only, cut, GROWTH[(cut.depth as usize - 1).min(GROWTH.len() - 1)])),
        [] => match (find(cut.depth.saturating_sub(2)), find(cut.depth - 1)) {
            (Some(first), Some(last)) => Some(deeper(first, last)),
            _ => None,
        },
    };
    let Some(estimate) = estimate else { return Cost { how: How::More, ..cut } };
    // It was cut short, so it takes more than it took.
    let queries = estimate.max(2.0 * cut.queries as f64).min(u64::MAX as f64);
    let seconds = cut.seconds / cut.queries.max(1) as f64 * queries;
    Cost { queries: queries as u64, seconds, how: How::Extrapolated, ..cut }
}

/// The power of the number of thresholds with which the queries grew.
fn power(first: &Cost, second: &Cost) -> f64 {
    let queries = second.queries.max(1) as f64 / first.queries.max(1) as f64;
    queries.ln() / (like(second) / like(first)).ln()
}

fn grown(from: &Cost, to: Cost, power: f64) -> f64 {
    from.queries as f64 * (like(&to) / like(from)).powf(power)
}

fn deeper(first: &Cost, last: &Cost) -> f64 {
    let ratio = last.queries.max(1) as f64 / first.queries.max(1) as f64;
    last.queries as f64 * ratio.max(1.0).powf(DEEPER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use broccoli_environments::MOUNTAIN_CAR;

    fn pose(thresholds: Option<usize>, depth: u32) -> Option<Problem> {
        use broccoli_core::problem::Thresholds;
        let grid = |(low, high)| match thresholds {
            Some(count) => Thresholds::count(low, high, count).ok(),
            None => Some(Thresholds::all()),
        };
        let grids = MOUNTAIN_CAR.dimensions.iter().map(|d| grid(d.range)).collect::<Option<Vec<_>>>()?;
        let start = broccoli_core::problem::InitialState::new(MOUNTAIN_CAR.initial);
        MOUNTAIN_CAR.problem_with(grids, vec![start]).depth(depth).build().ok()
    }

    #[test]
    fn what_ends_is_measured_and_the_rest_is_of_the_right_order() {
        let known = costs(&MOUNTAIN_CAR, 4_000_000, pose).unwrap();
        let guessed = costs(&MOUNTAIN_CAR, 60_000, pose).unwrap();
        let mut extrapolated = 0;
        for (known, guessed) in known.iter().zip(&guessed).filter(|(known, _)| known.how == How::Measured) {
            assert_eq!((known.thresholds, known.depth), (guessed.thresholds, guessed.depth));
            if guessed.how == How::Measured {
                assert_eq!(known.queries, guessed.queries);
                continue;
            }
            extrapolated += 1;
            let ratio = guessed.queries as f64 / known.queries as f64;
            assert!((0.05..20.0).contains(&ratio), "{guessed:?} instead of {known:?}");
        }
        assert!(extrapolated >= 2, "{guessed:?}");
    }

    #[test]
    fn extrapolation_follows_what_was_measured() {
        let cost = |thresholds, depth, queries| Cost {
            thresholds: Some(thresholds),
            depth,
            queries,
            seconds: 1.0,
            how: How::Measured,
        };
        let known = [cost(5, 1, 100), cost(10, 1, 200), cost(5, 2, 1_000), cost(10, 2, 4_000)];
        let guess = extrapolated(&known, cost(20, 2, 500));
        assert_eq!((guess.queries, guess.how), (16_000, How::Extrapolated));
        assert_eq!(guess.seconds, 32.0, "as long a query as in the search that was cut short");
        let guess = extrapolated(&known, cost(5, 3, 500)).queries;
        assert!((25_000..26_000).contains(&guess), "{guess}: 10 times, to the power of 1.4");
        let unknown = extrapolated(&[], cost(5, 1, 500));
        assert_eq!((unknown.queries, unknown.how), (500, How::More), "nothing to go by");
        assert_eq!(extrapolated(&[unknown], cost(10, 1, 500)).how, How::More, "nor is that");
    }
}

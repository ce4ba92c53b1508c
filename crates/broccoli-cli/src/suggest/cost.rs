//! What a search will cost, from short ones.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use broccoli_core::problem::{ALL, Problem, RunError, SystemFactory};
use broccoli_core::search::{Event, Forecast, Search, Status, StopReason};
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
    /// The least and the most that it may be; the same if it was measured.
    pub queries_range: [u64; 2],
    pub seconds_range: [f64; 2],
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
}

/// What short searches may take in all, and who makes them.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    pub queries: u64,
    pub until: Instant,
    pub threads: NonZeroUsize,
}

/// Runs short searches, on the problems that `pose` gives for so many thresholds and a depth, and extrapolates to those that
/// did not come to their end. `tell` is told now and then which one it is, and how many queries it has made.
pub fn costs(
    factory: &dyn SystemFactory,
    budget: Budget,
    pose: impl Fn(Option<usize>, u32) -> Option<Problem>,
    mut tell: impl FnMut(Option<usize>, u32, u64),
) -> Result<Vec<Cost>, RunError> {
    let mut costs: Vec<Cost> = Vec::new();
    let mut left = budget.queries;
    for (row, depth) in DEPTHS.into_iter().enumerate() {
        for (column, thresholds) in COUNTS.into_iter().enumerate() {
            let open = (DEPTHS.len() - row) * COUNTS.len() - column;
            let Some(problem) = pose(thresholds, depth) else { continue };
            let started = Instant::now();
            let time = budget.until.saturating_duration_since(started) / open as u32;
            let is_late = || (started.elapsed() >= time.max(LEAST_TIME)).then_some(StopReason::TimeLimit);
            let mut forecast = None;
            let mut observer = |event: Event<'_>| match event {
                Event::Considered(statistics) => tell(thresholds, depth, statistics.queries),
                Event::Forecast(new) => forecast = Some(new),
                _ => {}
            };
            let search = Search::new(&problem, factory).query_limit((left / open as u64).max(1));
            let search = search.threads(budget.threads).stop(&is_late).observer(&mut observer);
            let outcome = search.run().map_err(|failure| failure.error)?;
            let seconds = started.elapsed().as_secs_f64();
            let statistics = outcome.statistics;
            left = left.saturating_sub(statistics.queries + statistics.replayed);
            let queries = statistics.queries;
            let (queries_range, seconds_range) = ([queries; 2], [seconds; 2]);
            let how = How::Measured;
            let cost = Cost { thresholds, depth, queries, seconds, queries_range, seconds_range, how };
            costs.push(match outcome.status {
                Status::Optimal | Status::Infeasible => cost,
                _ => extrapolated(&costs, cost, forecast),
            });
        }
    }
    Ok(costs)
}

/// A search has at least this time: a slow system makes a step in it, or has begun one.
const LEAST_TIME: Duration = Duration::from_millis(1);
/// By how much an extrapolation from other searches is off, either way.
const OFF: f64 = 20.0;

/// What a search that was cut short at `cut` would have cost, from its forecast and from those before.
fn extrapolated(before: &[Cost], cut: Cost, forecast: Option<Forecast>) -> Cost {
    let made = cut.queries.max(1);
    let forecast = forecast.unwrap_or(Forecast { least: 0, most: made.saturating_mul(100) });
    let add = |more: u64| made.saturating_add(more) as f64;
    let (mut least, mut most) = (add(forecast.least), add(forecast.most));
    let find = |depth| before.iter().find(|c| (c.thresholds, c.depth) == (cut.thresholds, depth));
    let same: Vec<&Cost> = before.iter().filter(|c| c.depth == cut.depth).collect();
    let estimate = match same[..] {
        [.., first, second] => Some(grown(second, cut, power(first, second).max(0.0))),
        [only] => Some(grown(only, cut, GROWTH[(cut.depth as usize - 1).min(GROWTH.len() - 1)])),
        [] => match (find(cut.depth.saturating_sub(2)), find(cut.depth - 1)) {
            (Some(first), Some(last)) => Some(deeper(first, last)),
            _ => None,
        },
    };
    // Where both agree the range is what they have in common. The forecast of a search that has hardly begun says little of
    // how long it can take: then the others count.
    if let Some(estimate) = estimate.filter(|estimate| estimate * OFF > least) {
        least = least.max((estimate / OFF).min(most));
        most = estimate * OFF;
    }
    let queries = estimate.unwrap_or((least * most).sqrt()).clamp(least, most);
    let each = cut.seconds / made as f64;
    let whole = |queries: f64| queries.min(u64::MAX as f64) as u64;
    Cost {
        queries: whole(queries),
        seconds: each * queries,
        queries_range: [whole(least), whole(most)],
        seconds_range: [each * least, each * most],
        how: How::Extrapolated,
        ..cut
    }
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

    fn budget(queries: u64) -> Budget {
        let until = Instant::now() + Duration::from_secs(600);
        Budget { queries, until, threads: NonZeroUsize::MIN }
    }

    #[test]
    fn what_ends_is_measured_and_the_rest_is_in_its_range() {
        let known = costs(&MOUNTAIN_CAR, budget(4_000_000), pose, |_, _, _| {}).unwrap();
        let (mut extrapolated, mut right) = (0, 0);
        for queries in [6_000, 20_000, 60_000, 200_000] {
            let guessed = costs(&MOUNTAIN_CAR, budget(queries), pose, |_, _, _| {}).unwrap();
            assert_eq!(guessed.len(), DEPTHS.len() * COUNTS.len());
            for (known, guessed) in known.iter().zip(&guessed).filter(|(known, _)| known.how == How::Measured)
            {
                assert_eq!((known.thresholds, known.depth), (guessed.thresholds, guessed.depth));
                let [least, most] = guessed.queries_range;
                assert!((least..=most).contains(&guessed.queries), "{guessed:?}");
                if guessed.how == How::Measured {
                    assert_eq!(known.queries, guessed.queries);
                    continue;
                }
                extrapolated += 1;
                right += usize::from((least..=most).contains(&known.queries));
            }
        }
        assert!(extrapolated >= 8 && 10 * right >= 9 * extrapolated, "{right} of {extrapolated}");
    }

    /// A search on a clock ends in time, with a figure for every row.
    #[test]
    fn no_time_is_enough_for_a_range() {
        let until = Instant::now();
        let none = Budget { queries: u64::MAX, until, threads: NonZeroUsize::MIN };
        let costs = costs(&MOUNTAIN_CAR, none, pose, |_, _, _| {}).unwrap();
        assert_eq!(costs.len(), DEPTHS.len() * COUNTS.len());
        assert!(costs.iter().any(|cost| cost.how == How::Extrapolated));
    }

    #[test]
    fn extrapolation_follows_what_was_measured() {
        let cost = |thresholds, depth, queries| Cost {
            thresholds: Some(thresholds),
            depth,
            queries,
            seconds: 1.0,
            queries_range: [queries; 2],
            seconds_range: [1.0; 2],
            how: How::Measured,
        };
        let forecast = Some(Forecast { least: 41, most: 50_000 });
        let known = [cost(5, 1, 100), cost(10, 1, 200), cost(5, 2, 1_000), cost(10, 2, 4_000)];
        let guess = extrapolated(&known, cost(20, 2, 500), forecast);
        assert_eq!((guess.queries, guess.how), (16_000, How::Extrapolated));
        assert_eq!(guess.queries_range, [800, 320_000]);
        assert_eq!(guess.seconds, 32.0, "as long a query as in the search that was cut short");
        let guess = extrapolated(&known, cost(5, 3, 500), forecast).queries;
        assert!((25_000..26_000).contains(&guess), "{guess}: 10 times, to the power of 1.4");
        let unknown = extrapolated(&[], cost(5, 1, 500), forecast);
        assert_eq!(unknown.queries_range, [541, 50_500], "nothing to go by but its own forecast");
    }
}

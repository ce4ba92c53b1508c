//! What a search says of the queries still to come: over recorded searches of all environments, and counted in queries, so
//! that it comes out the same every time.

use broccoli_core::problem::{InitialState, Problem, Thresholds};
use broccoli_core::search::{Event, Forecast, Search, Status, Tuning};
use broccoli_environments::{ALL, Environment};

/// Of each search the forecasts that were made, after how many queries, and how many there were in the end.
fn recorded(
    environment: &Environment,
    problem: &Problem,
    tuning: Tuning,
) -> Option<(Vec<(u64, Forecast)>, u64)> {
    let (mut queries, mut seen) = (0, Vec::<(u64, Forecast)>::new());
    let mut observer = |event: Event<'_>| match event {
        Event::Considered(statistics) => queries = statistics.queries,
        Event::Forecast(forecast)
            if seen.last().is_none_or(|&(before, _)| queries > before + before / 20) =>
        {
            seen.push((queries, forecast));
        }
        _ => {}
    };
    let search = Search::new(problem, environment).tuning(tuning).query_limit(60_000);
    let outcome = search.observer(&mut observer).run().expect("it runs");
    let is_over = !matches!(outcome.status, Status::Stopped(_));
    (is_over && outcome.statistics.queries >= 300).then_some((seen, outcome.statistics.queries))
}

/// From a tenth of the queries on the truth lies in the stated range nine times of ten, for each environment, with the
/// constants for quick systems and for slow ones.
#[test]
fn the_truth_lies_in_the_range_nine_times_of_ten() {
    for environment in ALL {
        let (mut all, mut right, mut searches) = (0, 0, 0);
        for (depth, count, states) in [(1, 5, 1), (1, 9, 20), (2, 3, 1), (2, 5, 3), (2, 9, 1), (3, 3, 1)] {
            let grid = |(low, high)| Thresholds::count(low, high, count).expect("a grid");
            let grids = environment.dimensions.iter().map(|dimension| grid(dimension.range)).collect();
            let initial = match states {
                1 => vec![InitialState::new(environment.initial)],
                states => environment.sample(states, 0),
            };
            let problem = environment.problem_with(grids, initial).depth(depth).build().expect("a problem");
            for tuning in [Tuning::default(), Tuning::for_slow_systems()] {
                let Some((seen, total)) = recorded(environment, &problem, tuning) else { continue };
                searches += 1;
                for (queries, forecast) in
                    seen.into_iter().filter(|&(made, _)| 10 * made >= total && made < total)
                {
                    all += 1;
                    right += u64::from((forecast.least..=forecast.most).contains(&(total - queries)));
                }
            }
        }
        assert!(searches >= 2, "{}: {searches} searches", environment.name);
        assert!(10 * right >= 9 * all, "{}: {right} of {all}", environment.name);
    }
}

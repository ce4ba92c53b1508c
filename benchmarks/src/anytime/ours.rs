//! Broccoli's own search, stopped by queries or by the clock.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::Result;
use broccoli_core::search::{Event, HintTuning, Search, Status, StopReason, Tuning};

use super::methods::Task;
use super::run::{Point, Run};

/// The clock is looked at before every so many queries.
const LOOKS: u64 = 1 << 12;

/// Runs the search once.
pub(crate) fn run(task: &Task<'_>) -> Result<Run> {
    search(task, Tuning::of(task.factory))
}

/// The same without hints: only the walk that proves.
pub(crate) fn run_without_hints(task: &Task<'_>) -> Result<Run> {
    search(task, Tuning { hints: HintTuning::OFF, ..Tuning::of(task.factory) })
}

fn search(task: &Task<'_>, tuning: Tuning) -> Result<Run> {
    let objective = task.problem.objective();
    let until = Instant::now() + Duration::try_from_secs_f64(task.budget.seconds)?;
    let asked = AtomicU64::new(0);
    let stop = || {
        let is_look = asked.fetch_add(1, Relaxed).is_multiple_of(LOOKS);
        (is_look && Instant::now() >= until).then_some(StopReason::TimeLimit)
    };
    let mut run = Run::default();
    let mut observer = |event: Event<'_>| match event {
        Event::Considered(statistics) => run.queries = statistics.queries + statistics.replayed,
        // What was walked until now has been told just before.
        Event::Improved(found) => {
            let point = Point { queries: run.queries, value: found.value, size: found.size };
            run.offer(&objective, point);
        }
        _ => {}
    };
    let search = Search::new(task.problem, task.factory).query_limit(task.budget.queries).stop(&stop);
    let outcome = search.tuning(tuning).observer(&mut observer).run()?;
    run.queries = outcome.statistics.queries + outcome.statistics.replayed;
    run.is_late = outcome.status == Status::Stopped(StopReason::TimeLimit);
    if let Some(best) = outcome.best {
        // What was found in a chunk that was not finished is told only here.
        let point = Point { queries: run.queries, value: best.value, size: best.tree.size() };
        run.offer(&objective, point);
        run.best = Some(best.tree);
    }
    Ok(run)
}

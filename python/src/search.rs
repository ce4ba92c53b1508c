//! Runs a search without the interpreter's lock, and hands its outcome over.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use broccoli_certificate::CertificateError;
use broccoli_core::problem::{Problem, SystemFactory};
use broccoli_core::search::{
    Engine, Failure, FrontPart, Optima, Outcome, Search, Solution, Statistics, Status, explain as blame,
};
use broccoli_core::tree::Interval;
use broccoli_export::choices::More;
use broccoli_export::json::StatusJson;
use pyo3::prelude::*;

use crate::blackbox::{BlackBox, FailureData};
use crate::certificate::{Certificate, described};
use crate::checkpoint::File;
use crate::clock::{Clock, Stopper};
use crate::number::Number;
use crate::problem::{ProblemData, wrong};
use crate::tree::Tree;
use crate::watch::Watch;

/// How long the system of a search that is resumed is asked again for what it answered.
const PATIENCE: Duration = Duration::from_secs(1);

/// How to search, and when to stop.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Options {
    engine: String,
    time_limit: Option<f64>,
    query_limit: Option<u64>,
    gap: f64,
    first: bool,
    start: Option<Py<Tree>>,
    threads: NonZeroUsize,
    batch_size: NonZeroUsize,
    /// The file for checkpoints, and what it is about.
    checkpoint: Option<(PathBuf, String)>,
    /// Whether the best tree of every size is wanted; and how many optimal trees are.
    pareto: bool,
    all_optimal: Option<NonZeroUsize>,
    /// The most bytes that the search may keep.
    memory_limit: Option<usize>,
    /// The file for a certificate, its form, and what it is about.
    certificate: Option<(PathBuf, String, String)>,
}

impl Options {
    /// Runs the search, for what is wanted.
    fn run(&self, search: Search<'_>) -> Result<(Outcome, More), Box<Failure>> {
        match self.all_optimal {
            None if self.pareto => search.front().map(|front| (front.outcome, More::Front(front.parts))),
            None => search.run().map(|outcome| (outcome, More::Nothing)),
            Some(most) => search.all_optimal(most).map(|Optima { outcome, trees, is_complete }| {
                (outcome, More::AllOptimal { trees, is_complete })
            }),
        }
    }

    fn engine(&self) -> PyResult<Engine> {
        match self.engine.as_str() {
            "behaviour" => Ok(Engine::Behaviour),
            "backtracking" => Ok(Engine::Backtracking { pruning: true }),
            "exhaustive" => Ok(Engine::Exhaustive),
            other => Err(wrong(format_args!(
                "there is no engine {other:?}; there are: behaviour, backtracking, exhaustive"
            ))),
        }
    }

    fn time_limit(&self) -> PyResult<Option<Duration>> {
        let seconds = self.time_limit.map(Duration::try_from_secs_f64).transpose();
        seconds.map_err(|error| wrong(format_args!("time_limit: {error}")))
    }
}

/// What a search has to say at its end.
#[derive(IntoPyObject)]
pub struct Found {
    status: &'static str,
    value: Option<Number>,
    bound: Option<Number>,
    tree: Option<Tree>,
    /// Per predicate, the thresholds that would do the same.
    intervals: Vec<Option<(f64, f64)>>,
    stopped_by: Option<&'static str>,
    /// What the command line would print.
    text: String,
    seconds: f64,
    statistics: StatisticsData,
    history: Vec<(u64, f64, Option<Number>, Option<Number>)>,
    checkpoint_error: Option<String>,
    certificate_error: Option<String>,
    failure: Option<FailureData>,
    price: Option<f64>,
    front: Vec<PartData>,
    optimal_trees: Vec<Tree>,
    is_complete: Option<bool>,
    estimate: Option<Number>,
}

/// A part of a front.
#[derive(IntoPyObject)]
struct PartData {
    sizes: (u64, u64),
    status: &'static str,
    value: Option<Number>,
    bound: Option<Number>,
    tree: Option<Tree>,
}

#[derive(IntoPyObject)]
struct StatisticsData {
    queries: u64,
    queries_replayed: u64,
    queries_confirming: u64,
    necessary_queries: Option<u64>,
    traces: u64,
    trees: u64,
}

impl From<Statistics> for StatisticsData {
    fn from(statistics: Statistics) -> Self {
        StatisticsData {
            queries: statistics.queries,
            queries_replayed: statistics.replayed,
            queries_confirming: statistics.queries_confirming,
            necessary_queries: statistics.necessary_queries,
            traces: statistics.traces,
            trees: statistics.trees,
        }
    }
}

/// Searches. `on_event(queries, value, size, bound, tree, queries_to_come)` is called now and then, the tree being
/// `None` unless it is new.
#[pyfunction]
pub fn search(
    py: Python<'_>,
    problem: &ProblemData,
    system: &Bound<'_, PyAny>,
    options: Options,
    stopper: &Stopper,
    on_event: Option<Py<PyAny>>,
) -> PyResult<Found> {
    let black_box = BlackBox::of(system, problem.core())?;
    let batched = black_box.batched(options.batch_size);
    let factory = batched.as_ref().map_or(black_box.factory(), |batched| batched as &dyn SystemFactory);
    let core = problem.core();
    let clock = Clock::new(stopper, options.time_limit()?, black_box.is_slow());
    let mut watch = Watch::new(problem, &clock, on_event);
    let engine = options.engine()?;
    engine.check(core).map_err(wrong)?;
    if options.certificate.is_some() && !core.objective().is_plain() {
        // Before anything is written.
        return Err(wrong(CertificateError::Objective));
    }
    let mut file = options.checkpoint.clone().map(|(path, system)| {
        let problem = described(core, &black_box, &system);
        File::new(path, system, problem)
    });
    let saved = file.as_ref().map(File::read).transpose()?.flatten();
    let certificate = options
        .certificate
        .clone()
        .map(|(path, form, about)| {
            Certificate::begin(path, &form, &described(core, &black_box, &about), &about)
        })
        .transpose()?;
    let started = Instant::now();
    let asked_since = OnceLock::new();
    let has_time = || asked_since.get_or_init(Instant::now).elapsed() < PATIENCE;
    let chosen = py.detach(|| {
        let mut search =
            Search::new(core, factory).engine(engine).gap(options.gap).threads(options.threads).stop(&clock);
        search = search.ask_again_while(&has_time);
        if options.first {
            search = search.first();
        }
        if let Some(queries) = options.query_limit {
            search = search.query_limit(queries);
        }
        if let Some(bytes) = options.memory_limit {
            search = search.memory_limit(bytes);
        }
        if let Some(certificate) = &certificate {
            search = search.witness(certificate.witness());
        }
        if let Some(start) = &options.start {
            search = search.start(start.get().core().clone()).map_err(wrong)?;
        }
        if let Some(checkpoint) = saved {
            let named = |error| file.as_ref().map_or_else(|| wrong(error), |file| file.wrong(&error));
            search = search.resume(checkpoint).map_err(named)?;
        }
        if let Some(file) = &mut file {
            search = search.keeper(file);
        }
        Ok::<_, PyErr>(options.run(search.observer(&mut watch)))
    })?;
    let seconds = started.elapsed().as_secs_f64();
    let history = watch.history;
    if let Some(error) = clock.take_raised() {
        return Err(error);
    }
    if let (Some(file), Ok((outcome, _))) = (&mut file, &chosen)
        && !matches!(outcome.status, Status::Stopped(_))
    {
        file.remove();
    }
    let (chosen, more) = match chosen {
        Ok((outcome, more)) => (Ok(outcome), more),
        Err(failure) => (Err(failure), More::Nothing),
    };
    let certificate_error = match (&certificate, &chosen) {
        (Some(certificate), Ok(outcome)) => py.detach(|| certificate.end(core, factory, outcome)),
        _ => None,
    };
    let (best, statistics, failure) = match &chosen {
        Ok(outcome) => (&outcome.best, outcome.statistics, None),
        Err(failure) => (&failure.best, failure.statistics, Some(black_box.failure(py, &failure.error))),
    };
    let text = match &chosen {
        Ok(outcome) => broccoli_export::text::outcome(core, outcome, seconds) + &more.text(core),
        Err(failure) => failure.to_string(),
    };
    let (status, bound, stopped_by) = match &chosen {
        Err(_) => ("error", None, None),
        Ok(outcome) => match outcome.status {
            Status::Optimal => ("optimal", outcome.bound, None),
            Status::Infeasible => ("infeasible", outcome.bound, None),
            Status::Stopped(reason) => ("stopped", outcome.bound, Some(reason.name())),
            _ => ("stopped", outcome.bound, None),
        },
    };
    let estimate = chosen.as_ref().ok().and_then(|outcome| outcome.estimate);
    Ok(Found {
        estimate: estimate.and_then(|estimate| Number::of(core.objective(), estimate)),
        status,
        value: best.as_ref().and_then(|best| Number::of(core.objective(), best.value)),
        bound: bound.and_then(|bound| Number::of(core.objective(), bound)),
        tree: best.as_ref().map(|Solution { tree, .. }| Tree::of(tree.clone(), core)),
        intervals: chosen.as_ref().map_or_else(|_| Vec::new(), |outcome| intervals(core, outcome)),
        stopped_by,
        text,
        seconds,
        statistics: statistics.into(),
        history,
        checkpoint_error: file.and_then(|file| file.error),
        certificate_error,
        failure,
        price: best.as_ref().filter(|_| core.has_prices()).map(|best| core.price(&best.tree)),
        front: match &more {
            More::Front(parts) => parts.iter().map(|part| part_data(part, core)).collect(),
            _ => Vec::new(),
        },
        is_complete: match &more {
            More::AllOptimal { is_complete, .. } => Some(*is_complete),
            _ => None,
        },
        optimal_trees: match more {
            More::AllOptimal { trees, .. } => trees.into_iter().map(|tree| Tree::of(tree, core)).collect(),
            _ => Vec::new(),
        },
    })
}

/// The ends of the intervals of the best tree's predicates; none for each if thresholds are listed.
fn intervals(problem: &Problem, outcome: &Outcome) -> Vec<Option<(f64, f64)>> {
    if let (None, Some(best)) = (problem.without_grid(), &outcome.best) {
        return vec![None; best.tree.size() as usize];
    }
    let ends = |interval: &Option<Interval>| interval.map(|Interval { low, high }| (low, high));
    outcome.intervals.iter().map(ends).collect()
}

fn part_data(part: &FrontPart, problem: &Arc<Problem>) -> PartData {
    PartData {
        sizes: (*part.sizes.start(), *part.sizes.end()),
        status: StatusJson::from(part.status).name(),
        value: part.best.as_ref().and_then(|best| Number::of(problem.objective(), best.value)),
        bound: part.bound.and_then(|bound| Number::of(problem.objective(), bound)),
        tree: part.best.as_ref().map(|best| Tree::of(best.tree.clone(), problem)),
    }
}

/// Which initial states are to blame if no tree exists: alone, together, and whether that was cut short.
#[pyfunction]
pub fn explain(
    py: Python<'_>,
    problem: &ProblemData,
    system: &Bound<'_, PyAny>,
    queries: u64,
    stopper: &Stopper,
) -> PyResult<(Vec<usize>, Vec<usize>, bool)> {
    let black_box = BlackBox::of(system, problem.core())?;
    let factory = black_box.factory();
    let clock = Clock::new(stopper, None, black_box.is_slow());
    let core = problem.core();
    let chosen = py.detach(|| blame(core, factory, queries, Some(&clock)));
    match clock.take_raised() {
        Some(error) => Err(error),
        None => Ok((chosen.alone, chosen.together, chosen.is_cut_short)),
    }
}

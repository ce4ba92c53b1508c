//! Runs a search without the interpreter's lock, and hands its outcome over.

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use broccoli_core::problem::{Problem, RunError, SystemFactory};
use broccoli_core::search::{
    Engine, Event, Failure, FrontPart, Observer, Optima, Outcome, Search, Solution, Statistics, Status, Stop,
    StopReason, explain as blame,
};
use broccoli_core::tree::{End, Trace};
use broccoli_environments::Variant;
use broccoli_export::choices::More;
use broccoli_export::json::StatusJson;
use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::batch::Batched;
use crate::certificate::{Certificate, described};
use crate::checkpoint::File;
use crate::number::Number;
use crate::problem::{ProblemData, chosen, wrong};
use crate::system::PythonSystem;
use crate::tree::Tree;

/// How often signals are looked for, and progress is told.
const OFTEN: Duration = Duration::from_millis(50);

/// Ends a search from outside.
#[pyclass(frozen, module = "broccoli._broccoli")]
#[derive(Default)]
pub struct Stopper {
    interrupted: AtomicBool,
}

#[pymethods]
impl Stopper {
    #[new]
    fn new() -> Self {
        Stopper::default()
    }

    fn stop(&self) {
        self.interrupted.store(true, Relaxed);
    }
}

/// A black box: a built-in environment, or one in Python.
pub enum BlackBox<'a> {
    Environment(Variant),
    Python(&'a PythonSystem),
}

impl<'a> BlackBox<'a> {
    /// The system of a problem; the problem names the actions that a built-in environment is to have.
    pub fn of(system: &'a Bound<'_, PyAny>, problem: &Problem) -> PyResult<Self> {
        if let Ok(name) = system.cast::<PyString>() {
            let actions: Vec<&str> = problem.actions().iter().map(|a| a.name.as_str()).collect();
            let variant = chosen(&name.to_string_lossy(), &actions)?;
            let variant = variant.with_rewards(problem.objective().wants_rewards()).map_err(wrong)?;
            return Ok(BlackBox::Environment(variant));
        }
        match system.cast::<PythonSystem>() {
            Ok(system) => Ok(BlackBox::Python(system.get())),
            Err(_) => Err(PyTypeError::new_err("a system is the name of an environment or a PythonSystem")),
        }
    }

    pub fn factory(&self) -> &dyn SystemFactory {
        match self {
            BlackBox::Environment(environment) => environment,
            BlackBox::Python(system) => *system,
        }
    }

    /// The same in batches of up to so many steps, if it makes many steps at a time.
    fn batched(&self, rows: NonZeroUsize) -> Option<Batched<'a>> {
        match *self {
            BlackBox::Python(system) if system.is_batch() => Some(Batched { system, rows }),
            _ => None,
        }
    }

    /// Whether a query takes so long that there is time to look at the clock.
    fn is_slow(&self) -> bool {
        matches!(self, BlackBox::Python(system) if !system.is_batch())
    }

    /// The exception that the user's system has raised, if any.
    pub fn take_raised(&self) -> Option<PyErr> {
        match self {
            BlackBox::Python(system) => system.take_raised().map(|raised| raised.error),
            BlackBox::Environment(_) => None,
        }
    }

    /// The failure, with the user's exception if there was one.
    pub fn failure(&self, py: Python<'_>, error: &RunError) -> FailureData {
        let raised = match self {
            BlackBox::Python(system) => system.take_raised(),
            BlackBox::Environment(_) => None,
        };
        let (initial, step) = match *error {
            RunError::Reset { initial, .. } => (Some(initial), Some(0)),
            RunError::Step { initial, step, .. }
            | RunError::ComeBack { initial, step, .. }
            | RunError::NaN { initial, step, .. }
            | RunError::Reward { initial, step, .. } => (Some(initial), Some(step)),
            RunError::NotDeterministic { initial, .. } => (Some(initial), None),
            _ => (None, None),
        };
        let message = error.to_string();
        match raised {
            Some(raised) => FailureData {
                exception: Some(raised.error.into_value(py).into_any()),
                message,
                initial,
                step,
                state: raised.state,
                actions: raised.actions,
            },
            None => FailureData { exception: None, message, initial, step, state: None, actions: Vec::new() },
        }
    }
}

/// Why a system failed, and where.
#[derive(IntoPyObject)]
pub struct FailureData {
    exception: Option<Py<PyAny>>,
    message: String,
    initial: Option<usize>,
    step: Option<u64>,
    state: Option<Py<PyAny>>,
    actions: Vec<Py<PyAny>>,
}

/// How to search, and when to stop.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Options {
    engine: String,
    any_optimal: bool,
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
    queries_canonical: u64,
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
            queries_canonical: statistics.queries_canonical,
            queries_replayed: statistics.replayed,
            queries_confirming: statistics.queries_confirming,
            necessary_queries: statistics.necessary_queries,
            traces: statistics.traces,
            trees: statistics.trees,
        }
    }
}

/// Searches. `on_event(queries, value, size, bound, tree)` is called now and then, the tree being `None`
/// unless it is new.
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
    let mut file = options.checkpoint.clone().map(|(path, system)| File::new(path, system));
    let saved = file.as_ref().map(File::read).transpose()?.flatten();
    let certificate = options
        .certificate
        .clone()
        .map(|(path, form, about)| Certificate::begin(path, &form, &described(core, &black_box, &about)))
        .transpose()?;
    let started = Instant::now();
    let chosen = py.detach(|| {
        let mut search =
            Search::new(core, factory).engine(engine).gap(options.gap).threads(options.threads).stop(&clock);
        if options.any_optimal {
            search = search.any_optimal();
        }
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
            search = search.resume(checkpoint).map_err(wrong)?;
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
    Ok(Found {
        status,
        value: best.as_ref().and_then(|best| Number::of(core.objective(), best.value)),
        bound: bound.and_then(|bound| Number::of(core.objective(), bound)),
        tree: best.as_ref().map(|Solution { tree, .. }| Tree::of(tree.clone(), core)),
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

fn part_data(part: &FrontPart, problem: &Arc<Problem>) -> PartData {
    PartData {
        sizes: (*part.sizes.start(), *part.sizes.end()),
        status: StatusJson::from(part.status).name(),
        value: part.best.as_ref().and_then(|best| Number::of(problem.objective(), best.value)),
        bound: part.bound.and_then(|bound| Number::of(problem.objective(), bound)),
        tree: part.best.as_ref().map(|best| Tree::of(best.tree.clone(), problem)),
    }
}

/// The trace of a tree from one initial state: observations, actions, and what ended it.
#[derive(IntoPyObject)]
pub struct TraceData {
    observations: Vec<Vec<f64>>,
    actions: Vec<usize>,
    end: &'static str,
    value: Option<Number>,
    failure: Option<FailureData>,
}

/// Runs a tree from the initial state with this index.
#[pyfunction]
pub fn trace(
    py: Python<'_>,
    problem: &ProblemData,
    system: &Bound<'_, PyAny>,
    tree: &Tree,
    initial: usize,
) -> PyResult<TraceData> {
    let core = problem.core();
    if initial >= core.initial_states().len() {
        let count = core.initial_states().len();
        return Err(wrong(format_args!(
            "there is no initial state {initial}: there are {count}, counted from 0"
        )));
    }
    tree.check_for(core)?;
    let black_box = BlackBox::of(system, core)?;
    let factory = black_box.factory();
    match py.detach(|| Trace::run(core, factory, tree.core(), initial)) {
        Err(error) => Ok(TraceData {
            observations: Vec::new(),
            actions: Vec::new(),
            end: "error",
            value: None,
            failure: Some(black_box.failure(py, &error)),
        }),
        Ok(trace) => Ok(TraceData {
            value: trace
                .value(core.objective())
                .map(|value| Number::of_trace(core.objective(), value, trace.total)),
            actions: trace.states.iter().filter_map(|step| step.action).collect(),
            end: match trace.end {
                End::Satisfied => "satisfied",
                End::Violated => "violated",
                End::Horizon => "horizon",
            },
            observations: trace.states.into_iter().map(|step| step.observation).collect(),
            failure: None,
        }),
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

/// Says when to stop: the time is up, somebody asked for it, or Python has a signal for us.
struct Clock<'a> {
    stopper: &'a Stopper,
    started: Instant,
    limit: Option<Duration>,
    /// Only every so many queries is there time to look at the clock.
    every: u32,
    /// The thread that waits for the search, the only one that Python gives signals to.
    caller: ThreadId,
    /// When signals are looked for next, in milliseconds from the start.
    next: AtomicU64,
    /// What a signal handler or a callback raised.
    raised: Mutex<Option<PyErr>>,
}

impl<'a> Clock<'a> {
    fn new(stopper: &'a Stopper, limit: Option<Duration>, is_python: bool) -> Self {
        Clock {
            stopper,
            started: Instant::now(),
            limit,
            every: if is_python { 1 } else { 1024 },
            caller: std::thread::current().id(),
            next: AtomicU64::new(0),
            raised: Mutex::default(),
        }
    }

    /// Stops, and keeps an exception to be raised at the end. Ctrl-C is a reason to stop and no more.
    fn stop_with(&self, py: Python<'_>, error: PyErr) {
        self.stopper.stop();
        if !error.is_instance_of::<PyKeyboardInterrupt>(py) {
            self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    }

    /// Lets Python handle signals, if it is time again.
    fn look_for_signals(&self) {
        let now = self.started.elapsed().as_millis() as u64;
        if now < self.next.load(Relaxed) || std::thread::current().id() != self.caller {
            return;
        }
        self.next.store(now + OFTEN.as_millis() as u64, Relaxed);
        Python::attach(|py| {
            if let Err(error) = py.check_signals() {
                self.stop_with(py, error);
            }
        });
    }

    fn take_raised(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

thread_local! {
    /// Counts the queries of this thread.
    static QUERIES: Cell<u32> = const { Cell::new(0) };
}

impl Stop for Clock<'_> {
    #[inline]
    fn reason(&self) -> Option<StopReason> {
        if self.stopper.interrupted.load(Relaxed) {
            return Some(StopReason::Interrupted);
        }
        if !QUERIES.replace(QUERIES.get().wrapping_add(1)).is_multiple_of(self.every) {
            return None;
        }
        self.look_for_signals();
        self.limit.filter(|&limit| self.started.elapsed() >= limit).map(|_| StopReason::TimeLimit)
    }
}

/// Tells Python what happens, and keeps the history.
struct Watch<'a> {
    problem: &'a ProblemData,
    clock: &'a Clock<'a>,
    on_event: Option<Py<PyAny>>,
    told: Instant,
    queries: u64,
    value: Option<u64>,
    size: Option<u64>,
    bound: Option<u64>,
    /// Queries, seconds, value and bound whenever one of the latter changed.
    history: Vec<(u64, f64, Option<Number>, Option<Number>)>,
}

impl<'a> Watch<'a> {
    fn new(problem: &'a ProblemData, clock: &'a Clock<'a>, on_event: Option<Py<PyAny>>) -> Self {
        let told = Instant::now();
        let bound = Some(problem.core().perfect());
        Watch {
            problem,
            clock,
            on_event,
            told,
            queries: 0,
            value: None,
            size: None,
            bound,
            history: Vec::new(),
        }
    }

    fn number(&self, value: Option<u64>) -> Option<Number> {
        value.and_then(|value| Number::of(self.problem.core().objective(), value))
    }

    fn remember(&mut self) {
        let seconds = self.clock.started.elapsed().as_secs_f64();
        self.history.push((self.queries, seconds, self.number(self.value), self.number(self.bound)));
    }

    fn tell(&mut self, tree: Option<Tree>) {
        let Some(on_event) = &self.on_event else { return };
        self.told = Instant::now();
        Python::attach(|py| {
            let event = (self.queries, self.number(self.value), self.size, self.number(self.bound), tree);
            if let Err(error) = on_event.bind(py).call1(event) {
                self.clock.stop_with(py, error);
            }
        });
    }
}

impl Observer for Watch<'_> {
    fn notify(&mut self, event: Event<'_>) {
        match event {
            Event::Improved(improvement) => {
                (self.value, self.size) = (Some(improvement.value), Some(improvement.size));
                self.remember();
                if self.on_event.is_some() {
                    let tree = Tree::of(improvement.tree(), self.problem.core());
                    self.tell(Some(tree));
                }
            }
            Event::Bound(bound) => {
                self.bound = Some(bound);
                self.remember();
            }
            Event::Considered(statistics) => {
                self.queries = statistics.queries;
                self.clock.look_for_signals();
                if self.on_event.is_some() && self.told.elapsed() >= OFTEN {
                    self.tell(None);
                }
            }
            _ => {}
        }
    }
}

//! `broccoli simulate`: runs a saved tree and tells what it does.

mod runs;
mod task;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use broccoli_core::problem::{Over, Problem, RunError};
use broccoli_core::search::Engine;
use broccoli_core::shown::shown_lines;
use broccoli_export::csv::TraceWriter;
use broccoli_export::estimate::Estimate;
use broccoli_export::json::ProblemJson;
use broccoli_export::simulation::Simulation;
use broccoli_export::whole::Replacement;
use broccoli_problem::Target;
use clap::Args;

use self::runs::Interrupted;
pub use self::runs::run_quietly;
use self::task::Task;

use crate::Done;
use crate::complaint::Complaint;
use crate::numbers::whole;
use crate::output;
use crate::remember::RememberOptions;
use crate::report::FRESH_SEED;
use crate::screen::{note, write_above};
use crate::starts::Starts;
use crate::target::{described, resolve};

/// Run a saved tree and tell what it does from each initial state
///
/// The tree comes from `broccoli solve --json`: the whole result, whose initial states and horizon are
/// then the defaults, or its tree alone, which is run with the target's defaults.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Simulate {
    /// The environment to run it in (`broccoli environments` lists them), or a problem file
    target: String,

    /// The file with the tree; - reads standard input
    #[arg(value_name = "TREE.json")]
    tree: PathBuf,

    /// The actions of a built-in environment, by names or values [default: the file's, or the target's]
    #[arg(long, value_name = "A,B,…", allow_hyphen_values = true, value_delimiter = ',')]
    actions: Option<Vec<String>>,

    /// The most by which a force of a built-in environment is off [default: the file's, or the target's]
    #[arg(long, value_name = "F", allow_hyphen_values = true)]
    noise: Option<f64>,

    #[command(flatten)]
    starts: Starts,

    /// Also run it from M fresh initial states, with fresh seeds, and estimate how it does
    #[arg(long, value_name = "M", allow_hyphen_values = true, value_parser = whole::<usize>(1..=1_000_000))]
    fresh: Option<usize>,

    /// The seed that fresh initial states are sampled with
    #[arg(long, value_name = "S", requires = "fresh", default_value_t = FRESH_SEED, allow_hyphen_values = true,
          value_parser = whole::<u64>(0..=u64::MAX))]
    fresh_seed: u64,

    /// The most steps of a run, at least 1 [default: the file's, or the target's]
    #[arg(long, value_name = "K", allow_hyphen_values = true, value_parser = whole::<u64>(1..=u64::MAX))]
    horizon: Option<u64>,

    /// Write every observation and action as CSV; - writes to standard output, and the summary then
    /// goes to standard error
    #[arg(long, value_name = "FILE.csv")]
    trace: Option<PathBuf>,

    #[command(flatten)]
    remember: RememberOptions,

    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  broccoli solve pendulum --json > best.json
  broccoli simulate pendulum best.json --trace trace.csv
  broccoli simulate pendulum best.json --fresh 1000
  broccoli simulate pendulum best.json --samples 1000 --seed 7
  broccoli solve pendulum --json | broccoli simulate pendulum - --horizon 20000";

impl Simulate {
    /// Runs the command.
    pub fn run(&self) -> Done {
        let on_stdout = self.trace.as_deref() == Some(Path::new("-"));
        if on_stdout && self.json {
            return Err(Complaint::input("--json and --trace - both want standard output")
                .help("give --trace the name of a file"));
        }
        let (mut target, system) = resolve(&self.target)?;
        let task = self.task(&mut target, &system)?;
        let _remembered = self.remember.in_file(&mut target, None)?;
        let mut trace = self.open_trace(&task.problem)?;
        let mut runs = Vec::new();
        let ran = runs::run_all(&task.problem, &*target.factory, &task.tree, trace.as_mut(), &mut runs)
            .and_then(|()| trace.map_or(Ok(()), finish).map_err(Interrupted::Trace));
        let mut failure = match ran {
            Ok(()) => None,
            Err(Interrupted::System(error)) => Some(error),
            Err(Interrupted::Trace(error)) => return output::check("--trace", Err(error)).map(|()| 0),
        };

        let system = described(system, &target);
        let mut simulation = Simulation::new(system, &task.problem, &task.tree, runs);
        if let (Some(count), None) = (self.fresh, &failure) {
            match self.estimate(&simulation, &task, &target, count)? {
                Ok(estimate) => simulation.fresh = estimate,
                Err(error) => failure = Some(error),
            }
        }
        if let Some(error) = &failure {
            simulation = simulation.failed(error);
        }
        if self.json {
            output::print_json(&simulation)?;
        } else if on_stdout {
            write_above(shown_lines(&simulation.text()).trim_end());
        } else {
            output::print(&simulation.text())?;
        }
        if let Some(error) = failure {
            return Err(Complaint::other(error.to_string()));
        }
        if let Some(claim) = task.claim.filter(|claim| simulation.value != Some(*claim)) {
            let found = simulation.value.map_or("none".to_owned(), |value| value.to_string());
            note(format_args!("warning: the file claims the value {claim}; its tree has {found}"));
        }
        Ok(0)
    }

    /// Figures over runs from fresh initial states, or how the system failed.
    fn estimate(
        &self,
        simulation: &Simulation,
        task: &Task,
        target: &Target,
        count: usize,
    ) -> Result<Result<Option<Estimate>, RunError>, Complaint> {
        let known = task.problem.initial_states();
        let Some(states) = target.fresh(known, count, self.fresh_seed) else {
            return Err(Complaint::input("--fresh: the problem file gives no ranges to sample from")
                .help("add ranges = [[low, high], …] to its section [initial]"));
        };
        if states.len() < count {
            return Err(Complaint::input("--fresh: all that is sampled is among the initial states"));
        }
        let problem = ProblemJson {
            initial_states: states,
            over: Over::Worst,
            weights: Vec::new(),
            ..ProblemJson::new(simulation.system.clone(), &task.problem, Engine::Behaviour)
        };
        let problem = problem.to_problem().map_err(|error| Complaint::other(error.to_string()))?;
        let runs = run_quietly(&problem, &*target.factory, &task.tree);
        Ok(runs.map(|runs| Estimate::new(problem.objective(), &runs, self.fresh_seed)))
    }

    /// Opens the file for the traces, unless it is the one with the tree.
    fn open_trace<'p>(&self, problem: &'p Problem) -> Result<Option<Trace<'p>>, Complaint> {
        let Some(path) = &self.trace else { return Ok(None) };
        let out = if path == Path::new("-") {
            TraceOut::Stdout
        } else {
            let same =
                |a: &Path, b: &Path| a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b));
            if same(path, &self.tree) {
                return Err(Complaint::input(format!("--trace {path:?} would overwrite the tree")));
            }
            let cannot = |error| Complaint::input(format!("--trace {path:?} cannot be written: {error}"));
            TraceOut::File(Replacement::begin(path).map_err(cannot)?)
        };
        match TraceWriter::new(problem, problem.initial_states().len() > 1, out) {
            Ok(writer) => Ok(Some(writer)),
            Err(error) => output::check("--trace", Err(error)).map(|()| None),
        }
    }
}

type Trace<'p> = TraceWriter<'p, TraceOut>;

/// Where traces go.
enum TraceOut {
    Stdout,
    /// A file that is replaced when all is written.
    File(Replacement),
}

impl Write for TraceOut {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            TraceOut::Stdout => io::stdout().write(bytes),
            TraceOut::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            TraceOut::Stdout => io::stdout().flush(),
            TraceOut::File(file) => file.flush(),
        }
    }
}

/// All is written.
fn finish(trace: Trace<'_>) -> io::Result<()> {
    let mut out = trace.finish()?;
    out.flush()?;
    match out {
        TraceOut::Stdout => Ok(()),
        TraceOut::File(file) => file.finish(),
    }
}

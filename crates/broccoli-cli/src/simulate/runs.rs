//! Runs a tree from every initial state, keeping nothing but the ends: a run may be longer than
//! memory.

use std::io::{self, Write};

use broccoli_core::problem::{Instance, Problem, RunError, SystemFactory, Verdict};
use broccoli_core::search::Rewards;
use broccoli_core::tree::{End, Tree};
use broccoli_export::csv::TraceWriter;
use broccoli_export::simulation::Run;

/// Why the runs ended before the last one.
pub enum Interrupted {
    /// The system failed.
    System(RunError),
    /// The trace could not be written.
    Trace(io::Error),
}

impl From<RunError> for Interrupted {
    fn from(error: RunError) -> Self {
        Interrupted::System(error)
    }
}

/// Runs `tree` from every initial state of `problem` and appends to `runs` what came of it.
pub fn run_all<W: Write>(
    problem: &Problem,
    factory: &dyn SystemFactory,
    tree: &Tree,
    mut trace: Option<&mut TraceWriter<'_, W>>,
    runs: &mut Vec<Run>,
) -> Result<(), Interrupted> {
    let mut instance = Instance::new(problem, factory)?;
    let horizon = problem.objective().horizon();
    for (initial, state) in problem.initial_states().iter().enumerate() {
        let mut verdict = instance.reset(initial)?;
        let mut rewards = Rewards::new(problem.objective());
        let end = loop {
            let end = match verdict {
                Verdict::Satisfied => Some(End::Satisfied),
                Verdict::Violated => Some(End::Violated),
                Verdict::Running if instance.steps() == horizon => Some(End::Horizon),
                Verdict::Running => None,
            };
            let action = tree.action(instance.observation());
            if let Some(trace) = &mut trace {
                let action = end.is_none().then_some(action);
                let row = trace.row(initial, instance.steps(), instance.observation(), action);
                row.map_err(Interrupted::Trace)?;
            }
            if let Some(end) = end {
                break end;
            }
            verdict = instance.step(action)?;
            rewards.add(instance.reward());
        };
        runs.push(Run::new(problem.objective(), state.clone(), instance.steps(), end, rewards.total()));
    }
    Ok(())
}

/// The same without a trace, for runs that are only counted.
pub fn run_quietly(
    problem: &Problem,
    factory: &dyn SystemFactory,
    tree: &Tree,
) -> Result<Vec<Run>, RunError> {
    let mut runs = Vec::new();
    match run_all::<io::Sink>(problem, factory, tree, None, &mut runs) {
        Err(Interrupted::System(error)) => Err(error),
        // Nothing is written, so nothing else can go wrong.
        Ok(()) | Err(Interrupted::Trace(_)) => Ok(runs),
    }
}

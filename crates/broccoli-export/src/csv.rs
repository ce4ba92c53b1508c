//! Traces as CSV: a row per observation, with the action that it led to.
//!
//! The columns are `step`, one per dimension, and `action`; the last row of a trace has an empty
//! action. Where several traces share a file, a first column `initial` counts them from 0. Numbers
//! are written so that they come back bit for bit. Control characters in names are written as their codes: the
//! rows may go to a terminal.

use std::io::{self, Write};

use broccoli_core::problem::Problem;
use broccoli_core::shown::shown;
use broccoli_core::tree::Trace;

/// Writes traces row by row, so that a trace never has to fit in memory.
pub struct TraceWriter<'p, W: Write> {
    writer: ::csv::Writer<W>,
    problem: &'p Problem,
    several: bool,
}

impl<'p, W: Write> TraceWriter<'p, W> {
    /// Writes the header. `several` asks for the column `initial`.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn new(problem: &'p Problem, several: bool, out: W) -> io::Result<Self> {
        let mut writer = TraceWriter { writer: ::csv::Writer::from_writer(out), problem, several };
        let names: Vec<_> = problem.dimensions().iter().map(|d| shown(&d.name)).collect();
        let names = names.iter().map(|name| name.as_ref());
        let header = several.then_some("initial").into_iter().chain(["step"]).chain(names).chain(["action"]);
        writer.writer.write_record(header).map_err(plain)?;
        Ok(writer)
    }

    /// Writes one row: the observation after `step` actions, and the action that it leads to.
    ///
    /// # Errors
    /// When the row cannot be written.
    pub fn row(
        &mut self,
        initial: usize,
        step: u64,
        observation: &[f64],
        action: Option<usize>,
    ) -> io::Result<()> {
        let csv = &mut self.writer;
        if self.several {
            csv.write_field(initial.to_string()).map_err(plain)?;
        }
        csv.write_field(step.to_string()).map_err(plain)?;
        for value in observation {
            // The debug form is as exact as the plain one, but 1e300 does not become 301 digits.
            csv.write_field(format!("{value:?}")).map_err(plain)?;
        }
        let action = action.and_then(|action| self.problem.actions().get(action));
        csv.write_field(action.map_or("".into(), |action| shown(&action.name)).as_ref()).map_err(plain)?;
        csv.write_record(None::<&[u8]>).map_err(plain)
    }

    /// Writes a whole trace.
    ///
    /// # Errors
    /// When a row cannot be written.
    pub fn trace(&mut self, initial: usize, trace: &Trace) -> io::Result<()> {
        for (step, state) in (0..).zip(&trace.states) {
            self.row(initial, step, &state.observation, state.action)?;
        }
        Ok(())
    }

    /// Makes sure that everything is written, and gives back where to.
    ///
    /// # Errors
    /// When it cannot be.
    pub fn finish(self) -> io::Result<W> {
        self.writer.into_inner().map_err(::csv::IntoInnerError::into_error)
    }
}

/// One trace as CSV text.
///
/// ```
/// use broccoli_core::tree::{Trace, Tree};
/// use broccoli_environments::MOUNTAIN_CAR as car;
/// use broccoli_core::problem::Objective;
///
/// let problem = car.problem().objective(Objective::reach(1)).build()?;
/// let trace = Trace::run(&problem, &car, &Tree::Leaf(1), 0)?;
/// assert!(broccoli_export::csv::trace(&problem, &trace).starts_with("\
/// step,position,velocity,action
/// 0,-0.51,0.0,right
/// 1,-0.50"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn trace(problem: &Problem, trace: &Trace) -> String {
    let mut bytes = Vec::new();
    let written = TraceWriter::new(problem, false, &mut bytes).and_then(|mut writer| {
        writer.trace(0, trace)?;
        writer.finish().map(drop)
    });
    // A vector takes everything, and names are text.
    debug_assert!(written.is_ok());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The error of the writer below, so that a caller can tell a closed pipe from a full disk.
fn plain(error: ::csv::Error) -> io::Error {
    match error.into_kind() {
        ::csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use broccoli_core::problem::{Objective, Thresholds};
    use broccoli_core::tree::{End, TraceStep};

    #[test]
    fn names_are_quoted_and_numbers_exact() {
        let problem = Problem::builder()
            .dimension("speed, m/s", Thresholds::none())
            .action("\"go\"", 0.0)
            .action("stop", 1.0)
            .initial([0.0])
            .objective(Objective::reach(1))
            .build()
            .unwrap();
        let state = |value, action| TraceStep { observation: vec![value], action };
        let states = vec![state(0.1 + 0.2, Some(0)), state(1e300, Some(1)), state(f64::NEG_INFINITY, None)];
        let run = Trace { states, end: End::Horizon, total: 0.0 };
        insta::assert_snapshot!(trace(&problem, &run));
        let mut bytes = Vec::new();
        let mut writer = TraceWriter::new(&problem, true, &mut bytes).unwrap();
        writer.trace(3, &run).unwrap();
        writer.finish().unwrap();
        insta::assert_snapshot!(String::from_utf8(bytes).unwrap());
    }
}

//! What became of every step, and the table at the end.

use std::fmt::{self, Display, Formatter};
use std::time::{Duration, Instant};

use anyhow::Result;

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All is well.
    Passed,
    /// It could not be run here, and why.
    Skipped(String),
    /// Something is wrong, and what.
    Failed(String),
}

/// The steps run so far.
#[derive(Default)]
pub(crate) struct Summary {
    steps: Vec<(&'static str, Outcome, Duration)>,
}

impl Summary {
    /// Runs a step and notes how it ended; an error is a failure.
    pub(crate) fn step(&mut self, name: &'static str, action: impl FnOnce() -> Result<Outcome>) {
        println!("\n=== {name}");
        let start = Instant::now();
        let outcome = action().unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")));
        match &outcome {
            Outcome::Passed => {}
            Outcome::Skipped(why) => println!("SKIPPED: {why}"),
            Outcome::Failed(why) => println!("FAILED: {why}"),
        }
        self.steps.push((name, outcome, start.elapsed()));
    }

    /// Whether no step failed.
    pub(crate) fn is_good(&self) -> bool {
        self.count(|outcome| matches!(outcome, Outcome::Failed(_))) == 0
    }

    fn count(&self, kind: impl Fn(&Outcome) -> bool) -> usize {
        self.steps.iter().filter(|(_, outcome, _)| kind(outcome)).count()
    }
}

impl Display for Summary {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let width = self.steps.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0).max(4);
        writeln!(f, "{:width$}  result   seconds", "step")?;
        for (name, outcome, time) in &self.steps {
            let (result, why) = match outcome {
                Outcome::Passed => ("passed", ""),
                Outcome::Skipped(why) => ("SKIPPED", why.as_str()),
                Outcome::Failed(why) => ("FAILED", why.as_str()),
            };
            let line = format!("{name:width$}  {result:7}  {:7.1}  {}", time.as_secs_f64(), first_line(why));
            writeln!(f, "{}", line.trim_end())?;
        }
        let passed = self.count(|outcome| *outcome == Outcome::Passed);
        let failed = self.count(|outcome| matches!(outcome, Outcome::Failed(_)));
        write!(f, "\n{passed} passed, {failed} failed, {} skipped", self.steps.len() - passed - failed)
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_counts_every_step_and_an_error_is_a_failure() {
        let mut summary = Summary::default();
        summary.step("format", || Ok(Outcome::Passed));
        assert!(summary.is_good());
        summary.step("gymnasium", || Ok(Outcome::Skipped("python3 is missing".to_owned())));
        assert!(summary.is_good());
        summary.step("test", || anyhow::bail!("exit 101\nmore"));
        assert!(!summary.is_good());
        let text = summary.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "step       result   seconds");
        assert_eq!(lines[1], "format     passed       0.0");
        assert_eq!(lines[2], "gymnasium  SKIPPED      0.0  python3 is missing");
        assert_eq!(lines[3], "test       FAILED       0.0  exit 101");
        assert_eq!(lines.last(), Some(&"1 passed, 1 failed, 1 skipped"));
    }
}

//! What became of every step, and the tables at the end.

use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use anyhow::Result;
use serde::{Deserialize, Serialize};

/// How many of the slowest tests are named.
const SLOWEST: usize = 10;

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Outcome {
    /// All is well.
    Passed,
    /// It could not be run here, and why.
    Skipped(String),
    /// Something is wrong, and what.
    Failed(String),
}

impl Outcome {
    /// What a step returned; an error is a failure.
    pub(crate) fn of(result: Result<Outcome>) -> Self {
        result.unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")))
    }
}

/// What a step says besides its outcome.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Notes {
    /// Tests, and the seconds that each took.
    pub(crate) tests: Vec<(String, f64)>,
    /// What was left to `--long`.
    pub(crate) left: Vec<String>,
}

/// What there is to say about a step that has ended.
#[derive(Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) outcome: Outcome,
    pub(crate) notes: Notes,
    /// Seconds of processors, with those of all programs that the step ran; unknown on some systems.
    pub(crate) processor: Option<f64>,
}

/// The steps that have ended.
#[derive(Default)]
pub(crate) struct Summary {
    steps: Vec<(&'static str, Duration, Report)>,
}

impl Summary {
    /// Notes how a step ended.
    pub(crate) fn add(&mut self, name: &'static str, time: Duration, report: Report) {
        match &report.outcome {
            Outcome::Passed => {}
            Outcome::Skipped(why) => println!("SKIPPED: {why}"),
            Outcome::Failed(why) => println!("FAILED: {why}"),
        }
        self.steps.push((name, time, report));
    }

    /// Puts the steps into the order of these names.
    pub(crate) fn sort(&mut self, names: &[&str]) {
        self.steps.sort_by_key(|(name, ..)| names.iter().position(|other| other == name));
    }

    /// Whether no step failed.
    pub(crate) fn is_good(&self) -> bool {
        self.count(|outcome| matches!(outcome, Outcome::Failed(_))) == 0
    }

    fn count(&self, kind: impl Fn(&Outcome) -> bool) -> usize {
        self.steps.iter().filter(|(_, _, report)| kind(&report.outcome)).count()
    }

    fn notes(&self) -> impl Iterator<Item = &Notes> {
        self.steps.iter().map(|(_, _, report)| &report.notes)
    }
}

impl Display for Summary {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut slowest: Vec<&(String, f64)> = self.notes().flat_map(|notes| &notes.tests).collect();
        slowest.sort_by(|a, b| b.1.total_cmp(&a.1));
        slowest.truncate(SLOWEST);
        if !slowest.is_empty() {
            writeln!(f, "the slowest tests        seconds")?;
            for (name, seconds) in slowest {
                writeln!(f, "{seconds:7.1}  {name}")?;
            }
            writeln!(f)?;
        }
        let left: Vec<&String> = self.notes().flat_map(|notes| &notes.left).collect();
        if !left.is_empty() {
            writeln!(f, "left to --long")?;
            for what in left {
                writeln!(f, "  {what}")?;
            }
            writeln!(f)?;
        }
        let width = self.steps.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0).max(4);
        writeln!(f, "{:width$}  result   seconds  processor", "step")?;
        for (name, time, report) in &self.steps {
            let (result, why) = match &report.outcome {
                Outcome::Passed => ("passed", ""),
                Outcome::Skipped(why) => ("SKIPPED", why.as_str()),
                Outcome::Failed(why) => ("FAILED", why.as_str()),
            };
            let processor = report.processor.map_or_else(String::new, |seconds| format!("{seconds:.1}"));
            let seconds = time.as_secs_f64();
            let line =
                format!("{name:width$}  {result:7}  {seconds:7.1}  {processor:>9}  {}", first_line(why));
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

/// Seconds that processors have spent on programs which this one has run and which have ended.
pub(crate) fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in brackets, may have blanks in it; user and system time of the children are the
    // 16th and 17th field, in hundredths of a second.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(13);
    let ticks: u64 = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    Some(ticks as f64 / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(outcome: Outcome, notes: Notes) -> Report {
        Report { outcome, notes, processor: Some(1.25) }
    }

    #[test]
    fn the_table_counts_every_step_and_an_error_is_a_failure() {
        let mut summary = Summary::default();
        let failed = Outcome::of(Err(anyhow::anyhow!("exit 101\nmore")));
        summary.add("test", Duration::ZERO, report(failed, Notes::default()));
        assert!(!summary.is_good());
        let mut summary = Summary { steps: summary.steps };
        let skipped = Outcome::Skipped("python3 is missing".to_owned());
        let tests = (0..12).map(|i| (format!("t{i:02}"), f64::from(i))).collect();
        let notes = Notes { tests, left: vec!["all the rest".to_owned()] };
        summary.add("format", Duration::ZERO, report(Outcome::Passed, notes));
        summary.add("gymnasium", Duration::ZERO, report(skipped, Notes::default()));
        summary.sort(&["format", "gymnasium", "test"]);
        let text = summary.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "   11.0  t11");
        assert_eq!(lines[10], "    2.0  t02");
        assert_eq!(lines[12..15], ["left to --long", "  all the rest", ""]);
        assert_eq!(lines[15], "step       result   seconds  processor");
        assert_eq!(lines[16], "format     passed       0.0        1.2");
        assert_eq!(lines[17], "gymnasium  SKIPPED      0.0        1.2  python3 is missing");
        assert_eq!(lines[18], "test       FAILED       0.0        1.2  exit 101");
        assert_eq!(lines.last(), Some(&"1 passed, 1 failed, 1 skipped"));
    }

    #[test]
    fn skipped_steps_are_no_failures() {
        let mut summary = Summary::default();
        summary.add("a", Duration::ZERO, report(Outcome::Skipped("why".to_owned()), Notes::default()));
        assert!(summary.is_good());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn processor_time_of_children_is_counted() {
        let before = processor_seconds().unwrap();
        let loops = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
        assert!(std::process::Command::new("sh").args(["-c", loops]).status().unwrap().success());
        assert!(processor_seconds().unwrap() > before);
    }
}

//! The report: a Markdown table for people, a CSV of the same rows, and a CSV of every single run.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use broccoli_core::search::Engine;

use crate::instances::{Row, Table};
use crate::measure::{Run, Summary, outcome};
use crate::output::{self, grouped};

/// A row with its runs.
pub(crate) struct Measured<'a> {
    pub(crate) table: &'a Table,
    pub(crate) row: &'a Row,
    pub(crate) engine: Engine,
    pub(crate) runs: Vec<Run>,
}

/// The rows measured so far, and where they are written.
pub(crate) struct Report<'a> {
    directory: PathBuf,
    header: String,
    rows: Vec<Measured<'a>>,
}

impl<'a> Report<'a> {
    /// A report without rows, to be written to `directory`.
    pub(crate) fn new(directory: PathBuf) -> Self {
        Report { directory, header: output::header("The paper's tables"), rows: Vec::new() }
    }

    /// Adds a row and writes everything.
    pub(crate) fn add(&mut self, row: Measured<'a>) -> Result<()> {
        self.rows.push(row);
        fs::create_dir_all(&self.directory)
            .with_context(|| format!("creating {}", self.directory.display()))?;
        let markdown = self.directory.join("paper.md");
        fs::write(&markdown, self.markdown()).with_context(|| format!("writing {}", markdown.display()))?;
        self.write_rows(&self.directory.join("paper.csv"))?;
        self.write_runs(&self.directory.join("paper-runs.csv"))
    }

    /// Prints the Markdown, and where the files are.
    pub(crate) fn print(&self) {
        println!("{}", self.markdown());
        let directory = self.directory.canonicalize().unwrap_or_else(|_| self.directory.clone());
        eprintln!("written: paper.md, paper.csv and paper-runs.csv in {}", directory.display());
    }

    fn markdown(&self) -> String {
        let mut text = format!("{}\n{NOTES}", self.header);
        let mut number = 0;
        for measured in &self.rows {
            if measured.table.number != number {
                number = measured.table.number;
                let _ = write!(text, "\n## Table {number}: {}\n\n{COLUMNS}", measured.table.title);
            }
            let _ = writeln!(text, "{}", line(measured));
        }
        text
    }

    fn write_rows(&self, path: &Path) -> Result<()> {
        let mut writer =
            csv::Writer::from_path(path).with_context(|| format!("writing {}", path.display()))?;
        writer.write_record(SETTINGS.iter().chain(&[
            "seeds",
            "optimal",
            "infeasible",
            "value_mean",
            "value_min",
            "value_max",
            "size_mean",
            "size_min",
            "size_max",
            "trees_mean",
            "queries_mean",
            "seconds_mean",
            "seconds_deviation",
            "paper_seconds",
            "paper_seconds_spread",
            "paper_trees",
        ]))?;
        for measured in &self.rows {
            let runs = &measured.runs;
            let mut record = settings(measured);
            let solved = runs.iter().filter(|run| run.best.is_some()).count();
            record.extend([runs.len(), solved, runs.len() - solved].map(|count| count.to_string()));
            for summary in [value(runs), size(runs)] {
                let fields = summary.map(|s| [s.mean, s.least, s.most].map(|number| number.to_string()));
                record.extend(fields.unwrap_or_default());
            }
            let means = [trees(measured.engine, runs), queries(runs), seconds(runs)]
                .map(|s| s.map(|s| s.mean.to_string()));
            record.extend(means.map(Option::unwrap_or_default));
            record.push(seconds(runs).map(|s| s.deviation.to_string()).unwrap_or_default());
            record.extend(match &measured.row.paper {
                Some(paper) => [paper.seconds, paper.spread, number(&paper.trees)?].map(|n| n.to_string()),
                None => <[String; 3]>::default(),
            });
            writer.write_record(&record)?;
        }
        Ok(writer.flush()?)
    }

    fn write_runs(&self, path: &Path) -> Result<()> {
        let mut writer =
            csv::Writer::from_path(path).with_context(|| format!("writing {}", path.display()))?;
        let results = ["seed", "status", "value", "size", "trees", "traces", "queries", "seconds"];
        writer.write_record(SETTINGS.iter().chain(&results))?;
        for measured in &self.rows {
            for run in &measured.runs {
                let mut record = settings(measured);
                record.push(run.seed.to_string());
                record.push(outcome(std::slice::from_ref(run)));
                record.extend(
                    run.best.map(|(value, size)| [value, size].map(|n| n.to_string())).unwrap_or_default(),
                );
                let counts = [run.statistics.trees, run.statistics.traces, run.statistics.queries];
                record.extend(counts.map(|count| count.to_string()));
                record.push(run.seconds.to_string());
                writer.write_record(&record)?;
            }
        }
        Ok(writer.flush()?)
    }
}

const COLUMNS: &str = "\
| environment | thresholds | nodes | states | pruning | seeds | outcome | value | size | trees | queries \
| seconds | paper: trees | paper: seconds |
|---|---|--:|--:|---|--:|---|--:|--:|--:|--:|--:|--:|--:|
";

const SETTINGS: [&str; 9] =
    ["table", "environment", "x", "step", "depth", "nodes", "states", "engine", "pruning"];

const NOTES: &str = "\
Seed s samples the initial states; 0 is the first. Values are steps. Trees, queries and seconds are means over \
the seeds; ± is the sample's standard deviation; a range is shown where seeds differ. Values and sizes are means \
over the seeds that have a tree. A perfect tree ends a search early. `behaviour` considers no trees. The paper's \
figures are means of ten seeds of its own, on its own machine, with pruning rules that are not sound.
";

fn settings(Measured { table, row, engine, .. }: &Measured<'_>) -> Vec<String> {
    vec![
        table.number.to_string(),
        row.environment.clone(),
        row.x.map(|x| x.to_string()).unwrap_or_default(),
        row.steps(),
        table.depth.to_string(),
        row.nodes.to_string(),
        row.states.to_string(),
        engine.name().to_owned(),
        pruning(*engine).to_owned(),
    ]
}

fn pruning(engine: Engine) -> &'static str {
    match engine {
        Engine::Backtracking { pruning: true } => "yes",
        Engine::Behaviour => "–",
        _ => "no",
    }
}

fn line(Measured { row, engine, runs, .. }: &Measured<'_>) -> String {
    let mean = |summary: Option<Summary>| summary.map(|s| grouped(s.mean)).unwrap_or_default();
    let cells = [
        row.environment.clone(),
        row.grid(),
        row.nodes.to_string(),
        row.states.to_string(),
        pruning(*engine).to_owned(),
        runs.len().to_string(),
        outcome(runs),
        spread(value(runs)),
        spread(size(runs)),
        mean(trees(*engine, runs)),
        mean(queries(runs)),
        seconds(runs).map(|s| timing(s, runs.len())).unwrap_or_default(),
        row.paper.as_ref().map_or("–".to_owned(), |paper| paper.trees.clone()),
        row.paper.as_ref().map_or("–".to_owned(), |paper| format!("{} ± {}", paper.seconds, paper.spread)),
    ];
    format!("| {} |", cells.join(" | "))
}

fn value(runs: &[Run]) -> Option<Summary> {
    Summary::of(runs.iter().filter_map(|run| run.best).map(|(value, _)| value as f64))
}

fn size(runs: &[Run]) -> Option<Summary> {
    Summary::of(runs.iter().filter_map(|run| run.best).map(|(_, size)| size as f64))
}

/// None for `behaviour`, which considers no trees.
fn trees(engine: Engine, runs: &[Run]) -> Option<Summary> {
    let runs = if engine == Engine::Behaviour { &[] } else { runs };
    Summary::of(runs.iter().map(|run| run.statistics.trees as f64))
}

fn queries(runs: &[Run]) -> Option<Summary> {
    Summary::of(runs.iter().map(|run| run.statistics.queries as f64))
}

fn seconds(runs: &[Run]) -> Option<Summary> {
    Summary::of(runs.iter().map(|run| run.seconds))
}

/// `104`, or `108.2 (104 to 112)` where seeds differ, or a dash.
fn spread(summary: Option<Summary>) -> String {
    match summary {
        None => "–".to_owned(),
        Some(s) if s.least == s.most => s.mean.to_string(),
        Some(s) => format!("{:.1} ({} to {})", s.mean, s.least, s.most),
    }
}

/// The mean and, of several runs, the standard deviation.
fn timing(Summary { mean, deviation, .. }: Summary, runs: usize) -> String {
    let digits = if mean < 1.0 { 3 } else { 2 };
    if runs == 1 { format!("{mean:.digits$}") } else { format!("{mean:.digits$} ± {deviation:.digits$}") }
}

/// A count as the paper prints it: `2,199,228`, `30k`, `1.3m`.
fn number(text: &str) -> Result<f64> {
    let text = text.replace(',', "");
    let (digits, factor) = match text.strip_suffix(['k', 'm']) {
        Some(digits) if text.ends_with('k') => (digits, 1e3),
        Some(digits) => (digits, 1e6),
        None => (text.as_str(), 1.0),
    };
    let number: f64 = digits.parse().with_context(|| format!("{text:?} is not a count"))?;
    Ok((number * factor).round())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        let seconds = Summary { mean: 0.0123, deviation: 0.001, least: 0.0, most: 0.1 };
        assert_eq!(timing(seconds, 3), "0.012 ± 0.001");
        assert_eq!(timing(seconds, 1), "0.012");
        assert_eq!(spread(Summary::of([104.0, 106.0].into_iter())), "105.0 (104 to 106)");
        assert_eq!(spread(Summary::of([104.0].into_iter())), "104");
        assert_eq!(spread(None), "–");
    }

    #[test]
    fn the_papers_counts_are_read() {
        assert_eq!(["2,199,228", "30k", "1.3m"].map(|t| number(t).unwrap()), [2_199_228.0, 30e3, 1.3e6]);
        assert!(number("many").is_err());
    }
}

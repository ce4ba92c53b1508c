//! A search in stages, each on a finer grid: what is known of each of them.

use broccoli_core::problem::{ALL, Problem, Thresholds, Value};
use broccoli_core::search::Outcome;
use broccoli_core::tree::TreeJson;
use serde::{Deserialize, Serialize};

use crate::json::StatusJson;
use crate::number::grouped;
use crate::text::wrapped;
use crate::worth;

/// One stage. What it proves is about its own thresholds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageJson {
    /// The thresholds of every dimension, in the order of the problem's dimensions.
    pub thresholds: Vec<Thresholds>,
    /// What is known.
    pub status: StatusJson,
    /// The value of the tree.
    pub value: Option<Value>,
    /// No tree on these thresholds has a better value than this.
    pub bound: Option<Value>,
    /// The number of predicate nodes of the tree.
    pub size: Option<u64>,
    /// The best tree.
    pub tree: Option<TreeJson>,
    /// Queries.
    pub queries: u64,
}

fn count(thresholds: &Thresholds) -> String {
    if thresholds.is_all() { ALL.to_owned() } else { thresholds.len().to_string() }
}

impl StageJson {
    /// The stage that `outcome` is the end of.
    pub fn new(problem: &Problem, outcome: &Outcome) -> Self {
        let (best, objective) = (outcome.best.as_ref(), problem.objective());
        StageJson {
            thresholds: problem.dimensions().iter().map(|d| d.thresholds.clone()).collect(),
            status: outcome.status.into(),
            value: best.and_then(|best| objective.shown(best.value)),
            bound: outcome.bound.and_then(|bound| objective.shown(bound)),
            size: best.map(|best| best.tree.size()),
            tree: best.map(|best| best.tree.to_json(problem)),
            queries: outcome.statistics.queries,
        }
    }

    /// What is known, as the cells of a row.
    fn cells(&self, number: usize) -> [String; 7] {
        let counts: Vec<String> = self.thresholds.iter().map(count).collect();
        let worth = |value: Option<Value>| value.map_or("-".to_owned(), worth::bare);
        [
            number.to_string(),
            counts.join(" + "),
            self.status.name().to_owned(),
            worth(self.value),
            worth(self.bound),
            self.size.map_or("-".to_owned(), grouped),
            grouped(self.queries),
        ]
    }
}

/// The stages as a table, to follow the summary of the last one; nothing if there are none.
pub fn text(stages: &[StageJson]) -> String {
    if stages.is_empty() {
        return String::new();
    }
    let heads = ["grid", "thresholds", "status", "value", "bound", "size", "queries"].map(str::to_owned);
    let rows = stages.iter().enumerate().map(|(i, stage)| stage.cells(i + 1));
    let rows: Vec<[String; 7]> = std::iter::once(heads).chain(rows).collect();
    let widths: Vec<usize> =
        (0..7).map(|column| rows.iter().map(|row| row[column].len()).max().unwrap_or(0)).collect();
    let mut text = "\n".to_owned();
    for row in &rows {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
            // Words to the left, numbers to the right.
            0..=2 => format!("{cell:width$}"),
            _ => format!("{cell:>width$}"),
        });
        text += &format!("{}\n", cells.collect::<Vec<_>>().join("  "));
    }
    let note = "Each grid holds the one before, and what is proved is about the thresholds of that grid alone: a \
                tree on others can be better.";
    text + &format!("\n{}\n", wrapped(note))
}

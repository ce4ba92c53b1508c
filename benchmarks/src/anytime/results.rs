//! What all methods had after so many queries: read, kept, written, and the medians over seeds.

use std::cmp::Ordering;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use broccoli_core::problem::{Objective, Value};

use super::problems::Named;
use super::run::Run;
use crate::output;

/// The fewest queries that are looked at.
const FIRST: u64 = 10_000;

/// What one run had after so many queries.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) problem: String,
    pub(crate) method: String,
    pub(crate) seed: u64,
    pub(crate) budget: u64,
    /// The value and the size of the best tree.
    pub(crate) found: Option<(u64, u64)>,
    /// Whether the clock ended the run before it had made so many queries.
    pub(crate) is_cut: bool,
}

/// The middle one of several runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Median {
    pub(crate) value: Option<u64>,
    /// Whether the clock ended one of the runs before.
    pub(crate) is_cut: bool,
}

/// What all runs had.
pub(crate) struct Results {
    /// Powers of ten, and three times these for the chart.
    pub(crate) budgets: Vec<u64>,
    pub(crate) entries: Vec<Entry>,
    /// What the last tree of each run came to from fresh seeds: problem, method, value.
    pub(crate) fresh: Vec<(String, String, Option<u64>)>,
}

const HEADER: [&str; 7] = ["problem", "method", "seed", "budget", "value", "size", "ended_by_time"];

impl Results {
    pub(crate) fn new(most: u64) -> Self {
        let powers = std::iter::successors(Some(FIRST), |power| power.checked_mul(10));
        let all = powers.flat_map(|power| [power, power.saturating_mul(3)]);
        let mut budgets: Vec<u64> = all.take_while(|&budget| budget <= most).collect();
        if budgets.last() != Some(&most) {
            budgets.push(most);
        }
        Results { budgets, entries: Vec::new(), fresh: Vec::new() }
    }

    /// The budgets that tables show.
    pub(crate) fn powers(&self) -> impl Iterator<Item = u64> {
        let most = self.budgets.last().copied();
        let is_shown = move |budget: &u64| budget.ilog10() != (budget - 1).ilog10() || Some(*budget) == most;
        self.budgets.iter().copied().filter(is_shown)
    }

    /// What a run had after each budget.
    pub(crate) fn add(&mut self, named: &Named, method: &str, seed: u64, run: &Run) {
        for &budget in &self.budgets {
            self.entries.push(Entry {
                problem: named.name.clone(),
                method: method.to_owned(),
                seed,
                budget,
                found: run.after(budget).map(|point| (point.value, point.size)),
                is_cut: run.is_cut(budget),
            });
        }
    }

    /// The middle one of what the last trees of a method's runs came to from fresh seeds.
    pub(crate) fn fresh(&self, named: &Named, method: &str) -> Option<u64> {
        let is_meant = |(problem, by, _): &&(String, String, _)| *problem == named.name && by == method;
        let mut all: Vec<Option<u64>> = self.fresh.iter().filter(is_meant).map(|fresh| fresh.2).collect();
        all.sort_by(|&a, &b| compare(named.problem.objective(), a, b));
        *all.get(all.len().checked_sub(1)? / 2)?
    }

    /// Takes the results of a file, but those of methods that run now.
    pub(crate) fn read(&mut self, path: &Path, problems: &[Named], but: &[&str]) -> Result<()> {
        let mut reader = csv::Reader::from_path(path)?;
        for record in reader.records() {
            let record = record?;
            ensure!(record.len() == HEADER.len(), "there are not {} fields", HEADER.len());
            let Some(named) = problems.iter().find(|named| named.name == record[0]) else { continue };
            let budget = record[3].parse()?;
            if but.contains(&&record[1]) || !self.budgets.contains(&budget) {
                continue;
            }
            let found = match (&record[4], &record[5]) {
                ("", _) => None,
                (value, size) => Some((read_value(named.problem.objective(), value)?, size.parse()?)),
            };
            self.entries.push(Entry {
                problem: named.name.clone(),
                method: record[1].to_owned(),
                seed: record[2].parse()?,
                budget,
                found,
                is_cut: record[6] == *"yes",
            });
        }
        Ok(())
    }

    /// What the middle one of a method's runs had: nothing if the method did not run, or there is no tree.
    pub(crate) fn median(&self, named: &Named, method: &str, budget: u64) -> Option<Median> {
        let objective = named.problem.objective();
        let is_meant =
            |entry: &&Entry| entry.problem == named.name && entry.method == method && entry.budget == budget;
        let mut all: Vec<&Entry> = self.entries.iter().filter(is_meant).collect();
        let value = |entry: &Entry| entry.found.map(|(value, _)| value);
        all.sort_by(|a, b| compare(objective, value(a), value(b)));
        // Of an even number, the better of the two in the middle.
        let middle = all.get(all.len().checked_sub(1)? / 2)?;
        Some(Median { value: value(middle), is_cut: all.iter().any(|entry| entry.is_cut) })
    }

    /// All as the text of a file.
    pub(crate) fn csv(&self, problems: &[Named]) -> Result<String> {
        let mut records = vec![HEADER.map(str::to_owned).to_vec()];
        for named in problems {
            let objective = named.problem.objective();
            for entry in self.entries.iter().filter(|entry| entry.problem == named.name) {
                records.push(vec![
                    entry.problem.clone(),
                    entry.method.clone(),
                    entry.seed.to_string(),
                    entry.budget.to_string(),
                    entry.found.map_or_else(String::new, |(value, _)| objective.number(value).to_string()),
                    entry.found.map_or_else(String::new, |(_, size)| size.to_string()),
                    if entry.is_cut { "yes".to_owned() } else { String::new() },
                ]);
            }
        }
        output::csv(records)
    }
}

fn read_value(objective: Objective, text: &str) -> Result<u64> {
    let number: f64 = text.parse().with_context(|| format!("{text:?} is no number"))?;
    Ok(objective.read(Value::Number(number)))
}

/// The better first; no tree is worse than any.
pub(crate) fn compare(objective: Objective, a: Option<u64>, b: Option<u64>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) if objective.is_better(a, b) => Ordering::Less,
        (Some(a), Some(b)) if a == b => Ordering::Equal,
        (Some(_), Some(_)) => Ordering::Greater,
        (a, b) => a.is_none().cmp(&b.is_none()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::problems::problems;
    use super::super::run::Point;
    use super::*;

    #[test]
    fn medians_survive_a_file_and_no_tree_is_worst() {
        let all = problems(&["mountain-car-d2".to_owned(), "pendulum-return-d3".to_owned()], false).unwrap();
        let mut results = Results::new(100_000);
        assert_eq!(results.budgets, [10_000, 30_000, 100_000]);
        assert_eq!(results.powers().collect::<Vec<_>>(), [10_000, 100_000]);
        for named in &all {
            let objective = named.problem.objective();
            for (seed, number) in [104.0, 125.0, 110.0].into_iter().enumerate() {
                let value = objective.read(Value::Number(number));
                let points = vec![Point { queries: 20_000, value, size: 3 }];
                let run = Run { points, queries: 50_000, is_late: seed == 2, ..Run::default() };
                results.add(named, "climbing", seed as u64, &run);
            }
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("anytime.csv");
        std::fs::write(&path, results.csv(&all).unwrap()).unwrap();
        let mut again = Results::new(100_000);
        again.read(&path, &all, &["ours"]).unwrap();
        assert_eq!(again.entries, results.entries);
        for named in &all {
            let median = |budget| again.median(named, "climbing", budget).unwrap();
            let value = named.problem.objective().read(Value::Number(110.0));
            assert_eq!(median(10_000), Median { value: None, is_cut: false });
            assert_eq!(median(30_000), Median { value: Some(value), is_cut: false });
            assert_eq!(median(100_000), Median { value: Some(value), is_cut: true });
            assert_eq!(again.median(named, "random", 10_000), None);
        }
    }
}

//! The report: a table of medians for every number of queries, and how often ours is at least as good.

use std::cmp::Ordering;
use std::fmt::Write;

use broccoli_core::problem::Objective;

use super::methods::{ALL, CACHED, CLIMBING};
use super::problems::{FRESH, Named};
use super::results::{Median, Results, compare};
use crate::output::{grouped, header, line};

/// So much worse than hill climbing is worth a line.
const MUCH: f64 = 0.05;

/// The report in Markdown.
pub(crate) fn report(results: &Results, problems: &[Named], seeds: &str) -> String {
    let mut text = header("Anytime");
    let _ = writeln!(
        text,
        "\nThe best tree after so many queries: the value, for methods with seeds the median of {seeds} runs. – is no \
         tree, and worse than any. \\* is a method of which a run was ended by time before. Less is better for `reach`, \
         more for the others. `{CACHED}` counts only transitions that it has not asked for before, so it is not \
         among the heuristics."
    );
    let summary = summary(results, problems);
    if !summary.is_empty() {
        text += "\n## Summary\n\n";
        text += &summary;
    }
    for budget in results.powers() {
        let _ = writeln!(text, "\n## {} queries\n", grouped(budget as f64));
        text += &table(results, problems, budget);
    }
    text += &fresh(results, problems);
    text
}

/// The methods there are results of.
pub(crate) fn present(results: &Results) -> Vec<&'static str> {
    let is_there = |name: &&str| results.entries.iter().any(|entry| entry.method == **name);
    ALL.iter().map(|method| method.name).filter(is_there).collect()
}

fn table(results: &Results, problems: &[Named], budget: u64) -> String {
    let methods = present(results);
    let mut head = vec!["problem".to_owned(), "objective".to_owned()];
    head.extend(methods.iter().map(|&name| name.to_owned()));
    head.push("best of the heuristics".to_owned());
    let mut text = line(&head);
    let _ = writeln!(text, "|---|---|{}", "--:|".repeat(methods.len() + 1));
    for named in problems {
        let objective = named.problem.objective();
        let mut cells = vec![named.name.clone(), objective.name().to_owned()];
        let medians = methods.iter().map(|name| results.median(named, name, budget));
        cells.extend(medians.map(|median| shown(objective, median)));
        cells.push(match best(results, named, budget) {
            Some((name, Median { value: Some(value), .. })) => {
                format!("{} ({name})", figure(objective.number(value)))
            }
            Some(_) => "–".to_owned(),
            None => String::new(),
        });
        text += &line(&cells);
    }
    text
}

/// What the last trees come to from fresh seeds.
fn fresh(results: &Results, problems: &[Named]) -> String {
    let mut text = String::new();
    for named in problems {
        let objective = named.problem.objective();
        let known = |name| Some((name, results.fresh(named, name)?));
        for (name, value) in present(results).into_iter().filter_map(known) {
            text += &line(&[named.name.clone(), name.to_owned(), figure(objective.number(value))]);
        }
    }
    match text.is_empty() {
        true => text,
        false => format!(
            "\n## Fresh seeds\n\nThe median of what the last trees come to from {} seeds that they were not \
             searched for.\n\n| problem | method | value |\n|---|---|--:|\n{text}",
            FRESH.end - FRESH.start
        ),
    }
}

/// The best median of a heuristic, and whose it is.
pub(crate) fn best(results: &Results, named: &Named, budget: u64) -> Option<(&'static str, Median)> {
    let objective = named.problem.objective();
    let heuristics = ALL.iter().filter(|method| method.is_heuristic() && method.name != CACHED);
    let medians = heuristics.filter_map(|m| Some((m.name, results.median(named, m.name, budget)?)));
    medians.min_by(|(_, a), (_, b)| compare(objective, a.value, b.value))
}

/// How ours compares, for each of its variants.
fn summary(results: &Results, problems: &[Named]) -> String {
    let mut text = String::new();
    for name in ALL.iter().filter(|method| !method.is_heuristic()).map(|method| method.name) {
        let (mut all, mut good, mut empty) = (0, 0, 0);
        let (mut counts, mut worse) = (Vec::new(), Vec::new());
        for budget in results.powers() {
            let (mut here, mut good_here) = (0, 0);
            for named in problems {
                let objective = named.problem.objective();
                let Some(ours) = results.median(named, name, budget) else { continue };
                let Some((_, best)) = best(results, named, budget) else { continue };
                here += 1;
                empty += usize::from(ours.value.is_none() && best.value.is_none());
                good_here += usize::from(compare(objective, ours.value, best.value) != Ordering::Greater);
                let climbing = results.median(named, CLIMBING, budget).and_then(|median| median.value);
                if let Some(climbing) = climbing.filter(|&c| is_much_worse(objective, ours.value, c)) {
                    worse.push(format!(
                        "{} after {}: {} against {}",
                        named.name,
                        grouped(budget as f64),
                        shown(objective, Some(ours)),
                        figure(objective.number(climbing))
                    ));
                }
            }
            counts.push(format!("{good_here} of {here} after {}", grouped(budget as f64)));
            (all, good) = (all + here, good + good_here);
        }
        if all > 0 {
            let _ = writeln!(
                text,
                "`{name}` is at least as good as the best median of the heuristics on {good} of {all} pairs of a \
                 problem and a number of queries ({}); on {empty} of them neither has a tree. It is worse than the median of `{CLIMBING}` by more than \
                 {:.0} % on {} of them{}\n",
                counts.join(", "),
                100.0 * MUCH,
                worse.len(),
                if worse.is_empty() { "." } else { ":" }
            );
            for pair in worse {
                let _ = writeln!(text, "- {pair}");
            }
        }
    }
    text
}

fn is_much_worse(objective: Objective, ours: Option<u64>, other: u64) -> bool {
    let Some(ours) = ours else { return true };
    let (a, b) = (objective.number(ours), objective.number(other));
    objective.is_better(other, ours) && (a - b).abs() > MUCH * b.abs()
}

fn shown(objective: Objective, median: Option<Median>) -> String {
    let Some(median) = median else { return String::new() };
    let value = median.value.map_or("–".to_owned(), |value| figure(objective.number(value)));
    if median.is_cut { value + "\\*" } else { value }
}

/// Five digits that matter, and all of a whole number.
fn figure(number: f64) -> String {
    match number.abs() {
        _ if number.fract() == 0.0 => format!("{number}"),
        n if n >= 1_000.0 => format!("{number:.1}"),
        n if n >= 10.0 => format!("{number:.2}"),
        _ => format!("{number:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use broccoli_core::problem::Value;

    use super::super::problems::problems;
    use super::super::run::{Point, Run};
    use super::*;

    #[test]
    fn ours_is_held_against_the_best_and_against_climbing() {
        let all = problems(&["mountain-car-d3-x10".to_owned()], false).unwrap();
        let mut results = Results::new(10_000);
        for (method, steps) in
            [("ours", Some(115)), ("random", Some(110)), ("climbing", Some(104)), (CACHED, None)]
        {
            let read = |steps| all[0].problem.objective().read(Value::Steps(steps));
            let points = steps.map(|steps| Point { queries: 1, value: read(steps), size: 3 });
            let run = Run { points: points.into_iter().collect(), queries: 10_000, ..Run::default() };
            results.add(&all[0], method, 0, &run);
        }
        let text = report(&results, &all[..1], "5");
        assert!(
            text.contains("| mountain-car-d3-x10 | reach | 115 | 110 | 104 | – | 104 (climbing) |"),
            "{text}"
        );
        assert!(text.contains("on 0 of 1 pairs"), "{text}");
        assert!(text.contains("- mountain-car-d3-x10 after 10,000: 115 against 104"), "{text}");
    }

    #[test]
    fn trees_are_told_from_fresh_seeds_where_they_were_run() {
        let all = problems(&["mountain-car-d3-x10".to_owned()], false).unwrap();
        let mut results = Results::new(10_000);
        results.add(&all[0], "ours", 0, &Run::default());
        assert!(!report(&results, &all, "5").contains("Fresh"));
        for steps in [Some(120), None, Some(118)] {
            let value = steps.map(|steps| all[0].problem.objective().read(Value::Steps(steps)));
            results.fresh.push((all[0].name.clone(), "ours".to_owned(), value));
        }
        let text = report(&results, &all, "5");
        assert!(
            text.contains("from 100 seeds") && text.contains("| mountain-car-d3-x10 | ours | 120 |"),
            "{text}"
        );
    }

    #[test]
    fn figures_have_few_digits() {
        let figures = [104.0, -260.614_9, 3082.4, 0.5, 97.525].map(figure);
        assert_eq!(figures, ["104", "-260.61", "3082.4", "0.5000", "97.53"]);
    }
}

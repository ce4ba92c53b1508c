//! The parts of a report that are plain HTML: facts, tables, how to run it again.

use broccoli_core::problem::{Objective, Over, Problem, Value};
use broccoli_core::tree::Tree;

use super::observed::{Observed, Visits};
use crate::drawing::{Layout, escaped};
use crate::json::{ObjectiveJson, ResultJson};
use crate::names::shell_word;
use crate::number::{counted, duration, grouped};
use crate::problem_file;
use crate::simulation::Run;
use crate::worth;

/// A problem with more characters than this is not put into the page.
const LARGEST_PROBLEM: usize = 2 << 20;

/// Runs of the tree from initial states that it was not made for.
#[derive(Clone, Debug)]
pub struct Fresh {
    /// The seed of the samples.
    pub seed: u64,
    /// The runs.
    pub runs: Vec<Run>,
}

/// The most important numbers.
pub(super) fn facts(result: &ResultJson) -> String {
    let what = match result.objective {
        ObjectiveJson::Reach => "steps to the goal",
        ObjectiveJson::Survive => "steps survived",
        ObjectiveJson::Return => "return",
    };
    let states = result.problem.initial_states.len() as u64;
    let worst = match result.problem.over {
        Over::Worst if states == 1 => String::new(),
        Over::Worst => ", worst case".to_owned(),
        Over::Mean => ", mean".to_owned(),
        Over::Sum => ", sum".to_owned(),
        Over::Weighted => ", weighted sum".to_owned(),
        Over::Share(share) => format!(", best {} %", worth::number(100.0 * share)),
    };
    let mut facts = Vec::new();
    if let Some(value) = result.value {
        facts.push((worth::bare(value), format!("{what}{worst}")));
    }
    if let Some(bound) = result.bound.filter(|bound| Some(*bound) != result.value) {
        facts.push((worth::bare(bound), "proved bound".to_owned()));
    }
    if let (Some(size), Some(depth)) = (result.size, result.depth) {
        facts.push((grouped(size), format!("predicates, depth {depth}")));
    }
    if let Some(price) = result.price {
        facts.push((price.to_string(), "price of the dimensions asked".to_owned()));
    }
    facts.push((grouped(states), if states == 1 { "initial state" } else { "initial states" }.to_owned()));
    facts.push((grouped(result.queries), "queries of the system".to_owned()));
    facts.push((duration(result.seconds), format!("by {}", result.engine)));
    let item = |(number, what): &(String, String)| {
        format!("<div><dt>{}</dt><dd>{}</dd></div>", escaped(what), escaped(number))
    };
    format!("<dl class=\"facts\">{}</dl>", facts.iter().map(item).collect::<String>())
}

/// How far each threshold can move without any trace changing.
pub(super) fn robustness(problem: &Problem, tree: Option<&Tree>, observed: Option<&Observed>) -> String {
    let (Some(tree), Some(observed)) = (tree, observed) else {
        return "<p class=\"note\">There are no traces to judge by.</p>".to_owned();
    };
    let mut thresholds = Vec::new();
    preorder(tree, &mut thresholds);
    let layout = Layout::new(problem, tree);
    let rows = thresholds.iter().zip(&layout.nodes).zip(&observed.nodes).enumerate();
    let rows = rows.filter_map(|(i, ((threshold, node), visits))| {
        let threshold = (*threshold)?;
        Some(format!(
            "<tr data-row=\"{i}\"><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>",
            escaped(&node.full_label),
            grouped(visits.states),
            interval(visits),
            nearest(visits, threshold)
        ))
    });
    let rows: String = rows.collect();
    if rows.is_empty() {
        return "<p>The tree is a single action: there is no threshold.</p>".to_owned();
    }
    format!(
        "<p>A threshold alone can move within its interval and every trace stays the same, state by state; \
         any further, and some action changes.</p><div class=\"scroll\"><table><thead><tr><th scope=\"col\">predicate</th>\
         <th scope=\"col\">states</th><th scope=\"col\">same traces within</th><th scope=\"col\">nearest value \
         seen</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )
}

/// The thresholds in preorder, none for a leaf.
fn preorder(tree: &Tree, thresholds: &mut Vec<Option<f64>>) {
    match tree {
        Tree::Leaf(_) => thresholds.push(None),
        Tree::Node { threshold, yes, no, .. } => {
            thresholds.push(Some(*threshold));
            preorder(yes, thresholds);
            preorder(no, thresholds);
        }
    }
}

fn interval(visits: &Visits) -> String {
    match visits.decisive {
        (None, None) => "any value".to_owned(),
        (Some(low), None) => format!("above {}", six(low)),
        (None, Some(high)) => format!("up to {}", six(high)),
        (Some(low), Some(high)) => format!("({}, {}]", six(low), six(high)),
    }
}

fn nearest(visits: &Visits, threshold: f64) -> String {
    let seen = [visits.seen.0, visits.seen.1].into_iter().flatten();
    let nearest = seen.min_by(|a, b| (a - threshold).abs().total_cmp(&(b - threshold).abs()));
    nearest
        .map_or("none".to_owned(), |value| format!("{}, {} away", six(value), six((value - threshold).abs())))
}

/// What became of fresh initial states.
pub(super) fn fresh(result: &ResultJson, problem: &Problem, fresh: Option<&Fresh>) -> String {
    let Some(fresh) = fresh.filter(|fresh| !fresh.runs.is_empty()) else {
        return "<p class=\"note\">Nothing says from where fresh initial states would be drawn.</p>"
            .to_owned();
    };
    let all = fresh.runs.len() as u64;
    let mut values: Vec<Value> = fresh.runs.iter().filter_map(|run| run.value).collect();
    values.sort_by(|a, b| a.number().total_cmp(&b.number()));
    let below = |value: f64| values.partition_point(|v| v.number() < value);
    let share = |count: usize| {
        let percent = 100.0 * count as f64 / all as f64;
        format!("{} of {} ({percent:.1}\u{a0}%)", grouped(count as u64), grouped(all))
    };
    let horizon = counted(problem.objective().horizon(), "step");
    let objective = problem.objective();
    let mut rows = match objective {
        Objective::Reach { .. } => vec![(format!("reach the goal within {horizon}"), share(values.len()))],
        Objective::Survive { horizon: most, .. } => {
            vec![(format!("survive all {horizon}"), share(values.len() - below(most as f64)))]
        }
        Objective::Return(_) => Vec::new(),
    };
    if let Some(value) = result.value.filter(|_| objective.over() == Over::Worst) {
        let text = worth::value(value);
        rows.push(if objective.is_minimised() {
            let count = values.partition_point(|v| v.number() <= value.number());
            (format!("in at most {text}, as proved for the given ones"), share(count))
        } else {
            let count = values.len() - below(value.number());
            (format!("at least {text}, as proved for the given ones"), share(count))
        });
    }
    if let (Some(first), Some(last)) = (values.first(), values.last()) {
        let spread = [*first, values[values.len() / 2], *last].map(worth::bare).join(" / ");
        let (least, what) = if objective.wants_rewards() { ("least", "return") } else { ("fewest", "steps") };
        rows.push((format!("{least} / median / most {what}"), spread));
    }
    let rows: String = rows
        .iter()
        .map(|(what, how_many)| format!("<tr><th scope=\"row\">{what}</th><td>{how_many}</td></tr>"))
        .collect();
    format!(
        "<p>{} initial states drawn anew (seed {}) that the search did not know. The proof is about the given \
         ones alone; this is a measurement.</p><table><tbody>{rows}</tbody></table>",
        grouped(all),
        fresh.seed
    )
}

/// What the search did.
pub(super) fn statistics(result: &ResultJson) -> String {
    let mut rows = vec![("engine", result.engine.clone()), ("status", result.status.name().to_owned())];
    rows.extend(result.stopped_by.clone().map(|reason| ("stopped by", reason)));
    let mut count = |what, number: Option<u64>| rows.extend(number.map(|number| (what, grouped(number))));
    let some = |number: u64| Some(number).filter(|number| *number > 0);
    count("queries", Some(result.queries));
    count("queries that any proof needs", result.necessary_queries);
    count("more queries to run the tree again", some(result.queries_confirming));
    count("more queries to come back to earlier states", some(result.statistics.queries_replayed));
    count("traces run", Some(result.traces));
    count("trees considered", some(result.trees));
    count("labels that some tree allows", some(result.statistics.labels.realisable));
    count("labels that no tree allows", some(result.statistics.labels.unrealisable));
    rows.push(("time", duration(result.seconds)));
    rows.extend(result.error.clone().map(|error| ("error", error)));
    let row = |(what, value): &(&str, String)| {
        format!("<tr><th scope=\"row\">{what}</th><td>{}</td></tr>", escaped(value))
    };
    format!("<table><tbody>{}</tbody></table>", rows.iter().map(row).collect::<String>())
}

/// The command that gave the result.
pub(super) fn command(result: &ResultJson) -> String {
    if result.command.is_empty() {
        return "<p>The result does not say which command gave it; the problem below holds everything.</p>"
            .to_owned();
    }
    let line: Vec<String> = result.command.iter().map(|word| shell_word(word)).collect();
    format!("<pre id=\"command\" tabindex=\"0\">{}</pre>", escaped(&line.join(" ")))
}

/// The whole problem, to be looked at and saved.
pub(super) fn problem(result: &ResultJson) -> String {
    let toml = problem_file::toml(&result.problem);
    if toml.len() > LARGEST_PROBLEM {
        return "<p class=\"note\">The problem is too large to be shown here; the result holds it.</p>"
            .to_owned();
    }
    let lines: String = toml.lines().map(|line| escaped(line) + "\n").collect();
    format!(
        "<p><button id=\"save\" type=\"button\" hidden>Save the problem file</button></p>\
         <details><summary>The problem file</summary><pre id=\"problem\" tabindex=\"0\">{lines}</pre></details>"
    )
}

/// A number for a table.
fn six(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    let plain = rounded.to_string();
    if plain.len() <= 12 { plain } else { format!("{rounded:e}") }
}

//! The chart: a small panel per problem, in it a curve per method, the median value against queries.

use std::fmt::Write;

use broccoli_core::problem::Objective;

use super::problems::Named;
use super::results::Results;
use super::table::present;
use crate::chart::{PAGE_STYLE, Scale, label, power};

const COLUMNS: usize = 5;
const WIDTH: f64 = 190.0;
const HEIGHT: f64 = 130.0;
const LEFT: f64 = 64.0;
const TOP: f64 = 100.0;
const GAP_X: f64 = 64.0;
const GAP_Y: f64 = 56.0;

/// Colours, and dashes so that colour is not all that tells the curves apart.
const STYLE: &str = "\
  polyline { stroke-width: 1.5 } .c0 { stroke: #0550ae; stroke-width: 3 } .c1 { stroke: #6e7781 }
  .c2 { stroke: #bc4c00; stroke-width: 2 } .c3 { stroke: #8250df; stroke-dasharray: 6 2 }
  .c4 { stroke: #116329; stroke-dasharray: 2 2 } .c5 { stroke: #bf3989; stroke-dasharray: 8 2 2 2 }
  .c6 { stroke: #7d4e00; stroke-dasharray: 4 4 } .c7 { stroke: #bc4c00; stroke-dasharray: 1 3; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    .c0 { stroke: #79c0ff } .c1 { stroke: #9198a1 } .c2, .c7 { stroke: #ffa657 } .c3 { stroke: #d2a8ff }
    .c4 { stroke: #7ee787 } .c5 { stroke: #ff9bce } .c6 { stroke: #e3b341 }
  }
";

/// As many kinds of curves as there are.
const KINDS: usize = 8;

/// A point of a curve: queries, and the median value.
type At = (f64, f64);

/// The chart. `note` says where the figures come from.
pub(crate) fn svg(results: &Results, problems: &[Named], note: &str) -> String {
    let methods = present(results);
    let rows = problems.len().div_ceil(COLUMNS);
    let width = LEFT + COLUMNS as f64 * (WIDTH + GAP_X);
    let height = TOP + rows as f64 * (HEIGHT + GAP_Y) + 4.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"The value of the best tree against queries, for every problem and method\">\n\
         <style>\n{PAGE_STYLE}{STYLE}</style>\n<rect class=\"page\" width=\"{width}\" height=\"{height}\"/>\n"
    );
    label(&mut svg, "title", LEFT, 26.0, "start", "The best tree after so many queries (medians)");
    for (kind, method) in methods.iter().enumerate() {
        let x = LEFT + 150.0 * kind as f64;
        let _ = writeln!(svg, "<polyline class=\"c{}\" points=\"{x},46 {},46\"/>", kind % KINDS, x + 28.0);
        label(&mut svg, "name", x + 34.0, 50.0, "start", method);
    }
    label(&mut svg, "note", LEFT, height - 8.0, "start", note);
    for (place, named) in problems.iter().enumerate() {
        let x = LEFT + (place % COLUMNS) as f64 * (WIDTH + GAP_X);
        let y = TOP + (place / COLUMNS) as f64 * (HEIGHT + GAP_Y);
        let _ = writeln!(svg, "<g transform=\"translate({x} {y})\">");
        panel(&mut svg, results, named, &methods);
        svg.push_str("</g>\n");
    }
    svg.push_str("</svg>\n");
    svg
}

fn panel(svg: &mut String, results: &Results, named: &Named, methods: &[&str]) {
    let objective = named.problem.objective();
    let curves: Vec<Vec<At>> = methods.iter().map(|method| curve(results, named, method)).collect();
    let _ = writeln!(svg, "<rect class=\"grid\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>");
    label(svg, "name", 0.0, -18.0, "start", &named.name);
    let better = if objective.is_minimised() { "less is better" } else { "more is better" };
    label(svg, "note", 0.0, -5.0, "start", &format!("{}, {better}", objective.name()));
    let budgets: Vec<f64> = results.budgets.iter().map(|&budget| budget as f64).collect();
    let across = Scale::tight(&budgets, false, WIDTH);
    for budget in results.powers() {
        let x = across.at(budget as f64);
        let _ = writeln!(svg, "<path class=\"grid\" d=\"M{x:.1} {HEIGHT}v4\"/>");
        if is_power_of_ten(budget) {
            label(svg, "tick", x, HEIGHT + 16.0, "middle", &power(budget.ilog10() as i32));
        }
    }
    let mut numbers: Vec<f64> = curves.iter().flatten().map(|point| point.1).collect();
    numbers.sort_by(f64::total_cmp);
    let (Some(&least), Some(&most)) = (numbers.first(), numbers.last()) else {
        label(svg, "tick", WIDTH / 2.0, HEIGHT / 2.0, "middle", "no tree yet");
        return;
    };
    // Returns may be negative; steps span decades.
    let is_linear = matches!(objective, Objective::Return(_)) || least <= 0.0;
    let up = Scale::tight(&numbers, is_linear, HEIGHT);
    for number in if least < most { vec![least, most] } else { vec![least] } {
        let y = HEIGHT - up.at(number);
        let _ = writeln!(svg, "<path class=\"grid\" d=\"M0 {y:.1}H{WIDTH}\"/>");
        label(svg, "tick", -6.0, y + 4.0, "end", &tick(number));
    }
    for (kind, points) in curves.iter().enumerate().rev() {
        let mut points: Vec<At> = points.iter().map(|&(x, y)| (across.at(x), HEIGHT - up.at(y))).collect();
        if let [(x, y)] = points[..] {
            points = vec![(x - 5.0, y), (x, y)]; // a line of no length would not be seen
        }
        let line: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let line = line.join(" ");
        if !line.is_empty() {
            let _ = writeln!(svg, "<polyline class=\"c{}\" points=\"{line}\"/>", kind % KINDS);
        }
    }
}

fn curve(results: &Results, named: &Named, method: &str) -> Vec<At> {
    let at = |&budget: &u64| {
        let value = results.median(named, method, budget)?.value?;
        Some((budget as f64, named.problem.objective().number(value)))
    };
    results.budgets.iter().filter_map(at).collect()
}

/// A number in little room.
fn tick(number: f64) -> String {
    if number.abs() >= 100.0 { format!("{number:.0}") } else { format!("{}", (number * 10.0).round() / 10.0) }
}

fn is_power_of_ten(number: u64) -> bool {
    10_u64.checked_pow(number.ilog10()) == Some(number)
}

#[cfg(test)]
mod tests {
    use super::super::problems::problems;
    use super::super::run::{Point, Run};
    use super::*;

    #[test]
    fn a_panel_has_a_curve_per_method_with_a_tree() {
        let all = problems(&["mountain-car-d2".to_owned()], false).unwrap();
        let mut results = Results::new(100_000);
        let point = Point { queries: 1, value: 104, size: 3 };
        for (method, points) in [("ours", vec![point]), ("random", vec![])] {
            results.add(&all[0], method, 0, &Run { points, ..Run::default() });
        }
        let chart = svg(&results, &all, "a note");
        assert_eq!(chart.matches("<polyline").count(), 2 + 1); // two in the legend
        assert_eq!(chart.matches("no tree yet").count(), all.len() - 1);
        assert!(chart.contains("a note") && !chart.contains("NaN"));
    }
}

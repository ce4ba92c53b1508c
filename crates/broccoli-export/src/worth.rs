//! Values in words, for objectives other than the worst number of steps.

use broccoli_core::problem::{Aim, Objective, Over, Problem, Value};

use crate::number::{counted, grouped};

/// A number for people: at most six digits behind the point, or so many digits in all if it is small.
pub fn number(number: f64) -> String {
    if number != 0.0 && number.abs() < 1e-3 {
        return format!("{number:.5e}");
    }
    let text = format!("{number:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    // The digits before the point, in groups.
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    match whole.parse() {
        Ok(whole) => format!("{sign}{}{rest}", grouped(whole)),
        Err(_) => text.to_owned(),
    }
}

/// A number for people that is not exact: three digits.
///
/// ```
/// use broccoli_export::worth::about;
/// assert_eq!([-58.347, 1234.5, 0.012345, 0.0].map(about), ["-58.3", "1,235", "0.0123", "0"]);
/// ```
pub fn about(estimate: f64) -> String {
    let digits = (2.0 - estimate.abs().log10().floor()).clamp(0.0, 6.0);
    let unit = 10_f64.powf(digits);
    match estimate * unit {
        large if large.is_finite() => number(large.round() / unit),
        _ => number(estimate),
    }
}

/// A value for people: `"104 steps"`, or `"-12.5"`.
///
/// ```
/// use broccoli_core::problem::Value;
/// use broccoli_export::worth::value;
/// assert_eq!(value(Value::Steps(1)), "1 step");
/// assert_eq!(value(Value::Number(1.0 / 3.0)), "0.333333");
/// assert_eq!(value(Value::Number(-1234.5)), "-1,234.5");
/// assert_eq!(value(Value::Number(-1.1e-8)), "-1.10000e-8");
/// ```
pub fn value(value: Value) -> String {
    match value {
        Value::Steps(steps) => counted(steps, "step"),
        Value::Number(value) => number(value),
    }
}

/// The same without its unit.
pub fn bare(value: Value) -> String {
    match value {
        Value::Steps(steps) => grouped(steps),
        Value::Number(value) => number(value),
    }
}

/// What is wanted, to follow "Objective:".
pub fn wanted(problem: &Problem) -> String {
    let objective = problem.objective();
    let horizon = counted(objective.horizon(), "step");
    match (objective, objective.over()) {
        (Objective::Reach { .. }, Over::Share(_)) => {
            format!("reach the goal from {} in the fewest steps, within {horizon}", states(problem))
        }
        (Objective::Reach { .. }, over) => {
            format!("reach the goal in the fewest steps{}, within {horizon}", across(over))
        }
        (Objective::Survive { .. }, over) => {
            format!("survive as long as possible{}, up to {horizon}", across(over))
        }
        (Objective::Return(wanted), over) => {
            let least = if wanted.aim == Aim::Minimise { "least" } else { "largest" };
            let discount = match wanted.discount {
                1.0 => String::new(),
                discount => format!(", discounted by {discount} a step"),
            };
            format!("the {least} sum of rewards{}{discount}, over {horizon}", across(over))
        }
    }
}

/// How several initial states count, to follow what is wanted.
fn across(over: Over) -> &'static str {
    match over {
        Over::Worst | Over::Share(_) => "",
        Over::Mean => " on average",
        Over::Sum => " in all",
        Over::Weighted => " in a weighted sum",
    }
}

/// The initial states that have to reach the goal.
pub fn states(problem: &Problem) -> String {
    let count = grouped(problem.initial_states().len() as u64);
    match problem.objective().over() {
        Over::Share(share) => format!("at least {} % of the {count} initial states", number(100.0 * share)),
        _ if count == "1" => "the initial state".to_owned(),
        _ if count == "2" => "both initial states".to_owned(),
        _ => format!("all {count} initial states"),
    }
}

/// What a tree of this value does, without a full stop.
pub fn achieved(problem: &Problem, value: u64) -> String {
    let objective = problem.objective();
    let shown = objective.shown(value).map_or("an infinite value".to_owned(), bare);
    let several = problem.initial_states().len() > 1;
    let from = if several { format!(" from {}", states(problem)) } else { String::new() };
    match (objective, objective.over()) {
        (Objective::Reach { .. }, Over::Share(_)) => {
            format!("this tree reaches the goal{from} in at most {}", counted(value, "step"))
        }
        (Objective::Reach { .. }, over) => {
            format!("this tree reaches the goal{from} in {shown} steps{}", across(over))
        }
        (Objective::Survive { .. }, over) => {
            format!("this tree survives {shown} steps{}{from}", across(over))
        }
        (Objective::Return(wanted), Over::Worst) if several => {
            let least = if wanted.aim == Aim::Minimise { "most" } else { "least" };
            format!("this tree has a return of at {least} {shown}{from}")
        }
        (Objective::Return(_), over) => format!("this tree has a return of {shown}{}{from}", across(over)),
    }
}

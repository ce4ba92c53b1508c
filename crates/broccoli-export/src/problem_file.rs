//! A problem as a problem file (`docs/problem-files.md`), so that a result can be run again.

use broccoli_core::problem::{Aim, Over};

use crate::json::{JudgeJson, ProblemJson, RewardsJson, SystemJson, harmless};

/// The problem file that says what `problem` says. Numbers round-trip bit for bit.
pub fn toml(problem: &ProblemJson) -> String {
    let mut lines = vec!["[system]".to_owned()];
    match &problem.system {
        SystemJson::Environment(_) | SystemJson::Noisy(_) => {
            let (name, noise) = problem.system.environment().unwrap_or_default();
            lines.push(format!("environment = {}", literal(name)));
            if noise != 0.0 {
                lines.push(format!("noise = {}", literal(&noise)));
            }
            let actions: Vec<&str> = problem.actions.iter().map(|action| action.name.as_str()).collect();
            lines.push(format!("actions = {}", literal(&actions)));
        }
        SystemJson::Subprocess(program) => {
            lines.push(format!("# in the folder {}", literal(&program.directory)));
            lines.push(format!("command = {}", literal(&program.command)));
            lines.extend(judge(&program.judge));
        }
        SystemJson::Plugin(plugin) => {
            lines.push(format!("plugin = {}", literal(&plugin.path)));
            lines.extend(judge(&plugin.judge));
        }
        SystemJson::Python(about) => lines.push(format!("# an object in Python: {}", literal(about))),
    }
    for dimension in &problem.dimensions {
        if let Some(expression) = &dimension.expression {
            lines.extend([String::new(), "[[features]]".to_owned()]);
            lines.push(format!("name = {}", literal(&dimension.name)));
            lines.push(format!("expression = {}", literal(expression)));
        }
    }
    lines.extend([String::new(), "[predicates]".to_owned()]);
    for dimension in &problem.dimensions {
        let thresholds = literal(&dimension.thresholds);
        let value = match dimension.price {
            0.0 => thresholds,
            price => format!("{{ list = {thresholds}, price = {} }}", literal(&price)),
        };
        lines.push(format!("{} = {value}", literal(&dimension.name)));
    }
    let states: Vec<&[f64]> = problem.initial_states.iter().map(|state| state.values()).collect();
    lines.extend([String::new(), "[initial]".to_owned(), format!("states = {}", literal(&states))]);
    lines.extend([
        String::new(),
        "[objective]".to_owned(),
        format!("kind = {}", literal(&problem.objective)),
    ]);
    lines.push(format!("horizon = {}", problem.horizon));
    lines.extend(objective(problem));
    lines.extend([String::new(), "[tree]".to_owned(), format!("depth = {}", problem.depth)]);
    lines.push(format!("nodes = {}", problem.nodes));
    lines.join("\n") + "\n"
}

/// What is said of the objective beside its kind and horizon.
fn objective(problem: &ProblemJson) -> Vec<String> {
    let mut lines = Vec::new();
    match problem.over {
        Over::Worst => {}
        Over::Mean | Over::Sum => lines.push(format!("over = {}", literal(&problem.over))),
        Over::Weighted => lines.push(format!("weights = {}", literal(&problem.weights))),
        Over::Share(share) => lines.push(format!("share = {}", literal(&share))),
    }
    if let Some(RewardsJson { aim, discount, low, high }) = problem.rewards {
        if aim == Aim::Minimise {
            lines.push("minimise = true".to_owned());
        }
        if discount != 1.0 {
            lines.push(format!("discount = {}", literal(&discount)));
        }
        if let (Some(low), Some(high)) = (low, high) {
            lines.push(format!("rewards = {}", literal(&[low, high])));
        }
    }
    lines
}

fn judge(judge: &JudgeJson) -> impl Iterator<Item = String> {
    let conditions = [("satisfied", &judge.satisfied), ("violated", &judge.violated)];
    let line = |(key, condition): (&str, &Option<String>)| {
        condition.as_ref().map(|condition| format!("{key} = {}", literal(condition)))
    };
    conditions.map(line).into_iter().flatten()
}

/// Strings, numbers and lists are written in TOML as in JSON.
pub fn literal(value: &(impl serde::Serialize + ?Sized)) -> String {
    harmless(serde_json::to_string(value).unwrap_or_default())
}

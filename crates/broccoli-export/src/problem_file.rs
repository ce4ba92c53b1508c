//! A problem as a problem file (`docs/problem-files.md`), so that a result can be run again.

use crate::json::{JudgeJson, ObjectiveJson, ProblemJson, SystemJson};

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
        let thresholds = literal(&dimension.thresholds.as_slice());
        lines.push(format!("{} = {thresholds}", literal(&dimension.name)));
    }
    let states: Vec<&[f64]> = problem.initial_states.iter().map(|state| state.values()).collect();
    let kind = match problem.objective {
        ObjectiveJson::Reach => "reach",
        ObjectiveJson::Survive => "survive",
    };
    lines.extend([String::new(), "[initial]".to_owned(), format!("states = {}", literal(&states))]);
    lines.extend([String::new(), "[objective]".to_owned(), format!("kind = {}", literal(&kind))]);
    lines.push(format!("horizon = {}", problem.horizon));
    lines.extend([String::new(), "[tree]".to_owned(), format!("depth = {}", problem.depth)]);
    lines.push(format!("nodes = {}", problem.nodes));
    lines.join("\n") + "\n"
}

fn judge(judge: &JudgeJson) -> impl Iterator<Item = String> {
    let conditions = [("satisfied", &judge.satisfied), ("violated", &judge.violated)];
    let line = |(key, condition): (&str, &Option<String>)| {
        condition.as_ref().map(|condition| format!("{key} = {}", literal(condition)))
    };
    conditions.map(line).into_iter().flatten()
}

/// Strings, numbers and lists are written in TOML as in JSON.
fn literal(value: &(impl serde::Serialize + ?Sized)) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

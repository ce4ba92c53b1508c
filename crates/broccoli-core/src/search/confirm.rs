//! Runs the answer once more: a system that does something else this time is not deterministic, and
//! nothing that was proved about it holds.

use super::Solution;
use super::value::trace_value;
use crate::problem::{Instance, Objective, Problem, RunError};

/// Runs `best` from every initial state, each of which must be as good as the whole was; and one of them
/// no better.
pub(super) fn confirm(
    problem: &Problem,
    best: &Solution,
    instance: &mut Instance<'_>,
) -> Result<(), RunError> {
    let objective = problem.objective();
    let mut worst = None;
    for initial in 0..problem.initial_states().len() {
        let value = trace_value(|seen| best.tree.action(seen), objective, initial, instance)?;
        let is_worse = value.is_none_or(|value| objective.is_better(best.value, value));
        if is_worse {
            return Err(differs(objective, best.value, initial, value));
        }
        if worst.is_none_or(|(_, worst)| value.is_some_and(|value| objective.is_better(worst, value))) {
            worst = value.map(|value| (initial, value));
        }
    }
    match worst {
        Some((initial, value)) if value != best.value => {
            Err(differs(objective, best.value, initial, Some(value)))
        }
        _ => Ok(()),
    }
}

fn differs(objective: Objective, before: u64, initial: usize, now: Option<u64>) -> RunError {
    let (did, does) = match objective {
        Objective::Reach { .. } => {
            let does = now.map_or("it did not reach it at all".into(), |now| format!("it took {now}"));
            (format!("the goal was reached within {before} steps"), does)
        }
        Objective::Survive { .. } => {
            let now = now.unwrap_or_default();
            (format!("the tree survived {before} steps"), format!("it survived {now}"))
        }
    };
    RunError::NotDeterministic { initial, did, does }
}

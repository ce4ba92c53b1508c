//! Runs the answer once more: a system that does something else this time is not deterministic, and
//! nothing that was proved about it holds.

use super::Solution;
use super::value::{run, trace_value};
use crate::problem::{Instance, Objective, Problem, RunError, Verdict};
use crate::tree::{Interval, Intervals, Tree};

/// Runs `best` from every initial state, for as many steps as its value. Each trace must be as good as
/// the whole was, and one of them no better.
pub(super) fn confirm(
    problem: &Problem,
    best: &Solution,
    instance: &mut Instance<'_>,
) -> Result<(), RunError> {
    if !problem.objective().is_plain() {
        return confirm_value(problem, best, instance);
    }
    let value = best.value;
    let differs = |initial, did: String, does: &str| {
        Err(RunError::NotDeterministic { initial, did, does: does.to_owned() })
    };
    // A perfect value needs no trace that is as bad.
    let mut is_reached = value == problem.perfect();
    for initial in 0..problem.initial_states().len() {
        let policy = |seen: &[f64]| best.tree.action(seen);
        let (verdict, _) = run(policy, problem.objective(), value, initial, instance, |_, _, _| Ok(()))?;
        let is_end = instance.steps() == value;
        match problem.objective() {
            Objective::Reach { .. } if verdict != Verdict::Satisfied => {
                let did = format!("the goal was reached within {value} steps");
                return differs(initial, did, "it was not");
            }
            Objective::Reach { .. } => is_reached |= is_end,
            Objective::Survive { .. } if verdict == Verdict::Violated && !is_end => {
                return differs(initial, format!("the tree survived {value} steps"), "it did not");
            }
            _ => is_reached |= verdict == Verdict::Violated,
        }
    }
    match is_reached {
        true => Ok(()),
        false => differs(0, format!("or another one, the value was {value} steps"), "it was better"),
    }
}

/// Runs a tree to the end of all its traces: which thresholds would do the same, of those that may be any number.
pub(super) fn intervals(
    problem: &Problem,
    tree: &Tree,
    instance: &mut Instance<'_>,
) -> Result<Vec<Option<Interval>>, RunError> {
    let (objective, mut intervals) = (problem.objective(), Intervals::new(tree));
    for initial in 0..problem.initial_states().len() {
        let policy = |seen: &[f64]| tree.action(seen);
        run(policy, objective, objective.horizon(), initial, instance, |instance, _, action| {
            if action.is_some() {
                intervals.see(instance.observation());
            }
            Ok(())
        })?;
    }
    Ok(intervals.of(problem))
}

/// Runs `best` to the end of all its traces: its value must be the same.
fn confirm_value(problem: &Problem, best: &Solution, instance: &mut Instance<'_>) -> Result<(), RunError> {
    let objective = problem.objective();
    let mut values = Vec::new();
    for initial in 0..problem.initial_states().len() {
        values.push(trace_value(|seen| best.tree.action(seen), objective, initial, instance)?);
    }
    match problem.overall(&values) {
        Some(value) if value == best.value => Ok(()),
        again => Err(RunError::NotDeterministic {
            initial: 0,
            did: format!("or another one, the tree was worth {}", objective.number(best.value)),
            does: match again {
                Some(value) => format!("it was worth {}", objective.number(value)),
                None => "it failed".to_owned(),
            },
        }),
    }
}

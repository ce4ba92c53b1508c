//! Runs a policy from an initial state and says what it is worth.

use crate::problem::{Instance, Objective, Problem, RunError, SystemFactory, Verdict};
use crate::tree::Tree;

/// Runs a policy from one initial state for at most `limit` steps.
pub(super) fn run(
    policy: impl Fn(&[f64]) -> usize,
    limit: u64,
    initial: usize,
    instance: &mut Instance<'_>,
) -> Result<Verdict, RunError> {
    let mut verdict = instance.reset(initial)?;
    while verdict == Verdict::Running && instance.steps() < limit {
        verdict = instance.step(policy(instance.observation()))?;
    }
    Ok(verdict)
}

/// The value of a policy from one initial state; `None` if the trace fails.
pub(super) fn trace_value(
    policy: impl Fn(&[f64]) -> usize,
    objective: Objective,
    initial: usize,
    instance: &mut Instance<'_>,
) -> Result<Option<u64>, RunError> {
    let verdict = run(policy, objective.horizon(), initial, instance)?;
    Ok(match (objective, verdict) {
        (Objective::Reach { .. }, Verdict::Satisfied) => Some(instance.steps()),
        (Objective::Reach { .. }, _) => None,
        (Objective::Survive { .. }, Verdict::Violated) => Some(instance.steps()),
        (Objective::Survive { horizon }, _) => Some(horizon),
    })
}

/// The value of any tree over all initial states of a problem; `None` if a trace fails. The tree may be
/// beyond the problem's limits and have other thresholds.
///
/// # Errors
/// When the system fails or its observation holds NaN.
pub fn value(problem: &Problem, factory: &dyn SystemFactory, tree: &Tree) -> Result<Option<u64>, RunError> {
    let mut instance = Instance::new(problem, factory)?;
    let trace = |initial| trace_value(|seen| tree.action(seen), problem.objective(), initial, &mut instance);
    let values: Result<Option<Vec<u64>>, RunError> = (0..problem.initial_states().len()).map(trace).collect();
    Ok(values?.and_then(|values| problem.objective().worst(values)))
}

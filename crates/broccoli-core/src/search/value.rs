//! Runs a policy from an initial state and says what it is worth.

use crate::problem::{Instance, Objective, Problem, Return, RunError, SystemFactory, Verdict};
use crate::tree::Tree;

/// Runs a policy from one initial state for at most `limit` steps: the verdict, and the sum of the rewards. Tells where
/// the trace is, and the action that comes next unless it ends there.
pub(super) fn run(
    policy: impl Fn(&[f64]) -> usize,
    objective: Objective,
    limit: u64,
    initial: usize,
    instance: &mut Instance<'_>,
    mut tell: impl FnMut(&mut Instance<'_>, Verdict, Option<usize>) -> Result<(), RunError>,
) -> Result<(Verdict, f64), RunError> {
    let mut verdict = instance.reset(initial)?;
    let mut rewards = Rewards::new(objective);
    while verdict == Verdict::Running && instance.steps() < limit {
        let action = policy(instance.observation());
        tell(instance, verdict, Some(action))?;
        verdict = instance.step(action)?;
        rewards.add(instance.reward());
    }
    tell(instance, verdict, None)?;
    Ok((verdict, rewards.total))
}

/// The rewards of a trace, summed step by step as the objective says.
pub struct Rewards {
    total: f64,
    /// What the next one counts.
    factor: f64,
    discount: f64,
}

impl Rewards {
    /// Nothing yet.
    pub fn new(objective: Objective) -> Self {
        let discount = if let Objective::Return(wanted) = objective { wanted.discount } else { 0.0 };
        Rewards { total: 0.0, factor: 1.0, discount }
    }

    /// The sum so far.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// One more step gave this reward.
    pub fn add(&mut self, reward: f64) {
        self.total = Return::add(self.total, self.factor, reward);
        self.factor *= self.discount;
    }
}

/// The value of a policy from one initial state; `None` if the trace fails.
pub(super) fn trace_value(
    policy: impl Fn(&[f64]) -> usize,
    objective: Objective,
    initial: usize,
    instance: &mut Instance<'_>,
) -> Result<Option<u64>, RunError> {
    let (verdict, total) = run(policy, objective, objective.horizon(), initial, instance, |_, _, _| Ok(()))?;
    Ok(objective.worth(verdict, instance.steps(), total))
}

/// The value of any tree over all initial states of a problem; `None` if a trace fails. The tree may be
/// beyond the problem's limits and have other thresholds.
///
/// # Errors
/// When the system fails or its observation holds NaN.
pub fn value(problem: &Problem, factory: &dyn SystemFactory, tree: &Tree) -> Result<Option<u64>, RunError> {
    let mut instance = Instance::new(problem, factory)?;
    let trace = |initial| trace_value(|seen| tree.action(seen), problem.objective(), initial, &mut instance);
    let values: Result<Vec<Option<u64>>, RunError> = (0..problem.initial_states().len()).map(trace).collect();
    Ok(problem.overall(&values?))
}

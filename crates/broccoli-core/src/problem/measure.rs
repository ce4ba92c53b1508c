//! What traces are worth together, and what is still possible at best.

use super::{Objective, Over, Problem, Return, Verdict, rank};

/// The values of the traces of one behaviour, as far as they are known: for every other initial state the
/// best that a trace can have. For objectives that are not [plain](Objective::is_plain), whose value cannot be
/// told from the worst trace alone.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    objective: Objective,
    weights: Vec<f64>,
    /// By initial state.
    values: Vec<f64>,
    /// The best value of a trace that has not been started.
    best: f64,
    /// What the reward of a step counts; as many as were needed so far.
    factors: Vec<f64>,
    /// With the best reward at every step, if a trace is the better the longer it is.
    ideal: Ideal,
    /// Room for values in order.
    sorted: Vec<f64>,
}

/// A trace that has the best reward at every step.
#[derive(Clone, Debug, Default)]
struct Ideal {
    /// Its rewards so far, by the number of steps: up to the horizon, or until no later one counts, or as many
    /// as are kept.
    sums: Vec<f64>,
    /// Whether the last of these is the sum of all.
    is_whole: bool,
    /// No less than all later rewards together, and than what rounding makes of them.
    rest: f64,
}

/// As many sums of an ideal trace are kept.
const MOST_SUMS: u64 = 1 << 14;

/// So many steps are summed up one by one to know exactly what is possible.
const FEW_STEPS: u64 = 8;

/// What a trace that fails is worth.
pub(crate) const FAILED: f64 = f64::INFINITY;

impl Tally {
    /// For a problem whose objective needs it.
    pub(crate) fn new(problem: &Problem) -> Option<Self> {
        let objective = problem.objective();
        if objective.is_plain() {
            return None;
        }
        let mut tally = Tally {
            objective,
            weights: problem.weights().to_vec(),
            values: Vec::new(),
            best: 0.0,
            factors: vec![1.0],
            ideal: Ideal::default(),
            sorted: Vec::new(),
        };
        if let Objective::Return(wanted) = objective
            && wanted.is_bounded()
        {
            tally.ideal = tally.ideal_trace(&wanted);
        }
        tally.best = match objective {
            Objective::Reach { .. } => 0.0,
            Objective::Survive { horizon, .. } => horizon as f64,
            // It may end at reset, with nothing.
            Objective::Return(wanted) => better(&wanted, 0.0, tally.at_best(0.0, 0)),
        };
        tally.values = vec![tally.best; problem.initial_states().len()];
        Some(tally)
    }

    /// The best value of a trace that has not been started.
    pub(crate) fn best(&self) -> f64 {
        self.best
    }

    /// The value that no tree can beat.
    pub(crate) fn perfect(&mut self) -> u64 {
        self.overall(None).unwrap_or(0)
    }

    /// What a trace that has ended is worth; nothing if the behaviour fails with it. `Running`: it has come to
    /// the horizon, or has become too long to matter.
    pub(crate) fn trace(&self, verdict: Verdict, steps: u64, total: f64) -> Option<f64> {
        match (self.objective, verdict) {
            (Objective::Reach { .. }, Verdict::Satisfied) => Some(steps as f64),
            (Objective::Reach { over: Over::Share(_), .. }, _) => Some(FAILED),
            (Objective::Reach { .. }, _) => None,
            (Objective::Survive { .. }, Verdict::Violated) => Some(steps as f64),
            (Objective::Survive { horizon, .. }, _) => Some(horizon as f64),
            (Objective::Return(_), _) => Some(total),
        }
    }

    /// What the trace of an initial state is worth.
    pub(crate) fn value(&self, initial: usize) -> f64 {
        self.values[initial]
    }

    /// The trace of an initial state is worth this.
    pub(crate) fn set(&mut self, initial: usize, value: f64) {
        self.values[initial] = value;
    }

    /// The trace of an initial state is not known any more.
    pub(crate) fn forget(&mut self, initial: usize) {
        self.values[initial] = self.best;
    }

    /// The rewards of a trace, with that of one more step, given by its number from 1.
    pub(crate) fn add(&mut self, total: f64, step: u64, reward: f64) -> f64 {
        let Objective::Return(Return { discount, .. }) = self.objective else { return total };
        if discount == 1.0 {
            return Return::add(total, 1.0, reward);
        }
        while self.factors.len() < step as usize {
            self.factors.push(self.factors[self.factors.len() - 1] * discount);
        }
        Return::add(total, self.factors[step as usize - 1], reward)
    }

    /// The best value that a trace can have that has made some steps and makes at least one more.
    pub(crate) fn at_best(&mut self, total: f64, steps: u64) -> f64 {
        match self.objective {
            Objective::Reach { .. } => (steps + 1) as f64,
            Objective::Survive { horizon, .. } => horizon as f64,
            Objective::Return(wanted) => {
                let reward = wanted.best_reward();
                if !reward.is_finite() {
                    return reward;
                }
                let next = self.add(total, steps + 1, reward);
                if better(&wanted, reward, 0.0) != reward || reward == 0.0 {
                    return next; // it is best to end with this step
                }
                self.best_from(&wanted, next, steps + 1)
            }
        }
    }

    /// The rewards of a trace that has the best one at every step.
    fn ideal_trace(&mut self, wanted: &Return) -> Ideal {
        let reward = wanted.best_reward();
        let (mut sums, mut total, mut is_whole) = (vec![0.0], 0.0, true);
        for step in 1..=wanted.horizon {
            let next = self.add(total, step, reward);
            if next == total {
                break; // and no later reward counts more
            }
            if step > MOST_SUMS {
                is_whole = false;
                break;
            }
            total = next;
            sums.push(total);
        }
        let steps = sums.len() as u64 - 1;
        let left = wanted.horizon - steps;
        let rest = match (left, wanted.discount) {
            (0, _) => 0.0,
            (_, 1.0) => left as f64 * reward,
            (_, discount) => {
                let last = self.add(0.0, steps + 1, reward);
                last * (left as f64).min(1.0 / (1.0 - discount))
            }
        };
        Ideal { sums, is_whole, rest }
    }

    /// What a trace that has made some steps can have at best if it goes on up to the horizon. Never less than
    /// what the rewards sum up to in the order of the steps, rounding included.
    fn best_from(&mut self, wanted: &Return, total: f64, steps: u64) -> f64 {
        let left = wanted.horizon.saturating_sub(steps);
        let reward = wanted.best_reward();
        let most = total.abs() + left as f64 * reward.abs();
        if wanted.discount == 1.0
            && total.fract() == 0.0
            && reward.fract() == 0.0
            && most < (1_u64 << 52) as f64
        {
            return total + left as f64 * reward; // whole numbers are summed without rounding
        }
        if left <= FEW_STEPS {
            return (steps + 1..=wanted.horizon).fold(total, |total, step| self.add(total, step, reward));
        }
        let Ideal { sums, is_whole, rest } = &self.ideal;
        let (so_far, all) = (sums[(sums.len() - 1).min(steps as usize)], sums[sums.len() - 1]);
        if *is_whole && total == so_far {
            return all;
        }
        // One addition is off by at most half a unit in the last place of the sum, and by no more than what is
        // added. There are as many in either sum as there are sums, and those of the rest.
        let size = total.abs() + all.abs() + rest.abs();
        let unit = f64::EPSILON * size;
        let slack = 4.0 * sums.len() as f64 * unit + rest.abs().min(left as f64 * unit);
        let best = total + (all - so_far) + rest;
        if wanted.aim == super::Aim::Maximise { best + 2.0 * slack } else { best - 2.0 * slack }
    }

    /// The best value that is still possible; nothing if there is none. The running trace, if any, may have
    /// this value at best.
    pub(crate) fn overall(&mut self, running: Option<(usize, f64)>) -> Option<u64> {
        if let Some((initial, value)) = running {
            let before = std::mem::replace(&mut self.values[initial], value);
            let overall = self.overall(None);
            self.values[initial] = before;
            return overall;
        }
        aggregate(self.objective, &self.weights, &self.values, &mut self.sorted)
    }

    /// Whether the value of a running trace cannot matter: it is too long to be among the share wanted. The
    /// traces of these initial states are known.
    pub(crate) fn is_too_long(&mut self, steps: u64, known: &[u32]) -> bool {
        let Objective::Reach { over: Over::Share(share), .. } = self.objective else { return false };
        let wanted = wanted(share, self.values.len());
        if known.len() < wanted {
            return false;
        }
        self.sorted.clear();
        self.sorted.extend(known.iter().map(|&initial| self.values[initial as usize]));
        steps as f64 >= nth(&mut self.sorted, wanted)
    }
}

/// The better of two returns.
fn better(wanted: &Return, a: f64, b: f64) -> f64 {
    if wanted.aim == super::Aim::Maximise { a.max(b) } else { a.min(b) }
}

/// The value over all initial states; nothing if a trace fails that may not.
pub(crate) fn aggregate(
    objective: Objective,
    weights: &[f64],
    values: &[f64],
    sorted: &mut Vec<f64>,
) -> Option<u64> {
    let sum = || values.iter().fold(0.0, |sum, value| sum + value);
    let number = match objective.over() {
        Over::Worst if objective.is_minimised() => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        Over::Worst => values.iter().copied().fold(f64::INFINITY, f64::min),
        Over::Mean => sum() / values.len() as f64,
        Over::Sum => sum(),
        Over::Weighted => weighted_sum(values, weights),
        Over::Share(share) => {
            sorted.clear();
            sorted.extend_from_slice(values);
            let value = nth(sorted, wanted(share, values.len()));
            return (value != FAILED).then_some(value as u64);
        }
    };
    Some(rank(number))
}

/// What weighs nothing does not count, however little is known of it.
fn weighted_sum(values: &[f64], weights: &[f64]) -> f64 {
    let terms = values.iter().zip(weights).filter(|&(_, &weight)| weight != 0.0);
    terms.fold(0.0, |sum, (value, weight)| sum + weight * value)
}

/// The least but `number - 1`.
fn nth(values: &mut [f64], number: usize) -> f64 {
    *values.select_nth_unstable_by(number - 1, f64::total_cmp).1
}

/// How many of `count` initial states a share asks for: the fewest that are at least this share of them.
pub(crate) fn wanted(share: f64, count: usize) -> usize {
    let about = (share * count as f64) as usize;
    let is_enough = |&number: &usize| number as f64 / count as f64 >= share;
    (about.saturating_sub(1).max(1)..count).find(is_enough).unwrap_or(count)
}

#[cfg(test)]
mod tests {
    use super::super::{Aim, Thresholds, unrank};
    use super::*;

    /// Whatever rewards a trace gets, within their bounds, it is never worth more than what was possible at
    /// best after any of its steps; and an ideal one is worth exactly that.
    #[test]
    fn no_trace_is_better_than_what_was_possible() {
        let mut random = 1_u64;
        let mut draw = move || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 11) as f64 / (1_u64 << 53) as f64
        };
        for case in 0..3_000 {
            let horizon = [5, 20, 100, 1_000, MOST_SUMS + 30][case % 5];
            let discount = [1.0, 0.5, 0.9, 0.999, 0.999_999, 0.0][(draw() * 6.0) as usize];
            let high = [0.1, 1.0, 1.0 / 3.0, 1e-9, 7e100][(draw() * 5.0) as usize];
            let low = if case % 3 == 0 { high - high / 8.0 } else { -high * draw() };
            let aim = if case % 2 == 0 { Aim::Maximise } else { Aim::Minimise };
            let (low, high) = if aim == Aim::Maximise { (low, high) } else { (-high, -low) };
            let over = Over::Worst;
            let objective =
                Objective::Return(Return { horizon, aim, discount, low: Some(low), high: Some(high), over });
            let mut tally = tally(objective);
            let Objective::Return(wanted) = objective else { continue };
            let worst_until = (draw() * horizon as f64) as u64;
            let (mut total, mut possible) = (0.0, Vec::new());
            for step in 1..=horizon {
                if step % (horizon / 5) < 3 || step + 12 > horizon {
                    possible.push((step - 1, tally.at_best(total, step - 1)));
                }
                let is_best = case % 7 != 0 && step > worst_until;
                let reward = if is_best { wanted.best_reward() } else { low + draw() * (high - low) };
                total = tally.add(total, step, reward.clamp(low, high));
            }
            for (steps, best) in possible {
                let is_enough = better(&wanted, total, best) == best;
                assert!(is_enough, "case {case}: {total} after {steps} of {objective:?}, and {best} at best");
            }
            if horizon <= MOST_SUMS {
                let ideal = (1..=horizon).fold(0.0, |sum, step| tally.add(sum, step, wanted.best_reward()));
                assert_eq!(unrank(tally.perfect()), ideal, "{objective:?}");
            }
        }
    }

    #[test]
    fn an_endless_horizon_takes_no_time() {
        for (discount, high) in [(1.0, 1.1), (0.999_999_999_99, 1.0), (1.0, 1.0)] {
            let over = Over::Worst;
            let (aim, low) = (Aim::Maximise, Some(0.0));
            let wanted = Return { horizon: u64::MAX / 2, aim, discount, low, high: Some(high), over };
            let mut tally = tally(Objective::Return(wanted));
            assert!(tally.at_best(0.5, 1) > 1e9);
            assert!(unrank(tally.perfect()) > 1e9);
        }
    }

    fn tally(objective: Objective) -> Tally {
        let problem = Problem::builder()
            .dimension("x", Thresholds::list([1.0]).unwrap())
            .action("a", 0.0)
            .action("b", 1.0)
            .initial([0.0])
            .objective(objective)
            .build();
        Tally::new(&problem.unwrap()).unwrap()
    }

    #[test]
    fn a_share_asks_for_the_fewest_that_suffice() {
        let cases = [(0.07, 100, 7), (0.9, 10, 9), (0.5, 3, 2), (1.0, 4, 4), (1e-9, 5, 1), (0.251, 4, 2)];
        for (share, count, expected) in cases {
            assert_eq!(wanted(share, count), expected, "{share} of {count}");
        }
    }
}

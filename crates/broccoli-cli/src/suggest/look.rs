//! Runs a system for a while and keeps what it observes.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use broccoli_core::problem::{Instance, Problem, RunError, SystemFactory, Verdict};

/// There are at least so many runs, if the system lasts that long: no run takes more of the steps.
const RUNS: u64 = 40;
/// A system whose runs end at once is not run for ever.
const MOST_RUNS: usize = 100_000;
/// No run takes more than one part in so many of the time.
const RUNS_IN_TIME: u32 = 8;
/// The longest time that an action is held, in powers of two.
const HOLDS: usize = 7;

/// What was observed where a tree would have to decide.
#[derive(Debug, Default)]
pub struct Seen {
    pub steps: u64,
    pub runs: usize,
    pub satisfied: usize,
    pub violated: usize,
    pub dimensions: Vec<SeenDimension>,
    /// Whether the same observation and the same action led to different ones.
    pub is_hidden: bool,
}

#[derive(Debug, Default)]
pub struct SeenDimension {
    /// The finite values, in the order in which they were seen.
    pub values: Vec<f64>,
    /// How far the value went in each step, with where it went from and to.
    moves: Vec<(f64, f64)>,
    pub is_infinite: bool,
}

impl SeenDimension {
    fn see(&mut self, before: Option<f64>, value: f64) {
        if !value.is_finite() {
            self.is_infinite = true;
            return;
        }
        self.values.push(value);
        self.moves.extend(before.filter(|before| before.is_finite()).map(|before| (before, value)));
    }

    /// A jump from one end to the other, if all large moves are such jumps, as those of an angle that is
    /// wrapped or of a clock that starts again.
    pub fn wraps(&self) -> Option<(f64, f64)> {
        let low = self.values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = self.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let spread = high - low;
        let is_longer = |part: f64| move |(a, b): &&(f64, f64)| (b - a).abs() > part * spread;
        let large: Vec<&(f64, f64)> = self.moves.iter().filter(is_longer(0.5)).collect();
        let are_jumps = large.iter().all(is_longer(0.9)) && 10 * large.len() < self.moves.len();
        large.first().filter(|_| are_jumps && large.len() >= 3).map(|jump| **jump)
    }
}

/// Runs the system for `most` steps or a little less, or for so long, from all initial states in turn: with each action
/// held, and with random ones, each held for 1, 2, 4, … steps.
pub fn look(
    problem: &Problem,
    factory: &dyn SystemFactory,
    most: u64,
    time: Duration,
    seed: u64,
) -> Result<Seen, RunError> {
    let (states, actions) = (problem.initial_states().len(), problem.actions().len());
    let longest = problem.objective().horizon().min(most.div_ceil(RUNS));
    let mut instance = Instance::new(problem, factory)?;
    let mut random = Random(seed);
    let mut next = Next::default();
    let started = Instant::now();
    let mut seen = Seen {
        dimensions: problem.dimensions().iter().map(|_| SeenDimension::default()).collect(),
        ..Seen::default()
    };
    while seen.steps < most && seen.runs < MOST_RUNS && (seen.steps == 0 || started.elapsed() < time) {
        let run_started = Instant::now();
        let (state, round) = (seen.runs % states, seen.runs / states);
        let held = (round < actions).then_some(round);
        let hold = 1 << (round % HOLDS);
        seen.runs += 1;
        let mut before: Option<Vec<f64>> = None;
        let mut action = 0;
        let mut verdict = instance.reset(state)?;
        for step in 0..=longest {
            if verdict != Verdict::Running {
                break;
            }
            let now = instance.observation().to_vec();
            for (index, dimension) in seen.dimensions.iter_mut().enumerate() {
                dimension.see(before.as_ref().map(|before| before[index]), now[index]);
            }
            if let Some(before) = &before {
                seen.is_hidden |= next.contradicts(before, action, &now);
            }
            let is_late = run_started.elapsed() > time / RUNS_IN_TIME || started.elapsed() > time;
            if step == longest || seen.steps == most || step > 0 && is_late {
                break;
            }
            action = match held {
                Some(action) => action,
                None if step % hold == 0 => random.below(actions),
                None => action,
            };
            verdict = instance.step(action)?;
            seen.steps += 1;
            before = Some(now);
        }
        match verdict {
            Verdict::Satisfied => seen.satisfied += 1,
            Verdict::Violated => seen.violated += 1,
            Verdict::Running => {}
        }
    }
    Ok(seen)
}

/// What followed on an observation and an action.
#[derive(Default)]
struct Next(BTreeMap<(Vec<u64>, usize), Vec<u64>>);

impl Next {
    /// Whether something else followed before.
    fn contradicts(&mut self, before: &[f64], action: usize, now: &[f64]) -> bool {
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<u64>>();
        let known = self.0.entry((bits(before), action)).or_insert_with(|| bits(now));
        *known != bits(now)
    }
}

/// SplitMix64: the same actions on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dimension(values: impl IntoIterator<Item = f64>) -> SeenDimension {
        let mut seen = SeenDimension::default();
        let mut before = None;
        for value in values {
            seen.see(before.replace(value), value);
        }
        seen
    }

    #[test]
    fn what_starts_again_wraps_and_what_bounces_does_not() {
        let clock = dimension((0..200).map(|t| f64::from(t % 20)));
        assert_eq!(clock.wraps(), Some((19.0, 0.0)));
        // A velocity that changes its sign, less each time.
        let bounces = (0..10).flat_map(|i| (0..20).map(move |t| 0.9_f64.powi(i) * f64::from(10 - t)));
        assert_eq!(dimension(bounces).wraps(), None);
        assert_eq!(dimension((0..200).map(f64::from)).wraps(), None);
        assert_eq!(dimension((0..200).map(|t| f64::from(t % 2))).wraps(), None, "a flag that flickers");
        assert_eq!(dimension([]).wraps(), None);
    }

    #[test]
    fn infinite_values_are_noted_and_left_out() {
        let seen = dimension([1.0, f64::INFINITY, 2.0]);
        assert!(seen.is_infinite);
        assert_eq!((seen.values, seen.moves), (vec![1.0, 2.0], vec![]));
    }

    #[test]
    fn hidden_state_shows_when_the_same_leads_to_something_else() {
        let mut next = Next::default();
        assert!(!next.contradicts(&[1.0], 0, &[2.0]));
        assert!(!next.contradicts(&[1.0], 1, &[3.0]));
        assert!(!next.contradicts(&[1.0], 0, &[2.0]));
        assert!(next.contradicts(&[1.0], 0, &[2.5]));
    }
}

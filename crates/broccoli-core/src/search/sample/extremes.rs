//! The runs that led to extreme answers: for each verdict the least and the largest value of each dimension.
//!
//! A limit that is moved changes only the answers beyond it, or at it, which are extreme; a goal or a failure that is moved
//! along a dimension lets the nearest run end, or go on, that was on its other side.

use serde::{Deserialize, Serialize};

use super::run::Run;
use crate::problem::{Problem, Verdict};

const VERDICTS: usize = 3;

/// The extreme values: for each verdict and dimension the least and the largest.
pub(super) struct Bounds(Vec<[f64; 2]>);

impl Bounds {
    pub(super) fn new(dimensions: usize) -> Self {
        Bounds(vec![[f64::INFINITY, f64::NEG_INFINITY]; VERDICTS * dimensions])
    }

    fn of<'b>(&'b self, observation: &[f64], verdict: Verdict) -> &'b [[f64; 2]] {
        &self.0[verdict as usize * observation.len()..][..observation.len()]
    }

    #[inline]
    pub(super) fn is_beyond(&self, observation: &[f64], verdict: Verdict) -> bool {
        let bounds = self.of(observation, verdict).iter();
        bounds.zip(observation).any(|(&[least, largest], &value)| value < least || value > largest)
    }
}

/// The bits of an extreme value, and the run that led there.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Extreme {
    value: u64,
    run: Run,
}

/// The runs, if they are wanted: for each verdict and dimension that with the least value and that with the largest.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Extremes {
    are_wanted: bool,
    runs: Vec<[Option<Extreme>; 2]>,
}

impl Extremes {
    /// To look for them takes some time for each step, too much for a quick system.
    pub(super) fn new(is_quick: bool) -> Self {
        Extremes { are_wanted: !is_quick, runs: Vec::new() }
    }

    pub(super) fn are_wanted(&self) -> bool {
        self.are_wanted
    }

    pub(super) fn is_of(&self, problem: &Problem) -> bool {
        let count = VERDICTS * problem.dimensions().len();
        (self.runs.is_empty() || self.runs.len() == count) && self.runs().all(|run| run.is_of(problem))
    }

    /// All runs that there are.
    pub(super) fn runs(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().flatten().flatten().map(|extreme| &extreme.run)
    }

    /// Takes a run for what its answer is the extreme of, and tells a lane what is known.
    pub(super) fn take(&mut self, bounds: &mut Bounds, observation: &[f64], verdict: Verdict, run: &Run) {
        self.runs.resize(bounds.0.len(), [None, None]);
        let first = verdict as usize * observation.len();
        for (index, &value) in observation.iter().enumerate() {
            let slots = &mut self.runs[first + index];
            for (slot, is_largest) in slots.iter_mut().zip([false, true]) {
                let known = slot.as_ref().map(|extreme| f64::from_bits(extreme.value));
                if known.is_none_or(|known| if is_largest { value > known } else { value < known }) {
                    *slot = Some(Extreme { value: value.to_bits(), run: run.clone() });
                }
            }
        }
        for (bounds, slots) in bounds.0.iter_mut().zip(&self.runs) {
            for (bound, slot) in bounds.iter_mut().zip(slots) {
                *bound = slot.as_ref().map_or(*bound, |extreme| f64::from_bits(extreme.value));
            }
        }
    }
}

//! Initial states, and samples of them that are the same on every platform.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

/// Where a run starts: the values that [`System::reset`](super::System::reset) is given.
///
/// Their number and meaning are the system's own; they need not be an observation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InitialState {
    values: Vec<f64>,
}

impl InitialState {
    /// An initial state with these values.
    pub fn new(values: impl Into<Vec<f64>>) -> Self {
        InitialState { values: values.into() }
    }

    /// The values.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}

impl<const N: usize> From<[f64; N]> for InitialState {
    fn from(values: [f64; N]) -> Self {
        InitialState::new(values)
    }
}

impl From<Vec<f64>> for InitialState {
    fn from(values: Vec<f64>) -> Self {
        InitialState::new(values)
    }
}

/// Samples `count` initial states uniformly from the box `ranges`, given as (low, high) per value.
///
/// The generator is ChaCha8 (`rand_chacha`, seeded by `seed_from_u64`). Each value takes one 64-bit
/// word `w` and is `low + (high - low) * (w >> 11) * 2^-53`; a range of width zero takes a word too.
/// Nothing depends on the platform, and the first `n` samples are the same whatever the count.
///
/// ```
/// use broccoli_core::problem::sample;
/// let some = sample(&[(-0.6, -0.4), (0.0, 0.0)], 2, 7);
/// assert_eq!(some, sample(&[(-0.6, -0.4), (0.0, 0.0)], 3, 7)[..2]);
/// assert!(some.iter().all(|s| (-0.6..-0.4).contains(&s.values()[0]) && s.values()[1] == 0.0));
/// ```
pub fn sample(ranges: &[(f64, f64)], count: usize, seed: u64) -> Vec<InitialState> {
    const UNIT: f64 = 1.0 / (1u64 << 53) as f64;
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    (0..count)
        .map(|_| {
            let draw = |&(low, high): &(f64, f64)| {
                let fraction = (generator.next_u64() >> 11) as f64 * UNIT;
                low + (high - low) * fraction
            };
            InitialState::new(ranges.iter().map(draw).collect::<Vec<_>>())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A change here would change every published result that names a seed.
    #[test]
    fn samples_are_frozen() {
        let values: Vec<f64> =
            sample(&[(0.0, 1.0), (-1.0, 1.0)], 2, 0).iter().flat_map(|s| s.values().to_vec()).collect();
        let frozen = FROZEN.map(f64::from_bits);
        assert_eq!(values, frozen);
    }

    const FROZEN: [u64; 4] = [
        4_604_562_003_098_661_703,
        13_812_947_654_919_474_816,
        4_604_472_542_039_653_460,
        13_829_470_508_298_279_198,
    ];
}

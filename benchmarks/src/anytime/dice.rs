//! Random numbers that are the same for the same seed on every machine: `SplitMix64`.

/// A generator.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Dice(seed)
    }

    /// Any 64 bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.0)
    }

    /// A whole number below `count`, which is not 0.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.bits()) * count as u128) >> 64) as usize
    }

    /// A number from 0 up to but not including 1.
    pub(crate) fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True so often.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.share() < probability
    }

    /// A number of the exponential distribution with mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        -(1.0 - self.share()).ln()
    }

    /// A number of the standard normal distribution.
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * (std::f64::consts::TAU * self.share()).cos()
    }

    /// Puts a list into any order.
    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for end in (1..list.len()).rev() {
            list.swap(end, self.below(end + 1));
        }
    }
}

/// Mixes 64 bits so that each depends on all.
pub(crate) fn mixed(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spread_as_they_should() {
        let mut dice = Dice::new(1);
        let mut counts = [0; 3];
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..30_000 {
            counts[dice.below(3)] += 1;
            let number = dice.normal();
            sum += number;
            squares += number * number;
        }
        assert!(counts.iter().all(|count| (9_500..10_500).contains(count)));
        assert!((sum / 30_000.0).abs() < 0.03 && (squares / 30_000.0 - 1.0).abs() < 0.05);
    }
}

//! Thresholds as integers, for machines without floating point.

use super::{Block, FeatureError, Program};

/// The most bits behind the point.
pub const MAX_FRACTION_BITS: u32 = 31;

/// Why a program has no fixed-point form.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FixedError {
    /// More bits than there are.
    #[error("{0} fraction bits do not fit: it must be from 0 to {MAX_FRACTION_BITS}")]
    Bits(u32),
    /// A derived dimension.
    #[error(transparent)]
    Feature(#[from] FeatureError),
    /// A threshold is too large.
    #[error(
        "{input}: the threshold {threshold:?} does not fit into 32 bits with {bits} fraction bits: use fewer"
    )]
    Range {
        /// The identifier of the input.
        input: String,
        /// The threshold.
        threshold: f64,
        /// The fraction bits.
        bits: u32,
    },
    /// Two thresholds of one input would become equal.
    #[error(
        "{input}: the thresholds {first:?} and {second:?} become equal with {bits} fraction bits: use more"
    )]
    Collapse {
        /// The identifier of the input.
        input: String,
        /// The smaller threshold.
        first: f64,
        /// The larger one.
        second: f64,
        /// The fraction bits.
        bits: u32,
    },
}

impl Program<f64> {
    /// The same program on multiples of `2^-bits`, every threshold rounded up to the next one.
    ///
    /// # Errors
    /// When a threshold does not fit into 32 bits, or two of one input become equal.
    pub fn fixed(&self, bits: u32) -> Result<Program<i32>, FixedError> {
        if bits > MAX_FRACTION_BITS {
            return Err(FixedError::Bits(bits));
        }
        self.without_features("c-fixed")?;
        let mut rounded = Vec::new();
        let root = self.fix(&self.root, bits, &mut rounded)?;
        rounded.sort_by(|(a, _, s), (b, _, t)| a.cmp(b).then(s.total_cmp(t)));
        for pair in rounded.windows(2) {
            let ((input, first_fixed, first), (other, second_fixed, second)) = (pair[0], pair[1]);
            if input == other && first != second && first_fixed == second_fixed {
                let input = self.inputs[input].identifier.clone();
                return Err(FixedError::Collapse { input, first, second, bits });
            }
        }
        Ok(Program {
            header: self.header.clone(),
            inputs: self.inputs.clone(),
            features: Vec::new(),
            action_names: self.action_names.clone(),
            action_values: self.action_values.clone(),
            root,
        })
    }

    /// Rounds the thresholds of a block, and notes each as (input, rounded, exact).
    fn fix(
        &self,
        block: &Block<f64>,
        bits: u32,
        rounded: &mut Vec<(usize, i32, f64)>,
    ) -> Result<Block<i32>, FixedError> {
        match block {
            Block::Return(action) => Ok(Block::Return(*action)),
            Block::Test { input, at_least, yes, no } => {
                // Scaling by a power of two is exact, or overflows to infinity.
                let fixed = (at_least * f64::from(1_u32 << bits)).ceil();
                if fixed < f64::from(i32::MIN) || fixed > f64::from(i32::MAX) {
                    let input = self.inputs[*input].identifier.clone();
                    return Err(FixedError::Range { input, threshold: *at_least, bits });
                }
                let fixed = fixed as i32;
                rounded.push((*input, fixed, *at_least));
                Ok(Block::Test {
                    input: *input,
                    at_least: fixed,
                    yes: Box::new(self.fix(yes, bits, rounded)?),
                    no: Box::new(self.fix(no, bits, rounded)?),
                })
            }
        }
    }
}

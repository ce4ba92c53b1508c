//! Thresholds, predicates, ranks and cells.
//!
//! A predicate is the exact comparison `x[i] >= t`. All floating-point questions of this kind are
//! settled here: thresholds are finite, sorted, without duplicates (-0 is 0), NaN never reaches
//! them, and the infinities compare as they should.

use serde::{Deserialize, Serialize};

/// How many thresholds of a dimension are at most a value.
pub type Rank = u64;

/// The most thresholds that a dimension may list.
pub const MAX_THRESHOLDS: usize = u16::MAX as usize;

/// How many decimal digits of the larger end of its range a grid threshold keeps.
const GRID_DIGITS: i32 = 12;

/// Why a list of thresholds cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ThresholdError {
    /// A number is NaN or infinite.
    #[error("{what} is {value}: it must be a finite number")]
    NotFinite {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// The range is empty.
    #[error("the range from {low} to {high} is empty: low must be less than high")]
    EmptyRange {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// The range is wider than a finite number.
    #[error("the range from {low} to {high} is too wide: high - low must be finite")]
    RangeTooWide {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// The step is zero or negative.
    #[error("the step is {0}: it must be greater than 0")]
    StepNotPositive(f64),
    /// No `low + m*step` lies inside the range.
    #[error("a step of {step} leaves no threshold strictly between {low} and {high}: it must be less than {}", high - low)]
    NoThreshold {
        /// The step.
        step: f64,
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// Neighbouring thresholds are the same number.
    #[error(
        "{what} between {low} and {high} are too close to be told apart: grid thresholds keep {GRID_DIGITS} digits"
    )]
    TooFine {
        /// What the user asked for.
        what: String,
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// A word that is not the one for all thresholds.
    #[error("{0:?} are no thresholds: list them, or write \"all\"")]
    Word(String),
    /// More thresholds than may be listed.
    #[error("{0} thresholds in one dimension: at most {MAX_THRESHOLDS} are allowed")]
    TooMany(u128),
}

/// The thresholds of one dimension: finite, ascending, no two equal. May be empty, which leaves the
/// dimension out; or all finite numbers, so that no list is needed.
///
/// A predicate compares with a number that a machine holds in 64 bits. There are finitely many, so *all thresholds* are
/// one more list of thresholds, only too long to be written down. A predicate with any real number as its threshold is
/// the same as that with the next number of these, so none is missing.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Thresholds {
    /// The thresholds between two that are none: a value of rank r is not below the r-th of these and not
    /// at or above the next. The last is NaN, which not even infinity is above.
    edges: Vec<f64>,
    spacing: Spacing,
}

/// How the rank of a value is found.
#[derive(Clone, Copy, Debug)]
enum Spacing {
    /// The thresholds are evenly spaced: the first one, one over their distance, and how many they are.
    Even([f64; 3]),
    Uneven,
    /// All finite numbers are thresholds; none is listed.
    All,
}

/// Thresholds as they are written down: a list, or the word `all`.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    List(Vec<f64>),
    Word(String),
}

/// How many finite numbers are greater than 0.
const POSITIVE: Rank = f64::MAX.to_bits();

/// How many finite numbers are at most this one; -0 is 0. Numbers of one sign are, as bits, in the order of their sizes.
#[inline(always)]
fn rank_among_all(value: f64) -> Rank {
    let size = value.abs().to_bits();
    if value < 0.0 { POSITIVE + 1 - size } else { POSITIVE + 1 + size.min(POSITIVE) }
}

/// The least number of this rank among all finite ones; minus infinity if there is none.
#[inline(always)]
pub(crate) fn value_of_rank(rank: Rank) -> f64 {
    match rank.checked_sub(POSITIVE + 1) {
        Some(size) => f64::from_bits(size),
        None => -f64::from_bits(POSITIVE + 1 - rank),
    }
}

impl PartialEq for Thresholds {
    fn eq(&self, other: &Self) -> bool {
        self.is_all() == other.is_all() && self.as_slice() == other.as_slice()
    }
}

impl Thresholds {
    /// Thresholds that are known to be finite and ascending.
    fn new(list: Vec<f64>) -> Self {
        let count = list.len() as f64;
        let spacing = match list[..] {
            [] => Spacing::Even([0.0, 1.0, count]),
            [only] => Spacing::Even([only, 1.0, count]),
            [first, .., last] => {
                let step = (last - first) / (list.len() - 1) as f64;
                // Then arithmetic is at most one off, rounding included.
                let is_near = |(i, t): (usize, &f64)| ((t - first) / step - i as f64).abs() < 0.4;
                let is_even = (1.0 / step).is_normal() && list.iter().enumerate().all(is_near);
                if is_even { Spacing::Even([first, 1.0 / step, count]) } else { Spacing::Uneven }
            }
        };
        let mut edges = list;
        edges.insert(0, f64::NEG_INFINITY);
        edges.push(f64::NAN);
        Thresholds { edges, spacing }
    }

    /// No thresholds: the dimension is not used by any predicate.
    pub fn none() -> Self {
        Thresholds::new(Vec::new())
    }

    /// All finite numbers: no grid is needed.
    ///
    /// ```
    /// use broccoli_core::problem::Thresholds;
    /// let all = Thresholds::all();
    /// assert!(all.rank(0.1) < all.rank(0.1f64.next_up()));
    /// assert_eq!(all.rank(0.0), all.rank(-0.0));
    /// ```
    pub fn all() -> Self {
        Thresholds { spacing: Spacing::All, ..Thresholds::none() }
    }

    /// Whether all finite numbers are thresholds.
    pub fn is_all(&self) -> bool {
        matches!(self.spacing, Spacing::All)
    }

    /// `low + m*step` for m = 1, 2, …, strictly inside (low, high), each rounded to 12 digits
    /// relative to max(|low|, |high|): `-2.4 + 24*0.1` is 4.4e-16, and a user means 0.
    ///
    /// ```
    /// use broccoli_core::problem::Thresholds;
    /// let grid = Thresholds::grid(-0.3, 0.3, 0.1)?;
    /// assert_eq!(grid.as_slice(), [-0.2, -0.1, 0.0, 0.1, 0.2]);
    /// # Ok::<(), broccoli_core::problem::ThresholdError>(())
    /// ```
    ///
    /// # Errors
    /// When a number is not finite, the range or the step is empty, no threshold is left, or there
    /// are too many.
    pub fn grid(low: f64, high: f64, step: f64) -> Result<Self, ThresholdError> {
        check_range(low, high)?;
        check_finite("the step", step)?;
        if step <= 0.0 {
            return Err(ThresholdError::StepNotPositive(step));
        }
        let steps = (high - low) / step;
        if steps >= (MAX_THRESHOLDS + 2) as f64 {
            return Err(ThresholdError::TooMany(steps as u128));
        }
        let inside: Vec<f64> = (1..=steps as u32 + 1)
            .map(|m| round_to_grid(low + f64::from(m) * step, low, high))
            .filter(|&t| low < t && t < high)
            .collect();
        if inside.is_empty() {
            return Err(ThresholdError::NoThreshold { step, low, high });
        }
        evenly_spaced(inside, format!("steps of {step}"), low, high)
    }

    /// `count` thresholds evenly spaced strictly inside (low, high), rounded as in [`Thresholds::grid`].
    ///
    /// ```
    /// use broccoli_core::problem::Thresholds;
    /// assert_eq!(Thresholds::count(0.0, 1.0, 3)?.as_slice(), [0.25, 0.5, 0.75]);
    /// # Ok::<(), broccoli_core::problem::ThresholdError>(())
    /// ```
    ///
    /// # Errors
    /// When a number is not finite, the range is empty, or there are too many thresholds for it.
    pub fn count(low: f64, high: f64, count: usize) -> Result<Self, ThresholdError> {
        check_range(low, high)?;
        if count > MAX_THRESHOLDS {
            return Err(ThresholdError::TooMany(count as u128));
        }
        let step = (high - low) / (count + 1) as f64;
        let all = (1..=count).map(|m| round_to_grid(low + m as f64 * step, low, high)).collect();
        evenly_spaced(all, format!("{count} thresholds"), low, high)
    }

    /// The thresholds listed, in any order; duplicates count once and none is dropped.
    ///
    /// ```
    /// use broccoli_core::problem::Thresholds;
    /// assert_eq!(Thresholds::list([2.5, -1.0, 2.5])?.as_slice(), [-1.0, 2.5]);
    /// # Ok::<(), broccoli_core::problem::ThresholdError>(())
    /// ```
    ///
    /// # Errors
    /// When one is not finite, or there are too many.
    pub fn list(thresholds: impl Into<Vec<f64>>) -> Result<Self, ThresholdError> {
        let mut all = thresholds.into();
        for value in &mut all {
            check_finite("a threshold", *value)?;
            *value += 0.0; // -0 becomes 0
        }
        all.sort_by(f64::total_cmp);
        all.dedup();
        if all.len() > MAX_THRESHOLDS {
            return Err(ThresholdError::TooMany(all.len() as u128));
        }
        Ok(Thresholds::new(all))
    }

    /// The thresholds in ascending order. If [all](Thresholds::all) finite numbers are, none is listed.
    pub fn as_slice(&self) -> &[f64] {
        &self.edges[1..self.edges.len() - 1]
    }

    /// How many thresholds there are: the greatest rank.
    pub fn len(&self) -> Rank {
        match self.spacing {
            Spacing::All => 2 * POSITIVE + 1,
            _ => self.as_slice().len() as Rank,
        }
    }

    /// Whether the dimension is left out.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A threshold by its position, counted from 0; NaN beyond the last.
    ///
    /// ```
    /// use broccoli_core::problem::Thresholds;
    /// assert_eq!(Thresholds::list([1.0, 2.0])?.threshold(1), 2.0);
    /// let all = Thresholds::all();
    /// assert_eq!(all.threshold(all.rank(0.1) - 1), 0.1);
    /// # Ok::<(), broccoli_core::problem::ThresholdError>(())
    /// ```
    pub fn threshold(&self, position: Rank) -> f64 {
        match self.spacing {
            _ if position >= self.len() => f64::NAN,
            Spacing::All => value_of_rank(position + 1),
            _ => self.as_slice()[position as usize],
        }
    }

    /// The rank of a value: how many thresholds are at most the value. NaN must be refused before.
    ///
    /// ```
    /// use broccoli_core::problem::Thresholds;
    /// let thresholds = Thresholds::list([1.0, 2.0])?;
    /// assert_eq!([0.9, 1.0, 7.0].map(|x| thresholds.rank(x)), [0, 1, 2]);
    /// # Ok::<(), broccoli_core::problem::ThresholdError>(())
    /// ```
    #[inline(always)]
    pub fn rank(&self, value: f64) -> Rank {
        debug_assert!(!value.is_nan());
        let [first, density, most] = match self.spacing {
            Spacing::Even(even) => even,
            Spacing::Uneven => return self.as_slice().partition_point(|&t| t <= value) as Rank,
            Spacing::All => return rank_among_all(value),
        };
        // At most one off, and comparisons put it right. Without a branch: in which of the cells around it a
        // value lies is hard to predict.
        let place = (value - first) * density + 0.5;
        let place = if place > 0.0 { place } else { 0.0 };
        let place = if place < most { place } else { most };
        // The nearest whole number: so large a float has no other bits for a fraction.
        let guess = (place + (1_u64 << 52) as f64).to_bits() as u32;
        let guess = guess as usize;
        let [low, high] = match self.edges.get(guess..guess + 2) {
            Some(&[low, high]) => [low, high],
            _ => return 0, // there are two around each place
        };
        (guess as Rank) + Rank::from(high <= value) - Rank::from(value < low)
    }

    /// The least value of a rank; minus infinity if there is none.
    pub(crate) fn least(&self, rank: Rank) -> f64 {
        rank.checked_sub(1).map_or(f64::NEG_INFINITY, |position| self.threshold(position))
    }

    /// The position of a threshold, if it is one, so that it is less than the rank of the values at or above it.
    pub fn position(&self, threshold: f64) -> Option<Rank> {
        match self.spacing {
            Spacing::All => threshold.is_finite().then(|| rank_among_all(threshold) - 1),
            _ => {
                let found = self.as_slice().binary_search_by(|t| t.total_cmp(&(threshold + 0.0)));
                found.ok().map(|position| position as Rank)
            }
        }
    }
}

impl Default for Thresholds {
    fn default() -> Self {
        Thresholds::none()
    }
}

impl TryFrom<Written> for Thresholds {
    type Error = ThresholdError;
    fn try_from(written: Written) -> Result<Self, ThresholdError> {
        match written {
            Written::List(list) => Thresholds::list(list),
            Written::Word(word) if word == ALL => Ok(Thresholds::all()),
            Written::Word(word) => Err(ThresholdError::Word(word)),
        }
    }
}

impl From<Thresholds> for Written {
    fn from(thresholds: Thresholds) -> Self {
        match thresholds.is_all() {
            true => Written::Word(ALL.to_owned()),
            false => Written::List(thresholds.as_slice().to_vec()),
        }
    }
}

/// The word for all thresholds, wherever they are written down.
pub const ALL: &str = "all";

fn check_finite(what: &'static str, value: f64) -> Result<(), ThresholdError> {
    if value.is_finite() { Ok(()) } else { Err(ThresholdError::NotFinite { what, value }) }
}

fn check_range(low: f64, high: f64) -> Result<(), ThresholdError> {
    check_finite("the lower end of the range", low)?;
    check_finite("the upper end of the range", high)?;
    if low >= high {
        return Err(ThresholdError::EmptyRange { low, high });
    }
    if !(high - low).is_finite() {
        return Err(ThresholdError::RangeTooWide { low, high });
    }
    Ok(())
}

/// Accepts thresholds made by arithmetic if each is greater than the one before and inside the range.
fn evenly_spaced(all: Vec<f64>, what: String, low: f64, high: f64) -> Result<Thresholds, ThresholdError> {
    let ascending = all.windows(2).all(|pair| pair[0] < pair[1]);
    let inside = all.iter().all(|&t| low < t && t < high);
    if !(ascending && inside) {
        return Err(ThresholdError::TooFine { what, low, high });
    }
    if all.len() > MAX_THRESHOLDS {
        return Err(ThresholdError::TooMany(all.len() as u128));
    }
    Ok(Thresholds::new(all))
}

/// Rounds to 12 decimal digits relative to the larger end of the range, through the decimal form, so
/// that the result is the double nearest to a short decimal number.
pub(super) fn round_to_grid(value: f64, low: f64, high: f64) -> f64 {
    let exponent = decimal_exponent(low.abs().max(high.abs()));
    let decimals = GRID_DIGITS - 1 - exponent;
    let rounded = match usize::try_from(decimals) {
        Ok(decimals) => format!("{value:.decimals$}"),
        Err(_) => {
            // Whole multiples of a power of ten: drop the last digits of the integer part.
            let unit = -decimals;
            format!("{:.0}e{unit}", value / 10f64.powi(unit))
        }
    };
    // A formatted finite number always parses; adding 0 turns -0 into 0.
    rounded.parse::<f64>().unwrap_or(value) + 0.0
}

/// The exponent of a positive number in scientific notation: 2.4 -> 0, 0.07 -> -2.
fn decimal_exponent(magnitude: f64) -> i32 {
    let text = format!("{magnitude:e}");
    text.rsplit('e').next().and_then(|e| e.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_of_the_paper_are_clean_decimals() {
        let x = Thresholds::grid(-2.4, 2.4, 0.1).unwrap();
        assert_eq!(x.len(), 47);
        assert_eq!(x.as_slice()[23], 0.0);
        let theta = Thresholds::grid(-0.418, 0.418, 0.1).unwrap();
        assert_eq!(theta.as_slice()[3], -0.018);
        let velocity = Thresholds::grid(-0.07, 0.07, 0.005).unwrap();
        assert_eq!(velocity.len(), 27);
        assert_eq!(velocity.as_slice()[12], -0.005);
        assert!(velocity.as_slice()[13].is_sign_positive());
    }

    #[test]
    fn ends_of_the_range_are_not_thresholds() {
        // 0.6 is -1.2 + 36*0.05 up to rounding: it is the end of the range, not a threshold.
        assert_eq!(Thresholds::grid(-1.2, 0.6, 0.05).unwrap().len(), 35);
        assert_eq!(Thresholds::grid(0.0, 1.0, 0.9).unwrap().as_slice(), [0.9]);
    }

    #[test]
    fn huge_and_tiny_ranges() {
        assert_eq!(Thresholds::grid(0.0, 3e15, 1e15).unwrap().as_slice(), [1e15, 2e15]);
        assert_eq!(Thresholds::grid(0.0, 3e-200, 1e-200).unwrap().as_slice(), [1e-200, 2e-200]);
        assert_eq!(Thresholds::count(-1e300, 1e300, 1).unwrap().as_slice(), [0.0]);
    }

    #[test]
    fn bad_grids_are_refused() {
        use ThresholdError::*;
        assert!(matches!(Thresholds::grid(f64::NAN, 1.0, 0.1), Err(NotFinite { .. })));
        assert!(matches!(Thresholds::grid(0.0, f64::INFINITY, 0.1), Err(NotFinite { .. })));
        assert!(matches!(Thresholds::grid(0.0, 1.0, f64::INFINITY), Err(NotFinite { .. })));
        assert!(matches!(Thresholds::grid(1.0, 1.0, 0.1), Err(EmptyRange { .. })));
        assert!(matches!(Thresholds::grid(-1e308, 1e308, 0.1), Err(RangeTooWide { .. })));
        assert!(matches!(Thresholds::grid(0.0, 1.0, 0.0), Err(StepNotPositive(_))));
        assert!(matches!(Thresholds::grid(0.0, 1.0, -0.1), Err(StepNotPositive(_))));
        assert!(matches!(Thresholds::grid(0.0, 1.0, 1.0), Err(NoThreshold { .. })));
        assert!(matches!(Thresholds::grid(0.0, 1.0, 1e-300), Err(TooMany(_))));
        assert!(matches!(Thresholds::grid(1.0, 1.0 + 1e-10, 1e-14), Err(TooFine { .. })));
        assert!(matches!(Thresholds::count(0.0, 1.0, 70_000), Err(TooMany(70_000))));
        assert!(matches!(Thresholds::count(1.0, 1.0 + 1e-15, 10), Err(TooFine { .. })));
        assert!(matches!(Thresholds::list([f64::NAN]), Err(NotFinite { .. })));
    }

    #[test]
    fn ranks_of_even_and_uneven_thresholds_count_what_is_at_most_the_value() {
        let lists = [
            Thresholds::grid(-1.2, 0.6, 0.05).unwrap(),
            Thresholds::grid(-0.418, 0.418, 0.1).unwrap(),
            Thresholds::grid(-1e9, 1e9 + 0.1, 3e5).unwrap(),
            Thresholds::list(
                (0..999).map(|i| f64::from(i) + 0.39 * f64::from(i % 3 - 1)).collect::<Vec<_>>(),
            )
            .unwrap(),
            Thresholds::list([-3.0, -2.9, 0.0, 1e-9, 50.0]).unwrap(),
            Thresholds::list([0.0, 1.0, 2.4, 3.0]).unwrap(),
            Thresholds::list([-1e308, 1e308]).unwrap(),
            Thresholds::list([5.0]).unwrap(),
            Thresholds::none(),
        ];
        for thresholds in lists {
            let near = |&t: &f64| [t.next_down(), t, t.next_up(), t - 0.013, t + 0.02];
            let far = [f64::NEG_INFINITY, f64::MIN, -7.0, 0.0, 7.0, f64::MAX, f64::INFINITY];
            for value in thresholds.as_slice().iter().flat_map(near).chain(far) {
                let counted = thresholds.as_slice().iter().filter(|&&t| t <= value).count();
                assert_eq!(thresholds.rank(value), counted as Rank, "{value} in {thresholds:?}");
            }
        }
    }

    #[test]
    fn all_thresholds_are_one_more_list() {
        let all = Thresholds::all();
        let some = [f64::MIN, -1.0, -f64::MIN_POSITIVE, -5e-324, 0.0, 5e-324, 0.1, 1.0, f64::MAX];
        for (place, value) in some.into_iter().enumerate() {
            let position = all.position(value).unwrap();
            assert_eq!(all.threshold(position), value);
            assert_eq!(all.rank(value), position + 1);
            assert_eq!(value_of_rank(all.rank(value)), value);
            if value > f64::MIN {
                assert_eq!(all.rank(value.next_down()), position, "below {value}");
            }
            assert!(some[..place].iter().all(|&less| all.rank(less) < all.rank(value)));
        }
        assert_eq!((all.rank(-0.0), all.position(-0.0)), (all.rank(0.0), all.position(0.0)));
        // No finite number tells infinity from the greatest one.
        assert_eq!((all.rank(f64::NEG_INFINITY), all.rank(f64::MAX)), (0, all.len()));
        assert_eq!(all.rank(f64::INFINITY), all.len());
        assert_eq!(value_of_rank(0), f64::NEG_INFINITY);
        assert_eq!([f64::NAN, f64::INFINITY].map(|t| all.position(t)), [None; 2]);
        assert!(all.threshold(all.len()).is_nan() && !all.is_empty() && all != Thresholds::none());
        let written = serde_json::to_string(&all).unwrap();
        assert_eq!(written, "\"all\"");
        assert_eq!(serde_json::from_str::<Thresholds>(&written).unwrap(), all);
        assert!(serde_json::from_str::<Thresholds>("\"some\"").is_err());
    }

    #[test]
    fn ranks_at_ties_and_infinities() {
        let thresholds = Thresholds::list([-1.0, -0.0, 1.0]).unwrap();
        assert_eq!(thresholds.rank(-0.0), 2);
        assert_eq!(thresholds.rank(f64::NEG_INFINITY), 0);
        assert_eq!(thresholds.rank(f64::INFINITY), 3);
        assert_eq!(thresholds.rank(1.0f64.next_down()), 2);
        assert_eq!(thresholds.position(-0.0), Some(1));
        assert_eq!(thresholds.position(0.5), None);
    }
}

//! Round numbers for thresholds, from the values that were seen.

use broccoli_core::problem::Thresholds;
use broccoli_export::problem_file::literal;

/// The share of values that is left out on either side.
const TAIL: f64 = 0.01;
/// The digits of a step.
const ROUND: [f64; 5] = [1.0, 2.0, 2.5, 5.0, 10.0];

/// The thresholds proposed for a dimension.
#[derive(Clone, Debug, PartialEq)]
pub enum Grid {
    /// None: the value never changes, or too little to be told apart.
    Constant,
    /// There are few values: a threshold between any two.
    List(Thresholds),
    /// Evenly spaced ones.
    Even { low: f64, high: f64, step: f64, thresholds: Thresholds },
}

impl Grid {
    /// About `count` thresholds where the values, which are sorted, mostly are.
    pub fn of(values: &[f64], count: usize) -> Grid {
        let mut distinct = values.to_vec();
        distinct.dedup();
        if distinct.len() <= count.saturating_add(1) {
            let between = distinct.windows(2).filter_map(|pair| between(pair[0], pair[1]));
            let list = Thresholds::list(between.collect::<Vec<f64>>()).unwrap_or_default();
            return if list.is_empty() { Grid::Constant } else { Grid::List(list) };
        }
        let (low, high) = middle_part(values);
        let (first, last) = (distinct[0], distinct[distinct.len() - 1]);
        let (low, high) = if low < high { (low, high) } else { (first, last) };
        even(low, high, count).unwrap_or(Grid::Constant)
    }

    /// All of them.
    pub fn thresholds(&self) -> Thresholds {
        match self {
            Grid::Constant => Thresholds::none(),
            Grid::List(thresholds) | Grid::Even { thresholds, .. } => thresholds.clone(),
        }
    }

    /// So many on the same range instead; a list stays as it is.
    pub fn with(&self, count: usize) -> Thresholds {
        match self {
            Grid::Even { low, high, .. } => Thresholds::count(*low, *high, count).unwrap_or_default(),
            other => other.thresholds(),
        }
    }

    /// As a value in the section `[predicates]` of a problem file.
    pub fn toml(&self) -> String {
        match self {
            Grid::Even { low, high, step, .. } => {
                format!("{{ low = {}, high = {}, step = {} }}", literal(low), literal(high), literal(step))
            }
            other => literal(other.thresholds().as_slice()),
        }
    }
}

/// Between which values all but the lowest and highest of sorted ones are.
pub fn middle_part(values: &[f64]) -> (f64, f64) {
    let Some(last) = values.len().checked_sub(1) else { return (0.0, 0.0) };
    let tail = (TAIL * values.len() as f64) as usize;
    (values[tail], values[last - tail])
}

/// A short number between two.
fn between(low: f64, high: f64) -> Option<f64> {
    let pair = Thresholds::list([low, high]).ok()?.finer(&[low], None);
    pair.as_slice().get(1).copied().filter(|&middle| middle < high)
}

/// Multiples of a round step that reach from below `low` to above `high`.
fn even(low: f64, high: f64, count: usize) -> Option<Grid> {
    let wanted = (high - low) / count as f64;
    let exponent = wanted.log10().floor() as i32;
    let steps = ROUND.iter().filter_map(|digits| format!("{digits}e{exponent}").parse::<f64>().ok());
    let step = steps.min_by(|a, b| (a / wanted).ln().abs().total_cmp(&(b / wanted).ln().abs()))?;
    // As many decimals as the step has: 2.5e-3 has four.
    let decimals = usize::try_from(1 - exponent).unwrap_or(0);
    let multiple = |m: f64| format!("{:.decimals$}", m * step).parse::<f64>().map(|x| x + 0.0).ok();
    let (low, high) = (multiple((low / step).floor())?, multiple((high / step).ceil())?);
    let thresholds = Thresholds::grid(low, high, step).ok()?;
    Some(Grid::Even { low, high, step, thresholds })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl IntoIterator<Item = f64>, count: usize) -> String {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        Grid::of(&values, count).toml()
    }

    #[test]
    fn steps_are_round_and_zero_is_a_threshold() {
        let wave =
            |scale: f64, shift: f64| (0..1000).map(move |i| shift + scale * (f64::from(i) / 500.0 - 1.0));
        assert_eq!(of(wave(1.0, 0.0), 10), "{ low = -1.0, high = 1.0, step = 0.2 }");
        assert_eq!(of(wave(0.07, 0.0), 10), "{ low = -0.07, high = 0.07, step = 0.01 }");
        assert_eq!(of(wave(0.9, -0.3), 20), "{ low = -1.2, high = 0.6, step = 0.1 }");
        assert_eq!(of(wave(3e7, 0.0), 5), "{ low = -30000000.0, high = 30000000.0, step = 10000000.0 }");
        assert_eq!(of(wave(1e-9, 0.0), 10), "{ low = -1e-9, high = 1e-9, step = 2e-10 }");
        let Grid::Even { thresholds, .. } = Grid::of(&wave(0.07, 0.0).collect::<Vec<_>>(), 10) else {
            panic!("it is even")
        };
        assert_eq!(thresholds.as_slice()[5..8], [-0.01, 0.0, 0.01]);
    }

    #[test]
    fn outliers_do_not_widen_the_range() {
        let mut values: Vec<f64> = (0..1000).map(|i| f64::from(i) / 1000.0).collect();
        values[999] = 1e6;
        assert_eq!(of(values, 10), "{ low = 0.0, high = 1.0, step = 0.1 }");
        // Unless nothing else changes.
        let mostly = (0..1000).map(|i| if i < 995 { 0.0 } else { f64::from(i) });
        assert_eq!(of(mostly, 3), "{ low = 0.0, high = 1000.0, step = 250.0 }");
    }

    #[test]
    fn few_values_get_a_threshold_between_any_two() {
        assert_eq!(of([0.0, 1.0, 1.0, 0.0], 10), "[0.5]");
        assert_eq!(of([0.1, 0.2, 0.4], 10), "[0.15,0.3]");
        assert_eq!(Grid::of(&[7.0, 7.0], 10), Grid::Constant);
        assert_eq!(Grid::of(&[], 10), Grid::Constant);
        assert_eq!(of([1.0, 1.0_f64.next_up()], 10), "[]");
    }

    #[test]
    fn values_that_hardly_differ_and_huge_ones_are_no_trouble() {
        let tiny = (0..100).map(|i| 1.0 + f64::from(i) * f64::EPSILON);
        assert_eq!(of(tiny, 10), "[]", "twelve digits do not tell them apart");
        let huge = (0..100).map(|i| (f64::from(i) - 50.0) * 1e306);
        assert!(of(huge, 10).starts_with("{ low"), "wide, but finite");
        let wider = [f64::MIN, -1.0, 0.0, 1.0, f64::MAX];
        assert_eq!(of(wider, 2), "[]", "no step is that wide");
    }
}

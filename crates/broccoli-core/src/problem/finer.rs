//! Finer thresholds around some of them.

use super::Thresholds;
use super::predicates::round_to_grid;

impl Thresholds {
    /// These thresholds and, on both sides of each of those in `around`, the middle to the next one, or to
    /// the end of `range` if there is no next one and a range is given. Rounded as in [`Thresholds::grid`]; a
    /// middle that cannot be told apart from its neighbours is left out.
    ///
    /// ```
    /// use broccoli_core::problem::Thresholds;
    /// let grid = Thresholds::grid(0.0, 0.5, 0.1)?;
    /// assert_eq!(grid.finer(&[0.2], None).as_slice(), [0.1, 0.15, 0.2, 0.25, 0.3, 0.4]);
    /// assert_eq!(grid.finer(&[0.4], Some((0.0, 0.5))).as_slice(), [0.1, 0.2, 0.3, 0.35, 0.4, 0.45]);
    /// # Ok::<(), broccoli_core::problem::ThresholdError>(())
    /// ```
    pub fn finer(&self, around: &[f64], range: Option<(f64, f64)>) -> Thresholds {
        let list = self.as_slice();
        let (low, high) = range.unzip();
        let mut all = list.to_vec();
        if self.is_all() {
            return self.clone();
        }
        for at in around.iter().filter_map(|&threshold| self.position(threshold)) {
            let at = at as usize;
            let before = at.checked_sub(1).map(|before| list[before]).or(low);
            let after = list.get(at + 1).copied().or(high);
            all.extend(before.and_then(|before| middle(before, list[at])));
            all.extend(after.and_then(|after| middle(list[at], after)));
        }
        // As many as ranks can count, or none more.
        Thresholds::list(all).unwrap_or_else(|_| self.clone())
    }
}

/// The middle of two numbers, if they leave room for one.
fn middle(low: f64, high: f64) -> Option<f64> {
    let middle = round_to_grid(low / 2.0 + high / 2.0, low, high);
    (low < middle && middle < high).then_some(middle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finer_list_holds_the_coarser_one() {
        let mut thresholds = Thresholds::grid(-1.2, 0.6, 0.05).unwrap();
        for _ in 0..60 {
            let finer = thresholds.finer(&[-0.45, 0.55, -1.15], Some((-1.2, 0.6)));
            assert!(thresholds.as_slice().iter().all(|&t| finer.position(t).is_some()));
            assert!(finer.len() <= thresholds.len() + 6);
            assert!(finer.as_slice().iter().all(|&t| -1.2 < t && t < 0.6));
            thresholds = finer;
        }
        // Halving comes to an end where twelve digits do.
        assert_eq!(thresholds.finer(&[-0.45], None), thresholds);
    }

    #[test]
    fn middles_are_short_numbers_and_only_where_they_were_asked_for() {
        let thresholds = Thresholds::list([-0.07, -0.014, 0.0, 0.1]).unwrap();
        assert_eq!(thresholds.finer(&[-0.0], None).as_slice(), [-0.07, -0.014, -0.007, 0.0, 0.05, 0.1]);
        assert_eq!(thresholds.finer(&[0.05], None), thresholds, "it is none of them");
        let alone = Thresholds::list([0.25]).unwrap();
        assert_eq!(alone.finer(&[0.25], None), alone);
        assert_eq!(alone.finer(&[0.25], Some((0.0, 1.0))).as_slice(), [0.125, 0.25, 0.625]);
        let wide = Thresholds::list([f64::MIN, f64::MAX]).unwrap();
        assert_eq!(wide.finer(&[f64::MAX], None).as_slice(), [f64::MIN, 0.0, f64::MAX]);
    }
}

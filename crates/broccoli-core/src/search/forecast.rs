//! How many queries are still to come, as far as that can be said.
//!
//! Nothing that a search knows on its way tells much about its end: neither how many behaviours are set aside, nor which
//! share of the walk has ended, nor the number of trees. A regression over sixteen such figures of recorded searches
//! leaves a range that is hardly narrower than the one from the queries made alone. So it is that one, and it is wide. The
//! factors are measured: `cargo xtask bench forecast`.

/// How many queries a search will still make: nine searches of ten make so many, from the first hundredth of them on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// At least so many …
    pub least: u64,
    /// … and at most so many.
    pub most: u64,
}

impl Forecast {
    /// For a search that has made so many queries. If its best tree is perfect only smaller ones are still searched.
    pub(super) fn new(queries: u64, is_perfect: bool) -> Self {
        let (part, times) = if is_perfect { PERFECT } else { OPEN };
        Forecast { least: queries / part, most: queries.saturating_mul(times) }
    }
}

/// One part in so many of the queries made, and so many times as many.
const OPEN: (u64, u64) = (12, 100);
const PERFECT: (u64, u64) = (64, 3);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_perfect_tree_leaves_less_to_do() {
        let [open, perfect] = [false, true].map(|is_perfect| Forecast::new(6_400, is_perfect));
        assert_eq!(open, Forecast { least: 533, most: 640_000 });
        assert_eq!(perfect, Forecast { least: 100, most: 19_200 });
        assert_eq!(Forecast::new(u64::MAX, false).most, u64::MAX);
    }
}

//! Prices of dimensions, and which of them a tree may ask.

use super::{Dimension, Problem, ProblemError, Thresholds};
use crate::tree::Tree;

/// The most dimensions that can have a price: each set of them may take a pass of its own.
pub const MAX_PRICES: usize = 16;

pub(super) fn is_free(price: &f64) -> bool {
    *price == 0.0
}

/// Checks the prices of all dimensions.
pub(super) fn check(dimensions: &[Dimension]) -> Result<(), ProblemError> {
    let is_price = |price: f64| price.is_finite() && price >= 0.0;
    if let Some(Dimension { name, price, .. }) = dimensions.iter().find(|d| !is_price(d.price)) {
        return Err(ProblemError::Price { name: name.clone(), price: *price });
    }
    match dimensions.iter().filter(|d| !is_free(&d.price)).count() {
        count if count > MAX_PRICES => Err(ProblemError::PriceCount(count)),
        _ if dimensions.iter().map(|d| d.price).sum::<f64>().is_infinite() => Err(ProblemError::PriceSum),
        _ => Ok(()),
    }
}

impl Problem {
    /// The price of a tree: the sum of the prices of the dimensions that it asks.
    ///
    /// ```
    /// use broccoli_core::problem::{Objective, Problem, Thresholds};
    /// use broccoli_core::tree::Tree;
    /// let problem = Problem::builder()
    ///     .dimension("x", Thresholds::list([1.0])?)
    ///     .dimension("y", Thresholds::list([1.0])?)
    ///     .price("y", 2.5)
    ///     .action("a", 0.0)
    ///     .action("b", 1.0)
    ///     .initial([0.0])
    ///     .objective(Objective::reach(1))
    ///     .build()?;
    /// assert_eq!(problem.price(&Tree::node(0, 1.0, Tree::Leaf(0), Tree::Leaf(1))), 0.0);
    /// assert_eq!(problem.price(&Tree::node(1, 1.0, Tree::Leaf(0), Tree::Leaf(1))), 2.5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn price(&self, tree: &Tree) -> f64 {
        self.price_of(&Vec::from_iter(tree.dimensions()))
    }

    /// The sum of the prices of some dimensions, given in their order.
    pub(crate) fn price_of(&self, dimensions: &[usize]) -> f64 {
        // The sum of no numbers is -0.
        dimensions.iter().filter_map(|&index| self.dimensions.get(index)).fold(0.0, |sum, d| sum + d.price)
    }

    /// Whether any dimension has a price.
    pub fn has_prices(&self) -> bool {
        self.dimensions.iter().any(|d| d.price > 0.0)
    }

    /// The same problem without the thresholds of those dimensions that a tree may not ask.
    pub(crate) fn asking(&self, may_ask: impl Fn(usize) -> bool) -> Problem {
        let mut problem = self.clone();
        for (index, dimension) in problem.dimensions.iter_mut().enumerate() {
            if !may_ask(index) {
                dimension.thresholds = Thresholds::none();
            }
        }
        problem
    }
}

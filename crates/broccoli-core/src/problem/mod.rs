//! The problem: a black box, what a tree may ask of it, what it may do, and what is wanted.
//!
//! Everything here is plain data, checked once when a [`Problem`] is built; the engines rely on it.

mod batch;
mod finer;
mod initial;
mod instance;
mod limits;
pub(crate) mod measure;
mod objective;
mod predicates;
mod prices;
pub(crate) mod seen;
mod stop;
mod system;

pub use batch::{BatchError, BatchSystem, Batches, Row};
pub(crate) use batch::{Table, append_words};
pub use initial::{InitialState, sample};
pub use instance::{Instance, RunError};
pub(crate) use instance::{started, words};
pub use limits::{LimitError, MAX_DEPTH, TreeLimits};
pub use objective::{Aim, Objective, Over, Return, Value, rank, unrank};
pub(crate) use predicates::value_of_rank;
pub use predicates::{ALL, MAX_THRESHOLDS, Rank, ThresholdError, Thresholds};
pub use prices::MAX_PRICES;
pub(crate) use stop::Gate;
pub use stop::{Stop, StopReason};
pub use system::{ComeBack, Memory, Needs, Reply, System, SystemError, SystemFactory, Verdict};

use serde::{Deserialize, Serialize};

/// The most dimensions of a problem.
pub const MAX_DIMENSIONS: usize = u16::MAX as usize;
/// The most of them that are derived: each is computed in every step.
pub const MAX_DERIVED: usize = 256;
/// The longest name of a dimension or an action, in bytes: a tree shows it at every node.
pub const MAX_NAME: usize = 1_000;

/// One dimension of the observation: its name and the thresholds that predicates may use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dimension {
    /// The name shown to people.
    pub name: String,
    /// The thresholds; none leaves the dimension out.
    pub thresholds: Thresholds,
    /// How the dimension is computed from the others, if it is a derived feature and not observed. The
    /// system writes its value like any other; the text is for whoever applies the tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expression: Option<String>,
    /// What a tree pays that asks this dimension, however often: among trees of the best value and the
    /// smallest size, one of the least price is wanted. A finite number, 0 or more.
    #[serde(default, skip_serializing_if = "prices::is_free")]
    pub price: f64,
}

/// One of the finitely many actions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Action {
    /// The name shown to people.
    pub name: String,
    /// The value that the system is given.
    pub value: f64,
}

/// Why a problem is not well formed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProblemError {
    /// No dimension at all.
    #[error("the problem has no dimension: at least 1 is needed")]
    NoDimension,
    /// More dimensions, or more derived ones, than are allowed.
    #[error("the problem has {count} {what}: at most {most} are allowed")]
    DimensionCount {
        /// `"dimensions"` or `"derived dimensions"`.
        what: &'static str,
        /// How many.
        count: usize,
        /// How many are allowed.
        most: usize,
    },
    /// A name that is too long to be shown again and again.
    #[error("one of the names of the {what} has {length} bytes: at most {MAX_NAME} are allowed")]
    NameLength {
        /// `"dimensions"` or `"actions"`.
        what: &'static str,
        /// How long it is.
        length: usize,
    },
    /// Fewer than two actions, or more than fit.
    #[error("the problem has {0} action(s): from 2 to {max} are allowed", max = u16::MAX)]
    ActionCount(usize),
    /// An action's value is NaN or infinite.
    #[error("action {name:?} has the value {value}: it must be a finite number")]
    ActionValue {
        /// The action's name.
        name: String,
        /// Its value.
        value: f64,
    },
    /// Two dimensions, or two actions, share a name.
    #[error("the name {name:?} is used by two {what}")]
    DuplicateName {
        /// `"dimensions"` or `"actions"`.
        what: &'static str,
        /// The shared name.
        name: String,
    },
    /// An observed dimension behind a derived one.
    #[error("dimension {0:?} is observed and comes after a derived one: derived dimensions come last")]
    ObservedLast(String),
    /// A price is negative, NaN or infinite.
    #[error("the price of dimension {name:?} is {price}: it must be a finite number of at least 0")]
    Price {
        /// The dimension's name.
        name: String,
        /// The price.
        price: f64,
    },
    /// There are too many prices.
    #[error("{0} dimensions have a price: at most {MAX_PRICES} can have one")]
    PriceCount(usize),
    /// The prices cannot be added up.
    #[error("the sum of all prices is not finite: give smaller ones")]
    PriceSum,
    /// A price for a dimension that does not exist.
    #[error("there is a price for {0:?}, which is no dimension")]
    PricedNothing(String),
    /// No initial state.
    #[error("the problem has no initial state: at least 1 is needed")]
    NoInitialState,
    /// An initial state holds NaN or an infinity.
    #[error("value {position} of initial state {state} is {value}: it must be a finite number")]
    InitialValue {
        /// Which initial state, counted from 0.
        state: usize,
        /// Which of its values, counted from 0.
        position: usize,
        /// The value.
        value: f64,
    },
    /// No objective was given.
    #[error("the problem has no objective: give reach, survive or return, with a horizon")]
    NoObjective,
    /// The horizon is 0.
    #[error("the horizon is 0: it must be at least 1 step")]
    NoHorizon,
    /// The share of the initial states is none.
    #[error("the share is {0}: it must be above 0 and at most 1")]
    Share(f64),
    /// A share is asked for of an objective that has none.
    #[error("a share of the initial states is for `reach`, not for `{0}`")]
    ShareOf(&'static str),
    /// There are too many weights or too few.
    #[error("there must be as many weights as initial states: given are {given}, and there are {states}")]
    Weights {
        /// How many there are.
        given: usize,
        /// How many initial states there are.
        states: usize,
    },
    /// There are weights, and the objective takes no notice of them.
    #[error("there are weights, but the objective is not a weighted sum")]
    NotWeighted,
    /// A weight is negative, too large or no number.
    #[error("weight {position} is {weight}: it must be from 0 to 1e100")]
    Weight {
        /// Which one, counted from 0.
        position: usize,
        /// The weight.
        weight: f64,
    },
    /// No initial state weighs anything.
    #[error("all weights are 0: at least one must be more")]
    NoWeight,
    /// The discount is not from 0 to 1.
    #[error("the discount is {0}: it must be from 0 to 1")]
    Discount(f64),
    /// The bounds on rewards are no bounds.
    #[error("the bounds on rewards are no finite numbers in increasing order")]
    RewardBounds,
    /// The limits on trees are not possible.
    #[error(transparent)]
    Limits(#[from] LimitError),
}

/// A well-formed problem. Made by [`Problem::builder`]; the system itself comes from a
/// [`SystemFactory`].
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    dimensions: Vec<Dimension>,
    actions: Vec<Action>,
    initial_states: Vec<InitialState>,
    objective: Objective,
    weights: Vec<f64>,
    limits: TreeLimits,
}

impl Problem {
    /// Starts a problem; see the example in the [crate's page](crate).
    pub fn builder() -> ProblemBuilder {
        ProblemBuilder::default()
    }

    /// The dimensions of the observation, with their thresholds.
    pub fn dimensions(&self) -> &[Dimension] {
        &self.dimensions
    }

    /// The actions, two or more.
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// The initial states, one or more.
    pub fn initial_states(&self) -> &[InitialState] {
        &self.initial_states
    }

    /// What is wanted.
    pub fn objective(&self) -> Objective {
        self.objective
    }

    /// What each initial state weighs, if the objective is [weighted](Over::Weighted).
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The value that no tree can beat: 0 steps to the goal, the whole horizon survived, or the best reward
    /// at every step, as far as the best is known.
    pub fn perfect(&self) -> u64 {
        match (measure::Tally::new(self), self.objective) {
            (Some(mut tally), _) => tally.perfect(),
            (None, Objective::Survive { horizon, .. }) => horizon,
            (None, _) => 0,
        }
    }

    /// The value over all initial states, from those of their traces; nothing for one that fails.
    pub fn overall(&self, values: &[Option<u64>]) -> Option<u64> {
        if values.len() != self.initial_states.len() {
            return None;
        }
        if self.objective.is_plain() {
            let values: Option<Vec<u64>> = values.iter().copied().collect();
            let values = values?.into_iter();
            return if self.objective.is_minimised() { values.max() } else { values.min() };
        }
        let traces: Option<Vec<f64>> = values.iter().map(|value| self.number_of_trace(*value)).collect();
        measure::aggregate(self.objective, &self.weights, &traces?, &mut Vec::new())
    }

    /// What the value of one trace counts; nothing if it may not fail, but does.
    fn number_of_trace(&self, value: Option<u64>) -> Option<f64> {
        match (value, self.objective, self.objective.over()) {
            (Some(value), Objective::Return(_), _) => Some(unrank(value)),
            (Some(steps), ..) => Some(steps as f64),
            (None, _, Over::Share(_)) => Some(measure::FAILED),
            (None, ..) => None,
        }
    }

    /// The limits on the tree.
    pub fn limits(&self) -> TreeLimits {
        self.limits
    }

    /// The number of predicates, over all dimensions; none if [all](Thresholds::all) thresholds of some count.
    pub fn predicate_count(&self) -> Option<u64> {
        let counts = self.dimensions.iter().map(|d| (!d.thresholds.is_all()).then(|| d.thresholds.len()));
        counts.sum()
    }

    /// The first dimension of which [all](Thresholds::all) thresholds count.
    pub fn without_grid(&self) -> Option<&Dimension> {
        self.dimensions.iter().find(|dimension| dimension.thresholds.is_all())
    }

    /// The same problem from some of its initial states only, given by their indices.
    pub(crate) fn starting_from(&self, initial: &[usize]) -> Problem {
        let initial_states = initial.iter().map(|&index| self.initial_states[index].clone()).collect();
        let weights = initial.iter().filter_map(|&index| self.weights.get(index).copied()).collect();
        Problem { initial_states, weights, ..self.clone() }
    }

    /// The same problem with at most so many predicate nodes, of those that it allows.
    pub(crate) fn limited_to(&self, nodes: u64) -> Problem {
        Problem { limits: self.limits.with_nodes(nodes), ..self.clone() }
    }

    /// The same problem with only some of its thresholds in each dimension.
    pub(crate) fn on_thresholds(&self, mut some: impl FnMut(&Thresholds) -> Thresholds) -> Problem {
        let mut coarse = self.clone();
        for dimension in &mut coarse.dimensions {
            dimension.thresholds = some(&dimension.thresholds);
        }
        coarse
    }

    /// Writes the cell of an observation: its rank in every dimension.
    #[inline(always)]
    pub fn cell(&self, observation: &[f64], cell: &mut [Rank]) {
        for ((rank, dimension), &value) in cell.iter_mut().zip(&self.dimensions).zip(observation) {
            *rank = dimension.thresholds.rank(value);
        }
    }
}

/// Collects the parts of a [`Problem`] and checks them together.
#[derive(Clone, Debug, Default)]
pub struct ProblemBuilder {
    dimensions: Vec<Dimension>,
    prices: Vec<(String, f64)>,
    actions: Vec<Action>,
    initial_states: Vec<InitialState>,
    objective: Option<Objective>,
    weights: Vec<f64>,
    depth: u32,
    nodes: Option<u64>,
}

impl ProblemBuilder {
    /// Adds a dimension of the observation, in the order in which the system writes them.
    pub fn dimension(mut self, name: impl Into<String>, thresholds: Thresholds) -> Self {
        self.dimensions.push(Dimension { name: name.into(), thresholds, expression: None, price: 0.0 });
        self
    }

    /// Adds a dimension with all that is known of it; derived ones come last.
    pub fn dimension_like(mut self, dimension: &Dimension) -> Self {
        self.dimensions.push(dimension.clone());
        self
    }

    /// Gives a dimension a price, by its name; see [`Dimension::price`].
    pub fn price(mut self, name: impl Into<String>, price: f64) -> Self {
        self.prices.push((name.into(), price));
        self
    }

    /// Adds an action; its index is the number of actions added before.
    pub fn action(mut self, name: impl Into<String>, value: f64) -> Self {
        self.actions.push(Action { name: name.into(), value });
        self
    }

    /// Adds an initial state.
    pub fn initial(mut self, state: impl Into<InitialState>) -> Self {
        self.initial_states.push(state.into());
        self
    }

    /// Adds several initial states.
    pub fn initials(mut self, states: impl IntoIterator<Item = InitialState>) -> Self {
        self.initial_states.extend(states);
        self
    }

    /// Sets what is wanted.
    pub fn objective(mut self, objective: Objective) -> Self {
        self.objective = Some(objective);
        self
    }

    /// Sets what each initial state weighs, for an objective that is [weighted](Over::Weighted).
    pub fn weights(mut self, weights: impl IntoIterator<Item = f64>) -> Self {
        self.weights = weights.into_iter().collect();
        self
    }

    /// Limits the depth of the tree; without it only lone leaves (depth 0) are searched.
    pub fn depth(mut self, depth: u32) -> Self {
        self.depth = depth;
        self
    }

    /// Limits the number of predicate nodes; without it, all that the depth allows.
    pub fn nodes(mut self, nodes: u64) -> Self {
        self.nodes = Some(nodes);
        self
    }

    /// Checks everything.
    ///
    /// # Errors
    /// The first thing that is missing or wrong.
    pub fn build(mut self) -> Result<Problem, ProblemError> {
        if self.dimensions.is_empty() {
            return Err(ProblemError::NoDimension);
        }
        let derived = self.dimensions.iter().filter(|d| d.expression.is_some()).count();
        for (what, count, most) in [
            ("dimensions", self.dimensions.len(), MAX_DIMENSIONS),
            ("derived dimensions", derived, MAX_DERIVED),
        ] {
            if count > most {
                return Err(ProblemError::DimensionCount { what, count, most });
            }
        }
        check_names("dimensions", self.dimensions.iter().map(|d| d.name.as_str()))?;
        for (name, price) in self.prices {
            match self.dimensions.iter_mut().find(|d| d.name == name) {
                Some(dimension) => dimension.price = price,
                None => return Err(ProblemError::PricedNothing(name)),
            }
        }
        prices::check(&self.dimensions)?;
        let mut derived = self.dimensions.iter().skip_while(|d| d.expression.is_none());
        if let Some(dimension) = derived.find(|d| d.expression.is_none()) {
            return Err(ProblemError::ObservedLast(dimension.name.clone()));
        }
        if !(2..=usize::from(u16::MAX)).contains(&self.actions.len()) {
            return Err(ProblemError::ActionCount(self.actions.len()));
        }
        check_names("actions", self.actions.iter().map(|a| a.name.as_str()))?;
        if let Some(action) = self.actions.iter().find(|a| !a.value.is_finite()) {
            return Err(ProblemError::ActionValue { name: action.name.clone(), value: action.value });
        }
        if self.initial_states.is_empty() {
            return Err(ProblemError::NoInitialState);
        }
        for (state, initial) in self.initial_states.iter().enumerate() {
            if let Some(position) = initial.values().iter().position(|v| !v.is_finite()) {
                let value = initial.values()[position];
                return Err(ProblemError::InitialValue { state, position, value });
            }
        }
        let objective = self.objective.ok_or(ProblemError::NoObjective)?;
        if objective.horizon() == 0 {
            return Err(ProblemError::NoHorizon);
        }
        check_objective(&objective, &self.weights, self.initial_states.len())?;
        Ok(Problem {
            dimensions: self.dimensions,
            actions: self.actions,
            initial_states: self.initial_states,
            objective,
            weights: self.weights,
            limits: TreeLimits::new(self.depth, self.nodes)?,
        })
    }
}

fn check_names<'a>(what: &'static str, names: impl Iterator<Item = &'a str>) -> Result<(), ProblemError> {
    let mut seen = std::collections::BTreeSet::new();
    for name in names {
        if name.len() > MAX_NAME {
            return Err(ProblemError::NameLength { what, length: name.len() });
        }
        if !seen.insert(name) {
            return Err(ProblemError::DuplicateName { what, name: name.to_owned() });
        }
    }
    Ok(())
}

/// Sums stay finite.
const LARGEST_WEIGHT: f64 = 1e100;

fn check_weights(weights: &[f64], states: usize) -> Result<(), ProblemError> {
    if weights.len() != states {
        return Err(ProblemError::Weights { given: weights.len(), states });
    }
    let is_wrong = |weight: &f64| !(0.0..=LARGEST_WEIGHT).contains(weight);
    match weights.iter().position(is_wrong) {
        Some(position) => Err(ProblemError::Weight { position, weight: weights[position] }),
        None if weights.iter().all(|&weight| weight == 0.0) => Err(ProblemError::NoWeight),
        None => Ok(()),
    }
}

fn check_objective(objective: &Objective, weights: &[f64], states: usize) -> Result<(), ProblemError> {
    match objective.over() {
        Over::Share(_) if !matches!(objective, Objective::Reach { .. }) => {
            return Err(ProblemError::ShareOf(objective.name()));
        }
        Over::Share(share) if !(share > 0.0 && share <= 1.0) => return Err(ProblemError::Share(share)),
        Over::Weighted => check_weights(weights, states)?,
        _ if !weights.is_empty() => return Err(ProblemError::NotWeighted),
        _ => {}
    }
    if let Objective::Return(Return { discount, low, high, .. }) = *objective {
        if !(0.0..=1.0).contains(&discount) {
            return Err(ProblemError::Discount(discount));
        }
        let are_finite = low.is_none_or(f64::is_finite) && high.is_none_or(f64::is_finite);
        if !are_finite || low.zip(high).is_some_and(|(low, high)| low > high) {
            return Err(ProblemError::RewardBounds);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> ProblemBuilder {
        Problem::builder()
            .dimension("x", Thresholds::list([0.0]).unwrap())
            .action("a", 0.0)
            .action("b", 1.0)
            .initial([0.0])
            .objective(Objective::reach(1))
    }

    #[test]
    fn every_missing_or_wrong_part_is_named() {
        use ProblemError::*;
        assert!(good().build().is_ok());
        let wrong = |builder: ProblemBuilder| builder.build().unwrap_err();
        assert_eq!(wrong(Problem::builder()), NoDimension);
        assert_eq!(wrong(Problem::builder().dimension("x", Thresholds::none())), ActionCount(0));
        assert!(matches!(wrong(good().dimension("x", Thresholds::none())), DuplicateName { .. }));
        assert!(matches!(wrong(good().action("b", 2.0)), DuplicateName { .. }));
        let expression = Some("x".to_owned());
        let derived = Dimension { name: "z".into(), thresholds: Thresholds::none(), expression, price: 0.0 };
        assert!(good().dimension_like(&derived).build().is_ok());
        let last = good().dimension_like(&derived).dimension("y", Thresholds::none());
        assert_eq!(wrong(last), ObservedLast("y".into()));
        assert!(good().price("x", 0.5).build().is_ok_and(|problem| problem.has_prices()));
        assert!(good().price("x", -0.0).build().is_ok_and(|problem| !problem.has_prices()));
        for price in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(wrong(good().price("x", price)), Price { .. }));
        }
        assert_eq!(wrong(good().price("y", 1.0)), PricedNothing("y".into()));
        let dear = |builder: ProblemBuilder, i: usize| {
            builder.dimension(format!("y{i}"), Thresholds::none()).price(format!("y{i}"), 1e308)
        };
        assert_eq!(wrong((0..2).fold(good(), dear)), PriceSum);
        assert_eq!(wrong((0..17).fold(good(), dear)), PriceCount(17));
        assert!(matches!(wrong(good().action("c", f64::NAN)), ActionValue { .. }));
        assert!(matches!(wrong(good().initial([0.0, f64::NAN])), InitialValue { state: 1, position: 1, .. }));
        assert_eq!(wrong(good().objective(Objective::survive(0))), NoHorizon);
        assert!(matches!(wrong(good().depth(1).nodes(2)), Limits(_)));
        let mut none = good();
        none.initial_states.clear();
        assert_eq!(wrong(none), NoInitialState);
        let mut none = good();
        none.objective = None;
        assert_eq!(wrong(none), NoObjective);
    }

    #[test]
    fn a_cell_is_the_vector_of_ranks() {
        let problem = good().dimension("y", Thresholds::none()).build().unwrap();
        let mut cell = [9, 9];
        problem.cell(&[0.0, 5.0], &mut cell);
        assert_eq!(cell, [1, 0]);
    }
}

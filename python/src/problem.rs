//! Problems as plain data, thresholds, and the facts of the built-in environments.

use std::sync::Arc;

use broccoli_core::problem::{
    ALL as ALL_THRESHOLDS, Aim, InitialState, Objective, Over, Problem, Return, ThresholdError, Thresholds,
};
use broccoli_environments::{ALL, ActionSpace, Environment, Variant, find};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Names and thresholds.
type Dimensions = Vec<(String, Listed)>;
/// Names and values.
type Actions = Vec<(String, f64)>;
/// What `ProblemData` is made from.
type Arguments =
    (Dimensions, Actions, Vec<Vec<f64>>, (&'static str, u64), (u32, u64), Prices, Across, Rewards);
/// How initial states count: in a word, the share of them, and their weights.
type Across = (String, f64, Vec<f64>);
/// The discount, whether the return is minimised, and the least and the largest reward.
type Rewards = (f64, bool, Option<f64>, Option<f64>);
/// Names of dimensions and their prices.
type Prices = Vec<(String, f64)>;

/// The thresholds of a dimension: a list, or the word for all of them.
#[derive(FromPyObject, IntoPyObject)]
enum Listed {
    Word(String),
    List(Vec<f64>),
}

impl From<&Thresholds> for Listed {
    fn from(thresholds: &Thresholds) -> Self {
        match thresholds.is_all() {
            true => Listed::Word(ALL_THRESHOLDS.to_owned()),
            false => Listed::List(thresholds.as_slice().to_vec()),
        }
    }
}

impl TryFrom<Listed> for Thresholds {
    type Error = ThresholdError;

    fn try_from(listed: Listed) -> Result<Self, ThresholdError> {
        match listed {
            Listed::List(list) => Thresholds::list(list),
            Listed::Word(word) if word == ALL_THRESHOLDS => Ok(Thresholds::all()),
            Listed::Word(word) => Err(ThresholdError::Word(word)),
        }
    }
}

/// A checked problem: everything but the system.
#[pyclass(frozen, eq, module = "broccoli._broccoli")]
#[derive(Clone, PartialEq)]
pub struct ProblemData {
    core: Arc<Problem>,
}

impl ProblemData {
    pub fn core(&self) -> &Arc<Problem> {
        &self.core
    }
}

#[pymethods]
impl ProblemData {
    #[new]
    #[pyo3(signature = (dimensions, actions, initial, goal, limits, prices=Vec::new(), across=None, rewards=None))]
    #[expect(clippy::too_many_arguments, reason = "they are the parts of a problem")]
    fn new(
        dimensions: Dimensions,
        actions: Actions,
        initial: Vec<Vec<f64>>,
        goal: (String, u64),
        limits: (u32, Option<u64>),
        prices: Prices,
        across: Option<Across>,
        rewards: Option<Rewards>,
    ) -> PyResult<Self> {
        let (discount, is_minimised, low, high) = rewards.unwrap_or((1.0, false, None, None));
        let objective = match goal.0.as_str() {
            "reach" => Objective::reach(goal.1),
            "survive" => Objective::survive(goal.1),
            "return" => Objective::Return(Return {
                horizon: goal.1,
                aim: if is_minimised { Aim::Minimise } else { Aim::Maximise },
                discount,
                low,
                high,
                over: Over::Worst,
            }),
            other => {
                return Err(wrong(format_args!(
                    "the objective is {other:?}: it must be \"reach\", \"survive\" or \"return\""
                )));
            }
        };
        let (over, share, weights) = across.unwrap_or_else(|| ("worst".to_owned(), 1.0, Vec::new()));
        let over = match over.as_str() {
            "worst" => Over::Worst,
            "mean" => Over::Mean,
            "sum" => Over::Sum,
            "weights" => Over::Weighted,
            "share" => Over::Share(share),
            other => {
                return Err(wrong(format_args!(
                    "over is {other:?}: it must be \"worst\", \"mean\" or \"sum\""
                )));
            }
        };
        let mut builder = Problem::builder()
            .objective(objective.across(over))
            .weights(weights)
            .depth(limits.0)
            .initials(initial.into_iter().map(InitialState::new));
        if let Some(nodes) = limits.1 {
            builder = builder.nodes(nodes);
        }
        for (name, thresholds) in dimensions {
            let thresholds = Thresholds::try_from(thresholds)
                .map_err(|error| wrong(format_args!("dimension {name:?}: {error}")))?;
            builder = builder.dimension(name, thresholds);
        }
        for (name, price) in prices {
            builder = builder.price(name, price);
        }
        for (name, value) in actions {
            builder = builder.action(name, value);
        }
        Ok(ProblemData { core: Arc::new(builder.build().map_err(wrong)?) })
    }

    /// The arguments that make it again, for `pickle` and `copy`.
    fn __getnewargs__(&self) -> Arguments {
        (
            self.dimensions(),
            self.core.actions().iter().map(|a| (a.name.clone(), a.value)).collect(),
            self.initial(),
            (self.objective(), self.horizon()),
            (self.depth(), self.nodes()),
            self.prices(),
            self.across(),
            self.rewards(),
        )
    }

    #[getter]
    fn across(&self) -> Across {
        let (word, share) = match self.core.objective().over() {
            Over::Worst => ("worst", 1.0),
            Over::Mean => ("mean", 1.0),
            Over::Sum => ("sum", 1.0),
            Over::Weighted => ("weights", 1.0),
            Over::Share(share) => ("share", share),
        };
        (word.to_owned(), share, self.core.weights().to_vec())
    }

    #[getter]
    fn rewards(&self) -> Rewards {
        match self.core.objective() {
            Objective::Return(Return { discount, aim, low, high, .. }) => {
                (discount, aim == Aim::Minimise, low, high)
            }
            _ => (1.0, false, None, None),
        }
    }

    #[getter]
    fn prices(&self) -> Prices {
        let priced = self.core.dimensions().iter().filter(|d| d.price > 0.0);
        priced.map(|d| (d.name.clone(), d.price)).collect()
    }

    #[getter]
    fn dimensions(&self) -> Dimensions {
        let dimensions = self.core.dimensions().iter();
        dimensions.map(|d| (d.name.clone(), Listed::from(&d.thresholds))).collect()
    }

    #[getter]
    fn actions(&self) -> Vec<String> {
        self.core.actions().iter().map(|a| a.name.clone()).collect()
    }

    #[getter]
    fn initial(&self) -> Vec<Vec<f64>> {
        self.core.initial_states().iter().map(|s| s.values().to_vec()).collect()
    }

    #[getter]
    fn objective(&self) -> &'static str {
        self.core.objective().name()
    }

    #[getter]
    fn horizon(&self) -> u64 {
        self.core.objective().horizon()
    }

    #[getter]
    fn depth(&self) -> u32 {
        self.core.limits().depth()
    }

    #[getter]
    fn nodes(&self) -> u64 {
        self.core.limits().nodes()
    }
}

/// `count` thresholds evenly spaced inside (low, high), or those `step` apart.
#[pyfunction]
#[pyo3(signature = (low, high, *, count=None, step=None))]
pub fn thresholds(low: f64, high: f64, count: Option<usize>, step: Option<f64>) -> PyResult<Vec<f64>> {
    let made = match (count, step) {
        (Some(count), None) => Thresholds::count(low, high, count),
        (None, Some(step)) => Thresholds::grid(low, high, step),
        _ => return Err(wrong("give either count or step")),
    };
    made.map(|made| made.as_slice().to_vec()).map_err(wrong)
}

/// The names of the built-in environments.
#[pyfunction]
pub fn environments() -> Vec<&'static str> {
    ALL.iter().map(|e| e.name).collect()
}

/// What is known of a built-in environment.
#[derive(IntoPyObject)]
pub struct Facts {
    title: &'static str,
    /// Name, low, high, step of the default grid.
    dimensions: Vec<(&'static str, f64, f64, f64)>,
    actions: Vec<(String, f64)>,
    /// Whether the actions are numbers of a discrete space.
    is_discrete: bool,
    initial: Vec<f64>,
    objective: &'static str,
    horizon: u64,
    depth: u32,
    /// The least and the largest reward, and the horizon that goes with them, if it gives rewards.
    rewards: Option<(f64, f64, u64)>,
}

/// The facts of a built-in environment, with its default actions or those chosen by name or value.
#[pyfunction]
#[pyo3(signature = (name, actions=None))]
pub fn environment(name: &str, actions: Option<Vec<String>>) -> PyResult<Facts> {
    let variant = match actions {
        Some(actions) => chosen(name, &actions)?,
        None => Variant::new(found(name)?),
    };
    let Environment { title, dimensions, space, initial, objective, depth, rewards, .. } =
        variant.environment();
    Ok(Facts {
        title,
        dimensions: dimensions.iter().map(|d| (d.name, d.range.0, d.range.1, d.step)).collect(),
        actions: variant.actions().iter().map(|a| (a.name.clone(), a.value)).collect(),
        is_discrete: matches!(space, ActionSpace::Named(_)),
        initial: initial.to_vec(),
        objective: objective.name(),
        horizon: objective.horizon(),
        depth: *depth,
        rewards: rewards.map(|rewards| (rewards.bounds.0, rewards.bounds.1, rewards.horizon)),
    })
}

/// Initial states of a built-in environment, sampled as the command line does.
#[pyfunction]
pub fn sample(name: &str, count: usize, seed: u64) -> PyResult<Vec<Vec<f64>>> {
    Ok(found(name)?.sample(count, seed).iter().map(|s| s.values().to_vec()).collect())
}

/// The built-in environment with this name.
pub fn found(name: &str) -> PyResult<&'static Environment> {
    find(name).map_err(wrong)
}

/// The built-in environment with these actions.
pub fn chosen(name: &str, actions: &[impl AsRef<str>]) -> PyResult<Variant> {
    Variant::choose(found(name)?, actions).map_err(wrong)
}

/// A `ValueError`.
pub fn wrong(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(broccoli_core::shown::shown_lines(&error.to_string()).into_owned())
}

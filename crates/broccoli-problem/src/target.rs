//! A system with everything that a problem about it needs. Every part is there to be changed, for
//! instance by options on the command line, before the problem is built.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use broccoli_blackbox::Description;
use broccoli_core::problem::{
    Action, Dimension, InitialState, MAX_DERIVED, Objective, Problem, ProblemError, Return, SystemFactory,
    Thresholds, sample,
};
use broccoli_environments::{Environment, Variant};
use broccoli_expression::nearest::hint;
use broccoli_expression::{Expression, ExpressionError};
use broccoli_store::Store;

use crate::file::SearchOptions;
use crate::identity::Source;
use crate::judged::Conditions;
use crate::objective::Says;

/// One dimension of the observation.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetDimension {
    /// Its name.
    pub name: String,
    /// The open interval for thresholds, if one is given.
    pub range: Option<(f64, f64)>,
    /// Its thresholds.
    pub thresholds: Thresholds,
    /// How it is derived from the others, if it is.
    pub expression: Option<String>,
    /// What a tree pays that asks it; 0 is nothing.
    pub price: f64,
}

/// Why a feature cannot be added.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FeatureError {
    /// There is a dimension with this name already.
    #[error("there is a dimension {0:?} already")]
    Twice(String),
    /// There are as many features as there may be.
    #[error("there are {MAX_DERIVED} features already, and no more are allowed")]
    Count,
    /// The expression does not fit the system.
    #[error("{0}")]
    Expression(ExpressionError),
}

/// A system and a problem about it, in parts.
#[derive(Clone)]
pub struct Target {
    /// What the system is called.
    pub name: String,
    /// The dimensions of the observation.
    pub dimensions: Vec<TargetDimension>,
    /// The actions.
    pub actions: Vec<Action>,
    /// The initial states, without their seeds if there are `seeds`.
    pub initial: Vec<InitialState>,
    /// The seeds that every initial state is run with, each the last of its values.
    pub seeds: Option<Vec<u64>>,
    /// The ranges that initial states can be sampled from, if given.
    pub ranges: Option<Vec<(f64, f64)>>,
    /// How many values an initial state has, with its seed, where that is known.
    pub initial_values: Option<usize>,
    /// What is wanted.
    pub objective: Objective,
    /// What each initial state weighs, if the objective is weighted.
    pub weights: Vec<f64>,
    /// The limit on depth.
    pub depth: u32,
    /// The limit on predicate nodes; none is all that the depth allows.
    pub nodes: Option<u64>,
    /// Options of the search.
    pub search: SearchOptions,
    /// The file in which what the system answers is remembered, if the problem file names one.
    pub remember: Option<PathBuf>,
    /// Whether the system is somebody else's program.
    pub is_foreign: bool,
    /// Whether nobody has said which thresholds there are, so that all numbers are.
    pub needs_no_grid: bool,
    /// Makes the systems.
    pub factory: Arc<dyn SystemFactory>,
    /// The built-in environment, if it is one.
    environment: Option<&'static Environment>,
    noise: f64,
    /// What a foreign system can say of a run.
    pub(crate) says: Option<Says>,
    /// What is known of a foreign system.
    pub(crate) source: Option<Source>,
    /// Makes the systems without conditions and derived dimensions.
    pub(crate) plain: Arc<dyn SystemFactory>,
    /// Conditions that judge the system, instead of itself.
    pub(crate) conditions: Option<Conditions>,
    /// What the system has answered.
    pub(crate) store: Option<Arc<Store>>,
    /// The derived dimensions.
    pub(crate) features: Vec<Expression>,
}

impl Target {
    /// A built-in environment with its defaults.
    pub fn environment(environment: &'static Environment) -> Self {
        let dimensions = environment.dimensions.iter().map(|d| TargetDimension {
            name: d.name.to_owned(),
            range: Some(d.range),
            // The default grids are constants, and a test builds each of them.
            thresholds: Thresholds::grid(d.range.0, d.range.1, d.step).unwrap_or_default(),
            expression: None,
            price: 0.0,
        });
        let variant = Variant::new(environment);
        let factory: Arc<dyn SystemFactory> = Arc::new(variant.clone());
        Target {
            name: environment.name.to_owned(),
            dimensions: dimensions.collect(),
            actions: variant.actions().to_vec(),
            initial: vec![InitialState::new(environment.initial)],
            seeds: None,
            ranges: Some(environment.starts.iter().map(|start| start.range).collect()),
            initial_values: Some(environment.starts.len()),
            objective: environment.objective,
            weights: Vec::new(),
            depth: environment.depth,
            nodes: None,
            search: SearchOptions::default(),
            is_foreign: false,
            needs_no_grid: false,
            factory: Arc::clone(&factory),
            environment: Some(environment),
            noise: 0.0,
            says: None,
            source: None,
            remember: None,
            plain: factory,
            conditions: None,
            store: None,
            features: Vec::new(),
        }
    }

    /// Chooses the actions of a built-in environment, by their names or values.
    ///
    /// # Errors
    /// What is wrong with them. A foreign system has the actions that it names itself.
    pub fn choose_actions(&mut self, words: &[impl AsRef<str>]) -> Result<(), String> {
        let Some(environment) = self.environment else {
            return Err(format!(
                "actions can be chosen for built-in environments, and {} is none",
                self.name
            ));
        };
        let variant = Variant::choose(environment, words)
            .and_then(|variant| variant.with_noise(self.noise))
            .and_then(|variant| variant.with_rewards(self.objective.wants_rewards()));
        let variant = variant.map_err(|error| error.to_string())?;
        self.actions = variant.actions().to_vec();
        self.noise = variant.noise();
        self.initial_values = Some(environment.starts.len() + usize::from(self.noise != 0.0));
        self.plain = Arc::new(variant);
        self.derive();
        Ok(())
    }

    /// Gives noise to a built-in environment; its initial states then need seeds.
    ///
    /// # Errors
    /// When it is not a finite number of at least 0, or the system is not built in.
    pub fn choose_noise(&mut self, noise: f64) -> Result<(), String> {
        if self.environment.is_none() {
            return Err(format!("noise is for built-in environments, and {} is none", self.name));
        }
        let before = std::mem::replace(&mut self.noise, noise);
        let names: Vec<String> = self.actions.iter().map(|action| action.name.clone()).collect();
        self.choose_actions(&names).inspect_err(|_| self.noise = before)
    }

    /// Sets what is wanted, in full.
    ///
    /// # Errors
    /// When rewards are wanted and a built-in environment has none.
    pub fn set_objective(&mut self, objective: Objective) -> Result<(), String> {
        let before = std::mem::replace(&mut self.objective, objective);
        if self.environment.is_none() {
            return Ok(());
        }
        let names: Vec<String> = self.actions.iter().map(|action| action.name.clone()).collect();
        self.choose_actions(&names).inspect_err(|_| self.objective = before)
    }

    /// The return of a built-in environment, as Gymnasium has it.
    pub(crate) fn own_return(&self) -> Option<Objective> {
        let rewards = self.environment?.rewards?;
        // Gymnasium's horizon, unless somebody has chosen another one.
        let is_chosen = self.objective.horizon() != self.environment?.objective.horizon();
        let horizon = if is_chosen { self.objective.horizon() } else { rewards.horizon };
        let Objective::Return(wanted) = Objective::maximise(horizon) else { return None };
        let (low, high) = (Some(rewards.bounds.0), Some(rewards.bounds.1));
        Some(Objective::Return(Return { low, high, ..wanted }))
    }

    /// The noise of a built-in environment; 0 is none.
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// How many values somebody has to give for an initial state, where that is known.
    pub fn given_values(&self) -> Option<usize> {
        self.initial_values.map(|count| count.saturating_sub(usize::from(self.seeds.is_some())))
    }

    /// The initial states with their seeds: every state with every seed.
    pub fn starts(&self) -> Vec<InitialState> {
        let Some(seeds) = &self.seeds else { return self.initial.clone() };
        let with =
            |state: &InitialState, seed: u64| InitialState::new([state.values(), &[seed as f64]].concat());
        self.initial.iter().flat_map(|state| seeds.iter().map(move |&seed| with(state, seed))).collect()
    }

    /// Samples initial states that are like those of the problem but none of `known`, with seeds of their own
    /// if the known ones have some; fewer than `count` if there are no more.
    pub fn fresh(&self, known: &[InitialState], count: usize, seed: u64) -> Option<Vec<InitialState>> {
        let mut ranges = self.ranges.clone()?;
        let is_seeded = known.first().is_some_and(|state| state.values().len() == ranges.len() + 1);
        if is_seeded {
            ranges.push((0.0, f64::from(u32::MAX)));
        }
        let drawn = sample(&ranges, 2 * count, seed).into_iter().map(|state| {
            let mut values = state.values().to_vec();
            if let Some(seed) = values.last_mut().filter(|_| is_seeded) {
                *seed = seed.floor();
            }
            InitialState::new(values)
        });
        let bits = |state: &InitialState| -> Vec<u64> {
            state.values().iter().map(|v| (v + 0.0).to_bits()).collect()
        };
        let known: BTreeSet<Vec<u64>> = known.iter().map(bits).collect();
        Some(drawn.filter(|state| !known.contains(&bits(state))).take(count).collect())
    }

    /// Adds a dimension that is derived from the observed ones; it has no thresholds yet.
    ///
    /// # Errors
    /// When the name is taken, or the expression is not one over what the system observes.
    pub fn add_feature(&mut self, name: &str, expression: &str) -> Result<(), FeatureError> {
        if self.dimensions.iter().any(|d| d.name == name) {
            return Err(FeatureError::Twice(name.to_owned()));
        }
        if self.features.len() == MAX_DERIVED {
            return Err(FeatureError::Count);
        }
        let observed: Vec<&str> = self.observed().map(|d| d.name.as_str()).collect();
        let feature = Expression::parse(expression, &observed).map_err(FeatureError::Expression)?;
        self.dimensions.push(TargetDimension {
            name: name.to_owned(),
            range: None,
            thresholds: Thresholds::none(),
            expression: Some(expression.to_owned()),
            price: 0.0,
        });
        self.features.push(feature);
        self.derive();
        Ok(())
    }

    /// The dimension with this name.
    ///
    /// # Errors
    /// Which names there are.
    pub fn dimension(&mut self, name: &str) -> Result<&mut TargetDimension, String> {
        let names: Vec<&str> = self.dimensions.iter().map(|d| d.name.as_str()).collect();
        match names.iter().position(|known| *known == name) {
            Some(index) => Ok(&mut self.dimensions[index]),
            None => Err(format!("{:?} does not observe {name:?}{}", self.name, hint(name, &names))),
        }
    }

    /// Lets trees ask the dimensions with these names only: the others lose their thresholds.
    ///
    /// ```
    /// # use broccoli_problem::Target;
    /// let mut target = Target::environment(broccoli_environments::find("cartpole")?);
    /// target.ask_only(&["theta", "theta_dot"])?;
    /// assert!(target.dimensions[0].thresholds.is_empty() && !target.dimensions[2].thresholds.is_empty());
    /// assert!(target.ask_only(&["thetta"]).unwrap_err().contains("did you mean"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When there is no dimension with such a name, or it has no thresholds.
    pub fn ask_only(&mut self, names: &[impl AsRef<str>]) -> Result<(), String> {
        for name in names {
            let dimension = self.dimension(name.as_ref())?;
            if dimension.thresholds.is_empty() {
                return Err(format!("dimension {:?} has no thresholds", dimension.name));
            }
        }
        let is_named = |d: &TargetDimension| names.iter().any(|name| name.as_ref() == d.name);
        for dimension in self.dimensions.iter_mut().filter(|d| !is_named(d)) {
            dimension.thresholds = Thresholds::none();
        }
        Ok(())
    }

    /// Lets trees ask all dimensions but those with these names, which lose their thresholds.
    ///
    /// # Errors
    /// When there is no dimension with such a name, or none is left to ask.
    pub fn ask_without(&mut self, names: &[impl AsRef<str>]) -> Result<(), String> {
        for name in names {
            self.dimension(name.as_ref())?.thresholds = Thresholds::none();
        }
        match self.dimensions.iter().all(|d| d.thresholds.is_empty()) {
            true => Err("no dimension is left to ask".to_owned()),
            false => Ok(()),
        }
    }

    /// The dimensions that the system itself observes.
    pub(crate) fn observed(&self) -> impl Iterator<Item = &TargetDimension> {
        self.dimensions.iter().filter(|d| d.expression.is_none())
    }

    /// A foreign system as it describes itself; the rest has to come from the file.
    pub(crate) fn foreign(
        description: &Description,
        says: Says,
        source: Source,
        factory: Arc<dyn SystemFactory>,
        conditions: Option<Conditions>,
    ) -> Self {
        let dimension = |name: &String| TargetDimension {
            name: name.clone(),
            range: None,
            thresholds: Thresholds::none(),
            expression: None,
            price: 0.0,
        };
        let mut target = Target {
            name: description.name.clone(),
            dimensions: description.observations.iter().map(dimension).collect(),
            actions: description.actions.clone(),
            initial: Vec::new(),
            seeds: None,
            ranges: None,
            initial_values: description.initial,
            objective: Objective::reach(1000),
            weights: Vec::new(),
            depth: 2,
            nodes: None,
            search: SearchOptions::default(),
            is_foreign: true,
            needs_no_grid: false,
            factory: Arc::clone(&factory),
            environment: None,
            noise: 0.0,
            says: Some(says),
            source: Some(source),
            remember: None,
            plain: factory,
            conditions,
            store: None,
            features: Vec::new(),
        };
        target.derive();
        target
    }

    /// The problem, checked.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn problem(&self) -> Result<Problem, ProblemError> {
        let mut builder =
            Problem::builder().initials(self.starts()).objective(self.objective).depth(self.depth);
        builder = builder.weights(self.weights.iter().copied());
        if let Some(nodes) = self.nodes {
            builder = builder.nodes(nodes);
        }
        for dimension in &self.dimensions {
            let TargetDimension { name, thresholds, expression, price, .. } = dimension.clone();
            builder = builder.dimension_like(&Dimension { name, thresholds, expression, price });
        }
        for action in &self.actions {
            builder = builder.action(&action.name, action.value);
        }
        builder.build()
    }
}

//! What is known of an environment beside its dynamics: names, ranges, defaults.

use broccoli_core::problem::{
    InitialState, Objective, Problem, ProblemBuilder, System, SystemError, SystemFactory, Thresholds, sample,
};

/// One dimension of the observation.
#[derive(Clone, Copy, Debug)]
pub struct DimensionInfo {
    /// Its name.
    pub name: &'static str,
    /// What it measures, with the unit.
    pub meaning: &'static str,
    /// The open interval in which predicates have their thresholds.
    pub range: (f64, f64),
    /// The default step of the grid of thresholds.
    pub step: f64,
    /// The interval from which initial states are sampled.
    pub start: (f64, f64),
}

/// One action.
#[derive(Clone, Copy, Debug)]
pub struct ActionInfo {
    /// Its name.
    pub name: &'static str,
    /// The value that Gymnasium's environment would be given.
    pub value: f64,
    /// What it does.
    pub meaning: &'static str,
}

/// A built-in system with everything needed to pose a problem about it. It is its own
/// [`SystemFactory`], and its initial states are observations.
#[derive(Debug)]
pub struct Environment {
    /// The name on the command line.
    pub name: &'static str,
    /// The name in Gymnasium and in the paper.
    pub title: &'static str,
    /// What it is, in a sentence or two.
    pub description: &'static str,
    /// The dimensions of the observation, which is the whole state.
    pub dimensions: &'static [DimensionInfo],
    /// The actions.
    pub actions: &'static [ActionInfo],
    /// The default initial state.
    pub initial: &'static [f64],
    /// The default objective with its horizon.
    pub objective: Objective,
    /// When a run is satisfied or violated, in words.
    pub verdicts: &'static str,
    /// The default limit on depth.
    pub depth: u32,
    /// Where the dynamics come from.
    pub source: &'static str,
    pub(crate) make: fn() -> Box<dyn System>,
}

impl Environment {
    /// The problem of the paper's first table, from the default initial state, ready to be changed.
    ///
    /// The builder appends: to choose thresholds or initial states of your own start from
    /// [`Environment::problem_with`].
    pub fn problem(&self) -> ProblemBuilder {
        // The default grids are constants, and a test builds each of them.
        let grids = self.grids(None).unwrap_or_default();
        self.problem_with(grids, vec![InitialState::new(self.initial)])
    }

    /// The default problem but with these thresholds, one list per dimension, and initial states.
    pub fn problem_with(&self, thresholds: Vec<Thresholds>, initial: Vec<InitialState>) -> ProblemBuilder {
        let mut builder = Problem::builder().objective(self.objective).depth(self.depth).initials(initial);
        for (dimension, thresholds) in self.dimensions.iter().zip(thresholds) {
            builder = builder.dimension(dimension.name, thresholds);
        }
        for action in self.actions {
            builder = builder.action(action.name, action.value);
        }
        builder
    }

    /// Grids of thresholds over the dimensions' ranges, with the default steps or those given.
    ///
    /// # Errors
    /// When a step gives no grid: the index of its dimension and what is wrong with it.
    pub fn grids(
        &self,
        steps: Option<&[f64]>,
    ) -> Result<Vec<Thresholds>, (usize, broccoli_core::problem::ThresholdError)> {
        (self.dimensions.iter().enumerate())
            .map(|(i, d)| {
                let step = steps.and_then(|steps| steps.get(i)).copied().unwrap_or(d.step);
                Thresholds::grid(d.range.0, d.range.1, step).map_err(|error| (i, error))
            })
            .collect()
    }

    /// Initial states sampled uniformly from the start ranges; see [`sample`] for the generator.
    pub fn sample(&self, count: usize, seed: u64) -> Vec<InitialState> {
        let ranges: Vec<(f64, f64)> = self.dimensions.iter().map(|d| d.start).collect();
        sample(&ranges, count, seed)
    }
}

impl SystemFactory for Environment {
    fn make(&self) -> Result<Box<dyn System>, SystemError> {
        Ok((self.make)())
    }
}

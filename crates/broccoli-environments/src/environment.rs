//! What is known of an environment beside its dynamics: names, ranges, defaults.

use broccoli_core::problem::{
    InitialState, Objective, Problem, ProblemBuilder, System, SystemError, SystemFactory, Thresholds, sample,
};

use crate::actions::ActionSpace;

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
}

/// One value of an initial state.
#[derive(Clone, Copy, Debug)]
pub struct StartInfo {
    /// Its name.
    pub name: &'static str,
    /// The interval from which it is sampled.
    pub range: (f64, f64),
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

/// The rewards of an environment.
#[derive(Clone, Copy, Debug)]
pub struct RewardInfo {
    /// What a step is rewarded with, in words.
    pub meaning: &'static str,
    /// The least and the largest reward of a step.
    pub bounds: (f64, f64),
    /// After how many steps Gymnasium ends a run.
    pub horizon: u64,
}

/// A built-in system with everything needed to pose a problem about it. It is its own
/// [`SystemFactory`], with the default actions; [`Variant`](crate::Variant) is one with others.
#[derive(Debug)]
pub struct Environment {
    /// The name on the command line.
    pub name: &'static str,
    /// The name in Gymnasium and in the paper.
    pub title: &'static str,
    /// What it is, in a sentence or two.
    pub description: &'static str,
    /// The dimensions of the observation.
    pub dimensions: &'static [DimensionInfo],
    /// The default actions.
    pub actions: &'static [ActionInfo],
    /// The actions that can be chosen.
    pub space: ActionSpace,
    /// The values of an initial state, which is the whole state.
    pub starts: &'static [StartInfo],
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
    /// What noise disturbs, with its unit.
    pub noise: &'static str,
    /// Gymnasium's own rewards, where it has some.
    pub rewards: Option<RewardInfo>,
    pub(crate) make: fn(&[f64], f64, bool) -> Box<dyn System>,
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
        let ranges: Vec<(f64, f64)> = self.starts.iter().map(|start| start.range).collect();
        sample(&ranges, count, seed)
    }
}

impl SystemFactory for Environment {
    fn is_quick(&self) -> bool {
        true
    }

    fn make(&self) -> Result<Box<dyn System>, SystemError> {
        let values: Vec<f64> = self.actions.iter().map(|action| action.value).collect();
        Ok((self.make)(&values, 0.0, false))
    }
}

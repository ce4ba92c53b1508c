//! The search: a problem and a factory in, an [`Outcome`] out.
//!
//! Several engines give one answer: they agree on status, value and size, though their trees may
//! differ. [`Engine`] says what each is for.

mod backtracking;
mod behaviour;
mod exhaustive;
mod flat;
mod observer;
mod outcome;
mod progress;
mod shape;

pub use observer::{Event, Improvement, Observer};
pub use outcome::{Behaviours, Failure, Outcome, Solution, Statistics, Status};

use crate::problem::{Problem, SystemFactory};

/// Which algorithm searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Every tree, each run to its end. The oracle of the tests, for very small problems.
    Exhaustive,
    /// Trees in increasing size, skipping those that a trace already seen shows to be no better:
    /// the algorithm of the paper, made sound.
    Backtracking {
        /// Whether traces prune. Without, the trees considered are exactly those in which no
        /// predicate is decided by an ancestor and no node has two equal subtrees.
        pruning: bool,
    },
    /// Behaviours instead of trees: trees that act alike are run once.
    Behaviour,
}

impl Engine {
    /// `"exhaustive"`, `"backtracking"` or `"behaviour"`.
    pub fn name(&self) -> &'static str {
        match self {
            Engine::Exhaustive => "exhaustive",
            Engine::Backtracking { .. } => "backtracking",
            Engine::Behaviour => "behaviour",
        }
    }
}

/// A search to be run. The example in the [crate's page](crate) shows the whole way.
pub struct Search<'a> {
    problem: &'a Problem,
    factory: &'a dyn SystemFactory,
    engine: Engine,
    any_optimal: bool,
    observer: Option<&'a mut dyn Observer>,
}

impl<'a> Search<'a> {
    /// A search for `problem` on the systems that `factory` makes, with the default engine.
    pub fn new(problem: &'a Problem, factory: &'a dyn SystemFactory) -> Self {
        Search { problem, factory, engine: Engine::Behaviour, any_optimal: false, observer: None }
    }

    /// Chooses the engine.
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }

    /// Accepts any of the best trees. Without, the answer among equals is always the same one, and
    /// [`Engine::Behaviour`] makes another pass to choose it; the other engines need none.
    pub fn any_optimal(mut self) -> Self {
        self.any_optimal = true;
        self
    }

    /// Tells `observer` what happens during the search.
    pub fn observer(mut self, observer: &'a mut dyn Observer) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Runs the search to its end.
    ///
    /// # Errors
    /// When the system fails; the failure keeps the best tree found before.
    pub fn run(self) -> Result<Outcome, Box<Failure>> {
        let mut progress = progress::Progress::new(self.observer);
        let searched = match self.engine {
            Engine::Exhaustive => exhaustive::search(self.problem, self.factory, &mut progress),
            Engine::Behaviour => {
                behaviour::search(self.problem, self.factory, self.any_optimal, &mut progress)
            }
            Engine::Backtracking { pruning } => {
                backtracking::search(self.problem, self.factory, pruning, &mut progress)
            }
        };
        let (best, statistics) = progress.finish();
        match searched {
            Ok(()) => Ok(Outcome {
                engine: self.engine,
                status: if best.is_some() { Status::Optimal } else { Status::Infeasible },
                bound: best.as_ref().map(|b| b.value),
                best,
                statistics,
            }),
            Err(error) => Err(Box::new(Failure { engine: self.engine, error, best, statistics })),
        }
    }
}

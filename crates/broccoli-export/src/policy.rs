//! A tree with everything that an export of it says: the problem it is for and what is proved about it.

use broccoli_core::problem::{Problem, ProblemError};
use broccoli_core::search::Solution;
use broccoli_core::tree::{Tree, TreeError};

use crate::json::{ResultJson, StatusJson};
use crate::number::{counted, list};
use crate::{text, worth};

/// A tree and the problem it was found for, checked against each other.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The name of the system.
    pub system: String,
    /// The problem.
    pub problem: Problem,
    /// The tree.
    pub tree: Tree,
    /// What is known about the tree.
    pub status: StatusJson,
    /// What is proved, in a sentence or two.
    pub verdict: String,
}

/// Why a result has no policy.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// No tree was found.
    #[error("it holds no tree: its status is {:?}", .0.name())]
    NoTree(StatusJson),
    /// The problem is not well formed.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// The tree does not belong to the problem.
    #[error("in its tree, {0}")]
    Tree(#[from] TreeError),
}

impl Policy {
    /// The tree of a result, with its problem.
    ///
    /// ```
    /// # use broccoli_core::search::Search;
    /// # use broccoli_environments::MOUNTAIN_CAR as car;
    /// # use broccoli_export::json::{ResultJson, SystemJson};
    /// use broccoli_export::policy::Policy;
    /// # let problem = car.problem().build()?;
    /// # let outcome = Search::new(&problem, &car).run()?;
    /// # let result = ResultJson::new(SystemJson::Environment(car.name.into()), &problem, &outcome, 0.1);
    /// let policy = Policy::new(&result)?;
    /// assert_eq!(policy.about()[0], "Decision tree for mountain-car, found by Broccoli 0.1.0.");
    /// assert!(policy.about()[1].starts_with("Optimal: this tree reaches the goal in 104 steps."));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When there is no tree, or the problem or the tree is not well formed.
    pub fn new(result: &ResultJson) -> Result<Policy, PolicyError> {
        let tree = result.tree.as_ref().ok_or(PolicyError::NoTree(result.status))?;
        let problem = result.problem.to_problem()?;
        let tree = tree.check(&problem)?;
        let read = |value| problem.objective().read(value);
        let best = result.value.map(|value| Solution { tree: tree.clone(), value: read(value) });
        let verdict = text::verdict(&problem, result.status, best.as_ref(), result.bound.map(read));
        Ok(Policy { system: result.problem.system.name(), problem, tree, status: result.status, verdict })
    }

    /// The problem, the value and what is proved: the paragraphs that every export of code begins with.
    pub fn about(&self) -> Vec<String> {
        let wanted = worth::wanted(&self.problem);
        let states = self.problem.initial_states();
        let first = list(states[0].values());
        let start = match states.len() as u64 {
            1 => format!("Initial state: {first}."),
            count => format!("{}, the first: {first}.", counted(count, "initial state")),
        };
        vec![
            format!("Decision tree for {}, found by Broccoli {}.", self.system, env!("CARGO_PKG_VERSION")),
            self.verdict.clone(),
            format!("Objective: {wanted}. {start}"),
        ]
    }
}

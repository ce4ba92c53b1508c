//! From a file with a tree to something that can be run: everything in it is checked here.

use broccoli_core::problem::{InitialState, Problem};
use broccoli_core::tree::Tree;
use broccoli_environments::Environment;
use broccoli_export::json::{ObjectiveJson, ResultJson, SystemJson};
use broccoli_export::saved::Saved;

use super::Simulate;
use crate::complaint::Complaint;
use crate::file::TreeFile;

/// What is to be run.
pub struct Task {
    pub problem: Problem,
    pub tree: Tree,
    /// The value that the file claims for exactly these runs.
    pub claim: Option<u64>,
}

impl Simulate {
    /// Reads the file and completes it with the options and the environment's defaults.
    pub(super) fn task(&self, environment: &Environment) -> Result<Task, Complaint> {
        let file = TreeFile { option: "TREE.json", path: &self.tree };
        let saved = file.saved()?;
        let states = self.starts.states(environment)?;
        match saved {
            Saved::Tree(tree) => {
                let objective = ObjectiveJson::from(environment.objective);
                let horizon = self.horizon.unwrap_or(environment.objective.horizon());
                let states = states.unwrap_or_else(|| vec![InitialState::new(environment.initial)]);
                let problem = environment
                    .problem_with(environment.grids(None).unwrap_or_default(), states)
                    .objective(objective.within(horizon))
                    .build()
                    .map_err(|error| Complaint::other(error.to_string()))?;
                Ok(Task { tree: file.checked(&tree, &problem)?, problem, claim: None })
            }
            Saved::Result(result) => self.task_of_result(file, *result, states, environment),
        }
    }

    fn task_of_result(
        &self,
        file: TreeFile<'_>,
        mut result: ResultJson,
        states: Option<Vec<InitialState>>,
        environment: &Environment,
    ) -> Result<Task, Complaint> {
        let SystemJson::Environment(name) = &result.problem.system;
        if name != environment.name {
            return Err(file.complaint(format!("its tree is for {name:?}, not for {:?}", environment.name)));
        }
        let tree = file.tree_of(&result)?.clone();
        let claim = result.value.filter(|_| states.is_none() && self.horizon.is_none());
        if let Some(states) = states {
            result.problem.initial_states = states;
        }
        if let Some(horizon) = self.horizon {
            result.problem.horizon = horizon;
        }
        let problem = result.problem.to_problem().map_err(|error| file.complaint(error))?;
        file.check_against(&problem, environment)?;
        Ok(Task { tree: file.checked(&tree, &problem)?, problem, claim })
    }
}

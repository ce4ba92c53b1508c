//! From a file with a tree to something that can be run: everything in it is checked here.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use broccoli_core::problem::{InitialState, Problem};
use broccoli_core::tree::{Tree, TreeJson};
use broccoli_environments::Environment;
use broccoli_export::json::{ObjectiveJson, ResultJson, SystemJson};
use broccoli_export::saved::Saved;

use super::Simulate;
use crate::complaint::Complaint;

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
        let saved = Saved::read(&self.read()?).map_err(|error| {
            self.complaint(error)
                .help("a tree is what `broccoli solve --json` prints, or the \"tree\" inside of it")
        })?;
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
                self.checked(&tree, problem, None)
            }
            Saved::Result(result) => self.task_of_result(*result, states, environment),
        }
    }

    fn task_of_result(
        &self,
        mut result: ResultJson,
        states: Option<Vec<InitialState>>,
        environment: &Environment,
    ) -> Result<Task, Complaint> {
        let SystemJson::Environment(name) = &result.problem.system;
        if name != environment.name {
            return Err(self.complaint(format!("its tree is for {name:?}, not for {:?}", environment.name)));
        }
        let Some(tree) = result.tree else {
            return Err(self.complaint(format!("it holds no tree: its status is {:?}", result.status.name())));
        };
        let claim = result.value.filter(|_| states.is_none() && self.horizon.is_none());
        if let Some(states) = states {
            result.problem.initial_states = states;
        }
        if let Some(horizon) = self.horizon {
            result.problem.horizon = horizon;
        }
        let problem = result.problem.to_problem().map_err(|error| self.complaint(error))?;
        self.check_against(&problem, environment)?;
        self.checked(&tree, problem, claim)
    }

    /// Checks that a problem from a file is about the environment as it is.
    fn check_against(&self, problem: &Problem, environment: &Environment) -> Result<(), Complaint> {
        let check = |what: &str, found: Vec<&str>, expected: Vec<&str>| {
            if found == expected {
                return Ok(());
            }
            let (found, expected) = (found.join(", "), expected.join(", "));
            let name = environment.name;
            Err(self.complaint(format!("its {what} are {found}, but those of {name} are {expected}")))
        };
        let found = problem.dimensions().iter().map(|d| d.name.as_str()).collect();
        check("dimensions", found, environment.dimensions.iter().map(|d| d.name).collect())?;
        let found = problem.actions().iter().map(|a| a.name.as_str()).collect();
        check("actions", found, environment.actions.iter().map(|a| a.name).collect())?;
        let dimensions = environment.dimensions.len();
        match problem.initial_states().iter().position(|state| state.values().len() != dimensions) {
            None => Ok(()),
            Some(state) => {
                let count = problem.initial_states()[state].values().len();
                Err(self.complaint(format!("its initial state {state} has {count} values, not {dimensions}")))
            }
        }
    }

    fn checked(&self, tree: &TreeJson, problem: Problem, claim: Option<u64>) -> Result<Task, Complaint> {
        let tree = tree.check(&problem).map_err(|error| self.complaint(format!("in its tree, {error}")))?;
        Ok(Task { problem, tree, claim })
    }

    fn read(&self) -> Result<String, Complaint> {
        let mut bytes = Vec::new();
        let read = if self.tree == Path::new("-") {
            io::stdin().lock().read_to_end(&mut bytes)
        } else {
            File::open(&self.tree).and_then(|mut file| file.read_to_end(&mut bytes))
        };
        read.map_err(|error| self.complaint(format!("it cannot be read: {error}")))?;
        String::from_utf8(bytes).map_err(|_| self.complaint("it is not UTF-8 text"))
    }

    /// A complaint about the file with the tree.
    fn complaint(&self, what: impl std::fmt::Display) -> Complaint {
        match self.tree.to_str() {
            Some("-") => Complaint::input(format!("TREE.json, standard input: {what}")),
            _ => Complaint::input(format!("TREE.json, {:?}: {what}", self.tree)),
        }
    }
}

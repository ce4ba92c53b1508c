//! From a file with a tree to something that can be run: everything in it is checked here.

use broccoli_core::problem::{Over, Problem, Value};
use broccoli_core::tree::Tree;
use broccoli_export::json::{ResultJson, SystemJson};
use broccoli_export::saved::Saved;
use broccoli_problem::Target;

use super::Simulate;
use crate::complaint::Complaint;
use crate::file::TreeFile;
use crate::problem::{choose_actions, choose_noise};
use crate::screen::note;
use crate::target::{adopt, described};

/// What is to be run.
pub struct Task {
    pub problem: Problem,
    pub tree: Tree,
    /// The value that the file claims for exactly these runs.
    pub claim: Option<Value>,
}

impl Simulate {
    /// Reads the file and completes it with the options and the target's defaults.
    pub(super) fn task(&self, target: &mut Target, system: &SystemJson) -> Result<Task, Complaint> {
        let file = TreeFile { option: "TREE.json", path: &self.tree };
        let saved = file.saved()?;
        choose_noise(target, self.noise)?;
        match saved {
            Saved::Tree(tree) => {
                choose_actions(target, self.actions.as_deref())?;
                if let Some(states) = self.starts.states(target)? {
                    target.initial = states;
                    target.seeds = None;
                }
                let horizon = self.horizon.unwrap_or(target.objective.horizon());
                target.objective = target.objective.within(horizon);
                let problem = target.problem().map_err(|error| Complaint::other(error.to_string()))?;
                Ok(Task { tree: file.checked(&tree, &problem)?, problem, claim: None })
            }
            Saved::Result(result) => self.task_of_result(file, *result, target, system),
        }
    }

    fn task_of_result(
        &self,
        file: TreeFile<'_>,
        mut result: ResultJson,
        target: &mut Target,
        system: &SystemJson,
    ) -> Result<Task, Complaint> {
        let found_on = &result.problem.system;
        if let (Some((name, _)), Some((other, _))) = (found_on.environment(), system.environment())
            && name != other
        {
            return Err(file.complaint(format!("its tree is for {name:?}, not for {other:?}")));
        }
        match &self.actions {
            Some(words) => choose_actions(target, Some(words))?,
            None => adopt(target, &result.problem).map_err(|what| file.complaint(what))?,
        }
        // To run a tree on a changed system is what simulate is for; names are compared below.
        let system = described(system.clone(), target);
        if result.problem.system != system {
            let (found_on, here) = (result.problem.system.name(), system.name());
            note(format_args!("note: the tree was found on `{found_on}` and runs on `{here}`"));
        }
        let states = if self.starts.is_any() { self.starts.states(target)? } else { None };
        let tree = file.tree_of(&result)?.clone();
        let claim =
            result.value.filter(|_| states.is_none() && self.horizon.is_none() && self.noise.is_none());
        if let Some(states) = states {
            if !result.problem.weights.is_empty() {
                // Nothing says what the others weigh.
                (result.problem.over, result.problem.weights) = (Over::Mean, Vec::new());
            }
            result.problem.initial_states = states;
        }
        if let Some(horizon) = self.horizon {
            result.problem.horizon = horizon;
        }
        let problem = result.problem.to_problem().map_err(|error| file.complaint(error))?;
        if self.horizon.is_none() {
            file.check_length(&problem)?;
        }
        file.check_against(&problem, target)?;
        Ok(Task { tree: file.checked(&tree, &problem)?, problem, claim })
    }
}

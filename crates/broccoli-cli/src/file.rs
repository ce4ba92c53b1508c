//! A file with a tree or a result: what it holds, and complaints that name it.

use std::fs::File;
use std::io;
use std::path::Path;

use broccoli_core::problem::Problem;
use broccoli_core::tree::{Tree, TreeJson};
use broccoli_export::json::ResultJson;
use broccoli_export::number::{counted, grouped};
use broccoli_export::saved::Saved;
use broccoli_problem::Target;
use broccoli_problem::bytes::{LONGEST_RESULT, read_at_most};

use crate::complaint::Complaint;

/// The most steps that a tree makes because a file says so.
const MOST_STEPS: u64 = 10_000_000_000;

/// A file, with the option or argument that named it.
#[derive(Clone, Copy, Debug)]
pub struct TreeFile<'a> {
    pub option: &'static str,
    pub path: &'a Path,
}

impl TreeFile<'_> {
    /// Reads it; `-` is standard input.
    pub fn saved(&self) -> Result<Saved, Complaint> {
        let read = if self.path == Path::new("-") {
            read_at_most(io::stdin().lock(), LONGEST_RESULT)
        } else {
            File::open(self.path).and_then(|file| read_at_most(file, LONGEST_RESULT))
        };
        let bytes = read.map_err(|error| self.complaint(format!("it cannot be read: {error}")))?;
        let text = String::from_utf8(bytes).map_err(|_| self.complaint("it is not UTF-8 text"))?;
        Saved::read(&text).map_err(|error| {
            self.complaint(error)
                .help("a tree is what `broccoli solve --json` prints, or the \"tree\" inside of it")
        })
    }

    /// The whole result in it; a tree alone does not say what it is for.
    pub fn result(&self) -> Result<ResultJson, Complaint> {
        match self.saved()? {
            Saved::Result(result) => Ok(*result),
            Saved::Tree(_) => Err(self
                .complaint("it holds a tree alone, which does not say what problem it is for")
                .help("a result is what `broccoli solve --json` prints and `broccoli solve --save` writes")),
        }
    }

    /// Refuses to write over the file.
    pub fn check_apart(&self, option: &str, written: &Path) -> Result<(), Complaint> {
        let canonical = |path: &Path| path.canonicalize().ok();
        if canonical(written).is_some_and(|written| canonical(self.path) == Some(written)) {
            return Err(Complaint::input(format!("{option} {written:?} would overwrite {}", self.option)));
        }
        Ok(())
    }

    /// Its tree, checked against a problem.
    pub fn tree(&self, saved: &Saved, problem: &Problem) -> Result<Tree, Complaint> {
        match saved {
            Saved::Tree(tree) => self.checked(tree, problem),
            Saved::Result(result) => self.checked(self.tree_of(result)?, problem),
        }
    }

    /// The tree in a result.
    pub fn tree_of<'r>(&self, result: &'r ResultJson) -> Result<&'r TreeJson, Complaint> {
        result.tree.as_ref().ok_or_else(|| {
            self.complaint(format!("it holds no tree: its status is {:?}", result.status.name()))
        })
    }

    /// The tree, if it is one for the problem.
    pub fn checked(&self, tree: &TreeJson, problem: &Problem) -> Result<Tree, Complaint> {
        tree.check(problem).map_err(|error| self.complaint(format!("in its tree, {error}")))
    }

    /// Checks that the problem of a result is about the target as it is.
    pub fn check_against(&self, problem: &Problem, target: &Target) -> Result<(), Complaint> {
        let check = |what: &str, found: Vec<&str>, expected: Vec<&str>| {
            if found == expected {
                return Ok(());
            }
            let (found, expected) = (found.join(", "), expected.join(", "));
            let name = &target.name;
            Err(self.complaint(format!("its {what} are {found}, but those of {name} are {expected}")))
        };
        let found = problem.dimensions().iter().map(|d| d.name.as_str()).collect();
        check("dimensions", found, target.dimensions.iter().map(|d| d.name.as_str()).collect())?;
        let found = problem.actions().iter().map(|a| a.name.as_str()).collect();
        check("actions", found, target.actions.iter().map(|a| a.name.as_str()).collect())?;
        let Some(expected) = target.initial_values else { return Ok(()) };
        match problem.initial_states().iter().position(|state| state.values().len() != expected) {
            None => Ok(()),
            Some(state) => {
                let count = problem.initial_states()[state].values().len();
                Err(self.complaint(format!("its initial state {state} has {count} values, not {expected}")))
            }
        }
    }

    /// Refuses runs that could go on for ever only because the file says so.
    pub fn check_length(&self, problem: &Problem) -> Result<(), Complaint> {
        let (states, horizon) = (problem.initial_states().len() as u64, problem.objective().horizon());
        if states.saturating_mul(horizon) <= MOST_STEPS {
            return Ok(());
        }
        let (states, horizon) = (counted(states, "initial state"), grouped(horizon));
        let what = format!("its runs could take too long: {states}, with a horizon of {horizon} steps");
        let help = format!("for more than {} steps in all, say --horizon K", grouped(MOST_STEPS));
        Err(self.complaint(what).help(help))
    }

    /// A complaint about the file.
    pub fn complaint(&self, what: impl std::fmt::Display) -> Complaint {
        match self.path.to_str() {
            Some("-") => Complaint::input(format!("{}, standard input: {what}", self.option)),
            _ => Complaint::input(format!("{}, {:?}: {what}", self.option, self.path)),
        }
    }
}

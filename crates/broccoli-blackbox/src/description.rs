//! What a foreign system says about itself before it runs.

use std::collections::BTreeSet;

use broccoli_core::problem::{Action, ComeBack};

/// More values than any message has room for.
const MOST_VALUES: usize = 65_536;

/// How a foreign system comes back to an earlier state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComesBack {
    /// A step is a function of a state that the caller keeps: this many numbers, or bytes of a plug-in.
    Stateless(usize),
    /// The system writes and reads snapshots.
    Snapshot,
    /// Only by a reset and the same actions again.
    Reset,
}

impl From<ComesBack> for ComeBack {
    fn from(comes_back: ComesBack) -> ComeBack {
        match comes_back {
            ComesBack::Stateless(_) => ComeBack::Clone,
            ComesBack::Snapshot => ComeBack::Snapshot,
            ComesBack::Reset => ComeBack::Replay,
        }
    }
}

/// A foreign system's own account of itself. Every system of one factory gives the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// Its name, for people.
    pub name: String,
    /// The names of the observation's dimensions, in order.
    pub observations: Vec<String>,
    /// The actions, in order.
    pub actions: Vec<Action>,
    /// How it comes back to an earlier state.
    pub comes_back: ComesBack,
    /// How many values an initial state has, where the system tells.
    pub initial: Option<usize>,
    /// Whether it says when a run is satisfied or violated.
    pub verdicts: bool,
    /// Whether it gives a reward for every step.
    pub rewards: bool,
}

impl Description {
    /// Checks what a problem could not be built from.
    pub(crate) fn check(&self) -> Result<(), String> {
        let counts = [
            ("observations", self.observations.len(), 1),
            ("actions", self.actions.len(), 2),
            ("values of an initial state", self.initial.unwrap_or(0), 0),
            (
                "values of a state",
                match self.comes_back {
                    ComesBack::Stateless(state) => state,
                    _ => 0,
                },
                0,
            ),
        ];
        for (what, count, least) in counts {
            if !(least..MOST_VALUES).contains(&count) {
                return Err(format!(
                    "it has {count} {what}: from {least} to {} are allowed",
                    MOST_VALUES - 1
                ));
            }
        }
        distinct("observations", self.observations.iter())?;
        distinct("actions", self.actions.iter().map(|action| &action.name))?;
        match self.actions.iter().find(|action| !action.value.is_finite()) {
            Some(action) => Err(format!("the value of its action {:?} is not finite", action.name)),
            None => Ok(()),
        }
    }
}

fn distinct<'a>(what: &str, names: impl Iterator<Item = &'a String>) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for name in names {
        if name.trim().is_empty() {
            return Err(format!("one of its {what} has no name"));
        }
        if !seen.insert(name) {
            return Err(format!("two of its {what} are called {name:?}"));
        }
    }
    Ok(())
}

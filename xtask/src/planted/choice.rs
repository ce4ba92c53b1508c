//! Which planted bugs are run: with `--long` all. Otherwise those in files that differ from the merge base with main, or
//! whose own description does, and a handful of the others, which the commit chooses, so that each has its turn.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};

use super::Bug;
use crate::changes;
use crate::workspace::Workspace;

/// How many are run besides those in files that differ.
const HANDFUL: usize = 5;

/// The bugs that are run, and why.
pub(super) struct Choice {
    /// The names of their files.
    pub(super) ids: BTreeSet<String>,
    left: Vec<String>,
    why: String,
}

impl Choice {
    pub(super) fn new(workspace: &Workspace, bugs: &BTreeMap<String, Bug>) -> Self {
        if workspace.long {
            return Choice::all(bugs, "all, because of --long");
        }
        let (Some(changes), Some(head)) = (&workspace.changes, changes::head(&workspace.root)) else {
            return Choice::all(bugs, "all, because git does not say what has changed");
        };
        let is_changed = |id: &str, bug: &Bug| {
            let description = format!("tests/planted/{id}.toml");
            changes.touch(&[&description]) || changes.files.contains(&bug.file)
        };
        let (mut ids, mut others) = (BTreeSet::new(), Vec::new());
        for (id, bug) in bugs {
            if is_changed(id, bug) {
                ids.insert(id.clone());
            } else {
                others.push(id.clone());
            }
        }
        let mut why = format!("{} in files that differ from {}", ids.len(), changes.since);
        if !workspace.only_changed {
            let handful = handful(&others, &head);
            let names = handful.iter().cloned().collect::<Vec<_>>().join(", ");
            why += &format!(
                "; {} that commit {} chooses: {names}",
                handful.len(),
                head.get(..10).unwrap_or(&head)
            );
            others.retain(|id| !handful.contains(id));
            ids.extend(handful);
        }
        Choice { ids, left: others, why }
    }

    fn all(bugs: &BTreeMap<String, Bug>, why: &str) -> Self {
        Choice { ids: bugs.keys().cloned().collect(), left: Vec::new(), why: why.to_owned() }
    }

    /// What is left to `--long`, in words.
    pub(super) fn left(&self) -> Option<String> {
        let count = self.left.len();
        (count > 0).then(|| format!("{count} planted bugs: {}", self.left.join(", ")))
    }
}

impl Display for Choice {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} planted changes are run: {}", self.ids.len(), self.why)
    }
}

/// As many as fit into a handful, in turn from a place that the commit's hash gives.
fn handful(others: &[String], head: &str) -> BTreeSet<String> {
    let number = head.get(..8).and_then(|digits| usize::from_str_radix(digits, 16).ok()).unwrap_or(0);
    let start = number % others.len().max(1);
    others.iter().cycle().skip(start).take(HANDFUL.min(others.len())).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bug_has_its_turn() {
        let others: Vec<String> = (0..50).map(|i| format!("{i:02}")).collect();
        let chosen = |number: usize| handful(&others, &format!("{number:08x}0000"));
        assert_eq!(chosen(3), chosen(53));
        assert_eq!(chosen(49).len(), HANDFUL);
        assert!(chosen(49).contains("49") && chosen(49).contains("00"));
        let all: BTreeSet<String> = (0..50).flat_map(chosen).collect();
        assert_eq!(all.len(), 50);
        assert_eq!(handful(&others[..5], "ffffffff").len(), 5);
        assert!(handful(&[], "00000000").is_empty());
    }
}

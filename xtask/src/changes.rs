//! What differs from the branch that a change is to be merged into, and which packages that concerns.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::workspace::Workspace;

/// Names of the branch that changes are compared with, the first that exists.
const MAIN: [&str; 2] = ["main", "origin/main"];

/// Files that differ from a commit.
pub(crate) struct Changes {
    /// The commit, in words.
    pub(crate) since: String,
    /// Paths from the root: what was added, changed or removed, committed or not.
    pub(crate) files: BTreeSet<PathBuf>,
}

impl Changes {
    /// What differs from the merge base with main; on main itself, from the commit before. `None` without git.
    pub(crate) fn find(root: &Path) -> Option<Self> {
        let head = git(root, &["rev-parse", "HEAD"])?;
        let base = MAIN.iter().find_map(|main| git(root, &["merge-base", "HEAD", main]));
        let (base, name) = match base {
            Some(base) if base != head => (base, "the merge base with main"),
            _ => (git(root, &["rev-parse", "--verify", "HEAD~1"])?, "the commit before"),
        };
        let since = format!("{name}, {}", base.get(..10)?);
        let mut files = BTreeSet::new();
        for arguments in
            [&["diff", "--name-only", "-z", &base][..], &["ls-files", "--others", "--exclude-standard", "-z"]]
        {
            files.extend(git(root, arguments)?.split_terminator('\0').map(PathBuf::from));
        }
        Some(Changes { since, files })
    }

    /// Whether a file below one of these paths differs.
    pub(crate) fn touch(&self, paths: &[&str]) -> bool {
        self.files.iter().any(|file| paths.iter().any(|path| file.starts_with(path)))
    }
}

/// The commit that is checked out.
pub(crate) fn head(root: &Path) -> Option<String> {
    git(root, &["rev-parse", "HEAD"])
}

fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).current_dir(root).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim_end_matches('\n').to_owned())
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
}

/// Files that every package depends on.
const EVERYWHERE: [&str; 5] = ["Cargo.toml", "Cargo.lock", ".cargo", "clippy.toml", "rustfmt.toml"];

/// Files that tests of a package read although they are not in its folder.
const READ: [(&str, &[&str]); 5] = [
    ("README.md", &["broccoli-core"]),
    ("docs", &["broccoli-blackbox", "broccoli-cli", "broccoli-export", "broccoli-problem", "broccoli-tests"]),
    ("gallery", &["broccoli-cli", "broccoli-python"]),
    ("examples", &["broccoli-cli", "broccoli-core", "broccoli-problem"]),
    ("include", &["broccoli-blackbox", "broccoli-problem"]),
];

/// The packages of the workspace whose tests may have another result: those that differ, and those that depend on them.
pub(crate) fn packages(workspace: &Workspace, changes: &Changes) -> Result<BTreeSet<String>> {
    let mut cargo = workspace.cargo(["metadata", "--no-deps", "--format-version", "1"]);
    let output = cargo.output().context("cannot run cargo metadata")?;
    let metadata: Metadata = serde_json::from_slice(&output.stdout).context("reading cargo metadata")?;
    let mut folders = BTreeMap::new();
    let mut dependents: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in metadata.packages {
        let folder = package.manifest_path.parent().unwrap_or(Path::new(""));
        folders
            .insert(folder.strip_prefix(&workspace.root).unwrap_or(folder).to_owned(), package.name.clone());
        for dependency in package.dependencies {
            dependents.entry(dependency.name).or_default().push(package.name.clone());
        }
    }
    Ok(concerned(changes, &folders, &dependents))
}

fn concerned(
    changes: &Changes,
    folders: &BTreeMap<PathBuf, String>,
    dependents: &BTreeMap<String, Vec<String>>,
) -> BTreeSet<String> {
    if changes.touch(&EVERYWHERE) {
        return folders.values().cloned().collect();
    }
    let mut waiting: Vec<String> = Vec::new();
    for file in &changes.files {
        // The longest folder is the package's own: one may lie within another.
        let own = folders.iter().rfind(|(folder, _)| file.starts_with(folder));
        waiting.extend(own.map(|(_, package)| package.clone()));
        let reads = READ.iter().filter(|(path, _)| file.starts_with(path));
        waiting.extend(reads.flat_map(|(_, packages)| packages.iter().map(|package| (*package).to_owned())));
    }
    let mut found = BTreeSet::new();
    while let Some(package) = waiting.pop() {
        if found.insert(package.clone()) {
            waiting.extend(dependents.get(&package).into_iter().flatten().cloned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_that_depend_on_a_change_are_concerned() {
        let folders = BTreeMap::from([
            (PathBuf::from("crates/a"), "a".to_owned()),
            (PathBuf::from("crates/b"), "b".to_owned()),
            (PathBuf::from("crates/c"), "c".to_owned()),
        ]);
        let dependents = BTreeMap::from([("a".to_owned(), vec!["b".to_owned()])]);
        let concerned = |files: &[&str]| {
            let files = files.iter().map(PathBuf::from).collect();
            let found = concerned(&Changes { since: String::new(), files }, &folders, &dependents);
            found.into_iter().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(concerned(&["crates/a/src/lib.rs"]), "a b");
        assert_eq!(concerned(&["crates/b/src/lib.rs", "notes.txt"]), "b");
        assert_eq!(concerned(&["Cargo.lock"]), "a b c");
        assert_eq!(concerned(&["gallery/x.toml"]), "broccoli-cli broccoli-python");
        assert_eq!(concerned(&["notes.txt"]), "");
    }

    #[test]
    fn changes_are_those_of_the_working_tree_too() {
        let root = std::env::temp_dir().join(format!("broccoli-xtask-changes-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(&root).unwrap();
        assert!(Changes::find(&root).is_none(), "there is no repository yet");
        let git = |words: &[&str]| {
            let user = ["-c", "user.name=a", "-c", "user.email=a", "-c", "commit.gpgsign=false"];
            let status =
                Command::new("git").args(user).args(words).current_dir(&root).output().unwrap().status;
            assert!(status.success(), "{words:?}");
        };
        git(&["init", "--initial-branch", "main"]);
        for name in ["one", "two"] {
            std::fs::write(root.join(name), name).unwrap();
            git(&["add", "."]);
            git(&["commit", "--message", name]);
        }
        let found = || Changes::find(&root).unwrap();
        assert_eq!(found().files, BTreeSet::from([PathBuf::from("two")]));
        assert!(found().since.starts_with("the commit before"));

        git(&["switch", "--create", "branch"]);
        std::fs::write(root.join("three"), "3").unwrap();
        git(&["add", "."]);
        git(&["commit", "--message", "three"]);
        std::fs::write(root.join("four"), "4").unwrap();
        std::fs::write(root.join("one"), "1").unwrap();
        let names = ["four", "one", "three"].map(PathBuf::from);
        assert_eq!(found().files, BTreeSet::from(names));
        assert!(found().since.starts_with("the merge base with main"));
        assert!(found().touch(&["three"]) && !found().touch(&["two"]));
        std::fs::remove_dir_all(&root).unwrap();
    }
}

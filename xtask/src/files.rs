//! A copy of the sources that is kept up to date without touching what has not changed, so that Cargo
//! rebuilds little.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

/// The source files below `root`, as paths relative to it: what git tracks or would track; without git
/// every file except those in folders that tools make.
pub(crate) fn sources(root: &Path) -> Result<BTreeSet<PathBuf>> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
        .current_dir(root)
        .output();
    let mut files = BTreeSet::new();
    match listed {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8(output.stdout).context("git lists a path that is not UTF-8")?;
            files.extend(text.split_terminator('\0').map(PathBuf::from));
            files.retain(|file| root.join(file).is_file()); // a tracked file may have been deleted
        }
        _ => walk(root, Path::new(""), &mut files)?,
    }
    Ok(files)
}

/// Every file below a folder, relative to it.
pub(crate) fn below(root: &Path) -> Result<BTreeSet<PathBuf>> {
    let mut files = BTreeSet::new();
    walk(root, Path::new(""), &mut files)?;
    Ok(files)
}

fn walk(root: &Path, folder: &Path, files: &mut BTreeSet<PathBuf>) -> Result<()> {
    const MADE_BY_TOOLS: [&str; 6] =
        ["target", ".git", "__pycache__", ".pytest_cache", ".ruff_cache", ".mypy_cache"];
    let path = root.join(folder);
    for entry in fs::read_dir(&path).with_context(|| format!("reading {}", path.display()))? {
        let entry = entry?;
        let name = folder.join(entry.file_name());
        if entry.file_type()?.is_file() {
            files.insert(name);
        } else if entry.file_type()?.is_dir() && !MADE_BY_TOOLS.iter().any(|made| entry.file_name() == *made)
        {
            walk(root, &name, files)?;
        }
    }
    Ok(())
}

/// Makes `copy` hold exactly `files` of `root`, with `change` applied to their contents.
pub(crate) fn mirror(
    root: &Path,
    copy: &Path,
    files: &BTreeSet<PathBuf>,
    change: impl Fn(&Path, Vec<u8>) -> Result<Vec<u8>>,
) -> Result<()> {
    for file in files {
        let source = root.join(file);
        let contents = fs::read(&source).with_context(|| format!("reading {}", source.display()))?;
        write_if_changed(&copy.join(file), &change(file, contents)?)?;
    }
    for stale in below(copy)?.difference(files) {
        let stale = copy.join(stale);
        fs::remove_file(&stale).with_context(|| format!("removing {}", stale.display()))?;
    }
    Ok(())
}

fn write_if_changed(path: &Path, contents: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|present| present == contents) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    }
    fs::write(path, contents).with_context(|| format!("writing {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of its own for a test, removed at the end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("broccoli-xtask-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Folder(path)
        }

        fn write(&self, file: &str, contents: &str) {
            write_if_changed(&self.0.join(file), contents.as_bytes()).unwrap();
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_mirror_changes_removes_and_leaves_alone() {
        let (root, copy) = (Folder::new("root"), Folder::new("copy"));
        root.write("a.rs", "one");
        root.write("sub/b.rs", "two");
        root.write("target/made", "x");
        let files = below(&root.0).unwrap();
        assert_eq!(files, BTreeSet::from([PathBuf::from("a.rs"), PathBuf::from("sub/b.rs")]));

        copy.write("stale.rs", "left over");
        mirror(&root.0, &copy.0, &files, |_, contents| Ok(contents)).unwrap();
        assert!(!copy.0.join("stale.rs").exists());
        let time = |file: &str| fs::metadata(copy.0.join(file)).unwrap().modified().unwrap();
        let before = (time("a.rs"), time("sub/b.rs"));

        std::thread::sleep(std::time::Duration::from_millis(20));
        let change =
            |file: &Path, contents| Ok(if file.ends_with("b.rs") { b"2".to_vec() } else { contents });
        mirror(&root.0, &copy.0, &files, change).unwrap();
        assert_eq!(fs::read(copy.0.join("sub/b.rs")).unwrap(), b"2");
        assert_eq!(time("a.rs"), before.0);
        assert_ne!(time("sub/b.rs"), before.1);
    }
}

//! The problems: a file each in `instances/anytime`, and in its folder `gymnasium` those that need Gymnasium.

use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use broccoli_core::problem::{Objective, Problem};
use broccoli_problem::{ProblemFile, Target};

/// Bounds of rewards from here on stand for none: a file cannot say that nothing is known of the rewards of a system
/// that is built in.
const NO_BOUND: f64 = 1e100;

/// A problem with its name.
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) target: Target,
    pub(crate) problem: Problem,
    /// The same with other seeds, for a problem of Gymnasium.
    pub(crate) fresh: Option<Problem>,
}

/// Seeds of Gymnasium that no problem has.
pub(crate) const FRESH: Range<u64> = 1_000_000..1_000_100;

/// All problems whose name contains one of the words, or all if there is no word; with those that need Gymnasium, or
/// without.
pub(crate) fn problems(words: &[String], with_gymnasium: bool) -> Result<Vec<Named>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("instances/anytime");
    let mut paths = files(&folder)?;
    if with_gymnasium {
        paths.extend(files(&folder.join("gymnasium"))?);
    }
    let mut all = Vec::new();
    for path in paths {
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if words.is_empty() || words.iter().any(|word| name.contains(word.as_str())) {
            all.push(open(name, &path).with_context(|| path.display().to_string())?);
        }
    }
    Ok(all)
}

/// The problem files of a folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in folder.read_dir().with_context(|| format!("reading {}", folder.display()))? {
        paths.push(entry?.path());
    }
    paths.retain(|path| path.is_file());
    paths.sort();
    Ok(paths)
}

fn open(name: String, path: &Path) -> Result<Named> {
    let opened = ProblemFile::read(path).and_then(|file| file.open());
    let mut target = opened.map_err(|diagnosis| anyhow!("{diagnosis:?}"))?;
    if let Objective::Return(mut wanted) = target.objective {
        wanted.low = wanted.low.filter(|low| low.abs() < NO_BOUND);
        wanted.high = wanted.high.filter(|high| high.abs() < NO_BOUND);
        target.set_objective(Objective::Return(wanted)).map_err(|error| anyhow!(error))?;
    }
    let problem = target.problem()?;
    let mut fresh = None;
    if target.is_foreign {
        let mut target = target.clone();
        target.seeds = Some(FRESH.collect());
        fresh = Some(target.problem()?);
    }
    Ok(Named { name, target, problem, fresh })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_problem_opens_and_has_its_own_kind() {
        let all = problems(&[], false).unwrap();
        assert!(all.len() == 25 && all.iter().all(|named| named.fresh.is_none()));
        assert!(problems(&["no such problem".to_owned()], false).unwrap().is_empty());
        let unbounded = |named: &&Named| matches!(named.problem.objective(), Objective::Return(wanted) if wanted.low.is_none());
        assert_eq!(all.iter().filter(unbounded).count(), 2);
    }
}

//! README's table of figures, taken from `benchmarks/results/engines.md` so that there is one place for them.

use std::fs;

use anyhow::{Context, Result, bail, ensure};

use crate::workspace::Workspace;

const RESULTS: &str = "benchmarks/results/engines.md";
const BEGIN: &str = "<!-- engines -->\n";
const END: &str = "<!-- end -->";

const HEAD: &str = "\
| problem | best value | queries, `backtracking` | queries, `behaviour` | seconds | any proof needs |
|---|--:|--:|--:|--:|--:|
";

/// How the two tables of the results begin.
const COLUMNS: [&str; 2] = [
    "| table | environment | thresholds | states | value | size | queries | backtracking's | ratio | seconds |",
    "| table | environment | thresholds | states | queries | necessary |",
];

/// The rows that README shows: how they begin in the results, and what they are called.
const ROWS: [(&str, &str); 6] = [
    ("| Table 1 | cartpole | step 0.1,0.1,0.1,0.1 | 1 |", "CartPole, depth 2"),
    ("| Table 1 | mountain-car | step 0.05,0.005 | 1 |", "MountainCar, depth 2"),
    ("| Table 1 | pendulum | step 0.2,0.2 | 1 |", "Pendulum, depth 2"),
    ("| Table 1 | pendulum | step 0.2,0.2 | 100 |", "Pendulum, depth 2, 100 initial states"),
    ("| Table 2 | pendulum | X=10 | 1 |", "Pendulum, depth 3, 9 thresholds per dimension"),
    ("| Table 2 | mountain-car | X=20 | 1 |", "MountainCar, depth 3, 19 thresholds per dimension"),
];

/// Puts the table into README.
pub(crate) fn write(workspace: &Workspace) -> Result<()> {
    let path = workspace.root.join("README.md");
    let (_, wanted) = texts(workspace)?;
    fs::write(&path, wanted).context("writing README.md")
}

/// Whether README has the table.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let (present, wanted) = texts(workspace)?;
    ensure!(present == wanted, "README's table is not that of {RESULTS}; run `cargo xtask book`");
    Ok(())
}

/// README as it is, and as it should be.
fn texts(workspace: &Workspace) -> Result<(String, String)> {
    let read =
        |name: &str| fs::read_to_string(workspace.root.join(name)).with_context(|| format!("reading {name}"));
    let readme = read("README.md")?;
    let wanted = replaced(&readme, &table(&read(RESULTS)?)?)?;
    Ok((readme, wanted))
}

fn replaced(readme: &str, table: &str) -> Result<String> {
    let (before, rest) = readme.split_once(BEGIN).with_context(|| format!("README.md has no {BEGIN}"))?;
    let (_, after) = rest.split_once(END).with_context(|| format!("README.md has no {END}"))?;
    Ok(format!("{before}{BEGIN}\n{table}\n{END}{after}"))
}

/// The table, from both tables of the results: against backtracking, and against what any proof needs.
fn table(results: &str) -> Result<String> {
    for columns in COLUMNS {
        ensure!(results.contains(columns), "{RESULTS} has no table with the columns {columns}");
    }
    let mut table = HEAD.to_owned();
    for (begin, name) in ROWS {
        let mut rows = results.lines().filter(|line| line.starts_with(begin));
        let mut cells = || -> Option<Vec<&str>> { Some(rows.next()?.split('|').map(str::trim).collect()) };
        let rows = cells().zip(cells()).with_context(|| format!("{RESULTS} has no two rows {begin}"))?;
        let (
            &[_, _, _, _, _, value, _, queries, backtracking, _, seconds, ..],
            &[_, _, _, _, _, _, necessary, ..],
        ) = (rows.0.as_slice(), rows.1.as_slice())
        else {
            bail!("{RESULTS}: a row {begin} is too short");
        };
        table += &format!("| {name} | {value} | {backtracking} | {queries} | {seconds} | {necessary} |\n");
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_put_in_its_place() {
        let readme = "a\n<!-- engines -->\nold\n<!-- end -->\nb\n";
        let once = replaced(readme, "new\n").unwrap();
        assert_eq!(once, "a\n<!-- engines -->\n\nnew\n\n<!-- end -->\nb\n");
        assert_eq!(replaced(&once, "new\n").unwrap(), once);
        assert!(replaced("a", "new\n").is_err());
    }

    #[test]
    fn results_with_other_columns_are_refused() {
        assert!(table("").is_err());
        let results = include_str!("../../benchmarks/results/engines.md");
        assert_eq!(table(results).unwrap().lines().count(), 2 + ROWS.len());
        assert!(table(&results.replace("| size |", "|")).unwrap_err().to_string().contains("columns"));
        assert!(
            table(&results.replace("| X=20 |", "| X=21 |")).unwrap_err().to_string().contains("no two rows")
        );
    }
}

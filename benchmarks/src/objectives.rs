//! `objectives`: returns, means and shares, each a problem file in `instances/objectives/`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Result, anyhow, ensure};
use broccoli_core::problem::Over;
use broccoli_core::search::{Search, Status};
use broccoli_problem::ProblemFile;

use crate::machine;
use crate::output::{self, line, seconds};

/// Which problems to solve.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Only problems whose name contains one of these
    #[arg(long, value_delimiter = ',', value_name = "WORD")]
    problem: Vec<String>,

    /// Where objectives.md is written (default: target/bench)
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Solves the problems to proof, one thread each, and writes the report.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("instances/objectives");
    let mut paths = folder.read_dir()?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<PathBuf>>>()?;
    paths.sort();
    let mut text = output::header("Objectives");
    text += "\n| problem | objective | initial states | thresholds | depth | value | size | queries | seconds |\n\
             |---|---|--:|--:|--:|--:|--:|--:|--:|\n";
    let directory = output::directory(arguments.output.as_ref());
    for path in paths {
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if !arguments.problem.is_empty() && !arguments.problem.iter().any(|word| name.contains(word)) {
            continue;
        }
        eprint!("{name} …");
        let opened = ProblemFile::read(&path).and_then(|file| file.open());
        let target = opened.map_err(|diagnosis| anyhow!("{}: {diagnosis:?}", path.display()))?;
        let problem = target.problem()?;
        let objective = problem.objective();
        let (started, busy) = (Instant::now(), machine::busy_process());
        let outcome = Search::new(&problem, &*target.factory).run()?;
        let spent = busy.zip(machine::busy_process()).map(|(start, end)| end.saturating_sub(start));
        let spent = spent.unwrap_or(started.elapsed());
        ensure!(outcome.status == Status::Optimal, "{name} was not solved");
        let over = match objective.over() {
            Over::Worst => String::new(),
            Over::Mean => ", mean".to_owned(),
            Over::Sum => ", sum".to_owned(),
            Over::Weighted => ", weighted".to_owned(),
            Over::Share(share) => format!(", {} %", 100.0 * share),
        };
        let best = outcome.best.as_ref();
        let value = best.and_then(|best| objective.shown(best.value));
        text += &line(&[
            name,
            format!("{}{over}", objective.name()),
            problem.initial_states().len().to_string(),
            problem.predicate_count().unwrap_or(0).to_string(),
            problem.limits().depth().to_string(),
            value.map_or("–".to_owned(), |value| value.to_string()),
            best.map_or("–".to_owned(), |best| best.tree.size().to_string()),
            outcome.statistics.queries.to_string(),
            seconds(spent.as_secs_f64()),
        ]);
        eprintln!(" {}", seconds(spent.as_secs_f64()));
        output::write(&directory, "objectives.md", &text)?;
    }
    print!("{text}");
    output::written(&directory, "objectives.md");
    Ok(())
}

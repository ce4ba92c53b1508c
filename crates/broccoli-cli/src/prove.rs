//! `broccoli prove`: is this tree optimal, and if not, by how much?

use std::path::PathBuf;

use broccoli_core::problem::Problem;
use broccoli_core::search::{Outcome, Status, value};
use broccoli_core::tree::Tree;
use broccoli_export::json::{ProblemJson, ResultJson, SystemJson};
use broccoli_export::proof::{Proof, Verdict};
use broccoli_export::saved::Saved;
use broccoli_problem::Target;
use clap::Args;

use crate::Done;
use crate::complaint::Complaint;
use crate::file::TreeFile;
use crate::output;
use crate::problem::ProblemOptions;
use crate::running::{SearchError, Searched, Wanted};
use crate::screen::note;
use crate::searching::SearchOptions;
use crate::target::{adopt, built_in, described, resolve};

/// Prove that a saved tree is optimal, or tell by how much it is not
///
/// The tree comes from `broccoli solve --json`. A whole result holds its problem, which options change; if its
/// system is somebody's program, TARGET allows to run it. A tree alone is measured by the problem of TARGET and
/// the options.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Prove {
    /// The file with the tree; - reads standard input
    #[arg(value_name = "TREE.json")]
    tree: PathBuf,

    /// The environment, or a problem file [default: the file's environment]
    target: Option<String>,

    #[command(flatten)]
    problem: ProblemOptions,

    #[command(flatten)]
    search: SearchOptions,

    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  broccoli solve mountain-car --json > best.json
  broccoli prove best.json
  broccoli prove best.json --depth 3 --step 0.18,0.014
  broccoli prove plant.json plant.toml
  broccoli prove best.json --time-limit 30s

Exit codes:
  0  the tree is optimal              1  the system failed, or anything else went wrong
  5  it is not                        2  bad usage or bad input
  3  no tree has a value              4  stopped before that was known";

impl Prove {
    /// Runs the command.
    pub fn run(&self) -> Done {
        let file = TreeFile { option: "TREE.json", path: &self.tree };
        let saved = file.saved()?;
        let (mut target, system, problem) = self.task(file, &saved)?;
        let tree = file.tree(&saved, &problem)?;
        let _remembered = self.search.remember(&mut target)?;
        let worth =
            value(&problem, &*target.factory, &tree).map_err(|error| Complaint::other(error.to_string()))?;

        // A tree that is not one of those searched cannot be started from, but it can be compared.
        let (searched, misfit) =
            match self.search.run(&target, &problem, Some(tree.clone()), None, None, Wanted::Best) {
                Ok(searched) => (searched, None),
                Err(SearchError::Options(complaint)) => return Err(complaint),
                Err(SearchError::Start(error)) => {
                    match self.search.run(&target, &problem, None, None, None, Wanted::Best) {
                        Ok(searched) => (searched, Some(error.to_string())),
                        Err(SearchError::Options(complaint)) => return Err(complaint),
                        Err(SearchError::Start(error)) => return Err(Complaint::other(error.to_string())),
                    }
                }
            };
        let Searched { found, seconds, threads, .. } = searched;
        let (result, verdict, failure) = match &found {
            Ok(outcome) => {
                let verdict = verdict(&problem, outcome, worth, &tree, misfit.is_some());
                (ResultJson::new(system, &problem, outcome, seconds), verdict, None)
            }
            Err(failure) => {
                (ResultJson::failed(system, &problem, failure, seconds), Verdict::Undecided, Some(failure))
            }
        };
        let result = ResultJson { threads: Some(threads), ..result };
        let proof = Proof::new(&problem, &tree, worth, verdict, misfit, result);
        if self.json {
            output::print_json(&proof)?;
        } else {
            output::print(&proof.text(&problem))?;
        }
        match failure {
            Some(failure) => Err(Complaint::other(failure.to_string())),
            None => Ok(code(verdict)),
        }
    }

    /// The problem: the one in the file, or else that of TARGET, with the options over it.
    fn task(&self, file: TreeFile<'_>, saved: &Saved) -> Result<(Target, SystemJson, Problem), Complaint> {
        let (mut target, system) = match (&self.target, saved) {
            (Some(target), _) => resolve(target)?,
            (None, Saved::Tree(_)) => {
                return Err(file
                    .complaint("it holds a tree alone, which does not say what problem it is for")
                    .help("name the environment or problem file: broccoli prove TREE.json TARGET"));
            }
            (None, Saved::Result(result)) => {
                // A result may come from anybody; what it names is not run unless the user names it, too.
                let Some(target) = built_in(&result.problem) else {
                    let name = result.problem.system.name();
                    return Err(file
                        .complaint(format!("its system is `{name}`, which is run only if you name it"))
                        .help("give the problem file: broccoli prove TREE.json PROBLEM.toml"));
                };
                (target.map_err(|what| file.complaint(what))?, result.problem.system.clone())
            }
        };
        if let Saved::Result(result) = saved {
            pose(file, &result.problem, &mut target)?;
            let (found_on, here) = (&result.problem.system, described(system.clone(), &target));
            if *found_on != here {
                let (found_on, here) = (found_on.name(), here.name());
                note(format_args!("note: the tree was found on `{found_on}` and runs on `{here}`"));
            }
        }
        let problem = self.problem.problem(&mut target)?;
        file.check_against(&problem, &target)?;
        if matches!(saved, Saved::Result(result) if result.problem.horizon == problem.objective().horizon()) {
            file.check_length(&problem)?;
        }
        let system = described(system, &target);
        Ok((target, system, problem))
    }
}

/// Makes the problem of a result the target's, for options to change.
fn pose(file: TreeFile<'_>, problem: &ProblemJson, target: &mut Target) -> Result<(), Complaint> {
    adopt(target, problem).map_err(|what| file.complaint(what))?;
    let posed = problem.to_problem().map_err(|error| file.complaint(error))?;
    file.check_against(&posed, target)?;
    target.set_objective(posed.objective()).map_err(|what| file.complaint(what))?;
    for (dimension, posed) in target.dimensions.iter_mut().zip(posed.dimensions()) {
        dimension.thresholds.clone_from(&posed.thresholds);
        dimension.price = posed.price;
    }
    (target.initial, target.seeds) = (posed.initial_states().to_vec(), None);
    target.weights = posed.weights().to_vec();
    target.depth = posed.limits().depth();
    // All that the depth allows is no limit, should the depth be changed.
    target.nodes = Some(posed.limits().nodes()).filter(|nodes| *nodes < (1 << target.depth) - 1);
    Ok(())
}

/// What the outcome of a search says about a tree of this value.
fn verdict(problem: &Problem, outcome: &Outcome, value: Option<u64>, tree: &Tree, misfit: bool) -> Verdict {
    let objective = problem.objective();
    let is_beaten = outcome.best.as_ref().is_some_and(|best| {
        value.is_none_or(|value| {
            let is_as_good = best.value == value && best.tree.size() == tree.size();
            objective.is_better(best.value, value)
                || best.value == value && best.tree.size() < tree.size()
                || is_as_good && problem.price(&best.tree) < problem.price(tree)
        })
    });
    match outcome.status {
        _ if is_beaten => Verdict::Refuted,
        Status::Infeasible if value.is_none() => Verdict::Infeasible,
        Status::Optimal | Status::Infeasible if misfit => Verdict::Beyond,
        Status::Optimal => Verdict::Optimal,
        _ => Verdict::Undecided,
    }
}

fn code(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Optimal => 0,
        Verdict::Refuted | Verdict::Beyond => 5,
        Verdict::Infeasible => 3,
        Verdict::Undecided => 4,
    }
}

//! `broccoli solve`: finds the best tree for an environment or a problem file.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use broccoli_core::search::Engine;
use broccoli_export::json::ProblemJson;
use broccoli_problem::{Identity, Target};
use clap::Args;

use crate::Done;
use crate::answer::AnswerOptions;
use crate::certificate::CertificateOptions;
use crate::checkpoint::{About, CheckpointFile};
use crate::complaint::Complaint;
use crate::file::TreeFile;
use crate::numbers::{time_span, whole};
use crate::origin::Origin;
use crate::problem::ProblemOptions;
use crate::refine;
use crate::report;
use crate::running::{Kept, SearchError, Wanted};
use crate::screen::note;
use crate::searching::SearchOptions;
use crate::target::{described, is_file, resolve};

/// Find the best tree, the smallest among the best, and prove it
///
/// Everything has a default: `broccoli solve mountain-car` is a complete command. What the defaults
/// are, `broccoli environments mountain-car` tells.
///
/// Ctrl-C ends the search with the best tree so far and what is proved; a second one ends it at once.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Solve {
    /// What to solve: the name of an environment (`broccoli environments` lists them), or a problem file
    /// whose name ends in .toml (`broccoli init` writes one)
    target: String,

    #[command(flatten)]
    problem: ProblemOptions,

    #[command(flatten)]
    search: SearchOptions,

    /// Find the best tree of every size up to the limit: the front of size against value
    #[arg(long, conflicts_with_all = ["all_optimal", "refine"])]
    pareto: bool,

    /// List up to N optimal trees, and say whether there are more
    #[arg(long, value_name = "N", allow_hyphen_values = true, conflicts_with = "refine",
          value_parser = whole::<usize>(1..=MOST_LISTED))]
    all_optimal: Option<usize>,

    /// Start with this tree, which must fit the thresholds and limits: a saved tree or result
    #[arg(long, value_name = "TREE.json")]
    start: Option<PathBuf>,

    /// Then add thresholds halfway around those that the tree uses and solve again, STAGES times at most or
    /// until the tree gets no better; the answer is proved for the last grid [STAGES: 3 if not given]
    #[arg(long, value_name = "STAGES", num_args = 0..=1, require_equals = true, default_missing_value = "3",
          value_parser = whole::<usize>(1..=MOST_STAGES))]
    refine: Option<usize>,

    /// Keep the search in this file, to `broccoli resume` it; removed when there is an answer
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,

    /// How often to write the checkpoint
    #[arg(long, value_name = "TIME", default_value = "60s", requires = "checkpoint",
          allow_hyphen_values = true, value_parser = time_span)]
    checkpoint_interval: Duration,

    #[command(flatten)]
    certificate: CertificateOptions,

    #[command(flatten)]
    answer: AnswerOptions,
}

/// The most finer grids that can be asked for: halving has come to its end by then.
const MOST_STAGES: u64 = 100;
/// The most optimal trees that can be asked for.
const MOST_LISTED: u64 = 1_000_000;

const EXAMPLES: &str = "\
Examples:
  broccoli solve cartpole
  broccoli solve cartpole --pareto
  broccoli solve cartpole --without x --price theta_dot=2
  broccoli solve mountain-car --all-optimal 10
  broccoli solve mountain-car --depth 3 --nodes 4 --step 0.18,0.014
  broccoli solve mountain-car --actions left,coast,right
  broccoli solve pendulum --actions -2,-1,0,1,2
  broccoli solve pendulum --noise 0.1 --seeds 20
  broccoli solve cartpole --objective return --samples 5 --over mean
  broccoli solve mountain-car --samples 10 --share 80%
  broccoli solve mountain-car --initial -0.51,0 --initial -0.45,0
  broccoli solve pendulum --samples 100 --seed 7 --thresholds 9 --json
  broccoli solve pendulum --depth 3 --time-limit 30s --gap 5%
  broccoli solve mountain-car --depth 4 --checkpoint search.ckpt --time-limit 1h
  broccoli solve mountain-car --thresholds 9 --refine
  broccoli solve cartpole --save best.json --report best.html
  broccoli solve pendulum --certificate pendulum.proof
  broccoli solve plant.toml --depth 3

Exit codes:
  0  an optimal tree was found        1  the system failed, or anything else went wrong
  3  it is proved that none exists    2  bad usage or bad input
  4  stopped early";

impl Solve {
    /// Runs the command.
    pub fn run(&self) -> Done {
        let (mut target, system) = resolve(&self.target)?;
        let origin = Origin::new(Some(&self.target), &target, &system);
        let problem = self.problem.problem(&mut target)?;
        let system = described(system, &target);
        self.answer.check()?;
        let file = self.start.as_ref().map(|path| TreeFile { option: "--start", path });
        let start = match &file {
            Some(file) => Some(file.tree(&file.saved()?, &problem)?),
            None => None,
        };
        let wanted = self.wanted();
        let (is_kept, is_certified) = (self.checkpoint.is_some(), self.certificate.is_wanted());
        self.search.check_wanted(wanted, &target, problem.has_prices(), is_kept, is_certified)?;
        self.search.check_certificate(&self.certificate, &target, &problem)?;
        if self.refine.is_some() {
            self.check_refine(&target)?;
        }
        let _remembered = self.search.remember(&mut target)?;
        if let Some(stages) = self.refine {
            let refined = refine::run(&self.search, &mut target, problem, start, stages);
            let (problem, searched) = refined.map_err(|error| complaint(error, file))?;
            return self.answer.tell(&target, system, &problem, searched, report::command());
        }
        if is_certified && problem.has_prices() {
            note(format_args!("the certificate is about value and size, not the price"));
        }
        if is_certified && wanted != Wanted::Best {
            note(format_args!("the certificate is about value and size, not the other trees"));
        }
        let json = ProblemJson::new(system.clone(), &problem, Engine::Behaviour);
        let identity = match is_kept || is_certified {
            true => target.identity().map_err(|error| Complaint::input(error.to_string()))?,
            false => Identity::default(),
        };
        let kept = self.checkpoint.as_ref();
        let kept = kept.map(|path| self.kept(path, &json, origin, identity.clone())).transpose()?;
        let kept = kept.map(|kept| Kept { target: target.is_foreign.then(|| self.target.clone()), ..kept });
        let certificate = self.certificate.begin(&json, &identity)?;
        let searched = self.search.run(&target, &problem, start, kept, certificate, wanted);
        let searched = searched.map_err(|error| complaint(error, file))?;
        self.answer.tell(&target, system, &problem, searched, report::command())
    }

    /// Refuses what makes no sense for several searches.
    fn check_refine(&self, target: &Target) -> Result<(), Complaint> {
        let several = "--refine makes several searches";
        if self.checkpoint.is_some() {
            return Err(Complaint::input(format!("{several}, and --checkpoint keeps one"))
                .help("--save the result: `broccoli solve --start` and --refine go on from its tree"));
        }
        if self.certificate.is_wanted() {
            return Err(Complaint::input(format!("{several}, and --certificate is about one"))
                .help("--save the result and certify its last grid, whose thresholds are in it"));
        }
        if self.search.is_first(target) {
            return Err(Complaint::input(format!("{several}, each from the tree of the one before")).help(
                "--first or --good-enough would end them all with the first tree: leave out one of the two",
            ));
        }
        Ok(())
    }

    fn wanted(&self) -> Wanted {
        match self.all_optimal.and_then(NonZeroUsize::new) {
            Some(most) => Wanted::AllOptimal(most),
            None if self.pareto => Wanted::Front,
            None => Wanted::Best,
        }
    }

    /// Where the search is kept, with all that it takes to run it again.
    fn kept(
        &self,
        path: &Path,
        problem: &ProblemJson,
        origin: Origin,
        identity: Identity,
    ) -> Result<Kept, Complaint> {
        let file = CheckpointFile::new(path, problem, is_file(&self.target).then_some(&*self.target))?;
        let about = About {
            problem: problem.clone(),
            origin,
            identity,
            command: report::command(),
            seconds: 0.0,
            history: Vec::new(),
            certificate: None,
        };
        Ok(Kept { file, interval: self.checkpoint_interval, about, target: None })
    }
}

/// Why a search could not be run; a tree to start from came from `file`.
fn complaint(error: SearchError, file: Option<TreeFile<'_>>) -> Complaint {
    match (error, file) {
        (SearchError::Start(error), Some(file)) => file
            .complaint(format!("it cannot be started from: {error}"))
            .help("`broccoli simulate` or `broccoli prove` tells what the tree is worth"),
        (SearchError::Start(error), None) => Complaint::input(error.to_string()),
        (SearchError::Options(complaint), _) => complaint,
    }
}

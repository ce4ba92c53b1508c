//! `broccoli resume`: goes on with a search that was kept in a file.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::Done;
use crate::answer::AnswerOptions;
use crate::certificate::CertificateFile;
use crate::checkpoint::CheckpointFile;
use crate::complaint::Complaint;
use crate::file::TreeFile;
use crate::numbers::time_span;
use crate::running::{Kept, Plan, RunOptions, SearchError};
use crate::target::of_saved;

/// Go on with a search that `broccoli solve --checkpoint FILE` has begun
///
/// The answer is that of a search that was never interrupted. Limits and threads are those given here; a
/// gap, and whether any of the best trees will do, were settled at the beginning. The search is kept in
/// the same file, which is removed when there is an answer.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Resume {
    /// The file with the checkpoint
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The problem file, if the system is not a built-in environment: what only FILE names is never run
    target: Option<String>,

    #[command(flatten)]
    run: RunOptions,

    /// How often to write the checkpoint
    #[arg(long, value_name = "TIME", default_value = "60s", allow_hyphen_values = true, value_parser = time_span)]
    checkpoint_interval: Duration,

    /// Go on without the certificate that was begun
    #[arg(long)]
    no_certificate: bool,

    #[command(flatten)]
    answer: AnswerOptions,
}

const EXAMPLES: &str = "\
Examples:
  broccoli solve mountain-car --depth 4 --checkpoint search.ckpt --time-limit 1h
  broccoli resume search.ckpt
  broccoli resume search.ckpt --time-limit 8h --threads 2

Exit codes: those of `broccoli solve`; 2 also if the file is not a checkpoint, or damaged.";

impl Resume {
    /// Runs the command.
    pub fn run(&self) -> Done {
        self.answer.check()?;
        let (file, mut about, checkpoint) = CheckpointFile::open(&self.file)?;
        let named = self.target.as_deref();
        let target = of_saved(&about.problem, named, "resume", |what| file.complaint(what))?;
        let problem = about.problem.to_problem().map_err(|error| file.complaint(error))?;
        TreeFile { option: "FILE", path: &self.file }.check_against(&problem, &target)?;
        let (system, command) = (about.problem.system.clone(), about.command.clone());
        let certificate = about.certificate.take().filter(|_| !self.no_certificate);
        let certificate = certificate.map(CertificateFile::resume).transpose()?;
        let kept = Kept { file, interval: self.checkpoint_interval, about };
        let plan = Plan { resumed: Some(checkpoint), certificate, ..Plan::default() };
        let searched = self.run.run(&target, &problem, plan, Some(kept)).map_err(|error| match error {
            SearchError::Options(complaint) => complaint,
            SearchError::Start(error) => Complaint::other(error.to_string()),
        })?;
        self.answer.tell(&target, system, &problem, searched, command)
    }
}

//! `broccoli resume`: goes on with a search that was kept in a file.

use std::path::PathBuf;
use std::time::Duration;

use broccoli_problem::Target;
use clap::Args;

use crate::Done;
use crate::answer::AnswerOptions;
use crate::certificate::CertificateFile;
use crate::checkpoint::{About, CheckpointFile};
use crate::complaint::Complaint;
use crate::file::TreeFile;
use crate::keeper::resume_command;
use crate::numbers::time_span;
use crate::origin::{Changes, Origin};
use crate::running::{Kept, Plan, RunOptions, SearchError};
use crate::screen::note;
use crate::target::{adopted, of_saved_as_posed};

/// How long the system is asked again for what it answered; and that of which a file has changed.
const PATIENCE: Duration = Duration::from_secs(1);
const LONG_PATIENCE: Duration = Duration::from_secs(60);

/// Go on with a search that `broccoli solve --checkpoint FILE` has begun
///
/// The answer is that of a search that was never interrupted. The problem and the system have to be what they were:
/// the problem file and the files of the program are compared, and for a second the program is asked again for what it
/// has answered. Limits and threads are those given here; a
/// gap was settled at the beginning. The search is kept in the same file, which is removed when there is an answer.
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

    /// Go on although a file of the system is not what it was, or is elsewhere, because you know that the system answers
    /// as before; it is asked again for what it answered, for up to a minute
    #[arg(long)]
    same_system: bool,

    /// Go on with the certificate that was begun: it has to be named, because what comes after the checkpoint is cut
    /// off, and no file is changed that only FILE names
    #[arg(long, value_name = "FILE", conflicts_with = "no_certificate")]
    certificate: Option<PathBuf>,

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
  broccoli resume search.ckpt plant.toml --certificate plant.proof
  broccoli resume search.ckpt plant.toml --same-system    only a comment in plant.py has changed

Exit codes: those of `broccoli solve`; 2 also if the file is not a checkpoint, or damaged.";

impl Resume {
    /// Runs the command.
    pub fn run(&self) -> Done {
        self.answer.check()?;
        let (file, mut about, checkpoint) = CheckpointFile::open(&self.file)?;
        let mut target = self.target(&file, &about)?;
        let problem = about.problem.to_problem().map_err(|error| file.complaint(error))?;
        TreeFile { option: "FILE", path: &self.file }.check_against(&problem, &target)?;
        let (system, command) = (about.problem.system.clone(), about.command.clone());
        let certificate = self.certificate(&mut about)?;
        let patience = if self.same_system { LONG_PATIENCE } else { PATIENCE };
        let named = self.target.clone().filter(|_| target.is_foreign);
        let kept = Kept { file, interval: self.checkpoint_interval, about, target: named };
        let _remembered = self.run.remember(&mut target, None)?;
        let plan = Plan { resumed: Some(checkpoint), patience, certificate, ..Plan::default() };
        let searched = self.run.run(&target, &problem, plan, Some(kept)).map_err(|error| match error {
            SearchError::Options(complaint) => complaint,
            SearchError::Start(error) => Complaint::other(error.to_string()),
        })?;
        self.answer.tell(&target, system, &problem, searched, command)
    }

    /// The target, if it is the one that the search is about.
    fn target(&self, file: &CheckpointFile, about: &About) -> Result<Target, Complaint> {
        let complaint = |what: String| file.complaint(what);
        let named = self.target.as_deref();
        let (target, system) = of_saved_as_posed(&about.problem, named, "resume", complaint)?;
        // A built-in environment that a problem file chose is complete without that file.
        let is_comparable = named.is_some() || about.origin.is_environment();
        let mut changes = Changes::default();
        if is_comparable {
            changes = about.origin.changes(&Origin::new(named, &target, &system));
        }
        // Choices that do not fit the target any more are told as what they are: a change of it.
        let target = adopted(target, &about.problem);
        if let Ok(target) = &target {
            let identity = target.identity().map_err(|error| Complaint::input(error.to_string()))?;
            changes.add(&about.identity, &identity);
        }
        match changes.all() {
            None => {}
            Some(what) if self.same_system && changes.essential.is_empty() => {
                note(format_args!("{what}; it is asked again for what it answered, for up to a minute"));
            }
            Some(what) => {
                let message = format!("it is a search for something else than TARGET: {what}");
                let help = match changes.essential.is_empty() {
                    true => {
                        "put the old one back, or begin anew; or, if you know that the system answers as before, \
                             say --same-system"
                    }
                    false => {
                        "nothing that was proved holds for another problem or system: put the old one back, or begin \
                         anew"
                    }
                };
                return Err(file.complaint(message).help(help));
            }
        }
        target.map_err(complaint)
    }

    /// The certificate to go on with, if there is one.
    fn certificate(&self, about: &mut About) -> Result<Option<CertificateFile>, Complaint> {
        match (about.certificate.take(), &self.certificate) {
            (_, None) if self.no_certificate => Ok(None),
            (None, None) => Ok(None),
            (Some(kept), Some(path)) => {
                CertificateFile::resume(path, &kept, &about.problem, &about.identity).map(Some)
            }
            (None, Some(path)) => Err(Complaint::input(format!(
                "--certificate {path:?}: the search was begun without a certificate, and cannot be given one now"
            ))),
            (Some(kept), None) => {
                let command = resume_command(&self.file, self.target.as_deref(), Some(kept.path()));
                Err(Complaint::input(format!(
                    "the search writes a certificate to {:?}, which only the checkpoint says",
                    kept.path()
                ))
                .help(format!("to go on with it: {command}; to go on without it: --no-certificate")))
            }
        }
    }
}

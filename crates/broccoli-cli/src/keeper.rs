//! Writes checkpoints while a search runs. That it cannot must never end a search: the user is told once.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use broccoli_core::search::{Checkpoint, Keeper};
use broccoli_export::history::History;
use broccoli_export::names::shell_word;

use crate::certificate::CertificateFile;
use crate::checkpoint::{About, CheckpointFile};
use crate::running::Kept;
use crate::screen::note;

/// A clock that tells the seconds since the search began, those of earlier runs included.
pub type Clock = Box<dyn Fn() -> f64>;

/// Keeps a search in a file.
pub struct FileKeeper<'a> {
    file: CheckpointFile,
    interval: Duration,
    last: Instant,
    about: About,
    history: &'a RefCell<History<Clock>>,
    clock: Clock,
    has_complained: bool,
    /// Whether the last checkpoint was written.
    is_kept: bool,
    certificate: Option<Rc<CertificateFile>>,
    /// The target that has to be named to go on with it.
    target: Option<String>,
}

impl<'a> FileKeeper<'a> {
    pub fn new(
        Kept { file, interval, about, target }: Kept,
        history: &'a RefCell<History<Clock>>,
        clock: Clock,
        certificate: Option<Rc<CertificateFile>>,
    ) -> Self {
        let last = Instant::now();
        let mut keeper = FileKeeper {
            is_kept: false,
            has_complained: false,
            file,
            interval,
            last,
            about,
            history,
            clock,
            certificate,
            target,
        };
        if let Err(error) = keeper.file.check() {
            keeper.complain(&error);
        }
        keeper
    }

    fn complain(&mut self, error: &std::io::Error) {
        if !std::mem::replace(&mut self.has_complained, true) {
            let path = self.file.path();
            note(format_args!(
                "warning: no checkpoint can be written to {path:?}: {error}; the search goes on"
            ));
        }
    }

    /// The search has ended, with an answer or without.
    pub fn end(self, is_answered: bool) {
        let path = self.file.path();
        if !is_answered && self.is_kept {
            note(format_args!("the search is kept: `{}` goes on with it", self.command()));
        } else if is_answered && let Err(error) = self.file.remove() {
            note(format_args!("warning: {path:?} is not needed any more, but cannot be removed: {error}"));
        }
    }
}

impl FileKeeper<'_> {
    /// The command that goes on with the search.
    fn command(&self) -> String {
        let certificate = self.certificate.as_ref().map(|certificate| certificate.path());
        resume_command(self.file.path(), self.target.as_deref(), certificate)
    }
}

/// A command that goes on with a search, as a shell takes it.
pub fn resume_command(file: &Path, target: Option<&str>, certificate: Option<&Path>) -> String {
    let word = |path: &Path| shell_word(&path.to_string_lossy());
    let mut command = format!("broccoli resume {}", word(file));
    if let Some(target) = target {
        command += &format!(" {}", shell_word(target));
    }
    if let Some(certificate) = certificate {
        command += &format!(" --certificate {}", word(certificate));
    }
    command
}

impl Keeper for FileKeeper<'_> {
    fn is_due(&mut self) -> bool {
        self.last.elapsed() >= self.interval
    }

    fn keep(&mut self, checkpoint: &Checkpoint) {
        self.about.seconds = (self.clock)();
        self.about.history = self.history.borrow().moments().to_vec();
        let certificate = self.certificate.as_ref().map(|certificate| certificate.kept()).transpose();
        let written = certificate.and_then(|certificate| {
            self.about.certificate = certificate;
            self.file.write(&self.about, checkpoint)
        });
        self.is_kept = written.is_ok();
        if let Err(error) = written {
            self.complain(&error);
        }
        self.last = Instant::now();
    }
}

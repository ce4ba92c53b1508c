//! Writes checkpoints while a search runs. That it cannot must never end a search: the user is told once.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use broccoli_core::search::{Checkpoint, Keeper};
use broccoli_export::history::History;

use crate::certificate::CertificateFile;
use crate::checkpoint::{About, CheckpointFile};
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
}

impl<'a> FileKeeper<'a> {
    pub fn new(
        file: CheckpointFile,
        interval: Duration,
        about: About,
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
            note(format_args!("the search is kept: `broccoli resume {}` goes on with it", path.display()));
        } else if is_answered && let Err(error) = self.file.remove() {
            note(format_args!("warning: {path:?} is not needed any more, but cannot be removed: {error}"));
        }
    }
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

//! Checkpoints in a file: written now and then, and when a search is stopped.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use broccoli_core::search::{Checkpoint, Keeper};
use broccoli_export::difference::difference;
use broccoli_export::json::ProblemJson;
use pyo3::{PyErr, PyResult};
use serde::{Deserialize, Serialize};

use crate::problem::wrong;

/// How often a checkpoint is written.
const EVERY: Duration = Duration::from_secs(60);

/// To be counted up whenever what is written changes, that of the core included.
const VERSION: u32 = 8;

/// What is in the file. The checkpoint itself knows the problem only by a number, and the system not at all.
#[derive(Serialize, Deserialize)]
struct Written<C> {
    system: String,
    problem: ProblemJson,
    checkpoint: C,
}

/// The version, whatever else is in the file.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

#[derive(Serialize)]
struct WithVersion<'a> {
    version: u32,
    #[serde(flatten)]
    written: Written<&'a Checkpoint>,
}

/// A file to write checkpoints to.
pub struct File {
    path: PathBuf,
    system: String,
    problem: ProblemJson,
    due: Instant,
    /// What went wrong when it was last written.
    pub error: Option<String>,
}

impl File {
    /// A file for a search on this system, of a problem as a certificate would describe it.
    pub fn new(path: PathBuf, system: String, problem: ProblemJson) -> Self {
        File { path, system, problem, due: Instant::now() + EVERY, error: None }
    }

    /// The checkpoint in the file, if there is one.
    pub fn read(&self) -> PyResult<Option<Checkpoint>> {
        let named = |error: &dyn std::fmt::Display| self.wrong(error);
        match fs::metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            // A device or a pipe might never end.
            Ok(there) if !there.is_file() => return Err(named(&"this is no file")),
            _ => {}
        }
        let text = fs::read_to_string(&self.path)?;
        if let Ok(Versioned { version }) = serde_json::from_str(&text)
            && version != VERSION
        {
            return Err(named(&format_args!(
                "this is a checkpoint of version {version}, and this package reads version {VERSION} only"
            )));
        }
        let written: Written<Checkpoint> = serde_json::from_str(&text)
            .map_err(|error| named(&format_args!("this is no checkpoint: {error}")))?;
        if written.system != self.system {
            return Err(named(&format_args!(
                "this is a checkpoint of another system: {}, not {}",
                written.system, self.system
            )));
        }
        if let Some(what) = difference(&written.problem, &self.problem) {
            return Err(named(&format_args!("this is a checkpoint of another problem: {what}")));
        }
        Ok(Some(written.checkpoint))
    }

    /// A complaint about the file.
    pub fn wrong(&self, error: &dyn std::fmt::Display) -> PyErr {
        wrong(format_args!("{}: {error}", self.path.display()))
    }

    /// Removes the file: there is nothing left to do.
    pub fn remove(&mut self) {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => self.error = Some(error.to_string()),
            _ => {}
        }
    }

    /// Writes beside the file first, so that there is always a whole one.
    fn write(&self, checkpoint: &Checkpoint) -> io::Result<()> {
        let beside = beside(&self.path);
        let written = Written { system: self.system.clone(), problem: self.problem.clone(), checkpoint };
        let text = serde_json::to_string(&WithVersion { version: VERSION, written })?;
        fs::write(&beside, text)?;
        fs::rename(&beside, &self.path)
    }
}

impl Keeper for File {
    fn is_due(&mut self) -> bool {
        Instant::now() >= self.due
    }

    fn keep(&mut self, checkpoint: &Checkpoint) {
        self.error = self.write(checkpoint).err().map(|error| error.to_string());
        self.due = Instant::now() + EVERY;
    }
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

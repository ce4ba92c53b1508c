//! Checkpoints in a file: written now and then, and when a search is stopped.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use broccoli_core::search::{Checkpoint, Keeper};
use pyo3::PyResult;
use serde::{Deserialize, Serialize};

use crate::problem::wrong;

/// How often a checkpoint is written.
const EVERY: Duration = Duration::from_secs(60);

/// What is in the file. The checkpoint itself knows the problem, but not the system.
#[derive(Serialize, Deserialize)]
struct Written<C> {
    system: String,
    checkpoint: C,
}

/// A file to write checkpoints to.
pub struct File {
    path: PathBuf,
    system: String,
    due: Instant,
    /// What went wrong when it was last written.
    pub error: Option<String>,
}

impl File {
    pub fn new(path: PathBuf, system: String) -> Self {
        File { path, system, due: Instant::now() + EVERY, error: None }
    }

    /// The checkpoint in the file, if there is one.
    pub fn read(&self) -> PyResult<Option<Checkpoint>> {
        let named = |error: &dyn std::fmt::Display| wrong(format_args!("{}: {error}", self.path.display()));
        let text = match fs::read_to_string(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read?,
        };
        let written: Written<Checkpoint> = serde_json::from_str(&text)
            .map_err(|error| named(&format_args!("this is no checkpoint: {error}")))?;
        if written.system != self.system {
            return Err(named(&format_args!(
                "this is a checkpoint of another system: {}, not {}",
                written.system, self.system
            )));
        }
        Ok(Some(written.checkpoint))
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
        let text = serde_json::to_string(&Written { system: self.system.clone(), checkpoint })?;
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

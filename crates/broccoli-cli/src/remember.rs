//! What the system answers is remembered, so that it is not asked twice: in memory if it is slow, in a file if the user
//! wants that.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use broccoli_problem::Target;
use broccoli_store::{Room, Store, StoreError, Usage};
use clap::Args;

use crate::complaint::Complaint;
use crate::screen::note;

/// The most memory for what is remembered; and of limited memory, one part in so many.
const MOST: usize = 1 << 30;
const PART: usize = 3;

/// Where to remember.
#[derive(Debug, Args)]
pub struct RememberOptions {
    /// Remember what the system answers in this file, and do not ask again for what is in it: for slow systems.
    /// Other searches about the same system can use it, too, whatever their thresholds, depth and objective
    #[arg(long, value_name = "FILE")]
    remember: Option<PathBuf>,
}

/// What is remembered by one command.
#[must_use]
#[derive(Default)]
pub struct Remembered {
    store: Option<Arc<Store>>,
    path: Option<PathBuf>,
}

impl RememberOptions {
    /// Lets the systems of a target remember in the file that the options or the target name.
    pub fn in_file(&self, target: &mut Target, memory: Option<usize>) -> Result<Remembered, Complaint> {
        let Some(path) = self.remember.clone().or_else(|| target.remember.clone()) else {
            return Ok(Remembered::default());
        };
        // Another process can go on from any state of a foreign system, as the protocol says.
        let room = Room { bytes: room(memory), are_states_lasting: true };
        let tell = Box::new(|line: &str| note(format_args!("{line}")));
        let identity = target.bare_identity().map_err(|error| Complaint::input(error.to_string()))?;
        let opened = Store::open(&path, &identity, target.observed_values(), room, tell);
        let store = Arc::new(opened.map_err(|error| complaint(&path, &error))?);
        target.remember_in(Arc::clone(&store));
        Ok(Remembered { store: Some(store), path: Some(path) })
    }

    /// The same; and if there is no file, in memory if the system is slow.
    pub fn anyhow(&self, target: &mut Target, memory: Option<usize>) -> Result<Remembered, Complaint> {
        let remembered = self.in_file(target, memory)?;
        if remembered.store.is_some() || !target.is_slow() {
            return Ok(remembered);
        }
        let store = Arc::new(Store::in_memory(target.observed_values(), room(memory)));
        target.remember_in(Arc::clone(&store));
        Ok(Remembered { store: Some(store), path: None })
    }
}

/// How much memory there is for what is remembered.
fn room(memory: Option<usize>) -> usize {
    memory.map_or(MOST, |memory| (memory / PART).min(MOST))
}

/// How much of limited memory is left for the rest, if something is remembered.
pub fn rest(memory: usize) -> usize {
    memory - room(Some(memory))
}

/// Why a file is not used.
pub fn complaint(path: &Path, error: &StoreError) -> Complaint {
    let complaint = Complaint::input(format!("--remember {path:?}: {error}"));
    match error {
        StoreError::Owned(_) => complaint.help("wait for its end, or give another file"),
        StoreError::OtherSystem(_) => complaint
            .help("what one system answers says nothing of another: give another file, or delete this one"),
        StoreError::Damaged => complaint.help("nothing of it can be used: delete it, or give another file"),
        _ => complaint,
    }
}

impl Drop for Remembered {
    /// Says what it was good for.
    fn drop(&mut self) {
        let (Some(store), Some(path)) = (&self.store, &self.path) else { return };
        store.flush();
        let Usage { read, reused, again, added, .. } = store.usage();
        let again = match again {
            0 => String::new(),
            again => format!(" ({again} asked again to see that the system is the same)"),
        };
        note(format_args!("reused {reused} of the {read} answers in {path:?}{again}; added {added}"));
    }
}

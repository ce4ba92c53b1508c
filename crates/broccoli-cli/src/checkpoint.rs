//! A search in a file: what `--checkpoint` writes and `broccoli resume` reads.
//!
//! A file begins with [`MAGIC`], the version of the format and the length of what follows; at its end is
//! the CRC-32 of all before. In between are a description in JSON, with the problem as in a result, and
//! the search itself in postcard. It is replaced as a whole or not at all.
//!
//! A file may come from anybody. Reading it takes memory in proportion to its size, less than a hundred times as much,
//! and time in proportion, too; nothing in it is run, and no file that only it names is written.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use broccoli_core::search::Checkpoint;
use broccoli_export::history::Moment;
use broccoli_export::json::ProblemJson;
use serde::{Deserialize, Serialize};

use crate::certificate::KeptCertificate;
use crate::complaint::Complaint;
use crate::origin::Origin;
use crate::whole;

const MAGIC: &[u8] = b"broccoli checkpoint\n";
/// To be counted up whenever what is written changes, that of the core included.
const VERSION: u32 = 13;
const HEAD: usize = MAGIC.len() + 4 + 8;
const CHECKSUM: usize = 4;

/// What a search is about, and how it went so far.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct About {
    pub problem: ProblemJson,
    /// Where the problem came from.
    pub origin: Origin,
    /// The command that began the search.
    pub command: Vec<String>,
    pub seconds: f64,
    pub history: Vec<Moment>,
    /// The certificate that goes with it.
    pub certificate: Option<KeptCertificate>,
}

/// A file for the checkpoints of a search.
#[derive(Clone, Debug)]
pub struct CheckpointFile {
    path: PathBuf,
    /// Whether it holds an earlier checkpoint of this search.
    is_ours: bool,
    /// The file itself, locked as long as this search goes on with it.
    locked: Option<Rc<File>>,
}

impl CheckpointFile {
    /// A file that does not exist yet.
    pub fn new(path: &Path, problem: &ProblemJson) -> Result<Self, Complaint> {
        let file = CheckpointFile { path: path.to_owned(), is_ours: false, locked: None };
        if fs::symlink_metadata(path).is_ok() {
            return Err(match file.read() {
                Ok((about, _)) if about.problem == *problem => {
                    Complaint::input(format!("--checkpoint {path:?} holds a search for this problem already"))
                        .help("`broccoli resume` with this file goes on with it; delete it to begin anew")
                }
                Ok((about, _)) => Complaint::input(format!(
                    "--checkpoint {path:?} holds a search for another problem, on {}, and is not overwritten",
                    about.problem.system.name()
                )),
                Err(_) => Complaint::input(format!(
                    "--checkpoint {path:?} exists, is not a checkpoint that can be read, and is not overwritten"
                )),
            });
        }
        let folder = whole::folder(path);
        if !folder.is_dir() {
            return Err(Complaint::input(format!(
                "--checkpoint {path:?}: the folder {folder:?} does not exist"
            )));
        }
        Ok(file)
    }

    /// A file with a checkpoint, and what is in it.
    pub fn open(path: &Path) -> Result<(Self, About, Checkpoint), Complaint> {
        // What is replaced later is the file itself, not a link to it.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let mut file = CheckpointFile { path, is_ours: true, locked: None };
        file.locked = file.lock()?.map(Rc::new);
        let (about, checkpoint) = file.read().map_err(|what| file.complaint(what))?;
        Ok((file, about, checkpoint))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A complaint about the file.
    pub fn complaint(&self, what: impl std::fmt::Display) -> Complaint {
        Complaint::input(format!("FILE, {:?}: {what}", self.path))
    }

    /// Keeps others from going on with it, too, as far as the disk can do that.
    fn lock(&self) -> Result<Option<File>, Complaint> {
        // To open a pipe might take for ever.
        while cfg!(unix) && self.path.is_file() {
            let Ok(file) = File::open(&self.path) else { break };
            if !lock(&file) {
                let complaint = self.complaint("another process is going on with this search");
                return Err(complaint.help("wait for its end, or end it"));
            }
            // Somebody may have replaced it meanwhile: then the lock is on a file that is there no more.
            if is_still(&self.path, &file) {
                return Ok(Some(file));
            }
        }
        Ok(None)
    }

    fn read(&self) -> Result<(About, Checkpoint), String> {
        let unreadable = |error: io::Error| format!("it cannot be read: {error}");
        // A device or a pipe might never end.
        if !fs::metadata(&self.path).map_err(unreadable)?.is_file() {
            return Err("it is not a file".to_owned());
        }
        decode(&fs::read(&self.path).map_err(unreadable)?)
    }

    /// Replaces what is in the file.
    pub fn write(&mut self, about: &About, checkpoint: &Checkpoint) -> io::Result<()> {
        let bytes = encode(about, checkpoint)?;
        let mut partial = whole::beside(&self.path)?;
        partial.write_all(&bytes)?;
        partial.as_file().sync_all()?;
        // Nobody else knows of it yet.
        lock(partial.as_file());
        // The first time, a file that somebody else has put there meanwhile stays as it is.
        let renamed =
            if self.is_ours { partial.persist(&self.path) } else { partial.persist_noclobber(&self.path) };
        let file = renamed.map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => {
                io::Error::other("another search has written a checkpoint there since this one began")
            }
            _ => error.error,
        })?;
        // On other systems a file that is open cannot be replaced.
        self.locked = cfg!(unix).then(|| Rc::new(file));
        self.is_ours = true;
        whole::flush_folder(&self.path)
    }

    /// Whether anything could be written: better known at the start than when it is needed.
    pub fn check(&self) -> io::Result<()> {
        whole::beside(&self.path).map(drop)
    }

    /// The search is over.
    pub fn remove(&self) -> io::Result<()> {
        if self.is_ours { fs::remove_file(&self.path) } else { Ok(()) }
    }
}

/// Locks a file; whether nobody else has. Where there are no locks, nobody has.
fn lock(file: &File) -> bool {
    #[cfg(unix)]
    {
        use rustix::fs::{FlockOperation, flock};
        flock(file, FlockOperation::NonBlockingLockExclusive) != Err(rustix::io::Errno::WOULDBLOCK)
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        true
    }
}

/// Whether a file is the one with this name, as far as that can be told.
fn is_still(path: &Path, file: &File) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let place = |there: fs::Metadata| (there.dev(), there.ino());
        match (fs::metadata(path), file.metadata()) {
            (Ok(named), Ok(own)) => place(named) == place(own),
            _ => true,
        }
    }
    #[cfg(not(unix))]
    {
        let _ = (path, file);
        true
    }
}

fn encode(about: &About, checkpoint: &Checkpoint) -> io::Result<Vec<u8>> {
    let contents = postcard::to_stdvec(&(serde_json::to_string(about)?, checkpoint));
    let contents = contents.map_err(io::Error::other)?;
    let mut bytes = Vec::with_capacity(HEAD + contents.len() + CHECKSUM);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&(contents.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&contents);
    bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
    Ok(bytes)
}

/// What is in a file, or what is wrong with it.
fn decode(bytes: &[u8]) -> Result<(About, Checkpoint), String> {
    const CUT_SHORT: &str = "it is cut short";
    const DAMAGED: &str = "it is damaged";
    let rest = bytes.strip_prefix(MAGIC).ok_or("it is not a checkpoint")?;
    let (version, rest) = rest.split_first_chunk().ok_or(CUT_SHORT)?;
    let version = u32::from_le_bytes(*version);
    if version != VERSION {
        return Err(format!(
            "it is a checkpoint of version {version}, and this program reads version {VERSION} only"
        ));
    }
    let (length, rest) = rest.split_first_chunk().ok_or(CUT_SHORT)?;
    let contents = rest.len().checked_sub(CHECKSUM).ok_or(CUT_SHORT)?;
    match u64::from_le_bytes(*length) {
        length if length > contents as u64 => return Err(CUT_SHORT.to_owned()),
        length if length < contents as u64 => return Err(format!("{DAMAGED}: it is too long")),
        _ => {}
    }
    let (checked, checksum) = bytes.split_last_chunk().ok_or(CUT_SHORT)?;
    if crc32fast::hash(checked) != u32::from_le_bytes(*checksum) {
        return Err(format!("{DAMAGED}: its checksum is wrong"));
    }
    let (about, checkpoint): (String, Checkpoint) =
        postcard::from_bytes(&rest[..contents]).map_err(|error| format!("{DAMAGED}: {error}"))?;
    let about = serde_json::from_str(&about).map_err(|error| format!("{DAMAGED}: {error}"))?;
    Ok((about, checkpoint))
}

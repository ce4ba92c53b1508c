//! The file of a store: who may write it, how it is begun, and how blocks are added.
//!
//! Blocks are only ever added behind the others, by one process, which holds a lock. Whoever reads needs none. A block is
//! written as soon as something became known, so a process that is killed loses what it was about to write and no more;
//! what that leaves at the end of the file is cut back by the next one that writes.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::read::{Found, Head, Identity, NoHead, encode_block, read_blocks};
use crate::trie::Trie;

/// Why a file is not used as a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// It cannot be read or written.
    #[error("it cannot be opened: {0}")]
    Io(#[from] io::Error),
    /// It is something else.
    #[error("it is not a store, and is not overwritten")]
    NotOne,
    /// It was written by another version of the program.
    #[error("it is a store of version {0}, and this program reads version {version} only", version = crate::read::VERSION)]
    OtherVersion(u32),
    /// It cannot be known which system it is of.
    #[error("its head is damaged, which says of which system it is")]
    Damaged,
    /// It is cut within its head.
    #[error("it is cut short within its head")]
    Cut,
    /// It is in use.
    #[error("process {0} is writing to it")]
    Owned(u32),
    /// It is of another system.
    #[error("it is of another system: {0}")]
    OtherSystem(String),
}

impl From<NoHead> for StoreError {
    fn from(why: NoHead) -> Self {
        match why {
            NoHead::Cut => StoreError::Cut,
            NoHead::NotOne => StoreError::NotOne,
            NoHead::OtherVersion(version) => StoreError::OtherVersion(version),
            NoHead::Damaged => StoreError::Damaged,
            NoHead::Unreadable(error) => StoreError::Io(error),
        }
    }
}

/// In what two identities differ, in words: what was, and what is. None if in nothing.
pub fn difference(was: &Identity, is: &Identity) -> Option<String> {
    let mut words = String::new();
    for name in was.keys().chain(is.keys().filter(|name| !was.contains_key(*name))) {
        let told =
            |identity: &Identity| identity.get(name).map_or("nothing".to_owned(), |it| format!("{it:?}"));
        let (before, now) = (told(was), told(is));
        if before != now {
            let separator = if words.is_empty() { "" } else { "; " };
            let _ = write!(words, "{separator}{name} was {before} and is {now}");
        }
    }
    (!words.is_empty()).then_some(words)
}

/// A file that this process writes.
pub(crate) struct Writer {
    file: File,
    path: PathBuf,
    /// Where the next block begins, and the number of its first node.
    end: u64,
    first: usize,
    /// How much was added.
    pub(crate) bytes: u64,
}

/// Opens a file for writing, or begins one, and takes up what is in it.
pub(crate) fn open(path: &Path, identity: &Identity, trie: &mut Trie) -> Result<(Writer, Found), StoreError> {
    // A device or a pipe might never end.
    if path.metadata().is_ok_and(|there| !there.is_file()) {
        return Err(StoreError::NotOne);
    }
    let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let owner = Head::read(&mut file).map_or(0, |head| head.owner);
            return Err(StoreError::Owned(owner));
        }
        // Where there are no locks, nobody has one.
        Err(TryLockError::Error(_)) => {}
    }
    let head = match Head::read(&mut file) {
        Ok(head) => head,
        // It was about to be begun by a process that has ended.
        Err(NoHead::Cut) => {
            let bytes = Head::encode(identity, trie.observed(), std::process::id())?;
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
            if let Err(error) = file.write_all(&bytes) {
                // Better nothing than half a head.
                let _ = file.set_len(0);
                return Err(error.into());
            }
            file.seek(SeekFrom::Start(0))?;
            Head::read(&mut file)?
        }
        Err(why) => return Err(why.into()),
    };
    let mut known = head.identity.clone();
    let mut wanted = identity.clone();
    known.insert("observed values".to_owned(), head.observed.to_string());
    wanted.insert("observed values".to_owned(), trie.observed().to_string());
    if let Some(difference) = difference(&known, &wanted) {
        return Err(StoreError::OtherSystem(difference));
    }
    file.seek(SeekFrom::Start(head.owner_at))?;
    file.write_all(&std::process::id().to_le_bytes())?;
    file.seek(SeekFrom::Start(head.end))?;
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let found = read_blocks(&mut reader, trie)?;
    let file = reader.into_inner();
    if found.torn > 0 {
        file.set_len(found.end)?;
    }
    let writer = Writer { file, path: path.to_owned(), end: found.end, first: trie.len(), bytes: 0 };
    Ok((writer, found))
}

impl Writer {
    /// Adds a block. If that is not possible the file stays as it was.
    pub(crate) fn append(&mut self, records: &[u8], nodes: usize) -> io::Result<()> {
        let too_many = |_| io::Error::other("there are too many answers");
        let (first, count) =
            (u32::try_from(self.first).map_err(too_many)?, u32::try_from(nodes).map_err(too_many)?);
        let block = encode_block(first, count, records);
        self.file.seek(SeekFrom::Start(self.end))?;
        if let Err(error) = self.file.write_all(&block) {
            let _ = self.file.set_len(self.end);
            return Err(error);
        }
        self.end += block.len() as u64;
        self.bytes += block.len() as u64;
        self.first += nodes;
        Ok(())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // What is not on the disk after a power failure is cut back, so this need not succeed.
        let _ = self.file.sync_data();
    }
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Contents {
    /// Of which system it is.
    pub identity: Identity,
    /// How many values the system observes.
    pub observed: usize,
    /// Initial states.
    pub initial_states: usize,
    /// Answers to steps.
    pub transitions: usize,
    /// Saved states.
    pub states: usize,
    /// The length of the file.
    pub bytes: u64,
    /// The process that is writing to it, if one is.
    pub writer: Option<u32>,
    /// What was found in it.
    pub found: Found,
}

/// Reads what a file holds, in at most so much memory; it is not changed.
///
/// # Errors
/// When it is not a store, or its head is damaged.
pub fn contents(path: &Path, memory: usize) -> Result<Contents, StoreError> {
    if !path.metadata()?.is_file() {
        return Err(StoreError::NotOne);
    }
    let mut file = File::open(path)?;
    let is_written = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
    // A lock would keep others from writing.
    let _ = file.unlock();
    let bytes = file.metadata()?.len();
    let head = Head::read(&mut file)?;
    let mut trie = Trie::new(head.observed, memory);
    file.seek(SeekFrom::Start(head.end))?;
    let found = read_blocks(&mut BufReader::with_capacity(1 << 16, file), &mut trie)?;
    Ok(Contents {
        identity: head.identity,
        observed: head.observed,
        initial_states: trie.initial_states(),
        transitions: trie.transitions().count(),
        states: trie.states(),
        bytes,
        writer: is_written.then_some(head.owner),
        found,
    })
}

//! Reads a certificate: blocks with checksums, each compressed. Nothing in it is trusted.

use std::collections::BTreeSet;
use std::io::Read;

use flate2::read::ZlibDecoder;
use serde_json::Value;

use crate::problem::{Claim, Problem};
use crate::record::{Record, Rules};

const MAGIC: &[u8] = b"broccoli certificate\n";
const VERSION: u32 = 1;
/// The most that a byte can be the compression of.
const MOST_RATIO: u64 = 1_100;
/// How many bytes of memory a byte of JSON may take.
const JSON_RATIO: usize = 32;

/// Why a file cannot be read as a certificate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It is something else.
    #[error("it is not a certificate")]
    NotOne,
    /// Its version is not known here.
    #[error("it is a certificate of version {0}, and this program reads version {VERSION} only")]
    Version(u32),
    /// It has no end: the search that writes it is still running, or was ended.
    #[error("it is cut short: it does not end with a claim")]
    CutShort,
    /// It does not keep to the format.
    #[error("it is damaged: {0}")]
    Damaged(String),
    /// It would take more memory than allowed, in bytes.
    #[error("it is too large: it would take more than {} MiB of memory", .0 >> 20)]
    TooLarge(usize),
}

/// A certificate, read but not checked.
pub struct Certificate {
    /// The system that the problem is about, as JSON: `{"environment":"pendulum"}` for instance.
    pub system: Value,
    /// The whole problem as JSON.
    pub problem_json: Value,
    /// The problem.
    pub problem: Problem,
    /// What is claimed.
    pub claim: Claim,
    /// Whether it holds what the system answered.
    pub is_full: bool,
    pub(crate) record: Record,
    /// The traces of the tree; only in the full form.
    pub(crate) traces: Record,
}

struct Block<'b> {
    kind: u8,
    task: u64,
    length: u32,
    stored: &'b [u8],
}

impl Certificate {
    /// Reads a certificate, which may take about so many bytes of memory.
    ///
    /// ```
    /// use broccoli_checker::{Certificate, Unreadable};
    /// let begun = b"broccoli certificate\n\x01\0\0\0";
    /// assert_eq!(Certificate::read(begun, 1 << 20).err(), Some(Unreadable::CutShort));
    /// ```
    ///
    /// # Errors
    /// When it does not keep to the format.
    pub fn read(bytes: &[u8], memory: usize) -> Result<Self, Unreadable> {
        let blocks = blocks(bytes)?;
        let (first, rest) = blocks.split_first().ok_or(Unreadable::CutShort)?;
        let (last, rest) =
            rest.split_last().filter(|(last, _)| last.kind == b'C').ok_or(Unreadable::CutShort)?;
        let (traces, evidence) = match rest.split_last() {
            Some((traces, evidence)) if traces.kind == b'T' => (Some(traces), evidence),
            _ => (None, rest),
        };
        if first.kind != b'P' {
            return Err(damaged("it does not begin with a problem"));
        }
        let header = first.json(memory)?;
        let problem_json = header.get("problem").cloned().unwrap_or_default();
        let problem = Problem::read(&problem_json)?;
        let is_full = match header.get("form").and_then(Value::as_str) {
            Some("full") => true,
            Some("light") => false,
            _ => return Err(damaged("its form is neither light nor full")),
        };
        let claim = Claim::read(&last.json(memory)?, &problem)?;
        let rules = Rules {
            actions: problem.actions.len() as u64,
            initial_states: problem.initial_states as u64,
            has_replies: is_full,
        };
        let new_record = || Record::new(problem.thresholds.len(), memory);
        let (mut record, mut traces_record) = (new_record(), new_record());
        // A task that failed was done again: only those count that came to their end.
        let mut complete = BTreeSet::new();
        for block in evidence {
            let is_new = !complete.contains(&block.task) && matches!(block.kind, b'E' | b'L');
            if !is_new {
                return Err(damaged("a block is out of place"));
            }
            if block.kind == b'L' {
                complete.insert(block.task);
            }
        }
        for block in evidence.iter().filter(|block| complete.contains(&block.task)) {
            record.read(&block.content(memory)?, rules)?;
        }
        if let Some(traces) = traces {
            traces_record.read(&traces.content(memory)?, rules)?;
        }
        let system = problem_json.get("system").cloned().unwrap_or_default();
        Ok(Certificate { system, problem_json, problem, claim, is_full, record, traces: traces_record })
    }

    /// How many behaviours the evidence has, with those on the way to others.
    pub fn behaviours(&self) -> usize {
        self.record.len()
    }
}

/// Cuts the file into blocks, and checks their checksums, each of which goes on from the one before.
fn blocks(bytes: &[u8]) -> Result<Vec<Block<'_>>, Unreadable> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(Unreadable::NotOne)?;
    let (version, mut rest) = rest.split_first_chunk().ok_or(Unreadable::CutShort)?;
    match u32::from_le_bytes(*version) {
        VERSION => {}
        version => return Err(Unreadable::Version(version)),
    }
    let mut blocks = Vec::new();
    let mut checksum = 0;
    while !rest.is_empty() {
        let start = rest;
        let (&[kind], rest1) = rest.split_first_chunk().ok_or(Unreadable::CutShort)?;
        let (task, rest1) = rest1.split_first_chunk().ok_or(Unreadable::CutShort)?;
        let (length, rest1) = rest1.split_first_chunk().ok_or(Unreadable::CutShort)?;
        let (size, rest1) = rest1.split_first_chunk().ok_or(Unreadable::CutShort)?;
        let size = u32::from_le_bytes(*size) as usize;
        let (stored, rest1) = rest1.split_at_checked(size).ok_or(Unreadable::CutShort)?;
        let mut hasher = crc32fast::Hasher::new_with_initial(checksum);
        hasher.update(&start[..start.len() - rest1.len()]);
        checksum = hasher.finalize();
        let (expected, rest1) = rest1.split_first_chunk().ok_or(Unreadable::CutShort)?;
        if u32::from_le_bytes(*expected) != checksum {
            return Err(damaged(&format!("the checksum of block {} is wrong", blocks.len())));
        }
        let (task, length) = (u64::from_le_bytes(*task), u32::from_le_bytes(*length));
        blocks.push(Block { kind, task, length, stored });
        rest = rest1;
    }
    Ok(blocks)
}

impl Block<'_> {
    fn content(&self, memory: usize) -> Result<Vec<u8>, Unreadable> {
        let length = u64::from(self.length);
        if length > memory as u64 {
            return Err(Unreadable::TooLarge(memory));
        }
        if length > MOST_RATIO * self.stored.len() as u64 {
            return Err(damaged("a block cannot be as long as it says"));
        }
        let mut content = Vec::new();
        // One byte more than there may be, to see whether there is.
        let read = ZlibDecoder::new(self.stored).take(length + 1).read_to_end(&mut content);
        match read {
            Ok(_) if content.len() as u64 == length => Ok(content),
            Ok(_) => Err(damaged("a block is not as long as it says")),
            Err(error) => Err(damaged(&format!("a block cannot be decompressed: {error}"))),
        }
    }

    fn json(&self, memory: usize) -> Result<Value, Unreadable> {
        if self.length as usize > memory / JSON_RATIO {
            return Err(Unreadable::TooLarge(memory));
        }
        serde_json::from_slice(&self.content(memory)?).map_err(|error| damaged(&error.to_string()))
    }
}

fn damaged(what: &str) -> Unreadable {
    Unreadable::Damaged(what.to_owned())
}

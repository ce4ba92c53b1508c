//! Reads a certificate: blocks with checksums, each compressed. Nothing in it is trusted.

use std::collections::BTreeSet;
use std::io::Read;

use flate2::read::ZlibDecoder;
use serde::de::DeserializeOwned;

use crate::limits::{Limits, Meter, TooMuch};
use crate::problem::{Claim, Form, HeaderText, Problem};
use crate::record::{Record, Rules};

const MAGIC: &[u8] = b"broccoli certificate\n";
const VERSION: u32 = 3;
/// The most that a byte can be the compression of.
const MOST_RATIO: u64 = 1_100;
/// How many bytes of memory a byte of JSON may take, here and where the problem is built and printed.
const JSON_RATIO: usize = 64;
/// How many of them the problem takes here, with its text.
const PROBLEM_RATIO: usize = 16;
/// What a block takes beside its content.
const BLOCK: usize = 128;

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
    /// It would take more than allowed.
    #[error("{0}")]
    TooMuch(#[from] TooMuch),
}

/// A certificate, read but not checked.
pub struct Certificate {
    /// The first block as it is, in JSON: `{"form": …, "problem": …}`.
    pub header: String,
    /// The problem.
    pub problem: Problem,
    /// What is claimed.
    pub claim: Claim,
    /// Whether it holds what the system answered.
    pub is_full: bool,
    /// The evidence, and the traces of the tree if they are recorded.
    pub(crate) record: Record,
    /// The work that it took to read.
    pub(crate) work: u64,
}

struct Block<'b> {
    kind: u8,
    task: u64,
    length: u32,
    stored: &'b [u8],
}

impl Certificate {
    /// Reads a certificate.
    ///
    /// ```
    /// use broccoli_checker::{Certificate, Limits, Unreadable};
    /// let begun = b"broccoli certificate\n\x03\0\0\0";
    /// let limits = Limits::of_file(begun.len());
    /// assert_eq!(Certificate::read(begun, limits).err(), Some(Unreadable::CutShort));
    /// ```
    ///
    /// # Errors
    /// When it does not keep to the format, or takes more than allowed.
    pub fn read(bytes: &[u8], limits: Limits) -> Result<Self, Unreadable> {
        let mut meter = Meter::of_reading(limits);
        let before = meter.work;
        let blocks = blocks(bytes, meter)?;
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
        if [Some(first), traces, Some(last)].into_iter().flatten().any(|block| block.task != 0) {
            return Err(damaged("a block that is no evidence has a task"));
        }
        let header = first.text(meter)?;
        let HeaderText { form, problem, .. } = parsed(&header)?;
        let problem = Problem::new(problem)?;
        let is_full = form == Form::Full;
        let claim = Claim::new(parsed(&last.text(meter)?)?, &problem)?;
        if traces.is_some() != (is_full && claim.solution().is_some()) {
            return Err(damaged("traces of a tree are missing, or there where they do not belong"));
        }
        let rules = Rules {
            actions: problem.actions.len() as u64,
            initial_states: problem.initial_states as u64,
            has_replies: is_full,
        };
        let mut record = Record::new(problem.thresholds.len());
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
            record.read(&block.content(&record, meter)?, rules, &mut meter)?;
        }
        if let Some(traces) = traces {
            record.read_traces(&traces.content(&record, meter)?, rules, &mut meter)?;
        }
        Ok(Certificate { header, problem, claim, is_full, record, work: meter.work - before })
    }

    /// The bytes that it takes. The problem takes some times the length of its text.
    pub(crate) fn taken(&self) -> usize {
        self.record.taken() + PROBLEM_RATIO * self.header.len()
    }

    /// How many behaviours the evidence has, with those on the way to others.
    pub fn behaviours(&self) -> usize {
        self.record.len()
    }
}

/// Cuts the file into blocks, and checks their checksums, each of which goes on from the one before.
fn blocks(bytes: &[u8], meter: Meter) -> Result<Vec<Block<'_>>, Unreadable> {
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
        meter.holds(blocks.len() * BLOCK)?;
        rest = rest1;
    }
    Ok(blocks)
}

impl Block<'_> {
    /// What is in it, beside what the record holds already.
    fn content(&self, record: &Record, meter: Meter) -> Result<Vec<u8>, Unreadable> {
        let length = u64::from(self.length);
        meter.holds((self.length as usize).saturating_add(record.taken()))?;
        if length > MOST_RATIO * self.stored.len() as u64 {
            return Err(damaged("a block cannot be as long as it says"));
        }
        let mut content = Vec::with_capacity(self.length as usize + 1);
        let mut decoder = ZlibDecoder::new(self.stored);
        // One byte more than there may be, to see whether there is.
        match decoder.by_ref().take(length + 1).read_to_end(&mut content) {
            Ok(_) if content.len() as u64 != length => Err(damaged("a block is not as long as it says")),
            Ok(_) if decoder.total_in() != self.stored.len() as u64 => {
                Err(damaged("a block goes on after its content"))
            }
            Ok(_) => Ok(content),
            Err(error) => Err(damaged(&format!("a block cannot be decompressed: {error}"))),
        }
    }

    fn text(&self, meter: Meter) -> Result<String, Unreadable> {
        if self.length as usize > meter.memory() / JSON_RATIO {
            return Err(TooMuch::Memory(meter.memory()).into());
        }
        String::from_utf8(self.content(&Record::default(), meter)?)
            .map_err(|_| damaged("a problem or claim is not UTF-8"))
    }
}

/// Reads JSON straight into what is wanted of it: nothing else of it is kept.
fn parsed<T: DeserializeOwned>(text: &str) -> Result<T, Unreadable> {
    serde_json::from_str(text).map_err(|error| damaged(&error.to_string()))
}

fn damaged(what: &str) -> Unreadable {
    Unreadable::Damaged(what.to_owned())
}

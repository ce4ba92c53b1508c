//! Writes certificates: what a search claims, and the evidence, taken down while it searches.
//!
//! `docs/certificates.md` specifies the format; the crate `broccoli-checker` reads it, and shares nothing
//! with this; [`Live`] is a system for it to ask.

mod begun;
mod live;

pub use begun::{create, resume};
pub use live::Live;

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use broccoli_core::problem::{Problem, RunError, SystemFactory};
use broccoli_core::search::{Outcome, Status, Witness, record_traces};
use broccoli_core::tree::TreeJson;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::{Deserialize, Serialize};

const MAGIC: &[u8] = b"broccoli certificate\n";
/// To be counted up whenever the format changes.
const VERSION: u32 = 3;

const PROBLEM: u8 = b'P';
const EVENTS: u8 = b'E';
const LAST_EVENTS: u8 = b'L';
const TRACES: u8 = b'T';
const CLAIM: u8 = b'C';

/// How much a certificate holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// What was decided; whoever checks it runs the system again.
    Light,
    /// Also what the system answered, so that it can be checked without it.
    Full,
}

/// Up to where a certificate is written, to be gone on with from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Its length in bytes.
    pub length: u64,
    checksum: u32,
}

/// A certificate that is being written; to be given to [`Search::witness`](broccoli_core::search::Search::witness).
///
/// ```
/// use std::sync::Arc;
/// use broccoli_certificate::{Certificate, Form};
/// use broccoli_core::search::Search;
/// use broccoli_environments::PENDULUM;
///
/// let problem = PENDULUM.problem().depth(1).build()?;
/// let file = std::env::temp_dir().join("pendulum.certificate");
/// let written = Box::new(broccoli_certificate::create(&file)?);
/// let json = serde_json::json!({"system": {"environment": "pendulum"}}); // and the whole problem
/// let certificate = Arc::new(Certificate::begin(written, Form::Light, &json, &serde_json::json!({}))?);
/// let outcome = Search::new(&problem, &PENDULUM).witness(certificate.clone()).run()?;
/// certificate.end(&problem, &PENDULUM, &outcome)?;
/// # std::fs::remove_file(file)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Certificate {
    form: Form,
    tasks: AtomicU64,
    output: Mutex<Output>,
}

struct Output {
    writer: Box<dyn Write + Send>,
    mark: Mark,
    /// The first thing that went wrong; nothing is written after it.
    error: Option<io::Error>,
}

/// Why a certificate could not be brought to its end.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// It could not be written.
    #[error("it cannot be written: {0}")]
    Write(#[from] io::Error),
    /// The system failed when the tree was run once more, to be written down.
    #[error("{0}")]
    Run(#[from] RunError),
    /// Something else is wanted than what certificates are about.
    #[error("there are certificates for reach and survive from the worst initial state only")]
    Objective,
}

/// What is claimed.
#[derive(Serialize)]
struct ClaimJson {
    claim: &'static str,
    bound: Option<u64>,
    value: Option<u64>,
    size: Option<u64>,
    depth: Option<u32>,
    tree: Option<TreeJson>,
}

#[derive(Serialize)]
struct HeaderJson<'a, P, I> {
    form: Form,
    problem: &'a P,
    identity: &'a I,
}

impl Certificate {
    /// Begins a certificate for a search of this problem, which is written as in a result of `solve --json`, on a system
    /// of which this is known: an object of texts.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(
        writer: Box<dyn Write + Send>,
        form: Form,
        problem: &impl Serialize,
        identity: &impl Serialize,
    ) -> io::Result<Self> {
        let certificate = Certificate::go_on(writer, form, Mark { length: 0, checksum: 0 });
        let header = serde_json::to_vec(&HeaderJson { form, problem, identity })?;
        let mut output = certificate.output();
        output.write(&[MAGIC, &VERSION.to_le_bytes()].concat())?;
        output.block(PROBLEM, 0, &header)?;
        drop(output);
        Ok(certificate)
    }

    /// Goes on with a certificate of which all up to a mark was written.
    pub fn go_on(writer: Box<dyn Write + Send>, form: Form, mark: Mark) -> Self {
        // Each task has written something, so there were fewer of them than there are bytes.
        let tasks = AtomicU64::new(mark.length);
        Certificate { form, tasks, output: Mutex::new(Output { writer, mark, error: None }) }
    }

    fn output(&self) -> MutexGuard<'_, Output> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Up to where it is written.
    ///
    /// # Errors
    /// The first thing that went wrong so far.
    pub fn mark(&self) -> io::Result<Mark> {
        let mut output = self.output();
        output.check()?;
        output.writer.flush()?;
        Ok(output.mark)
    }

    /// Ends the certificate with what the search claims. In its full form the tree is run once more.
    ///
    /// # Errors
    /// When it cannot be written, the evidence before included, or the system fails.
    pub fn end(
        &self,
        problem: &Problem,
        factory: &dyn SystemFactory,
        outcome: &Outcome,
    ) -> Result<(), CertificateError> {
        if !problem.objective().is_plain() {
            return Err(CertificateError::Objective);
        }
        let best = outcome.best.as_ref();
        let traces = match (self.form, best) {
            (Form::Full, Some(best)) => Some(record_traces(problem, factory, &best.tree)?),
            _ => None,
        };
        let claim = match outcome.status {
            Status::Optimal => "optimal",
            Status::Infeasible => "infeasible",
            _ => "bound",
        };
        let claim = serde_json::to_vec(&ClaimJson {
            claim,
            bound: outcome.bound,
            value: best.map(|best| best.value),
            size: best.map(|best| best.tree.size()),
            depth: best.map(|best| best.tree.depth()),
            tree: best.map(|best| best.tree.to_json(problem)),
        })
        .map_err(io::Error::from)?;
        let mut output = self.output();
        output.check()?;
        if let Some(traces) = traces {
            output.block(TRACES, 0, &traces)?;
        }
        output.block(CLAIM, 0, &claim)?;
        output.writer.flush()?;
        Ok(())
    }
}

impl Witness for Certificate {
    fn wants_replies(&self) -> bool {
        self.form == Form::Full
    }

    fn begin(&self) -> u64 {
        self.tasks.fetch_add(1, Relaxed)
    }

    fn take(&self, task: u64, events: &[u8], is_last: bool) {
        let kind = if is_last { LAST_EVENTS } else { EVENTS };
        let compressed = compress(events);
        let mut output = self.output();
        if output.error.is_none()
            && let Err(error) =
                compressed.and_then(|compressed| output.stored(kind, task, events.len(), &compressed))
        {
            output.error = Some(error);
        }
    }
}

impl Output {
    /// The first thing that went wrong is told again and again.
    fn check(&self) -> io::Result<()> {
        match &self.error {
            None => Ok(()),
            Some(error) => Err(io::Error::new(error.kind(), error.to_string())),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.writer.write_all(bytes)?;
        self.mark.length += bytes.len() as u64;
        Ok(())
    }

    fn block(&mut self, kind: u8, task: u64, content: &[u8]) -> io::Result<()> {
        let compressed = compress(content)?;
        self.stored(kind, task, content.len(), &compressed)
    }

    /// Writes a block. Its checksum goes on from that of the block before, so that blocks cannot be taken
    /// out, moved or put in unnoticed.
    fn stored(&mut self, kind: u8, task: u64, length: usize, compressed: &[u8]) -> io::Result<()> {
        let size = |length: usize| u32::try_from(length).map_err(io::Error::other);
        let mut block = vec![kind];
        block.extend_from_slice(&task.to_le_bytes());
        block.extend_from_slice(&size(length)?.to_le_bytes());
        block.extend_from_slice(&size(compressed.len())?.to_le_bytes());
        block.extend_from_slice(compressed);
        let mut hasher = crc32fast::Hasher::new_with_initial(self.mark.checksum);
        hasher.update(&block);
        self.mark.checksum = hasher.finalize();
        block.extend_from_slice(&self.mark.checksum.to_le_bytes());
        self.write(&block)
    }
}

fn compress(content: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content)?;
    encoder.finish()
}

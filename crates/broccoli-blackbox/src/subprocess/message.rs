//! The messages of the protocol, whatever their format. `docs/protocol.md` is their description.

use broccoli_core::problem::Verdict;

use super::pipes::{LONGEST, Silence};
use super::{binary, json};

/// The version of the protocol that is spoken here.
pub(crate) const PROTOCOL: u32 = 1;

/// How messages are written after the handshake, which is always JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One line of JSON a message.
    Json,
    /// A header of eight bytes and raw numbers.
    Binary,
}

impl Format {
    /// The word in the handshake.
    pub fn name(self) -> &'static str {
        match self {
            Format::Json => "json",
            Format::Binary => "binary",
        }
    }

    /// Where the message in `bytes` ends, if it is complete; no end is among the first `scanned` bytes.
    pub(super) fn end(self, bytes: &[u8], scanned: usize) -> Result<Option<usize>, Silence> {
        match self {
            Format::Json => {
                let newline = bytes[scanned..].iter().position(|&b| b == b'\n');
                Ok(newline.map(|newline| scanned + newline + 1))
            }
            Format::Binary => match binary::announced(bytes) {
                Some(end) if end > LONGEST && !self.is_text(bytes) => Err(Silence::Oversized),
                Some(end) if end > LONGEST => Err(Silence::Printed),
                end => Ok(end.filter(|&end| bytes.len() >= end)),
            },
        }
    }

    /// Whether what a program wrote is no message, and was printed by mistake.
    pub(super) fn is_text(self, bytes: &[u8]) -> bool {
        match self {
            Format::Json => bytes.trim_ascii_start().first().is_some_and(|&first| first != b'{'),
            Format::Binary => !binary::is_frame(bytes) && is_text(bytes),
        }
    }

    /// Appends a request.
    pub(super) fn write(self, request: Request<'_>, out: &mut Vec<u8>) {
        match self {
            Format::Json => json::write(request, out),
            Format::Binary => binary::write(request, out),
        }
    }

    /// Reads the answer to a reset or to some steps, one reply for each.
    pub(super) fn read_replies(self, message: &[u8], replies: &mut Replies) -> Result<(), Refusal> {
        match self {
            Format::Json => json::read_replies(message, replies),
            Format::Binary => binary::read_replies(message, replies),
        }
    }

    /// Reads the answer to a save, appending the snapshot.
    pub(super) fn read_snapshot(self, message: &[u8], snapshot: &mut Vec<u8>) -> Result<(), Refusal> {
        match self {
            Format::Json => json::read_snapshot(message, snapshot),
            Format::Binary => binary::read_snapshot(message, snapshot),
        }
    }

    /// Reads the answer to a restore.
    pub(super) fn read_restored(self, message: &[u8]) -> Result<(), Refusal> {
        match self {
            Format::Json => json::read_restored(message),
            Format::Binary => binary::read_restored(message),
        }
    }
}

/// What a program is asked.
#[derive(Clone, Copy, Debug)]
pub(super) enum Request<'a> {
    Reset(&'a [f64]),
    /// One step each from the states in `states`, one after the other; no states if the program keeps its own.
    Steps {
        states: &'a [f64],
        actions: &'a [usize],
    },
    Save,
    Restore(&'a [u8]),
}

/// How many bytes at the beginning can be read by people. In other scripts than ours they are UTF-8.
pub(super) fn text_length(bytes: &[u8]) -> usize {
    let is_text = |&byte: &u8| byte >= b' ' && byte != 0x7f || byte.is_ascii_whitespace();
    bytes.iter().position(|byte| !is_text(byte)).unwrap_or(bytes.len())
}

/// Whether bytes begin like something that people read: no header of a frame has two such bytes and is otherwise wrong.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    text_length(bytes) >= 2
}

/// An answer that is not what the protocol asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The program reports an error of its own.
    Reported(String),
    /// The message cannot be understood, and why.
    Malformed(String),
    /// It is none, but was printed.
    Printed,
}

/// Refuses a message.
pub(super) fn malformed<T>(why: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Malformed(why.into()))
}

/// The replies to one message: verdicts, observations and states, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Replies {
    dimensions: usize,
    state: usize,
    judges: bool,
    has_rewards: bool,
    /// Whether they answer a reset, which has no reward.
    to_reset: bool,
    /// The verdict of every reply.
    pub verdicts: Vec<Verdict>,
    /// The reward of every reply that has one.
    pub rewards: Vec<Option<f64>>,
    /// The observations, one after the other.
    pub observations: Vec<f64>,
    /// The states, one after the other; empty if the program keeps its own.
    pub states: Vec<f64>,
}

impl Replies {
    /// Room for replies with this many dimensions and state values.
    pub(super) fn new(dimensions: usize, state: usize, judges: bool, has_rewards: bool) -> Self {
        Replies {
            dimensions,
            state,
            judges,
            has_rewards,
            to_reset: false,
            verdicts: Vec::new(),
            rewards: Vec::new(),
            observations: Vec::new(),
            states: Vec::new(),
        }
    }

    /// Makes room for `count` replies to steps.
    pub(super) fn expect(&mut self, count: usize) {
        self.to_reset = false;
        self.verdicts.clear();
        self.verdicts.resize(count, Verdict::Running);
        self.rewards.clear();
        self.rewards.resize(count, None);
        self.observations.resize(count * self.dimensions, 0.0);
        self.states.resize(count * self.state, 0.0);
    }

    /// Makes room for the reply to a reset.
    pub(super) fn expect_reset(&mut self) {
        self.expect(1);
        self.to_reset = true;
    }

    pub(super) fn dimensions(&self) -> usize {
        self.dimensions
    }

    pub(super) fn state(&self) -> usize {
        self.state
    }

    /// Whether the program said in its hello that it gives verdicts.
    pub(super) fn judges(&self) -> bool {
        self.judges
    }

    /// Whether it said that it gives rewards.
    pub(super) fn rewards(&self) -> bool {
        self.has_rewards
    }

    /// Whether each of the replies must have a reward.
    pub(super) fn wants_reward(&self) -> bool {
        self.has_rewards && !self.to_reset
    }

    /// How many replies are expected, or were read.
    pub fn len(&self) -> usize {
        self.verdicts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.verdicts.is_empty()
    }

    /// Stores reply `index`, given in the slices that the formats read.
    pub(super) fn store(
        &mut self,
        index: usize,
        verdict: Verdict,
        reward: Option<f64>,
    ) -> (&mut [f64], &mut [f64]) {
        self.verdicts[index] = verdict;
        self.rewards[index] = reward.filter(|_| !self.to_reset);
        (
            &mut self.observations[index * self.dimensions..][..self.dimensions],
            &mut self.states[index * self.state..][..self.state],
        )
    }
}

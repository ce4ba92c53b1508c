//! Systems that are programs of their own, asked over standard input and output.

mod binary;
mod json;
mod message;
mod pipes;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use broccoli_core::problem::{ComeBack, InitialState, Reply, System, SystemError, SystemFactory};
use broccoli_core::shown::shown;

pub use self::message::{Format, Replies};

use self::message::{Refusal, Request, is_text, text_length};
use self::pipes::{Pipes, Silence};
use crate::description::{ComesBack, Description};

/// Which program to run, and how to talk to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The program and its arguments. A program without a slash is looked for in `PATH`, any other is a
    /// path from `directory`.
    pub command: Vec<String>,
    /// The folder it runs in.
    pub directory: PathBuf,
    /// How long an answer may take.
    pub timeout: Duration,
    /// How long it may take until the program has introduced itself.
    pub start_timeout: Duration,
    /// The only format to offer; none offers both.
    pub format: Option<Format>,
}

impl Program {
    /// A program in a folder, with 10 seconds for an answer and 30 for the first one.
    pub fn new(command: impl IntoIterator<Item = impl Into<String>>, directory: impl Into<PathBuf>) -> Self {
        Program {
            command: command.into_iter().map(Into::into).collect(),
            directory: directory.into(),
            timeout: Duration::from_secs(10),
            start_timeout: Duration::from_secs(30),
            format: None,
        }
    }

    /// The command as one would type it.
    pub fn shown(&self) -> String {
        let quoted = self.command.iter().map(|word| {
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+".contains(c);
            if !word.is_empty() && word.chars().all(plain) { word.clone() } else { format!("{word:?}") }
        });
        quoted.collect::<Vec<_>>().join(" ")
    }

    fn offers(&self) -> &'static [Format] {
        match self.format {
            None => &[Format::Binary, Format::Json],
            Some(Format::Binary) => &[Format::Binary],
            Some(Format::Json) => &[Format::Json],
        }
    }
}

/// Why a program is no system.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StartError(String);

impl From<StartError> for SystemError {
    fn from(StartError(message): StartError) -> SystemError {
        SystemError::new(message)
    }
}

/// A factory of processes: every system that it makes is one, for one worker.
pub struct Subprocess {
    program: Program,
    description: Description,
    /// The process that gave the description, until somebody needs one.
    spare: Mutex<Option<Process>>,
}

impl Subprocess {
    /// Starts the program to hear its description.
    ///
    /// # Errors
    /// When it cannot be started or does not introduce itself as the protocol asks.
    pub fn new(program: Program) -> Result<Self, StartError> {
        let process = Process::start(&program)?;
        let description = process.description.clone();
        Ok(Subprocess { program, description, spare: Mutex::new(Some(process)) })
    }

    /// What the program says about itself.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Starts a process.
    ///
    /// # Errors
    /// When it cannot be started, or describes itself differently than before.
    pub fn start(&self) -> Result<Process, StartError> {
        // Nothing panics while it holds the lock; if something did, the process would still be good.
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).take();
        let process = match spare {
            Some(process) => process,
            None => Process::start(&self.program)?,
        };
        if process.description == self.description {
            Ok(process)
        } else {
            let shown = self.program.shown();
            let (before, now) = (&self.description, &process.description);
            Err(StartError(format!(
                "`{shown}` introduces itself differently each time: first {before:?}, then {now:?}"
            )))
        }
    }
}

impl SystemFactory for Subprocess {
    fn make(&self) -> Result<Box<dyn System>, SystemError> {
        Ok(Box::new(self.start()?))
    }
}

/// A running program as a system.
pub struct Process {
    shown: String,
    timeout: Duration,
    pipes: Pipes,
    format: Format,
    description: Description,
    /// The state of a stateless program.
    state: Vec<f64>,
    message: Vec<u8>,
    replies: Replies,
    /// What went wrong; from then on nothing works any more.
    broken: Option<SystemError>,
}

impl Process {
    fn start(program: &Program) -> Result<Self, StartError> {
        let shown = program.shown();
        let fail = |what: String| StartError(format!("`{shown}` {what}"));
        let Some((name, arguments)) = program.command.split_first() else {
            return Err(StartError("the command is empty: it must name a program".to_owned()));
        };
        // A relative path would be taken from our own folder on some systems.
        let path = if name.contains('/') { program.directory.join(name) } else { name.into() };
        let directory = std::path::absolute(&program.directory).unwrap_or_else(|_| program.directory.clone());
        let path = if name.contains('/') { std::path::absolute(&path).unwrap_or(path) } else { path };
        let mut command = Command::new(&path);
        command.args(arguments).current_dir(&directory);
        let mut pipes = Pipes::start(&mut command)
            .map_err(|error| fail(format!("cannot be started in {}: {error}", directory.display())))?;

        let mut message = Vec::new();
        json::write_hello(program.offers(), &mut message);
        let hello = pipes.exchange(&message, Format::Json, program.start_timeout);
        let read = match hello {
            Ok(hello) => json::read_hello(hello, program.offers()).map_err(|refusal| explain(&refusal)),
            Err(silence) => Err(silence.to_string()),
        };
        let (description, format) =
            read.map_err(|what| fail(format!("did not introduce itself: {}", complete(what, &mut pipes))))?;
        let state = match description.comes_back {
            ComesBack::Stateless(state) => state,
            _ => 0,
        };
        Ok(Process {
            timeout: program.timeout,
            pipes,
            format,
            state: vec![0.0; state],
            message,
            replies: Replies::new(
                description.observations.len(),
                state,
                description.verdicts,
                description.rewards,
            ),
            description,
            broken: None,
            shown,
        })
    }

    /// The number of the process.
    pub fn id(&self) -> u32 {
        self.pipes.id()
    }

    /// The format that was agreed upon.
    pub fn format(&self) -> Format {
        self.format
    }

    /// One step each from several states of a stateless program, in one message: `states` holds one
    /// state after the other, and `actions` one action for each. Independent of the run in progress.
    ///
    /// # Errors
    /// When the program is not stateless, the numbers of states and actions differ, or it fails.
    pub fn step_batch(&mut self, states: &[f64], actions: &[usize]) -> Result<&Replies, SystemError> {
        let ComesBack::Stateless(size) = self.description.comes_back else {
            return Err(SystemError::new(format!("`{}` takes one step at a time", self.shown)));
        };
        if actions.len() * size != states.len() {
            let (count, values) = (actions.len(), states.len());
            return Err(SystemError::new(format!(
                "{count} steps need {count} × {size} values, not {values}"
            )));
        }
        if !actions.is_empty() {
            self.ask(Request::Steps { states, actions }, actions.len())?;
        } else {
            self.replies.expect(0);
        }
        Ok(&self.replies)
    }

    /// Asks for some replies, which are then in `self.replies`.
    fn ask(&mut self, request: Request<'_>, count: usize) -> Result<(), SystemError> {
        match request {
            Request::Reset(_) => self.replies.expect_reset(),
            _ => self.replies.expect(count),
        }
        let (format, mut replies) =
            (self.format, std::mem::replace(&mut self.replies, Replies::new(0, 0, false, false)));
        let read = self.exchange(request, |message| format.read_replies(message, &mut replies));
        self.replies = replies;
        read
    }

    /// Sends a request and has its answer read. Whatever fails ends the program.
    fn exchange(
        &mut self,
        request: Request<'_>,
        read: impl FnOnce(&[u8]) -> Result<(), Refusal>,
    ) -> Result<(), SystemError> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        self.message.clear();
        self.format.write(request, &mut self.message);
        let what = match self.pipes.exchange(&self.message, self.format, self.timeout) {
            Ok(message) => match read(message) {
                Ok(()) => return Ok(()),
                Err(refusal) => explain(&refusal),
            },
            Err(silence) => silence.to_string(),
        };
        let what = complete(what, &mut self.pipes);
        let error = SystemError::new(format!("`{}` (process {}): {what}", self.shown, self.id()));
        self.pipes.kill();
        self.broken = Some(error.clone());
        Err(error)
    }

    /// Takes the observation of the only reply, and the state that goes with it.
    fn take(&mut self, observation: &mut [f64]) -> Result<Reply, SystemError> {
        let seen = self.replies.observations.len();
        if observation.len() != seen {
            let asked = observation.len();
            return Err(SystemError::new(format!("`{}` observes {seen} values, not {asked}", self.shown)));
        }
        observation.copy_from_slice(&self.replies.observations);
        self.state.copy_from_slice(&self.replies.states);
        let reply = Reply::from(self.replies.verdicts[0]);
        Ok(self.replies.rewards[0].map_or(reply, |reward| reply.with_reward(reward)))
    }
}

impl System for Process {
    fn reset(&mut self, initial: &InitialState, observation: &mut [f64]) -> Result<Reply, SystemError> {
        self.ask(Request::Reset(initial.values()), 1)?;
        self.take(observation)
    }

    fn step(&mut self, action: usize, observation: &mut [f64]) -> Result<Reply, SystemError> {
        let state = std::mem::take(&mut self.state);
        let asked = self.ask(Request::Steps { states: &state, actions: &[action] }, 1);
        self.state = state;
        asked?;
        self.take(observation)
    }

    fn come_back(&self) -> ComeBack {
        self.description.comes_back.into()
    }

    fn save(&mut self, state: &mut Vec<u8>) -> Result<(), SystemError> {
        if let ComesBack::Stateless(_) = self.description.comes_back {
            self.state.iter().for_each(|value| state.extend_from_slice(&value.to_le_bytes()));
            return Ok(());
        }
        let format = self.format;
        self.exchange(Request::Save, |message| format.read_snapshot(message, state))
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), SystemError> {
        if let ComesBack::Stateless(size) = self.description.comes_back {
            let (words, rest) = state.as_chunks::<8>();
            if words.len() != size || !rest.is_empty() {
                let expected = 8 * size;
                return Err(SystemError::new(format!(
                    "a saved state has {expected} bytes, not {}",
                    state.len()
                )));
            }
            for (value, word) in self.state.iter_mut().zip(words) {
                *value = f64::from_le_bytes(*word);
            }
            return Ok(());
        }
        let format = self.format;
        self.exchange(Request::Restore(state), |message| format.read_restored(message))
    }
}

/// Reads bytes as every kind of message, in every format, and tells how many take them: for tests, to which the
/// messages are otherwise closed.
#[doc(hidden)]
pub fn read_as_everything(bytes: &[u8]) -> usize {
    let formats = [Format::Json, Format::Binary];
    let mut taken = usize::from(json::read_hello(bytes, &formats).is_ok());
    for format in formats {
        // Where a message ends, found in two parts.
        let ends = [0, bytes.len() / 2].map(|scanned| format.end(bytes, scanned));
        debug_assert!(ends.iter().flatten().flatten().all(|&end| end <= bytes.len()));
        for count in [1, 3] {
            let mut replies = Replies::new(2, 1, true, true);
            replies.expect(count);
            taken += usize::from(format.read_replies(bytes, &mut replies).is_ok());
        }
        taken += usize::from(format.read_snapshot(bytes, &mut Vec::new()).is_ok());
        taken += usize::from(format.read_restored(bytes).is_ok());
    }
    taken
}

fn explain(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Reported(error) => format!("it reports an error: {error}"),
        Refusal::Malformed(why) => format!("its answer cannot be understood: {why}"),
        Refusal::Printed => Silence::Printed.to_string(),
    }
}

/// Adds what was received and what the program wrote to standard error.
fn complete(what: String, pipes: &mut Pipes) -> String {
    let received = excerpt(pipes.received());
    let received = if received.is_empty() { received } else { format!("; received: {received}") };
    let words = pipes.last_words();
    let words =
        if words.is_empty() { words } else { format!("; on standard error: {}", excerpt(words.as_bytes())) };
    format!("{what}{received}{words}")
}

/// The start and the end of what may be long: as text as far as it is that, and else byte by byte.
fn excerpt(bytes: &[u8]) -> String {
    const ENDS: usize = 200;
    const BYTES: usize = 32;
    let length = text_length(bytes);
    if length < bytes.len() && is_text(bytes) {
        return format!("{} and then {} other bytes", excerpt(&bytes[..length]), bytes.len() - length);
    }
    if length < bytes.len() {
        let start: Vec<String> = bytes.iter().take(BYTES).map(|byte| format!("{byte:02x}")).collect();
        let more = if bytes.len() > BYTES { " …" } else { "" };
        return format!("{} bytes, {}{more}", bytes.len(), start.join(" "));
    }
    let text = |bytes: &[u8]| shown(String::from_utf8_lossy(bytes).trim_end()).into_owned();
    if bytes.len() <= 2 * ENDS {
        return text(bytes);
    }
    let (start, end) = (&bytes[..ENDS], &bytes[bytes.len() - ENDS..]);
    format!("{} … {} ({} bytes)", text(start), text(end), bytes.len())
}

//! A running program and its three pipes: one message out, one message in, within a time limit.
//!
//! The pipes never block: a program that does not read, does not answer, or floods standard error is
//! noticed by the clock. The program leads a process group of its own, and the whole group is killed
//! when [`Pipes`] is dropped, so that nothing it has started outlives the search.

use std::collections::VecDeque;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::message::{Format, is_text};

/// The longest message that is read.
pub(super) const LONGEST: usize = 16 << 20;
/// How much of what the program writes to standard error is kept, from the end.
const LAST_WORDS: usize = 1000;
/// How long a program may take to end after its standard input is closed.
const GRACE: Duration = Duration::from_millis(300);
/// How long to look for an answer before going to sleep: waking up costs more than most steps take.
const SPIN: Duration = Duration::from_micros(30);

/// Why no message came.
#[derive(Debug, thiserror::Error)]
pub(super) enum Silence {
    #[error("no answer within {} s", .0.as_secs_f64())]
    Timeout(Duration),
    #[error("it ended ({}) before it answered", .0.map_or("its exit code is not known".to_owned(), |s| s.to_string()))]
    Ended(Option<ExitStatus>),
    #[error("its answer is longer than {LONGEST} bytes")]
    Oversized,
    #[error("it wrote more than one message at once")]
    TooMuch,
    #[error(
        "what it wrote to standard output is no message of the protocol, but begins like text: prints belong on \
         standard error"
    )]
    Printed,
    #[error("its pipes failed: {0}")]
    Pipe(#[from] Errno),
}

/// A program that runs.
pub(super) struct Pipes {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    stderr: Option<ChildStderr>,
    /// What was received of the answer; only complete after a successful exchange.
    received: Vec<u8>,
    last_words: VecDeque<u8>,
}

impl Pipes {
    /// Starts the program.
    pub(super) fn start(command: &mut Command) -> io::Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let stdout = stdout.ok_or(io::ErrorKind::BrokenPipe)?;
        let pipes = Pipes { child, stdin, stdout, stderr, received: Vec::new(), last_words: VecDeque::new() };
        ioctl_fionbio(&pipes.stdout, true)?;
        if let Some(stdin) = &pipes.stdin {
            ioctl_fionbio(stdin, true)?;
        }
        if let Some(stderr) = &pipes.stderr {
            ioctl_fionbio(stderr, true)?;
        }
        Ok(pipes)
    }

    /// The number of the process.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a message and waits for the one that answers it.
    pub(super) fn exchange(
        &mut self,
        message: &[u8],
        format: Format,
        timeout: Duration,
    ) -> Result<&[u8], Silence> {
        let started = Instant::now();
        self.received.clear();
        let mut unsent = message;
        let mut scanned = 0;
        loop {
            unsent = self.send(unsent)?;
            if self.receive()? {
                if let Some(end) = format.end(&self.received, scanned)? {
                    return match end == self.received.len() {
                        true => Ok(&self.received),
                        false if format.is_text(&self.received) => Err(Silence::Printed),
                        false => Err(Silence::TooMuch),
                    };
                }
                scanned = self.received.len();
                if format == Format::Binary && format.is_text(&self.received) {
                    return Err(Silence::Printed);
                }
                if scanned > LONGEST {
                    return Err(Silence::Oversized);
                }
                continue;
            }
            let elapsed = started.elapsed();
            if elapsed >= timeout {
                // Its end goes unnoticed while a process that it has started keeps the pipe open.
                return Err(match self.has_ended_within(Duration::ZERO) {
                    true => Silence::Ended(self.status()),
                    // Fewer bytes than any message has.
                    false if format == Format::Binary && is_text(&self.received) => Silence::Printed,
                    false => Silence::Timeout(timeout),
                });
            }
            if elapsed >= SPIN {
                self.sleep(!unsent.is_empty(), timeout - elapsed)?;
            } else {
                std::hint::spin_loop();
            }
        }
    }

    /// What was received of the last answer.
    pub(super) fn received(&self) -> &[u8] {
        &self.received
    }

    /// Writes what the pipe has room for, and returns the rest.
    fn send<'m>(&mut self, message: &'m [u8]) -> Result<&'m [u8], Silence> {
        let Some(stdin) = self.stdin.as_ref().filter(|_| !message.is_empty()) else { return Ok(message) };
        match rustix::io::write(stdin, message) {
            Ok(count) => Ok(&message[count..]),
            Err(Errno::AGAIN | Errno::INTR) => Ok(message),
            // It does not read any more; what it has written still counts, and its end will be noticed.
            Err(Errno::PIPE) => {
                self.stdin = None;
                Ok(&[])
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Reads what there is; false if there is nothing at the moment.
    fn receive(&mut self) -> Result<bool, Silence> {
        if self.received.capacity() - self.received.len() < 4096 {
            self.received.reserve(self.received.len().max(4096));
        }
        match rustix::io::read(&self.stdout, rustix::buffer::spare_capacity(&mut self.received)) {
            Ok(0) => Err(Silence::Ended(self.status())),
            Ok(_) => Ok(true),
            Err(Errno::AGAIN | Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until something can be read or, if there is something to send, written.
    fn sleep(&mut self, sending: bool, longest: Duration) -> Result<(), Silence> {
        let mut files = vec![PollFd::new(&self.stdout, PollFlags::IN)];
        files.extend(self.stderr.as_ref().map(|stderr| PollFd::new(stderr, PollFlags::IN)));
        if let Some(stdin) = self.stdin.as_ref().filter(|_| sending) {
            files.push(PollFd::new(stdin, PollFlags::OUT));
        }
        let longest = Timespec::try_from(longest).map_err(|_| Errno::INVAL)?;
        match poll(&mut files, Some(&longest)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        drop(files);
        self.listen();
        Ok(())
    }

    /// Reads standard error, so that a program that writes much of it is not stopped, and keeps its end.
    fn listen(&mut self) {
        let Some(stderr) = &self.stderr else { return };
        let mut buffer = [0; 4096];
        loop {
            match rustix::io::read(stderr.as_fd(), &mut buffer) {
                Ok(count) if count > 0 => {
                    self.last_words.extend(&buffer[..count]);
                    let surplus = self.last_words.len().saturating_sub(LAST_WORDS);
                    self.last_words.drain(..surplus);
                }
                Err(Errno::AGAIN | Errno::INTR) => return,
                _ => break,
            }
        }
        self.stderr = None;
    }

    /// What the program has last written to standard error.
    pub(super) fn last_words(&mut self) -> String {
        self.listen();
        let bytes: Vec<u8> = self.last_words.iter().copied().collect();
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }

    /// How the program ended, if it does so soon.
    fn status(&mut self) -> Option<ExitStatus> {
        if self.has_ended_within(GRACE) { self.child.try_wait().ok().flatten() } else { None }
    }

    /// Whether the program ends within some time. It is not waited for: its number stays taken, so that
    /// its group can still be killed.
    fn has_ended_within(&self, time: Duration) -> bool {
        let Some(pid) = Pid::from_raw(self.child.id() as i32) else { return false };
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let started = Instant::now();
        let mut pause = Duration::from_micros(200);
        loop {
            match waitid(WaitId::Pid(pid), look) {
                Ok(None) if started.elapsed() < time => std::thread::sleep(pause),
                Ok(None) => return false,
                _ => return true,
            }
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }

    fn kill_group(&self) {
        if let Some(pid) = Pid::from_raw(self.child.id() as i32) {
            // Nothing left to kill is no failure.
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }

    /// Kills the program and all that it has started, at once.
    pub(super) fn kill(&mut self) {
        self.kill_group();
        // Reaps it; it was killed, so that this does not wait.
        let _ = self.child.wait();
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        self.stdin = None;
        self.has_ended_within(GRACE);
        self.kill();
    }
}

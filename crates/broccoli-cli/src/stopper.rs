//! Ends a search from outside: when its time is up, when it takes too much memory, or when a signal says so.
//!
//! The search looks at a flag before every query. A thread that sleeps sets it, or the thread that
//! waits for signals: Ctrl-C, and on Unix also SIGTERM and SIGHUP. The second signal does not wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::time::{Duration, Instant};

use broccoli_core::search::{Stop, StopReason};

use crate::complaint::Complaint;
use crate::screen::{self, note};
use crate::used::{Used, megabytes};

const GO_ON: u8 = 0;
const TIME_IS_UP: u8 = 1;
const OUT_OF_MEMORY: u8 = 2;
const INTERRUPTED: u8 = 3;

/// What comes sooner after a signal is the same one.
const SAME_SIGNAL: Duration = Duration::from_millis(100);
/// How often to look at the memory.
const MEMORY_LOOK: Duration = Duration::from_millis(20);
/// And how many times as long as a look takes.
const MEMORY_SHARE: u32 = 20;

/// The exit code of a command that a second signal ended.
const SIGNALLED: i32 = 130;

/// Says when to stop.
pub struct Stopper {
    flag: Arc<AtomicU8>,
}

impl Stopper {
    /// Starts to listen for signals, and to watch the clock and the memory if they are limited.
    pub fn new(time: Option<Duration>, memory: Option<usize>) -> Result<Self, Complaint> {
        let flag = Arc::new(AtomicU8::new(GO_ON));
        let interrupted = Arc::clone(&flag);
        let mut first: Option<Instant> = None;
        ctrlc::set_handler(move || {
            if interrupted.swap(INTERRUPTED, Relaxed) == INTERRUPTED {
                // `timeout` sends its signal twice at once, to the process and to its group.
                if first.is_some_and(|first| first.elapsed() < SAME_SIGNAL) {
                    return;
                }
                screen::clear();
                std::process::exit(SIGNALLED);
            }
            first = Some(Instant::now());
            note(format_args!("stopping; once more to end at once"));
        })
        .map_err(|error| Complaint::other(format!("cannot listen for signals: {error}")))?;
        let stopper = Stopper { flag };
        if let Some(limit) = time {
            stopper.watch("time limit", TIME_IS_UP, move || std::thread::sleep(limit))?;
        }
        if let Some(limit) = memory {
            if Used::look().is_none() {
                return Err(Complaint::other(
                    "--memory-limit: this system does not tell what memory is used",
                ));
            }
            let wait = move || loop {
                let begun = Instant::now();
                if let Some(used) = Used::look().filter(|used| used.total() > limit) {
                    if let Some(shares) = used.shares() {
                        let (total, limit) = (megabytes(used.total()), megabytes(limit));
                        note(format_args!("the memory limit of {limit} is reached with {total}: {shares}"));
                    }
                    return;
                }
                // To look at all processes takes a while.
                std::thread::sleep(MEMORY_LOOK.max(begun.elapsed() * MEMORY_SHARE));
            };
            stopper.watch("memory limit", OUT_OF_MEMORY, wait)?;
        }
        Ok(stopper)
    }

    /// Sets the flag when `wait` returns, unless it is set already.
    fn watch(&self, name: &str, reason: u8, wait: impl FnOnce() + Send + 'static) -> Result<(), Complaint> {
        let flag = Arc::clone(&self.flag);
        let watch = move || {
            wait();
            let _ = flag.compare_exchange(GO_ON, reason, Relaxed, Relaxed);
        };
        let started = std::thread::Builder::new().name(name.into()).spawn(watch);
        started.map(drop).map_err(|error| Complaint::other(format!("cannot watch the {name}: {error}")))
    }
}

impl Stop for Stopper {
    #[inline]
    fn reason(&self) -> Option<StopReason> {
        match self.flag.load(Relaxed) {
            GO_ON => None,
            TIME_IS_UP => Some(StopReason::TimeLimit),
            OUT_OF_MEMORY => Some(StopReason::MemoryLimit),
            _ => Some(StopReason::Interrupted),
        }
    }
}

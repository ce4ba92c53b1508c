//! Ends a search from outside: when its time is up, or when a signal says so.
//!
//! The search looks at a flag before every query. A thread that sleeps sets it, or the thread that
//! waits for signals: Ctrl-C, and on Unix also SIGTERM and SIGHUP. The second signal does not wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::time::Duration;

use broccoli_core::search::{Stop, StopReason};

use crate::complaint::{Complaint, clear_screen, note};

const GO_ON: u8 = 0;
const TIME_IS_UP: u8 = 1;
const INTERRUPTED: u8 = 2;

/// The exit code of a command that a second signal ended.
const SIGNALLED: i32 = 130;

/// Says when to stop.
pub struct Stopper {
    flag: Arc<AtomicU8>,
}

impl Stopper {
    /// Starts to listen for signals, and the clock if there is a limit.
    pub fn new(limit: Option<Duration>) -> Result<Self, Complaint> {
        let flag = Arc::new(AtomicU8::new(GO_ON));
        let interrupted = Arc::clone(&flag);
        ctrlc::set_handler(move || {
            if interrupted.swap(INTERRUPTED, Relaxed) == INTERRUPTED {
                clear_screen();
                std::process::exit(SIGNALLED);
            }
            note(format_args!("stopping; once more to end at once"));
        })
        .map_err(|error| Complaint::other(format!("cannot listen for signals: {error}")))?;
        if let Some(limit) = limit {
            let flag = Arc::clone(&flag);
            let clock = move || {
                std::thread::sleep(limit);
                // A signal that came before counts.
                let _ = flag.compare_exchange(GO_ON, TIME_IS_UP, Relaxed, Relaxed);
            };
            let started = std::thread::Builder::new().name("time limit".into()).spawn(clock);
            started.map_err(|error| Complaint::other(format!("cannot start the clock: {error}")))?;
        }
        Ok(Stopper { flag })
    }
}

impl Stop for Stopper {
    #[inline]
    fn reason(&self) -> Option<StopReason> {
        match self.flag.load(Relaxed) {
            GO_ON => None,
            TIME_IS_UP => Some(StopReason::TimeLimit),
            _ => Some(StopReason::Interrupted),
        }
    }
}

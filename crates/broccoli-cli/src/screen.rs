//! The lines that are being redrawn at the bottom of the terminal, and those that are written above them.

use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use broccoli_core::shown::shown;
use indicatif::MultiProgress;

/// What is being redrawn, if anything is.
static SCREEN: Mutex<Option<Screen>> = Mutex::new(None);

struct Screen {
    lines: MultiProgress,
    /// Kept for the time that lines are redrawn.
    _echo: QuietEcho,
}

fn screen() -> MutexGuard<'static, Option<Screen>> {
    SCREEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// These lines are being redrawn from now on.
pub fn redraw(lines: MultiProgress) {
    *screen() = Some(Screen { lines, _echo: QuietEcho::new() });
}

/// Removes the lines that are being redrawn.
pub fn clear() {
    if let Some(screen) = screen().take() {
        let _ = screen.lines.clear();
    }
}

/// Writes a line to standard error, above those that are being redrawn. Nothing in it controls the terminal.
pub fn note(line: std::fmt::Arguments<'_>) {
    write_above(&shown(&line.to_string()));
}

/// The same of a drawing whose parts are safe to show, and which may have colours and lines of its own; if
/// standard error is gone there is nobody to tell.
pub fn write_above(text: &str) {
    let write = || {
        let _ = writeln!(io::stderr(), "{text}");
    };
    match &*screen() {
        Some(screen) => screen.lines.suspend(write),
        None => write(),
    }
}

/// A terminal that does not show `^C` when that is pressed: it would go to the line below the last one, and
/// one that is being redrawn would stay for ever.
struct QuietEcho {
    #[cfg(unix)]
    before: Option<rustix::termios::Termios>,
}

#[cfg(unix)]
impl QuietEcho {
    fn new() -> Self {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let before = tcgetattr(io::stderr()).ok();
        if let Some(mut modes) = before.clone() {
            modes.local_modes.remove(LocalModes::ECHOCTL);
            let _ = tcsetattr(io::stderr(), OptionalActions::Now, &modes);
        }
        QuietEcho { before }
    }
}

#[cfg(unix)]
impl Drop for QuietEcho {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = rustix::termios::tcsetattr(io::stderr(), rustix::termios::OptionalActions::Now, before);
        }
    }
}

#[cfg(not(unix))]
impl QuietEcho {
    fn new() -> Self {
        QuietEcho {}
    }
}

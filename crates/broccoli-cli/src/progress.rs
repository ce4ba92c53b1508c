//! Live progress on standard error.
//!
//! The search only stores a few numbers as it goes; a thread of its own looks at them ten times a
//! second and draws one line. So a display costs the search next to nothing, and the clock goes on
//! even while one slow run keeps the search busy. Where the line cannot be redrawn, as in a log file,
//! plain lines are written now and then instead.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use broccoli_core::search::{Event, Observer};
use broccoli_export::number::{duration, grouped};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::complaint::note;

const REDRAW: Duration = Duration::from_millis(100);
const PLAIN_LINE: Duration = Duration::from_secs(1);

/// What the search has stored last.
#[derive(Debug, Default)]
struct Seen {
    /// The size searched, or, of engines that search all sizes at once, how long the traces are;
    /// whichever was said last.
    stage: Mutex<Option<Stage>>,
    /// The proved bound; 0 if there is none.
    bound: AtomicU64,
    trees: AtomicU64,
    queries: AtomicU64,
    /// Value and size of the best tree.
    best: Mutex<Option<(u64, u64)>>,
}

/// What is being searched.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Size(u64),
    Horizon(u64),
}

impl Seen {
    /// One line, the most important first: a narrow terminal cuts off the end.
    fn line(&self, seconds: f64) -> String {
        let best = match *self.best.lock().unwrap_or_else(PoisonError::into_inner) {
            Some((value, size)) => format!("best {} (size {size})", grouped(value)),
            None => "no tree yet".to_owned(),
        };
        let mut parts = vec![best];
        let bound = self.bound.load(Relaxed);
        if bound > 0 {
            parts.push(format!("bound {}", grouped(bound)));
        }
        parts.push(clock(seconds));
        match *self.stage.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(Stage::Size(size)) => parts.push(format!("size {size}")),
            Some(Stage::Horizon(steps)) => parts.push(format!("{} steps", grouped(steps))),
            None => {}
        }
        let trees = self.trees.load(Relaxed);
        if trees > 0 {
            parts.push(format!("{} trees", short(trees)));
        }
        parts.push(format!("{} queries", short(self.queries.load(Relaxed))));
        parts.join(" | ")
    }
}

/// A progress display; it vanishes when dropped.
#[derive(Debug)]
pub struct Progress {
    seen: Arc<Seen>,
    stop: mpsc::Sender<()>,
    painter: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts a display if standard error is a terminal, or if it is `forced`.
    pub fn start(forced: bool, terminal: bool) -> Option<Self> {
        let redraws = terminal && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        if !(redraws || forced) {
            return None;
        }
        let seen = Arc::new(Seen::default());
        let (stop, stopped) = mpsc::channel();
        let shared = Arc::clone(&seen);
        let paint = move || if redraws { redraw(&shared, &stopped) } else { write_lines(&shared, &stopped) };
        // A search without a display is better than none.
        let painter = std::thread::Builder::new().name("progress".into()).spawn(paint).ok()?;
        Some(Progress { seen, stop, painter: Some(painter) })
    }
}

impl Progress {
    fn enter(&self, stage: Stage) {
        *self.seen.stage.lock().unwrap_or_else(PoisonError::into_inner) = Some(stage);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let _ = self.stop.send(());
        if let Some(painter) = self.painter.take() {
            let _ = painter.join();
        }
    }
}

impl Observer for Progress {
    #[inline]
    fn notify(&mut self, event: Event<'_>) {
        match event {
            Event::Considered(statistics) => {
                self.seen.trees.store(statistics.trees, Relaxed);
                self.seen.queries.store(statistics.queries + statistics.queries_canonical, Relaxed);
            }
            Event::Size(size) => self.enter(Stage::Size(size)),
            Event::Horizon(steps) => self.enter(Stage::Horizon(steps)),
            Event::Bound(bound) => self.seen.bound.store(bound, Relaxed),
            Event::Improved(best) => {
                let mut seen = self.seen.best.lock().unwrap_or_else(PoisonError::into_inner);
                *seen = Some((best.value, best.size));
            }
            _ => {}
        }
    }
}

/// Redraws one line until told to stop, and removes it. A quick search shows nothing at all.
fn redraw(seen: &Seen, stopped: &mpsc::Receiver<()>) {
    let started = Instant::now();
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
    if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
        bar.set_style(style);
    }
    while stopped.recv_timeout(REDRAW) == Err(mpsc::RecvTimeoutError::Timeout) {
        bar.set_message(seen.line(started.elapsed().as_secs_f64()));
        bar.tick();
    }
    bar.finish_and_clear();
}

/// Writes a line every second until told to stop.
fn write_lines(seen: &Seen, stopped: &mpsc::Receiver<()>) {
    let started = Instant::now();
    while stopped.recv_timeout(PLAIN_LINE) == Err(mpsc::RecvTimeoutError::Timeout) {
        note(format_args!("{}", seen.line(started.elapsed().as_secs_f64())));
    }
}

/// A count that stays short however long the search runs.
fn short(count: u64) -> String {
    match count {
        0..1_000_000 => grouped(count),
        1_000_000..1_000_000_000 => format!("{:.1}M", count as f64 / 1e6),
        _ => format!("{}G", grouped_tenths(count / 100_000_000)),
    }
}

fn grouped_tenths(tenths: u64) -> String {
    format!("{}.{}", grouped(tenths / 10), tenths % 10)
}

/// Seconds with one digit, so that the line does not jitter.
fn clock(seconds: f64) -> String {
    if seconds < 60.0 { format!("{seconds:.1} s") } else { duration(seconds) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_fits_eighty_columns() {
        let seen = Seen {
            stage: Mutex::new(Some(Stage::Size(7))),
            bound: AtomicU64::new(0),
            trees: AtomicU64::new(1_234_567_890),
            queries: AtomicU64::new(987_654_321_012),
            best: Mutex::new(Some((10_000, 6))),
        };
        let line = seen.line(4_000.0);
        assert_eq!(line, "best 10,000 (size 6) | 1 h 06 min 40 s | size 7 | 1.2G trees | 987.6G queries");
        // A spinner and a space come before it.
        assert!(line.len() + 2 <= 80);
        assert_eq!(Seen::default().line(0.2), "no tree yet | 0.2 s | 0 queries");
        let walking = Seen {
            stage: Mutex::new(Some(Stage::Horizon(93))),
            bound: AtomicU64::new(75),
            ..Seen::default()
        };
        assert_eq!(walking.line(3.0), "no tree yet | bound 75 | 3.0 s | 93 steps | 0 queries");
    }
}

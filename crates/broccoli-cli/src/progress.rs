//! Live progress on standard error.
//!
//! The search only stores a few numbers as it goes; a thread of its own looks at them ten times a
//! second and draws two lines, and one that stays whenever there is a better tree. So a display costs the
//! search next to nothing, and the clock goes on even while one slow run keeps the search busy. Where
//! lines cannot be redrawn, as in a log file, plain ones are written now and then instead; and events in
//! JSON for programs.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use broccoli_core::problem::{Objective, Problem, Value};
use broccoli_core::search::{Checkpoint, Event, Forecast, Observer};
use broccoli_export::number::{duration, grouped};
use broccoli_export::worth;
use clap::ValueEnum;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use crate::screen::{self, note};

const REDRAW: Duration = Duration::from_millis(100);
const PLAIN_LINE: Duration = Duration::from_secs(1);
/// A search that is over before that shows nothing.
const PATIENCE: Duration = Duration::from_millis(500);

/// The rate is that of so many seconds, as a slow system makes few queries in one; and of one at least.
const WINDOW: Duration = Duration::from_secs(10);
const LEAST_WINDOW: f64 = 0.9;

/// It is said if a proof takes more than so many seconds at this rate, at best.
const OUT_OF_REACH: f64 = 30.0 * 86_400.0;

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum How {
    Text,
    Json,
}

/// What is known before a search begins.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    objective: Objective,
    limit: Option<Duration>,
    /// Value and size of the best tree.
    best: Option<(u64, u64)>,
    bound: Option<u64>,
    /// When the first of several searches began, the queries of those before, and which one this is.
    started: Instant,
    queries: u64,
    grid: Option<usize>,
}

impl Known {
    pub fn new(problem: &Problem, limit: Option<Duration>, resumed: Option<&Checkpoint>) -> Self {
        // The bound that needs no proof is not worth a word.
        let bound = resumed.map(Checkpoint::bound).filter(|&bound| bound != problem.perfect());
        let (objective, best) = (problem.objective(), resumed.and_then(Checkpoint::best));
        Known { objective, limit, best, bound, started: Instant::now(), queries: 0, grid: None }
    }

    /// The same after other searches of the same command, which began at `started`.
    pub fn after(self, started: Instant, queries: u64, grid: Option<usize>) -> Self {
        Known { started, queries, grid, ..self }
    }
}

/// What the search has stored last.
#[derive(Debug)]
struct Seen {
    started: Instant,
    limit: Option<Duration>,
    objective: Objective,
    /// The size searched, or, of engines that search all sizes at once, how long the traces are;
    /// whichever was said last.
    stage: Mutex<Option<Stage>>,
    /// Which of several grids is searched.
    grid: Option<usize>,
    queries_before: u64,
    trees: AtomicU64,
    queries: AtomicU64,
    hints: AtomicU64,
    /// The share of the walk that is done, if it is known, as the bits of a float; and the queries still to come.
    share: AtomicU64,
    forecast: Mutex<Option<Forecast>>,
    answer: Mutex<Answer>,
}

/// What is being searched.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Size(u64),
    Horizon(u64),
}

/// What is known of the answer: value and size of the best tree, and the proved bound; or, where none is proved, what
/// the rewards seen so far come to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Answer {
    best: Option<(u64, u64)>,
    bound: Option<u64>,
    estimate: Option<u64>,
}

/// One line of JSON: what happened, and all that is known.
#[derive(Serialize)]
struct EventJson {
    event: &'static str,
    seconds: f64,
    queries: u64,
    /// Those of them that were made for hints.
    queries_hints: u64,
    queries_per_second: Option<f64>,
    /// How many are still to come, at least and at most, and how long that takes at this rate.
    queries_to_come: Option<[u64; 2]>,
    seconds_to_come: Option<[f64; 2]>,
    value: Option<Value>,
    size: Option<u64>,
    bound: Option<Value>,
    gap: Option<f64>,
    /// By the rewards seen so far no tree has a better value: an estimate, never a proof.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<Value>,
    /// The share of the walk that is done: an estimate.
    share: Option<f64>,
    /// Which of several grids is searched, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    grid: Option<usize>,
}

fn shown(objective: Objective, value: u64) -> String {
    objective.shown(value).map_or("nothing".to_owned(), worth::bare)
}

impl Answer {
    fn gap(self, objective: Objective) -> Option<f64> {
        let ((value, _), bound) = self.best.zip(self.bound)?;
        let (value, bound) = (objective.number(value), objective.number(bound));
        Some((value - bound).abs() / value.abs().max(1.0))
    }

    fn tree(self, objective: Objective) -> String {
        match self.best {
            Some((value, size)) => format!("best {} (size {size})", shown(objective, value)),
            None => "no tree yet".to_owned(),
        }
    }

    fn line(self, objective: Objective) -> String {
        let mut line = self.tree(objective);
        if let Some(bound) = self.bound {
            let word = if objective.is_minimised() { "least" } else { "most" };
            line += &format!(", proved: at {word} {}", shown(objective, bound));
        }
        if let Some(gap) = self.gap(objective) {
            line += &format!(", gap {:.1}%", 100.0 * gap);
        }
        if let (None, Some(estimate)) = (self.bound, self.estimate) {
            let word = if objective.is_minimised() { "least" } else { "most" };
            let estimate = worth::about(objective.number(estimate));
            line += &format!(", estimate: at {word} about {estimate}");
        }
        line
    }
}

impl Seen {
    fn new(known: Known) -> Self {
        let Known { objective, limit, best, bound, started, queries, grid } = known;
        Seen {
            started,
            limit,
            objective,
            grid,
            queries_before: queries,
            stage: Mutex::default(),
            trees: AtomicU64::new(0),
            queries: AtomicU64::new(queries),
            hints: AtomicU64::new(0),
            share: AtomicU64::new(f64::NAN.to_bits()),
            forecast: Mutex::default(),
            answer: Mutex::new(Answer { best, bound, estimate: None }),
        }
    }

    fn answer(&self) -> MutexGuard<'_, Answer> {
        self.answer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn share(&self) -> Option<f64> {
        Some(f64::from_bits(self.share.load(Relaxed))).filter(|share| !share.is_nan())
    }

    /// How many queries are still to come, once there are enough to say so.
    fn forecast(&self) -> Option<Forecast> {
        let forecast = *self.forecast.lock().unwrap_or_else(PoisonError::into_inner);
        forecast.filter(|forecast| forecast.least > 0)
    }

    /// What is done, the most important first: a narrow terminal cuts off the end.
    fn work(&self, seconds: f64, rate: Option<f64>) -> String {
        let limit = self.limit.map(|limit| format!(" of {}", duration(limit.as_secs_f64())));
        let queries = format!("{} queries", short(self.queries.load(Relaxed)));
        let made = rate.map(|rate| format!(", {}/s", per_second(rate)));
        let mut parts =
            vec![clock(seconds) + &limit.unwrap_or_default(), queries + &made.unwrap_or_default()];
        parts.extend(self.grid.map(|grid| format!("grid {grid}")));
        let is_far =
            |forecast: &Forecast| rate.is_some_and(|rate| forecast.least as f64 > OUT_OF_REACH * rate);
        match self.forecast() {
            Some(forecast) if is_far(&forecast) => {
                parts.push("a proof is out of reach at this rate".to_owned())
            }
            Some(forecast) => parts.push(to_come(forecast, rate)),
            None => {}
        }
        match *self.stage.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(Stage::Size(size)) => parts.push(format!("trees of size {size}")),
            Some(Stage::Horizon(steps)) => parts.push(format!("runs up to {} steps", grouped(steps))),
            None => {}
        }
        let trees = self.trees.load(Relaxed);
        if trees > 0 {
            parts.push(format!("{} trees", short(trees)));
        }
        parts.join(" | ")
    }

    fn event(&self, event: &'static str, rate: Option<f64>) {
        let answer = *self.answer();
        let to_come = self.forecast().map(|forecast| [forecast.least, forecast.most]);
        let seconds = |rate: f64| to_come.map(|counts| counts.map(|count| (count as f64 / rate).round()));
        let line = serde_json::to_string(&EventJson {
            event,
            seconds: self.started.elapsed().as_secs_f64(),
            queries: self.queries.load(Relaxed),
            queries_hints: self.hints.load(Relaxed),
            queries_per_second: rate.map(|rate| (10.0 * rate).round() / 10.0),
            queries_to_come: to_come,
            seconds_to_come: rate.filter(|&rate| rate > 0.0).and_then(seconds),
            value: answer.best.and_then(|(value, _)| self.objective.shown(value)),
            size: answer.best.map(|(_, size)| size),
            bound: answer.bound.and_then(|bound| self.objective.shown(bound)),
            gap: answer.gap(self.objective),
            estimate: answer.estimate.and_then(|estimate| self.objective.shown(estimate)),
            share: self.share(),
            grid: self.grid,
        });
        if let Ok(line) = line {
            note(format_args!("{line}"));
        }
    }
}

/// How many queries are made in a second, of late.
struct Rate(VecDeque<(Instant, u64)>);

impl Rate {
    fn new() -> Self {
        Rate(VecDeque::new())
    }

    fn look(&mut self, seen: &Seen) -> Option<f64> {
        self.note(Instant::now(), seen.queries.load(Relaxed))
    }

    /// So many queries were made by now.
    fn note(&mut self, now: Instant, queries: u64) -> Option<f64> {
        // A search that is resumed begins with the queries of before: they are no news.
        if queries > 0 {
            self.0.push_back((now, queries));
        }
        while self.0.get(1).is_some_and(|&(time, _)| now.duration_since(time) >= WINDOW) {
            self.0.pop_front();
        }
        let &(since, before) = self.0.front()?;
        let seconds = now.duration_since(since).as_secs_f64();
        (seconds >= LEAST_WINDOW).then(|| queries.saturating_sub(before) as f64 / seconds)
    }
}

/// A progress display; it vanishes when dropped.
#[derive(Debug)]
pub struct Progress {
    seen: Arc<Seen>,
    is_json: bool,
    stop: mpsc::Sender<()>,
    painter: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts a display if standard error is a terminal, or if somebody has asked for one.
    pub fn start(how: Option<How>, terminal: bool, known: Known) -> Option<Self> {
        let redraws = terminal && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        let is_json = how == Some(How::Json);
        if !redraws && how.is_none() {
            return None;
        }
        let seen = Arc::new(Seen::new(known));
        let (stop, stopped) = mpsc::channel();
        let shared = Arc::clone(&seen);
        let paint = move || match redraws && !is_json {
            true => redraw(&shared, &stopped),
            false => write_lines(&shared, &stopped, is_json),
        };
        // A search without a display is better than none.
        let painter = std::thread::Builder::new().name("progress".into()).spawn(paint).ok()?;
        Some(Progress { seen, is_json, stop, painter: Some(painter) })
    }

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
        let name = match event {
            Event::Considered(statistics) => {
                self.seen.trees.store(statistics.trees, Relaxed);
                self.seen.queries.store(self.seen.queries_before + statistics.queries, Relaxed);
                self.seen.hints.store(statistics.queries_hints, Relaxed);
                return;
            }
            Event::Share(share) => return self.seen.share.store(share.to_bits(), Relaxed),
            Event::Forecast(forecast) => {
                *self.seen.forecast.lock().unwrap_or_else(PoisonError::into_inner) = Some(forecast);
                return;
            }
            Event::Size(size) => return self.enter(Stage::Size(size)),
            Event::Horizon(steps) => return self.enter(Stage::Horizon(steps)),
            Event::Estimate(estimate) => {
                self.seen.answer().estimate = Some(estimate);
                return;
            }
            Event::Bound(bound) => {
                self.seen.answer().bound = Some(bound);
                "bound"
            }
            Event::Improved(best) => {
                self.seen.answer().best = Some((best.value, best.size));
                "improved"
            }
            _ => return,
        };
        if self.is_json {
            self.seen.event(name, None);
        }
    }
}

/// Redraws two lines until told to stop, and removes them; a line about each better tree stays.
fn redraw(seen: &Seen, stopped: &mpsc::Receiver<()>) {
    let is_over = |time| stopped.recv_timeout(time) != Err(mpsc::RecvTimeoutError::Timeout);
    if is_over(PATIENCE) {
        return;
    }
    let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(10));
    let lines = ["{spinner} {wide_msg}", "  {wide_msg}"].map(|template| {
        let bar = bars.add(ProgressBar::no_length());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar
    });
    screen::redraw(bars.clone());
    let mut rate = Rate::new();
    let mut told = None;
    loop {
        let (answer, seconds) = (*seen.answer(), seen.started.elapsed().as_secs_f64());
        if answer.best != told {
            told = answer.best;
            note(format_args!("{:>8}  {}", clock(seconds), answer.tree(seen.objective)));
        }
        lines[0].set_message(answer.line(seen.objective));
        lines[1].set_message(seen.work(seconds, rate.look(seen)));
        lines[0].tick();
        if is_over(REDRAW) {
            break;
        }
    }
    lines.iter().for_each(ProgressBar::finish_and_clear);
    screen::clear();
}

/// Writes a line every second until told to stop.
fn write_lines(seen: &Seen, stopped: &mpsc::Receiver<()>, is_json: bool) {
    let mut rate = Rate::new();
    while stopped.recv_timeout(PLAIN_LINE) == Err(mpsc::RecvTimeoutError::Timeout) {
        let rate = rate.look(seen);
        if is_json {
            seen.event("progress", rate);
        } else {
            let (answer, seconds) = (*seen.answer(), seen.started.elapsed().as_secs_f64());
            note(format_args!("{} | {}", answer.line(seen.objective), seen.work(seconds, rate)));
        }
    }
}

/// The queries that are still to come, and how long that takes.
fn to_come(forecast: Forecast, rate: Option<f64>) -> String {
    let [least, most] = [forecast.least, forecast.most].map(|count| short(rounded(count)));
    let time = rate.filter(|&rate| rate > 0.0).map(|rate| {
        let [least, most] = [forecast.least, forecast.most].map(|count| span(count as f64 / rate));
        if least == most { format!(": {least}") } else { format!(": {least} to {most}") }
    });
    format!("{least} to {most} more{}", time.unwrap_or_default())
}

/// The first two digits: the others of a forecast mean nothing.
fn rounded(count: u64) -> u64 {
    let unit = 10_u64.pow(count.checked_ilog10().unwrap_or(0).saturating_sub(1));
    count / unit * unit
}

/// A time in one unit.
pub fn span(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{:.0} s", s.max(1.0)),
        s if s < 2.0 * HOUR => format!("{:.0} min", s / 60.0),
        s if s < 48.0 * HOUR => format!("{:.0} h", s / HOUR),
        s if s < 1_000.0 * 24.0 * HOUR => format!("{:.0} days", s / (24.0 * HOUR)),
        _ => "years".to_owned(),
    }
}

const HOUR: f64 = 3_600.0;

/// A rate; of a slow system a tenth counts.
fn per_second(rate: f64) -> String {
    if rate < 100.0 { format!("{rate:.1}") } else { short(rate.round() as u64) }
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

    fn known(objective: Objective, limit: Option<Duration>) -> Known {
        Known { objective, limit, best: None, bound: None, started: Instant::now(), queries: 0, grid: None }
    }

    fn seen(objective: Objective, limit: Option<Duration>) -> Seen {
        Seen::new(known(objective, limit))
    }

    #[test]
    fn the_lines_fit_eighty_columns() {
        let survive = Objective::survive(10_000);
        let answer = Answer { best: Some((9_999, 15)), bound: Some(10_000), ..Answer::default() };
        let line = answer.line(survive);
        assert_eq!(line, "best 9,999 (size 15), proved: at most 10,000, gap 0.0%");
        let seen = seen(survive, Some(Duration::from_secs(90_000)));
        seen.queries.store(1_234, Relaxed);
        *seen.stage.lock().unwrap() = Some(Stage::Horizon(10_000));
        *seen.forecast.lock().unwrap() = Some(Forecast { least: 102, most: 123_400 });
        let work = seen.work(4_000.0, Some(4.96));
        assert_eq!(
            work,
            "1 h 06 min 40 s of 25 h 00 min 00 s | 1,234 queries, 5.0/s | 100 to 120,000 more: 21 s to 7 h | runs up to 10,000 steps"
        );
        let usual = work.replace(" of 25 h 00 min 00 s", "");
        // Two columns come before each.
        assert!(line.len() + 2 <= 80);
        assert!(usual.find(" | runs").unwrap() + 2 <= 80);
        seen.queries.store(987_654_321_012, Relaxed);
        *seen.forecast.lock().unwrap() = Some(Forecast { least: 82_300_000_000, most: 98_700_000_000_000 });
        let work = seen.work(4_000.0, Some(12_345_678.0));
        assert!(
            work.contains("987.6G queries, 12.3M/s | 82.0G to 98,000.0G more: 111 min to 93 days"),
            "{work}"
        );
        assert!(seen.work(4_000.0, Some(5.0)).contains("a proof is out of reach at this rate"));
    }

    /// Of a system that answers five times a second, in bursts; and nothing of what was made before.
    #[test]
    fn rates_of_slow_systems() {
        let (mut rate, start) = (Rate::new(), Instant::now());
        let said: Vec<Option<f64>> = (0..300)
            .map(|tenth| rate.note(start + Duration::from_millis(100 * tenth), 20_000 + tenth / 16 * 8))
            .collect();
        assert!(said[..9].iter().all(Option::is_none));
        assert!(said[100..].iter().flatten().all(|rate| (4.0..6.0).contains(rate)), "{said:?}");
        assert_eq!(per_second(4.96), "5.0");
        assert_eq!(Rate::new().note(start, 0), None);
    }

    #[test]
    fn what_is_not_known_is_not_said() {
        let reach = Objective::reach(100);
        assert_eq!(Answer::default().line(reach), "no tree yet");
        assert_eq!(
            Answer { bound: Some(75), ..Answer::default() }.line(reach),
            "no tree yet, proved: at least 75"
        );
        let seen = seen(reach, None);
        assert_eq!(seen.work(0.2, None), "0.2 s | 0 queries");
        let later = Seen::new(known(reach, None).after(Instant::now(), 7_000, Some(2)));
        assert_eq!(later.work(0.2, None), "0.2 s | 7,000 queries | grid 2");
        *seen.stage.lock().unwrap() = Some(Stage::Size(3));
        seen.trees.store(1_234_567_890, Relaxed);
        assert_eq!(seen.work(3.0, None), "3.0 s | 0 queries | trees of size 3 | 1.2G trees");
    }

    #[test]
    fn spans() {
        let said = [0.2, 90.0, 300.0, 40_000.0, 1e6, 1e12].map(span);
        assert_eq!(said, ["1 s", "90 s", "5 min", "11 h", "12 days", "years"]);
        assert_eq!([0, 7, 1_234, 99_999].map(rounded), [0, 7, 1_200, 99_000]);
    }

    #[test]
    fn gaps() {
        let gap = |value, bound| {
            Answer { best: Some((value, 1)), bound: Some(bound), ..Answer::default() }
                .gap(Objective::reach(100))
        };
        assert_eq!([gap(100, 93), gap(100, 107), gap(0, 0)], [Some(0.07), Some(0.07), Some(0.0)]);
    }
}

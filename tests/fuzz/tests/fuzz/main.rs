//! Fuzzing of everything that reads what other people wrote: files, messages of programs, expressions.
//!
//! A case is made from a good input that the program wrote itself, changed in fields, values and bytes, with lengths
//! and checksums made right again, so that what lies behind them is reached. What is accepted is used as commands use
//! it. A case is a finding if it panics, ends the process (a stack that overflows), takes more memory than its length
//! allows, more than [`MOST_SECONDS`] of processor time, or shows a control character.
//!
//! Cases run in child processes. Case `n` of a seed is always the same. The program needs no file, and can be copied
//! to another machine:
//!
//! ```text
//! cargo test -p broccoli-fuzz                          a few seconds; what CI runs
//! fuzz --seconds 3600 --jobs 16 --seed 7 [READER …]     an hour on 16 cores; findings go to ./findings
//! fuzz --replay READER FILE                             one input
//! ```
//!
//! `BROCCOLI_FUZZ_SECONDS`, `BROCCOLI_FUZZ_JOBS` and `BROCCOLI_SEED` say the same. A finding is saved in `tests/fuzz/saved`,
//! in the folder of its reader, and listed in `saved.rs`: it is replayed first from then on.

mod dice;
mod memory;
mod readers;
mod saved;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use readers::{READERS, Reader};

#[global_allocator]
static MEMORY: memory::Counting = memory::Counting;

/// The processor time of a case that has run away: far more than any takes.
const MOST_SECONDS: f64 = 60.0;
/// Cases of each reader if nobody says how long.
const CASES: u64 = 1_500;
/// Where findings go.
const FINDINGS: &str = "findings";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["--child", name, seed, first, step, end] => child(name, [seed, first, step].map(number), end),
        ["--replay", name, file] => replay(name, Path::new(file)),
        // What a runner of tests asks for.
        ["--list", ..] => ExitCode::SUCCESS,
        _ => Plan::new(&words).run(),
    }
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| panic!("{text:?} is no whole number"))
}

fn reader(name: &str) -> &'static Reader {
    READERS.iter().find(|reader| reader.name == name).unwrap_or_else(|| panic!("there is no reader {name:?}"))
}

/// What to do, and for how long.
struct Plan {
    seconds: Option<u64>,
    jobs: u64,
    seed: u64,
    only: Vec<String>,
}

/// What came of the cases of one reader.
#[derive(Default)]
struct Tally {
    cases: u64,
    accepted: u64,
    findings: u64,
    most_memory: usize,
    most_seconds: f64,
}

impl Plan {
    fn new(words: &[&str]) -> Self {
        let said = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
        let mut plan = Plan {
            seconds: said("BROCCOLI_FUZZ_SECONDS"),
            jobs: said("BROCCOLI_FUZZ_JOBS").unwrap_or(1),
            seed: said("BROCCOLI_SEED").unwrap_or(1),
            only: Vec::new(),
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || number(words.next().unwrap_or_else(|| panic!("{word} needs a number")));
            match *word {
                "--seconds" => plan.seconds = Some(value()),
                "--jobs" => plan.jobs = value(),
                "--seed" => plan.seed = value(),
                name if READERS.iter().any(|reader| reader.name == name) => plan.only.push(name.to_owned()),
                // Words for a runner of tests, as `--nocapture`.
                _ => {}
            }
        }
        plan
    }

    fn run(&self) -> ExitCode {
        saved::check_list();
        let chosen: Vec<&Reader> = READERS
            .iter()
            .filter(|reader| self.only.is_empty() || self.only.iter().any(|name| name == reader.name))
            .collect();
        let mut failures = 0;
        for (name, file, _) in saved::SAVED {
            if chosen.iter().any(|reader| reader.name == *name) {
                failures += u64::from(!self.replayed(name, file));
            }
        }
        println!(
            "{:12} {:>9} {:>9} {:>9} {:>8}  most memory  most time",
            "reader", "cases", "accepted", "refused", "findings"
        );
        for reader in &chosen {
            let tally = Mutex::new(Tally::default());
            let end = match self.seconds {
                Some(seconds) => format!("{}s", (seconds / chosen.len() as u64).max(1)),
                None => CASES.to_string(),
            };
            std::thread::scope(|scope| {
                for job in 0..self.jobs {
                    let (tally, end) = (&tally, &end);
                    scope.spawn(move || self.watch(reader, job, end, tally));
                }
            });
            let tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
            println!(
                "{:12} {:>9} {:>9} {:>9} {:>8}  {:>7} KiB  {:.2} s",
                reader.name,
                tally.cases,
                tally.accepted,
                tally.cases - tally.accepted - tally.findings.min(tally.cases - tally.accepted),
                tally.findings,
                tally.most_memory >> 10,
                tally.most_seconds,
            );
            // Nothing is tried by cases that are all refused, or all accepted.
            let is_blunt = tally.cases > 1_000 && (tally.accepted == 0 || tally.accepted == tally.cases);
            failures += tally.findings + u64::from(is_blunt);
        }
        if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    /// Replays a saved finding in a process of its own.
    fn replayed(&self, name: &str, file: &str) -> bool {
        let path = std::env::temp_dir().join(format!("broccoli-fuzz-{}-{file}", std::process::id()));
        let bytes = saved::bytes(name, file);
        fs::write(&path, bytes).expect("a temporary file can be written");
        let status =
            Command::new(this()).arg("--replay").arg(name).arg(&path).status().expect("this program runs");
        let _ = fs::remove_file(&path);
        if !status.success() {
            println!("{name}: the saved finding {file} fails again: {status}");
        }
        status.success()
    }

    /// Has children run the cases `job`, `job + jobs`, …, a new one behind every case that has ended one.
    fn watch(&self, reader: &Reader, job: u64, end: &str, tally: &Mutex<Tally>) {
        let mut first = job;
        let until = Instant::now() + Duration::from_secs(end.strip_suffix('s').map_or(0, number));
        loop {
            let left = match end.strip_suffix('s') {
                Some(_) => format!("{}s", until.saturating_duration_since(Instant::now()).as_secs()),
                None => end.to_owned(),
            };
            let arguments =
                [reader.name, &self.seed.to_string(), &first.to_string(), &self.jobs.to_string(), &left];
            let mut child = Command::new(this())
                .arg("--child")
                .args(arguments)
                .stdout(Stdio::piped())
                .spawn()
                .expect("this program runs");
            let mut last = None;
            let out = child.stdout.take().expect("its output is piped");
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
                match line.splitn(5, ' ').collect::<Vec<_>>()[..] {
                    // Many cases are told at once.
                    ["done", cases, accepted, memory, seconds] => {
                        tally.cases += number(cases);
                        tally.accepted += number(accepted);
                        tally.most_memory = tally.most_memory.max(number(memory) as usize);
                        tally.most_seconds = tally.most_seconds.max(seconds.parse().unwrap_or(0.0));
                        last = None;
                    }
                    ["case", case] => last = Some(number(case)),
                    ["finding", case, ..] => {
                        tally.findings += 1;
                        self.keep(reader, number(case), &line);
                    }
                    _ => println!("{line}"),
                }
            }
            let status = child.wait().expect("it was started");
            match last {
                Some(case) if !status.success() => {
                    let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
                    tally.findings += 1;
                    tally.cases += 1;
                    self.keep(reader, case, &format!("{status}"));
                    first = case + self.jobs;
                }
                _ if !status.success() => {
                    panic!("{}: a child ended with {status} between two cases", reader.name)
                }
                _ => return,
            }
        }
    }

    /// Saves the input of a case that has failed.
    fn keep(&self, reader: &Reader, case: u64, what: &str) {
        let folder = Path::new(FINDINGS).join(reader.name);
        let path = folder.join(format!("{}-{case}", self.seed));
        let kept = fs::create_dir_all(&folder).and_then(|()| fs::write(&path, reader.case(self.seed, case)));
        println!("{}: case {case} of seed {}: {what}", reader.name, self.seed);
        match kept {
            Ok(()) => println!("  saved as {}", path.display()),
            Err(error) => println!("  {} cannot be written: {error}", path.display()),
        }
    }
}

fn this() -> std::path::PathBuf {
    std::env::current_exe().expect("this program has a path")
}

/// Runs cases, and tells what comes of them.
fn child(name: &str, [seed, first, step]: [u64; 3], end: &str) -> ExitCode {
    let reader = reader(name);
    let started = Instant::now();
    let (most_seconds, most_cases) = match end.strip_suffix('s') {
        Some(seconds) => (number(seconds), u64::MAX),
        None => (u64::MAX, number(end)),
    };
    // The good inputs are made before anything is measured.
    let _ = reader.case(seed, 0);
    std::panic::set_hook(Box::new(|_| {}));
    watch_the_clock();
    let tell = |line: String| {
        let mut out = std::io::stdout().lock();
        // If nobody listens any more, the parent is gone.
        if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
            std::process::exit(1);
        }
    };
    let (mut cases, mut accepted, mut most_memory, mut longest) = (0_u64, 0_u64, 0, 0.0_f64);
    let mut case = first;
    while case < most_cases && started.elapsed().as_secs() < most_seconds {
        let input = reader.case(seed, case);
        tell(format!("case {case}"));
        let (ran, peak, seconds) = measured(reader, &input);
        match ran {
            Ok(is_accepted) => accepted += u64::from(is_accepted),
            Err(what) => tell(format!("finding {case} {}", what.replace('\n', " "))),
        }
        cases += 1;
        (most_memory, longest) = (most_memory.max(peak), longest.max(seconds));
        case += step;
    }
    tell(format!("done {cases} {accepted} {most_memory} {longest}"));
    ExitCode::SUCCESS
}

/// When the present case began, in hundredths of seconds of processor time.
static BEGAN: AtomicU64 = AtomicU64::new(0);

/// Ends the process if a case has run away: nothing else could.
fn watch_the_clock() {
    BEGAN.store(processor_time(), SeqCst);
    std::thread::spawn(|| {
        loop {
            std::thread::sleep(Duration::from_millis(500));
            let hundredths = processor_time().saturating_sub(BEGAN.load(SeqCst));
            if hundredths as f64 > 100.0 * MOST_SECONDS {
                eprintln!("a case takes more than {MOST_SECONDS} s of processor time");
                std::process::abort();
            }
        }
    });
}

/// The processor time of this process, in hundredths of seconds; where it is not told, that since it began.
fn processor_time() -> u64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let start = *START.get_or_init(Instant::now);
    let told = fs::read_to_string("/proc/self/stat").ok().and_then(|text| {
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        Some(fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?)
    });
    told.unwrap_or_else(|| start.elapsed().as_millis() as u64 / 10)
}

/// Runs a case: whether it is accepted, or what is wrong; its memory, and its seconds.
fn measured(reader: &Reader, input: &[u8]) -> (Result<bool, String>, usize, f64) {
    BEGAN.store(processor_time(), SeqCst);
    let started = Instant::now();
    let (ran, peak) = memory::peak_of(|| catch_unwind(AssertUnwindSafe(|| (reader.run)(input))));
    let seconds = started.elapsed().as_secs_f64();
    let (per_byte, in_all) = reader.memory;
    let allowed = in_all + per_byte * input.len();
    let ran = match ran {
        Err(panic) => Err(match (panic.downcast_ref::<String>(), panic.downcast_ref::<&str>()) {
            (Some(what), _) => format!("panic: {what}"),
            (_, Some(what)) => format!("panic: {what}"),
            _ => "panic".to_owned(),
        }),
        Ok(_) if peak > allowed => Err(format!("{peak} bytes of memory for {} bytes of input", input.len())),
        Ok(is_accepted) => Ok(is_accepted),
    };
    (ran, peak, seconds)
}

/// Runs one input from a file.
fn replay(name: &str, file: &Path) -> ExitCode {
    let mut input = Vec::new();
    let read = fs::File::open(file).and_then(|mut file| file.read_to_end(&mut input));
    read.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    watch_the_clock();
    match measured(reader(name), &input) {
        (Err(what), ..) => {
            println!("{name}: {what}");
            ExitCode::FAILURE
        }
        (Ok(_), ..) => ExitCode::SUCCESS,
    }
}

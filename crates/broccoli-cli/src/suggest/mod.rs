//! `broccoli suggest`: thresholds to begin with, from what a system shows, and what a search will cost.

mod cost;
mod grid;
mod look;

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use broccoli_core::problem::{ALL, Objective, Problem, RunError, Thresholds};
use broccoli_core::shown::shown;
use broccoli_export::number::{counted, duration, grouped, list};
use broccoli_export::problem_file::literal;
use broccoli_export::text::wrapped;
use broccoli_problem::{ProblemFile, Target};
use clap::Args;
use serde::Serialize;

use self::cost::{Budget, COUNTS, Cost, DEPTHS, How, costs};
use self::grid::{Grid, middle_part};
use self::look::{Seen, SeenDimension, look};
use crate::Done;
use crate::complaint::Complaint;
use crate::numbers::{time_span, whole};
use crate::objective::check_objective;
use crate::output;
use crate::problem::{choose_actions, choose_noise};
use crate::progress::span;
use crate::remember::RememberOptions;
use crate::running::{cores, workers_after};
use crate::screen::note;
use crate::starts::Starts;
use crate::target::{resolve_by, short_check};

/// The most steps to look around: more show nothing new.
const STEPS: u64 = 200_000;
/// Looking around takes at most one part in so many of the time.
const LOOKING: u32 = 4;
/// What comes after the short searches takes hardly any time, but some.
const REST: Duration = Duration::from_millis(200);
/// How often it is said what is being done: on a terminal, and in a log.
const OFTEN: Duration = Duration::from_secs(1);
const SELDOM: Duration = Duration::from_secs(10);

/// A range that has fewer values than this is not taken for the one that matters.
const ENOUGH: usize = 100;

/// Suggest thresholds for a system, and estimate what a search will cost
///
/// The system is run from its initial states, with actions at random and held. Each dimension gets a range and
/// a round step from what is seen there, within the range that the target has, if any. Then short searches show how queries
/// and time grow. All of it takes no longer than `--within`. The same seed gives the same suggestion if the system is quick
/// enough for all steps; the times are those of this machine.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Suggest {
    /// The name of an environment, or a problem file
    target: String,

    /// About how many thresholds a dimension should have
    #[arg(long, value_name = "X", default_value = "10", allow_hyphen_values = true,
          value_parser = whole::<usize>(1..=10_000))]
    thresholds: usize,

    /// How long it may take, such as 10s or 5min: a quarter to look around, the rest for short searches. The more time, the
    /// narrower the ranges
    #[arg(long, value_name = "TIME", default_value = "30s", allow_hyphen_values = true, value_parser = time_span)]
    within: Duration,

    /// The most steps of the system, if time is not to decide: half to look around, half for short searches
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = whole::<u64>(100..=1_000_000_000))]
    steps: Option<u64>,

    /// The seed of the actions
    #[arg(long, value_name = "S", default_value = "0", allow_hyphen_values = true,
          value_parser = whole::<u64>(0..=u64::MAX))]
    action_seed: u64,

    /// The actions of a built-in environment, by names or values [default: the target's]
    #[arg(long, value_name = "A,B,…", allow_hyphen_values = true, value_delimiter = ',')]
    actions: Option<Vec<String>>,

    /// The most by which a force of a built-in environment is off
    #[arg(long, value_name = "F", allow_hyphen_values = true)]
    noise: Option<f64>,

    #[command(flatten)]
    starts: Starts,

    #[command(flatten)]
    remember: RememberOptions,

    /// Print the suggestion as one JSON object
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  broccoli suggest mountain-car
  broccoli suggest cartpole --thresholds 5 --samples 20
  broccoli suggest plant.toml --within 2min

Exit codes: 0; 1 if the system fails; 2 for bad usage or bad input.";

#[derive(Serialize)]
struct SuggestionJson {
    version: u32,
    system: String,
    /// How it was looked at.
    steps: u64,
    runs: usize,
    satisfied: usize,
    violated: usize,
    action_seed: u64,
    dimensions: Vec<DimensionJson>,
    notes: Vec<String>,
    /// The section of a problem file.
    toml: String,
    /// For `--step`, if every dimension has a range already.
    step: Option<Vec<f64>>,
    costs: Vec<Cost>,
}

#[derive(Serialize)]
struct DimensionJson {
    name: String,
    /// The lowest and the highest value.
    seen: Option<(f64, f64)>,
    /// The same without the outer 2 %.
    middle: Option<(f64, f64)>,
    low: Option<f64>,
    high: Option<f64>,
    step: Option<f64>,
    thresholds: Thresholds,
}

impl Suggest {
    /// Runs the command.
    pub fn run(&self) -> Done {
        let (mut target, _) = resolve_by(&self.target, ProblemFile::open_without_predicates)?;
        check_objective(&target)?;
        choose_actions(&mut target, self.actions.as_deref())?;
        choose_noise(&mut target, self.noise)?;
        if let Some(states) = self.starts.states(&target)? {
            (target.initial, target.seeds) = (states, None);
        }
        let problem = target.problem().map_err(|error| Complaint::input(error.to_string()))?;
        let failed = |error: RunError| Complaint::other(error.to_string());
        let started = Instant::now();
        let threads = match target.is_foreign {
            true => workers_after(|| short_check(&target, &problem)).map_err(failed)?.1,
            false => cores(),
        };
        let _remembered = self.remember.anyhow(&mut target, None)?;
        let most = self.steps.map_or(u64::MAX, |steps| steps / 2);
        let time = self.within / LOOKING;
        let mut teller = Teller::new(started, self.within);
        teller.say("looking around");
        let seen =
            look(&problem, &*target.factory, most.min(STEPS), time, self.action_seed).map_err(failed)?;
        let ranges = target.dimensions.iter().map(|d| d.range);
        let grids: Vec<Grid> =
            seen.dimensions.iter().zip(ranges).map(|(d, range)| self.grid(d, range)).collect();
        let pose = |count: Option<usize>, depth: u32| {
            let of = |grid: &Grid| count.map_or_else(Thresholds::all, |count| grid.with(count));
            posed(&target, grids.iter().map(of).collect(), depth)
        };
        let budget = Budget { queries: most, until: started + self.within.saturating_sub(REST), threads };
        let costs = costs(&*target.factory, budget, pose, |count, depth, queries| {
            teller.tell(|| {
                let count = count.map_or(ALL.to_owned(), |count| count.to_string());
                format!("depth {depth}, {count} thresholds: {} queries", grouped(queries))
            });
        })
        .map_err(failed)?;
        let suggestion = self.suggestion(&target, &seen, &grids, costs);
        if self.json {
            output::print_json(&suggestion)?;
        } else {
            output::print(&suggestion.text(&self.target, &problem))?;
        }
        Ok(0)
    }

    /// Thresholds for a dimension, within the range that it has if enough was seen there.
    fn grid(&self, seen: &SeenDimension, range: Option<(f64, f64)>) -> Grid {
        let values = sorted(&seen.values);
        let (low, high) = range.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        let inside: Vec<f64> = values.iter().copied().filter(|value| (low..=high).contains(value)).collect();
        Grid::of(if inside.len() >= ENOUGH { &inside } else { &values }, self.thresholds)
    }

    fn suggestion(&self, target: &Target, seen: &Seen, grids: &[Grid], costs: Vec<Cost>) -> SuggestionJson {
        let names = target.dimensions.iter().map(|d| d.name.as_str());
        let lines =
            names.clone().zip(grids).map(|(name, grid)| format!("{} = {}\n", literal(name), grid.toml()));
        let dimensions = names.clone().zip(&seen.dimensions).zip(grids).map(|((name, seen), grid)| {
            let values = sorted(&seen.values);
            let (low, high, step) = match grid {
                Grid::Even { low, high, step, .. } => (Some(*low), Some(*high), Some(*step)),
                _ => (None, None, None),
            };
            DimensionJson {
                name: name.to_owned(),
                seen: values.first().copied().zip(values.last().copied()),
                middle: (!values.is_empty()).then(|| middle_part(&values)),
                low,
                high,
                step,
                thresholds: grid.thresholds(),
            }
        });
        let dimensions: Vec<DimensionJson> = dimensions.collect();
        let is_ranged = target.dimensions.iter().all(|d| d.range.is_some());
        let steps: Option<Vec<f64>> = dimensions.iter().map(|d| d.step).collect();
        SuggestionJson {
            version: 1,
            system: target.name.clone(),
            steps: seen.steps,
            runs: seen.runs,
            satisfied: seen.satisfied,
            violated: seen.violated,
            action_seed: self.action_seed,
            notes: notes(target, seen, grids),
            toml: "[predicates]\n".to_owned() + &lines.collect::<String>(),
            step: steps.filter(|_| is_ranged && !too_coarse(target, &dimensions)),
            dimensions,
            costs,
        }
    }
}

/// Whether a step leaves no threshold in the target's own range.
fn too_coarse(target: &Target, dimensions: &[DimensionJson]) -> bool {
    target.dimensions.iter().zip(dimensions).any(|(d, suggested)| match (d.range, suggested.step) {
        (Some((low, high)), Some(step)) => Thresholds::grid(low, high, step).is_err(),
        _ => true,
    })
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values
}

/// The target's problem on other thresholds and at another depth, all sizes allowed.
fn posed(target: &Target, thresholds: Vec<Thresholds>, depth: u32) -> Option<Problem> {
    let mut target = target.clone();
    for (dimension, thresholds) in target.dimensions.iter_mut().zip(thresholds) {
        dimension.thresholds = thresholds;
    }
    (target.depth, target.nodes) = (depth, None);
    target.problem().ok()
}

/// What is worth knowing about single dimensions, and about the whole.
fn notes(target: &Target, seen: &Seen, grids: &[Grid]) -> Vec<String> {
    let mut notes = Vec::new();
    for ((dimension, seen), grid) in target.dimensions.iter().zip(&seen.dimensions).zip(grids) {
        let name = shown(&dimension.name);
        if *grid == Grid::Constant {
            let value = seen.values.first().map_or("nothing".to_owned(), f64::to_string);
            notes.push(format!("{name} never changes (it is {value}): no thresholds."));
        }
        if let Some((from, to)) = seen.wraps() {
            notes.push(format!(
                "{name} looks cyclic (in one step from {from} to {to}): values on either side of the jump are \
                 neighbours, which no predicate sees. Its cosine and sine as features do not jump."
            ));
        }
        if seen.is_infinite {
            notes.push(format!("{name} is infinite at times, and ranks below or above all thresholds then."));
        }
    }
    if seen.is_hidden {
        notes.push(
            "The observation hides part of the state: the same observation and action led to different ones."
                .to_owned(),
        );
    }
    if let Some(count) = target.given_values().filter(|&count| count > target.dimensions.len()) {
        let observed = target.dimensions.len();
        notes
            .push(format!("Initial states have {count} values, of which a tree can see at most {observed}."));
    }
    let is_survive = matches!(target.objective, Objective::Survive { .. });
    let is_reach = matches!(target.objective, Objective::Reach { .. });
    if is_survive && seen.violated + 1 >= seen.runs {
        notes.push(
            "Every run was violated: a tree that does better will go where nothing was seen, and may want \
             wider ranges."
                .to_owned(),
        );
    }
    if is_reach && seen.satisfied == 0 {
        notes.push(
            "No run came to the goal: the way there may lead where nothing was seen, and the ranges be too \
             narrow. Initial states nearer to it (--initial) show more."
                .to_owned(),
        );
    }
    notes
}

impl SuggestionJson {
    fn text(&self, name: &str, problem: &Problem) -> String {
        let states = counted(problem.initial_states().len() as u64, "initial state");
        let (steps, runs) = (counted(self.steps, "step"), counted(self.runs as u64, "run"));
        let mut text = format!(
            "{}: {steps} in {runs} from {states}; {} satisfied, {} violated\n\n",
            shown(&self.system),
            grouped(self.satisfied as u64),
            grouped(self.violated as u64),
        );
        text += &self.table();
        for note in &self.notes {
            text += &format!("\n{}\n", wrapped(note));
        }
        text += &format!("\nFor a problem file:\n\n{}", self.toml);
        if let Some(steps) = &self.step {
            text += &format!(
                "\nWith the ranges that {} has by default:\n\n  broccoli solve {name} --step {}\n",
                shown(&self.system),
                list(steps)
            );
        }
        text + &self.costs()
    }

    fn table(&self) -> String {
        let pair = |pair: Option<(f64, f64)>| {
            pair.map_or("-".to_owned(), |(low, high)| format!("{} … {}", short(low), short(high)))
        };
        let or_none = |value: Option<f64>| value.map_or("-".to_owned(), |value| value.to_string());
        let heads = ["dimension", "seen", "98 % of it", "range", "step", "thresholds"].map(str::to_owned);
        let rows = self.dimensions.iter().map(|d| {
            let range = d.low.zip(d.high).map_or("-".to_owned(), |(low, high)| format!("{low} … {high}"));
            let count = d.thresholds.len().to_string();
            [shown(&d.name).into_owned(), pair(d.seen), pair(d.middle), range, or_none(d.step), count]
        });
        let rows: Vec<[String; 6]> = std::iter::once(heads).chain(rows).collect();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let line = |row: &[String; 6]| {
            let cells = row.iter().enumerate().map(|(column, cell)| format!("{cell:0$}", width(column)));
            format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
        };
        rows.iter().map(line).collect()
    }

    fn costs(&self) -> String {
        let mut text = "\nWhat a search costs, with so many thresholds per dimension on these ranges,\n\
             or with all numbers (`--thresholds all`):\n\n"
            .to_owned();
        let cell = |cost: &Cost| match (cost.how, cost.queries_range, cost.seconds_range) {
            (How::Measured, _, _) => format!("{} queries, {}", grouped(cost.queries), duration(cost.seconds)),
            (How::Extrapolated, queries, seconds) => {
                let [least, most] = queries.map(|count| grouped(rounded(count)));
                let [quickest, longest] = seconds.map(span);
                format!("{least} to {most} queries, {quickest} to {longest}")
            }
        };
        for depth in DEPTHS {
            for count in COUNTS {
                let costs = self.costs.iter().find(|c| (c.thresholds, c.depth) == (count, depth));
                if let Some(cost) = costs {
                    let count = count.map_or(ALL.to_owned(), |count| format!("{count:3}"));
                    text += &format!("  depth {depth}, {count} thresholds  {}\n", cell(cost));
                }
            }
        }
        let how = "One number: measured, as a short search came to its end. A range: it did not; the range comes from how \
                   searches go on and from how queries grew with thresholds and depth, and the truth may lie outside. \
                   A search that finds a perfect tree ends early; --within gives the short searches more time.";
        text + &format!("\n{}\n", wrapped(how))
    }
}

/// Three digits, for people.
fn short(value: f64) -> String {
    format!("{value:.2e}").parse::<f64>().unwrap_or(value).to_string()
}

/// Says on standard error what is being done.
struct Teller {
    started: Instant,
    within: Duration,
    told: Instant,
    pause: Duration,
}

impl Teller {
    fn new(started: Instant, within: Duration) -> Self {
        let pause = if io::stderr().is_terminal() { OFTEN } else { SELDOM };
        Teller { started, within, told: started, pause }
    }

    /// Says it if nothing was said for a while.
    fn tell(&mut self, what: impl FnOnce() -> String) {
        if self.told.elapsed() >= self.pause {
            self.told = Instant::now();
            self.note(&what());
        }
    }

    /// Says it on a terminal.
    fn say(&self, what: &str) {
        if self.pause == OFTEN && self.within > OFTEN {
            self.note(what);
        }
    }

    fn note(&self, what: &str) {
        let now = self.started.elapsed().as_secs();
        note(format_args!("{now} s of {} | {what}", duration(self.within.as_secs_f64())));
    }
}

/// The first digit; the others of an estimate mean nothing.
fn rounded(number: u64) -> u64 {
    let unit = 10_u64.pow(number.checked_ilog10().unwrap_or(0));
    number / unit * unit
}

//! A problem file: what it says, checked as far as that is possible without the system.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use broccoli_blackbox::{Format, Program};
use broccoli_core::problem::{ALL, Aim, MAX_DEPTH, MAX_DERIVED, MAX_THRESHOLDS, Over, Thresholds};
use broccoli_core::search::Engine;
use broccoli_environments::Environment;
use broccoli_expression::{Condition, Expression};
use toml::de::DeTable;

use crate::bytes::{LONGEST_PROBLEM, read_at_most};
use crate::diagnosis::{Diagnosis, Flaw};
use crate::objective::{ObjectiveChoice, ObjectiveKind};
use crate::reader::{Item, Read, Section};
use crate::starts::{self, Ranges, Starts};

/// The sections of a file.
pub(crate) const SECTIONS: [&str; 7] =
    ["system", "features", "predicates", "initial", "objective", "tree", "search"];
/// The keys of [tree].
const TREE: [&str; 4] = ["depth", "nodes", "use", "without"];

/// The keys of [search].
const SEARCH: [&str; 7] = ["engine", "pruning", "time_limit", "query_limit", "gap", "first", "remember"];

/// Something in the file, and where.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Placed<T> {
    pub(crate) value: T,
    pub(crate) place: Range<usize>,
}

/// Where the black box comes from.
#[derive(Clone, Debug)]
pub enum SystemSource {
    /// A built-in environment.
    Environment(&'static Environment),
    /// A program.
    Subprocess(Program),
    /// A shared library, by its path.
    Plugin(PathBuf),
}

/// What the file says about one dimension.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Predicates {
    pub(crate) dimension: Placed<String>,
    pub(crate) range: Option<(f64, f64)>,
    /// None leaves those of the system.
    pub(crate) thresholds: Option<Thresholds>,
    pub(crate) price: Option<f64>,
}

/// A dimension that is derived from the observed ones.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Feature {
    pub(crate) name: Placed<String>,
    pub(crate) expression: Placed<String>,
}

/// Options of the search that the file asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SearchOptions {
    /// The engine.
    pub engine: Option<Engine>,
    /// Stop after this time.
    pub time_limit: Option<Duration>,
    /// Stop after so many queries.
    pub query_limit: Option<u64>,
    /// Stop when the value is proved to be this close to the optimum.
    pub gap: Option<f64>,
    /// Stop at the first tree that reaches the goal, or survives the whole horizon.
    pub first: bool,
}

/// A problem file that was read. [`ProblemFile::open`] starts its system.
#[derive(Clone, Debug)]
pub struct ProblemFile {
    path: PathBuf,
    text: String,
    system: SystemSource,
    pub(crate) system_place: Range<usize>,
    pub(crate) actions: Option<Placed<Vec<String>>>,
    pub(crate) noise: Option<Placed<f64>>,
    pub(crate) satisfied: Option<Placed<String>>,
    pub(crate) violated: Option<Placed<String>>,
    pub(crate) features: Vec<Feature>,
    pub(crate) predicates: Vec<Predicates>,
    pub(crate) predicates_place: Option<Range<usize>>,
    pub(crate) starts: Option<Placed<Starts>>,
    pub(crate) ranges: Option<Placed<Ranges>>,
    pub(crate) seeds: Option<Placed<Vec<u64>>>,
    pub(crate) objective: Option<Placed<ObjectiveChoice>>,
    pub(crate) depth: Option<u32>,
    pub(crate) nodes: Option<u64>,
    /// The dimensions that a tree may ask, and those that it may not.
    pub(crate) only: Option<Placed<Vec<String>>>,
    pub(crate) without: Option<Placed<Vec<String>>>,
    pub(crate) search: SearchOptions,
    /// The file in which what the system answers is remembered.
    pub(crate) remember: Option<PathBuf>,
}

impl ProblemFile {
    /// Reads a file. Nothing is run.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place.
    pub fn read(path: &Path) -> Result<Self, Diagnosis> {
        let cannot = |what: String| Diagnosis::of_file(path, what);
        let read = File::open(path).and_then(|file| read_at_most(file, LONGEST_PROBLEM));
        let bytes = read.map_err(|error| cannot(format!("it cannot be read: {error}")))?;
        let text = String::from_utf8(bytes).map_err(|_| cannot("it is not UTF-8 text".to_owned()))?;
        ProblemFile::parse(&text, path)
    }

    /// Reads the text of a file; relative paths in it start at the folder of `path`.
    ///
    /// ```
    /// use broccoli_problem::ProblemFile;
    /// let text = "[system]\nenvironment = \"mountain-car\"\n[tree]\ndeep = 2\n";
    /// let wrong = ProblemFile::parse(text, "plant.toml".as_ref()).unwrap_err();
    /// assert_eq!(wrong.to_string(), "there is no key `deep` in [tree]");
    /// assert_eq!(wrong.line_and_column(), Some((4, 1)));
    /// ```
    ///
    /// # Errors
    /// The first thing that is wrong, with its place.
    pub fn parse(text: &str, path: &Path) -> Result<Self, Diagnosis> {
        let read = DeTable::parse(text)
            .map_err(|error| {
                Flaw::new(error.span().unwrap_or(0..0), format!("this is not TOML: {}", error.message()))
            })
            .and_then(|table| Self::from_table(table.get_ref(), text, path));
        read.map_err(|flaw| Diagnosis::at(path, text, flaw))
    }

    fn from_table(table: &DeTable<'_>, text: &str, path: &Path) -> Read<Self> {
        let root = Section::root(table, &SECTIONS)?;
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let system = root.get("system").ok_or_else(|| {
            Flaw::new(0..0, "the file has no section [system]")
                .label("it is missing")
                .help("`broccoli init` writes a file to start from")
        })?;
        let system = system.section(&[
            "environment",
            "actions",
            "noise",
            "command",
            "plugin",
            "timeout",
            "start_timeout",
            "format",
            "satisfied",
            "violated",
        ])?;
        let source = source(&system, &folder)?;
        let condition = |key: &str| -> Read<Option<Placed<String>>> {
            let Some(item) = system.get(key) else { return Ok(None) };
            if let SystemSource::Environment(environment) = &source {
                let message =
                    format!("`{key}` is for foreign systems: {} has verdicts of its own", environment.name);
                return Err(Flaw::new(item.place(), message));
            }
            let text = item.text()?;
            Condition::check_syntax(text)
                .map_err(|error| Flaw::inside(item.place(), text, error.place, error.message))?;
            Ok(Some(Placed { value: text.to_owned(), place: item.place() }))
        };
        let (satisfied, violated) = (condition("satisfied")?, condition("violated")?);

        let predicates = root.get("predicates").map(|item| item.any_section()).transpose()?;
        let predicates_place = predicates.as_ref().map(Section::place);
        let predicates = predicates
            .iter()
            .flat_map(Section::entries)
            .map(|(name, place, item)| self::predicates(Placed { value: name.to_owned(), place }, &item));
        let predicates: Vec<Predicates> = predicates.collect::<Read<_>>()?;

        let initial = root.section("initial", &["states", "file", "samples", "seed", "ranges", "seeds"])?;
        let starts = initial.as_ref().map(|section| starts::read(section, &folder)).transpose()?.flatten();
        let ranges = initial.as_ref().map(starts::read_ranges).transpose()?.flatten();
        let seeds = initial.as_ref().map(starts::read_seeds).transpose()?.flatten();
        let (objective, depth, nodes) = (objective(&root)?, tree(&root)?, nodes(&root)?);
        Ok(ProblemFile {
            path: path.to_owned(),
            text: text.to_owned(),
            system: source,
            system_place: system.place(),
            actions: actions(&system)?,
            noise: noise(&system)?,
            satisfied,
            violated,
            features: features(&root)?,
            predicates,
            predicates_place,
            starts,
            ranges,
            seeds,
            objective,
            depth,
            nodes,
            only: names(&root, "use")?,
            without: names(&root, "without")?,
            search: search(&root)?,
            remember: remember(&root, &folder)?,
        })
    }

    /// Where the black box comes from.
    pub fn system(&self) -> &SystemSource {
        &self.system
    }

    /// The conditions that judge a run, if the file has them: satisfied, violated.
    pub fn conditions(&self) -> (Option<&str>, Option<&str>) {
        (self.satisfied.as_ref().map(|p| p.value.as_str()), self.violated.as_ref().map(|p| p.value.as_str()))
    }

    /// The path that was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn diagnosis(&self, flaw: Flaw) -> Diagnosis {
        Diagnosis::at(&self.path, &self.text, flaw)
    }
}

/// Where the system comes from; relative paths start at the folder of the file.
fn source(system: &Section<'_>, folder: &Path) -> Read<SystemSource> {
    const KINDS: &str =
        "give one of: environment = \"name\", command = [\"program\", …], plugin = \"library.so\"";
    let Some((kind, item)) = system.one_of(&["environment", "command", "plugin"])? else {
        return Err(system.missing("environment`, no `command` and no `plugin", KINDS));
    };
    if kind != "command" {
        for key in ["timeout", "start_timeout", "format"] {
            if let Some(item) = system.get(key) {
                return Err(Flaw::new(item.place(), format!("`{key}` is for systems with a `command`")));
            }
        }
    }
    match kind {
        "environment" => {
            let name = item.text()?;
            let found = broccoli_environments::find(name);
            found.map(SystemSource::Environment).map_err(|error| Flaw::new(item.place(), error.to_string()))
        }
        "plugin" => Ok(SystemSource::Plugin(folder.join(item.text()?))),
        _ => {
            let command = item.texts()?;
            if command.is_empty() {
                return Err(item.wrong("a list with the program and its arguments"));
            }
            let mut program =
                Program::new(command, if folder == Path::new("") { Path::new(".") } else { folder });
            if let Some(item) = system.get("timeout") {
                program.timeout = seconds(&item)?;
            }
            if let Some(item) = system.get("start_timeout") {
                program.start_timeout = seconds(&item)?;
            }
            if let Some(item) = system.get("format") {
                program.format = Some(item.word(&[("json", Format::Json), ("binary", Format::Binary)])?);
            }
            Ok(SystemSource::Subprocess(program))
        }
    }
}

/// The choice of actions, by names or values.
fn actions(system: &Section<'_>) -> Read<Option<Placed<Vec<String>>>> {
    let Some(item) = system.get("actions") else { return Ok(None) };
    if system.get("environment").is_none() {
        return Err(Flaw::new(item.place(), "`actions` is for built-in environments")
            .help("a foreign system names its actions itself"));
    }
    let must = "a list of at least two actions, each by its name or its value";
    let list = item.list(must)?;
    if list.len() < 2 {
        return Err(item.wrong(must));
    }
    let word = |item: &Item<'_>| match item.number() {
        Ok(number) => Ok(number.to_string()),
        Err(_) => item.text().map(str::to_owned),
    };
    let words: Read<Vec<String>> = list.iter().map(word).collect();
    Ok(Some(Placed { value: words?, place: item.place() }))
}

/// The noise of a built-in environment.
fn noise(system: &Section<'_>) -> Read<Option<Placed<f64>>> {
    let Some(item) = system.get("noise") else { return Ok(None) };
    if system.get("environment").is_none() {
        return Err(Flaw::new(item.place(), "`noise` is for built-in environments"));
    }
    let noise = item.number().ok().filter(|noise| *noise >= 0.0);
    let noise = noise.ok_or_else(|| item.wrong("a number of at least 0"))?;
    Ok(Some(Placed { value: noise, place: item.place() }))
}

fn seconds(item: &Item<'_>) -> Read<Duration> {
    let seconds = item.number().ok().filter(|seconds| (0.001..=1e6).contains(seconds));
    seconds
        .map(Duration::from_secs_f64)
        .ok_or_else(|| item.wrong("a number of seconds from 0.001 to 1000000"))
}

/// The derived dimensions, a table each.
fn features(root: &Section<'_>) -> Read<Vec<Feature>> {
    let Some(item) = root.get("features") else { return Ok(Vec::new()) };
    let must = "a list of tables: [[features]] with name = \"…\" and expression = \"…\"";
    let feature = |item: &Item<'_>| {
        let section = item.section(&["name", "expression"])?;
        let placed = |key: &str| -> Read<Placed<String>> {
            let item =
                section.need(key, "a feature is name = \"energy\", expression = \"0.5*v^2 + 9.8*h\"")?;
            Ok(Placed { value: item.text()?.to_owned(), place: item.place() })
        };
        let (name, expression) = (placed("name")?, placed("expression")?);
        Expression::check_syntax(&expression.value).map_err(|error| {
            Flaw::inside(expression.place.clone(), &expression.value, error.place, error.message)
        })?;
        Ok(Feature { name, expression })
    };
    let list = item.list(must)?;
    if list.len() > MAX_DERIVED {
        let message = format!("there are {} features: at most {MAX_DERIVED} are allowed", list.len());
        return Err(Flaw::new(item.place(), message));
    }
    list.iter().map(feature).collect()
}

/// A list, or a table with a range and a step or a count, or a list, and perhaps a price.
fn predicates(dimension: Placed<String>, item: &Item<'_>) -> Read<Predicates> {
    let must =
        "\"all\", a list of thresholds, or { low = …, high = …, step = … }, or count = … instead of step";
    let list = |item: &Item<'_>| -> Read<Thresholds> {
        if item.text().is_ok_and(|text| text == ALL) {
            return Ok(Thresholds::all());
        }
        let list = item
            .numbers()
            .map_err(|flaw| if flaw.place == item.place() { item.wrong(must) } else { flaw })?;
        Thresholds::list(list).map_err(|error| Flaw::new(item.place(), error.to_string()))
    };
    if !item.is_table() {
        return Ok(Predicates { dimension, range: None, thresholds: Some(list(item)?), price: None });
    }
    let section = item.section(&["low", "high", "step", "count", "list", "price"])?;
    let price = section.get("price").map(|item| {
        let price = item.number().ok().filter(|price| *price >= 0.0);
        price.ok_or_else(|| item.wrong("a finite number of at least 0"))
    });
    let price = price.transpose()?;
    let ranged = ["low", "high", "step", "count"].iter().any(|key| section.get(key).is_some());
    if let Some(given) = section.get("list") {
        if ranged {
            return Err(Flaw::new(
                given.place(),
                "give either `list` or `low`, `high` and `step` or `count`",
            ));
        }
        return Ok(Predicates { dimension, range: None, thresholds: Some(list(&given)?), price });
    }
    if price.is_some() && !ranged {
        return Ok(Predicates { dimension, range: None, thresholds: None, price });
    }
    let low = section.need("low", must)?.number()?;
    let high = section.need("high", must)?.number()?;
    let (made, place) = match section.one_of(&["step", "count"])? {
        Some(("step", step)) => (Thresholds::grid(low, high, step.number()?), step.place()),
        Some((_, count)) => {
            let number = count.whole(1..=MAX_THRESHOLDS as u64)?;
            (Thresholds::count(low, high, number as usize), count.place())
        }
        None => return Err(section.missing("step` or `count", must)),
    };
    let made = made.map_err(|error| Flaw::new(place, format!("`{}`: {error}", item.name())))?;
    Ok(Predicates { dimension, range: Some((low, high)), thresholds: Some(made), price })
}

fn objective(root: &Section<'_>) -> Read<Option<Placed<ObjectiveChoice>>> {
    let keys = ["kind", "horizon", "over", "share", "weights", "discount", "minimise", "rewards"];
    let Some(section) = root.section("objective", &keys)? else { return Ok(None) };
    let kinds = [
        ("reach", ObjectiveKind::Reach),
        ("survive", ObjectiveKind::Survive),
        ("return", ObjectiveKind::Return),
    ];
    let kind = section.need("kind", "it must be \"reach\", \"survive\" or \"return\"")?.word(&kinds)?;
    // TOML has no larger integers.
    let horizon =
        section.need("horizon", "the most steps of a run, such as 1000")?.whole(1..=i64::MAX as u64)?;
    let overs = [("worst", Over::Worst), ("mean", Over::Mean), ("sum", Over::Sum)];
    let fraction = |item: &Item<'_>| {
        let fraction = item.number().ok().filter(|number| (0.0..=1.0).contains(number));
        fraction.ok_or_else(|| item.wrong("a number from 0 to 1"))
    };
    let over = match section.one_of(&["over", "share", "weights"])? {
        Some(("over", item)) => Some(item.word(&overs)?),
        Some(("share", item)) => Some(Over::Share(fraction(&item)?)),
        _ => None,
    };
    let aim = |is_minimised| if is_minimised { Aim::Minimise } else { Aim::Maximise };
    let bounds = |item: Item<'_>| match item.numbers()?[..] {
        [low, high] if low <= high => Ok((low, high)),
        _ => Err(item.wrong("the least and the largest reward, in this order")),
    };
    let value = ObjectiveChoice {
        kind: Some(kind),
        horizon: Some(horizon),
        over,
        weights: section.get("weights").map(|item| item.numbers()).transpose()?,
        discount: section.get("discount").map(|item| fraction(&item)).transpose()?,
        aim: section.get("minimise").map(|item| item.truth().map(aim)).transpose()?,
        rewards: section.get("rewards").map(bounds).transpose()?,
    };
    Ok(Some(Placed { value, place: section.place() }))
}

fn tree(root: &Section<'_>) -> Read<Option<u32>> {
    let Some(section) = root.section("tree", &TREE)? else { return Ok(None) };
    let depth = section.get("depth").map(|item| item.whole(0..=u64::from(MAX_DEPTH))).transpose()?;
    Ok(depth.map(|depth| depth as u32))
}

fn nodes(root: &Section<'_>) -> Read<Option<u64>> {
    let Some(section) = root.section("tree", &TREE)? else { return Ok(None) };
    let Some(item) = section.get("nodes") else { return Ok(None) };
    let depth = tree(root)?.unwrap_or(MAX_DEPTH);
    item.whole(0..=(1 << depth) - 1).map(Some)
}

/// Names of dimensions.
fn names(root: &Section<'_>, key: &str) -> Read<Option<Placed<Vec<String>>>> {
    let Some(item) = root.section("tree", &TREE)?.and_then(|section| section.get(key)) else {
        return Ok(None);
    };
    let names = item.texts()?;
    if names.is_empty() {
        return Err(item.wrong("a list of at least one dimension"));
    }
    Ok(Some(Placed { value: names, place: item.place() }))
}

fn remember(root: &Section<'_>, folder: &Path) -> Read<Option<PathBuf>> {
    let Some(section) = root.section("search", &SEARCH)? else { return Ok(None) };
    let item = section.get("remember");
    item.map(|item| item.text().map(|name| folder.join(name))).transpose()
}

fn search(root: &Section<'_>) -> Read<SearchOptions> {
    let Some(section) = root.section("search", &SEARCH)? else { return Ok(SearchOptions::default()) };
    let engines = [
        ("behaviour", Engine::Behaviour),
        ("backtracking", Engine::Backtracking { pruning: true }),
        ("exhaustive", Engine::Exhaustive),
    ];
    let mut engine = section.get("engine").map(|item| item.word(&engines)).transpose()?;
    if let Some(item) = section.get("pruning") {
        engine = match engine {
            Some(Engine::Backtracking { .. }) => Some(Engine::Backtracking { pruning: item.truth()? }),
            _ => {
                let message = "`search.pruning` works with engine = \"backtracking\" only";
                return Err(Flaw::new(item.place(), message));
            }
        };
    }
    let truth = |key: &str| section.get(key).map_or(Ok(false), |item| item.truth());
    let gap = |item: Item<'_>| {
        let gap = item.number().ok().filter(|gap| (0.0..=1.0).contains(gap));
        gap.ok_or_else(|| item.wrong("a number from 0 to 1: 0.05 is 5 %"))
    };
    Ok(SearchOptions {
        engine,
        time_limit: section.get("time_limit").map(|item| seconds(&item)).transpose()?,
        query_limit: section.get("query_limit").map(|item| item.whole(0..=i64::MAX as u64)).transpose()?,
        gap: section.get("gap").map(gap).transpose()?,
        first: truth("first")?,
    })
}

//! The section [initial]: states in the file, in a CSV file beside it, or sampled.

use std::fs::File;
use std::path::Path;

use broccoli_core::problem::InitialState;
use broccoli_environments::MAX_SEED;

use crate::bytes::{LONGEST_STATES, read_at_most};
use crate::diagnosis::Flaw;
use crate::file::Placed;
use crate::reader::{Read, Section};

/// The most initial states of one problem.
pub(crate) const MOST_STATES: usize = 1_000_000;
/// The most values of all of them together, where there can be more than the file has room for.
pub(crate) const MOST_VALUES: usize = 16_000_000;

/// Where runs start.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Starts {
    List(Vec<InitialState>),
    Samples { count: usize, seed: u64 },
}

/// A pair (low, high) per value of an initial state.
pub(crate) type Ranges = Vec<(f64, f64)>;

/// Reads where runs start.
pub(crate) fn read(section: &Section<'_>, folder: &Path) -> Read<Option<Placed<Starts>>> {
    let chosen = section.one_of(&["states", "file", "samples"])?;
    if let Some(item) = section.get("seed").filter(|_| !matches!(chosen, Some(("samples", _)))) {
        return Err(Flaw::new(item.place(), "`initial.seed` is for `initial.samples`"));
    }
    let Some((kind, item)) = chosen else { return Ok(None) };
    let value = match kind {
        "states" => {
            let must = "a list of lists of numbers, one per initial state";
            let states = item.list(must)?;
            if states.is_empty() {
                return Err(item.wrong("a list with at least one initial state"));
            }
            let states: Read<Vec<_>> =
                states.iter().map(|state| state.numbers().map(InitialState::new)).collect();
            Starts::List(states?)
        }
        "file" => {
            let path = folder.join(item.text()?);
            let states = csv(&path).map_err(|what| {
                Flaw::new(item.place(), format!("{}: {what}", path.display()))
                    .help("one line per initial state, numbers separated by commas")
            })?;
            Starts::List(states)
        }
        _ => {
            let seed = section.get("seed").map(|seed| seed.whole(0..=i64::MAX as u64)).transpose()?;
            let count = item.whole(1..=MOST_STATES as u64)? as usize;
            Starts::Samples { count, seed: seed.unwrap_or(0) }
        }
    };
    Ok(Some(Placed { value, place: item.place() }))
}

/// Reads the seeds that every state is run with: a list, or how many from 0 on.
pub(crate) fn read_seeds(section: &Section<'_>) -> Read<Option<Placed<Vec<u64>>>> {
    let Some(item) = section.get("seeds") else { return Ok(None) };
    let value = match item.list("") {
        Err(_) => (0..item.whole(1..=MOST_STATES as u64)?).collect(),
        Ok(list) if list.is_empty() => return Err(item.wrong("a number of seeds, or a list of them")),
        Ok(list) => list.iter().map(|seed| seed.whole(0..=MAX_SEED)).collect::<Read<_>>()?,
    };
    Ok(Some(Placed { value, place: item.place() }))
}

/// Reads the ranges to sample from.
pub(crate) fn read_ranges(section: &Section<'_>) -> Read<Option<Placed<Ranges>>> {
    let Some(item) = section.get("ranges") else { return Ok(None) };
    let must = "a list of pairs [low, high], one per value of an initial state";
    let pairs = item.list(must)?.into_iter().map(|pair| match pair.numbers()?[..] {
        [low, high] if low <= high && (high - low).is_finite() => Ok((low, high)),
        _ => Err(pair.wrong("a pair [low, high] with low <= high")),
    });
    Ok(Some(Placed { value: pairs.collect::<Read<_>>()?, place: item.place() }))
}

/// Reads initial states from a CSV file.
fn csv(path: &Path) -> Result<Vec<InitialState>, String> {
    let bytes = File::open(path).and_then(|file| read_at_most(file, LONGEST_STATES));
    initial_states(&bytes.map_err(|error| error.to_string())?)
}

/// The initial states in a CSV file: one per line, numbers separated by commas. A first line without numbers is a
/// heading.
///
/// ```
/// use broccoli_problem::initial_states;
/// assert_eq!(initial_states(b"x, v\n-0.5, 0\n# three\n0.1, 2\n")?[1].values(), [0.1, 2.0]);
/// assert_eq!(initial_states(b"1\n2, two\n").unwrap_err(), "CSV error: record 1 (line: 2, byte: 2): found record \
///     with 2 fields, but the previous record has 1 fields");
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// What is wrong, and in which line.
pub fn initial_states(bytes: &[u8]) -> Result<Vec<InitialState>, String> {
    let reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .from_reader(bytes);
    let mut states = Vec::new();
    for (index, record) in reader.into_records().enumerate() {
        let record = record.map_err(|error| error.to_string())?;
        let numbers: Result<Vec<f64>, &str> = record
            .iter()
            .map(|field| field.parse().ok().filter(|v: &f64| v.is_finite()).ok_or(field))
            .collect();
        match numbers {
            Ok(values) => states.push(InitialState::new(values)),
            Err(_) if index == 0 && record.iter().all(|field| field.parse::<f64>().is_err()) => {}
            Err(field) => {
                let line = record.position().map_or(0, csv::Position::line);
                return Err(format!("line {line}: {field:?} is not a finite number"));
            }
        }
        if states.len() > MOST_STATES {
            return Err(format!("it has more than {MOST_STATES} initial states"));
        }
    }
    if states.is_empty() { Err("it holds no initial state".to_owned()) } else { Ok(states) }
}

//! `broccoli store`: what is remembered in a file.

use std::fmt::Write as _;
use std::path::PathBuf;

use broccoli_export::number::grouped;
use broccoli_store::{Contents, Found, Identity, StoreError, contents};
use clap::Args;
use serde::Serialize;

use crate::Done;
use crate::complaint::Complaint;
use crate::output;

/// The most memory that is taken to look at a file.
const MEMORY: usize = 4 << 30;

/// Tell what a file holds that `--remember` has written
///
/// The file is not changed, and may be in use.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct StoreCommand {
    /// The file
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Print it as one JSON object
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  broccoli solve mountain-car --remember car.store
  broccoli store car.store

Exit codes: 0; 2 if the file is not a store.";

#[derive(Serialize)]
struct StoreJson<'a> {
    version: u32,
    identity: &'a Identity,
    observed_values: usize,
    initial_states: usize,
    transitions: usize,
    states: usize,
    bytes: u64,
    blocks: u64,
    /// Places that are damaged, the bytes there, and what depends on them.
    refused: u64,
    refused_bytes: u64,
    refused_answers: u64,
    /// Bytes at the end that are not a whole block.
    torn_bytes: u64,
    /// Whether all of it was read.
    is_complete: bool,
    /// The process that is writing to it.
    writer: Option<u32>,
}

impl StoreCommand {
    /// Runs the command.
    pub fn run(&self) -> Done {
        let path = &self.file;
        let contents = contents(path, MEMORY).map_err(|error| {
            let error = match error {
                StoreError::NotOne => "it is not a store".to_owned(),
                error => error.to_string(),
            };
            Complaint::input(format!("FILE, {path:?}: {error}"))
        })?;
        if self.json {
            output::print_json(&as_json(&contents))?;
        } else {
            output::print(&as_text(&contents))?;
        }
        Ok(0)
    }
}

fn as_json(contents: &Contents) -> StoreJson<'_> {
    let Found { blocks, refused, refused_bytes, orphans, torn, is_full, .. } = contents.found;
    StoreJson {
        version: 1,
        identity: &contents.identity,
        observed_values: contents.observed,
        initial_states: contents.initial_states,
        transitions: contents.transitions,
        states: contents.states,
        bytes: contents.bytes,
        blocks,
        refused,
        refused_bytes,
        refused_answers: orphans,
        torn_bytes: torn,
        is_complete: !is_full,
        writer: contents.writer,
    }
}

fn as_text(contents: &Contents) -> String {
    let Contents { identity, initial_states, transitions, states, bytes, writer, found, .. } = contents;
    let mut text = String::new();
    let width = identity.keys().map(String::len).max().unwrap_or(0);
    for (name, value) in identity {
        let _ = writeln!(text, "{name:width$}  {value}");
    }
    let count = |count: usize| grouped(count as u64);
    let _ = writeln!(
        text,
        "\n{} answers to steps, from {} initial states; {} saved states; {} bytes in {} blocks",
        count(*transitions),
        count(*initial_states),
        count(*states),
        grouped(*bytes),
        grouped(found.blocks)
    );
    if let Some(at) = found.refused_at {
        let _ = writeln!(
            text,
            "Damaged in {} places, the first at byte {at}: {} bytes are refused, and {} answers that depend on them",
            grouped(found.refused),
            grouped(found.refused_bytes),
            grouped(found.orphans)
        );
    }
    match (writer, found.torn) {
        (Some(process), _) => {
            let _ = writeln!(text, "Process {process} is writing to it");
        }
        (None, 0) => {}
        (None, torn) => {
            let _ = writeln!(
                text,
                "It ends within a block, as after a crash: the last {} bytes are cut off by whoever writes next",
                grouped(torn)
            );
        }
    }
    if found.is_full {
        let _ = writeln!(text, "There is more than could be read with the memory that is allowed");
    }
    text
}

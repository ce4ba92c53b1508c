//! Reading results that were saved, and writing what is made of them.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use broccoli_export::json::ResultJson;
use broccoli_export::saved::Saved;

use crate::complaint::Complaint;
use crate::output;

/// The whole result in a file; `-` is standard input.
pub fn read_result(path: &Path) -> Result<ResultJson, Complaint> {
    let help = "a result is what `broccoli solve --json` prints and `broccoli solve --save` writes";
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        io::stdin().lock().read_to_end(&mut bytes).map(|_| ())
    } else {
        fs::read(path).map(|read| bytes = read)
    };
    read.map_err(|error| about(path, format!("it cannot be read: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|_| about(path, "it is not UTF-8 text"))?;
    match Saved::read(&text).map_err(|error| about(path, error).help(help))? {
        Saved::Result(result) => Ok(*result),
        Saved::Tree(_) => {
            Err(about(path, "it holds a tree alone, which does not say what it is for").help(help))
        }
    }
}

/// A complaint about a file with a result.
pub fn about(path: &Path, what: impl std::fmt::Display) -> Complaint {
    match path.to_str() {
        Some("-") => Complaint::input(format!("RESULT.json, standard input: {what}")),
        _ => Complaint::input(format!("RESULT.json, {path:?}: {what}")),
    }
}

/// Writes a file that `option` names; `-` is standard output.
pub fn write(option: &str, path: &Path, bytes: &[u8]) -> Result<(), Complaint> {
    if path == Path::new("-") {
        let mut out = io::stdout().lock();
        return output::check("standard output", out.write_all(bytes).and_then(|()| out.flush()));
    }
    fs::write(path, bytes)
        .map_err(|error| Complaint::input(format!("{option} {path:?} cannot be written: {error}")))
}

/// Refuses to write over a file that is read.
pub fn check_apart(option: &str, written: &Path, read: &Path) -> Result<(), Complaint> {
    let canonical = |path: &Path| path.canonicalize().ok();
    match (canonical(written), canonical(read)) {
        (Some(a), Some(b)) if a == b => {
            Err(Complaint::input(format!("{option} {written:?} would overwrite the result")))
        }
        _ => Ok(()),
    }
}

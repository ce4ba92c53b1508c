//! Writing results. A reader that went away (`| head`) is no error; a full disk is.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use broccoli_core::shown::shown_lines;
use broccoli_export::json::harmless;
use broccoli_export::whole;
use serde::Serialize;

use crate::complaint::Complaint;

/// Writes text to standard output. Names in it are safe to show already; should one be forgotten, at least
/// nothing but line ends controls the terminal.
pub fn print(text: &str) -> Result<(), Complaint> {
    let mut out = io::stdout().lock();
    check("standard output", out.write_all(shown_lines(text).as_bytes()).and_then(|()| out.flush()))
}

/// Writes one JSON value and a line end to standard output.
pub fn print_json(value: &impl Serialize) -> Result<(), Complaint> {
    print(&json(value)?)
}

fn json(value: &impl Serialize) -> Result<String, Complaint> {
    let text = serde_json::to_string(value)
        .map_err(|error| Complaint::other(format!("the result cannot be written as JSON: {error}")))?;
    Ok(harmless(text) + "\n")
}

/// Writes a file that `option` names, as a whole or not at all; `-` is standard output.
pub fn write(option: &str, path: &Path, bytes: &[u8]) -> Result<(), Complaint> {
    if path == Path::new("-") {
        let mut out = io::stdout().lock();
        return check("standard output", out.write_all(bytes).and_then(|()| out.flush()));
    }
    whole::replace(path, bytes)
        .map_err(|error| Complaint::input(format!("{option} {path:?} cannot be written: {error}")))
}

/// Finds out whether a file that `option` names can be written, and leaves what is there as it is.
pub fn check_writable(option: &str, path: &Path) -> Result<(), Complaint> {
    let tried = match fs::metadata(path) {
        _ if path == Path::new("-") => Ok(()),
        Ok(there) if there.is_file() => fs::OpenOptions::new().append(true).open(path).map(drop),
        Ok(there) if there.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        // A pipe or a device: to open it may already mean something.
        Ok(_) => Ok(()),
        // What a link points to is made when there is something to write.
        Err(_) if path.is_symlink() => Ok(()),
        Err(_) => fs::File::create_new(path).and_then(|_| fs::remove_file(path)),
    };
    tried.map_err(|error| Complaint::input(format!("{option} {path:?} cannot be written: {error}")))
}

/// Writes one JSON value and a line end to a file that `option` names.
pub fn write_json(option: &str, path: &Path, value: &impl Serialize) -> Result<(), Complaint> {
    write(option, path, json(value)?.as_bytes())
}

/// Turns a failure to write into a complaint that names the place.
pub fn check(place: &str, written: io::Result<()>) -> Result<(), Complaint> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Complaint::other(format!("cannot write to {place}: {error}")))
        }
        _ => Ok(()),
    }
}

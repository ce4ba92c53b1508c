//! Writing results. A reader that went away (`| head`) is no error; a full disk is.

use std::io::{self, Write};

use serde::Serialize;

use crate::complaint::Complaint;

/// Writes text to standard output.
pub fn print(text: &str) -> Result<(), Complaint> {
    let mut out = io::stdout().lock();
    check("standard output", out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Writes one JSON value and a line end to standard output.
pub fn print_json(value: &impl Serialize) -> Result<(), Complaint> {
    let mut text = serde_json::to_string(value)
        .map_err(|error| Complaint::other(format!("the result cannot be written as JSON: {error}")))?;
    text.push('\n');
    print(&text)
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

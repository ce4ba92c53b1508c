//! What is said on standard error when something is wrong, and the exit code that goes with it.

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use broccoli_core::shown::{shown, shown_lines};
use broccoli_problem::Diagnosis;
use clap::error::ErrorKind;
use miette::{GraphicalReportHandler, GraphicalTheme};

use crate::screen::{note, write_above};

/// The exit code for bad usage and bad input.
pub const BAD_INPUT: u8 = 2;
/// The exit code for anything else that went wrong.
pub const OTHER: u8 = 1;

/// One message, perhaps with a line of help, and an exit code.
#[derive(Debug)]
pub struct Complaint {
    code: u8,
    message: String,
    help: Option<String>,
    /// Whether the message is complete as it is.
    is_drawn: bool,
}

impl Complaint {
    /// Something about what the user gave: an option, or the contents of a file.
    pub fn input(message: impl Into<String>) -> Self {
        Complaint::new(BAD_INPUT, message.into())
    }

    /// Anything else: the system failed, the disk is full.
    pub fn other(message: impl Into<String>) -> Self {
        Complaint::new(OTHER, message.into())
    }

    /// Messages quote files and programs: whatever is in them, they are one line.
    fn new(code: u8, message: String) -> Self {
        Complaint { code, message: shown(&message).into_owned(), help: None, is_drawn: false }
    }

    /// Something about a problem file, with the lines that are meant if there are some.
    pub fn diagnosis(diagnosis: &Diagnosis) -> Self {
        let colours = io::stderr().is_terminal();
        let theme = if colours { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
        let handler = GraphicalReportHandler::new_themed(theme).with_width(100);
        let mut drawing = String::new();
        if diagnosis.line_and_column().is_none() || handler.render_report(&mut drawing, diagnosis).is_err() {
            return Complaint::input(diagnosis.to_string());
        }
        let message = format!("error: {}", drawing.trim_start().trim_start_matches("× "));
        Complaint { code: BAD_INPUT, message, help: None, is_drawn: true }
    }

    /// Adds a line that says what to do.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(shown(&help.into()).into_owned());
        self
    }

    /// Writes the message to standard error, in the colours of the messages about usage.
    pub fn report(&self, command: &clap::Command) -> ExitCode {
        if self.is_drawn {
            write_above(self.message.trim_end());
            return ExitCode::from(self.code);
        }
        let mut text = format!("{}\n", self.message);
        if let Some(help) = &self.help {
            text += &format!("help: {help}\n");
        }
        let error = clap::Error::raw(ErrorKind::ValueValidation, text).with_cmd(command);
        // If standard error is gone there is nobody to tell.
        let _ = error.print();
        ExitCode::from(self.code)
    }
}

/// Reports what the parser of the arguments has to say: an error, or the help or version asked for.
pub fn usage(error: &clap::Error) -> ExitCode {
    let plain = error.render().to_string();
    let printed = if error.use_stderr() && shown_lines(&plain) != plain {
        write_above(shown_lines(&plain).trim_end());
        Ok(())
    } else {
        error.print()
    };
    match printed {
        Err(failure) if !error.use_stderr() && failure.kind() != io::ErrorKind::BrokenPipe => {
            note(format_args!("error: cannot write to standard output: {failure}"));
            ExitCode::from(OTHER)
        }
        _ if error.use_stderr() => ExitCode::from(BAD_INPUT),
        _ => ExitCode::SUCCESS,
    }
}

//! What is wrong with a problem file, with its place in the text.

use std::fmt;
use std::ops::Range;
use std::path::Path;

use broccoli_core::shown::{is_control, shown, shown_lines};
use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode, SourceSpan};

/// Something wrong at some bytes of the text, before the text is attached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Flaw {
    pub(crate) place: Range<usize>,
    pub(crate) message: String,
    pub(crate) label: String,
    pub(crate) help: Option<String>,
}

impl Flaw {
    pub(crate) fn new(place: Range<usize>, message: impl Into<String>) -> Self {
        Flaw { place, message: message.into(), label: "here".to_owned(), help: None }
    }

    /// A flaw at some bytes of a text between quotation marks; of the whole text, if it has escapes.
    pub(crate) fn inside(
        quoted: Range<usize>,
        text: &str,
        part: Range<usize>,
        message: impl Into<String>,
    ) -> Self {
        let start = quoted.start + 1;
        let plain = quoted.len() == text.len() + 2;
        Flaw::new(if plain { start + part.start..start + part.end } else { quoted }, message)
    }

    pub(crate) fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// The text with what would control a terminal as its code, and where in it the place is then.
fn drawable(text: &str, place: Range<usize>) -> (String, Range<usize>) {
    // Tabs are drawn as spaces, and the end of a line may have a carriage return.
    let part = |part: &str| shown_lines(&part.replace("\r\n", "\n").replace('\t', " ")).into_owned();
    let parts = (text.get(..place.start), text.get(place.clone()), text.get(place.end..));
    match parts {
        _ if !text.contains(|c| c != '\n' && is_control(c)) => (text.to_owned(), place),
        (Some(before), Some(meant), Some(after)) => {
            let (before, meant) = (part(before), part(meant));
            let place = before.len()..before.len() + meant.len();
            (before + &meant + &part(after), place)
        }
        // A place that cuts a character in two.
        _ => (part(text), 0..0),
    }
}

/// Why a problem file cannot be used. As a [`miette::Diagnostic`] it shows the lines that are meant.
#[derive(Debug)]
pub struct Diagnosis {
    message: String,
    help: Option<String>,
    place: Option<Box<(NamedSource<String>, LabeledSpan)>>,
    line_and_column: Option<(usize, usize)>,
}

impl Diagnosis {
    /// Something about the file as a whole.
    pub(crate) fn of_file(path: &Path, what: impl fmt::Display) -> Self {
        let message = format!("{}: {what}", path.display());
        Diagnosis { message: shown(&message).into_owned(), help: None, place: None, line_and_column: None }
    }

    /// Something at a place in the text.
    pub(crate) fn at(path: &Path, text: &str, flaw: Flaw) -> Self {
        let place = flaw.place.start.min(text.len())..flaw.place.end.min(text.len());
        let before = text.get(..place.start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let (text, place) = drawable(text, place);
        let label = shown(&flaw.label).into_owned();
        let span = LabeledSpan::new_with_span(Some(label), SourceSpan::from(place));
        let source = NamedSource::new(shown(&path.display().to_string()), text);
        Diagnosis {
            message: shown(&flaw.message).into_owned(),
            help: flaw.help.map(|help| shown(&help).into_owned()),
            place: Some(Box::new((source, span))),
            line_and_column: Some((line, column)),
        }
    }

    /// The line and column that are meant, counted from 1.
    pub fn line_and_column(&self) -> Option<(usize, usize)> {
        self.line_and_column
    }
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)
    }
}

impl std::error::Error for Diagnosis {}

impl Diagnostic for Diagnosis {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.place.as_ref().map(|place| &place.0 as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let label = self.place.as_ref().map(|place| place.1.clone())?;
        Some(Box::new(std::iter::once(label)))
    }
}

//! Reads back what was saved: the whole result of a search, or a tree alone.

use std::fmt;

use broccoli_core::tree::TreeJson;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::json::{ResultJson, VERSION};

/// The most levels of braces and brackets that are read; deeper text is refused, not followed.
pub const MAX_NESTING: usize = 127;

/// Text that was saved by `solve --json`, or a tree that was cut out of it or written by hand.
#[derive(Clone, Debug, PartialEq)]
pub enum Saved {
    /// A tree, still to be checked against a problem.
    Tree(TreeJson),
    /// A whole result, its problem and tree still to be checked.
    Result(Box<ResultJson>),
}

/// Why text is neither a tree nor a result.
#[derive(Debug, thiserror::Error)]
pub enum SavedError {
    /// There is nothing but white space.
    #[error("it is empty")]
    Empty,
    /// The text ends in the middle of a value.
    #[error("it ends too early, at line {line} column {column}: is it truncated?")]
    Truncated {
        /// Where it ends.
        line: usize,
        /// Where it ends.
        column: usize,
    },
    /// Too many levels of braces or brackets.
    #[error("it is nested more than {MAX_NESTING} levels deep")]
    Nesting,
    /// The text is not JSON.
    #[error("it cannot be read as JSON: {0}")]
    Syntax(#[source] serde_json::Error),
    /// The text is JSON, but no object.
    #[error("it holds {0}, not an object")]
    NotAnObject(&'static str),
    /// A version that is not known.
    #[error("it has version {0}: this program reads version {VERSION}")]
    Version(String),
    /// A field is missing, unknown or of the wrong type.
    #[error("it is not {what}: {}", plain(error))]
    Fields {
        /// What the object was taken for.
        what: &'static str,
        /// What is wrong, and where.
        #[source]
        error: serde_json::Error,
    },
}

impl Saved {
    /// Reads JSON text. An object with one of the keys `version`, `problem` or `tree` is taken for a
    /// result, any other for a tree.
    ///
    /// ```
    /// use broccoli_export::saved::Saved;
    /// assert!(matches!(Saved::read(r#"{"action":0}"#)?, Saved::Tree(_)));
    /// let error = Saved::read(r#"{"action":0"#).unwrap_err();
    /// assert_eq!(error.to_string(), "it ends too early, at line 1 column 11: is it truncated?");
    /// # Ok::<(), broccoli_export::saved::SavedError>(())
    /// ```
    ///
    /// # Errors
    /// When the text is neither; the message goes on after the name of the file.
    pub fn read(text: &str) -> Result<Saved, SavedError> {
        // Some editors begin a file with a byte order mark.
        let text = text.trim_start_matches('\u{feff}');
        if text.trim().is_empty() {
            return Err(SavedError::Empty);
        }
        let (is_result, version) = match serde_json::from_str(text).map_err(syntax)? {
            Kind::Object { is_result, version } => (is_result, version),
            Kind::Whole(_) => return Err(SavedError::NotAnObject("a number")),
            Kind::Text(_) => return Err(SavedError::NotAnObject("a string")),
            Kind::Other(what) => return Err(SavedError::NotAnObject(what)),
        };
        // Read again from the text, now that it is known what for.
        if !is_result {
            let fields = |error| SavedError::Fields { what: "a tree", error };
            return serde_json::from_str(text).map(Saved::Tree).map_err(fields);
        }
        match version.as_deref() {
            Some(Kind::Whole(version)) if *version == u64::from(VERSION) => {}
            Some(version) => return Err(SavedError::Version(version.to_string())),
            None => {}
        }
        let fields = |error| SavedError::Fields { what: "a result of `solve --json`", error };
        serde_json::from_str(text).map(Saved::Result).map_err(fields)
    }
}

/// What JSON text is, found without keeping any of it.
enum Kind {
    /// An object: whether it has a key of results, and its version if it has one.
    Object { is_result: bool, version: Option<Box<Kind>> },
    /// A whole number of at least 0.
    Whole(u64),
    /// Text, or its beginning.
    Text(String),
    /// Something else.
    Other(&'static str),
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Object { .. } => write!(f, "an object"),
            Kind::Whole(number) => write!(f, "{number}"),
            Kind::Text(text) => write!(f, "{text:?}"),
            Kind::Other(what) => write!(f, "{what}"),
        }
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Look)
    }
}

struct Look;

impl<'de> Visitor<'de> for Look {
    type Value = Kind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "any value")
    }

    fn visit_unit<E>(self) -> Result<Kind, E> {
        Ok(Kind::Other("null"))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Kind, E> {
        Ok(Kind::Other("a truth value"))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Kind, E> {
        Ok(Kind::Whole(number))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Kind, E> {
        Ok(Kind::Other("a number"))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Kind, E> {
        Ok(Kind::Other("a number"))
    }

    fn visit_str<E>(self, text: &str) -> Result<Kind, E> {
        Ok(Kind::Text(text.chars().take(20).collect()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Kind, A::Error> {
        while sequence.next_element::<Kind>()?.is_some() {}
        Ok(Kind::Other("an array"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Kind, A::Error> {
        let (mut is_result, mut version) = (false, None);
        while let Some(key) = map.next_key::<String>()? {
            is_result |= ["version", "problem", "tree"].contains(&key.as_str());
            let value = map.next_value::<Kind>()?;
            if key == "version" {
                version = Some(Box::new(value));
            }
        }
        Ok(Kind::Object { is_result, version })
    }
}

fn syntax(error: serde_json::Error) -> SavedError {
    if error.is_eof() {
        SavedError::Truncated { line: error.line(), column: error.column() }
    } else if error.to_string().starts_with("recursion limit exceeded") {
        SavedError::Nesting
    } else {
        SavedError::Syntax(error)
    }
}

/// The message of the parser, without the names of types that only a programmer knows.
fn plain(error: &serde_json::Error) -> String {
    let words = [
        ("expected usize", "expected a whole number of at least 0"),
        ("expected u64", "expected a whole number of at least 0"),
        ("expected u32", "expected a whole number of at least 0"),
        ("expected f64", "expected a number"),
        ("expected struct TreeJson", "expected an object"),
        ("expected struct ProblemJson", "expected an object"),
    ];
    words.iter().fold(error.to_string(), |text, (technical, plain)| text.replace(technical, plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        Saved::read(text).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_tree_and_no_result_is_refused_with_a_reason() {
        let nested = "[".repeat(100_000);
        let messages = [
            "",
            " \n",
            "{",
            "[1]",
            "null",
            "tree",
            "{\"action\":0}{}",
            &nested,
            r#"{"version":2}"#,
            r#"{"version":1}"#,
            r#"{"feature":-1}"#,
            r#"{"action":0,"action":0}"#,
            r#"{"leaf":0}"#,
            r#"{"feature":0,"threshold":1,"true":1,"false":0}"#,
            r#"{"threshold":1e999}"#,
            r#"{"threshold":NaN}"#,
        ]
        .map(message);
        insta::assert_snapshot!(messages.join("\n"));
    }

    #[test]
    fn a_byte_order_mark_is_no_obstacle() {
        assert!(Saved::read("\u{feff}{\"action\":1}").is_ok());
    }
}

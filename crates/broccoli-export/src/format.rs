//! Every form that a tree can be exported in, by name.

use crate::code::{self, FixedError, Program};
use crate::drawing::{self, PngError, Theme};
use crate::json::harmless;
use crate::policy::Policy;

/// A form of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Drawn with letters.
    Text,
    /// The tree alone as JSON, as `broccoli simulate` reads it.
    Json,
    /// Graphviz.
    Dot,
    /// A picture in vectors.
    Svg,
    /// A picture in pixels.
    Png,
    /// A picture for LaTeX.
    Tikz,
    /// C on `double`.
    C,
    /// C on 32-bit fixed-point numbers.
    CFixed,
    /// Rust.
    Rust,
    /// Python.
    Python,
    /// Structured Text (IEC 61131-3).
    StructuredText,
    /// ONNX.
    Onnx,
}

/// What some formats can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The surroundings of pictures.
    pub theme: Theme,
    /// Bits behind the point, for fixed-point numbers.
    pub fraction_bits: u32,
}

impl Default for Options {
    fn default() -> Self {
        Options { theme: Theme::Auto, fraction_bits: 16 }
    }
}

/// Why a tree cannot be exported in a format.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The thresholds have no fixed-point form.
    #[error(transparent)]
    Fixed(#[from] FixedError),
    /// The picture cannot be drawn.
    #[error(transparent)]
    Png(#[from] PngError),
    /// A derived dimension cannot be computed.
    #[error(transparent)]
    Feature(#[from] code::FeatureError),
    /// The tree cannot be written as JSON.
    #[error("the tree cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 12] = [
        Format::Text,
        Format::Json,
        Format::Dot,
        Format::Svg,
        Format::Png,
        Format::Tikz,
        Format::C,
        Format::CFixed,
        Format::Rust,
        Format::Python,
        Format::StructuredText,
        Format::Onnx,
    ];

    /// The name on the command line, and the extension of its files.
    pub fn name(self) -> (&'static str, &'static str) {
        match self {
            Format::Text => ("text", "txt"),
            Format::Json => ("json", "json"),
            Format::Dot => ("dot", "dot"),
            Format::Svg => ("svg", "svg"),
            Format::Png => ("png", "png"),
            Format::Tikz => ("tikz", "tex"),
            Format::C => ("c", "c"),
            Format::CFixed => ("c-fixed", "c"),
            Format::Rust => ("rust", "rs"),
            Format::Python => ("python", "py"),
            Format::StructuredText => ("st", "st"),
            Format::Onnx => ("onnx", "onnx"),
        }
    }

    /// The format that files with this extension usually have.
    ///
    /// ```
    /// use broccoli_export::format::Format;
    /// assert_eq!(Format::of_extension("py"), Some(Format::Python));
    /// assert_eq!(Format::of_extension("doc"), None);
    /// ```
    pub fn of_extension(extension: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name().1.eq_ignore_ascii_case(extension))
    }

    /// Whether the format is not text.
    pub fn is_binary(self) -> bool {
        matches!(self, Format::Png | Format::Onnx)
    }

    /// The tree in this format.
    ///
    /// # Errors
    /// When the tree has no such form; see [`ExportError`].
    pub fn export(self, policy: &Policy, options: Options) -> Result<Vec<u8>, ExportError> {
        let program = || Program::new(policy);
        let text = match self {
            Format::Text => {
                let about =
                    policy.about().iter().map(|line| crate::text::wrapped(line) + "\n\n").collect::<String>();
                format!("{about}{}", policy.tree.drawing(&policy.problem))
            }
            Format::Json => {
                harmless(serde_json::to_string_pretty(&policy.tree.to_json(&policy.problem))?) + "\n"
            }
            Format::Dot => drawing::dot(policy),
            Format::Svg => drawing::svg(policy, options.theme),
            Format::Png => return Ok(drawing::png(policy, options.theme)?),
            Format::Tikz => drawing::tikz(policy),
            Format::C => code::c(&program()?),
            Format::CFixed => code::c_fixed(&program()?, options.fraction_bits)?,
            Format::Rust => code::rust(&program()?),
            Format::Python => code::python(&program()?),
            Format::StructuredText => code::structured_text(&program()?)?,
            Format::Onnx => return Ok(code::onnx(&program()?)?),
        };
        Ok(text.into_bytes())
    }
}

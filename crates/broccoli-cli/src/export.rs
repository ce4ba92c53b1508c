//! `broccoli export`: a tree as a program, a picture or a document.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use broccoli_export::code::MAX_FRACTION_BITS;
use broccoli_export::drawing::Theme;
use broccoli_export::format::{Format, Options};
use broccoli_export::policy::Policy;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};

use crate::Done;
use crate::complaint::Complaint;
use crate::file::TreeFile;
use crate::numbers::whole;
use crate::output;

/// Write the tree of a saved result as a program, a picture or a document
///
/// Every program decides exactly like the tree, and says in its first lines what problem it is for
/// and what is proved about it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Export {
    /// The file with the result; - reads standard input
    #[arg(value_name = "RESULT.json")]
    result: PathBuf,

    /// The format [default: what the name of the output says]
    #[arg(long, short, value_parser = PossibleValuesParser::new(Format::ALL.map(|format| format.name().0)))]
    format: Option<String>,

    /// The file to write; - writes to standard output [default: -]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// The colours of an SVG or PNG
    #[arg(long, default_value = "auto")]
    theme: ThemeName,

    /// The bits behind the point of the 32-bit numbers of c-fixed, 0 to 31 [default: 16]
    #[arg(long, value_name = "B", allow_hyphen_values = true,
          value_parser = whole::<u32>(0..=u64::from(MAX_FRACTION_BITS)))]
    fraction_bits: Option<u32>,
}

const EXAMPLES: &str = "\
Formats:
  text, json, dot (Graphviz), svg, png, tikz (LaTeX), c, c-fixed (C without floating point), rust,
  python, st (Structured Text, IEC 61131-3), onnx

Examples:
  broccoli solve cartpole --save best.json
  broccoli export best.json -o policy.c
  broccoli export best.json -f c-fixed --fraction-bits 20 -o policy.c
  broccoli export best.json -o tree.svg --theme dark";

/// The surroundings of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ThemeName {
    /// Light; an SVG is dark where its viewer prefers that
    Auto,
    /// Light
    Light,
    /// Dark
    Dark,
}

impl Export {
    /// Runs the command.
    pub fn run(&self) -> Done {
        let path = self.output.as_deref().unwrap_or(Path::new("-"));
        let format = self.format(path)?;
        if self.fraction_bits.is_some() && format != Format::CFixed {
            return Err(Complaint::input("--fraction-bits works with --format c-fixed only"));
        }
        let on_stdout = path == Path::new("-");
        if on_stdout && format.is_binary() && io::stdout().is_terminal() {
            let message = format!("{} is not for a terminal", format.name().0);
            return Err(Complaint::input(message).help("name a file with --output"));
        }
        let file = TreeFile { option: "RESULT.json", path: &self.result };
        file.check_apart("--output", path)?;
        let policy = Policy::new(&file.result()?).map_err(|error| file.complaint(error))?;
        let theme = match self.theme {
            ThemeName::Auto => Theme::Auto,
            ThemeName::Light => Theme::Light,
            ThemeName::Dark => Theme::Dark,
        };
        let mut options = Options { theme, ..Options::default() };
        options.fraction_bits = self.fraction_bits.unwrap_or(options.fraction_bits);
        let bytes = format.export(&policy, options).map_err(|error| Complaint::input(error.to_string()))?;
        output::write("--output", path, &bytes)?;
        Ok(0)
    }

    fn format(&self, output: &Path) -> Result<Format, Complaint> {
        if let Some(name) = &self.format {
            let found = Format::ALL.into_iter().find(|format| format.name().0 == name);
            return found.ok_or_else(|| Complaint::input(format!("there is no format {name:?}")));
        }
        let extension = output.extension().and_then(|extension| extension.to_str());
        extension.and_then(Format::of_extension).ok_or_else(|| {
            let names = Format::ALL.map(|format| format.name().0).join(", ");
            let message = match extension {
                Some(extension) => format!("no format has the extension {extension:?}"),
                None => "neither --format nor the name of the output says which format".to_owned(),
            };
            Complaint::input(message).help(format!("--format is one of {names}"))
        })
    }
}

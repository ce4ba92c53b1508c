//! `broccoli init`: writes files to start from.

use std::path::{Path, PathBuf};

use broccoli_export::whole;
use broccoli_problem::{Kind, SCHEMA, starter};
use clap::Args;

use crate::Done;
use crate::complaint::Complaint;
use crate::environments::find;
use crate::output;

/// Write a commented problem file to start from, and a small system if it is to be your own
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Init {
    /// The problem file to write; its name ends in .toml
    #[arg(value_name = "FILE.toml", default_value = "plant.toml")]
    file: PathBuf,

    /// About a built-in environment; this one if nothing is chosen [default: mountain-car]
    #[arg(long, value_name = "NAME", group = "kind")]
    environment: Option<String>,

    /// About a program, with a small one in Python beside it
    #[arg(long, group = "kind")]
    subprocess: bool,

    /// About a shared library, with a small one in C beside it
    #[arg(long, group = "kind")]
    plugin: bool,

    /// Print the JSON Schema of problem files instead, for editors
    #[arg(long, group = "kind")]
    schema: bool,
}

const EXAMPLES: &str = "\
Examples:
  broccoli init plant.toml --subprocess && broccoli solve plant.toml
  broccoli init swing.toml --environment pendulum
  broccoli init --schema > problem.schema.json";

impl Init {
    /// Runs the command.
    pub fn run(&self) -> Done {
        if self.schema {
            output::print(SCHEMA)?;
            return Ok(0);
        }
        let kind = match &self.environment {
            _ if self.subprocess => Kind::Subprocess,
            _ if self.plugin => Kind::Plugin,
            name => Kind::Environment(find(name.as_deref().unwrap_or("mountain-car"))?),
        };
        let name = self.file.file_stem().and_then(|stem| stem.to_str()).filter(|_| {
            self.file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
        });
        let Some(name) = name else {
            return Err(Complaint::input(format!(
                "{:?}: the name of a problem file ends in .toml",
                self.file
            )));
        };
        let folder = self.file.parent().unwrap_or(Path::new(""));
        let mut files = starter(kind, name);
        if let Some((first, _)) = files.first_mut() {
            *first = self.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        }
        let files: Vec<(PathBuf, String)> =
            files.into_iter().map(|(file, text)| (folder.join(file), text)).collect();
        // All or nothing: a half-written start would only confuse.
        if let Some((path, _)) = files.iter().find(|(path, _)| path.exists()) {
            return Err(Complaint::input(format!("{path:?} is there already, and nothing was written"))
                .help("choose another name or another folder"));
        }
        let contents: Vec<_> = files.iter().map(|(path, text)| (&**path, text.as_bytes())).collect();
        whole::create_all(&contents)
            .map_err(|(path, error)| Complaint::input(format!("{path:?} cannot be written: {error}")))?;
        for (path, _) in &files {
            output::print(&format!("wrote {}\n", path.display()))?;
        }
        let shown = self.file.display();
        let next = match kind {
            Kind::Plugin => {
                let stem = folder.join(name);
                let stem = stem.display();
                format!("\nNext: cc -O2 -shared -fPIC -o {stem}.so {stem}.c -lm && broccoli check {shown}\n")
            }
            Kind::Subprocess => format!("\nNext: broccoli check {shown} && broccoli solve {shown}\n"),
            Kind::Environment(_) => format!("\nNext: broccoli solve {shown}\n"),
        };
        output::print(&next)?;
        Ok(0)
    }
}

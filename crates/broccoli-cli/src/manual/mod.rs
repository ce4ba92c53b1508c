//! `broccoli manual`: man pages, or the reference of the book (`docs/reference`), from the definitions that
//! the command itself works with.

mod commands;
mod man;
mod problem_file;

use std::fs;
use std::path::PathBuf;

use clap::{Args, CommandFactory, ValueEnum};

use crate::complaint::Complaint;
use crate::{Arguments, Done, output};

/// Write the manual into a folder: a man page per command, or the reference as Markdown
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Manual {
    /// The folder; it is made if it is not there
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// What to write
    #[arg(long, default_value = "man")]
    format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Man pages, section 1
    Man,
    /// Every command and every key of problem files, as two pages of Markdown
    Markdown,
}

const EXAMPLES: &str = "\
Examples:
  broccoli manual ~/.local/share/man/man1 && man broccoli-solve
  broccoli manual docs/reference --format markdown";

impl Manual {
    /// Runs the command.
    pub fn run(&self) -> Done {
        let mut command = Arguments::command().disable_help_subcommand(true);
        command.build();
        let pages = match self.format {
            Format::Man => man::pages(&command)
                .map_err(|error| Complaint::other(format!("a man page cannot be made: {error}")))?,
            Format::Markdown => vec![
                ("commands.md".to_owned(), commands::page(&command)),
                ("problem-file.md".to_owned(), problem_file::page()?),
            ],
        };
        fs::create_dir_all(&self.folder)
            .map_err(|error| Complaint::input(format!("{:?} cannot be made: {error}", self.folder)))?;
        for (name, text) in pages {
            output::write("the page", &self.folder.join(name), text.as_bytes())?;
        }
        Ok(0)
    }
}

/// What stands below the options in the help of a command, cut into its parts: a heading without its colon,
/// and the lines below it.
fn closing(command: &clap::Command) -> Vec<(String, Vec<String>)> {
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut parts: Vec<(String, Vec<String>)> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        match (line.strip_prefix("  "), parts.last_mut()) {
            (Some(line), Some((_, lines))) => lines.push(line.trim_end().to_owned()),
            _ => match line.split_once(':') {
                Some((heading, "")) => parts.push((heading.to_owned(), Vec::new())),
                Some((heading, rest)) => parts.push((heading.to_owned(), vec![rest.trim().to_owned()])),
                None => parts.push((String::new(), vec![line.to_owned()])),
            },
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[test]
    fn examples_are_commands_that_exist() {
        let root = Arguments::command();
        let mut count = 0;
        for command in std::iter::once(&root).chain(root.get_subcommands()) {
            let examples = closing(command).into_iter().filter(|(heading, _)| heading == "Examples");
            for line in examples.flat_map(|(_, lines)| lines) {
                // Behind some blanks stands what the example does.
                let typed = line.split("   ").next().unwrap_or_default();
                let commands = typed.split(" && ").flat_map(|typed| typed.split(" | "));
                for typed in commands.filter(|typed| typed.starts_with("broccoli ")) {
                    let words = typed.split(" > ").next().unwrap_or_default().split(' ');
                    if let Err(error) = Arguments::try_parse_from(words) {
                        panic!("{typed}: {error}");
                    }
                    count += 1;
                }
            }
        }
        assert!(count > 30, "only {count} examples were found");
    }

    #[test]
    fn the_end_of_a_help_is_cut_into_parts() {
        let text = "Examples:\n  a --b\n  c\n\nExit codes: those of `a`";
        let parts = closing(&clap::Command::new("a").after_help(text));
        assert_eq!(parts[0], ("Examples".to_owned(), vec!["a --b".to_owned(), "c".to_owned()]));
        assert_eq!(parts[1], ("Exit codes".to_owned(), vec!["those of `a`".to_owned()]));
    }
}

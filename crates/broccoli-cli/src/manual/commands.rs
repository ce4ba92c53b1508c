//! The reference of all commands, as Markdown.

use std::fmt::Write;

use clap::builder::StyledStr;
use clap::{Arg, Command};

use super::closing;

const HEAD: &str = "\
# Commands

<!-- Written by `cargo xtask book`. Edit the definitions in crates/broccoli-cli/src instead. -->

`broccoli COMMAND --help` shows the same, `broccoli manual DIR` writes it as man pages, and `broccoli completions SHELL`
makes a shell complete it.
";

/// The page about the command and its subcommands.
pub fn page(command: &Command) -> String {
    let mut page = HEAD.to_owned();
    page += "\n| command | |\n|---|---|\n";
    for command in command.get_subcommands() {
        let name = command.get_name();
        // Writing to a string does not fail.
        let _ = writeln!(page, "| [`{name}`](#broccoli-{name}) | {} |", text(command.get_about()));
    }
    end(&mut page, command);
    for command in command.get_subcommands() {
        section(&mut page, command);
    }
    page
}

fn section(page: &mut String, command: &Command) {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let about = command.get_long_about().or(command.get_about());
    let about = about.map(ToString::to_string).unwrap_or_default();
    let _ = writeln!(page, "\n## `{name}`\n\n{}", about.trim_end());
    let usage = command.clone().render_usage().to_string();
    let _ = writeln!(page, "\n```text\n{}\n```", usage.trim().trim_start_matches("Usage: "));
    let positional = command.get_positionals().filter(|argument| !argument.is_hide_set());
    let options = command.get_arguments().filter(|argument| {
        !argument.is_positional() && !argument.is_hide_set() && argument.get_id() != "help"
    });
    table(page, "argument", positional);
    table(page, "option", options);
    end(page, command);
}

fn table<'a>(page: &mut String, kind: &str, arguments: impl Iterator<Item = &'a Arg>) {
    for (index, argument) in arguments.enumerate() {
        if index == 0 {
            let _ = writeln!(page, "\n| {kind} | meaning |\n|---|---|");
        }
        let _ = writeln!(page, "| `{}` | {} |", syntax(argument), meaning(argument));
    }
}

/// How an argument is written.
fn syntax(argument: &Arg) -> String {
    // What clap prints has brackets around values and dots where there may be several.
    argument.to_string().replace('|', "\\|")
}

/// What it means, with its default, its values and its variable.
fn meaning(argument: &Arg) -> String {
    let mut meaning = text(argument.get_long_help().or(argument.get_help()));
    let takes_values = argument.get_num_args().is_some_and(|count| count.takes_values());
    if takes_values && !argument.is_hide_possible_values_set() {
        for value in argument.get_possible_values().iter().filter(|value| !value.is_hide_set()) {
            let _ = write!(meaning, "<br>`{}`", value.get_name());
            if let Some(help) = value.get_help() {
                let _ = write!(meaning, ": {}", text(Some(help)));
            }
        }
    }
    let defaults: Vec<_> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if takes_values && !defaults.is_empty() {
        let _ = write!(meaning, " [default: `{}`]", defaults.join(","));
    }
    if let Some(variable) = argument.get_env() {
        let _ = write!(meaning, " [environment: `{}`]", variable.to_string_lossy());
    }
    meaning
}

/// Help as one line of a table.
fn text(help: Option<&StyledStr>) -> String {
    let help = help.map(ToString::to_string).unwrap_or_default();
    help.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|").replace('<', "&lt;")
}

/// Examples and exit codes.
fn end(page: &mut String, command: &Command) {
    for (heading, lines) in closing(command) {
        let _ = match lines.as_slice() {
            [line] if heading != "Examples" => writeln!(page, "\n{heading}: {line}"),
            _ => writeln!(page, "\n{heading}:\n\n```text\n{}\n```", lines.join("\n")),
        };
    }
}

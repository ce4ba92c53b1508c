//! Where things are, and how commands are run: printed first, from the root, their output streamed.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::changes::Changes;
use crate::summary::Notes;

/// The checkout, and what was asked for.
pub(crate) struct Workspace {
    /// The folder with the workspace's `Cargo.toml`.
    pub(crate) root: PathBuf,
    /// Cargo's target folder: `target`, or what `CARGO_TARGET_DIR` says.
    pub(crate) target: PathBuf,
    /// Whether to run the long version of the tests.
    pub(crate) long: bool,
    /// Whether to test only what differs from the merge base.
    pub(crate) only_changed: bool,
    /// What differs from the merge base, if that is known.
    pub(crate) changes: Option<Changes>,
    /// What the present step has to say at the end of all.
    pub(crate) notes: RefCell<Notes>,
}

impl Workspace {
    /// The checkout this program belongs to, wherever it is called from.
    pub(crate) fn find(long: bool) -> Result<Self> {
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let manifest = manifest.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
        let root = manifest.parent().context("xtask has no parent folder")?.to_owned();
        let target = match std::env::var_os("CARGO_TARGET_DIR") {
            Some(target) => std::path::absolute(target)?,
            None => root.join("target"),
        };
        let changes = Changes::find(&root);
        Ok(Workspace { root, target, long, only_changed: false, changes, notes: RefCell::default() })
    }

    /// Notes how long some tests took, for the list of the slowest.
    pub(crate) fn note_tests(&self, tests: impl IntoIterator<Item = (String, Duration)>) {
        self.notes
            .borrow_mut()
            .tests
            .extend(tests.into_iter().map(|(name, time)| (name, time.as_secs_f64())));
    }

    /// Notes what was left to `--long`, if anything.
    pub(crate) fn note_left(&self, what: impl IntoIterator<Item = String>) {
        self.notes.borrow_mut().left.extend(what);
    }

    /// A command that runs in the root, with the same target folder as ours.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).env("CARGO_TARGET_DIR", &self.target);
        command
    }

    /// The `broccoli` command, once it is built with `--release`.
    pub(crate) fn broccoli(&self) -> PathBuf {
        self.target.join("release").join(format!("broccoli{}", std::env::consts::EXE_SUFFIX))
    }

    /// A call of Cargo.
    pub(crate) fn cargo<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = self.command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(arguments);
        command
    }
}

/// Prints the command, as one could type it.
pub(crate) fn announce(command: &Command) {
    println!("$ {}", shown(command));
}

/// The command as one could type it, without the environment.
pub(crate) fn shown(command: &Command) -> String {
    let name = Path::new(command.get_program()).file_stem().unwrap_or(command.get_program());
    let words = std::iter::once(name).chain(command.get_args());
    let quoted = words.map(|word| {
        let word = word.to_string_lossy();
        if word.is_empty() || word.contains(char::is_whitespace) {
            format!("'{word}'")
        } else {
            word.into_owned()
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// Runs the command; an exit code other than 0 is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    announce(command);
    let status = command.status().with_context(|| format!("cannot run {}", shown(command)))?;
    if !status.success() {
        bail!("{} ended with {status}", shown(command));
    }
    Ok(())
}

/// Runs the command, shows its standard output as it comes, and returns it.
pub(crate) fn run_and_read(command: &mut Command) -> Result<String> {
    read(command, |part| std::io::stdout().write_all(part))
}

/// Runs the command and returns its standard output.
pub(crate) fn run_and_read_quietly(command: &mut Command) -> Result<String> {
    read(command, |_| Ok(()))
}

fn read(command: &mut Command, show: impl Fn(&[u8]) -> std::io::Result<()>) -> Result<String> {
    announce(command);
    let child = command.stdout(Stdio::piped()).spawn();
    let mut child = child.with_context(|| format!("cannot run {}", shown(command)))?;
    let mut output = Vec::new();
    if let Some(mut pipe) = child.stdout.take() {
        let mut buffer = [0; 4096];
        loop {
            let count = pipe.read(&mut buffer)?;
            if count == 0 {
                break;
            }
            show(&buffer[..count])?;
            output.extend_from_slice(&buffer[..count]);
        }
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("{} ended with {status}", shown(command));
    }
    String::from_utf8(output).with_context(|| format!("the output of {} is not UTF-8", shown(command)))
}

/// Whether the command runs and succeeds; nothing is shown.
pub(crate) fn works(command: &mut Command) -> bool {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_it_would_be_typed() {
        let mut command = Command::new("/usr/bin/cargo");
        command.args(["run", "a b", ""]);
        assert_eq!(shown(&command), "cargo run 'a b' ''");
    }

    #[cfg(unix)]
    #[test]
    fn output_is_read_and_failure_is_an_error() {
        assert_eq!(run_and_read(Command::new("echo").arg("104")).unwrap(), "104\n");
        assert!(run(&mut Command::new("false")).unwrap_err().to_string().starts_with("false ended with"));
        assert!(run(&mut Command::new("no-such-program")).is_err());
        assert!(works(&mut Command::new("true")));
        assert!(!works(&mut Command::new("no-such-program")));
    }
}

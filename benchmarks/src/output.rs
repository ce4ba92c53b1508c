//! Where reports go, how they begin, and how they write numbers.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::machine;

/// Where a benchmark writes: the folder chosen, else `bench` in Cargo's target folder.
pub(crate) fn directory(chosen: Option<&PathBuf>) -> PathBuf {
    let target = || match std::env::var_os("CARGO_TARGET_DIR") {
        Some(target) => PathBuf::from(target),
        None => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target")),
    };
    chosen.cloned().unwrap_or_else(|| target().join("bench"))
}

/// Writes a file, making its folder if need be.
pub(crate) fn write(directory: &Path, name: &str, contents: &str) -> Result<()> {
    std::fs::create_dir_all(directory).with_context(|| format!("creating {}", directory.display()))?;
    let path = directory.join(name);
    std::fs::write(&path, contents).with_context(|| format!("writing {}", path.display()))
}

/// Records as the text of a CSV file.
pub(crate) fn csv(records: impl IntoIterator<Item = Vec<String>>) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for record in records {
        writer.write_record(record)?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// Says where the files are.
pub(crate) fn written(directory: &Path, names: &str) {
    let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    eprintln!("written: {names} in {}", directory.display());
}

/// The top of a report: its title and what its figures depend on. Load is that of this moment.
pub(crate) fn header(title: &str) -> String {
    let load = machine::load().map(|load| format!("- load average before: {load}\n")).unwrap_or_default();
    format!(
        "# {title}\n\n\
         - machine: {}\n\
         {load}\
         - date: {}\n\
         - command: `{}`\n\
         - commit: {}\n",
        machine::processor(),
        machine::date(),
        command(),
        machine::commit().unwrap_or_else(|| "unknown".to_owned()),
    )
}

/// The command that runs now, without the folder that it writes to.
pub(crate) fn command() -> String {
    let mut words = vec!["cargo xtask bench".to_owned()];
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--output" {
            arguments.next();
        } else if !argument.starts_with("--output=") {
            words.push(argument);
        }
    }
    words.join(" ")
}

/// A row of a Markdown table.
pub(crate) fn line(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// A number rounded to an integer, with a comma after every three digits.
pub(crate) fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A ratio with three digits that matter: `0.123`, `1.25`, `34.6`, `1,234`.
pub(crate) fn ratio(number: f64) -> String {
    match number {
        n if n < 1.0 => format!("{n:.3}"),
        n if n < 10.0 => format!("{n:.2}"),
        n if n < 100.0 => format!("{n:.1}"),
        n => grouped(n),
    }
}

/// Seconds with a precision that fits.
pub(crate) fn seconds(seconds: f64) -> String {
    let digits = match seconds {
        s if s < 0.1 => 4,
        s if s < 10.0 => 3,
        _ => 1,
    };
    format!("{seconds:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(["0", "999", "1,000", "12,345,678"], [0.0, 999.0, 1000.0, 12_345_678.0].map(grouped));
        assert_eq!(["0.123", "1.25", "34.6", "1,235"], [0.1234, 1.25, 34.56, 1234.6].map(ratio));
        assert_eq!(["0.0123", "1.230", "123.4"], [0.0123, 1.23, 123.4].map(seconds));
    }
}

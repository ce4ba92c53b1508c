//! Runs the `broccoli` command and puts what it says into a form for snapshots.

use std::process::Output;

use assert_cmd::Command;

/// The command, without what the terminal of the tests could change; with one thread, because with more the
/// number of queries differs from run to run.
pub fn broccoli(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_broccoli"));
    command.args(arguments).env_remove("COLUMNS").env("BROCCOLI_THREADS", "1");
    command
}

/// Runs the command to its end.
pub fn run(arguments: &[&str]) -> Output {
    broccoli(arguments).output().expect("the command runs")
}

/// What was written to standard output.
pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text on standard output")
}

/// What was written to standard error.
pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text on standard error")
}

/// The JSON object on standard output.
#[allow(dead_code, reason = "not every test needs it")]
pub fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).expect("one JSON value on standard output")
}

/// A command, its exit code and what it wrote, with the times taken out.
#[allow(dead_code, reason = "not every test needs it")]
pub fn transcript(arguments: &[&str]) -> String {
    report(arguments, &run(arguments))
}

/// The same for a command that has run.
pub fn report(arguments: &[&str], output: &Output) -> String {
    let shown: Vec<String> = arguments
        .iter()
        .map(|a| if a.is_empty() || a.contains(' ') { format!("'{a}'") } else { a.to_string() })
        .collect();
    let code = output.status.code().map_or("none".to_owned(), |code| code.to_string());
    let (out, err) = (timeless(&stdout(output)), stderr(output));
    let err: String = err.lines().map(|line| format!("{}\n", format!("! {line}").trim_end())).collect();
    format!("$ broccoli {}\n{out}{err}exit {code}\n", shown.join(" "))
}

/// Replaces the times and the counts, which are the engine's own business.
pub fn timeless(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let line = without_history(line);
        let line = ["queries", "trees", "traces", "seconds", "threads"].iter().fold(line, without_number);
        let line = without_statistics(line);
        if let Some((_, purpose)) = line.split_once(" more to ") {
            return format!("         … more to {purpose}\n");
        }
        match ["queries  ", "trees    ", "traces   "].iter().find(|label| line.starts_with(**label)) {
            Some(label) => format!("{label}…\n"),
            None => match line.strip_prefix("time     ").and_then(|rest| rest.split_once('(')) {
                Some((_, engine)) => format!("time     … ({engine}\n"),
                None => format!("{line}\n"),
            },
        }
    });
    lines.collect()
}

/// Replaces the numbers in the statistics of a JSON object.
fn without_statistics(line: String) -> String {
    match (line.find("\"statistics\":{"), line.find("},\"problem\":")) {
        (Some(start), Some(end)) if start < end => {
            let without_digits = line[start..end].replace(|c: char| c.is_ascii_digit(), "");
            let blank = without_digits.replace(":,", ":…,").replace(":}", ":…}");
            format!("{}{blank}…{}", &line[..start], &line[end..])
        }
        _ => line,
    }
}

/// Replaces the history in a JSON object.
fn without_history(line: &str) -> String {
    match line.split_once("\"history\":[") {
        Some((before, after)) => {
            let after = after.split_once(']').map_or("", |(_, after)| after);
            format!("{before}\"history\":[…]{after}")
        }
        None => line.to_owned(),
    }
}

/// Replaces the number behind a key of a JSON object.
fn without_number(line: String, key: &&str) -> String {
    let key = format!("\"{key}\":");
    match line.split_once(&key) {
        Some((before, after)) => {
            let after = after.split_once(',').map_or("", |(_, after)| after);
            format!("{before}{key}…,{after}")
        }
        None => line,
    }
}

//! The reference in the book is what the command itself says; man pages and completions work.

use std::fs::{self, DirEntry};
use std::path::Path;
use std::process::Command;

use crate::common::{json, run, stderr, stdout};

/// What `broccoli manual` writes in a format: names of files and their texts, in order.
fn manual(format: &str) -> Vec<(String, String)> {
    let folder = tempfile::tempdir().expect("a folder");
    let output = run(&["manual", &folder.path().to_string_lossy(), "--format", format]);
    assert!(output.status.success(), "{}", stderr(&output));
    let entries = fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("a file"));
    let page = |entry: DirEntry| {
        let text = fs::read_to_string(entry.path()).expect("text");
        (entry.file_name().to_string_lossy().into_owned(), text)
    };
    let mut pages: Vec<_> = entries.map(page).collect();
    pages.sort();
    pages
}

#[test]
fn the_reference_is_up_to_date() {
    let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    let pages = manual("markdown");
    assert_eq!(pages.len(), 2);
    for (name, text) in pages {
        let committed = fs::read_to_string(reference.join(&name)).unwrap_or_default();
        let different = committed.lines().zip(text.lines()).find(|(committed, text)| committed != text);
        assert!(
            committed == text,
            "docs/reference/{name} is out of date; run `cargo xtask book`. First difference: {different:?}"
        );
    }
}

#[test]
fn every_command_has_a_man_page() {
    let pages = manual("man");
    let help = stdout(&run(&["--help"]));
    let listed = help.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap();
    // A line that begins further to the right goes on with the one before.
    let lines =
        listed.lines().filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    let commands: Vec<&str> = lines.filter_map(|line| line.split(' ').next()).collect();
    assert!(commands.len() >= 12, "{commands:?}");
    for command in commands.iter().filter(|command| **command != "help") {
        let name = format!("broccoli-{command}.1");
        let (_, page) = pages.iter().find(|(file, _)| *file == name).unwrap_or_else(|| panic!("no {name}"));
        for heading in [".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH OPTIONS"] {
            assert!(page.contains(heading), "{name} has no {heading}");
        }
    }
    let (_, solve) = pages.iter().find(|(file, _)| file == "broccoli-solve.1").unwrap();
    assert!(solve.contains(".SH EXAMPLES\n.nf\nbroccoli solve cartpole\n"), "{solve}");
    assert!(solve.contains(".SH \"EXIT CODES\"\n.nf\n0"), "{solve}");
}

#[test]
fn a_folder_that_cannot_be_made_is_bad_input() {
    let output = run(&["manual", "/dev/null/manual"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("cannot be made"), "{}", stderr(&output));
}

#[cfg(unix)]
#[test]
fn bash_completes_commands_options_and_values() {
    let complete = |words: &str| {
        let script = format!(
            "set -eu; source <({} completions bash); COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _broccoli broccoli \"${{COMP_WORDS[-1]}}\" \"${{COMP_WORDS[-2]}}\"; echo \"${{COMPREPLY[@]}}\"",
            env!("CARGO_BIN_EXE_broccoli")
        );
        let output = Command::new("bash").args(["-c", &script]).output().expect("bash runs");
        assert!(output.status.success() && output.stderr.is_empty(), "{}", stderr(&output));
        stdout(&output).trim().to_owned()
    };
    assert_eq!(complete("broccoli sol"), "solve");
    assert_eq!(complete("broccoli solve --dep"), "--depth");
    assert_eq!(complete("broccoli solve mountain-car --engine b"), "behaviour backtracking");
}

#[test]
fn other_shells_have_completions_too() {
    for shell in ["elvish", "fish", "powershell", "zsh"] {
        let output = run(&["completions", shell]);
        assert!(output.status.success() && stdout(&output).contains("depth"), "{shell}");
    }
    assert_eq!(run(&["completions", "csh"]).status.code(), Some(2));
}

#[test]
fn the_page_about_results_has_every_key() {
    let page = include_str!("../../../docs/results.md");
    let solve = |arguments: &[&str]| json(&run(&[&["solve", "mountain-car", "--json"], arguments].concat()));
    let results = [
        solve(&[]),
        solve(&["--engine", "backtracking", "--thresholds", "5"]),
        solve(&["--query-limit", "100"]),
        solve(&["--depth", "0", "--horizon", "100", "--initial", "-0.5,0", "--initial", "-0.6,0"]),
        solve(&["--thresholds", "3", "--samples", "2", "--weights", "1,2"]),
        solve(&["--thresholds", "3", "--objective", "return", "--rewards", "-1,0"]),
        solve(&["--thresholds", "5", "--refine"]),
        solve(&["--thresholds", "all", "--depth", "1"]),
        solve(&["--thresholds", "5", "--pareto"]),
        solve(&["--thresholds", "5", "--all-optimal", "3", "--price", "velocity=2"]),
    ];
    let statuses = ["optimal", "optimal", "stopped", "infeasible"];
    for (index, result) in results.iter().enumerate() {
        assert_eq!(result["status"], *statuses.get(index).unwrap_or(&"optimal"));
        let keys = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        for key in keys(result).into_iter().chain(keys(&result["problem"])) {
            assert!(page.contains(&format!("`{key}`")), "docs/results.md does not tell about {key:?}");
        }
    }
    // And the other way round: the first column has no key that is gone.
    let first_column = page.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let documented = first_column.flat_map(|cell| cell.split("`, `")).map(|key| key.trim_end_matches('`'));
    // Those of built-in environments have no estimate: their rewards have bounds.
    for key in documented.filter(|key| !["error", "estimate"].contains(key)) {
        let is_there =
            |result: &serde_json::Value| !result[key].is_null() || !result["problem"][key].is_null();
        assert!(results.iter().any(is_there), "no result has the key {key:?} of docs/results.md");
    }
}

//! The gallery: every file gives the answer that it records, and the pictures and the list are those of the
//! answers. `cargo xtask gallery` sets the variables: BROCCOLI_UPDATE rewrites what is recorded,
//! BROCCOLI_REPORTS names a folder for reports, and BROCCOLI_LONG solves the heavy ones as they are.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{json, run, stderr};
use serde_json::Value;

/// Files that `backtracking` solves as quickly; it must give the same answer.
const QUICK: [&str; 4] = ["cruise-control", "mountain-car-noise", "pendulum-energy", "thermostat"];

const LIST_BEGINS: &str = "<!-- the list, written by `cargo xtask gallery --update` -->\n";
const LIST_ENDS: &str = "<!-- the end of the list -->\n";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gallery")
}

fn files(extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder()).expect("the gallery").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|e| e == extension)).collect();
    files.sort();
    files
}

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some()
}

/// Compares a file with what it should be, or rewrites it.
fn check(path: &Path, expected: &str) {
    if is_set("BROCCOLI_UPDATE") {
        fs::write(path, expected).expect("the file can be written");
    }
    let found = fs::read_to_string(path).unwrap_or_default();
    let hint = "`cargo xtask gallery --update` rewrites it";
    assert!(found == expected, "{} should be: {hint}\n{expected}", path.display());
}

/// A problem file of the gallery.
struct Entry {
    path: PathBuf,
    text: String,
}

impl Entry {
    fn read(path: PathBuf) -> Self {
        let text = fs::read_to_string(&path).expect("a file");
        Entry { path, text }
    }

    fn name(&self) -> &str {
        self.path.file_stem().and_then(|stem| stem.to_str()).expect("a name")
    }

    /// What the comment at the head of the file says behind this word, if it says it.
    fn says(&self, word: &str) -> Option<&str> {
        let lines = self.text.lines().take_while(|line| line.starts_with('#'));
        lines.filter_map(|line| line.strip_prefix("# ")?.strip_prefix(word)).next()
    }

    /// The options that make a heavy one quick: `# Quick: --thresholds 9: optimal, …`.
    fn quick(&self) -> Option<Vec<String>> {
        let (options, _) = self.says("Quick: ")?.split_once(": ")?;
        Some(options.split(' ').map(str::to_owned).collect())
    }

    fn solve(&self, more: &[&str]) -> Value {
        let name = self.path.to_str().expect("a name");
        let output = run(&[&["solve", name, "--json"], more].concat());
        assert!(stderr(&output).is_empty(), "{name}: {}", stderr(&output));
        json(&output)
    }

    /// Checks what is recorded behind a word against a result.
    fn check(&mut self, word: &str, answer: &str) {
        let recorded = self.says(word).expect("it is recorded").to_owned();
        let text = self.text.replacen(&format!("# {word}{recorded}\n"), &format!("# {word}{answer}\n"), 1);
        check(&self.path, &text);
        self.text = text;
    }
}

/// An answer as files record it.
fn answer(result: &Value) -> String {
    let size = result["size"].as_u64().expect("a size");
    let predicates = if size == 1 { "predicate" } else { "predicates" };
    format!(
        "{}, value {}, {size} {predicates}.",
        result["status"].as_str().expect("a status"),
        result["value"]
    )
}

/// Writes what a result is, and its picture and report if they are wanted.
fn check_outputs(entry: &Entry, result: &Value) {
    let temporary = tempfile::tempdir().expect("a folder");
    let saved = temporary.path().join("result.json");
    fs::write(&saved, result.to_string()).expect("a file");
    let export = |arguments: &[&str]| {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
    };
    let (saved, picture) = (saved.to_str().expect("a name"), temporary.path().join("tree.svg"));
    export(&["export", saved, "-o", picture.to_str().expect("a name")]);
    let drawn = fs::read_to_string(&picture).expect("a picture");
    check(&folder().join("trees").join(format!("{}.svg", entry.name())), &drawn);
    if let Some(reports) = std::env::var_os("BROCCOLI_REPORTS") {
        let report = Path::new(&reports).join(format!("{}.html", entry.name()));
        export(&["report", saved, "-o", report.to_str().expect("a name")]);
    }
}

/// One test: `--update` has to do these things in this order.
#[test]
fn every_answer_is_the_recorded_one() {
    let files = files("toml");
    assert!(files.len() >= 12, "{files:?}");
    for path in files {
        let mut entry = Entry::read(path);
        if let Some(options) = entry.quick() {
            let words: Vec<&str> = options.iter().map(String::as_str).collect();
            let solved = answer(&entry.solve(&words));
            entry.check("Quick: ", &format!("{}: {solved}", options.join(" ")));
            if !is_set("BROCCOLI_LONG") {
                continue;
            }
        }
        let result = entry.solve(&[]);
        entry.check("Answer: ", &answer(&result));
        check_outputs(&entry, &result);
        if QUICK.contains(&entry.name()) {
            let other = answer(&entry.solve(&["--engine", "backtracking"]));
            assert_eq!(other, answer(&result), "{}", entry.name());
        }
    }
    the_list_has_every_file_with_its_answer();
}

/// The row of a file, from what it records.
fn row(path: &Path) -> String {
    let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
    let entry = Entry::read(path.to_owned());
    let recorded = entry.says("Answer: ").expect("an answer").trim_end_matches('.');
    let [_, value, predicates] = recorded.split(", ").collect::<Vec<_>>()[..] else {
        panic!("{name} records {recorded:?}")
    };
    let value = value.strip_prefix("value ").expect("a value");
    let size = predicates.split(' ').next().expect("a size");
    let what = entry.says("").expect("a description");
    let picture = format!("trees/{}.svg", entry.name());
    assert!(folder().join(&picture).exists(), "{picture} is missing");
    format!("| [`{name}`]({name})<br>{what} | {value} | {size} | ![the tree]({picture}) |\n")
}

fn the_list_has_every_file_with_its_answer() {
    let path = folder().join("README.md");
    let text = fs::read_to_string(&path).expect("the list");
    let (head, rest) = text.split_once(LIST_BEGINS).expect("the list begins");
    let (_, tail) = rest.split_once(LIST_ENDS).expect("the list ends");
    let mut all = files("toml");
    all.extend(files("py"));
    all.sort();
    let rows: String = all.iter().map(|path| row(path)).collect();
    let table = format!("| problem | value | predicates | the best tree |\n|---|--:|--:|---|\n{rows}");
    check(&path, &format!("{head}{LIST_BEGINS}{table}{LIST_ENDS}{tail}"));
}

//! The gallery: every file gives the answer that it records.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{json, run};

/// Files that `backtracking` solves as quickly; it must give the same answer.
const QUICK: [&str; 4] = ["cruise-control", "mountain-car-noise", "pendulum-energy", "thermostat"];

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gallery");
    let entries = fs::read_dir(folder).expect("the gallery").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|e| e == "toml")).collect();
    files.sort();
    files
}

/// What a file records: `# Answer: optimal, value 104, 3 predicates.`
fn recorded(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a file");
    let line = text.lines().find_map(|line| line.strip_prefix("# Answer: ")).map(str::to_owned);
    line.unwrap_or_else(|| panic!("{path:?} records no answer"))
}

#[test]
fn every_answer_is_the_recorded_one() {
    let files = files();
    assert!(files.len() >= 9, "{files:?}");
    for path in files {
        let solve = ["solve", path.to_str().expect("a name"), "--json"];
        let answer = |more: &[&str]| {
            let result = json(&run(&[&solve[..], more].concat()));
            let status = result["status"].as_str().expect("a status").to_owned();
            format!("{status}, value {}, {} predicates.", result["value"], result["size"])
        };
        assert_eq!(answer(&[]), recorded(&path), "{path:?}");
        if QUICK.iter().any(|name| path.file_stem().is_some_and(|stem| stem == *name)) {
            assert_eq!(answer(&["--engine", "backtracking"]), recorded(&path), "{path:?}");
        }
    }
}

#[test]
fn the_list_names_every_file_with_its_answer() {
    let list = include_str!("../../../gallery/README.md");
    for path in files() {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        let row = list.lines().find(|line| line.contains(&format!("[`{name}`]({name})")));
        let row = row.unwrap_or_else(|| panic!("{name} is not in the list")).replace(',', "");
        let answer = recorded(&path);
        let numbers = answer.split([' ', ',', '.']).filter(|word| word.parse::<u64>().is_ok());
        assert!(numbers.clone().count() == 2, "{answer}");
        for number in numbers {
            assert!(row.contains(&format!("| {number} ")), "{row}: {number}");
        }
    }
}

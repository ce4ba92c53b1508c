//! What was once found, to be replayed first: the files of `tests/fuzz/saved`, compiled in.

use std::collections::BTreeSet;
use std::path::Path;

/// A saved finding: its reader, the name of its file, its bytes.
type Saved = (&'static str, &'static str, &'static [u8]);

macro_rules! saved {
    ($($reader:literal / $file:literal,)*) => {
        &[$(($reader, $file, include_bytes!(concat!("../../saved/", $reader, "/", $file)))),*]
    };
}

/// All of them.
pub const SAVED: &[Saved] = saved!["expression" / "sum-of-60000", "message" / "objects-for-a-version",];

/// The bytes of one of them.
pub fn bytes(reader: &str, file: &str) -> &'static [u8] {
    SAVED.iter().find(|saved| (saved.0, saved.1) == (reader, file)).map_or(&[], |saved| saved.2)
}

/// Checks that no file was forgotten, where the files are.
pub fn check_list() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("saved");
    let listed: BTreeSet<(String, String)> =
        SAVED.iter().map(|(reader, file, _)| (reader.to_string(), file.to_string())).collect();
    let names = |path: &Path| -> Vec<String> {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    };
    for reader in names(&folder) {
        for file in names(&folder.join(&reader)) {
            let entry = (reader.clone(), file);
            assert!(listed.contains(&entry), "tests/fuzz/saved/{}/{} is not in saved.rs", entry.0, entry.1);
        }
    }
}

//! Problems that some version of some engine got wrong, each a file in `tests/regressions/` with its
//! answer: `[value, size]`, or null if no tree exists.

use std::path::Path;

use broccoli_tests::oracle;
use broccoli_tests::table::TableProblem;
use broccoli_tests::wall::check;

#[derive(serde::Deserialize)]
struct Regression {
    #[serde(flatten)]
    table: TableProblem,
    answer: Option<(u64, u64)>,
}

#[test]
fn saved_problems_keep_their_answers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let Regression { table, answer } =
            serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert_eq!(oracle::best(&table), answer, "{}", path.display());
        check(&table).unwrap_or_else(|wrong| panic!("{}: {wrong}", path.display()));
        seen += 1;
    }
    assert!(seen > 0, "no saved problem was found");
}

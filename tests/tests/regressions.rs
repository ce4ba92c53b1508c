//! Problems that some version of some engine got wrong, each a file in `tests/regressions/` with its
//! answer: `[value, size]`, or null if no tree exists. A file can name the options it went wrong with; each problem is
//! solved in many other ways, too.

use std::path::Path;

use broccoli_core::problem::ComeBack;
use broccoli_core::search::Search;
use broccoli_tests::check::{Case, check};
use broccoli_tests::options;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

/// In how many ways each problem is solved.
const WAYS: usize = 20;

#[derive(serde::Deserialize)]
struct Regression {
    #[serde(flatten)]
    case: Case,
    answer: Option<(f64, u64)>,
}

#[test]
fn saved_problems_keep_their_answers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions");
    let mut random = TestRunner::deterministic();
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let Regression { mut case, answer } =
            serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let (problem, factory) = (case.table.problem(), case.table.factory(ComeBack::Clone));
        let best = Search::new(&problem, &factory).run().unwrap().best;
        let found = best.map(|best| (problem.objective().number(best.value), best.tree.size()));
        assert_eq!(found, answer, "{}", path.display());
        let drawn = |_| options::options().new_tree(&mut random).map(|tree| tree.current());
        case.options.extend((0..WAYS).map(drawn).collect::<Result<Vec<_>, _>>().unwrap());
        check(&case, |_| ()).unwrap_or_else(|wrong| panic!("{}: {wrong}", path.display()));
        seen += 1;
    }
    assert!(seen > 5, "only {seen} saved problems were found");
}

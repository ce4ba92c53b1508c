use broccoli_core::problem::ComeBack;
use broccoli_core::search::*;
use broccoli_tests::check::Case;
fn main() {
    let text = std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap();
    let case: Case = serde_json::from_str(&text).unwrap();
    let (problem, factory) = (case.table.problem(), case.table.factory(ComeBack::Clone));
    for off in [false, true] {
        let mut tuning = Tuning::default();
        if off {
            tuning.hints = HintTuning::OFF;
        }
        let o = Search::new(&problem, &factory).tuning(tuning).run().unwrap();
        println!(
            "off {off}: {:?} {:?} value {:?} {:?}",
            o.status,
            o.best.as_ref().map(|b| (b.tree.size(), b.tree.clone())),
            o.best.as_ref().map(|b| problem.objective().number(b.value)),
            o.statistics
        );
    }
}

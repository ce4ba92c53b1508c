//! The plug-in, loaded as Broccoli loads it, gives the answer that the same system in Rust gives.

use broccoli_blackbox::Plugin;
use broccoli_blackbox::check::{Effort, check};
use broccoli_core::problem::{Objective, Problem, Thresholds};
use broccoli_core::search::Search;

#[test]
fn the_cart_is_solved() {
    // Cargo puts the library beside the tests.
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let plugin = Plugin::load(&folder.join("libbroccoli_example_plugin.so")).unwrap();
    let description = plugin.description();
    let mut problem = Problem::builder()
        .dimension(&description.observations[0], Thresholds::grid(0.0, 10.0, 0.5).unwrap())
        .dimension(&description.observations[1], Thresholds::grid(-1.0, 1.0, 0.25).unwrap())
        .initial([0.0])
        .initial([9.0])
        .objective(Objective::reach(1000))
        .depth(2);
    for action in &description.actions {
        problem = problem.action(&action.name, action.value);
    }
    let problem = problem.build().unwrap();
    check(&problem, &plugin, Effort::FULL).unwrap();
    let best = Search::new(&problem, &plugin).run().unwrap().best.unwrap();
    assert_eq!((best.value, best.tree.size()), (14, 3));
}

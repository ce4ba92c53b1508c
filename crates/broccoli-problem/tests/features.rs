//! Derived features: computed behind what is observed, with thresholds of their own.

use std::path::Path;

use broccoli_core::problem::{Instance, Verdict};
use broccoli_core::search::{Engine, Search, Status};
use broccoli_problem::{ProblemFile, Target};

fn open(text: &str) -> Target {
    ProblemFile::parse(text, Path::new("plant.toml")).and_then(|file| file.open()).expect("a good file")
}

/// The observed dimensions have no thresholds: only the features are compared.
const ENERGY: &str = r#"
    [system]
    environment = "mountain-car"
    [[features]]
    name = "along"
    expression = "velocity * 100"
    [[features]]
    name = "energy"
    expression = "0.5*velocity^2 + 0.0025*(sin(3*position)/3)"
    [predicates]
    position = []
    velocity = []
    along = [-0.1, 0.0, 0.1]
    energy = { low = -0.001, high = 0.002, count = 5 }
"#;

#[test]
fn features_follow_what_is_observed() {
    let mut target = open(ENERGY);
    target.choose_actions(&["right", "left"]).unwrap();
    let problem = target.problem().unwrap();
    let names: Vec<&str> = problem.dimensions().iter().map(|d| d.name.as_str()).collect();
    assert_eq!(names, ["position", "velocity", "along", "energy"]);
    assert_eq!(problem.dimensions()[2].expression.as_deref(), Some("velocity * 100"));
    assert_eq!(problem.predicate_count(), Some(8));
    let mut instance = Instance::new(&problem, &*target.factory).unwrap();
    instance.reset(0).unwrap();
    for step in 0..50 {
        let &[position, velocity, along, energy] = instance.observation() else { panic!("four values") };
        assert_eq!(along.to_bits(), (velocity * 100.0).to_bits(), "{step}");
        let height = libm::sin(3.0 * position) / 3.0;
        assert_eq!(energy.to_bits(), (0.5 * (velocity * velocity) + 0.0025 * height).to_bits(), "{step}");
        assert_eq!(instance.step(step % 2).unwrap(), Verdict::Running);
    }
}

/// A feature that is an observation in disguise gives the answer that the observation gives.
#[test]
fn engines_agree_and_a_disguise_changes_nothing() {
    let features = open(ENERGY);
    let disguised = open(
        r#"
        [system]
        environment = "mountain-car"
        [[features]]
        name = "twice"
        expression = "2 * velocity"
        [predicates]
        position = { low = -1.2, high = 0.6, count = 3 }
        velocity = []
        twice = [-0.04, 0, 0.04]
    "#,
    );
    let plain = open(
        r#"
        [system]
        environment = "mountain-car"
        [predicates]
        position = { low = -1.2, high = 0.6, count = 3 }
        velocity = [-0.02, 0, 0.02]
    "#,
    );
    let answer = |target: &Target, engine| {
        let problem = target.problem().unwrap();
        let outcome = Search::new(&problem, &*target.factory).engine(engine).run().unwrap();
        assert_eq!(outcome.status, Status::Optimal);
        outcome.best.map(|best| (best.value, best.tree.size()))
    };
    for target in [&features, &disguised] {
        let expected = answer(target, Engine::Behaviour);
        assert_eq!(answer(target, Engine::Backtracking { pruning: true }), expected);
    }
    assert_eq!(answer(&disguised, Engine::Behaviour), answer(&plain, Engine::Behaviour));
}

/// NaN is found where it first appears, and named.
#[test]
fn a_feature_that_is_no_number_is_an_error() {
    let target = open(
        "[system]\nenvironment = \"mountain-car\"\n[[features]]\nname = \"root\"\n\
         expression = \"sqrt(velocity)\"\n[predicates]\nroot = [0.1]\n",
    );
    let problem = target.problem().unwrap();
    let failure = Search::new(&problem, &*target.factory).run().unwrap_err();
    assert!(failure.to_string().contains("NaN in dimension \"root\""), "{failure}");
}

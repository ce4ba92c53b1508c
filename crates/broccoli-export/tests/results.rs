//! Results of real searches, written and read back.

use broccoli_core::problem::{InitialState, System, SystemError, SystemFactory, Thresholds};
use broccoli_core::search::{Engine, Search};
use broccoli_environments::{CARTPOLE, Environment, MOUNTAIN_CAR};
use broccoli_export::json::{ResultJson, StatusJson, SystemJson};
use broccoli_export::saved::Saved;
use broccoli_export::text;

fn system(environment: &Environment) -> SystemJson {
    SystemJson::Environment(environment.name.to_owned())
}

fn small_mountain_car() -> broccoli_core::problem::Problem {
    let list = |values: &[f64]| Thresholds::list(values).expect("finite thresholds");
    let thresholds = vec![list(&[-0.45]), list(&[-0.005, 0.01])];
    let builder = MOUNTAIN_CAR.problem_with(thresholds, vec![InitialState::new(MOUNTAIN_CAR.initial)]);
    builder.build().expect("a well-formed problem")
}

#[test]
fn the_keys_of_a_result_and_their_order() {
    let problem = small_mountain_car();
    let outcome = Search::new(&problem, &MOUNTAIN_CAR).engine(Engine::Exhaustive).run().unwrap();
    let object = ResultJson::new(system(&MOUNTAIN_CAR), &problem, &outcome, 0.25);
    insta::assert_snapshot!(serde_json::to_string_pretty(&object).unwrap());
    insta::assert_snapshot!(text::outcome(&problem, &outcome, 0.25));
}

#[test]
fn an_infeasible_result_has_no_tree() {
    let problem = MOUNTAIN_CAR.problem().depth(0).build().unwrap();
    let outcome = Search::new(&problem, &MOUNTAIN_CAR).engine(Engine::Exhaustive).run().unwrap();
    let object = ResultJson::new(system(&MOUNTAIN_CAR), &problem, &outcome, 0.25);
    assert_eq!(object.status, StatusJson::Infeasible);
    assert_eq!(
        (object.value, object.bound, object.size, object.depth, object.tree),
        (None, None, None, None, None)
    );
    assert_eq!(object.problem.pruning, None);
}

#[test]
fn a_failing_system_gives_a_result_with_the_error() {
    struct Broken;
    impl SystemFactory for Broken {
        fn make(&self) -> Result<Box<dyn System>, SystemError> {
            Err(SystemError::new("no licence found"))
        }
    }
    let problem = small_mountain_car();
    let failure = Search::new(&problem, &Broken).run().unwrap_err();
    let object = ResultJson::failed(system(&MOUNTAIN_CAR), &problem, &failure, 0.25);
    assert_eq!(object.status, StatusJson::Error);
    assert_eq!(object.error.as_deref(), Some("the system could not be started: no licence found"));
}

/// What is written is what is read, to the last bit of every float.
#[test]
fn results_come_back_bit_for_bit() {
    let thresholds = CARTPOLE.grids(Some(&[0.96, 0.4, 0.16, 0.4])).unwrap();
    let problem = CARTPOLE.problem_with(thresholds, CARTPOLE.sample(200, 3)).depth(1).build().unwrap();
    let outcome = Search::new(&problem, &CARTPOLE).run().unwrap();
    let object = ResultJson::new(system(&CARTPOLE), &problem, &outcome, 0.1 + 0.2);
    let Saved::Result(read) = Saved::read(&serde_json::to_string(&object).unwrap()).unwrap() else {
        panic!("a result is read as a result");
    };
    assert_eq!(*read, object);
    let again = read.problem.to_problem().unwrap();
    assert_eq!(again, problem);
    for (a, b) in again.initial_states().iter().zip(problem.initial_states()) {
        assert!(a.values().iter().zip(b.values()).all(|(a, b)| a.to_bits() == b.to_bits()));
    }
    let tree = read.tree.unwrap().check(&again).unwrap();
    assert_eq!(Some(tree), outcome.best.map(|best| best.tree));
}

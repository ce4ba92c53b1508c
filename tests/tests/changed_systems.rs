//! A search is resumed with another system than it was begun with, whose files nobody knows: what the system has answered
//! must show it.

use std::sync::Arc;

use broccoli_core::problem::{ComeBack, InitialState, Problem, RunError, SystemFactory};
use broccoli_core::search::{Checkpoint, Keeper, Search};
use broccoli_tests::plants::{Asked, PLANTS, Plant};

/// Numbers that look random, the same in every run.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() * limit as f64) as usize
    }
}

/// Keeps the last checkpoint.
struct Last(Option<Checkpoint>);

impl Keeper for Last {
    fn is_due(&mut self) -> bool {
        false
    }
    fn keep(&mut self, checkpoint: &Checkpoint) {
        self.0 = Some(checkpoint.clone());
    }
}

fn factory(
    plant: &'static Plant,
    constants: Vec<f64>,
    come_back: ComeBack,
    asked: Option<Asked>,
) -> impl SystemFactory {
    move || Ok(plant.system(constants.clone(), come_back, asked.clone()))
}

#[test]
fn plants_are_the_environments() {
    let mut dice = Dice(3);
    for plant in PLANTS {
        let problem = plant.environment.problem().build().expect("the defaults");
        let mut own = plant.system(plant.constants.to_vec(), ComeBack::Clone, None);
        let mut other = plant.environment.make().expect("it is built in");
        for _ in 0..20 {
            let dimensions = problem.dimensions().len();
            let (mut here, mut there) = (vec![0.0; dimensions], vec![0.0; dimensions]);
            let initial: &InitialState = &problem.initial_states()[0];
            own.reset(initial, &mut here).expect("an answer");
            other.reset(initial, &mut there).expect("an answer");
            for _ in 0..300 {
                let action = dice.below(problem.actions().len());
                let replies = (own.step(action, &mut here), other.step(action, &mut there));
                assert_eq!(replies.0, replies.1, "{}", plant.environment.name);
                assert_eq!(here, there, "{}", plant.environment.name);
            }
        }
    }
}

/// One constant of any system is changed, by much or by little: if that changes any answer of those that the search was
/// given, it is refused.
#[test]
fn whatever_changes_an_answer_is_refused() {
    let is_long = std::env::var_os("BROCCOLI_LONG").is_some_and(|value| !value.is_empty());
    let trials = if is_long { 1_000 } else { 100 };
    let seed = std::env::var("BROCCOLI_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(11);
    let (mut dice, mut refused, mut same, mut missed) = (Dice(seed), 0, 0, Vec::new());
    while refused + missed.len() < trials {
        let plant = &PLANTS[dice.below(PLANTS.len())];
        let environment = plant.environment;
        let builder = environment.problem().depth(1 + dice.below(3) as u32);
        let problem: Problem = builder.build().expect("the defaults with another depth");
        let limit = (50.0 * 400.0_f64.powf(dice.next())) as u64;
        let come_back = [ComeBack::Clone, ComeBack::Snapshot, ComeBack::Replay][dice.below(3)];
        let (asked, mut keeper) = (Asked::default(), Last(None));
        let first = factory(plant, plant.constants.to_vec(), come_back, Some(Arc::clone(&asked)));
        let search = Search::new(&problem, &first).query_limit(limit).keeper(&mut keeper);
        search.run().expect("it runs");
        let Some(kept) = keeper.0 else { continue };
        for _ in 0..4 {
            let mut constants = plant.constants.to_vec();
            let index = dice.below(constants.len());
            let sign = if dice.next() < 0.5 { -1.0 } else { 1.0 };
            let change = sign * 10.0_f64.powf(-12.0 * dice.next());
            constants[index] += change * if constants[index] == 0.0 { 1.0 } else { constants[index] };
            let (is_changed, is_hidden_changed) = plant.answers_otherwise(&constants, &asked);
            let other = factory(plant, constants, come_back, None);
            let search = Search::new(&problem, &other).query_limit(1).ask_again_while(&|| true);
            let resumed = search.resume(kept.clone()).expect("of this problem").run();
            let is_refused =
                matches!(&resumed, Err(failure) if matches!(failure.error, RunError::Changed { .. }));
            let what = || format!("{}, constant {index}, {change:e}, after {limit}", environment.name);
            match (is_changed, is_refused) {
                (true, true) => refused += 1,
                (true, false) => missed.push(what()),
                // It shows later.
                (false, true) if is_hidden_changed => refused += 1,
                (false, true) => panic!("nothing has changed: {}", what()),
                (false, false) => same += 1,
            }
        }
    }
    println!("{refused} refused, {same} answer all the same");
    assert!(missed.is_empty(), "{} of {}: {missed:#?}", missed.len(), refused + missed.len());
}

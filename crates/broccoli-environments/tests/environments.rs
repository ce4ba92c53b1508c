//! What every environment promises, whatever its dynamics; the dynamics are compared with Gymnasium in
//! `tests/gymnasium`.

use broccoli_core::problem::{ComeBack, InitialState, System, SystemFactory, Verdict};
use broccoli_environments::{ALL, CARTPOLE, Environment, MOUNTAIN_CAR, PENDULUM, find};

/// A small generator, so that sequences of actions are random but the same in every run (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn actions(&mut self, environment: &Environment, count: usize) -> Vec<usize> {
        (0..count).map(|_| (self.next() % environment.actions.len() as u64) as usize).collect()
    }
}

fn system(environment: &Environment) -> Box<dyn System> {
    environment.make().expect("a built-in system starts")
}

/// Observation and verdict after reset and after every action, as bits so that equal means equal.
fn run(
    environment: &Environment,
    system: &mut dyn System,
    initial: &InitialState,
    actions: &[usize],
) -> Trace {
    let mut observation = vec![0.0; environment.dimensions.len()];
    let verdict = system.reset(initial, &mut observation).expect("the initial state fits").verdict;
    let mut trace = vec![(bits(&observation), verdict)];
    trace.extend(go_on(environment, system, actions));
    trace
}

fn go_on(environment: &Environment, system: &mut dyn System, actions: &[usize]) -> Trace {
    let mut observation = vec![0.0; environment.dimensions.len()];
    let step = |&action: &usize| {
        let verdict = system.step(action, &mut observation).expect("a built-in system goes on").verdict;
        (bits(&observation), verdict)
    };
    actions.iter().map(step).collect()
}

type Trace = Vec<(Vec<u64>, Verdict)>;

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn verdict_at_reset(environment: &Environment, values: &[f64]) -> Verdict {
    let mut observation = vec![0.0; environment.dimensions.len()];
    let reply = system(environment).reset(&InitialState::new(values), &mut observation);
    reply.expect("the initial state fits").verdict
}

#[test]
fn defaults_build_a_problem_with_thresholds_in_every_dimension() {
    for environment in ALL {
        let problem = environment.problem().build().unwrap();
        assert_eq!(problem.dimensions().len(), environment.dimensions.len(), "{}", environment.name);
        assert!(problem.dimensions().iter().all(|d| !d.thresholds.is_empty()), "{}", environment.name);
        assert_eq!(problem.actions().len(), environment.actions.len(), "{}", environment.name);
        assert_eq!(problem.objective(), environment.objective, "{}", environment.name);
        assert_eq!(problem.limits().depth(), environment.depth, "{}", environment.name);
    }
}

#[test]
fn a_step_that_gives_no_grid_is_an_error_with_its_dimension() {
    for environment in ALL {
        let mut steps: Vec<f64> = environment.dimensions.iter().map(|d| d.step).collect();
        *steps.last_mut().unwrap() = 0.0;
        let (dimension, _) = environment.grids(Some(&steps)).unwrap_err();
        assert_eq!(dimension, environment.dimensions.len() - 1, "{}", environment.name);
    }
}

#[test]
fn every_environment_is_found_by_its_name() {
    for environment in ALL {
        assert!(std::ptr::eq(find(environment.name).unwrap(), environment));
    }
}

#[test]
fn default_and_sampled_initial_states_lie_in_the_start_ranges_and_are_running() {
    for environment in ALL {
        let mut states = environment.sample(1000, 3);
        states.push(InitialState::new(environment.initial));
        for state in &states {
            assert_eq!(state.values().len(), environment.dimensions.len());
            for (value, dimension) in state.values().iter().zip(environment.dimensions) {
                let (low, high) = dimension.start;
                assert!((low..=high).contains(value), "{}: {} = {value}", environment.name, dimension.name);
            }
            assert_eq!(
                verdict_at_reset(environment, state.values()),
                Verdict::Running,
                "{}",
                environment.name
            );
        }
    }
}

#[test]
fn reset_observes_the_initial_state_and_the_same_actions_give_the_same_run() {
    let mut random = Random(1);
    for environment in ALL {
        let mut reused = system(environment);
        for initial in environment.sample(20, 5) {
            let actions = random.actions(environment, 300);
            let first = run(environment, &mut *reused, &initial, &actions);
            assert_eq!(first[0].0, bits(initial.values()), "{}", environment.name);
            assert_eq!(first, run(environment, &mut *reused, &initial, &actions), "{}", environment.name);
            let fresh = run(environment, &mut *system(environment), &initial, &actions);
            assert_eq!(first, fresh, "{}", environment.name);
        }
    }
}

#[test]
fn restore_comes_back_bit_for_bit() {
    let mut random = Random(2);
    for environment in ALL {
        let mut saver = system(environment);
        assert_eq!(saver.come_back(), ComeBack::Clone, "{}", environment.name);
        for initial in environment.sample(50, 7) {
            let before = (random.next() % 200) as usize;
            let before = random.actions(environment, before);
            let after = random.actions(environment, 200);
            run(environment, &mut *saver, &initial, &before);
            let mut saved = Vec::new();
            saver.save(&mut saved).unwrap();
            let expected = go_on(environment, &mut *saver, &after);

            saver.restore(&saved).unwrap();
            let mut again = Vec::new();
            saver.save(&mut again).unwrap();
            assert_eq!(saved, again, "{}", environment.name);
            assert_eq!(expected, go_on(environment, &mut *saver, &after), "{}", environment.name);

            let mut other = system(environment);
            other.restore(&saved).unwrap();
            assert_eq!(expected, go_on(environment, &mut *other, &after), "{}", environment.name);
        }
    }
}

#[test]
fn equal_saved_bytes_mean_equal_states() {
    for environment in ALL {
        let saved = |initial: &InitialState| {
            let mut system = system(environment);
            run(environment, &mut *system, initial, &[]);
            let mut bytes = Vec::new();
            system.save(&mut bytes).unwrap();
            bytes
        };
        let states = environment.sample(2, 11);
        assert_eq!(saved(&states[0]), saved(&states[0]), "{}", environment.name);
        assert_ne!(saved(&states[0]), saved(&states[1]), "{}", environment.name);
    }
}

#[test]
fn a_wrong_number_of_initial_values_is_an_error() {
    for environment in ALL {
        let right = environment.dimensions.len();
        let mut observation = vec![0.0; right];
        for count in [0, right - 1, right + 1] {
            let error = system(environment).reset(&InitialState::new(vec![0.0; count]), &mut observation);
            let message = error.unwrap_err().to_string();
            assert_eq!(message, format!("an initial state has {right} values, not {count}"));
        }
    }
}

#[test]
fn a_wrong_length_of_a_saved_state_is_an_error_and_changes_nothing() {
    for environment in ALL {
        let right = 8 * environment.dimensions.len();
        let mut system = system(environment);
        run(environment, &mut *system, &InitialState::new(environment.initial), &[0, 1]);
        let mut before = Vec::new();
        system.save(&mut before).unwrap();
        assert_eq!(before.len(), right, "{}", environment.name);
        for length in [0, 1, right - 8, right - 1, right + 1, right + 8] {
            let message = system.restore(&vec![1; length]).unwrap_err().to_string();
            assert_eq!(message, format!("a saved state has {right} bytes, not {length}"));
        }
        let mut after = Vec::new();
        system.save(&mut after).unwrap();
        assert_eq!(before, after, "{}", environment.name);
    }
}

#[test]
fn cartpole_is_violated_at_once_from_beyond_its_limits_and_only_there() {
    let limit = 24.0 * std::f64::consts::PI / 360.0;
    for sign in [-1.0, 1.0] {
        let verdict = |x: f64, theta: f64| verdict_at_reset(&CARTPOLE, &[sign * x, 9.0, sign * theta, -9.0]);
        assert_eq!(verdict(2.4, 0.0), Verdict::Running);
        assert_eq!(verdict(2.4_f64.next_up(), 0.0), Verdict::Violated);
        assert_eq!(verdict(0.0, limit), Verdict::Running);
        assert_eq!(verdict(0.0, limit.next_up()), Verdict::Violated);
    }
}

#[test]
fn mountain_car_is_satisfied_at_once_on_the_goal_unless_it_rolls_back() {
    let verdict = |position, velocity| verdict_at_reset(&MOUNTAIN_CAR, &[position, velocity]);
    assert_eq!(verdict(0.5, 0.0), Verdict::Satisfied);
    assert_eq!(verdict(0.6, 0.07), Verdict::Satisfied);
    assert_eq!(verdict(0.5_f64.next_down(), 0.07), Verdict::Running);
    assert_eq!(verdict(0.5, -1e-300), Verdict::Running);
}

#[test]
fn pendulum_is_satisfied_at_once_near_upright_and_rest() {
    for sign in [-1.0, 1.0] {
        let verdict =
            |angle: f64, velocity: f64| verdict_at_reset(&PENDULUM, &[sign * angle, sign * velocity]);
        assert_eq!(verdict(0.1, 0.1), Verdict::Satisfied);
        assert_eq!(verdict(0.1_f64.next_up(), 0.0), Verdict::Running);
        assert_eq!(verdict(0.0, 0.1_f64.next_up()), Verdict::Running);
        assert_eq!(verdict(2.0 * std::f64::consts::PI, 0.0), Verdict::Running, "the angle is not wrapped");
    }
}

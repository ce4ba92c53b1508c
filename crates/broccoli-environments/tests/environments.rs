//! What every environment promises, whatever its dynamics; the dynamics are compared with Gymnasium in
//! `tests/gymnasium`.

use broccoli_core::problem::{ComeBack, InitialState, System, SystemFactory, Verdict};
use broccoli_environments::{
    ACROBOT, ALL, ActionError, ActionSpace, BOOST_CONVERTER, BOUNCING_BALL, CARTPOLE, CRUISE_CONTROL,
    Environment, MOUNTAIN_CAR, MOUNTAIN_CAR_CONTINUOUS, PENDULUM, THERMOSTAT, Variant, find,
};

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
            assert_eq!(state.values().len(), environment.starts.len());
            for (value, start) in state.values().iter().zip(environment.starts) {
                let (low, high) = start.range;
                assert!((low..=high).contains(value), "{}: {} = {value}", environment.name, start.name);
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
            let is_observed = environment.dimensions.len() == environment.starts.len();
            if is_observed {
                assert_eq!(first[0].0, bits(initial.values()), "{}", environment.name);
            }
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
        let right = environment.starts.len();
        let mut observation = vec![0.0; environment.dimensions.len()];
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
        let right = 8 * environment.starts.len();
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

#[test]
fn mountain_car_continuous_has_its_goal_a_little_lower() {
    let verdict = |position, velocity| verdict_at_reset(&MOUNTAIN_CAR_CONTINUOUS, &[position, velocity]);
    assert_eq!(verdict(0.45, 0.0), Verdict::Satisfied);
    assert_eq!(verdict(0.45_f64.next_down(), 0.07), Verdict::Running);
    assert_eq!(verdict(0.45, -1e-300), Verdict::Running);
}

#[test]
fn acrobot_observes_cosines_and_sines_and_is_satisfied_one_link_up() {
    let mut observation = [0.0; 6];
    let state = [0.3, -0.7, 1.5, -2.5];
    system(&ACROBOT).reset(&InitialState::new(state), &mut observation).unwrap();
    let expected = [libm::cos(0.3), libm::sin(0.3), libm::cos(-0.7), libm::sin(-0.7), 1.5, -2.5];
    assert_eq!(observation, expected);

    let pi = std::f64::consts::PI;
    let verdict = |theta1, theta2| verdict_at_reset(&ACROBOT, &[theta1, theta2, 0.0, 0.0]);
    assert_eq!(verdict(0.0, 0.0), Verdict::Running);
    assert_eq!(verdict(pi, 0.0), Verdict::Satisfied);
    assert_eq!(verdict(pi / 2.0 + 0.1, pi / 2.0 - 0.1), Verdict::Satisfied, "height 1 + sin(0.1)");
    assert_eq!(verdict(pi / 2.0 - 0.1, pi / 2.0 + 0.1), Verdict::Running, "height 1 - sin(0.1)");
}

#[test]
fn acrobot_wraps_angles_of_any_size() {
    for angle in [3.0, -3.0, 1e3, -1e5, 1e7, -1e15, 1e300] {
        let mut system = system(&ACROBOT);
        let mut observation = [0.0; 6];
        system.reset(&InitialState::new([angle, 0.0, 5.0, 0.0]), &mut observation).unwrap();
        system.step(1, &mut observation).unwrap();
        let mut saved = Vec::new();
        system.save(&mut saved).unwrap();
        let theta1 = f64::from_le_bytes(saved[..8].try_into().unwrap());
        assert!(theta1.abs() <= std::f64::consts::PI, "{angle}: {theta1}");
        assert!((libm::cos(theta1) - observation[0]).abs() < 1e-12, "{angle}");
    }
}

/// What one step from the default initial state leads to, as bits.
fn step(variant: &Variant, action: usize) -> Vec<u64> {
    let environment = variant.environment();
    let mut system = variant.make().expect("a built-in system starts");
    let mut observation = vec![0.0; environment.dimensions.len()];
    system
        .reset(&InitialState::new(environment.initial), &mut observation)
        .expect("a built-in system goes on");
    system.step(action, &mut observation).expect("a built-in system goes on");
    bits(&observation)
}

#[test]
fn chosen_actions_do_what_they_say_in_the_order_given() {
    for environment in ALL {
        let default = Variant::new(environment);
        let mut names: Vec<&str> = environment.actions.iter().map(|action| action.name).collect();
        names.reverse();
        let chosen = Variant::choose(environment, &names).unwrap();
        for action in 0..names.len() {
            assert_eq!(
                step(&default, names.len() - 1 - action),
                step(&chosen, action),
                "{}",
                environment.name
            );
        }
        let values: Vec<String> = default.actions().iter().map(|action| action.value.to_string()).collect();
        let by_value = Variant::choose(environment, &values).unwrap();
        assert_eq!(by_value.actions(), default.actions(), "{}", environment.name);
    }
    // A torque in between leads to a state in between.
    let torques = Variant::choose(&PENDULUM, &["-2", "0.5", "+2"]).unwrap();
    let names: Vec<&str> = torques.actions().iter().map(|action| action.name.as_str()).collect();
    assert_eq!(names, ["-2", "+0.5", "+2"]);
    let velocity = |action| f64::from_bits(step(&torques, action)[1]);
    assert!(velocity(0) < velocity(1) && velocity(1) < velocity(2));
    let car = Variant::choose(&MOUNTAIN_CAR, &["left", "coast", "right"]).unwrap();
    let velocity = |action| f64::from_bits(step(&car, action)[1]);
    assert!(velocity(0) < velocity(1) && velocity(1) < velocity(2));
}

#[test]
fn wrong_choices_of_actions_are_refused() {
    for environment in ALL {
        let unknown = Variant::choose(environment, &["jump", "0"]).unwrap_err();
        assert!(matches!(unknown, ActionError::Unknown { .. }), "{}", environment.name);
        let first = environment.actions[0];
        let value = first.value.to_string();
        assert_eq!(
            Variant::choose(environment, &[first.name, &value]).unwrap_err(),
            ActionError::Twice(first.name.to_owned())
        );
        assert_eq!(Variant::choose(environment, &[first.name]).unwrap_err(), ActionError::TooFew(1));
        for word in ["nan", "inf", "-inf", "1e9", ""] {
            assert!(Variant::choose(environment, &[first.name, word]).is_err(), "{word:?}");
        }
        if let ActionSpace::Range { high, .. } = environment.space {
            let beyond = high.next_up().to_string();
            assert!(Variant::choose(environment, &[first.name, &beyond]).is_err(), "{}", environment.name);
        }
    }
    let mut observation = [0.0; 2];
    let mut system = system(&PENDULUM);
    system.reset(&InitialState::new([0.0; 2]), &mut observation).unwrap();
    assert_eq!(system.step(2, &mut observation).unwrap_err().to_string(), "there is no action 2");
}

/// A noisy run: what is observed after each action, as bits.
fn noisy(variant: &Variant, seed: f64, actions: &[usize]) -> Trace {
    let environment = variant.environment();
    let initial = InitialState::new([environment.initial, &[seed]].concat());
    run(environment, &mut *variant.make().expect("a built-in system starts"), &initial, actions)
}

#[test]
fn noise_depends_on_the_seed_and_on_nothing_else() {
    let mut random = Random(3);
    for environment in ALL {
        let quiet = Variant::new(environment);
        let variant = quiet.clone().with_noise(0.3).unwrap();
        let actions = random.actions(environment, 40);
        let first = noisy(&variant, 7.0, &actions);
        assert_eq!(first, noisy(&variant, 7.0, &actions), "{}", environment.name);
        assert_ne!(first, noisy(&variant, 8.0, &actions), "{}", environment.name);

        // The generator is part of what is saved.
        let mut system = variant.make().unwrap();
        let initial = InitialState::new([environment.initial, &[7.0]].concat());
        run(environment, &mut *system, &initial, &actions[..20]);
        let mut saved = Vec::new();
        system.save(&mut saved).unwrap();
        assert_eq!(saved.len(), 8 * environment.starts.len() + 8, "{}", environment.name);
        let mut other = variant.make().unwrap();
        other.restore(&saved).unwrap();
        assert_eq!(go_on(environment, &mut *other, &actions[20..]), first[21..], "{}", environment.name);

        // Noise of zero is no noise, and no seed.
        let none = quiet.with_noise(0.0).unwrap();
        assert_eq!(step(&none, 0), step(&Variant::new(environment), 0), "{}", environment.name);
    }
}

#[test]
fn noise_is_as_large_as_it_says() {
    let velocities = |noise: f64| -> Vec<f64> {
        let variant = Variant::new(&PENDULUM).with_noise(noise).unwrap();
        let after = |seed: u32| f64::from_bits(noisy(&variant, f64::from(seed), &[0])[1].0[1]);
        (0..2_000).map(after).collect()
    };
    let middle = f64::from_bits(step(&Variant::new(&PENDULUM), 0)[1]);
    // A torque of 0.4 changes the velocity by 3 * 0.4 * 0.05 in a step.
    let off: Vec<f64> = velocities(0.4).iter().map(|velocity| (velocity - middle) / 0.06).collect();
    assert!(off.iter().all(|off| off.abs() <= 1.0 + 1e-12));
    assert!(off.iter().any(|off| *off > 0.99) && off.iter().any(|off| *off < -0.99));
    assert!((off.iter().sum::<f64>() / 2_000.0).abs() < 0.05, "it is centred");
}

/// A change here would change every published result with noise. The numbers come from a program in Python.
#[test]
fn noise_is_frozen() {
    let variant = Variant::new(&PENDULUM).with_noise(1.0).unwrap();
    let observed = &noisy(&variant, 42.0, &[0, 1, 0])[3].0;
    assert_eq!(observed[..], [13_829_154_834_186_861_090, 13_834_508_460_236_728_360], "{observed:?}");
}

#[test]
fn wrong_noise_and_wrong_seeds_are_refused() {
    for noise in [-0.1, f64::NAN, f64::INFINITY] {
        assert!(Variant::new(&PENDULUM).with_noise(noise).is_err(), "{noise}");
    }
    let mut system = Variant::new(&PENDULUM).with_noise(0.1).unwrap().make().unwrap();
    let mut reset = |values: &[f64]| {
        let reply = system.reset(&InitialState::new(values), &mut [0.0; 2]);
        reply.map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(reset(&[0.5, 0.0, 3.0]), Ok(()));
    let message = reset(&[0.5, 0.0]).unwrap_err();
    assert_eq!(message, "an initial state has 3 values, the last one a seed, not 2");
    for seed in [-1.0, 0.5, 2_f64.powi(53)] {
        assert!(reset(&[0.5, 0.0, seed]).unwrap_err().contains("is not a whole number"), "{seed}");
    }
}

/// The state after each of some actions from the default initial state; the saved state is the values.
fn states(environment: &Environment, actions: &[usize]) -> Vec<Vec<f64>> {
    let mut system = system(environment);
    let mut observation = vec![0.0; environment.dimensions.len()];
    system
        .reset(&InitialState::new(environment.initial), &mut observation)
        .expect("a built-in system goes on");
    let after = |&action: &usize| {
        system.step(action, &mut observation).expect("a built-in system goes on");
        let mut saved = Vec::new();
        system.save(&mut saved).expect("a built-in system goes on");
        saved.as_chunks::<8>().0.iter().map(|word| f64::from_le_bytes(*word)).collect()
    };
    actions.iter().map(after).collect()
}

#[test]
fn thermostat_follows_the_solution_of_its_equation() {
    let left = libm::exp(-0.05);
    let mut expected = 20.0;
    for (state, action) in states(&THERMOSTAT, &[0, 1, 1, 0, 1]).iter().zip([0.0, 50.0, 50.0, 0.0, 50.0]) {
        expected = action + (expected - action) * left;
        assert_eq!(state[..], [expected]);
    }
    // Many small steps of Euler's method come close to one exact step.
    let mut euler = 20.0;
    for _ in 0..500_000 {
        euler += (5.0 - 0.1 * euler) * 1e-6;
    }
    assert!((states(&THERMOSTAT, &[1])[0][0] - euler).abs() < 1e-5);
    let verdict = |temperature| verdict_at_reset(&THERMOSTAT, &[temperature]);
    assert_eq!([18.0, 22.0].map(verdict), [Verdict::Running; 2]);
    assert_eq!([18.0_f64.next_down(), 22.0_f64.next_up()].map(verdict), [Verdict::Violated; 2]);
}

#[test]
fn cruise_control_moves_both_cars() {
    // Coasting at 12 m/s behind a car that brakes from 12 to 2 m/s, waits, and comes back to 12 m/s.
    let coasting = states(&CRUISE_CONTROL, &[1; 20]);
    assert_eq!(coasting[0], [29.0, 12.0, 10.0, 1.0]);
    assert_eq!(coasting[4], [5.0, 12.0, 2.0, 5.0], "1 + 3 + 5 + 7 + 9 m lost");
    assert_eq!(coasting[9], [-45.0, 12.0, 2.0, 10.0], "10 m more in each second");
    assert_eq!(coasting[19], [-70.0, 12.0, 12.0, 0.0], "and 9 + 7 + 5 + 3 + 1 m");
    // No faster than 20 m/s, and not backwards.
    assert_eq!(states(&CRUISE_CONTROL, &[2; 10])[9][1], 20.0);
    assert_eq!(states(&CRUISE_CONTROL, &[0; 10])[9][1], 0.0);
    let verdict = |distance| verdict_at_reset(&CRUISE_CONTROL, &[distance, 1.0, 1.0, 0.0]);
    assert_eq!([5.0, 60.0].map(verdict), [Verdict::Running; 2]);
    assert_eq!([4.9, 60.1].map(verdict), [Verdict::Violated; 2]);
}

#[test]
fn bouncing_ball_flies_bounces_and_is_hit() {
    let after = |state: [f64; 2], action: usize| {
        let mut system = system(&BOUNCING_BALL);
        let mut seen = [0.0; 2];
        system.reset(&InitialState::new(state), &mut seen).expect("the initial state fits");
        let verdict = system.step(action, &mut seen).expect("a built-in system goes on").verdict;
        (seen, verdict)
    };
    let close = |a: [f64; 2], b: [f64; 2]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
    // Free flight, at the top of it and below the reach of the bat.
    assert!(close(after([8.0, 0.0], 0).0, [8.0 - 0.04905, -0.981]));
    assert_eq!(after([3.9, 5.0], 1), after([3.9, 5.0], 0), "the bat does not reach below 4 m");
    assert_eq!(after([6.0, -4.0], 1), after([6.0, -4.0], 0), "nor a ball that is as fast");
    // A hit: a falling ball falls at 4 m/s, a rising one turns round.
    assert_eq!(after([6.0, -1.0], 1), after([6.0, -4.0], 0));
    assert_eq!(after([6.0, 2.0], 1), after([6.0, -(0.95 * 2.0) - 4.0], 0));
    // 10 m/s at the floor after 0.05 s leave 9.1 m/s, and 0.05 s to rise.
    let height = 0.05 * 9.5095 + 0.5 * 9.81 * 0.05 * 0.05;
    let speed = (9.5095_f64.powi(2) + 2.0 * 9.81 * height).sqrt();
    let rising = [0.05 * (0.91 * speed) - 0.5 * 9.81 * 0.05 * 0.05, 0.91 * speed - 9.81 * 0.05];
    let (bounced, verdict) = after([height, -9.5095], 0);
    assert!(close(bounced, rising) && verdict == Verdict::Running, "{bounced:?}");
    // It bursts above 15 m/s, and rests if it would leave the floor slower than 1 m/s.
    assert_eq!(after([0.01, -14.98], 0).1, Verdict::Running);
    assert_eq!(after([0.01, -15.0], 0), ([0.0, 0.0], Verdict::Violated));
    assert_eq!(after([0.01, -0.9], 0), ([0.0, 0.0], Verdict::Violated));
    // Left alone it rests at last; hit whenever possible it bursts.
    for (action, most) in [(0, 300), (1, 300)] {
        let rests = states(&BOUNCING_BALL, &vec![action; most]).iter().any(|state| state[..] == [0.0, 0.0]);
        assert!(rests, "{action}");
    }
}

#[test]
fn boost_converter_follows_the_solution_of_its_equations() {
    let derivative = |[i, v]: [f64; 2], closed: bool| {
        let (capacity, inductance, r_c, r_l) = (70.0, 3.0, 0.005, 0.05);
        let k = 1.0 / (1.0 + r_c);
        if closed {
            [(1.0 - r_l * i) / inductance, -v * k / capacity]
        } else {
            [(1.0 - (r_l + k * r_c) * i - k * v) / inductance, (k * i - k * v) / capacity]
        }
    };
    let actions = [1, 0, 0, 1, 0];
    let mut state = [1.35, 1.13];
    for (seen, &action) in states(&BOOST_CONVERTER, &actions).iter().zip(&actions) {
        // The midpoint rule in many small steps.
        let step = 1e-4;
        for _ in 0..5_000 {
            let [di, dv] = derivative(state, action == 1);
            let middle = [state[0] + 0.5 * step * di, state[1] + 0.5 * step * dv];
            let [di, dv] = derivative(middle, action == 1);
            state = [state[0] + step * di, state[1] + step * dv];
        }
        assert!(seen.iter().zip(state).all(|(a, b)| (a - b).abs() < 1e-9), "{seen:?} {state:?}");
    }
    let verdict = |i, v| verdict_at_reset(&BOOST_CONVERTER, &[i, v]);
    assert_eq!([verdict(1.15, 1.09), verdict(1.55, 1.17)], [Verdict::Running; 2]);
    let outside = [(1.14, 1.1), (1.56, 1.1), (1.3, 1.08), (1.3, 1.18)].map(|(i, v)| verdict(i, v));
    assert_eq!(outside, [Verdict::Violated; 4]);
}

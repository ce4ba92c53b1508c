//! # Acrobot
//!
//! **Description.** Two links hang from a fixed joint, and only the joint between them has a motor. Swing
//! the free end up to a height of one link above the fixed joint.
//!
//! **State.** Angle of the first link from hanging down `theta1` (rad), angle of the second link relative
//! to the first `theta2` (rad), both wrapped to [-pi, pi], and their angular velocities `velocity1` and
//! `velocity2` (rad/s), at most 4 pi and 9 pi. An initial state has these four values.
//!
//! **Observation.** Cosine and sine of both angles, and the velocities: six dimensions.
//!
//! **Actions.** `negative`, `none` and `positive`: a torque of -1, 0 or 1 N m on the second joint
//! (Gymnasium's actions 0, 1 and 2).
//!
//! **Start.** Every value uniform in [-0.1, 0.1]; by default (0.05, -0.02, 0.03, -0.04).
//!
//! **Goal.** Satisfied when -cos(theta1) - cos(theta1 + theta2) > 1, in the fewest steps of 0.2 s, within
//! 500. Nothing is ever violated.
//!
//! **Default thresholds.** Steps of 0.25 in cosines and sines (-1, 1), of 2 in velocity1 (-12, 12) and of 4
//! in velocity2 (-28, 28).
//!
//! **Rewards.** Gymnasium's, if wanted: -1 for every step, 0 for the one that reaches the goal.
//!
//! **Source.** Gymnasium 1.x `Acrobot-v1` with the equations of Sutton and Barto's book, one step of
//! Runge-Kutta of order four, in float64 and in its order of operations; sine and cosine from `libm`.
//! Gymnasium rounds initial states and observations to float32.

use std::f64::consts::PI;

use broccoli_core::problem::{Objective, Verdict};

use crate::actions::ActionSpace;
use crate::environment::{ActionInfo, DimensionInfo, Environment, RewardInfo, StartInfo};
use crate::simulator::Dynamics;

const DT: f64 = 0.2;
/// Both links: length, mass, where the centre of mass is, moment of inertia.
const LENGTH: f64 = 1.0;
const MASS: f64 = 1.0;
const CENTRE: f64 = 0.5;
const INERTIA: f64 = 1.0;
const GRAVITY: f64 = 9.8;
const MAX_VELOCITY_1: f64 = 4.0 * PI;
const MAX_VELOCITY_2: f64 = 9.0 * PI;

struct Acrobot;

/// How the state changes under a torque.
fn derivative([theta1, theta2, velocity1, velocity2]: [f64; 4], torque: f64) -> [f64; 4] {
    let (sin2, cos2) = (libm::sin(theta2), libm::cos(theta2));
    let d1 = MASS * (CENTRE * CENTRE)
        + MASS * (LENGTH * LENGTH + CENTRE * CENTRE + 2.0 * LENGTH * CENTRE * cos2)
        + INERTIA
        + INERTIA;
    let d2 = MASS * (CENTRE * CENTRE + LENGTH * CENTRE * cos2) + INERTIA;
    let phi2 = MASS * CENTRE * GRAVITY * libm::cos(theta1 + theta2 - PI / 2.0);
    let phi1 = -MASS * LENGTH * CENTRE * (velocity2 * velocity2) * sin2
        - 2.0 * MASS * LENGTH * CENTRE * velocity2 * velocity1 * sin2
        + (MASS * CENTRE + MASS * LENGTH) * GRAVITY * libm::cos(theta1 - PI / 2.0)
        + phi2;
    let acceleration2 =
        (torque + d2 / d1 * phi1 - MASS * LENGTH * CENTRE * (velocity1 * velocity1) * sin2 - phi2)
            / (MASS * (CENTRE * CENTRE) + INERTIA - (d2 * d2) / d1);
    let acceleration1 = -(d2 * acceleration2 + phi1) / d1;
    [velocity1, velocity2, acceleration1, acceleration2]
}

/// An angle in [-pi, pi]: turn by turn as in Gymnasium, unless that would take for ever.
fn wrap(mut angle: f64) -> f64 {
    if angle.abs() > 1e6 {
        return libm::remainder(angle, 2.0 * PI);
    }
    while angle > PI {
        angle -= 2.0 * PI;
    }
    while angle < -PI {
        angle += 2.0 * PI;
    }
    angle
}

impl Dynamics<4> for Acrobot {
    fn force(value: f64) -> f64 {
        value - 1.0
    }

    fn next(state: [f64; 4], torque: f64) -> [f64; 4] {
        let ahead = |by: f64, k: [f64; 4]| std::array::from_fn(|i| state[i] + by * k[i]);
        let k1 = derivative(state, torque);
        let k2 = derivative(ahead(DT / 2.0, k1), torque);
        let k3 = derivative(ahead(DT / 2.0, k2), torque);
        let k4 = derivative(ahead(DT, k3), torque);
        let slope = std::array::from_fn(|i| k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        let [theta1, theta2, velocity1, velocity2] = ahead(DT / 6.0, slope);
        [
            wrap(theta1),
            wrap(theta2),
            velocity1.clamp(-MAX_VELOCITY_1, MAX_VELOCITY_1),
            velocity2.clamp(-MAX_VELOCITY_2, MAX_VELOCITY_2),
        ]
    }

    fn reward(_: [f64; 4], _: f64, after: [f64; 4]) -> Option<f64> {
        Some(if Self::verdict(after) == Verdict::Satisfied { 0.0 } else { -1.0 })
    }

    fn verdict([theta1, theta2, ..]: [f64; 4]) -> Verdict {
        let is_up = -libm::cos(theta1) - libm::cos(theta2 + theta1) > 1.0;
        if is_up { Verdict::Satisfied } else { Verdict::Running }
    }

    fn observe([theta1, theta2, velocity1, velocity2]: [f64; 4], observation: &mut [f64]) {
        let (sin1, cos1) = libm::sincos(theta1);
        let (sin2, cos2) = libm::sincos(theta2);
        observation.copy_from_slice(&[cos1, sin1, cos2, sin2, velocity1, velocity2]);
    }
}

/// Swing the free end of two links up.
pub static ACROBOT: Environment = Environment {
    name: "acrobot",
    title: "Acrobot",
    description: "Two links hang from a fixed joint, and only the joint between them has a motor. Swing the \
                  free end up to a height of one link above the fixed joint.",
    dimensions: &[
        dimension("cos1", "cosine of the first link's angle from hanging down", 1.0, 0.25),
        dimension("sin1", "sine of the first link's angle", 1.0, 0.25),
        dimension("cos2", "cosine of the second link's angle to the first", 1.0, 0.25),
        dimension("sin2", "sine of the second link's angle", 1.0, 0.25),
        dimension("velocity1", "angular velocity of the first link, rad/s", 12.0, 2.0),
        dimension("velocity2", "angular velocity of the second link, rad/s", 28.0, 4.0),
    ],
    actions: ACTIONS,
    space: ActionSpace::Named(ACTIONS),
    starts: &[start("theta1"), start("theta2"), start("velocity1"), start("velocity2")],
    initial: &[0.05, -0.02, 0.03, -0.04],
    objective: Objective::reach(500),
    verdicts: "satisfied when -cos(theta1) - cos(theta1 + theta2) > 1",
    depth: 2,
    source: "Gymnasium Acrobot-v1",
    noise: "the torque, N m",
    rewards: Some(RewardInfo {
        meaning: "-1 for every step, 0 for the one that reaches the goal",
        bounds: (-1.0, 0.0),
        horizon: 500,
    }),
    make: Acrobot::make,
};

const ACTIONS: &[ActionInfo] = &[
    ActionInfo { name: "negative", value: 0.0, meaning: "torque of -1 N m on the second joint" },
    ActionInfo { name: "none", value: 1.0, meaning: "no torque" },
    ActionInfo { name: "positive", value: 2.0, meaning: "torque of 1 N m on the second joint" },
];

const fn dimension(name: &'static str, meaning: &'static str, limit: f64, step: f64) -> DimensionInfo {
    DimensionInfo { name, meaning, range: (-limit, limit), step }
}

const fn start(name: &'static str) -> StartInfo {
    StartInfo { name, range: (-0.1, 0.1) }
}

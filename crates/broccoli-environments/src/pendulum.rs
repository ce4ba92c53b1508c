//! # Pendulum
//!
//! **Description.** A rod hangs on a motor too weak to lift it straight up. Bring it upright and
//! nearly to rest.
//!
//! **State.** `angle` from upright (rad, not wrapped) and angular `velocity` (rad/s). The observation
//! is the state; Gymnasium would give cosine and sine of the angle instead.
//!
//! **Actions.** `-2` and `+2`: full torque either way (N m). Any list of torques in [-2, 2] can be chosen
//! instead.
//!
//! **Start.** Angle uniform in [-0.8, -0.5], velocity in [-0.2, 0.2]; by default (-0.665, -0.024).
//!
//! **Goal.** Satisfied when |angle| <= 0.1 and |velocity| <= 0.1, in the fewest steps of 50 ms, within
//! 10,000. Nothing is ever violated. Gymnasium has no goal for it; this one is the paper's.
//!
//! **Default thresholds.** Steps of 0.2 in angle (-1, 1) and in velocity (-8, 8).
//!
//! **Rewards.** Gymnasium's, if wanted: minus angle^2 + 0.1 velocity^2 + 0.001 torque^2 of the state before the
//! step, the angle taken within half a turn of upright. There is no goal then, as in Gymnasium.
//!
//! **Source.** Gymnasium 1.x `Pendulum-v1`, in float64 and in its order of operations; sine from
//! `libm`.

use std::f64::consts::PI;

use broccoli_core::problem::{Objective, Verdict};

use crate::actions::ActionSpace;
use crate::environment::{ActionInfo, DimensionInfo, Environment, RewardInfo, StartInfo};
use crate::simulator::Dynamics;

const GRAVITY: f64 = 10.0;
const MASS: f64 = 1.0;
const LENGTH: f64 = 1.0;
const DT: f64 = 0.05;
const MAX_SPEED: f64 = 8.0;
const MAX_TORQUE: f64 = 2.0;
const GOAL: f64 = 0.1;

struct Pendulum;

impl Dynamics<2> for Pendulum {
    fn next([angle, velocity]: [f64; 2], torque: f64) -> [f64; 2] {
        let acceleration =
            3.0 * GRAVITY / (2.0 * LENGTH) * libm::sin(angle) + 3.0 / (MASS * (LENGTH * LENGTH)) * torque;
        let velocity = (velocity + acceleration * DT).clamp(-MAX_SPEED, MAX_SPEED);
        [angle + velocity * DT, velocity]
    }

    fn reward([angle, velocity]: [f64; 2], torque: f64, _: [f64; 2]) -> Option<f64> {
        let angle = (angle + PI).rem_euclid(2.0 * PI) - PI;
        Some(-(angle * angle + 0.1 * (velocity * velocity) + 0.001 * (torque * torque)))
    }

    fn verdict_with_rewards(_: [f64; 2]) -> Verdict {
        Verdict::Running
    }

    fn verdict([angle, velocity]: [f64; 2]) -> Verdict {
        if angle.abs() <= GOAL && velocity.abs() <= GOAL { Verdict::Satisfied } else { Verdict::Running }
    }
}

/// Swing a rod upright and stop it there.
pub static PENDULUM: Environment = Environment {
    name: "pendulum",
    title: "Pendulum",
    description: "A rod hangs on a motor too weak to lift it straight up. Bring it upright and nearly to rest.",
    dimensions: &[
        DimensionInfo {
            name: "angle",
            meaning: "angle from upright, rad, not wrapped",
            range: (-1.0, 1.0),
            step: 0.2,
        },
        DimensionInfo { name: "velocity", meaning: "angular velocity, rad/s", range: (-8.0, 8.0), step: 0.2 },
    ],
    actions: &[
        ActionInfo { name: "-2", value: -2.0, meaning: "torque of -2 N m" },
        ActionInfo { name: "+2", value: 2.0, meaning: "torque of 2 N m" },
    ],
    space: ActionSpace::Range { low: -MAX_TORQUE, high: MAX_TORQUE, meaning: "torque in N m" },
    starts: &[
        StartInfo { name: "angle", range: (-0.8, -0.5) },
        StartInfo { name: "velocity", range: (-0.2, 0.2) },
    ],
    initial: &[-0.665, -0.024],
    objective: Objective::reach(10_000),
    verdicts: "satisfied when |angle| <= 0.1 and |velocity| <= 0.1",
    depth: 2,
    source: "Gymnasium Pendulum-v1",
    noise: "the torque, N m",
    rewards: Some(RewardInfo {
        meaning: "minus angle^2 + 0.1 velocity^2 + 0.001 torque^2, the angle within half a turn of upright",
        // Summed up as the reward is.
        bounds: (-(PI * PI + 0.1 * (MAX_SPEED * MAX_SPEED) + 0.001 * (2.0 * 2.0)), 0.0),
        horizon: 200,
    }),
    make: Pendulum::make,
};

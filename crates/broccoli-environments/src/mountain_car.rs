//! # MountainCar
//!
//! **Description.** An underpowered car sits in a valley and must reach the flag on the right hill. It
//! has to swing back and forth to gather speed.
//!
//! **State.** `position` along the track and `velocity` per step. The observation is the state.
//!
//! **Actions.** `left` and `right`: accelerate by 0.001 either way (Gymnasium's actions 0 and 2). To
//! `coast`, Gymnasium's action 1, can be chosen in addition.
//!
//! **Start.** Position uniform in [-0.6, -0.4], velocity 0; by default (-0.51, 0).
//!
//! **Goal.** Satisfied when position >= 0.5 and velocity >= 0, in the fewest steps, within 10,000.
//! Nothing is ever violated.
//!
//! **Default thresholds.** Steps of 0.05 in position (-1.2, 0.6) and 0.005 in velocity (-0.07, 0.07).
//!
//! **Rewards.** Gymnasium's, if wanted: -1 for every step.
//!
//! **Source.** Gymnasium 1.x `MountainCar-v0`, in float64 and in its order of operations; cosine from
//! `libm`.

use broccoli_core::problem::{Objective, Verdict};

use crate::actions::ActionSpace;
use crate::environment::{ActionInfo, DimensionInfo, Environment, RewardInfo, StartInfo};
use crate::simulator::Dynamics;

const MIN_POSITION: f64 = -1.2;
const MAX_POSITION: f64 = 0.6;
const MAX_SPEED: f64 = 0.07;
const GOAL_POSITION: f64 = 0.5;
const GOAL_VELOCITY: f64 = 0.0;
const FORCE: f64 = 0.001;
const GRAVITY: f64 = 0.0025;

struct MountainCar;

/// Moves the car, no faster than it can, up to the walls of the track; the left one stops it.
pub(crate) fn roll(position: f64, velocity: f64) -> [f64; 2] {
    let velocity = velocity.clamp(-MAX_SPEED, MAX_SPEED);
    let position = (position + velocity).clamp(MIN_POSITION, MAX_POSITION);
    let stopped = position == MIN_POSITION && velocity < 0.0;
    [position, if stopped { 0.0 } else { velocity }]
}

impl Dynamics<2> for MountainCar {
    /// -1, 0 or 1.
    fn force(value: f64) -> f64 {
        value - 1.0
    }

    fn next([position, velocity]: [f64; 2], direction: f64) -> [f64; 2] {
        let velocity = velocity + (direction * FORCE + libm::cos(3.0 * position) * (-GRAVITY));
        roll(position, velocity)
    }

    fn reward(_: [f64; 2], _: f64, _: [f64; 2]) -> Option<f64> {
        Some(-1.0)
    }

    fn verdict([position, velocity]: [f64; 2]) -> Verdict {
        if position >= GOAL_POSITION && velocity >= GOAL_VELOCITY {
            Verdict::Satisfied
        } else {
            Verdict::Running
        }
    }
}

/// Drive an underpowered car up a hill.
pub static MOUNTAIN_CAR: Environment = Environment {
    name: "mountain-car",
    title: "MountainCar",
    description: "An underpowered car sits in a valley and must reach the flag on the right hill. It has to \
                  swing back and forth to gather speed.",
    dimensions: &[
        DimensionInfo {
            name: "position",
            meaning: "position along the track",
            range: (-1.2, 0.6),
            step: 0.05,
        },
        DimensionInfo {
            name: "velocity",
            meaning: "change of position per step",
            range: (-0.07, 0.07),
            step: 0.005,
        },
    ],
    actions: &[LEFT, RIGHT],
    space: ActionSpace::Named(&[LEFT, COAST, RIGHT]),
    starts: &[
        StartInfo { name: "position", range: (-0.6, -0.4) },
        StartInfo { name: "velocity", range: (0.0, 0.0) },
    ],
    initial: &[-0.51, 0.0],
    objective: Objective::reach(10_000),
    verdicts: "satisfied when position >= 0.5 and velocity >= 0",
    depth: 2,
    source: "Gymnasium MountainCar-v0",
    noise: "the acceleration, thousandths",
    rewards: Some(RewardInfo { meaning: "-1 for every step", bounds: (-1.0, -1.0), horizon: 200 }),
    make: MountainCar::make,
};

const LEFT: ActionInfo = ActionInfo { name: "left", value: 0.0, meaning: "accelerate by 0.001 to the left" };
const COAST: ActionInfo = ActionInfo { name: "coast", value: 1.0, meaning: "do not accelerate" };
const RIGHT: ActionInfo =
    ActionInfo { name: "right", value: 2.0, meaning: "accelerate by 0.001 to the right" };

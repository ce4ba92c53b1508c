//! # MountainCarContinuous
//!
//! **Description.** The car of MountainCar with a motor of any force: it must reach the flag on the right
//! hill.
//!
//! **State.** `position` along the track and `velocity` per step. The observation is the state.
//!
//! **Actions.** `-1` and `+1`: full force either way, which accelerates by 0.0015. Any list of forces in
//! [-1, 1] can be chosen instead.
//!
//! **Start.** Position uniform in [-0.6, -0.4], velocity 0; by default (-0.51, 0).
//!
//! **Goal.** Satisfied when position >= 0.45 and velocity >= 0, in the fewest steps, within 10,000.
//! Nothing is ever violated.
//!
//! **Default thresholds.** Steps of 0.05 in position (-1.2, 0.6) and 0.005 in velocity (-0.07, 0.07).
//!
//! **Rewards.** Gymnasium's, if wanted: -0.1 times the force squared, and 100 for the step that reaches the goal.
//!
//! **Source.** Gymnasium 1.x `MountainCarContinuous-v0`, in its order of operations but in float64:
//! Gymnasium rounds the state to float32 after every step. Cosine from `libm`.

use broccoli_core::problem::{Objective, Verdict};

use crate::actions::ActionSpace;
use crate::environment::{ActionInfo, Environment, RewardInfo};
use crate::mountain_car::{MOUNTAIN_CAR, roll};
use crate::simulator::Dynamics;

const GOAL_POSITION: f64 = 0.45;
const POWER: f64 = 0.0015;
const GRAVITY: f64 = 0.0025;

struct MountainCarContinuous;

impl Dynamics<2> for MountainCarContinuous {
    fn next([position, velocity]: [f64; 2], force: f64) -> [f64; 2] {
        roll(position, velocity + (force * POWER - GRAVITY * libm::cos(3.0 * position)))
    }

    fn reward(_: [f64; 2], force: f64, after: [f64; 2]) -> Option<f64> {
        let goal = if Self::verdict(after) == Verdict::Satisfied { 100.0 } else { 0.0 };
        Some(goal - force * force * 0.1)
    }

    fn verdict([position, velocity]: [f64; 2]) -> Verdict {
        if position >= GOAL_POSITION && velocity >= 0.0 { Verdict::Satisfied } else { Verdict::Running }
    }
}

/// Drive an underpowered car with a motor of any force up a hill.
pub static MOUNTAIN_CAR_CONTINUOUS: Environment = Environment {
    name: "mountain-car-continuous",
    title: "MountainCarContinuous",
    description: "An underpowered car with a motor of any force sits in a valley. It has to swing back and \
                  forth to reach the flag on the right hill.",
    dimensions: MOUNTAIN_CAR.dimensions,
    actions: &[
        ActionInfo { name: "-1", value: -1.0, meaning: "full force to the left" },
        ActionInfo { name: "+1", value: 1.0, meaning: "full force to the right" },
    ],
    space: ActionSpace::Range { low: -1.0, high: 1.0, meaning: "force" },
    starts: MOUNTAIN_CAR.starts,
    initial: &[-0.51, 0.0],
    objective: Objective::reach(10_000),
    verdicts: "satisfied when position >= 0.45 and velocity >= 0",
    depth: 2,
    source: "Gymnasium MountainCarContinuous-v0, in float64",
    noise: "the force",
    rewards: Some(RewardInfo {
        meaning: "-0.1 times the force squared, and 100 for the step that reaches the goal",
        bounds: (-0.1, 100.0),
        horizon: 999,
    }),
    make: MountainCarContinuous::make,
};

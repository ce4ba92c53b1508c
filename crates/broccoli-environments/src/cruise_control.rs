//! # CruiseControl
//!
//! **Description.** A car follows another one that slows down and speeds up again and again. Brake, coast or
//! accelerate so that it neither hits the front car nor loses it.
//!
//! **State.** `distance` to the front car (m), own `velocity` (m/s), the front car's velocity `front` (m/s),
//! and a `clock` (s, 0 to 19) that tells what the front car does. An initial state has these four values.
//!
//! **Observation.** Distance and both velocities; the clock is hidden.
//!
//! **Actions.** `brake`, `coast` and `accelerate`: -2, 0 or 2 m/s².
//!
//! **Start.** Distance uniform in [20, 40], velocity in [8, 14], front car at 12 m/s, clock 0; by default
//! (30, 12, 12, 0).
//!
//! **Failure.** Violated when the distance is less than 5 or more than 60 m. There is no goal; the objective is
//! to survive, up to 500 steps of one second.
//!
//! **Default thresholds.** Steps of 5 in distance (5, 60), of 2 in velocity (0, 20) and front (0, 20).
//!
//! **Source.** After K. G. Larsen, M. Mikučionis and J. H. Taankvist, *Safe and Optimal Adaptive Cruise Control*
//! (2015): accelerations of -2, 0 and 2 m/s² once a second, velocities of at most 20 m/s, and a distance of at
//! least 5 m. There the front car accelerates at random and a car may go backwards; here the front car
//! brakes for 5 s, waits for 5 s, accelerates for 5 s and waits for 5 s, and no car goes backwards.

use broccoli_core::problem::{Objective, Verdict};

use crate::actions::ActionSpace;
use crate::environment::{ActionInfo, DimensionInfo, Environment, StartInfo};
use crate::simulator::Dynamics;

const FASTEST: f64 = 20.0;
const NEAREST: f64 = 5.0;
const FARTHEST: f64 = 60.0;
/// The front car does the same again after so many seconds.
const PERIOD: f64 = 20.0;

struct CruiseControl;

/// The velocity after a second, and how far the car goes meanwhile.
fn drive(velocity: f64, acceleration: f64) -> (f64, f64) {
    let next = (velocity + acceleration).clamp(0.0, FASTEST);
    (next, (velocity + next) / 2.0)
}

impl Dynamics<4> for CruiseControl {
    fn next([distance, velocity, front, clock]: [f64; 4], acceleration: f64) -> [f64; 4] {
        let front_acceleration = match clock {
            c if c < 5.0 => -2.0,
            c if (10.0..15.0).contains(&c) => 2.0,
            _ => 0.0,
        };
        let (front, ahead) = drive(front, front_acceleration);
        let (velocity, driven) = drive(velocity, acceleration);
        let clock = if clock + 1.0 < PERIOD { clock + 1.0 } else { 0.0 };
        [distance + (ahead - driven), velocity, front, clock]
    }

    fn verdict([distance, ..]: [f64; 4]) -> Verdict {
        if (NEAREST..=FARTHEST).contains(&distance) { Verdict::Running } else { Verdict::Violated }
    }

    fn observe([distance, velocity, front, _]: [f64; 4], observation: &mut [f64]) {
        observation.copy_from_slice(&[distance, velocity, front]);
    }
}

/// Follow a car that slows down and speeds up.
pub static CRUISE_CONTROL: Environment = Environment {
    name: "cruise-control",
    title: "CruiseControl",
    description: "A car follows another one that slows down and speeds up again and again. Brake, coast or \
                  accelerate so that it neither hits the front car nor loses it.",
    dimensions: &[
        DimensionInfo {
            name: "distance",
            meaning: "distance to the front car, m",
            range: (NEAREST, FARTHEST),
            step: 5.0,
        },
        DimensionInfo { name: "velocity", meaning: "own velocity, m/s", range: (0.0, FASTEST), step: 2.0 },
        DimensionInfo {
            name: "front",
            meaning: "front car's velocity, m/s",
            range: (0.0, FASTEST),
            step: 2.0,
        },
    ],
    actions: ACTIONS,
    space: ActionSpace::Named(ACTIONS),
    starts: &[
        StartInfo { name: "distance", range: (20.0, 40.0) },
        StartInfo { name: "velocity", range: (8.0, 14.0) },
        StartInfo { name: "front", range: (12.0, 12.0) },
        StartInfo { name: "clock", range: (0.0, 0.0) },
    ],
    initial: &[30.0, 12.0, 12.0, 0.0],
    objective: Objective::survive(500),
    verdicts: "violated when distance < 5 or distance > 60",
    depth: 2,
    source: "after Larsen, Mikučionis, Taankvist, Safe and Optimal Adaptive Cruise Control, 2015",
    noise: "the own acceleration, m/s²",
    rewards: None,
    make: CruiseControl::make,
};

const ACTIONS: &[ActionInfo] = &[
    ActionInfo { name: "brake", value: -2.0, meaning: "slow down by 2 m/s²" },
    ActionInfo { name: "coast", value: 0.0, meaning: "keep the velocity" },
    ActionInfo { name: "accelerate", value: 2.0, meaning: "speed up by 2 m/s²" },
];

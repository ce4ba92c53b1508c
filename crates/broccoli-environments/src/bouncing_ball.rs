//! # BouncingBall
//!
//! **Description.** A ball bounces on the floor and loses speed each time. Hit it down now and then, so that it
//! neither comes to rest nor bursts.
//!
//! **State.** `height` (m) and `velocity` (m/s, upwards). The observation is the state.
//!
//! **Actions.** `wait` and `hit`: a bat of 0 or 4 m/s. A hit meets the ball only at 4 m or above, and not if it
//! falls at 4 m/s or more already. A ball that falls then falls at 4 m/s; one that rises turns round, at 95 % of
//! its speed and 4 m/s more. A bat of less than 1 m/s does not meet it.
//!
//! **Start.** Height uniform in [7, 10], velocity 0; by default (8, 0).
//!
//! **Failure.** Violated when the ball meets the floor faster than 15 m/s, and bursts, or leaves it slower than
//! 1 m/s, and rests; it then lies at (0, 0). There is no goal; the objective is to survive, up to 1,200 steps of
//! 0.1 s.
//!
//! **Default thresholds.** Steps of 1 in height (0, 12), and in velocity (-16, 16).
//!
//! **Source.** After M. Jaeger, P. G. Jensen, K. G. Larsen, A. Legay, S. Sedwards and J. H. Taankvist, *Teaching
//! Stratego to Play Ball* (2019): the reach of the bat, its 4 m/s, decisions ten times a second, 120 s and the
//! start. There the ball keeps a random share of its speed and hits cost; here it keeps 91 % at the floor, and
//! bursts if it is hit too often. Between decisions the parabola is exact.

use broccoli_core::problem::{Objective, Verdict};

use crate::actions::ActionSpace;
use crate::environment::{ActionInfo, DimensionInfo, Environment, StartInfo};
use crate::simulator::Dynamics;

const GRAVITY: f64 = 9.81;
const DT: f64 = 0.1;
/// What is left of the speed after the floor, and after the bat.
const FLOOR: f64 = 0.91;
const BAT: f64 = 0.95;
/// The lowest point that the bat reaches.
const REACH: f64 = 4.0;
/// The speed of the bat; one of `TOUCH` or less does nothing.
const SWING: f64 = 4.0;
const TOUCH: f64 = 1.0;
const SLOWEST: f64 = 1.0;
const FASTEST: f64 = 15.0;

struct BouncingBall;

/// The velocity after the bat.
fn hit(height: f64, velocity: f64, bat: f64) -> f64 {
    match velocity {
        _ if bat < TOUCH || height < REACH || velocity <= -bat => velocity,
        falling if falling < 0.0 => -bat,
        rising => -(BAT * rising) - bat,
    }
}

impl Dynamics<2> for BouncingBall {
    fn next([height, velocity]: [f64; 2], bat: f64) -> [f64; 2] {
        let fly = |height: f64, velocity: f64, time: f64| {
            [height + time * (velocity - 0.5 * GRAVITY * time), velocity - GRAVITY * time]
        };
        let velocity = hit(height, velocity, bat);
        let impact = (velocity * velocity + 2.0 * GRAVITY * height).max(0.0).sqrt();
        let until_impact = (velocity + impact) / GRAVITY;
        if until_impact > DT {
            return fly(height, velocity, DT);
        }
        let bounce = FLOOR * impact;
        if impact > FASTEST || bounce < SLOWEST {
            return [0.0, 0.0];
        }
        // It is in the air for 0.2 s or more, and cannot come back within the step.
        fly(0.0, bounce, DT - until_impact)
    }

    fn verdict([height, velocity]: [f64; 2]) -> Verdict {
        if height <= 0.0 && velocity < SLOWEST { Verdict::Violated } else { Verdict::Running }
    }
}

/// Keep a ball bouncing.
pub static BOUNCING_BALL: Environment = Environment {
    name: "bouncing-ball",
    title: "BouncingBall",
    description: "A ball bounces on the floor and loses speed each time. Hit it down now and then, so that it \
                  neither comes to rest nor bursts.",
    dimensions: &[
        DimensionInfo { name: "height", meaning: "height above the floor, m", range: (0.0, 12.0), step: 1.0 },
        DimensionInfo {
            name: "velocity",
            meaning: "velocity, m/s, upwards",
            range: (-16.0, 16.0),
            step: 1.0,
        },
    ],
    actions: ACTIONS,
    space: ActionSpace::Named(ACTIONS),
    starts: &[
        StartInfo { name: "height", range: (7.0, 10.0) },
        StartInfo { name: "velocity", range: (0.0, 0.0) },
    ],
    initial: &[8.0, 0.0],
    objective: Objective::survive(1_200),
    verdicts: "violated when the ball meets the floor faster than 15 m/s or leaves it slower than 1 m/s",
    depth: 2,
    source: "after Jaeger et al., Teaching Stratego to Play Ball, 2019",
    noise: "the bat's speed, m/s",
    rewards: None,
    make: BouncingBall::make,
};

const ACTIONS: &[ActionInfo] = &[
    ActionInfo { name: "wait", value: 0.0, meaning: "let the ball be" },
    ActionInfo { name: "hit", value: SWING, meaning: "hit the ball down with 4 m/s, from 4 m upwards" },
];

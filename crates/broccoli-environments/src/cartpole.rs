//! # CartPole
//!
//! **Description.** A pole is hinged to a cart on a frictionless track. Push the cart left or right
//! so that the pole stays up and the cart on the track.
//!
//! **State.** Position of the cart `x` (m), its velocity `x_dot` (m/s), angle of the pole from the
//! vertical `theta` (rad), its angular velocity `theta_dot` (rad/s). The observation is the state.
//!
//! **Actions.** `left` and `right`: a force of 10 N either way (Gymnasium's actions 0 and 1).
//!
//! **Start.** Every value uniform in [-0.05, 0.05]; by default (0.013, -0.02, 0.047, 0.025).
//!
//! **Failure.** Violated when |x| > 2.4 or |theta| > 24*pi/360. There is no goal; the objective is to
//! survive, up to 10,000 steps of 20 ms.
//!
//! **Default thresholds.** Steps of 0.1 in x (-2.4, 2.4), x_dot (-1, 1), theta (-0.418, 0.418) and
//! theta_dot (-1, 1).
//!
//! **Rewards.** Gymnasium's, if wanted: 1 for every step.
//!
//! **Source.** Gymnasium 1.x `CartPole-v1`, Euler integration, in float64 and in its order of
//! operations; sine and cosine from `libm`.

use std::f64::consts::PI;

use broccoli_core::problem::{Objective, Verdict};

use crate::actions::ActionSpace;
use crate::environment::{ActionInfo, DimensionInfo, Environment, RewardInfo, StartInfo};
use crate::simulator::Dynamics;

const GRAVITY: f64 = 9.8;
const MASS_CART: f64 = 1.0;
const MASS_POLE: f64 = 0.1;
const TOTAL_MASS: f64 = MASS_POLE + MASS_CART;
/// Half the length of the pole.
const LENGTH: f64 = 0.5;
const POLE_MASS_LENGTH: f64 = MASS_POLE * LENGTH;
const FORCE: f64 = 10.0;
const TAU: f64 = 0.02;
const X_LIMIT: f64 = 2.4;
const THETA_LIMIT: f64 = 12.0 * 2.0 * PI / 360.0;

struct CartPole;

impl Dynamics<4> for CartPole {
    fn force(value: f64) -> f64 {
        if value == 1.0 { FORCE } else { -FORCE }
    }

    fn next([x, x_dot, theta, theta_dot]: [f64; 4], force: f64) -> [f64; 4] {
        let (sin, cos) = libm::sincos(theta);
        let temp = (force + POLE_MASS_LENGTH * (theta_dot * theta_dot) * sin) / TOTAL_MASS;
        let theta_acc =
            (GRAVITY * sin - cos * temp) / (LENGTH * (4.0 / 3.0 - MASS_POLE * (cos * cos) / TOTAL_MASS));
        let x_acc = temp - POLE_MASS_LENGTH * theta_acc * cos / TOTAL_MASS;
        [x + TAU * x_dot, x_dot + TAU * x_acc, theta + TAU * theta_dot, theta_dot + TAU * theta_acc]
    }

    fn reward(_: [f64; 4], _: f64, _: [f64; 4]) -> Option<f64> {
        Some(1.0)
    }

    fn verdict([x, _, theta, _]: [f64; 4]) -> Verdict {
        if x.abs() > X_LIMIT || theta.abs() > THETA_LIMIT { Verdict::Violated } else { Verdict::Running }
    }
}

/// Keep a pole upright on a moving cart.
pub static CARTPOLE: Environment = Environment {
    name: "cartpole",
    title: "CartPole",
    description: "A pole is hinged to a cart on a frictionless track. Push the cart left or right so that \
                  the pole stays up and the cart on the track.",
    dimensions: &[
        dimension("x", "position of the cart, m", (-2.4, 2.4)),
        dimension("x_dot", "velocity of the cart, m/s", (-1.0, 1.0)),
        dimension("theta", "angle of the pole from the vertical, rad", (-0.418, 0.418)),
        dimension("theta_dot", "angular velocity of the pole, rad/s", (-1.0, 1.0)),
    ],
    actions: ACTIONS,
    space: ActionSpace::Named(ACTIONS),
    starts: &[start("x"), start("x_dot"), start("theta"), start("theta_dot")],
    initial: &[0.013, -0.02, 0.047, 0.025],
    objective: Objective::survive(10_000),
    verdicts: "violated when |x| > 2.4 or |theta| > 24*pi/360",
    depth: 2,
    source: "Gymnasium CartPole-v1",
    noise: "the force, N",
    rewards: Some(RewardInfo { meaning: "1 for every step", bounds: (1.0, 1.0), horizon: 500 }),
    make: CartPole::make,
};

const ACTIONS: &[ActionInfo] = &[
    ActionInfo { name: "left", value: 0.0, meaning: "push with 10 N to the left" },
    ActionInfo { name: "right", value: 1.0, meaning: "push with 10 N to the right" },
];

const fn dimension(name: &'static str, meaning: &'static str, range: (f64, f64)) -> DimensionInfo {
    DimensionInfo { name, meaning, range, step: 0.1 }
}

const fn start(name: &'static str) -> StartInfo {
    StartInfo { name, range: (-0.05, 0.05) }
}

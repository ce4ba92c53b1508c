//! # Thermostat
//!
//! **Description.** A room loses heat, and a heater warms it. Switch the heater so that the room is neither
//! too cold nor too warm.
//!
//! **State.** The `temperature` x in degrees. The observation is the state.
//!
//! **Actions.** `off` and `on`: heating power u of 0 or 5 degrees per minute.
//!
//! **Start.** Temperature uniform in [18.5, 21.5]; by default 20.
//!
//! **Failure.** Violated when x < 18 or x > 22. There is no goal; the objective is to survive, up to 1,000
//! steps of half a minute.
//!
//! **Default thresholds.** Steps of 0.5 in temperature (18, 22).
//!
//! **Source.** The thermostat of T. A. Henzinger, *The Theory of Hybrid Automata* (LICS 1996): dx/dt = u - 0.1 x.
//! Between two decisions u is constant, and the solution x(t) = 10 u + (x - 10 u) exp(-0.1 t) is exact.

use broccoli_core::problem::{Objective, Verdict};

use crate::actions::ActionSpace;
use crate::environment::{ActionInfo, DimensionInfo, Environment, StartInfo};
use crate::simulator::Dynamics;

/// exp(-0.1 * 0.5): what is left of a difference after a step.
const LEFT: f64 = 0.951_229_424_500_714;
const COLD: f64 = 18.0;
const WARM: f64 = 22.0;

struct Thermostat;

impl Dynamics<1> for Thermostat {
    fn next([temperature]: [f64; 1], power: f64) -> [f64; 1] {
        let limit = 10.0 * power;
        [limit + (temperature - limit) * LEFT]
    }

    fn verdict([temperature]: [f64; 1]) -> Verdict {
        if (COLD..=WARM).contains(&temperature) { Verdict::Running } else { Verdict::Violated }
    }
}

/// Keep a room neither too cold nor too warm.
pub static THERMOSTAT: Environment = Environment {
    name: "thermostat",
    title: "Thermostat",
    description: "A room loses heat, and a heater warms it. Switch the heater so that the room is neither too \
                  cold nor too warm.",
    dimensions: &[DimensionInfo {
        name: "temperature",
        meaning: "temperature of the room, degrees",
        range: (COLD, WARM),
        step: 0.5,
    }],
    actions: ACTIONS,
    space: ActionSpace::Named(ACTIONS),
    starts: &[StartInfo { name: "temperature", range: (18.5, 21.5) }],
    initial: &[20.0],
    objective: Objective::survive(1_000),
    verdicts: "violated when temperature < 18 or temperature > 22",
    depth: 2,
    source: "Henzinger, The Theory of Hybrid Automata, 1996",
    noise: "the heating power, degrees per minute",
    rewards: None,
    make: Thermostat::make,
};

const ACTIONS: &[ActionInfo] = &[
    ActionInfo { name: "off", value: 0.0, meaning: "no heating" },
    ActionInfo { name: "on", value: 5.0, meaning: "heat with 5 degrees per minute" },
];

//! # BoostConverter
//!
//! **Description.** A switch feeds a coil from a source, and the coil a capacitor at a higher voltage. Switch so
//! that current and voltage stay where they should be.
//!
//! **State.** `current` i through the coil and `voltage` v of the capacitor, relative to nominal ones. The
//! observation is the state.
//!
//! **Actions.** `open` and `closed` (0, 1): the switch. Closed, the source charges the coil and the capacitor
//! alone feeds the load; open, the coil feeds both.
//!
//! **Start.** Current uniform in [1.3, 1.4], voltage in [1.12, 1.14]; by default (1.35, 1.13).
//!
//! **Failure.** Violated when i leaves [1.15, 1.55] or v leaves [1.09, 1.17]. There is no goal; the objective is to
//! survive, up to 1,000 steps of half a unit of time.
//!
//! **Default thresholds.** Steps of 0.05 in current (1.15, 1.55), of 0.01 in voltage (1.09, 1.17).
//!
//! **Source.** The converter of A. Girard, G. Pola and P. Tabuada, *Approximately Bisimilar Symbolic Models for
//! Incrementally Stable Switched Systems* (2010), which is an example of CoSyMA and SCOTS, too: capacity 70,
//! inductance 3, their resistances 0.005 and 0.05, load 1, source 1, with the sampling and the safe set of that
//! paper (whose second variable is 5 v). Between decisions the equations are linear, and the solution is exact.
//! Noise of 0.5 or more also makes the switch fail.

use broccoli_core::problem::{Objective, Verdict};

use crate::actions::ActionSpace;
use crate::environment::{ActionInfo, DimensionInfo, Environment, StartInfo};
use crate::simulator::Dynamics;

/// What a step makes of (i, v) and the source's voltage: exp(A/2) with its integral, where A is
/// di/dt = -(r_l/l) i + s/l, dv/dt = -v / (c (1 + r_c)).
const CLOSED: [[f64; 3]; 2] =
    [[0.991_701_292_638_876, 0.0, 0.165_974_147_222_480_86], [0.0, 0.992_917_876_732_104_4, 0.0]];
/// The same with, for k = 1 / (1 + r_c), di/dt = -((r_l + k r_c) i + k v - s) / l, dv/dt = k (i - v) / c.
const OPEN: [[f64; 3]; 2] = [
    [0.990_295_029_428_297_3, -0.164_461_594_118_586_4, 0.165_872_918_752_656_33],
    [0.007_048_354_033_653_704, 0.992_333_178_469_695_5, 0.000_589_016_663_476_970_3],
];
const CURRENTS: (f64, f64) = (1.15, 1.55);
const VOLTAGES: (f64, f64) = (1.09, 1.17);

struct BoostConverter;

impl Dynamics<2> for BoostConverter {
    /// `switch` is 0 or 1; what it is off by disturbs the source.
    fn next([current, voltage]: [f64; 2], switch: f64) -> [f64; 2] {
        let (matrix, position) = if switch >= 0.5 { (CLOSED, 1.0) } else { (OPEN, 0.0) };
        let source = 1.0 + (switch - position);
        matrix.map(|[i, v, s]| i * current + v * voltage + s * source)
    }

    fn verdict([current, voltage]: [f64; 2]) -> Verdict {
        let is_inside = |value: f64, (low, high): (f64, f64)| (low..=high).contains(&value);
        if is_inside(current, CURRENTS) && is_inside(voltage, VOLTAGES) {
            Verdict::Running
        } else {
            Verdict::Violated
        }
    }
}

/// Keep the current and the voltage of a converter where they should be.
pub static BOOST_CONVERTER: Environment = Environment {
    name: "boost-converter",
    title: "BoostConverter",
    description: "A switch feeds a coil from a source, and the coil a capacitor at a higher voltage. Switch so \
                  that current and voltage stay where they should be.",
    dimensions: &[
        DimensionInfo { name: "current", meaning: "current through the coil", range: CURRENTS, step: 0.05 },
        DimensionInfo { name: "voltage", meaning: "voltage of the capacitor", range: VOLTAGES, step: 0.01 },
    ],
    actions: ACTIONS,
    space: ActionSpace::Named(ACTIONS),
    starts: &[
        StartInfo { name: "current", range: (1.3, 1.4) },
        StartInfo { name: "voltage", range: (1.12, 1.14) },
    ],
    initial: &[1.35, 1.13],
    objective: Objective::survive(1_000),
    verdicts: "violated when the current leaves [1.15, 1.55] or the voltage [1.09, 1.17]",
    depth: 2,
    source: "Girard, Pola, Tabuada, Approximately Bisimilar Symbolic Models, 2010",
    noise: "the source's voltage, by less than 0.5",
    rewards: None,
    make: BoostConverter::make,
};

const ACTIONS: &[ActionInfo] = &[
    ActionInfo { name: "open", value: 0.0, meaning: "the coil feeds capacitor and load" },
    ActionInfo { name: "closed", value: 1.0, meaning: "the source charges the coil" },
];

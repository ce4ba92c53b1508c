//! The built-in environments once more, with every constant a number that can be changed.

use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::sync::{Arc, Mutex, PoisonError};

use broccoli_core::problem::{ComeBack, InitialState, Reply, System, SystemError, Verdict};
use broccoli_environments::Environment;

/// The next state and the verdict there, by constants, state and force.
type Next = fn(&[f64], &[f64], f64) -> (Vec<f64>, Verdict);

/// An environment and its constants.
pub struct Plant {
    /// The environment that it is with its own constants.
    pub environment: &'static Environment,
    /// The constants.
    pub constants: &'static [f64],
    next: Next,
}

/// All of them.
pub const PLANTS: &[Plant] = &[
    Plant {
        environment: &broccoli_environments::MOUNTAIN_CAR,
        constants: &[0.001, 0.0025, 3.0, -1.2, 0.6, 0.07, 0.5, 0.0, 1.0],
        next: mountain_car,
    },
    Plant {
        environment: &broccoli_environments::CARTPOLE,
        constants: &[9.8, 1.0, 0.1, 0.5, 10.0, 0.02, 2.4, 12.0 * 2.0 * PI / 360.0],
        next: cartpole,
    },
    Plant {
        environment: &broccoli_environments::PENDULUM,
        constants: &[10.0, 1.0, 1.0, 0.05, 8.0, 0.1, 0.1],
        next: pendulum,
    },
    Plant {
        environment: &broccoli_environments::ACROBOT,
        constants: &[0.2, 1.0, 1.0, 0.5, 1.0, 9.8, 4.0 * PI, 9.0 * PI, 1.0],
        next: acrobot,
    },
    Plant {
        environment: &broccoli_environments::THERMOSTAT,
        constants: &[0.951_229_424_500_714, 10.0, 18.0, 22.0],
        next: thermostat,
    },
    Plant {
        environment: &broccoli_environments::BOUNCING_BALL,
        constants: &[9.81, 0.1, 0.91, 0.95, 4.0, 1.0, 15.0],
        next: bouncing_ball,
    },
    Plant {
        environment: &broccoli_environments::BOOST_CONVERTER,
        constants: &[
            0.991_701_292_638_876,
            0.165_974_147_222_480_86,
            0.992_917_876_732_104_4,
            0.990_295_029_428_297_3,
            -0.164_461_594_118_586_4,
            0.165_872_918_752_656_33,
            0.007_048_354_033_653_704,
            0.992_333_178_469_695_5,
            0.000_589_016_663_476_970_3,
            1.15,
            1.55,
            1.09,
            1.17,
        ],
        next: boost_converter,
    },
    Plant {
        environment: &broccoli_environments::CRUISE_CONTROL,
        constants: &[20.0, 5.0, 60.0, 20.0, 2.0, 5.0, 10.0, 15.0],
        next: cruise_control,
    },
];

fn verdict(satisfied: bool, violated: bool) -> Verdict {
    match (satisfied, violated) {
        (_, true) => Verdict::Violated,
        (true, false) => Verdict::Satisfied,
        _ => Verdict::Running,
    }
}

fn mountain_car(k: &[f64], s: &[f64], direction: f64) -> (Vec<f64>, Verdict) {
    let velocity = s[1] + ((direction - k[8]) * k[0] + libm::cos(k[2] * s[0]) * (-k[1]));
    let velocity = velocity.max(-k[5]).min(k[5]);
    let position = (s[0] + velocity).max(k[3]).min(k[4]);
    let velocity = if position == k[3] && velocity < 0.0 { 0.0 } else { velocity };
    (vec![position, velocity], verdict(position >= k[6] && velocity >= k[7], false))
}

fn cartpole(k: &[f64], s: &[f64], action: f64) -> (Vec<f64>, Verdict) {
    let (force, total, moment) = (if action == 1.0 { k[4] } else { -k[4] }, k[2] + k[1], k[2] * k[3]);
    let (sin, cos) = libm::sincos(s[2]);
    let temp = (force + moment * (s[3] * s[3]) * sin) / total;
    let theta_acc = (k[0] * sin - cos * temp) / (k[3] * (4.0 / 3.0 - k[2] * (cos * cos) / total));
    let x_acc = temp - moment * theta_acc * cos / total;
    let next = vec![s[0] + k[5] * s[1], s[1] + k[5] * x_acc, s[2] + k[5] * s[3], s[3] + k[5] * theta_acc];
    let is_violated = next[0].abs() > k[6] || next[2].abs() > k[7];
    (next, verdict(false, is_violated))
}

fn pendulum(k: &[f64], s: &[f64], torque: f64) -> (Vec<f64>, Verdict) {
    let acceleration = 3.0 * k[0] / (2.0 * k[2]) * libm::sin(s[0]) + 3.0 / (k[1] * (k[2] * k[2])) * torque;
    let velocity = (s[1] + acceleration * k[3]).max(-k[4]).min(k[4]);
    let angle = s[0] + velocity * k[3];
    (vec![angle, velocity], verdict(angle.abs() <= k[5] && velocity.abs() <= k[6], false))
}

fn acrobot(k: &[f64], s: &[f64], action: f64) -> (Vec<f64>, Verdict) {
    let (dt, length, mass, centre, inertia, gravity) = (k[0], k[1], k[2], k[3], k[4], k[5]);
    let torque = action - 1.0;
    let derivative = |s: [f64; 4]| {
        let (sin2, cos2) = (libm::sin(s[1]), libm::cos(s[1]));
        let d1 = mass * (centre * centre)
            + mass * (length * length + centre * centre + 2.0 * length * centre * cos2)
            + inertia
            + inertia;
        let d2 = mass * (centre * centre + length * centre * cos2) + inertia;
        let phi2 = mass * centre * gravity * libm::cos(s[0] + s[1] - PI / 2.0);
        let phi1 = -mass * length * centre * (s[3] * s[3]) * sin2
            - 2.0 * mass * length * centre * s[3] * s[2] * sin2
            + (mass * centre + mass * length) * gravity * libm::cos(s[0] - PI / 2.0)
            + phi2;
        let second = (torque + d2 / d1 * phi1 - mass * length * centre * (s[2] * s[2]) * sin2 - phi2)
            / (mass * (centre * centre) + inertia - (d2 * d2) / d1);
        [s[2], s[3], -(d2 * second + phi1) / d1, second]
    };
    let state: [f64; 4] = std::array::from_fn(|i| s[i]);
    let ahead = |by: f64, slope: [f64; 4]| -> [f64; 4] { std::array::from_fn(|i| state[i] + by * slope[i]) };
    let k1 = derivative(state);
    let k2 = derivative(ahead(dt / 2.0, k1));
    let k3 = derivative(ahead(dt / 2.0, k2));
    let k4 = derivative(ahead(dt, k3));
    let slope = std::array::from_fn(|i| k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
    let wrap = |mut angle: f64| {
        while angle > PI {
            angle -= 2.0 * PI;
        }
        while angle < -PI {
            angle += 2.0 * PI;
        }
        angle
    };
    let [theta1, theta2, first, second] = ahead(dt / 6.0, slope);
    let (theta1, theta2) = (wrap(theta1), wrap(theta2));
    let is_up = -libm::cos(theta1) - libm::cos(theta2 + theta1) > k[8];
    let next = vec![theta1, theta2, first.max(-k[6]).min(k[6]), second.max(-k[7]).min(k[7])];
    (next, verdict(is_up, false))
}

fn thermostat(k: &[f64], s: &[f64], power: f64) -> (Vec<f64>, Verdict) {
    let limit = k[1] * power;
    let temperature = limit + (s[0] - limit) * k[0];
    (vec![temperature], verdict(false, !(k[2]..=k[3]).contains(&temperature)))
}

fn bouncing_ball(k: &[f64], s: &[f64], bat: f64) -> (Vec<f64>, Verdict) {
    let (gravity, dt) = (k[0], k[1]);
    let fly = |height: f64, velocity: f64, time: f64| {
        vec![height + time * (velocity - 0.5 * gravity * time), velocity - gravity * time]
    };
    let (height, velocity) = (s[0], s[1]);
    let velocity = match velocity {
        _ if bat < 1.0 || height < k[4] || velocity <= -bat => velocity,
        falling if falling < 0.0 => -bat,
        rising => -(k[3] * rising) - bat,
    };
    let impact = (velocity * velocity + 2.0 * gravity * height).max(0.0).sqrt();
    let until = (velocity + impact) / gravity;
    let next = if until > dt {
        fly(height, velocity, dt)
    } else if impact > k[6] || k[2] * impact < k[5] {
        vec![0.0, 0.0]
    } else {
        fly(0.0, k[2] * impact, dt - until)
    };
    let is_violated = next[0] <= 0.0 && next[1] < k[5];
    (next, verdict(false, is_violated))
}

fn boost_converter(k: &[f64], s: &[f64], switch: f64) -> (Vec<f64>, Verdict) {
    let (matrix, position) = match switch >= 0.5 {
        true => ([[k[0], 0.0, k[1]], [0.0, k[2], 0.0]], 1.0),
        false => ([[k[3], k[4], k[5]], [k[6], k[7], k[8]]], 0.0),
    };
    let source = 1.0 + (switch - position);
    let next = matrix.map(|[i, v, c]| i * s[0] + v * s[1] + c * source);
    let is_inside = (k[9]..=k[10]).contains(&next[0]) && (k[11]..=k[12]).contains(&next[1]);
    (next.to_vec(), verdict(false, !is_inside))
}

fn cruise_control(k: &[f64], s: &[f64], acceleration: f64) -> (Vec<f64>, Verdict) {
    let drive = |velocity: f64, acceleration: f64| {
        let next = (velocity + acceleration).max(0.0).min(k[0]);
        (next, (velocity + next) / 2.0)
    };
    let front = match s[3] {
        clock if clock < k[5] => -k[4],
        clock if clock >= k[6] && clock < k[7] => k[4],
        _ => 0.0,
    };
    let (front, ahead) = drive(s[2], front);
    let (velocity, driven) = drive(s[1], acceleration);
    let clock = if s[3] + 1.0 < k[3] { s[3] + 1.0 } else { 0.0 };
    let next = vec![s[0] + (ahead - driven), velocity, front, clock];
    let is_inside = (k[1]..=k[2]).contains(&next[0]);
    (next, verdict(false, !is_inside))
}

/// What a plant was asked: states and forces, by their bits.
pub type Asked = Arc<Mutex<BTreeMap<Vec<u64>, Vec<f64>>>>;

impl Plant {
    /// A system with these constants, that comes back in this way and writes down what it is asked.
    pub fn system(&self, constants: Vec<f64>, come_back: ComeBack, asked: Option<Asked>) -> Box<dyn System> {
        // The environment's own values: CartPole's force is a constant of ours.
        let forces = self.environment.actions.iter().map(|action| action.value).collect();
        let name = self.environment.name;
        Box::new(Running { next: self.next, name, constants, forces, come_back, asked, state: Vec::new() })
    }

    /// Whether any answer that was given with the plant's own constants is another with these; and whether any state is,
    /// of which a part may be hidden.
    pub fn answers_otherwise(&self, constants: &[f64], asked: &Asked) -> (bool, bool) {
        let asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        let differ = |look: &dyn Fn(&[f64]) -> Vec<u64>| {
            asked.values().any(|question| {
                let Some((force, state)) = question.split_last() else { return false };
                let [now, then] = [constants, self.constants].map(|k| (self.next)(k, state, *force));
                (look(&now.0), now.1) != (look(&then.0), then.1)
            })
        };
        (differ(&|state| bits(&seen(self.environment.name, state))), differ(&bits))
    }
}

/// What is observed of a state.
fn seen(name: &str, state: &[f64]) -> Vec<f64> {
    match (name, state) {
        ("acrobot", [theta1, theta2, first, second]) => {
            let ((sin1, cos1), (sin2, cos2)) = (libm::sincos(*theta1), libm::sincos(*theta2));
            vec![cos1, sin1, cos2, sin2, *first, *second]
        }
        ("cruise-control", [seen @ .., _]) => seen.to_vec(),
        _ => state.to_vec(),
    }
}

struct Running {
    next: Next,
    name: &'static str,
    constants: Vec<f64>,
    forces: Vec<f64>,
    come_back: ComeBack,
    asked: Option<Asked>,
    state: Vec<f64>,
}

impl System for Running {
    fn reset(&mut self, initial: &InitialState, observation: &mut [f64]) -> Result<Reply, SystemError> {
        self.state = initial.values().to_vec();
        observation.copy_from_slice(&seen(self.name, &self.state));
        Ok(Verdict::Running.into())
    }

    fn step(&mut self, action: usize, observation: &mut [f64]) -> Result<Reply, SystemError> {
        let force = self.forces[action];
        if let Some(asked) = &self.asked {
            let question = [&self.state[..], &[force]].concat();
            let bits = question.iter().map(|value| value.to_bits()).collect();
            asked.lock().unwrap_or_else(PoisonError::into_inner).insert(bits, question);
        }
        let verdict;
        (self.state, verdict) = (self.next)(&self.constants, &self.state, force);
        observation.copy_from_slice(&seen(self.name, &self.state));
        Ok(verdict.into())
    }

    fn come_back(&self) -> ComeBack {
        self.come_back
    }

    fn save(&mut self, state: &mut Vec<u8>) -> Result<(), SystemError> {
        state.extend(self.state.iter().flat_map(|value| value.to_le_bytes()));
        Ok(())
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), SystemError> {
        let (values, _) = state.as_chunks::<8>();
        self.state = values.iter().map(|value| f64::from_le_bytes(*value)).collect();
        Ok(())
    }
}

//! A problem small enough to be written down: a system given by its transition table.

use broccoli_core::problem::{
    ComeBack, InitialState, Objective, Problem, Reply, System, SystemError, SystemFactory, Thresholds,
    Verdict,
};
use serde::{Deserialize, Serialize};

/// One state of the table. Several states may show the same observation: the rest is hidden.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// What is seen of it. In JSON, which has no infinity, that is in quotes.
    #[serde(with = "quoted")]
    pub observation: Vec<f64>,
    /// The next state for every action.
    pub next: Vec<usize>,
    /// `'.'` running, `'+'` satisfied, `'-'` violated.
    pub verdict: char,
    /// The reward for every action, if there are rewards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rewards: Vec<f64>,
}

/// A whole problem in a table. Its JSON form is what `tests/regressions/` holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableProblem {
    /// Per dimension, the thresholds. Where all numbers are thresholds, those that brute force has to try.
    pub thresholds: Vec<Vec<f64>>,
    /// Per dimension, whether all numbers are thresholds; those that are not named here are not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub all: Vec<bool>,
    /// The states.
    pub states: Vec<State>,
    /// Where the runs start.
    pub initial: Vec<usize>,
    /// What is wanted.
    #[serde(flatten)]
    pub objective: Objective,
    /// What each initial state weighs, if the objective is weighted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<f64>,
    /// The limit on depth.
    pub depth: u32,
    /// The limit on predicate nodes.
    pub nodes: u64,
}

/// Numbers in JSON, of which those that JSON has not are in quotes.
mod quoted {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Number {
        Finite(f64),
        Other(String),
    }

    pub(super) fn serialize<S: Serializer>(numbers: &[f64], to: S) -> Result<S::Ok, S::Error> {
        let number = |&x: &f64| if x.is_finite() { Number::Finite(x) } else { Number::Other(x.to_string()) };
        to.collect_seq(numbers.iter().map(number))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
        let number = |number| match number {
            Number::Finite(number) => Ok(number),
            Number::Other(text) => text.parse().map_err(serde::de::Error::custom),
        };
        Vec::deserialize(from)?.into_iter().map(number).collect()
    }
}

impl State {
    /// The verdict as the core has it.
    pub fn verdict(&self) -> Verdict {
        match self.verdict {
            '+' => Verdict::Satisfied,
            '-' => Verdict::Violated,
            _ => Verdict::Running,
        }
    }
}

impl TableProblem {
    /// How many actions there are.
    pub fn actions(&self) -> usize {
        self.states[0].next.len()
    }

    /// Whether all numbers are thresholds of a dimension.
    pub fn has_all(&self, dimension: usize) -> bool {
        self.all.get(dimension).is_some_and(|&all| all)
    }

    /// Whether all numbers are thresholds of some dimension.
    pub fn is_without_grid(&self) -> bool {
        self.all.contains(&true)
    }

    /// The same, and all numbers are thresholds of these dimensions. Brute force tries one between every two values that
    /// neighbour each other: the upper one, as the predicate is true from there on; but no number is between the greatest
    /// finite one and infinity.
    pub fn without_grid(mut self, all: Vec<bool>) -> Self {
        self.all = all;
        for dimension in 0..self.thresholds.len() {
            if self.has_all(dimension) {
                let mut values: Vec<f64> =
                    self.states.iter().map(|state| state.observation[dimension] + 0.0).collect();
                values.sort_by(f64::total_cmp);
                values.dedup();
                let between =
                    values.windows(2).filter(|pair| pair[0] < f64::MAX).map(|pair| pair[1].min(f64::MAX));
                self.thresholds[dimension] = between.collect();
            }
        }
        self
    }

    /// The same as a problem of the core; initial states are indices into the table.
    pub fn problem(&self) -> Problem {
        self.priced(&[])
    }

    /// The same with prices of the dimensions, as far as they go.
    pub fn priced(&self, prices: &[f64]) -> Problem {
        let mut builder = Problem::builder().objective(self.objective).depth(self.depth).nodes(self.nodes);
        builder = builder.weights(self.weights.iter().copied());
        for (i, thresholds) in self.thresholds.iter().enumerate() {
            let thresholds = match self.has_all(i) {
                true => Thresholds::all(),
                false => Thresholds::list(thresholds.clone()).expect("finite thresholds"),
            };
            builder = builder.dimension(format!("x{i}"), thresholds);
        }
        for (i, &price) in prices.iter().enumerate().take(self.thresholds.len()) {
            builder = builder.price(format!("x{i}"), price);
        }
        for action in 0..self.actions() {
            builder = builder.action(format!("a{action}"), action as f64);
        }
        for &initial in &self.initial {
            builder = builder.initial([initial as f64]);
        }
        builder.build().expect("a table is a well-formed problem")
    }

    /// Makes systems that follow the table and come back to a state in the given way.
    pub fn factory(&self, come_back: ComeBack) -> impl SystemFactory + use<> {
        let states = self.states.clone();
        move || {
            let system = TableSystem { states: states.clone(), state: 0, come_back };
            Ok(Box::new(system) as Box<dyn System>)
        }
    }
}

struct TableSystem {
    states: Vec<State>,
    state: usize,
    come_back: ComeBack,
}

impl TableSystem {
    fn reply(&self, observation: &mut [f64]) -> Result<Reply, SystemError> {
        let state = &self.states[self.state];
        observation.copy_from_slice(&state.observation);
        Ok(state.verdict().into())
    }
}

impl System for TableSystem {
    fn reset(&mut self, initial: &InitialState, observation: &mut [f64]) -> Result<Reply, SystemError> {
        self.state = initial.values()[0] as usize;
        self.reply(observation)
    }

    fn step(&mut self, action: usize, observation: &mut [f64]) -> Result<Reply, SystemError> {
        assert_eq!(self.states[self.state].verdict(), Verdict::Running, "a final verdict was stepped over");
        let reward = self.states[self.state].rewards.get(action).copied();
        self.state = self.states[self.state].next[action];
        let reply = self.reply(observation)?;
        Ok(reward.map_or(reply, |reward| reply.with_reward(reward)))
    }

    fn come_back(&self) -> ComeBack {
        self.come_back
    }

    fn save(&mut self, state: &mut Vec<u8>) -> Result<(), SystemError> {
        assert_ne!(self.come_back, ComeBack::Replay, "a system that only replays was asked to save");
        state.extend_from_slice(&self.state.to_le_bytes());
        Ok(())
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), SystemError> {
        assert_ne!(self.come_back, ComeBack::Replay, "a system that only replays was asked to restore");
        let bytes = state.try_into().map_err(|_| SystemError::new("not a saved state"))?;
        self.state = usize::from_le_bytes(bytes);
        Ok(())
    }
}

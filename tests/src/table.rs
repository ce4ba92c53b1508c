//! A problem small enough to be written down: a system given by its transition table.

use broccoli_core::problem::{
    ComeBack, InitialState, Objective, Problem, Reply, System, SystemError, SystemFactory, Thresholds,
    Verdict,
};
use serde::{Deserialize, Serialize};

/// One state of the table. Several states may show the same observation: the rest is hidden.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// What is seen of it.
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
    /// Per dimension, the thresholds.
    pub thresholds: Vec<Vec<f64>>,
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

    /// The same as a problem of the core; initial states are indices into the table.
    pub fn problem(&self) -> Problem {
        self.priced(&[])
    }

    /// The same with prices of the dimensions, as far as they go.
    pub fn priced(&self, prices: &[f64]) -> Problem {
        let mut builder = Problem::builder().objective(self.objective).depth(self.depth).nodes(self.nodes);
        builder = builder.weights(self.weights.iter().copied());
        for (i, thresholds) in self.thresholds.iter().enumerate() {
            let thresholds = Thresholds::list(thresholds.clone()).expect("finite thresholds");
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

//! Turns a transition function into a [`System`].

use std::marker::PhantomData;

use broccoli_core::problem::{ComeBack, InitialState, Reply, System, SystemError, Verdict};

/// A system whose next state is a pure function of the state and of a force (or torque).
pub(crate) trait Dynamics<const N: usize>: 'static {
    /// The force that an action with this value applies.
    fn force(value: f64) -> f64 {
        value
    }

    fn next(state: [f64; N], force: f64) -> [f64; N];
    fn verdict(state: [f64; N]) -> Verdict;

    /// Writes the observation; without more, the state.
    fn observe(state: [f64; N], observation: &mut [f64]) {
        observation.copy_from_slice(&state);
    }

    /// A system whose actions have these values.
    fn make(values: &[f64]) -> Box<dyn System>
    where
        Self: Sized,
    {
        let forces = values.iter().copied().map(Self::force).collect();
        Box::new(Simulator::<Self, N> { state: [0.0; N], forces, dynamics: PhantomData })
    }
}

struct Simulator<D, const N: usize> {
    state: [f64; N],
    /// By action.
    forces: Vec<f64>,
    dynamics: PhantomData<D>,
}

impl<D: Dynamics<N>, const N: usize> Simulator<D, N> {
    fn reply(&self, observation: &mut [f64]) -> Result<Reply, SystemError> {
        D::observe(self.state, observation);
        Ok(D::verdict(self.state).into())
    }
}

impl<D: Dynamics<N>, const N: usize> System for Simulator<D, N> {
    fn reset(&mut self, initial: &InitialState, observation: &mut [f64]) -> Result<Reply, SystemError> {
        self.state = initial.values().try_into().map_err(|_| {
            SystemError::new(format!("an initial state has {N} values, not {}", initial.values().len()))
        })?;
        self.reply(observation)
    }

    fn step(&mut self, action: usize, observation: &mut [f64]) -> Result<Reply, SystemError> {
        let Some(&force) = self.forces.get(action) else {
            return Err(SystemError::new(format!("there is no action {action}")));
        };
        self.state = D::next(self.state, force);
        self.reply(observation)
    }

    fn come_back(&self) -> ComeBack {
        ComeBack::Clone
    }

    fn save(&mut self, state: &mut Vec<u8>) -> Result<(), SystemError> {
        for value in self.state {
            state.extend_from_slice(&value.to_bits().to_le_bytes());
        }
        Ok(())
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), SystemError> {
        let (words, rest) = state.as_chunks::<8>();
        if words.len() != N || !rest.is_empty() {
            return Err(SystemError::new(format!("a saved state has {} bytes, not {}", 8 * N, state.len())));
        }
        for (value, word) in self.state.iter_mut().zip(words) {
            *value = f64::from_bits(u64::from_le_bytes(*word));
        }
        Ok(())
    }
}

//! Turns a transition function into a [`System`] whose state is its observation.

use std::marker::PhantomData;

use broccoli_core::problem::{ComeBack, InitialState, Reply, System, SystemError, Verdict};

/// A system without hidden state: the next state is a pure function of state and action.
pub(crate) trait Dynamics<const N: usize>: 'static {
    fn next(state: [f64; N], action: usize) -> [f64; N];
    fn verdict(state: [f64; N]) -> Verdict;

    fn make() -> Box<dyn System>
    where
        Self: Sized,
    {
        Box::new(Simulator::<Self, N> { state: [0.0; N], dynamics: PhantomData })
    }
}

struct Simulator<D, const N: usize> {
    state: [f64; N],
    dynamics: PhantomData<D>,
}

impl<D: Dynamics<N>, const N: usize> Simulator<D, N> {
    fn reply(&self, observation: &mut [f64]) -> Result<Reply, SystemError> {
        observation.copy_from_slice(&self.state);
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
        self.state = D::next(self.state, action);
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

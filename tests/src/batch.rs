//! Any system that can save its state as one that makes many steps at a time.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use broccoli_core::problem::{
    BatchError, BatchSystem, Batches, InitialState, Reply, System, SystemError, SystemFactory, Verdict,
};

/// How many batches were made, and how many steps in all of them.
#[derive(Clone, Default)]
pub struct Made(Arc<(AtomicU64, AtomicU64)>);

impl Made {
    /// Batches and steps.
    pub fn counts(&self) -> (u64, u64) {
        (self.0.0.load(Relaxed), self.0.1.load(Relaxed))
    }
}

/// Makes systems that make up to `rows` steps at a time, one after the other on a system of `factory`, and
/// counts them.
pub fn batched<F: SystemFactory>(factory: F, rows: usize, made: &Made) -> impl SystemFactory + use<F> {
    let made = made.clone();
    let make = move || {
        let (system, made) = (factory.make()?, made.clone());
        let rowwise = Rowwise { system, made, bytes: Vec::new(), rewards: Vec::new() };
        Ok(Box::new(rowwise) as Box<dyn BatchSystem>)
    };
    Batches::new(NonZeroUsize::new(rows).expect("at least one row"), make)
}

struct Rowwise {
    system: Box<dyn System>,
    made: Made,
    bytes: Vec<u8>,
    /// Of the last batch.
    rewards: Vec<Option<f64>>,
}

impl Rowwise {
    /// The state of the system, as numbers that mean nothing.
    fn words(&mut self) -> Result<impl Iterator<Item = f64>, SystemError> {
        self.bytes.clear();
        self.system.save(&mut self.bytes)?;
        let (words, rest) = self.bytes.as_chunks::<8>();
        assert!(rest.is_empty(), "states of whole words only");
        Ok(words.iter().map(|&word| f64::from_le_bytes(word)))
    }
}

impl BatchSystem for Rowwise {
    fn reset(
        &mut self,
        initial: &InitialState,
        state: &mut Vec<f64>,
        observation: &mut [f64],
    ) -> Result<Reply, SystemError> {
        let reply = self.system.reset(initial, observation)?;
        state.extend(self.words()?);
        Ok(reply)
    }

    fn step_batch(
        &mut self,
        actions: &[usize],
        states: &mut [f64],
        observations: &mut [f64],
        verdicts: &mut [Verdict],
    ) -> Result<(), BatchError> {
        self.made.0.0.fetch_add(1, Relaxed);
        self.made.0.1.fetch_add(actions.len() as u64, Relaxed);
        let (width, dimensions) = (states.len() / actions.len(), observations.len() / actions.len());
        self.rewards.clear();
        for (row, &action) in actions.iter().enumerate() {
            let state = &mut states[row * width..][..width];
            let blame = |source| BatchError { row: Some(row), source };
            let bytes: Vec<u8> = state.iter().flat_map(|value| value.to_le_bytes()).collect();
            self.system.restore(&bytes).map_err(blame)?;
            let observation = &mut observations[row * dimensions..][..dimensions];
            let reply = self.system.step(action, observation).map_err(blame)?;
            verdicts[row] = reply.verdict;
            self.rewards.push(reply.reward);
            for (value, word) in state.iter_mut().zip(self.words()?) {
                *value = word;
            }
        }
        Ok(())
    }

    fn rewards(&mut self, rewards: &mut [f64]) -> bool {
        let given = rewards.iter_mut().zip(&self.rewards);
        given.fold(true, |all, (reward, given)| {
            *reward = given.unwrap_or(0.0);
            all && given.is_some()
        })
    }
}

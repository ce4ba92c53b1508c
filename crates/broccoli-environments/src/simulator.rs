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

    /// The reward of a step, as Gymnasium gives it; none if there is nothing like it.
    fn reward(_before: [f64; N], _force: f64, _after: [f64; N]) -> Option<f64> {
        None
    }

    /// The verdict when rewards are wanted: runs end as in Gymnasium.
    fn verdict_with_rewards(state: [f64; N]) -> Verdict {
        Self::verdict(state)
    }

    /// Writes the observation; without more, the state.
    fn observe(state: [f64; N], observation: &mut [f64]) {
        observation.copy_from_slice(&state);
    }

    /// A system whose actions have these values, whose forces are off by up to `noise`, and which gives rewards
    /// if wanted.
    fn make(values: &[f64], noise: f64, has_rewards: bool) -> Box<dyn System>
    where
        Self: Sized,
    {
        let forces = values.iter().copied().map(Self::force).collect();
        Box::new(Simulator::<Self, N> {
            state: [0.0; N],
            forces,
            noise,
            has_rewards,
            generator: Generator(0),
            dynamics: PhantomData,
        })
    }
}

/// SplitMix64: what it draws depends on its seed alone, and its state is one number.
#[derive(Clone, Copy)]
struct Generator(u64);

impl Generator {
    /// A number in [-1, 1), all multiples of 2^-52 there being as likely.
    fn draw(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let fraction = ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64;
        2.0 * fraction - 1.0
    }
}

/// The largest seed: seeds are values of initial states, and doubles hold no larger whole numbers exactly.
pub const MAX_SEED: u64 = (1 << 53) - 1;

struct Simulator<D, const N: usize> {
    state: [f64; N],
    /// By action.
    forces: Vec<f64>,
    /// The most by which a force is off; 0 is no noise, and then there is no seed either.
    noise: f64,
    has_rewards: bool,
    generator: Generator,
    dynamics: PhantomData<D>,
}

impl<D: Dynamics<N>, const N: usize> Simulator<D, N> {
    fn reply(&self, observation: &mut [f64]) -> Result<Reply, SystemError> {
        D::observe(self.state, observation);
        let verdict =
            if self.has_rewards { D::verdict_with_rewards(self.state) } else { D::verdict(self.state) };
        Ok(verdict.into())
    }
}

impl<D: Dynamics<N>, const N: usize> System for Simulator<D, N> {
    fn reset(&mut self, initial: &InitialState, observation: &mut [f64]) -> Result<Reply, SystemError> {
        let wrong = |count: usize, more: &str| {
            let given = initial.values().len();
            SystemError::new(format!("an initial state has {count} values{more}, not {given}"))
        };
        if self.noise == 0.0 {
            self.state = initial.values().try_into().map_err(|_| wrong(N, ""))?;
            return self.reply(observation);
        }
        let (state, seed) = match initial.values() {
            [state @ .., seed] if state.len() == N => (state, *seed),
            _ => return Err(wrong(N + 1, ", the last one a seed")),
        };
        if seed.fract() != 0.0 || !(0.0..=MAX_SEED as f64).contains(&seed) {
            let message = format!("the seed {seed} is not a whole number from 0 to {MAX_SEED}");
            return Err(SystemError::new(message));
        }
        self.state.copy_from_slice(state);
        self.generator = Generator(seed as u64);
        self.reply(observation)
    }

    fn step(&mut self, action: usize, observation: &mut [f64]) -> Result<Reply, SystemError> {
        let Some(&force) = self.forces.get(action) else {
            return Err(SystemError::new(format!("there is no action {action}")));
        };
        let disturbance = if self.noise == 0.0 { 0.0 } else { self.noise * self.generator.draw() };
        let before = self.state;
        self.state = D::next(before, force + disturbance);
        let reply = self.reply(observation)?;
        let reward = if self.has_rewards { D::reward(before, force, self.state) } else { None };
        Ok(reward.map_or(reply, |reward| reply.with_reward(reward)))
    }

    fn come_back(&self) -> ComeBack {
        ComeBack::Clone
    }

    fn save(&mut self, state: &mut Vec<u8>) -> Result<(), SystemError> {
        let words = self.state.map(|value| value.to_bits().to_le_bytes());
        state.extend_from_slice(words.as_flattened());
        if self.noise != 0.0 {
            state.extend_from_slice(&self.generator.0.to_le_bytes());
        }
        Ok(())
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), SystemError> {
        let (words, rest) = state.as_chunks::<8>();
        let expected = N + usize::from(self.noise != 0.0);
        if words.len() != expected || !rest.is_empty() {
            let message = format!("a saved state has {} bytes, not {}", 8 * expected, state.len());
            return Err(SystemError::new(message));
        }
        for (value, word) in self.state.iter_mut().zip(words) {
            *value = f64::from_bits(u64::from_le_bytes(*word));
        }
        if let Some(word) = words.get(N) {
            self.generator = Generator(u64::from_le_bytes(*word));
        }
        Ok(())
    }
}

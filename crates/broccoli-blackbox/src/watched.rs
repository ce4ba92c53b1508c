//! Notices that a system is not deterministic while it is searched.
//!
//! A system that can only be reset is brought back to a state by the same actions again. Every run that
//! begins like the run before it must then give the same answers, and comparing them costs nothing.

use broccoli_core::problem::{ComeBack, InitialState, Reply, System, SystemError, SystemFactory};

/// A factory whose systems are watched, if they can only be reset; others pass as they are.
pub struct Watch<'f> {
    factory: &'f dyn SystemFactory,
    name: String,
}

impl<'f> Watch<'f> {
    /// Watches the systems of a factory, called `name` in messages.
    pub fn new(factory: &'f dyn SystemFactory, name: impl Into<String>) -> Self {
        Watch { factory, name: name.into() }
    }
}

impl SystemFactory for Watch<'_> {
    fn is_quick(&self) -> bool {
        self.factory.is_quick()
    }

    fn make(&self) -> Result<Box<dyn System>, SystemError> {
        let system = self.factory.make()?;
        Ok(match system.come_back() {
            ComeBack::Replay => Box::new(Watched::new(system, self.name.clone())),
            _ => system,
        })
    }
}

/// A system with a memory of its last run.
struct Watched {
    system: Box<dyn System>,
    name: String,
    initial: Vec<f64>,
    /// The action that led to each moment of the last run (none to the first), and the reply.
    moments: Vec<(usize, Reply)>,
    /// The observations of these moments.
    observations: Vec<f64>,
    /// The moment of the present run.
    now: usize,
}

impl Watched {
    fn new(system: Box<dyn System>, name: String) -> Self {
        Watched { system, name, initial: Vec::new(), moments: Vec::new(), observations: Vec::new(), now: 0 }
    }

    /// Compares moment `now` with the one before, or takes its place.
    fn remember(&mut self, action: usize, reply: Reply, observation: &[f64]) -> Result<(), SystemError> {
        let start = self.now * observation.len();
        if let Some(&before) = self.moments.get(self.now).filter(|moment| moment.0 == action) {
            let seen = &self.observations[start..start + observation.len()];
            let same = seen.iter().zip(observation).all(|(a, b)| a.to_bits() == b.to_bits());
            let bits = |reply: Reply| (reply.verdict, reply.reward.map(f64::to_bits));
            if same && bits(before.1) == bits(reply) {
                return Ok(());
            }
            let (name, step) = (&self.name, self.now);
            let what = match step {
                0 => "the same reset".to_owned(),
                1 => "the same action".to_owned(),
                _ => format!("the same {step} actions"),
            };
            return Err(SystemError::new(format!(
                "`{name}` is not deterministic: {what} gave {seen:?} {} before and {observation:?} {} now",
                shown(before.1),
                shown(reply)
            )));
        }
        self.moments.truncate(self.now);
        self.observations.truncate(start);
        self.moments.push((action, reply));
        self.observations.extend_from_slice(observation);
        Ok(())
    }
}

/// The verdict, and the reward if there is one.
fn shown(reply: Reply) -> String {
    let reward = reply.reward.map_or(String::new(), |reward| format!(", reward {reward}"));
    format!("{:?}{reward}", reply.verdict)
}

impl System for Watched {
    fn reset(&mut self, initial: &InitialState, observation: &mut [f64]) -> Result<Reply, SystemError> {
        let reply = self.system.reset(initial, observation)?;
        if self.initial != initial.values() {
            self.initial = initial.values().to_vec();
            self.moments.clear();
            self.observations.clear();
        }
        self.now = 0;
        // Only steps have rewards.
        self.remember(0, reply.verdict.into(), observation)?;
        Ok(reply)
    }

    fn step(&mut self, action: usize, observation: &mut [f64]) -> Result<Reply, SystemError> {
        let reply = self.system.step(action, observation)?;
        self.now += 1;
        self.remember(action, reply, observation)?;
        Ok(reply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use broccoli_core::problem::Verdict;

    /// Counts steps, and adds a mistake to the one with this number.
    struct Counter {
        steps: u32,
        mistake: u32,
    }

    impl System for Counter {
        fn reset(&mut self, initial: &InitialState, observation: &mut [f64]) -> Result<Reply, SystemError> {
            observation[0] = initial.values()[0];
            Ok(Verdict::Running.into())
        }
        fn step(&mut self, action: usize, observation: &mut [f64]) -> Result<Reply, SystemError> {
            self.steps += 1;
            observation[0] += action as f64 + if self.steps == self.mistake { 1e-9 } else { 0.0 };
            Ok(Verdict::Running.into())
        }
    }

    fn runs(mistake: u32) -> Result<(), SystemError> {
        let mut system = Watched::new(Box::new(Counter { steps: 0, mistake }), "counter".to_owned());
        let mut observation = [0.0];
        for (initial, actions) in [
            (0.0, vec![1, 1, 0]),
            (0.0, vec![1, 1, 0]),
            (0.0, vec![1, 0, 1]),
            (7.0, vec![1, 0]),
            (0.0, vec![1]),
        ] {
            system.reset(&InitialState::new([initial]), &mut observation)?;
            for action in actions {
                system.step(action, &mut observation)?;
            }
        }
        Ok(())
    }

    #[test]
    fn only_what_was_seen_before_can_differ() {
        assert_eq!(runs(0), Ok(()));
        let different: Vec<u32> = (1..=12).filter(|&mistake| runs(mistake).is_err()).collect();
        // The first three steps are seen again, the next three are repetitions, then only the first is.
        assert_eq!(different, [1, 2, 3, 4, 5, 6, 7]);
        let error = runs(5).unwrap_err().to_string();
        assert!(
            error.contains("the same 2 actions gave [2.0] Running before and [2.000000001] Running now"),
            "{error}"
        );
    }
}

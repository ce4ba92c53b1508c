//! Systems with one flaw each: every broken promise is found.

use super::*;
use broccoli_core::problem::{InitialState, Objective, Reply, SystemError, Thresholds};
use std::sync::atomic::{AtomicU32, Ordering};

/// What is wrong with a system.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Flaw {
    None,
    /// Nothing, and there are rewards.
    NoneWithRewards,
    /// The reset keeps something of the run before.
    Keeps,
    /// Every system is a little different.
    Differs,
    /// Part of the state is not saved.
    Forgets,
    /// Fails after three actions to the right.
    Fails,
    /// NaN after two of them.
    NaN,
    /// Every fifth answer is another.
    Random,
    /// Every fifth reward is another.
    RandomReward,
    /// A reward is NaN after two actions to the right.
    NaNReward,
    /// The reward depends on what is not saved.
    ForgetsReward,
    /// A state cannot be restored.
    Refuses,
    /// It cannot be reset if a state was restored first.
    NeedsReset,
}

/// A token on a line, with a hidden count of moves to the right that ends the run at 40.
struct Token {
    flaw: Flaw,
    number: u32,
    cell: f64,
    moves: u32,
    answers: u32,
    was_reset: bool,
    is_stuck: bool,
}

impl Token {
    fn reply(&mut self, observation: &mut [f64]) -> Result<Reply, SystemError> {
        self.answers += 1;
        observation[0] = self.cell + if self.moves > 5 { 100.0 } else { 0.0 };
        match self.flaw {
            Flaw::Fails if self.moves == 3 => return Err(SystemError::new("out of fuel")),
            Flaw::NaN if self.moves == 2 => observation[0] = f64::NAN,
            Flaw::Random => observation[0] += f64::from(u8::from(self.answers % 5 == 4)),
            Flaw::Differs if self.moves == 4 => observation[0] += f64::from(self.number),
            _ => {}
        }
        let reply = Reply::from(if self.moves >= 40 { Verdict::Satisfied } else { Verdict::Running });
        Ok(match self.flaw {
            Flaw::RandomReward => reply.with_reward(f64::from(u8::from(self.answers % 5 == 4))),
            Flaw::NaNReward if self.moves == 2 => reply.with_reward(f64::NAN),
            Flaw::ForgetsReward => reply.with_reward(f64::from(self.answers)),
            Flaw::NoneWithRewards => reply.with_reward(-f64::from(self.moves)),
            _ => reply,
        })
    }
}

impl System for Token {
    fn reset(&mut self, initial: &InitialState, observation: &mut [f64]) -> Result<Reply, SystemError> {
        if self.is_stuck {
            return Err(SystemError::new("no model is loaded"));
        }
        self.was_reset = true;
        self.cell = initial.values()[0];
        if self.flaw == Flaw::ForgetsReward {
            self.answers = 0;
        }
        if self.flaw != Flaw::Keeps {
            self.moves = 0;
        }
        self.reply(observation)
    }
    fn step(&mut self, action: usize, observation: &mut [f64]) -> Result<Reply, SystemError> {
        self.cell += if action == 0 { -1.0 } else { 1.0 };
        self.moves += action as u32;
        self.reply(observation)
    }
    fn come_back(&self) -> ComeBack {
        ComeBack::Snapshot
    }
    fn save(&mut self, state: &mut Vec<u8>) -> Result<(), SystemError> {
        state.extend(self.cell.to_le_bytes());
        state.extend(self.moves.to_le_bytes());
        Ok(())
    }
    fn restore(&mut self, state: &[u8]) -> Result<(), SystemError> {
        if self.flaw == Flaw::Refuses {
            return Err(SystemError::new("no room"));
        }
        self.is_stuck = self.flaw == Flaw::NeedsReset && !self.was_reset;
        let (cell, moves) = state.split_first_chunk().ok_or_else(|| SystemError::new("too short"))?;
        self.cell = f64::from_le_bytes(*cell);
        if self.flaw != Flaw::Forgets {
            self.moves = moves.try_into().map(u32::from_le_bytes).unwrap_or_default();
        }
        Ok(())
    }
}

fn checked(flaw: Flaw) -> Result<Report, Broken> {
    let problem = Problem::builder()
        .dimension("cell", Thresholds::grid(0.0, 10.0, 1.0).unwrap())
        .action("left", -1.0)
        .action("right", 1.0)
        .initial([2.0])
        .initial([9.0])
        .objective(Objective::reach(1000))
        .depth(1)
        .build()
        .unwrap();
    let made = AtomicU32::new(0);
    let factory = || {
        let number = made.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(Token {
            flaw,
            number,
            cell: 0.0,
            moves: 0,
            answers: 0,
            was_reset: false,
            is_stuck: false,
        }) as Box<dyn System>)
    };
    check(&problem, &factory, Effort::FULL)
}

#[test]
fn a_good_system_passes_and_every_broken_promise_is_found_with_few_actions() {
    let report = checked(Flaw::None).unwrap();
    assert_eq!(report.sequences, (200, 200));
    assert_eq!(report.over, []);
    assert!(report.steps > 10_000 && report.notes.is_empty(), "{report:?}");
    assert_eq!(report.rewards, None);
    assert_eq!(checked(Flaw::NoneWithRewards).unwrap().rewards, Some((-40.0, 0.0)));
    for (flaw, promise, actions) in [
        (Flaw::Keeps, Promise::Repeats, 6),
        (Flaw::Differs, Promise::Agrees, 4),
        (Flaw::Forgets, Promise::ComesBack, 7),
        (Flaw::Fails, Promise::Answers, 3),
        (Flaw::NaN, Promise::Numbers, 2),
        (Flaw::Random, Promise::Repeats, 1),
        (Flaw::RandomReward, Promise::Repeats, 1),
        (Flaw::NaNReward, Promise::Numbers, 2),
        (Flaw::ForgetsReward, Promise::ComesBack, 2),
        (Flaw::Refuses, Promise::ComesBack, 1),
        (Flaw::NeedsReset, Promise::Answers, 1),
    ] {
        let broken = checked(flaw).unwrap_err();
        assert_eq!(broken.promise, promise, "{flaw:?}: {broken:?}");
        assert!(broken.actions.len() <= actions, "{flaw:?}: {broken:?}");
        let doing = if flaw == Flaw::Refuses { Some("restoring") } else { None };
        assert_eq!(broken.doing, doing, "{flaw:?}: {broken:?}");
    }
}

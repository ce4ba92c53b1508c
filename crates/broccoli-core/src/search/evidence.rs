//! The evidence of a search: what was walked, written down while it is walked, for a certificate.
//!
//! Behaviours form a tree: below a behaviour are those with one label more, given to the next cell that has
//! none. The events here lead through that tree; `docs/certificates.md` tells what each of them means and
//! how they are encoded.

use std::sync::Arc;

use crate::problem::{Instance, Problem, RunError, SystemFactory, Verdict};
use crate::tree::Tree;

/// Takes down the evidence of a search by [`Engine::Behaviour`](super::Engine::Behaviour), in a file for
/// instance. It is asked from several threads.
pub trait Witness: Send + Sync {
    /// Whether to tell what the system answered, too, so that it need not be asked again.
    fn wants_replies(&self) -> bool;

    /// A task begins that has something to tell: a number that no other task has.
    fn begin(&self) -> u64;

    /// Takes some events of a task. They count only if the last ones of the task come, too: one that fails
    /// is done again from its beginning.
    fn take(&self, task: u64, events: &[u8], is_last: bool);
}

/// What ended a behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Violated = 0,
    Bound = 1,
    Complete = 2,
}

/// Kinds of events, in the lowest three bits of their number.
const LABEL: u64 = 0;
const BACK: u64 = 1;
const START: u64 = 2;
const END: u64 = 3;
const REPLY: u64 = 4;

/// So many bytes of events are handed over at once.
const BLOCK: usize = 256 << 10;

/// Writes down what one worker walks.
pub(super) struct Recorder {
    witness: Arc<dyn Witness>,
    /// The number of the task, once something of it was handed over.
    task: Option<u64>,
    events: Vec<u8>,
    /// The labels of the present behaviour, and how many of them the events so far have led through.
    path: Vec<u16>,
    held: usize,
}

impl Recorder {
    pub(super) fn new(witness: Arc<dyn Witness>) -> Self {
        Recorder { witness, task: None, events: Vec::new(), path: Vec::new(), held: 0 }
    }

    /// A task begins. What is left of one before it has failed, and is forgotten.
    pub(super) fn begin(&mut self) {
        self.task = None;
        self.events.clear();
        self.path.clear();
        self.held = 0;
    }

    /// The task is done: all that came of it is handed over.
    pub(super) fn finish(&mut self) {
        if self.task.is_some() || !self.events.is_empty() {
            self.hand_over(true);
        }
        self.begin();
    }

    /// A cell gets a label, the behaviour having `depth` before.
    pub(super) fn label(&mut self, depth: usize, label: u16) {
        self.go_to(depth);
        self.path.truncate(depth);
        self.path.push(label);
        self.go_to(depth + 1);
        self.hand_over_if_large();
    }

    /// The trace from an initial state begins, the behaviour having `depth` labels.
    pub(super) fn start(&mut self, depth: usize, initial: u32) {
        self.go_to(depth);
        number(&mut self.events, u64::from(initial) << 3 | START);
        self.hand_over_if_large();
    }

    /// The behaviour has ended.
    pub(super) fn end(&mut self, depth: usize, end: End) {
        self.go_to(depth);
        number(&mut self.events, (end as u64) << 3 | END);
        self.hand_over_if_large();
    }

    /// The system has answered, and may have told its state.
    pub(super) fn reply(&mut self, depth: usize, verdict: Verdict, observation: &[f64], state: &[u8]) {
        self.go_to(depth);
        reply(&mut self.events, verdict, observation, state);
        self.hand_over_if_large();
    }

    /// Leads on to the first `depth` labels.
    fn go_to(&mut self, depth: usize) {
        if self.held > depth {
            number(&mut self.events, ((self.held - depth) as u64) << 3 | BACK);
            self.held = depth;
        }
        while self.held < depth {
            number(&mut self.events, u64::from(self.path[self.held]) << 3 | LABEL);
            self.held += 1;
        }
    }

    fn hand_over_if_large(&mut self) {
        if self.events.len() >= BLOCK {
            self.hand_over(false);
        }
    }

    /// Hands the events over. The next ones lead through the labels from the start again.
    fn hand_over(&mut self, is_last: bool) {
        let task = *self.task.get_or_insert_with(|| self.witness.begin());
        self.witness.take(task, &self.events, is_last);
        self.events.clear();
        self.held = 0;
    }
}

/// The traces of a tree as events: from each initial state in turn, a start, what the system answers, and then
/// each action, as a label, with the answer to it.
///
/// # Errors
/// When the system fails.
pub fn record_traces(
    problem: &Problem,
    factory: &dyn SystemFactory,
    tree: &Tree,
) -> Result<Vec<u8>, RunError> {
    let mut instance = Instance::new(problem, factory)?;
    let (mut events, mut state) = (Vec::new(), Vec::new());
    for initial in 0..problem.initial_states().len() {
        number(&mut events, (initial as u64) << 3 | START);
        let mut verdict = instance.reset(initial)?;
        loop {
            let is_over = verdict != Verdict::Running || instance.steps() == problem.objective().horizon();
            state.clear();
            if !is_over {
                instance.complete_state(&mut state)?;
            }
            reply(&mut events, verdict, instance.observation(), &state);
            if is_over {
                break;
            }
            let action = tree.action(instance.observation());
            number(&mut events, (action as u64) << 3 | LABEL);
            verdict = instance.step(action)?;
        }
    }
    Ok(events)
}

/// Appends the event of an answer: what the system showed, its verdict, and its state if it told it.
fn reply(events: &mut Vec<u8>, verdict: Verdict, observation: &[f64], state: &[u8]) {
    let verdict = match verdict {
        Verdict::Running => 0,
        Verdict::Satisfied => 1,
        Verdict::Violated => 2,
    };
    number(events, verdict << 3 | REPLY);
    for value in observation {
        events.extend_from_slice(&value.to_bits().to_le_bytes());
    }
    number(events, state.len() as u64);
    events.extend_from_slice(state);
}

/// Appends a number, seven bits a byte, the lowest first; the highest bit says that more follow.
fn number(events: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        events.push(value as u8 | 0x80);
        value >>= 7;
    }
    events.push(value as u8);
}

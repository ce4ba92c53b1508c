//! Runs a walk on a system: does what it asks, and comes back to marks as the system can.

use super::walk::Ask;
use crate::problem::{ComeBack, Instance, Problem, RunError, SystemFactory, Verdict};

/// A place to come back to.
#[derive(Clone, Copy, Debug)]
struct Mark {
    initial: usize,
    steps: u64,
    /// Where its saved state starts. Not used when actions are replayed.
    state: usize,
    /// Where the actions of its trace start, and where they end.
    trace: usize,
    actions: usize,
}

pub(super) struct Driver<'p> {
    problem: &'p Problem,
    instance: Instance<'p>,
    come_back: ComeBack,
    initial: usize,
    marks: Vec<Mark>,
    /// The saved states of the marks, one after the other.
    states: Vec<u8>,
    /// The actions of all traces up to here, one trace after the other. Kept only to be replayed.
    actions: Vec<u16>,
    /// Where the actions of the present trace start.
    trace: usize,
    cell: Vec<u16>,
    traces: u64,
    replayed: u64,
}

impl<'p> Driver<'p> {
    pub(super) fn new(problem: &'p Problem, factory: &dyn SystemFactory) -> Result<Self, RunError> {
        let instance = Instance::new(problem, factory)?;
        Ok(Driver {
            problem,
            come_back: instance.come_back(),
            instance,
            initial: 0,
            marks: Vec::new(),
            states: Vec::new(),
            actions: Vec::new(),
            trace: 0,
            cell: vec![0; problem.dimensions().len()],
            traces: 0,
            replayed: 0,
        })
    }

    /// Transitions that walks asked for.
    pub(super) fn queries(&self) -> u64 {
        self.instance.queries() - self.replayed
    }

    /// Transitions made again only to come back to a state.
    pub(super) fn replayed(&self) -> u64 {
        self.replayed
    }

    /// Traces started.
    pub(super) fn traces(&self) -> u64 {
        self.traces
    }

    /// The cell after the last answer.
    pub(super) fn cell(&self) -> &[u16] {
        &self.cell
    }

    /// Forgets all marks, for a new walk.
    pub(super) fn clear(&mut self) {
        self.marks.clear();
        self.states.clear();
        self.actions.clear();
    }

    /// Does what a walk asks, other than [`Ask::Found`] and [`Ask::Done`], for which there is nothing
    /// to do; then [`Driver::cell`] is the new cell.
    #[inline]
    pub(super) fn answer(&mut self, ask: Ask) -> Result<Verdict, RunError> {
        let verdict = match ask {
            Ask::Reset { initial } => {
                self.initial = initial;
                self.trace = self.actions.len();
                self.traces += 1;
                self.instance.reset(initial)?
            }
            Ask::Step { mark, action } => {
                if mark {
                    self.mark()?;
                }
                self.step(action)?
            }
            Ask::Return { drop, keep, action } => {
                self.go_back(drop, keep)?;
                self.step(action)?
            }
            Ask::Found { .. } | Ask::Done => return Ok(Verdict::Running),
        };
        self.problem.cell(self.instance.observation(), &mut self.cell);
        Ok(verdict)
    }

    #[inline]
    fn step(&mut self, action: usize) -> Result<Verdict, RunError> {
        if self.come_back == ComeBack::Replay {
            self.actions.push(action as u16);
        }
        self.instance.step(action)
    }

    fn mark(&mut self) -> Result<(), RunError> {
        self.marks.push(Mark {
            initial: self.initial,
            steps: self.instance.steps(),
            state: self.states.len(),
            trace: self.trace,
            actions: self.actions.len(),
        });
        if self.come_back != ComeBack::Replay {
            self.instance.save(&mut self.states)?;
        }
        Ok(())
    }

    fn go_back(&mut self, drop: usize, keep: bool) -> Result<(), RunError> {
        for _ in 0..drop {
            if let Some(mark) = self.marks.pop() {
                self.states.truncate(mark.state);
            }
        }
        let Some(&mark) = self.marks.last() else { return Ok(()) };
        self.initial = mark.initial;
        self.trace = mark.trace;
        if self.come_back == ComeBack::Replay {
            self.actions.truncate(mark.actions);
            self.instance.reset(mark.initial)?;
            self.replayed += (mark.actions - mark.trace) as u64;
            for &action in &self.actions[mark.trace..] {
                self.instance.step(usize::from(action))?;
            }
        } else {
            self.instance.restore(&self.states[mark.state..], mark.initial, mark.steps)?;
        }
        if !keep {
            self.states.truncate(mark.state);
            self.marks.pop();
        }
        Ok(())
    }
}

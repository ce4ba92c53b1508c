//! Steps that are made together: each lane of a thread goes on until it needs one, and is told what came of it.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use super::bounds::Store;
use super::lane::{Lane, Setting};
use super::team::Seat;
use crate::problem::{
    BatchError, Instance, Problem, Reply, RunError, SystemError, Table, Verdict, append_words, started, words,
};

/// Steps to be made together, row by row.
pub(super) struct Batch<'p> {
    problem: &'p Problem,
    table: Rc<RefCell<Table>>,
    /// The indices of the lanes that wait for them.
    lanes: Vec<usize>,
    actions: Vec<usize>,
    /// The states that they start from, as the lanes keep them.
    states: Vec<u8>,
}

impl<'p> Batch<'p> {
    /// No steps yet, of a system of its own.
    pub(super) fn new(setting: &Setting<'p>) -> Result<Self, RunError> {
        let table = Table::new(started(|| setting.factory.make_batch())?);
        let problem = setting.problem;
        Ok(Batch { problem, table, lanes: Vec::new(), actions: Vec::new(), states: Vec::new() })
    }

    /// A lane whose steps are made here, with nothing to do yet.
    pub(super) fn lane<S: Store>(&self, setting: &Setting<'p>) -> Lane<'p, S> {
        Lane::new(setting, Instance::row(self.problem, &self.table), true)
    }

    /// Adds the step that a lane waits for.
    pub(super) fn add<S: Store>(&mut self, index: usize, lane: &mut Lane<'p, S>) -> Result<(), RunError> {
        self.actions.push(lane.asked(&mut self.states)?);
        self.lanes.push(index);
        Ok(())
    }

    /// Makes the steps and tells the lanes: those that have failed, and why.
    pub(super) fn step<S: Store>(&mut self, seats: &mut [Seat<'p, S>]) -> Vec<(usize, RunError)> {
        let (count, dimensions) = (self.lanes.len(), self.problem.dimensions().len());
        let (values, _) = self.states.as_chunks::<8>();
        let mut states: Vec<f64> = values.iter().map(|&value| f64::from_le_bytes(value)).collect();
        // Whatever the system forgets is found.
        let (mut observations, mut rewards) = (vec![f64::NAN; count * dimensions], vec![f64::NAN; count]);
        let mut verdicts = vec![Verdict::Running; count];
        let made = catch_unwind(AssertUnwindSafe(|| {
            let system = &mut self.table.borrow_mut().system;
            system.step_batch(&self.actions, &mut states, &mut observations, &mut verdicts)?;
            Ok(self.problem.objective().wants_rewards() && system.rewards(&mut rewards))
        }));
        let made = made
            .unwrap_or_else(|panic| Err(SystemError::new(format!("it panicked: {}", words(&*panic))).into()));
        let mut failed = Vec::new();
        match made {
            Ok(has_rewards) => {
                let width = states.len() / count;
                for (row, &index) in self.lanes.iter().enumerate() {
                    self.states.clear();
                    append_words(&mut self.states, &states[row * width..][..width]);
                    let observation = &observations[row * dimensions..][..dimensions];
                    let reply = Reply::from(verdicts[row]);
                    let reply = if has_rewards { reply.with_reward(rewards[row]) } else { reply };
                    let told = seats[index].lane.told(&self.states, observation, reply);
                    failed.extend(told.err().map(|error| (index, error)));
                }
            }
            // One lane has the error of its step, or of all. The others take back the steps that were not made.
            Err(BatchError { row, source }) => {
                let row = row.or((count == 1).then_some(0)).and_then(|row| self.lanes.get(row));
                failed.push(match row {
                    Some(&index) => (index, seats[index].lane.failed(source)),
                    None => (self.lanes[0], RunError::Batch { rows: count, source }),
                });
            }
        }
        self.lanes.clear();
        self.actions.clear();
        self.states.clear();
        failed
    }
}

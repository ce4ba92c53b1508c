//! Workers of a crew: a lane alone, or a batch of lanes.

use std::num::NonZeroUsize;
use std::sync::Arc;

use super::batch::Batch;
use super::bounds::Store;
use super::crew::{Crew, SLICE, Size};
use super::frontier::Frontier;
use super::lane::Lane;
use super::sample;
use crate::problem::cache::Shared;
use crate::problem::{Gate, Instance, Problem, RunError, SystemFactory};
use crate::search::evidence::Witness;

/// How many queries a worker makes at least before it shares out what is left of its task; and a lane of
/// a batch.
const LEAST_TASK: u64 = 512;
const LEAST_TASK_OF_ROW: u64 = 64;
/// Into how many tasks work is shared out, per worker; and per lane of a batch.
const TASKS_EACH: usize = 16;
const TASKS_OF_ROW: usize = 2;
/// How many queries a lane makes between two looks at the others, at most, if they are quick.
const LONGEST_SLICE: u64 = 512;

/// What workers are made of.
#[derive(Clone)]
pub(super) struct Makings<'p> {
    pub(super) problem: &'p Problem,
    pub(super) factory: &'p dyn SystemFactory,
    pub(super) gate: Arc<Gate<'p>>,
    pub(super) cache: Option<Shared>,
    pub(super) witness: Option<Arc<dyn Witness>>,
    /// How much memory the traces that a lane remembers may take.
    pub(super) remembered: usize,
    /// Where some of what the system answers is taken down, if it is.
    pub(super) sample: Option<sample::Shared>,
}

impl<'p> Makings<'p> {
    /// How many lanes a worker has, if their steps are made together. The cache and the witness are for one
    /// step at a time.
    pub(super) fn rows(&self) -> Option<NonZeroUsize> {
        self.factory.rows().filter(|_| self.cache.is_none() && self.witness.is_none())
    }

    /// A crew for up to so many workers, who share out work after so many queries at the latest.
    pub(super) fn crew(&self, workers: usize, after: u64, gap: f64) -> Crew {
        let size = match self.rows().map(NonZeroUsize::get) {
            None => Size {
                workers,
                lanes: 1,
                most_hungry: 0,
                tasks: workers * TASKS_EACH,
                least_task: LEAST_TASK.min(after),
                longest_slice: if self.factory.is_quick() { LONGEST_SLICE } else { SLICE },
            },
            Some(rows) => Size {
                workers,
                lanes: workers * rows,
                most_hungry: rows - rows.div_ceil(8),
                tasks: workers * rows * TASKS_OF_ROW,
                least_task: LEAST_TASK_OF_ROW.min(after),
                longest_slice: SLICE,
            },
        };
        Crew::new(self.problem, size, gap)
    }

    /// A lane with a system of its own.
    pub(super) fn lane<S: Store>(&self) -> Result<Lane<'p, S>, RunError> {
        let Makings { problem, factory, gate, cache, .. } = self;
        let instance = match cache {
            None => Instance::new(problem, *factory)?,
            Some(cache) => Instance::cached(problem, *factory, cache.clone(), Arc::clone(gate))?,
        };
        let lane = Lane::new(problem, instance, Arc::clone(gate), false, self.remembered);
        Ok(lane.sampled(self.sample.as_ref()))
    }

    /// The worker with this number.
    pub(super) fn worker<S: Store>(&self, number: usize) -> Result<Worker<'p, S>, RunError> {
        match self.rows() {
            None => Ok(Worker::Alone(number, Box::new(self.lane()?.witnessed(self.witness.as_ref())))),
            Some(rows) => {
                let gate = Arc::clone(&self.gate);
                let batch = Batch::new(self.problem, self.factory, gate, number, rows.get())?
                    .sampled(self.sample.clone());
                Ok(Worker::Batch(Box::new(batch)))
            }
        }
    }
}

/// One who takes tasks.
pub(super) enum Worker<'p, S: Store> {
    /// One lane, and the worker's number.
    Alone(usize, Box<Lane<'p, S>>),
    /// Several lanes.
    Batch(Box<Batch<'p, S>>),
}

impl<S: Store> Worker<'_, S> {
    /// Works on the round until it is over, and returns the leaves for the next one; or until all that is
    /// left is set aside, and returns nothing. `look` is called now and then.
    pub(super) fn work(
        &mut self,
        crew: &Crew,
        look: &mut dyn FnMut() -> Result<(), RunError>,
    ) -> Result<Option<Frontier>, RunError> {
        match self {
            Worker::Alone(_, lane) => crew.work(lane, look),
            Worker::Batch(batch) => batch.work(crew, look),
        }
    }

    /// Works on all rounds until the search is over.
    pub(super) fn serve(&mut self, crew: &Crew) {
        match self {
            Worker::Alone(number, lane) => crew.serve(*number, lane),
            Worker::Batch(batch) => batch.serve(crew),
        }
    }
}

//! Tasks for hints: the local search on the system of a lane.

use std::sync::Arc;

use super::{Lane, Paused};
use crate::problem::{RunError, Verdict};
use crate::search::behaviour::bounds::Store;
use crate::search::behaviour::hints::Climb;
use crate::search::behaviour::ladder::Grid;
use crate::search::behaviour::task::{Found, Task, What};
use crate::search::behaviour::walk::{Ask, Walk};

impl<S: Store> Lane<'_, S> {
    /// Whether its task is one for hints.
    pub(in super::super) fn is_for_hints(&self) -> bool {
        self.is_hint
    }

    /// Walks on this grid from now on, or on the whole one.
    pub(super) fn begin_grid(&mut self, grid: Option<Arc<Grid>>) {
        self.end_grid();
        if let Some(grid) = &grid {
            let walk = Walk::new(grid.problem(self.problem), true, None);
            self.rests = Some(Box::new(std::mem::replace(&mut self.walk, walk)));
        }
        self.grid = grid;
    }

    /// The walk on the whole grid goes on.
    pub(super) fn end_grid(&mut self) {
        self.count_hints();
        self.grid = None;
        if let Some(walk) = self.rests.take() {
            self.walk = *walk;
        }
    }

    pub(super) fn begin_hints(&mut self, mut task: Task) {
        let climb = self.climb.get_or_insert_with(|| Box::new(Climb::new(self.problem)));
        self.quota = task.quota.unwrap_or(u64::MAX);
        (self.way, self.is_suspended, self.is_interrupted) = (None, false, false);
        climb.begin(&mut task);
        self.task = task;
    }

    /// Goes on for so many queries, or until there is something to say, or the budget is spent.
    #[inline(never)]
    pub(super) fn advance_hints(&mut self, steps: u64) -> Result<Paused, RunError> {
        let slice_ends = self.instance.queries().saturating_add(steps);
        loop {
            let Some(ask) = self.climb.as_ref().map(|climb| climb.ask) else { return Ok(Paused::Done) };
            if self.is_suspended {
                return Ok(Paused::Done);
            }
            let answer = match ask {
                Ask::Step { from, action } => self.step(from, usize::from(action)),
                Ask::Reset { initial } => {
                    self.traces += 1;
                    self.reset(initial as usize).map(Some)
                }
                _ => return Ok(Paused::Done),
            };
            match answer {
                Ok(Some(verdict)) => self.tell_hints(verdict)?,
                Ok(None) => return Ok(Paused::Asked),
                Err(RunError::Stopped(reason)) => self.interrupt(Some(reason))?,
                Err(error) => return Err(error),
            }
            if self.instance.queries() >= slice_ends {
                return Ok(Paused::Slice);
            }
        }
    }

    /// Tells the local search what came of a step or a reset, and keeps the place where the system is.
    pub(super) fn tell_hints(&mut self, verdict: Verdict) -> Result<(), RunError> {
        self.look_for_sample(verdict);
        let Some(climb) = &mut self.climb else { return Ok(()) };
        climb.tell(verdict, self.instance.reward(), &self.cell);
        if climb.recall.wants_place() {
            let instance = &mut self.instance;
            climb.recall.keep_place(|places| places.save(instance))?;
        }
        if let Some(better) = climb.found.take() {
            let score = better.score;
            let what = What::Tree(better.tree, better.labels);
            self.task.found = Some(Found { score, what, own_steps: better.own_steps });
            if self.task.brief.goal.is_some_and(|goal| score <= goal) {
                climb.stop();
            }
        }
        Ok(())
    }

    /// The label of the present cell, on the way to a place.
    pub(super) fn label_here(&self) -> Option<u16> {
        match &self.climb {
            Some(climb) if self.is_hint => climb.label(&self.cell),
            _ => self.walk.label(&self.cell),
        }
    }

    /// The queries made for hints so far.
    pub(super) fn queries_for_hints(&self) -> u64 {
        let now = self.instance.queries() - self.instance.replayed() - self.before_hints;
        self.hints + if self.is_hint || self.grid.is_some() { now } else { 0 }
    }

    fn count_hints(&mut self) {
        self.hints = self.queries_for_hints();
        self.before_hints = self.instance.queries() - self.instance.replayed();
    }

    pub(super) fn finish_hints(&mut self, mut task: Task) -> Task {
        self.count_hints();
        self.is_hint = false;
        if let Some(climb) = &mut self.climb {
            climb.end_task(&mut task);
            // One that is done has spent its budget, also if there was no room left to remember more.
            let work = climb.work();
            // Also what it needed to come to the next place.
            let spent = if self.is_interrupted { work } else { work.max(task.budget) };
            task.work += spent;
            task.budget = task.budget.saturating_sub(spent);
        }
        task.is_done = task.budget == 0 && task.stopped.is_none();
        task
    }
}

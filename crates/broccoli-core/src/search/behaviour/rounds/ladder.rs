//! Tasks for the ladder of grids: beside those for hints, and counted with them.

use std::sync::Arc;

use super::Rounds;
use crate::search::behaviour::bounds::Store;
use crate::search::behaviour::state::State;
use crate::search::behaviour::task::{Brief, Task, What};
use crate::search::behaviour::walk::Job;

/// The leaves of a rung may take one part in so many of the memory for leaves, and its traces of that for traces.
const PARTS: usize = 8;

impl<'s, 'p: 's, 'o: 'p, S: Store> Rounds<'s, '_, 'p, 'o, S> {
    /// The ladder's next task, if a rung has done too little, with what it still has to do; it is to make so many steps at
    /// most. A grid may have four times as many steps as the next finer one.
    pub(super) fn ladder_task(&mut self, most: u64) -> Option<(Task, u64)> {
        let State { ladder, hints, tuning, best, work, .. } = &mut self.state;
        let best = best.as_ref().map(|best| best.score);
        let all = hints.as_ref().map_or(0, |hints| hints.ladder(self.problem, *work, best, tuning));
        let memory = self.options.memory.unwrap_or(usize::MAX).min(tuning.most_leaf_bytes);
        let (index, due) = ladder.rungs.iter_mut().enumerate().find_map(|(index, rung)| {
            let due = (all >> (2 * index)).saturating_sub(rung.work);
            let is_next = due > 0 && rung.go_on(self.problem, tuning, best, memory / PARTS);
            is_next.then_some((index, due))
        })?;
        let (rung, budget) = (&mut ladder.rungs[index], due.min(most));
        let todo = rung.left.take_tasks(1, budget, false);
        let leaves = todo.iter().map(|frontier| frontier.len() as u64).sum();
        let (failures, brief) = (rung.failures.clone(), self.brief_of_rung(index));
        let rung = Some(index);
        Some((Task { rung, todo: todo.into(), leaves, budget, failures, brief, ..Task::default() }, due))
    }

    /// What follows for a task of a rung from the state of the search.
    pub(super) fn brief_of_rung(&self, index: usize) -> Brief {
        let best = self.state.best.as_ref().map(|best| best.score);
        let Some(rung) = self.state.ladder.rungs.get(index) else { return Brief::default() };
        let coarse = rung.grid.problem(self.problem);
        Brief {
            job: Job { is_counted: false, ..rung.round.job(coarse) },
            incumbent: best,
            goal: rung.round.goal(coarse),
            trie: Arc::clone(&rung.trie),
            recall_bytes: self.recall_bytes() / PARTS,
            is_short: false,
            writes_first: false,
            grid: Some(Arc::clone(&rung.grid)),
        }
    }

    /// Folds what came of a task of a rung.
    pub(super) fn fold_rung(&mut self, mut task: Task) {
        let most_bytes = self.recall_bytes() / PARTS;
        let State { ladder, hints, best, .. } = &mut self.state;
        let Some(rung) = task.rung.and_then(|rung| ladder.rungs.get_mut(rung)) else { return };
        rung.failures.clone_from(&task.failures);
        rung.work += task.work;
        if let Some(added) = task.added.take() {
            let trie = Arc::make_mut(&mut rung.trie);
            trie.add(&added);
            if trie.bytes() >= most_bytes {
                trie.forget();
            }
        }
        let found = task.found.take();
        rung.left.fold(vec![task]);
        let is_better = |score| best.as_ref().is_none_or(|best| score < best.score);
        let found = found.filter(|found| is_better(found.score));
        if let Some(hints) = hints {
            if let Some(found) = &found
                && let What::Tree(tree, _) = &found.what
            {
                hints.adopt_best(self.problem, tree.clone(), found.score);
            }
            hints.worked(0);
        }
        if let Some(found) = found {
            self.tell(found);
        }
    }
}

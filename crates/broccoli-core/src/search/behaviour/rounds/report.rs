//! What a search tells: how far it is, what is left of it, and in the end what it has found.

use super::Rounds;
use crate::problem::RunError;
use crate::search::behaviour::bounds::Store;
use crate::search::behaviour::score::Score;
use crate::search::behaviour::task::{Found, What};
use crate::tree::Tree;

impl<'s, 'p: 's, 'o: 'p, S: Store> Rounds<'s, '_, 'p, 'o, S> {
    /// Writes down all that is left.
    pub(super) fn keep(&mut self) {
        self.count_transitions();
        if self.progress.has_keeper() {
            let mut state = self.state.clone();
            if let Some(sample) = &self.sample {
                state.sample = Some(sample.copy());
            }
            self.progress.keep_checkpoint(state);
        }
    }

    /// Tells the observer what there is to tell.
    pub(super) fn report(&mut self) {
        self.progress.walked(self.board.counts());
        let found = self.state.best_found().filter(|found| !matches!(found.what, What::Start));
        if let Some(found) = found {
            let (problem, Score { size, .. }) = (self.problem, found.score);
            let tree = || found.tree(problem).unwrap_or(Tree::Leaf(0));
            self.progress.tell_improved(found.score.value(problem.objective()), u64::from(size), &tree);
        }
        self.progress.look_at_rewards();
    }

    /// Says what was found, also in a chunk that was not folded; and if the search has come to its end, what any search
    /// must ask for.
    pub(super) fn conclude(&mut self, ended: &Result<(), RunError>) {
        for task in std::mem::take(&mut self.state.chunk) {
            if let Some(found) = task.found {
                self.tell(found);
            }
        }
        let objective = self.problem.objective();
        let best = self.state.best.as_ref();
        let tree = |found: &Found| match ended {
            Ok(()) => found.first_tree(self.problem),
            Err(_) => found.tree(self.problem),
        };
        if let Some((found, tree)) = best.and_then(|found| Some((found, tree(found)?))) {
            self.progress.keep(tree, found.score.value(objective));
        }
        if ended.is_ok() && self.problem.initial_states().len() == 1 {
            self.count_transitions();
            let (best, transitions) = (self.state.best.as_ref(), self.state.transitions.as_ref());
            let necessary = transitions.and_then(|transitions| transitions.necessary(objective, best));
            if let Some(necessary) = necessary {
                self.progress.necessary(necessary);
            }
        }
    }

    fn count_transitions(&mut self) {
        let more = self.team.take_transitions();
        if let Some(transitions) = &mut self.state.transitions {
            transitions.add(&more);
        }
    }
}

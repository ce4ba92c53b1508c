//! What a search tells: how far it is, what is left of it, and in the end what it has found.

use super::Rounds;
use crate::problem::RunError;
use crate::search::behaviour::bounds::Store;
use crate::search::behaviour::chunk::Pending;
use crate::search::behaviour::realise::realised;
use crate::search::behaviour::saved::Saved;
use crate::search::behaviour::task::Found;
use crate::search::behaviour::transitions::necessary;

impl<'s, 'p: 's, 'o: 'p, S: Store> Rounds<'s, '_, 'p, 'o, S> {
    /// Writes down all that is left.
    pub(super) fn keep(&mut self) {
        self.count_transitions();
        if !self.progress.has_keeper() {
            return;
        }
        let queries = self.progress.queries();
        let saved = Saved {
            tuning: self.tuning,
            stage: self.stage,
            left: self.left.saved(),
            scout: self.scout.as_ref().map(|(scout, left)| (*scout, left.saved())),
            chunk: self.chunk.iter().map(Pending::saved).collect(),
            work: self.work,
            scout_work: self.scout_work,
            goal: self.goal,
            best: self.best.clone(),
            passed_over: self.passed_over,
            failures: self.failures.to_vec(),
            trie: (*self.trie).clone(),
            transitions: self.transitions.clone(),
            sample: self.sample.as_ref().map(|sample| sample.bounded(queries)).unwrap_or_default(),
        };
        self.progress.keep_checkpoint(saved);
    }

    /// Tells the observer what there is to tell.
    pub(super) fn report(&mut self) {
        self.progress.walked(self.board.counts());
        let found = self.chunk.iter().filter_map(|pending| pending.found.as_ref());
        let Some(best) = found.chain(&self.best).min_by_key(|found| found.score) else { return };
        if let Found { score, labels: Some(labels), .. } = best {
            let (problem, size) = (self.problem, score.size);
            let tree = || realised(problem, labels, size);
            self.progress.tell_improved(score.value(problem.objective()), u64::from(size), &tree);
        }
    }

    /// Says what was found, also in a chunk that was not folded; and if the search has come to its end, what any search
    /// must ask for.
    pub(super) fn conclude(&mut self, ended: &Result<(), RunError>) {
        for pending in std::mem::take(&mut self.chunk) {
            if let Some(found) = pending.found {
                self.tell(found);
            }
        }
        let objective = self.problem.objective();
        if let Some(Found { score, labels: Some(labels), .. }) = &self.best {
            self.progress.keep(realised(self.problem, labels, score.size), score.value(objective));
        }
        if let Some(passed_over) = self.passed_over {
            self.progress.pass_over(passed_over);
        }
        if ended.is_ok() && self.problem.initial_states().len() == 1 {
            self.count_transitions();
            let transitions = self.transitions.as_ref();
            if let Some(necessary) =
                transitions.and_then(|transitions| necessary(objective, self.best.as_ref(), transitions))
            {
                self.progress.necessary(necessary);
            }
        }
    }

    fn count_transitions(&mut self) {
        let more = self.team.take_transitions();
        if let Some(transitions) = &mut self.transitions {
            transitions.add(&more);
        }
    }
}

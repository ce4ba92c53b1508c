//! The state that every engine keeps: the incumbent, the bound, the counters, who is told about them,
//! and whether to go on.

use std::sync::Arc;

use super::behaviour::KnownTraces;
use super::behaviour::State;
use super::checkpoint::{Checkpoint, Keeper};
use super::counts::Counts;
use super::value::run;
use super::{Event, Forecast, Improvement, Observer, Solution, Statistics, Status};
use crate::problem::seen::SeenRewards;
use crate::problem::{
    Gate, Instance, Objective, Over, Problem, RunError, StopReason, SystemFactory, Verdict,
};
use crate::tree::Tree;

pub(super) struct Progress<'a> {
    objective: Objective,
    /// The value that no tree can beat.
    perfect: u64,
    observer: Option<&'a mut dyn Observer>,
    keeper: Option<&'a mut dyn Keeper>,
    /// What a checkpoint says of its search.
    fingerprint: u64,
    is_part: bool,
    gate: Arc<Gate<'a>>,
    /// How far from the optimum an answer may be.
    gap: f64,
    /// Whether the first tree ends the search, or the first with a value as good as this.
    first: bool,
    good_enough: Option<f64>,
    best: Option<Solution>,
    /// Value and size of the best tree, which need not have been made yet.
    incumbent: Option<(u64, u64)>,
    /// Whether the best tree is the one that the search started from.
    is_start: bool,
    /// No tree has a better value than this.
    bound: u64,
    /// The best rewards that were seen, if an estimate takes the place of the bound; and the estimate told last.
    rewards: Option<Arc<SeenRewards>>,
    estimate: Option<u64>,
    statistics: Statistics,
    /// Traces and queries of the tree started from.
    of_start: (u64, u64),
    /// What was walked before the search was resumed, and what was walked in all.
    before: Counts,
    counts: Counts,
}

impl<'a> Progress<'a> {
    pub(super) fn new(
        problem: &Problem,
        observer: Option<&'a mut dyn Observer>,
        gate: Arc<Gate<'a>>,
        gap: f64,
        first: bool,
    ) -> Self {
        Progress {
            objective: problem.objective(),
            perfect: problem.perfect(),
            observer,
            keeper: None,
            fingerprint: 0,
            is_part: false,
            gate,
            gap,
            first,
            good_enough: None,
            best: None,
            incumbent: None,
            is_start: false,
            bound: problem.perfect(),
            rewards: SeenRewards::new(problem).map(Arc::new),
            estimate: None,
            statistics: Statistics::default(),
            of_start: (0, 0),
            before: Counts::default(),
            counts: Counts::default(),
        }
    }

    /// The first tree whose value is as good as this ends the search.
    pub(super) fn good_enough(&mut self, value: Option<f64>) {
        self.good_enough = value;
    }

    /// Tells `keeper` now and then what is left of the search.
    pub(super) fn keep_by(&mut self, keeper: &'a mut dyn Keeper, fingerprint: u64, is_part: bool) {
        self.keeper = Some(keeper);
        (self.fingerprint, self.is_part) = (fingerprint, is_part);
    }

    pub(super) fn has_keeper(&self) -> bool {
        self.keeper.is_some()
    }

    /// Whether the keeper wants to know what is left.
    pub(super) fn is_checkpoint_due(&mut self) -> bool {
        self.keeper.as_mut().is_some_and(|keeper| keeper.is_due())
    }

    /// Tells the keeper what is left.
    pub(super) fn keep_checkpoint(&mut self, saved: State) {
        self.keep_with(saved, None);
    }

    /// The same, where the value of a tree to start from is not known yet.
    pub(super) fn keep_with(&mut self, saved: State, untried: Option<Tree>) {
        // The tree started from counts until a better behaviour is found, whose tree is not made yet.
        let is_best = |best: &&Solution| self.incumbent == Some((best.value, best.tree.size()));
        let start =
            self.best.as_ref().filter(|_| self.is_start).filter(is_best).map(|best| best.tree.clone());
        if let Some(keeper) = &mut self.keeper {
            keeper.keep(&Checkpoint {
                fingerprint: self.fingerprint,
                is_part: self.is_part,
                gap: self.gap,
                incumbent: self.incumbent,
                start,
                untried,
                bound: self.bound,
                of_start: self.of_start,
                counts: self.counts,
                saved,
            });
        }
    }

    /// Nothing has been done since a checkpoint was made.
    pub(super) fn keep_again(&mut self, checkpoint: &Checkpoint) {
        if let Some(keeper) = &mut self.keeper {
            keeper.keep(checkpoint);
        }
    }

    /// Goes on where a checkpoint was made.
    pub(super) fn resume(&mut self, checkpoint: &Checkpoint) {
        if let (Some(tree), Some((value, _))) = (checkpoint.start.clone(), checkpoint.incumbent) {
            self.keep(tree, value);
            self.is_start = true;
        }
        self.incumbent = checkpoint.incumbent;
        self.bound = checkpoint.bound;
        self.of_start = checkpoint.of_start;
        self.before = checkpoint.counts;
        self.counts = checkpoint.counts;
    }

    /// A system whose queries end when the search is to stop.
    pub(super) fn instance<'p>(
        &self,
        problem: &'p Problem,
        factory: &dyn SystemFactory,
    ) -> Result<Instance<'p>, RunError>
    where
        'a: 'p,
    {
        let mut instance = Instance::gated(problem, factory, self.gate.clone())?;
        instance.note_rewards(self.rewards());
        Ok(instance)
    }

    /// Runs the tree that the search starts from. If it has a value it is the first incumbent.
    pub(super) fn start(
        &mut self,
        problem: &Problem,
        factory: &dyn SystemFactory,
        tree: Tree,
        known: &mut KnownTraces<'_>,
    ) -> Result<(), RunError> {
        let mut instance = self.instance(problem, factory)?;
        let mut values: Vec<Option<u64>> = Vec::new();
        let (traces, queries) = self.of_start;
        for initial in 0..problem.initial_states().len() {
            // A trace that lives as long as the worst before it makes no difference.
            let most = match self.objective {
                Objective::Survive { over: Over::Worst, horizon } => {
                    values.iter().flatten().fold(horizon, |a, &b| a.min(b))
                }
                objective => objective.horizon(),
            };
            let policy = |seen: &[f64]| tree.action(seen);
            let value = instance.guarded(|instance| {
                known.begin(initial);
                let tell =
                    |instance: &mut Instance<'_>, verdict, action| known.tell(instance, verdict, action);
                let (verdict, total) = run(policy, self.objective, most, initial, instance, tell)?;
                Ok(match verdict {
                    Verdict::Running if most < self.objective.horizon() => Some(most),
                    _ => self.objective.worth(verdict, instance.steps(), total),
                })
            });
            self.of_start = (traces + initial as u64 + 1, queries + instance.queries());
            (self.statistics.traces, self.statistics.queries) = self.of_start;
            let value = value?;
            if value.is_none() && !matches!(self.objective.over(), Over::Share(_)) {
                return Ok(());
            }
            values.push(value);
        }
        if let Some(value) = problem.overall(&values) {
            self.improved(tree, value);
            self.is_start = true;
        }
        Ok(())
    }

    /// Value and size of the best tree so far, for an engine that begins.
    pub(super) fn incumbent(&self) -> Option<(u64, u64)> {
        self.incumbent
    }

    /// Ends the search if the best tree is proved to be within the gap. That is all that a gap does: until then the
    /// search is the same as without.
    pub(super) fn look_at_gap(&self) {
        let is_within = |value| {
            let enough = self.objective.within_gap(value, self.gap, self.perfect);
            !self.objective.is_better(self.bound, enough)
        };
        if self.gap > 0.0 && self.incumbent.is_some_and(|(value, _)| is_within(value)) {
            self.gate.close(StopReason::Gap);
        }
    }

    /// The value that a tree of `size` must be better than, for engines that search in increasing size.
    /// The tree started from gives way to one of its own value unless that is larger, so that the answer
    /// does not depend on it.
    pub(super) fn value_to_beat(&self, size: u64) -> Option<u64> {
        let best = self.best.as_ref()?;
        match best.value {
            value if !self.is_start || size > best.tree.size() => Some(value),
            value if self.objective.is_minimised() => value.checked_add(1),
            value => value.checked_sub(1),
        }
    }

    /// Whether no tree of this size or a larger one is wanted.
    pub(super) fn is_settled(&self, size: u64) -> bool {
        self.value_to_beat(size) == Some(self.perfect)
    }

    /// Trees of `size` are searched from now on.
    pub(super) fn size(&mut self, size: u64) {
        if let Some(observer) = &mut self.observer {
            observer.notify(Event::Size(size));
        }
    }

    /// Some traces were run, and took so many queries.
    pub(super) fn ran(&mut self, traces: u64, queries: u64) {
        self.statistics.traces += traces;
        self.statistics.queries += queries;
    }

    /// A tree was considered.
    pub(super) fn considered(&mut self) {
        self.statistics.trees += 1;
        if let Some(observer) = &mut self.observer {
            observer.notify(Event::Considered(&self.statistics));
        }
    }

    /// The gate that queries have to pass.
    pub(super) fn gate(&self) -> Arc<Gate<'a>> {
        Arc::clone(&self.gate)
    }

    /// Behaviours were walked: the totals so far.
    pub(super) fn walked(&mut self, counts: Counts) {
        let counts = self.before + counts;
        self.counts = counts;
        let statistics = &mut self.statistics;
        statistics.traces = self.of_start.0 + counts.traces;
        statistics.replayed = counts.replayed;
        statistics.queries_hints = counts.hints;
        statistics.behaviours = counts.behaviours;
        statistics.cache_hits = counts.hits;
        statistics.queries = self.of_start.1 + counts.queries;
        if let Some(observer) = &mut self.observer {
            observer.notify(Event::Considered(&self.statistics));
            observer.notify(Event::Share(counts.ended.min(1.0)));
            let is_perfect = self.incumbent.is_some_and(|(value, _)| value == self.perfect);
            observer.notify(Event::Forecast(Forecast::new(self.statistics.queries, is_perfect)));
        }
    }

    /// Where the best rewards are taken down, if they are.
    pub(super) fn rewards(&self) -> Option<Arc<SeenRewards>> {
        self.rewards.clone()
    }

    /// Tells the observer what the rewards seen so far come to. Nothing that is proved depends on it.
    pub(super) fn look_at_rewards(&mut self) {
        let news = self.rewards.as_ref().filter(|rewards| rewards.take_news());
        let Some(estimate) = news.and_then(|rewards| rewards.estimate()) else { return };
        let best = self.incumbent.map(|(value, _)| value);
        let estimate = best.filter(|&best| self.objective.is_better(best, estimate)).unwrap_or(estimate);
        if self.estimate.replace(estimate) != Some(estimate)
            && let Some(observer) = &mut self.observer
        {
            observer.notify(Event::Estimate(estimate));
        }
    }

    /// Traces run up to this many steps from now on.
    pub(super) fn horizon(&mut self, steps: u64) {
        if let Some(observer) = &mut self.observer {
            observer.notify(Event::Horizon(steps));
        }
    }

    /// No tree that has not been looked at has a better value than this.
    pub(super) fn bound(&mut self, bound: u64) {
        let best = self.incumbent.map(|(value, _)| value);
        let proved = best.filter(|&best| self.objective.is_better(best, bound)).unwrap_or(bound);
        if self.objective.is_better(self.bound, proved) {
            self.bound = proved;
            if let Some(observer) = &mut self.observer {
                observer.notify(Event::Bound(proved));
            }
            self.look_at_gap();
        }
    }

    /// How many queries any search must make. What the tree started from has spared is not counted, so
    /// then it is not known.
    pub(super) fn necessary(&mut self, queries: u64) {
        self.statistics.necessary_queries = Some(queries).filter(|_| self.of_start == (0, 0));
    }

    /// A tree better than the incumbent takes its place.
    pub(super) fn improved(&mut self, tree: Tree, value: u64) {
        self.tell_improved(value, tree.size(), &|| tree.clone());
        self.keep(tree, value);
    }

    /// Tells the observer of a better tree, which is only made if it is looked at. An engine that
    /// comes across the tree started from only replaces one tree by another as good.
    pub(super) fn tell_improved(&mut self, value: u64, size: u64, tree: &dyn Fn() -> Tree) {
        if self.incumbent == Some((value, size)) {
            return;
        }
        self.incumbent = Some((value, size));
        if let Some(observer) = &mut self.observer {
            observer.notify(Event::Improved(Improvement::new(value, size, tree)));
        }
        let is_reach = matches!(self.objective, Objective::Reach { .. });
        let number = self.objective.number(value);
        let is_enough =
            |enough| if self.objective.is_minimised() { number <= enough } else { number >= enough };
        let is_first = self.first && (is_reach || value == self.perfect);
        if is_first || self.good_enough.is_some_and(is_enough) {
            self.gate.close(StopReason::First);
        }
        self.look_at_gap();
    }

    /// This tree is the incumbent.
    pub(super) fn keep(&mut self, tree: Tree, value: u64) {
        self.best = Some(Solution { tree, value });
        self.is_start = false;
    }

    /// The best tree so far, what is proved, and what it took. `stopped` says why the search did not come
    /// to its end, if it did not.
    pub(super) fn finish(mut self, stopped: Option<StopReason>) -> (Conclusion, Statistics) {
        self.look_at_rewards();
        let best = self.best.take();
        let value = best.as_ref().map(|best| best.value);
        let (status, bound) = match (stopped, value) {
            (Some(reason), _) => (Status::Stopped(reason), Some(self.bound)),
            (None, Some(value)) => (Status::Optimal, Some(value)),
            (None, None) => (Status::Infeasible, None),
        };
        if let Status::Stopped(_) = status {
            // It would be that of the proof that is missing.
            self.statistics.necessary_queries = None;
        }
        let estimate = self.estimate.filter(|_| matches!(status, Status::Stopped(_)));
        (Conclusion { status, best, bound, estimate }, self.statistics)
    }
}

/// What is known at the end.
pub(super) struct Conclusion {
    pub(super) status: Status,
    pub(super) best: Option<Solution>,
    pub(super) bound: Option<u64>,
    pub(super) estimate: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Thresholds;

    fn progress(objective: Objective, gap: f64) -> Progress<'static> {
        let problem = Problem::builder()
            .dimension("x", Thresholds::none())
            .action("a", 0.0)
            .action("b", 1.0)
            .initial([0.0])
            .objective(objective);
        Progress::new(&problem.build().unwrap(), None, Arc::new(Gate::new(None, None)), gap, false)
    }

    /// The bound after `bounds` were reported with an incumbent of this value, and a stop.
    fn stopped_at(objective: Objective, gap: f64, value: u64, bounds: &[u64]) -> Option<u64> {
        let mut progress = progress(objective, gap);
        progress.improved(Tree::Leaf(0), value);
        bounds.iter().for_each(|&bound| progress.bound(bound));
        progress.finish(Some(StopReason::TimeLimit)).0.bound
    }

    #[test]
    fn a_bound_only_gets_better() {
        let reach = Objective::reach(100);
        assert_eq!(stopped_at(reach, 0.0, 50, &[]), Some(0));
        assert_eq!(stopped_at(reach, 0.0, 50, &[41, 30]), Some(41));
        assert_eq!(stopped_at(reach, 0.5, 50, &[41]), Some(41));
        assert_eq!(stopped_at(reach, 0.0, 50, &[67]), Some(50));
        let survive = Objective::survive(100);
        assert_eq!(stopped_at(survive, 0.0, 50, &[]), Some(100));
        assert_eq!(stopped_at(survive, 0.5, 50, &[60]), Some(60));
    }

    /// As soon as the value is within the gap, and not one step before.
    #[test]
    fn a_gap_closes_the_gate() {
        let is_closed = |objective, gap, value, bound| {
            let mut progress = progress(objective, gap);
            progress.bound(bound);
            progress.tell_improved(value, 0, &|| Tree::Leaf(0));
            let after = progress.gate().look().is_err();
            let mut progress = super::tests::progress(objective, gap);
            progress.tell_improved(value, 0, &|| Tree::Leaf(0));
            progress.bound(bound);
            assert_eq!(progress.gate().look().is_err(), after, "whichever is known first");
            after
        };
        let (reach, survive) = (Objective::reach(100), Objective::survive(100));
        assert_eq!([39, 40].map(|bound| is_closed(reach, 0.2, 50, bound)), [false, true]);
        assert_eq!([61, 60].map(|bound| is_closed(survive, 0.2, 50, bound)), [false, true]);
        assert_eq!([90, 91].map(|value| is_closed(survive, 0.1, value, 100)), [false, true]);
        assert!(!is_closed(reach, 0.0, 50, 50), "a smaller tree may have this value");
    }

    #[test]
    fn what_is_proved_at_the_end() {
        let end = |stopped, value: Option<u64>| {
            let mut progress = progress(Objective::reach(100), 0.5);
            progress.bound(7);
            if let Some(value) = value {
                progress.improved(Tree::Leaf(0), value);
            }
            let conclusion = progress.finish(stopped).0;
            (conclusion.status, conclusion.bound)
        };
        let gap = StopReason::Gap;
        assert_eq!(end(None, Some(9)), (Status::Optimal, Some(9)));
        assert_eq!(end(Some(gap), Some(9)), (Status::Stopped(gap), Some(7)));
        assert_eq!(end(None, None), (Status::Infeasible, None));
        assert_eq!(
            end(Some(StopReason::QueryLimit), None),
            (Status::Stopped(StopReason::QueryLimit), Some(7))
        );
    }
}

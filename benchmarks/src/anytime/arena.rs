//! Where heuristics try trees: every step of the system is counted, runs are given up as soon as they cannot matter,
//! and every better tree is written down with the queries that it took.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use broccoli_core::problem::{ComeBack, Instance, Objective, Problem, RunError, SystemFactory, Verdict};
use broccoli_core::search::Rewards;

use super::asked::Asked;
use super::dice::Dice;
use super::judge::{End, Judge, Score};
use super::run::{Point, Run};
use super::tree::{Ranked, Space};

/// `reach`: runs are given up after so many steps until a first tree is known. Gymnasium's own limit.
const FIRST_CUT: u64 = 200;
/// `reach`: afterwards after so many times the longest run of the best tree.
const CUT: f64 = 1.5;

/// Why a method ends.
#[derive(Debug)]
pub(crate) enum Ended {
    /// The queries or the seconds are spent.
    Spent,
    Failed(anyhow::Error),
}

impl From<anyhow::Error> for Ended {
    fn from(error: anyhow::Error) -> Self {
        Ended::Failed(error)
    }
}

impl From<RunError> for Ended {
    fn from(error: RunError) -> Self {
        Ended::Failed(error.into())
    }
}

/// What may be spent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub(crate) queries: u64,
    pub(crate) seconds: f64,
}

/// A tree that was run from all initial states.
#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) tree: Ranked,
    pub(crate) score: Score,
    value: Option<u64>,
    /// The leaves that were come to, as bits.
    seen: u64,
}

/// A problem with what may be spent on it.
pub(crate) struct Arena<'p> {
    problem: &'p Problem,
    space: Space,
    judge: Judge,
    instance: Instance<'p>,
    /// The initial states, those first that made trees hopeless lately.
    order: Vec<usize>,
    /// `reach`: after how many steps a run is given up.
    cut: u64,
    best: Option<Score>,
    run: Run,
    queries: u64,
    until: Instant,
    /// The transitions asked for, if only new ones count.
    asked: Option<Asked>,
    /// The present tree, with thresholds in place of ranks.
    tests: Vec<(usize, f64)>,
    leaves: Vec<usize>,
    seen: u64,
}

impl<'p> Arena<'p> {
    pub(crate) fn new(problem: &'p Problem, factory: &dyn SystemFactory, budget: Budget) -> Result<Self> {
        let horizon = problem.objective().horizon();
        let is_reach = matches!(problem.objective(), Objective::Reach { .. });
        Ok(Arena {
            problem,
            space: Space::new(problem)?,
            judge: Judge::new(problem),
            instance: Instance::new(problem, factory)?,
            order: (0..problem.initial_states().len()).collect(),
            cut: if is_reach { horizon.min(FIRST_CUT) } else { horizon },
            best: None,
            run: Run::default(),
            queries: budget.queries,
            until: Instant::now() + Duration::try_from_secs_f64(budget.seconds)?,
            asked: None,
            tests: Vec::new(),
            leaves: Vec::new(),
            seen: 0,
        })
    }

    /// Counts a transition only when it is asked for first: a cache answers the others.
    pub(crate) fn count_distinct(&mut self) -> Result<()> {
        let tells = self.instance.come_back() == ComeBack::Clone;
        ensure!(tells, "transitions can be told apart only by a system that tells its state");
        self.asked = Some(Asked::new());
        Ok(())
    }

    pub(crate) fn space(&self) -> &Space {
        &self.space
    }

    pub(crate) fn objective(&self) -> Objective {
        self.problem.objective()
    }

    /// How many initial states have to get there.
    pub(crate) fn wanted(&self) -> usize {
        self.order.len() - self.judge.spare as usize
    }

    /// What the best tree so far is worth.
    pub(crate) fn best(&self) -> Option<Score> {
        self.best
    }

    /// What was done.
    pub(crate) fn into_run(self) -> Run {
        self.run
    }

    /// The best of so many trees drawn at random. Towards a goal the first is drawn until it gets there from the initial
    /// state that is tried: of those that fail everywhere, no neighbour is better than another.
    pub(crate) fn start(&mut self, dice: &mut Dice, draws: u32) -> Result<Known, Ended> {
        let mut best = loop {
            let tree = self.space.random(dice);
            if matches!(self.objective(), Objective::Reach { .. }) {
                self.present(&tree, None)?;
                let initial = dice.below(self.order.len());
                if !matches!(self.trace(initial)?, End::Worth(_)) {
                    continue;
                }
            }
            if let Some(known) = self.score(tree, None)? {
                break known;
            }
        };
        for _ in 1..draws {
            let tree = self.space.random(dice);
            if let Some(better) = self.score(tree, Some(best.score))? {
                best = better;
            }
        }
        Ok(best)
    }

    /// What a tree is worth that differs from a known one at a place, and below; nothing if it is seen that it is worse
    /// than `need`. A change where the known one never came takes no query.
    pub(crate) fn changed(
        &mut self,
        known: &Known,
        tree: Ranked,
        place: usize,
        need: Score,
    ) -> Result<Option<Known>, Ended> {
        if known.seen & self.space.under(place) != 0 {
            return self.score(tree, Some(need));
        }
        if let Some(value) = known.value {
            self.offer(&tree, value, known.score, None);
        }
        Ok(Some(Known { tree, ..*known }).filter(|known| known.score <= need))
    }

    /// What a tree is worth; nothing if it is worse than `need`.
    pub(crate) fn score(&mut self, tree: Ranked, need: Option<Score>) -> Result<Option<Known>, Ended> {
        self.present(&tree, need)?;
        let mut longest = 0;
        for place in 0..self.order.len() {
            let initial = self.order[place];
            let end = self.trace(initial)?;
            longest = longest.max(self.instance.steps());
            if !self.judge.ended(initial, self.instance.steps(), end) {
                self.order[..=place].rotate_right(1);
                return Ok(None);
            }
        }
        let value = self.problem.overall(&self.judge.values);
        let score = self.judge.score(value);
        if let Some(value) = value {
            self.offer(&tree, value, score, Some(longest));
        }
        let known = Known { tree, score, value, seen: self.seen };
        Ok(Some(known).filter(|known| need.is_none_or(|need| known.score <= need)))
    }

    /// Makes a tree the present one.
    fn present(&mut self, tree: &Ranked, need: Option<Score>) -> Result<(), Ended> {
        if Instant::now() >= self.until {
            self.run.is_late = true;
            return Err(Ended::Spent);
        }
        self.run.trees += 1;
        self.tests.clear();
        let space = &self.space;
        self.tests.extend(tree.nodes.iter().map(|&node| (node.dimension, space.threshold(node))));
        self.leaves.clone_from(&tree.leaves);
        self.seen = 0;
        self.judge.begin(need);
        Ok(())
    }

    /// Keeps a tree that is better than the best so far, or as good and smaller.
    fn offer(&mut self, tree: &Ranked, value: u64, score: Score, longest: Option<u64>) {
        if self.best.is_some_and(|best| best < score) {
            return;
        }
        let is_reach = matches!(self.objective(), Objective::Reach { .. });
        if let Some(longest) = longest.filter(|_| is_reach && self.best.is_none_or(|best| score < best)) {
            self.cut = ((CUT * longest as f64).ceil() as u64).clamp(1, self.objective().horizon());
        }
        self.best = Some(score);
        let tree = self.space.shown(tree);
        let point = Point { queries: self.run.queries, value, size: tree.size() };
        if self.run.offer(&self.problem.objective(), point) {
            self.run.best = Some(tree);
        }
    }

    /// Runs the present tree from an initial state.
    fn trace(&mut self, initial: usize) -> Result<End, Ended> {
        let objective = self.problem.objective();
        let target = self.judge.target(initial);
        let is_reach = matches!(objective, Objective::Reach { .. });
        let is_return = objective.wants_rewards();
        let limit = if is_reach { self.cut.min(target.clamp(0.0, 1e18) as u64) } else { self.cut };
        // In-run sums are rounded otherwise than the target.
        let target = target + 1e-9 * target.abs().max(1.0);
        let mut rewards = Rewards::new(objective);
        let mut verdict = self.instance.reset(initial)?;
        while verdict == Verdict::Running && self.instance.steps() < limit {
            let action = self.action();
            self.spend(action)?;
            verdict = self.instance.step(action)?;
            if is_return {
                rewards.add(self.instance.reward());
                if self.judge.at_best(rewards.total(), self.instance.steps()) > target {
                    return Ok(End::Hopeless);
                }
            }
        }
        Ok(objective.worth(verdict, self.instance.steps(), rewards.total()).map_or(End::Failed, End::Worth))
    }

    /// The present tree's action for the present observation.
    fn action(&mut self) -> usize {
        let seen = self.instance.observation();
        let mut node = 0;
        while let Some(&(dimension, threshold)) = self.tests.get(node) {
            node = 2 * node + 2 - usize::from(seen[dimension] >= threshold);
        }
        let leaf = node - self.tests.len();
        self.seen |= 1 << leaf;
        self.leaves[leaf]
    }

    /// Counts the query that comes next.
    fn spend(&mut self, action: usize) -> Result<(), Ended> {
        if let Some(asked) = &mut self.asked
            && !asked.is_new(&mut self.instance, action)?
        {
            return Ok(());
        }
        if self.run.queries >= self.queries {
            return Err(Ended::Spent);
        }
        self.run.queries += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests;

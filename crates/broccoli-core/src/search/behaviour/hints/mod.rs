//! Hints: good trees early, found by local search beside the walk that proves.
//!
//! A hint can never make an answer wrong. It only runs trees, and the best of them becomes the incumbent; what it has run
//! is remembered, so that the walk need not run it again, nor a hint what the walk has run.
//!
//! From a tree the search goes to a better one that differs in a single place ([`neighbours`]), until there is none; then
//! it changes a few places at random and begins again, from the best so far or from any tree. All trees that differ in
//! one place are walked together, as the behaviour engine walks all trees: they branch only where they act differently.
//!
//! | file | what it does |
//! |---|---|
//! | [`climb`] | the machine: asks for one step at a time, is told the answer; `climb/turns.rs` decides what is done next |
//! | [`neighbours`] | the trees that differ in one place, as far as they agree with the labels |
//! | [`loss`] | which tree is better, also of those that fail |
//! | [`ranked`], [`predicates`] | trees on ranks; the predicates that are drawn |

mod climb;
mod loss;
mod neighbours;
mod predicates;
mod random;
mod ranked;

use serde::{Deserialize, Serialize};

pub(super) use self::climb::Climb;
use self::climb::Doing;
use self::loss::{Judge, Loss};
use self::random::Random;
pub(super) use self::ranked::Ranked;
use super::score::Score;
use super::tuning::{HintTuning, Tuning};
use crate::problem::{Over, Problem};
use crate::search::counts::MOST_PLAUSIBLE;

/// Where the local search is: all that is written down of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Hints {
    random: Random,
    /// The best tree, and the one that is being improved.
    home: Option<Placed>,
    here: Option<Placed>,
    /// What is being done, and the changed tree that is run.
    doing: Doing,
    probe: Option<Ranked>,
    /// How many changes drawn at random have been no better, one after the other.
    misses: u64,
    /// The places of that tree that are still to be tried.
    untried: Vec<u16>,
    /// Where the walk of its neighbours was interrupted: in each cell in which they act differently, what is done there
    /// now, and what is still to be tried.
    path: Vec<Branch>,
    /// The initial states, those first whose traces have ruled out a tree last. Trees are improved for the first few of
    /// them: what is better there is then tried on all.
    order: Vec<u32>,
    few: usize,
    /// Whether some trace was no failure.
    has_reached: bool,
    /// How often it has begun again.
    starts: u64,
    /// The steps made to walk all trees that differ in one place, and those made for all else.
    in_order: u64,
    trying: u64,
    at_random: u64,
    /// The queries made for hints, and how many there were when one improved the best tree.
    pub(super) work: u64,
    improved_at: u64,
    /// Of these, the queries that the system was asked: what was remembered takes work, too.
    asked: u64,
    /// Whether the present task has.
    has_improved: bool,
}

/// What is done in a cell, and what is still to be tried there.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Branch {
    action: u16,
    untried: Vec<u16>,
}

/// A tree, and what it is worth.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Placed {
    /// Without what it does not need; and with it, as that may be of use after another change.
    tree: Ranked,
    wide: Ranked,
    /// None if it has not been run.
    #[serde(with = "super::leaves::bits::several")]
    losses: Vec<f64>,
    loss: Loss,
}

impl Hints {
    pub(super) fn new(problem: &Problem, tuning: &HintTuning) -> Self {
        Hints {
            random: Random(tuning.seed),
            home: None,
            here: None,
            doing: Doing::default(),
            probe: None,
            misses: 0,
            untried: Vec::new(),
            path: Vec::new(),
            order: (0..problem.initial_states().len() as u32).collect(),
            few: least_few(problem),
            has_reached: false,
            starts: 0,
            in_order: 0,
            trying: 0,
            at_random: 0,
            work: 0,
            improved_at: 0,
            asked: 0,
            has_improved: false,
        }
    }

    /// Those that run side by side with the first one, with other random numbers.
    pub(super) fn others(problem: &Problem, tuning: &HintTuning) -> Vec<Self> {
        let seeds = (1..tuning.climbers as u64).map(|number| tuning.seed ^ number << 32);
        seeds.map(|seed| Hints::new(problem, &HintTuning { seed, ..*tuning })).collect()
    }

    /// Another one beside it has done so much.
    pub(super) fn helped(&mut self, other: &mut Hints, steps: u64) {
        self.has_improved |= std::mem::take(&mut other.has_improved);
        self.asked += std::mem::take(&mut other.asked);
        self.worked(steps);
    }

    /// How many queries hints may make now, if the walk has made so many: more than the walk while the proof is far
    /// away, as many at first and as long as they improve the best tree, and then only a small share.
    pub(super) fn due(&self, problem: &Problem, walked: u64, best: Option<Score>, tuning: &Tuning) -> u64 {
        let hints = &tuning.hints;
        let objective = problem.objective();
        let is_perfect = best.is_some_and(|best| best.value(objective) == problem.perfect());
        let wanted = if is_perfect {
            // It may still be too large; but how small it can be the walk mostly knows before long.
            walked / hints.share
        } else if objective.wants_rewards() && !has_few_trees(problem) {
            // The walk can leave little out: it is not likely to end, nor to find what is good in large trees.
            let late = walked.saturating_sub(hints.late_returns).saturating_mul(LATE_RETURNS);
            let wanted = walked.saturating_add(late).saturating_mul(hints.returns);
            // Where nearly all is remembered there is little to be found out.
            wanted.min(walked.saturating_add(self.asked).saturating_add(self.asked))
        } else if objective.wants_rewards() || objective.over() != Over::Worst {
            // It can leave out less than where one trace rules a tree out.
            walked / hints.share_mean
        } else {
            let patient = self.improved_at.saturating_mul(hints.patience) / 100;
            // Some trace has reached the goal: then it is near.
            let first = if best.is_none() && self.has_reached { hints.near } else { hints.first };
            let eager = walked.min(far_from_end(problem, hints)).saturating_mul(hints.eager);
            let share = if best.is_some() { hints.share } else { hints.share_first };
            eager.max(walked.min(patient.max(first))).max(walked / share)
        };
        let late = if self.is_late(problem, walked, tuning) { walked / hints.share_late } else { 0 };
        wanted.max(late).saturating_sub(self.work)
    }

    /// Whether the proof is far away and the best tree has become better not long ago.
    fn is_late(&self, problem: &Problem, walked: u64, tuning: &Tuning) -> bool {
        let hints = &tuning.hints;
        let lately = self.improved_at.max(hints.late / 2).saturating_mul(hints.stale);
        // All trees of few predicates are walked soon enough.
        walked >= hints.late && problem.limits().nodes() > hints.few_nodes && self.work < lately
    }

    /// How many steps walks on coarser grids may have made, if the walk has made so many.
    pub(super) fn ladder(&self, problem: &Problem, walked: u64, best: Option<Score>, tuning: &Tuning) -> u64 {
        let is_perfect = best.is_some_and(|best| best.value(problem.objective()) == problem.perfect());
        match !is_perfect && self.is_late(problem, walked, tuning) {
            true => walked.saturating_mul(tuning.hints.ladder) / 100,
            false => 0,
        }
    }

    /// A task has done so much.
    pub(super) fn worked(&mut self, steps: u64) {
        self.work += steps;
        if std::mem::take(&mut self.has_improved) {
            self.improved_at = self.work;
        }
    }

    /// Somebody else has found a better tree: it is to be improved.
    pub(super) fn adopt(&mut self, tree: Ranked) {
        self.here = Some(Placed::untried(tree));
        self.probe = None;
        self.misses = 0;
        self.untried.clear();
        self.path.clear();
    }

    /// A walk has found the best tree so far, for the worst of several initial states: it is to be improved.
    pub(super) fn adopt_best(&mut self, problem: &Problem, tree: Ranked, score: Score) {
        let loss = Judge::new(problem).loss_of(score.value(problem.objective()));
        // No trace is worse.
        let losses = vec![loss; self.order.len()];
        let loss = Loss { fails: 0, value: loss, size: tree.size() };
        self.home = Some(Placed { wide: tree.clone(), tree: tree.clone(), losses, loss });
        self.has_improved = true;
        self.adopt(tree);
    }

    /// Whether they can be those of a search for this problem.
    pub(super) fn is_of(&self, problem: &Problem) -> bool {
        let states = problem.initial_states().len();
        let mut order = self.order.clone();
        order.sort_unstable();
        let mut placed = self.home.iter().chain(&self.here);
        let is_whole = |placed: &Placed| placed.losses.len() == states;
        let places = self.here.as_ref().map_or(0, |here| here.tree.place_count());
        order.into_iter().eq(0..states as u32)
            && (1..=states).contains(&self.few)
            && self.untried.iter().all(|&place| usize::from(place) < places)
            && [self.starts, self.in_order, self.trying, self.at_random]
                .iter()
                .chain(&[self.work, self.asked, self.improved_at])
                .all(|&count| count < MOST_PLAUSIBLE)
            && self.home.as_ref().is_none_or(is_whole)
            && self.probe.as_ref().is_none_or(|probe| probe.is_of(problem))
            && placed.all(|placed| {
                placed.tree.is_of(problem)
                    && placed.wide.is_of(problem)
                    && (is_whole(placed) || placed.losses.is_empty())
                    && placed.losses.iter().chain([&placed.loss.value]).all(|loss| !loss.is_nan())
            })
    }
}

impl Placed {
    fn untried(tree: Ranked) -> Self {
        Placed { wide: tree.clone(), tree, losses: Vec::new(), loss: Loss::WORST }
    }
}

/// From how many initial states a tree is run first: from all where it is told early that one seems worse, as what is
/// better from a few of them often is not from all.
fn least_few(problem: &Problem) -> usize {
    let (objective, states) = (problem.objective(), problem.initial_states().len());
    let is_raced = objective.wants_rewards() && matches!(objective.over(), Over::Mean | Over::Sum);
    if is_raced { states } else { states.min(LEAST_FEW) }
}

/// Up to so many steps of the walk its end is far away. How many it makes is not known before; on problems that can be
/// proved it is about the square root of the number of trees, and more with several initial states.
fn far_from_end(problem: &Problem, tuning: &HintTuning) -> u64 {
    let predicates = problem.predicate_count().unwrap_or(MANY);
    let nodes = u32::try_from(problem.limits().nodes()).unwrap_or(u32::MAX);
    let trees = u128::from(predicates).saturating_pow(nodes);
    let expected = trees.saturating_mul(problem.initial_states().len() as u128).isqrt();
    u64::try_from(expected).map_or(tuning.late, |expected| tuning.late.min(expected / tuning.parts))
}

/// Whether there are so few trees that the walk can come to its end, even if it can leave little out.
fn has_few_trees(problem: &Problem) -> bool {
    let predicates = u128::from(problem.predicate_count().unwrap_or(MANY));
    let nodes = u32::try_from(problem.limits().nodes()).unwrap_or(u32::MAX);
    let leaves = (problem.actions().len() as u128).saturating_pow(nodes.saturating_add(1));
    let runs = leaves.saturating_mul(problem.initial_states().len() as u128);
    predicates.saturating_pow(nodes).saturating_mul(runs) <= FEW_RUNS
}

/// So many trees are few, counted once for each initial state.
const FEW_RUNS: u128 = 1 << 30;
/// Where all thresholds count, so many of them lead to different behaviours, roughly.
const MANY: u64 = 1 << 16;
/// So many times more for rewards, later.
const LATE_RETURNS: u64 = 8;
/// So many initial states are tried first.
const LEAST_FEW: usize = 3;

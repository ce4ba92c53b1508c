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
//! | [`climb`] | the machine: asks for one step at a time, is told the answer |
//! | [`neighbours`] | the trees that differ in one place, as far as they agree with the labels |
//! | [`loss`] | which tree is better, also of those that fail |
//! | [`ranked`] | trees on ranks |

mod climb;
mod loss;
mod neighbours;
mod random;
mod ranked;

use serde::{Deserialize, Serialize};

pub(super) use self::climb::Climb;
use self::loss::Loss;
use self::random::Random;
pub(super) use self::ranked::Ranked;
use super::tuning::Tuning;
use crate::problem::Problem;
use crate::search::counts::MOST_PLAUSIBLE;

/// Where the local search is: all that is written down of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Hints {
    random: Random,
    /// The best tree, and the one that is being improved.
    home: Option<Placed>,
    here: Option<Placed>,
    /// The places of that tree that are still to be tried.
    untried: Vec<u16>,
    /// The initial states, those first whose traces have ruled out a tree last. Trees are improved for the first few of
    /// them: what is better there is then tried on all.
    order: Vec<u32>,
    few: usize,
    /// How often it has begun again.
    starts: u64,
    /// The queries made for hints, and how many there were when one improved the best tree.
    pub(super) work: u64,
    improved_at: u64,
}

/// A tree, and what it is worth.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Placed {
    tree: Ranked,
    /// None if it has not been run.
    #[serde(with = "super::leaves::bits::several")]
    losses: Vec<f64>,
    loss: Loss,
}

impl Hints {
    pub(super) fn new(problem: &Problem) -> Self {
        Hints {
            random: Random(std::env::var("SEED").map_or(0, |v| v.parse::<u64>().unwrap()*1000003)),
            home: None,
            here: None,
            untried: Vec::new(),
            order: (0..problem.initial_states().len() as u32).collect(),
            few: problem.initial_states().len().min(LEAST_FEW),
            starts: 0,
            work: 0,
            improved_at: 0,
        }
    }

    /// How many queries hints may make now, if the walk has made so many: as many as that at first, and as long as they
    /// improve the best tree; then only a small share.
    pub(super) fn due(&self, walked: u64, tuning: &Tuning) -> u64 {
        let patient = self.improved_at.saturating_mul(tuning.hint_patience) / 100;
        let eager = walked.min(patient.max(tuning.hint_first));
        eager.max(walked / tuning.hint_share).saturating_sub(self.work)
    }

    /// A task has made so many queries; whether it has improved the best tree.
    pub(super) fn worked(&mut self, queries: u64, has_improved: bool) {
        self.work += queries;
        if has_improved {
            self.improved_at = self.work;
        }
    }

    /// Whether the present tree seems better than the best, and was not run from all initial states.
    fn is_worth_a_try(&self) -> bool {
        let is_better = |here: &Placed| self.home.as_ref().is_none_or(|home| here.loss < home.loss);
        self.few < self.order.len() && self.here.as_ref().is_some_and(is_better)
    }

    /// Somebody else has found a better tree: it is to be improved.
    pub(super) fn adopt(&mut self, tree: Ranked) {
        self.here = Some(Placed::untried(tree));
        self.untried.clear();
    }

    /// Whether they can be those of a search for this problem.
    pub(super) fn is_of(&self, problem: &Problem) -> bool {
        let states = problem.initial_states().len();
        let mut order = self.order.clone();
        order.sort_unstable();
        let mut placed = self.home.iter().chain(&self.here);
        order.into_iter().eq(0..states as u32)
            && (1..=states).contains(&self.few)
            && [self.starts, self.work, self.improved_at].iter().all(|&count| count < MOST_PLAUSIBLE)
            && placed.all(|placed| {
                let count = placed.losses.len();
                placed.tree.is_of(problem) && (count == states || count == 0)
                    && placed.losses.iter().chain([&placed.loss.value]).all(|loss| !loss.is_nan())
            })
    }
}

impl Placed {
    fn untried(tree: Ranked) -> Self {
        Placed { tree, losses: Vec::new(), loss: Loss::WORST }
    }
}

/// So many initial states are tried first.
const LEAST_FEW: usize = 3;

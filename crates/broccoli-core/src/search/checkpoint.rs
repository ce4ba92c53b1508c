//! A search written down, to be gone on with later.

use serde::{Deserialize, Serialize};

use super::Solution;
use super::behaviour::State;
use super::confirm::confirm;
use super::counts::{Counts, MOST_PLAUSIBLE};
use super::start;
use crate::problem::{Instance, Problem, RunError};
use crate::tree::Tree;

/// A resumed search runs the best tree again if that takes no more steps than this.
const MOST_STEPS_OF_BEST: u64 = 4_096;

/// All that is left of a search by [`Engine::Behaviour`](super::Engine::Behaviour), and all that it has
/// found. Made for a [`Keeper`], gone on with by [`Search::resume`](super::Search::resume); any format
/// of serde will do to keep it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    pub(super) fingerprint: u64,
    pub(super) is_part: bool,
    pub(super) gap: f64,
    /// Value and size of the best tree.
    pub(super) incumbent: Option<(u64, u64)>,
    /// The best tree, if it is the one that the search started from.
    #[serde(with = "flat")]
    pub(super) start: Option<Tree>,
    /// The tree to start from, if the search was stopped before its value was known.
    #[serde(with = "flat")]
    pub(super) untried: Option<Tree>,
    pub(super) bound: u64,
    pub(super) of_start: (u64, u64),
    pub(super) counts: Counts,
    pub(super) saved: State,
}

/// Trees are written down node by node: one within another would take as much of the stack as somebody likes who
/// writes a checkpoint by hand.
mod flat {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::problem::MAX_DEPTH;
    use crate::tree::Tree;

    /// A leaf's action, or a predicate, which the trees for true and for false follow.
    #[derive(Serialize, Deserialize)]
    enum Node {
        Leaf(usize),
        Predicate(usize, f64),
    }

    fn write(tree: &Tree, nodes: &mut Vec<Node>) {
        match tree {
            Tree::Leaf(action) => nodes.push(Node::Leaf(*action)),
            Tree::Node { dimension, threshold, yes, no } => {
                nodes.push(Node::Predicate(*dimension, *threshold));
                write(yes, nodes);
                write(no, nodes);
            }
        }
    }

    fn read(nodes: &mut impl Iterator<Item = Node>, depth: u32) -> Option<Tree> {
        match nodes.next()? {
            Node::Leaf(action) => Some(Tree::Leaf(action)),
            Node::Predicate(dimension, threshold) => {
                let depth = depth.checked_sub(1)?;
                let yes = read(nodes, depth)?;
                Some(Tree::node(dimension, threshold, yes, read(nodes, depth)?))
            }
        }
    }

    pub(super) fn serialize<S: Serializer>(tree: &Option<Tree>, serializer: S) -> Result<S::Ok, S::Error> {
        let nodes = tree.as_ref().map(|tree| {
            let mut nodes = Vec::new();
            write(tree, &mut nodes);
            nodes
        });
        nodes.serialize(serializer)
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Option<Tree>, D::Error> {
        let Some(nodes) = Option::<Vec<Node>>::deserialize(deserializer)? else { return Ok(None) };
        let mut nodes = nodes.into_iter();
        let tree = read(&mut nodes, MAX_DEPTH).filter(|_| nodes.next().is_none());
        tree.map(Some).ok_or_else(|| D::Error::custom("a tree is damaged"))
    }
}

impl Checkpoint {
    /// The tree that the search was given, unless it has found a better one.
    pub(super) fn start_tree(&self) -> Option<&Tree> {
        self.untried.as_ref().or(self.start.as_ref())
    }

    /// Value and size of the best tree so far.
    pub fn best(&self) -> Option<(u64, u64)> {
        self.incumbent
    }

    /// No tree has a better value than this.
    pub fn bound(&self) -> u64 {
        self.bound
    }
}

impl Checkpoint {
    /// Whether it can be one of a search for this problem.
    pub(super) fn is_of(&self, problem: &Problem) -> bool {
        let is_start = |tree: &Tree| start::check(problem, tree).is_ok();
        let (traces, queries) = self.of_start;
        self.saved.is_of(problem)
            && self.start.iter().chain(&self.untried).all(is_start)
            && traces.max(queries) < MOST_PLAUSIBLE
            && self.counts.are_plausible()
    }

    /// Asks a system again for some of what it answered before the checkpoint was made, for more as long as there is
    /// time, and for what the best tree did.
    pub(super) fn run_again(
        &self,
        problem: &Problem,
        has_time: &dyn Fn() -> bool,
        instance: &mut Instance<'_>,
    ) -> Result<(), RunError> {
        if let Some(sample) = &self.saved.sample {
            sample.run_again(problem, self.counts.queries, self.saved.trie(), has_time, instance)?;
        }
        let started = self.start.clone().zip(self.incumbent);
        let best =
            started.map(|(tree, (value, _))| Solution { tree, value }).or_else(|| self.saved.best(problem));
        // A tree whose runs are long is run again when the search has come to its end.
        let is_short = |best: &Solution| {
            let objective = problem.objective();
            let steps = if objective.is_plain() { best.value } else { objective.horizon() };
            steps.saturating_mul(problem.initial_states().len() as u64) <= MOST_STEPS_OF_BEST
        };
        let Some(best) = best.filter(is_short) else { return Ok(()) };
        confirm(problem, &best, instance).map_err(|error| match error {
            RunError::NotDeterministic { initial, did, does } => {
                let what = format!("{did} by the best tree so far, and now {does}");
                RunError::Changed { initial, step: instance.steps(), what }
            }
            error => error,
        })
    }
}

/// Why a search cannot be resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    /// The checkpoint is that of another problem.
    #[error("the checkpoint is that of another problem")]
    OtherProblem,
    /// The checkpoint is not what was written.
    #[error("the checkpoint is damaged")]
    Damaged,
}

/// Keeps checkpoints, in a file for instance.
pub trait Keeper {
    /// Whether it is time for one; asked often, so it should be quick.
    fn is_due(&mut self) -> bool;

    /// Keeps a checkpoint: when it was due, and when the search is stopped or its system fails.
    fn keep(&mut self, checkpoint: &Checkpoint);
}

/// A number that differs, but for unlikely coincidence, between problems.
pub(super) fn fingerprint(problem: &Problem) -> u64 {
    let text = format!("{problem:?}");
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

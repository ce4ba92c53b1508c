//! What a walk is to do, and what it asks for while it does it.

use serde::{Deserialize, Serialize};

use crate::search::behaviour::recall::Node;
use crate::search::behaviour::score::Score;
use crate::search::behaviour::version_space::Cost;

/// What is set aside for the next round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in super::super) struct Round {
    /// `reach`: traces of so many steps.
    pub(in super::super) cut: u64,
    /// Behaviours that need more predicates than this.
    pub(in super::super) nodes: Cost,
    /// Behaviours whose first trace is complete, if there are others.
    pub(in super::super) only_first: bool,
}

/// What a walk is to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct Job {
    /// The most predicates of a tree.
    pub(in super::super) nodes: Cost,
    pub(in super::super) round: Round,
    /// How far from the optimum an answer may be.
    pub(in super::super) gap: f64,
    /// Whether its transitions are counted.
    pub(in super::super) is_counted: bool,
}

/// What the driver is to do next. Small: one is made for every step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Ask {
    /// Start a trace from this initial state, and `Walk::tell`.
    Reset { initial: u32 },
    /// Go where the step starts; save that place if `mark`, so that the walk can come back to it; then apply the
    /// action, and `Walk::tell`.
    Step { from: From, mark: bool, action: u16 },
    /// Save this place as that of the last leaf, and `Walk::resume`.
    Leave,
    /// A behaviour better than the incumbent is complete, and is the incumbent from now on. Look at
    /// it, and `Walk::resume`.
    Found(Score),
    /// There is nothing left to do in this round but what was set aside.
    Done,
}

/// Where a step starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum From {
    /// Where the last one has led.
    Here,
    /// At a mark, given by its index.
    Mark(u32),
    /// At a leaf of the last round, given by its index.
    Leaf(u32),
    /// Where a remembered trace was.
    Recalled(Node),
}

/// Where a walk is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(in super::super) struct Position {
    /// Which trace is being run, counted in the order of the walk.
    pub(in super::super) trace: u32,
    /// Its steps so far.
    pub(in super::super) steps: u64,
    /// Of the traces completed: the most steps (`reach`), or the fewest, at most the horizon
    /// (`survive`). Of no interest for other objectives.
    pub(in super::super) worst: u64,
    /// The rewards of the running trace, if they count.
    #[serde(with = "crate::search::behaviour::leaves::bits")]
    pub(in super::super) total: f64,
    /// Its share of the whole walk, if the labels that a cell may be given all take equal shares.
    pub(in super::super) share: f64,
}

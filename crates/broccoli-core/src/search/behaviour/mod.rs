//! The behaviour engine: never enumerate trees, walk behaviours.
//!
//! A tree is a function of the cell alone, and a run sees only some cells. So run the system; in a cell
//! that has a label the action is forced, in any other branch over the labels that some tree within
//! the limits still allows; go on, and go back. Trees that act alike are run once, and what runs have
//! in common at their start is run once. `docs/behaviour.md` explains the algorithm from zero, with
//! the proof that its answer is exact and that it asks for hardly more than any algorithm must.
//!
//! | file | what it does |
//! |---|---|
//! | [`walk`] | the machine: asks for a transition, is told the answer |
//! | [`version_space`], [`bounds`] | which labels some tree still allows, and how large it must be |
//! | [`labels`] | cell -> label |
//! | [`leaves`] | traces set aside at the end of a round |
//! | [`driver`] | does on a system what the machine asks |
//! | [`lane`] | a walk and its driver, run a number of queries at a time |
//! | [`realise`] | from the labels of the best behaviour to the tree |
//!
//! **Order of passes.** `reach`: one walk over all sizes in rounds, each of which lets the traces run
//! longer; it ends in the round that finds a solution. Beside it, for a tenth of the queries, a *scout*
//! walks the small sizes: its solutions are often good and spare the main walk the longer traces.
//! `survive`: one walk per size, because a tree that survives the whole horizon ends the search, and
//! small trees are cheap to rule out; the sizes that are left are taken together as soon as one more
//! node no longer makes much of a difference. Last, the canonical pass: the first solution of a walk
//! that knows value and size.

mod bounds;
mod driver;
mod labels;
mod lane;
mod leaves;
mod realise;
mod version_space;
mod walk;

use self::bounds::{Arena, Inline, Store};
use self::lane::{Lane, Paused};
use self::realise::{Labelled, smallest_tree};
use self::version_space::Cost;
use self::walk::{Round, Walk};
use super::Behaviours;
use super::progress::Progress;
use crate::problem::{Objective, Problem, RunError, SystemFactory};
use crate::tree::Tree;

/// Where the first round of `reach` cuts the traces, and by what factor it grows.
const FIRST_CUT: u64 = 2;
const CUT_GROWTH: (u64, u64) = (5, 4);
/// When the leaves of a round take more memory than this, the next round is the last: depth first.
const MOST_LEAF_BYTES: usize = 256 << 20;
/// The scout makes one query for so many of the main walk.
const SCOUT_SHARE: u64 = 10;
/// How many queries go by between two reports to the observer, and between two looks at the scout.
const SLICE: u64 = 32;

pub(super) fn search(
    problem: &Problem,
    factory: &dyn SystemFactory,
    any_optimal: bool,
    progress: &mut Progress<'_>,
) -> Result<(), RunError> {
    // The usual numbers of dimensions and actions have the version space made for them.
    match (problem.dimensions().len(), problem.actions().len()) {
        (1, 2) => Passes::<Inline<1, 2>>::run(problem, factory, any_optimal, progress),
        (2, 2) => Passes::<Inline<2, 2>>::run(problem, factory, any_optimal, progress),
        (3, 2) => Passes::<Inline<3, 2>>::run(problem, factory, any_optimal, progress),
        (4, 2) => Passes::<Inline<4, 2>>::run(problem, factory, any_optimal, progress),
        (2, 3) => Passes::<Inline<2, 3>>::run(problem, factory, any_optimal, progress),
        (4, 3) => Passes::<Inline<4, 3>>::run(problem, factory, any_optimal, progress),
        _ => Passes::<Arena>::run(problem, factory, any_optimal, progress),
    }
}

/// The passes of one search.
struct Passes<'a, 'p, 'o, S: Store> {
    problem: &'p Problem,
    factory: &'a dyn SystemFactory,
    progress: &'a mut Progress<'o>,
    main: Lane<'p, S>,
    scout: Option<Scout<'p, S>>,
    /// Value and size of the best behaviour, and the behaviour unless the search was given it.
    best: Option<(u64, Cost)>,
    behaviour: Option<Vec<Labelled>>,
}

/// Walks the small sizes one after the other, for good solutions early.
struct Scout<'p, S: Store> {
    lane: Lane<'p, S>,
    nodes: u64,
    cut: u64,
}

impl<'a, 'p, 'o: 'p, S: Store> Passes<'a, 'p, 'o, S> {
    fn run(
        problem: &'p Problem,
        factory: &'a dyn SystemFactory,
        any_optimal: bool,
        progress: &'a mut Progress<'o>,
    ) -> Result<(), RunError> {
        let best =
            progress.incumbent().map(|(value, size)| (value, Cost::try_from(size).unwrap_or(Cost::MAX)));
        let walk =
            Walk::new(problem, problem.limits().nodes(), reach_round(FIRST_CUT), best).within(progress.gap());
        let main = Lane::new(problem, progress.instance(problem, factory)?, walk);
        let mut passes = Passes::<S> { problem, factory, progress, main, scout: None, best, behaviour: None };
        let ended = passes.search(any_optimal);
        passes.report();
        passes.settle();
        ended
    }

    fn search(&mut self, any_optimal: bool) -> Result<(), RunError> {
        let necessary = match self.problem.objective() {
            Objective::Reach { horizon } => self.reach(horizon)?,
            Objective::Survive { horizon } => self.survive(horizon)?,
        };
        if let Some(necessary) = necessary
            && self.problem.initial_states().len() == 1
        {
            self.progress.necessary(necessary);
        }
        // A `survive` walk from one initial state is the same whatever is known before, until it ends.
        let is_canonical = matches!(self.problem.objective(), Objective::Survive { .. })
            && self.problem.initial_states().len() == 1
            && self.behaviour.is_some();
        match self.best {
            Some((value, size)) if !(any_optimal || is_canonical) && self.progress.enough(value) == value => {
                self.canonical(value, size)
            }
            _ => Ok(()),
        }
    }

    /// One walk over all sizes, in rounds, with the scout beside it. Returns the necessary queries.
    fn reach(&mut self, horizon: u64) -> Result<Option<u64>, RunError> {
        let mut cut = FIRST_CUT;
        loop {
            match self.main.advance(SLICE)? {
                Paused::Slice => self.report(),
                Paused::Found { value, size } => self.improve(value, size),
                Paused::Done => {
                    // What was set aside cannot be better than a solution within the cut.
                    let is_settled = self.best.is_some_and(|(value, _)| value <= cut);
                    if is_settled || !self.main.has_leaves() {
                        break;
                    }
                    self.progress.bound(cut + 1);
                    // The last round, if there are too many leaves or the scout's solution is near.
                    let is_near = self.best.is_some_and(|(value, _)| value <= cut.saturating_mul(3) / 2);
                    let is_last = is_near || self.main.leaf_bytes() > MOST_LEAF_BYTES;
                    cut = if is_last { u64::MAX } else { next_cut(cut) };
                    self.progress.horizon(cut.min(horizon));
                    self.main.next_round(reach_round(cut));
                }
            }
            self.scout()?;
        }
        // Every transition number 1 to value - 1, and number `value` of all that a smaller tree can do.
        let walk = self.main.walk();
        Ok(match self.best {
            Some((value @ 1.., size)) => {
                let smaller =
                    size.checked_sub(1).map_or(Some(0), |most| walk.transitions(value..=value, most));
                walk.transitions(1..=value - 1, Cost::MAX).and_then(|shorter| Some(shorter + smaller?))
            }
            Some((0, _)) => Some(0),
            None => walk.transitions(1..=horizon, Cost::MAX),
        })
    }

    /// Lets the scout have its share of queries.
    fn scout(&mut self) -> Result<(), RunError> {
        let most = self.problem.limits().nodes();
        let share = self.main.queries() / SCOUT_SHARE;
        if share == 0 || self.main.found() {
            return Ok(()); // the main walk is in its last round and knows better
        }
        if self.scout.is_none() {
            let cut = if self.best.is_some() { u64::MAX } else { FIRST_CUT };
            let walk = Walk::new(self.problem, 1, reach_round(cut), self.best).within(self.progress.gap());
            let lane = Lane::new(self.problem, self.progress.instance(self.problem, self.factory)?, walk);
            self.scout = Some(Scout { lane, nodes: 1, cut });
        }
        while let Some(scout) = &mut self.scout
            && scout.nodes < most
            && scout.lane.queries() < share
        {
            match scout.lane.advance(share - scout.lane.queries())? {
                Paused::Slice => {}
                Paused::Found { value, size } => {
                    let found = labels(scout.lane.walk());
                    self.main.improve(value, size);
                    self.accept(value, size, found);
                }
                Paused::Done if self.best.is_none() && scout.lane.has_leaves() => {
                    scout.cut = next_cut(scout.cut);
                    scout.lane.next_round(reach_round(scout.cut));
                }
                Paused::Done => {
                    scout.nodes += 1;
                    let cut = if self.best.is_some() { u64::MAX } else { FIRST_CUT };
                    scout.cut = cut;
                    let walk = Walk::new(self.problem, scout.nodes, reach_round(cut), self.best);
                    scout.lane.restart(walk.within(self.progress.gap()));
                }
            }
        }
        Ok(())
    }

    /// One walk in rounds of one more node each, until a tree survives the horizon. Returns the necessary
    /// queries.
    fn survive(&mut self, horizon: u64) -> Result<Option<u64>, RunError> {
        let most = self.problem.limits().nodes();
        let round = |nodes| Round { cut: u64::MAX, nodes };
        let walk = Walk::new(self.problem, most, round(0), self.best);
        self.main.restart(walk.within(self.progress.gap()));
        // How many nodes this round is limited to, if it is.
        let mut nodes = Some(0);
        // The steps of a perfect tree's trace that no smaller tree makes.
        let mut own_steps = 0;
        loop {
            self.progress.size(nodes.map_or(most, u64::from));
            loop {
                match self.main.advance(SLICE)? {
                    Paused::Slice => {
                        self.report();
                        if self.main.leaf_bytes() > MOST_LEAF_BYTES {
                            // Start anew, and set nothing aside.
                            nodes = None;
                            let walk = Walk::new(self.problem, most, round(Cost::MAX), self.best);
                            self.main.restart(walk.within(self.progress.gap()));
                        }
                    }
                    Paused::Done => break,
                    Paused::Found { value, size } => {
                        self.improve(value, size);
                        if value == horizon {
                            own_steps = self.main.walk().steps_beyond(size);
                            if nodes == Some(size) {
                                break; // all smaller trees have been walked
                            }
                        }
                    }
                }
            }
            match self.best {
                Some((value, size))
                    if value == horizon && (nodes == Some(size) || !self.main.has_leaves()) =>
                {
                    let smaller = match size {
                        0 => Some(0),
                        _ => self.main.walk().transitions(1..=horizon, size - 1),
                    };
                    return Ok(smaller.map(|smaller| smaller + own_steps));
                }
                _ if !self.main.has_leaves() => return Ok(Some(self.main.queries())),
                _ => {}
            }
            nodes = nodes.map(|nodes| nodes + 1);
            self.main.next_round(round(nodes.unwrap_or(Cost::MAX)));
        }
    }

    /// The one answer among equals: the first solution of a walk that knows value and size.
    fn canonical(&mut self, value: u64, size: Cost) -> Result<(), RunError> {
        // Any value better than the next worse one will do.
        let (incumbent, mut round) = match self.problem.objective() {
            Objective::Reach { .. } => (value.checked_add(1), Round { cut: u64::MAX, nodes: Cost::MAX }),
            Objective::Survive { .. } => (value.checked_sub(1), Round { cut: u64::MAX, nodes: 0 }),
        };
        self.report();
        self.progress.canonical();
        let incumbent = incumbent.map(|worse| (worse, 0));
        self.main.restart(Walk::new(self.problem, u64::from(size), round, incumbent));
        loop {
            match self.main.advance(SLICE)? {
                Paused::Slice => self.report(),
                Paused::Done if self.main.has_leaves() => {
                    round.nodes = round.nodes.saturating_add(1);
                    self.main.next_round(round);
                }
                Paused::Done => return Ok(()),
                Paused::Found { value, size } => {
                    self.improve(value, size);
                    return Ok(());
                }
            }
        }
    }

    /// The main walk has found a better behaviour.
    fn improve(&mut self, value: u64, size: Cost) {
        let found = labels(self.main.walk());
        self.accept(value, size, found);
    }

    /// Some walk has found a better behaviour.
    fn accept(&mut self, value: u64, size: Cost, behaviour: Vec<Labelled>) {
        self.report();
        self.best = Some((value, size));
        let tree = || realised(self.problem, &behaviour, size);
        self.progress.tell_improved(value, u64::from(size), &tree);
        self.behaviour = Some(behaviour);
    }

    /// Keeps the tree of the best behaviour.
    fn settle(&mut self) {
        if let (Some((value, size)), Some(behaviour)) = (self.best, &self.behaviour) {
            self.progress.keep(realised(self.problem, behaviour, size), value);
        }
    }

    fn report(&mut self) {
        let lanes = [Some(&self.main), self.scout.as_ref().map(|scout| &scout.lane)];
        let sum = |count: fn(&Lane<'p, S>) -> u64| lanes.iter().flatten().map(|lane| count(lane)).sum();
        let counts = lanes.iter().flatten().fold(Behaviours::default(), |sum, lane| sum + lane.counts());
        self.progress.walked(sum(Lane::traces), sum(Lane::queries), sum(Lane::replayed), counts);
    }
}

/// A round that ends at `cut`, for all sizes.
fn reach_round(cut: u64) -> Round {
    Round { cut, nodes: Cost::MAX }
}

fn next_cut(cut: u64) -> u64 {
    (cut.saturating_mul(CUT_GROWTH.0) / CUT_GROWTH.1).max(cut.saturating_add(1))
}

/// The smallest tree that realises a behaviour, of the size that the version space has found.
fn realised(problem: &Problem, behaviour: &[Labelled], size: Cost) -> Tree {
    let tree = smallest_tree(problem, behaviour, problem.limits().depth(), u64::from(size));
    debug_assert_eq!(tree.as_ref().map(Tree::size), Some(u64::from(size)));
    tree.unwrap_or(Tree::Leaf(0))
}

/// The labels of a walk's present behaviour.
fn labels<S: Store>(walk: &Walk<S>) -> Vec<Labelled> {
    walk.behaviour().map(|(cell, label)| Labelled { cell: cell.to_vec(), label }).collect()
}

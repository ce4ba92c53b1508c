//! What is done next: a tree is measured, changed at random, improved or tried on all initial states; or another beginning.

use super::{Climb, Doing, RECALLED};
use crate::problem::Problem;
use crate::problem::measure::FAILED;
use crate::search::behaviour::hints::loss::Loss;
use crate::search::behaviour::hints::neighbours::Neighbours;
use crate::search::behaviour::hints::predicates::Predicates;
use crate::search::behaviour::hints::random::Random;
use crate::search::behaviour::hints::ranked::{self, Place, Ranked};
use crate::search::behaviour::hints::{Hints, Placed, least_few};

impl Climb<'_> {
    /// Prepares what is to be done next.
    pub(super) fn begin_scan(&mut self) {
        // So that whatever is done comes to an end.
        self.recalled += RECALLED;
        self.is_on_its_way = false;
        self.frames.clear();
        self.path.clear();
        self.labels.cut_back(0);
        self.trace = 0;
        self.losses.clear();
        self.rivals.clear();
        self.here = None;
        self.has_improved = false;
        let limits = self.problem.limits();
        let nodes = usize::try_from(limits.nodes()).unwrap_or(usize::MAX);
        let Hints { random, here, home, order, untried, few, misses, probe, .. } = &mut self.hints;
        let probe = probe.take();
        if here.is_none() && home.is_none() {
            // Any initial state may be the one from which a first tree gets somewhere.
            let first = random.below(order.len() as u64) as usize;
            order[..=first].rotate_right(1);
        }
        let Placed { tree, wide, losses, loss } = here.get_or_insert_with(|| {
            let (depth, nodes) = (limits.depth(), nodes.min(MOST_RANDOM));
            Placed::untried(Ranked::random(random, &self.predicates, self.actions, depth, nodes))
        });
        if losses.is_empty() {
            self.doing = Doing::Measure;
        } else if self.doing != Doing::Try {
            let is_probe = *misses < MISSES;
            self.doing = if is_probe { Doing::Probe } else { Doing::Improve };
        }
        self.base.clone_from(tree);
        (self.free, self.must, self.states) = (0, Loss::WORST, *few);
        match self.doing {
            Doing::Measure => self.neighbours = Neighbours::one(tree),
            Doing::Try => {
                self.neighbours = Neighbours::one(tree);
                self.states = order.len();
                if let Some(home) = home {
                    self.must = home.loss;
                    self.rivals.clone_from(&home.losses);
                } else if loss.fails == 0 {
                    // The first trace that fails says what is to be improved.
                    self.must = Loss { fails: 0, ..Loss::WORST };
                }
            }
            Doing::Probe => {
                self.base = probe.unwrap_or_else(|| {
                    *wide = wide.filled(random, &self.predicates, limits.depth(), nodes.min(MOST_RANDOM));
                    changed(wide, random, self.problem, &self.predicates, self.actions)
                });
                self.neighbours = Neighbours::one(&self.base);
                // One that is as good will do, too.
                self.must = Loss { size: usize::MAX, ..*loss };
                self.rivals.clone_from(losses);
            }
            Doing::Improve => {
                self.must = *loss;
                self.rivals.clone_from(losses);
                // What is to be improved on is the worst trace.
                let worst = |&place: &usize| losses[order[place] as usize];
                let first = (0..self.states).rev().max_by(|a, b| worst(a).total_cmp(&worst(b)));
                if let Some(first) = first.filter(|_| self.judge.is_worst()) {
                    order[..=first].rotate_right(1);
                }
                if untried.is_empty() {
                    *untried = (0..tree.places.len() as u16).collect();
                    random.shuffle(untried);
                }
                self.free = untried.last().map_or(0, |&place| usize::from(place));
                let depth = limits.depth().saturating_sub(tree.depth_of(self.free));
                let nodes = nodes.saturating_sub(tree.size() - ranked::size(tree.part(self.free)));
                self.neighbours =
                    Neighbours::of(tree, self.free, self.predicates.counts(), self.actions, depth, nodes);
            }
        }
    }

    /// All trees that were to be walked have been.
    pub(super) fn end_scan(&mut self) {
        self.count();
        let wants_try = self.wants_try() && self.is_promising();
        if (self.doing, self.has_improved) == (Doing::Try, true) {
            self.adopt_home();
        }
        let Hints { here, order, few, untried, starts, misses, .. } = &mut self.hints;
        match (self.doing, self.has_improved) {
            // What seems better than the best is tried on all initial states.
            (Doing::Measure | Doing::Probe | Doing::Improve, true) => {
                if self.doing == Doing::Probe {
                    *misses = 0;
                }
                self.doing = if wants_try { Doing::Try } else { Doing::Probe };
            }
            (Doing::Probe, false) => {
                *misses += 1;
                if wants_try {
                    self.doing = Doing::Try;
                }
            }
            (Doing::Improve, false) => {
                untried.pop();
                if untried.is_empty() {
                    self.leave_optimum();
                }
            }
            (Doing::Try, true) => self.doing = Doing::Probe,
            // The initial state that has ruled it out is one of the few from now on.
            (Doing::Try, false) => {
                let last = self.trace.saturating_sub(1);
                if last >= *few {
                    order[..=last].rotate_right(1);
                    *few += 1;
                    if let Some(here) = here {
                        here.losses.clear();
                    }
                    self.doing = Doing::Measure;
                } else {
                    // The few say otherwise: nothing is to be learnt here.
                    self.begin_again();
                }
            }
            (Doing::Measure, false) => {
                *here = None;
                untried.clear();
                *starts += 1;
            }
        }
        self.begin_scan();
    }

    /// No tree that differs in one place is better. It may still be better than the best, from all initial states.
    pub(super) fn leave_optimum(&mut self) {
        if self.wants_try() {
            self.doing = Doing::Try;
        } else {
            self.begin_again();
        }
    }

    /// The tree that was tried is the best: it is improved for the initial state that is worst for it, too.
    fn adopt_home(&mut self) {
        let Hints { home: Some(home), here: Some(here), order, .. } = &mut self.hints else { return };
        if self.judge.is_worst() {
            let worst = |&place: &usize| home.losses[order[place] as usize];
            let first = (0..order.len()).rev().max_by(|a, b| worst(a).total_cmp(&worst(b)));
            first.into_iter().for_each(|first| order[..=first].rotate_right(1));
        }
        (here.tree, here.losses) = (home.tree.clone(), home.losses.clone());
        if let Some(loss) = self.hints.home.as_ref().map(|home| self.loss_on_few(home))
            && let Some(here) = &mut self.hints.here
        {
            here.loss = loss;
        }
    }

    /// No tree that differs in one place is better: changes a few places of the best, or takes any tree.
    fn begin_again(&mut self) {
        let Hints { random, home, here, starts, few, misses, untried, .. } = &mut self.hints;
        *starts += 1;
        *misses = 0;
        untried.clear();
        *few = (*few / 2).max(least_few(self.problem));
        let home = home
            .as_ref()
            .filter(|home| home.loss.fails == 0 || home.losses.iter().any(|&loss| loss != FAILED));
        let home = home.filter(|_| random.below(ANYWHERE) > 0);
        *here = home.map(|home| {
            let mut tree = home.tree.clone();
            for _ in 0..=random.below(MOST_CHANGES) {
                tree = changed(&tree, random, self.problem, &self.predicates, self.actions);
            }
            Placed::untried(tree)
        });
    }
}

/// A tree with something else in one place.
fn changed(
    tree: &Ranked,
    random: &mut Random,
    problem: &Problem,
    predicates: &Predicates,
    actions: u16,
) -> Ranked {
    let at = random.below(tree.places.len() as u64) as usize;
    let limits = problem.limits();
    let part = tree.part(at);
    let nodes = usize::try_from(limits.nodes()).unwrap_or(usize::MAX) - (tree.size() - ranked::size(part));
    match part[0] {
        Place::Node { no, dimension, rank } if random.below(WHOLE_PARTS) > 0 => {
            let (dimension, rank) = match random.below(3) {
                0 if !predicates.is_empty() => predicates.any(random),
                0 | 1 => (dimension, predicates.of(dimension, random).unwrap_or(rank)),
                _ => (dimension, predicates.beside((dimension, rank), random.below(2) > 0)),
            };
            let mut part = part.to_vec();
            part[0] = Place::Node { dimension, rank, no };
            tree.with(at, &part)
        }
        Place::Leaf(_) if random.below(WHOLE_PARTS) > 0 || nodes == 0 || predicates.is_empty() => {
            tree.with(at, &[Place::Leaf(random.below(actions.into()) as u16)])
        }
        _ => {
            let depth = limits.depth() - tree.depth_of(at);
            let nodes = random.below(nodes.min(MOST_RANDOM) as u64 + 1) as usize;
            tree.with(at, &Ranked::random(random, predicates, actions, depth, nodes).places)
        }
    }
}

/// One new beginning in so many is from any tree, at most.
const ANYWHERE: u64 = 3;
/// So many changes for a place are drawn, one after the other, before all are walked.
const MISSES: u64 = 300;
/// One change in so many puts any tree in the place of a part.
const WHOLE_PARTS: u64 = 16;
/// A new beginning has no more predicates than this.
const MOST_RANDOM: usize = 31;
/// So many places are changed at most.
const MOST_CHANGES: u64 = 3;

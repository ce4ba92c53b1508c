//! A search from its first round to its last: what goes on meanwhile, and what is left when it is stopped. Which
//! rounds these are say the [`stages`].

mod stages;

use std::thread::Scope;

pub(super) use self::stages::{FIRST_CUT, Stage, next_cut};
use super::Options;
use super::bounds::Store;
use super::crew::{Crew, Found, Key, Part, elsewhere};
use super::frontier::{Agenda, Frontier};
use super::lane::Counts;
use super::realise::{Labelled, first_tree};
use super::sample;
use super::saved::{Saved, SavedPart};
use super::scout::Scout;
use super::transitions::Transitions;
use super::version_space::Cost;
use super::worker::{Makings, Worker};
use crate::problem::{Objective, Problem, RunError, SystemFactory};
use crate::search::progress::Progress;
use crate::tree::Tree;

/// When the leaves of a round take more memory than this, nothing more is set aside: depth first.
const MOST_LEAF_BYTES: usize = 256 << 20;
/// How much memory the traces that a lane remembers may take.
const MOST_REMEMBERED: usize = 32 << 20;
/// The scout makes one query for so many of the main walk.
const SCOUT_SHARE: u64 = 10;

/// What is done when memory runs out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relief {
    ShrinkCache,
    /// From now on nothing more is set aside: depth first.
    LeaveNothing,
}

/// The passes of one search.
pub(super) struct Passes<'s, 'e, 'p, 'o, S: Store> {
    problem: &'p Problem,
    makings: Makings<'p>,
    options: &'s Options,
    progress: &'s mut Progress<'o>,
    crew: &'s Crew,
    scope: &'s Scope<'s, 'e>,
    has_threads: bool,
    scout: Option<Scout<'p, S>>,
    /// What scouts before this one have done.
    scouted: Counts,
    stage: Stage,
    /// The leaves of the next round, while some of them are [gone ahead](Stage::Ahead) from.
    waiting: Option<(Frontier, Agenda)>,
    /// Whether the walk itself finds the canonical solution.
    is_ordered: bool,
    /// The improvements that have been reported.
    version: u64,
    /// What has to be done about memory.
    relief: Option<Relief>,
    /// What was counted before the search was resumed.
    transitions_before: Transitions,
}

/// How much memory the traces that one of some lanes remembers may take: if memory is limited, an eighth of it
/// for all of them together.
pub(super) fn most_remembered(memory: Option<usize>, lanes: usize) -> usize {
    MOST_REMEMBERED.min(memory.map_or(usize::MAX, |memory| memory / 8 / lanes.max(1)))
}

impl<'s, 'e, 'p: 's, 'o: 'p, S: Store> Passes<'s, 'e, 'p, 'o, S> {
    pub(super) fn run(
        problem: &'p Problem,
        factory: &'p dyn SystemFactory,
        options: &Options,
        progress: &mut Progress<'o>,
        saved: Option<Saved>,
    ) -> Result<(), RunError> {
        let cache = options.cache.clone();
        let witness = options.witness.clone();
        let remembered = most_remembered(options.memory, options.threads);
        let sample = saved.as_ref().map(|saved| saved.sample.clone()).unwrap_or_default();
        let sample = progress.has_keeper().then(|| sample::Shared::new(sample));
        let makings = Makings { problem, factory, gate: progress.gate(), cache, witness, remembered, sample };
        let crew = makings.crew(options.threads, options.threads_after, progress.gap());
        let left = saved.as_ref().and_then(|saved| saved.checked(problem));
        if let Some(best) = saved.as_ref().and_then(|saved| saved.best.clone()) {
            crew.tell(best, false);
        } else if let Some((value, size)) = progress.incumbent() {
            let size = Cost::try_from(size).unwrap_or(Cost::MAX);
            crew.tell(Found::elsewhere(value, size, None), false);
        }
        let mut worker = makings.worker::<S>(0)?;
        let ended = std::thread::scope(|scope| {
            let _dismissal = Dismissal(&crew);
            let saved = saved.as_ref();
            let mut passes = Passes::<S> {
                problem,
                makings,
                options,
                progress,
                crew: &crew,
                scope,
                has_threads: false,
                scout: None,
                scouted: Counts::default(),
                stage: saved.map_or(Stage::first(problem), |saved| saved.stage),
                waiting: None,
                is_ordered: saved
                    .map_or_else(|| is_ordered(problem, options.any_optimal), |saved| saved.is_ordered),
                version: crew.version(),
                relief: None,
                transitions_before: saved.map(|saved| saved.transitions.clone()).unwrap_or_default(),
            };
            let ended = passes.search(&mut worker, left);
            passes.report();
            ended
        });
        let best = crew.best();
        if let Some(Found { value, size, labels: Some(labels), .. }) = best.as_ref() {
            progress.keep(realised(problem, labels, *size), *value);
        }
        if let Some(passed_over) = best.as_ref().and_then(|best| best.passed_over) {
            progress.pass_over(passed_over);
        }
        if ended.is_ok() && problem.initial_states().len() == 1 {
            let mut transitions = saved.map(|saved| saved.transitions).unwrap_or_default();
            transitions.add(&crew.transitions());
            if let Some(necessary) = necessary(problem.objective(), best.as_ref(), &transitions) {
                progress.necessary(necessary);
            }
        }
        ended
    }

    fn search(&mut self, worker: &mut Worker<'p, S>, left: Option<Vec<(Key, Part)>>) -> Result<(), RunError> {
        match left {
            None => self.begin(self.root()),
            Some(mut left) => {
                if let Stage::Ahead { .. } = self.stage {
                    let waiting = left.extract_if(.., |(_, part)| part.is_next).map(|(_, part)| part.leaves);
                    let frontier = Frontier::join(self.problem.dimensions().len(), waiting.collect());
                    let agenda = frontier.promising_first();
                    self.waiting = (!frontier.is_empty()).then_some((frontier, agenda));
                }
                let order = self.order();
                self.crew.begin_again(order, left);
            }
        }
        loop {
            let next = self.round(worker)?;
            if !self.begin_next(next) {
                return Ok(());
            }
        }
    }

    fn root(&self) -> Frontier {
        Frontier::root(self.problem.dimensions().len(), self.problem.objective())
    }

    /// Value and size of the best behaviour.
    fn best(&self) -> Option<(u64, Cost)> {
        self.crew.best().as_ref().map(|best| (best.value, best.size))
    }

    /// Goes through one round; returns what is left for the next one.
    fn round(&mut self, worker: &mut Worker<'p, S>) -> Result<Frontier, RunError> {
        let crew = self.crew;
        loop {
            let next = worker.work(crew, &mut || self.look());
            self.report();
            match next {
                Ok(Some(next)) => {
                    // If memory is still short, that is seen in the next round.
                    self.relief = None;
                    return Ok(next);
                }
                Ok(None) => {}
                Err(error) => {
                    self.keep();
                    return Err(error);
                }
            }
            if let Some(reason) = crew.stopped() {
                self.keep();
                return Err(RunError::Stopped(reason));
            }
            match self.relief {
                Some(Relief::LeaveNothing) => {
                    let left = crew.left().into_iter().map(|(_, part)| part.leaves).collect();
                    return Ok(Frontier::join(self.problem.dimensions().len(), left));
                }
                Some(Relief::ShrinkCache) => self.shrink_cache(),
                None => self.keep(),
            }
            crew.go_on();
        }
    }

    /// Gives back half of the cache's memory, or more. All that it knew is forgotten.
    fn shrink_cache(&mut self) {
        self.relief = None;
        let Some(cache) = &self.makings.cache else { return };
        cache.lock().shrink();
        // Places were known by nodes of the cache. Now they are only known by their labels.
        let relieve = |(key, part): (Key, Part)| {
            (key, Part { leaves: Frontier::from_leaves((*part.leaves.leaves).clone()), ..part })
        };
        let left = self.crew.left().into_iter().map(relieve).collect();
        if let Some((frontier, _)) = &mut self.waiting {
            *frontier = Frontier::from_leaves((*frontier.leaves).clone());
        }
        let order = self.order();
        self.crew.begin_again(order, left);
        if let Some(scout) = self.scout.take() {
            self.scouted = self.scouted + scout.counts();
        }
    }

    /// Writes down all that is left.
    fn keep(&mut self) {
        if !self.progress.has_keeper() {
            return;
        }
        let left = self.crew.left();
        let queries = self.progress.queries();
        let mut best = self.crew.best().clone();
        if let Some(best) = &mut best
            && best.key != elsewhere()
        {
            // Between the parts before it, which get odd keys, and those behind.
            best.key = vec![2 * left.iter().filter(|(key, _)| *key < best.key).count() as u32];
        }
        let mut transitions = self.transitions_before.clone();
        transitions.add(&self.crew.transitions());
        let parts = left.into_iter().map(|(_, Part { is_next, leaves, failures })| SavedPart {
            is_next,
            leaves: (*leaves.leaves).clone(),
            failures,
        });
        let waiting = self.waiting.iter().map(|(frontier, _)| SavedPart {
            is_next: true,
            leaves: (*frontier.leaves).clone(),
            failures: None,
        });
        let saved = Saved {
            stage: self.stage,
            is_ordered: self.is_ordered,
            parts: parts.chain(waiting).collect(),
            best,
            transitions,
            sample: self.makings.sample.as_ref().map(|sample| sample.bounded(queries)).unwrap_or_default(),
        };
        self.progress.keep_checkpoint(saved);
    }

    /// Looks after everything else between two slices of the main lane.
    fn look(&mut self) -> Result<(), RunError> {
        self.report();
        if let Stage::Reach { .. } = self.stage {
            self.scout()?;
        }
        self.look_at_memory();
        if self.progress.is_checkpoint_due() {
            self.crew.suspend();
        }
        if !self.has_threads && self.crew.counts().queries >= self.options.threads_after {
            self.start_threads();
        }
        Ok(())
    }

    /// Sees to it that no more memory is taken than may be: first the cache is shrunk, then nothing more is
    /// set aside.
    fn look_at_memory(&mut self) {
        let (old, next) = self.crew.leaf_bytes();
        let cache = self.makings.cache.as_ref().map_or(0, |cache| cache.lock().bytes());
        // Leaves are copied when a round ends, and twice when they are written down.
        let copies = if self.progress.has_keeper() { 3 } else { 2 };
        let is_over = self.options.memory.is_some_and(|most| copies * (old + next) + cache > most);
        let is_last = match self.stage {
            Stage::Reach { cut } => cut == u64::MAX,
            Stage::Survive { nodes, .. } => nodes == Cost::MAX,
            Stage::Ahead { .. } | Stage::Canonical { .. } => true,
        };
        let relief = if is_over && cache > 0 {
            Relief::ShrinkCache
        } else if (is_over || next > MOST_LEAF_BYTES) && !is_last {
            Relief::LeaveNothing
        } else {
            return;
        };
        self.relief = Some(relief);
        self.crew.suspend();
    }

    fn start_threads(&mut self) {
        self.has_threads = true;
        for number in 1..self.options.threads {
            let (makings, crew) = (self.makings.clone(), self.crew);
            self.scope.spawn(move || match makings.worker::<S>(number) {
                Ok(mut worker) => worker.serve(crew),
                Err(error) => crew.fail(error),
            });
        }
    }

    /// Lets the scout have its share of queries.
    fn scout(&mut self) -> Result<(), RunError> {
        let counts = self.crew.counts();
        let share = (counts.queries + counts.hits) / SCOUT_SHARE;
        let is_found = self.crew.best().as_ref().is_some_and(|best| best.key != elsewhere());
        if share == 0 || is_found {
            return Ok(()); // the main walk is in its last round and knows better
        }
        if self.crew.is_suspended() {
            return Ok(()); // the search may have failed
        }
        if self.makings.rows().is_some() {
            return Ok(()); // many lanes side by side find good solutions early themselves
        }
        let most = Cost::try_from(self.problem.limits().nodes()).unwrap_or(Cost::MAX);
        if self.scout.is_none() {
            let lane = self.makings.lane()?;
            let dimensions = self.problem.dimensions().len();
            let (objective, gap) = (self.problem.objective(), self.progress.gap());
            self.scout = Some(Scout::new(lane, dimensions, objective, gap, self.crew));
        }
        let Some(scout) = &mut self.scout else { return Ok(()) };
        let advanced = scout.advance(share, most, self.crew);
        if advanced.is_err() {
            // A lane whose system has failed is not gone on with.
            self.scouted = self.scouted + scout.counts();
            self.scout = None;
        }
        advanced
    }

    /// Tells the observer what there is to tell.
    fn report(&mut self) {
        let counts = self.crew.counts();
        let counts = counts + self.scouted + self.scout.as_ref().map(Scout::counts).unwrap_or_default();
        self.progress.walked(counts);
        if self.version != self.crew.version() {
            self.version = self.crew.version();
            let best = self.crew.best().clone();
            if let Some(Found { value, size, labels: Some(labels), .. }) = best {
                let tree = || realised(self.problem, &labels, size);
                self.progress.tell_improved(value, u64::from(size), &tree);
            }
        }
    }
}

/// Sends the workers home in any case: the search waits for them even if it panics.
struct Dismissal<'e>(&'e Crew);

impl Drop for Dismissal<'_> {
    fn drop(&mut self) {
        self.0.dismiss();
    }
}

/// Whether the walk of a search that begins finds the canonical solution itself. If more counts than the length of one
/// trace, what the incumbent cuts changes the order of the leaves.
pub(super) fn is_ordered(problem: &Problem, is_any_optimal: bool) -> bool {
    problem.initial_states().len() == 1 && problem.objective().is_plain() && !is_any_optimal
}

/// How many queries any search must make from one initial state, if that is known.
fn necessary(objective: Objective, best: Option<&Found>, transitions: &Transitions) -> Option<u64> {
    let horizon = objective.horizon();
    let up_to = |steps, nodes| transitions.up_to(steps, horizon, nodes);
    let smaller = |steps, size: Cost| size.checked_sub(1).map_or(Some(0), |most| up_to(steps, most));
    match (objective, best) {
        _ if !objective.is_plain() => None,
        (Objective::Reach { .. }, Some(&Found { value: 0, .. })) => Some(0),
        // Every transition number 1 to value - 1, and number `value` of all that a smaller tree can do.
        (Objective::Reach { .. }, Some(&Found { value, size, .. })) => {
            Some(up_to(1..=value - 1, Cost::MAX)? + smaller(value..=value, size)?)
        }
        (Objective::Reach { .. }, None) => up_to(1..=horizon, Cost::MAX),
        // Its own trace, and all that smaller trees can do.
        (_, Some(&Found { value, size, own_steps, .. })) if value == horizon => {
            Some(own_steps + smaller(1..=horizon, size)?)
        }
        _ => Some(transitions.all()),
    }
}

/// The smallest tree that realises a behaviour, of the size that the version space has found.
pub(super) fn realised(problem: &Problem, behaviour: &[Labelled], size: Cost) -> Tree {
    let labels: Vec<&Labelled> = behaviour.iter().collect();
    let tree = first_tree(problem, &labels, problem.limits().depth(), u64::from(size));
    debug_assert_eq!(tree.size(), u64::from(size));
    tree
}

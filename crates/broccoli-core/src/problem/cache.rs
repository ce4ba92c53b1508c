//! What the system has answered, so that it is never asked the same question twice.
//!
//! The cache is a trie: a node is an initial state and the actions since reset. The walk's position is a
//! node, so to look an answer up is to follow one link. Nothing else will do for a key: with hidden state,
//! what looks alike need not go on alike.
//!
//! Nodes are never moved, and removed only all together: an index is good until the cache is *shrunk*, which
//! counts up its generation. When the memory is used up nothing more is stored, and a walk that leaves the
//! trie goes on without it.
//!
//! One search has one cache, for all its walks. It is behind a lock that is held while something is looked
//! up or stored, or a state restored, but never during a query, so that walks could also share it from
//! several threads. Two that ask the same at the same time would store it twice, which does no harm.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Problem, Verdict};

/// A cache that drivers share.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Mutex<Cache>>);

impl Shared {
    pub(crate) fn new(problem: &Problem, bytes: usize) -> Self {
        Shared(Arc::new(Mutex::new(Cache::new(problem, bytes))))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Cache> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An initial state and the actions since reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node(NonZeroU32);

impl Node {
    /// Four bytes that stand for it.
    pub(crate) fn to_bytes(self) -> [u8; 4] {
        self.0.get().to_le_bytes()
    }

    /// The node that four bytes stand for.
    pub(crate) fn from_bytes(bytes: [u8; 4]) -> Option<Node> {
        NonZeroU32::new(u32::from_le_bytes(bytes)).map(Node)
    }

    /// `None` when there are too many.
    fn new(index: usize) -> Option<Node> {
        u32::try_from(index + 1).ok().and_then(NonZeroU32::new).map(Node)
    }

    fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// What is known of a node, apart from its observation and its children.
#[derive(Clone, Copy, Debug)]
struct Entry {
    parent: Option<Node>,
    /// Which of the saved states is its own, counted from 1.
    state: Option<NonZeroU32>,
    /// The action that leads here from the parent.
    action: u16,
    verdict: Verdict,
}

/// From where a system gets to a node by known steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin<'a> {
    /// From where it is.
    Here,
    /// From a saved state.
    State(&'a [u8]),
    Reset,
}

pub(crate) struct Cache {
    dimensions: usize,
    actions: usize,
    /// Per initial state.
    roots: Vec<Option<Node>>,
    entries: Vec<Entry>,
    /// Per node, one for each action; and its observation.
    children: Vec<Option<Node>>,
    observations: Vec<f64>,
    /// Per node, if the objective wants them.
    rewards: Vec<f64>,
    has_rewards: bool,
    /// Saved states, one after the other, and where each ends.
    states: Vec<u8>,
    ends: Vec<usize>,
    /// Memory that may still be used; and the part of it that may be used for saved states, so that they
    /// leave enough for answers.
    free: usize,
    free_for_states: usize,
    most: usize,
    generation: u64,
}

impl Cache {
    /// A cache that takes at most `bytes` of memory, but for one link per initial state.
    fn new(problem: &Problem, bytes: usize) -> Self {
        let (dimensions, actions) = (problem.dimensions().len(), problem.actions().len());
        let empty = Cache::empty(dimensions, actions, problem.initial_states().len(), bytes, 0);
        Cache { has_rewards: problem.objective().wants_rewards(), ..empty }
    }

    fn empty(dimensions: usize, actions: usize, initials: usize, bytes: usize, generation: u64) -> Self {
        Cache {
            dimensions,
            actions,
            roots: vec![None; initials],
            entries: Vec::new(),
            children: Vec::new(),
            observations: Vec::new(),
            rewards: Vec::new(),
            has_rewards: false,
            states: Vec::new(),
            ends: Vec::new(),
            free: bytes,
            free_for_states: bytes / 2,
            most: bytes,
            generation,
        }
    }

    /// The memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.most - self.free
    }

    /// Counts up when all nodes become invalid.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// Forgets everything, and takes at most half of what it took from now on.
    pub(crate) fn shrink(&mut self) {
        let initials = self.roots.len();
        let (bytes, generation) = (self.bytes() / 2, self.generation + 1);
        let empty = Cache::empty(self.dimensions, self.actions, initials, bytes, generation);
        *self = Cache { has_rewards: self.has_rewards, ..empty };
    }

    /// The node of a reset, if its answer is known.
    pub(crate) fn root(&self, initial: usize) -> Option<Node> {
        self.roots[initial]
    }

    /// The node after an action, if its answer is known.
    pub(crate) fn child(&self, node: Node, action: usize) -> Option<Node> {
        self.children[node.index() * self.actions + action]
    }

    /// The answer at a node: the verdict, and the observation.
    pub(crate) fn answer(&self, node: Node, observation: &mut [f64]) -> Verdict {
        observation.copy_from_slice(&self.observations[node.index() * self.dimensions..][..self.dimensions]);
        self.entries[node.index()].verdict
    }

    /// The reward of the step that led to a node, if rewards are wanted.
    pub(crate) fn reward(&self, node: Node) -> f64 {
        self.rewards.get(node.index()).copied().unwrap_or(0.0)
    }

    /// Stores the answer to a reset; `None` if there is no room.
    pub(crate) fn add_root(&mut self, initial: usize, verdict: Verdict, seen: &[f64]) -> Option<Node> {
        self.roots[initial] = self.add(Entry { parent: None, state: None, action: 0, verdict }, 0.0, seen);
        self.roots[initial]
    }

    /// Stores the answer to an action; `None` if there is no room.
    pub(crate) fn add_child(
        &mut self,
        node: Node,
        action: usize,
        (verdict, reward): (Verdict, f64),
        seen: &[f64],
    ) -> Option<Node> {
        let entry = Entry { parent: Some(node), state: None, action: action as u16, verdict };
        let child = self.add(entry, reward, seen);
        self.children[node.index() * self.actions + action] = child;
        child
    }

    fn add(&mut self, entry: Entry, reward: f64, seen: &[f64]) -> Option<Node> {
        let node = Node::new(self.entries.len())?;
        let has_room = make_room(&mut self.entries, 1, &mut self.free)
            && make_room(&mut self.children, self.actions, &mut self.free)
            && make_room(&mut self.observations, self.dimensions, &mut self.free)
            && make_room(&mut self.rewards, usize::from(self.has_rewards), &mut self.free);
        if !has_room {
            return None;
        }
        self.entries.push(entry);
        self.children.resize(self.children.len() + self.actions, None);
        self.observations.extend_from_slice(seen);
        if self.has_rewards {
            self.rewards.push(reward);
        }
        Some(node)
    }

    /// Whether there is a saved state for just this node.
    pub(crate) fn has_state(&self, node: Node) -> bool {
        self.entries[node.index()].state.is_some()
    }

    /// Stores the saved state of a node that has none; whether there was room for it.
    pub(crate) fn keep(&mut self, node: Node, state: &[u8]) -> bool {
        let mut free = self.free_for_states.min(self.free);
        let before = free;
        let has_room =
            make_room(&mut self.states, state.len(), &mut free) && make_room(&mut self.ends, 1, &mut free);
        self.free -= before - free;
        self.free_for_states -= before - free;
        let number = u32::try_from(self.ends.len() + 1).ok().and_then(NonZeroU32::new);
        if !has_room || number.is_none() {
            return false;
        }
        self.states.extend_from_slice(state);
        self.ends.push(self.states.len());
        self.entries[node.index()].state = number;
        true
    }

    /// The shortest way to a node for a system that is at `here`: where it starts, and its actions.
    pub(crate) fn way(&self, node: Node, here: Option<Node>, actions: &mut Vec<u16>) -> Origin<'_> {
        actions.clear();
        let mut at = node;
        let from = loop {
            let entry = &self.entries[at.index()];
            if here == Some(at) {
                break Origin::Here;
            }
            if let Some(state) = entry.state {
                let index = state.get() as usize - 1;
                let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
                break Origin::State(&self.states[start..self.ends[index]]);
            }
            let Some(parent) = entry.parent else { break Origin::Reset };
            actions.push(entry.action);
            at = parent;
        };
        actions.reverse();
        from
    }
}

/// Makes room for `more` items, by an eighth of what there is or as much as is needed, if the free memory
/// suffices.
fn make_room<T>(items: &mut Vec<T>, more: usize, free: &mut usize) -> bool {
    let before = items.capacity();
    if before - items.len() >= more {
        return true;
    }
    let fits = |count: usize| count.checked_mul(size_of::<T>()).is_some_and(|bytes| bytes <= *free);
    let wanted = [more.max(items.len() / 8), more].into_iter().find(|&count| fits(count));
    if wanted.is_none_or(|count| items.try_reserve_exact(count).is_err()) {
        return false;
    }
    *free = free.saturating_sub((items.capacity() - before) * size_of::<T>());
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Objective, Thresholds};

    const RUNNING: Verdict = Verdict::Running;

    fn cache(bytes: usize) -> Cache {
        let problem = Problem::builder()
            .dimension("x", Thresholds::none())
            .dimension("y", Thresholds::none())
            .action("a", 0.0)
            .action("b", 1.0)
            .initial([0.0])
            .initial([1.0])
            .objective(Objective::reach(9))
            .build()
            .expect("a problem");
        Cache::new(&problem, bytes)
    }

    #[test]
    fn an_answer_is_found_where_it_was_stored_and_nowhere_else() {
        let mut cache = cache(1 << 20);
        let root = cache.add_root(1, RUNNING, &[1.0, 2.0]).unwrap();
        let child = cache.add_child(root, 1, (Verdict::Satisfied, 0.0), &[3.0, 4.0]).unwrap();
        assert_eq!((cache.root(0), cache.root(1)), (None, Some(root)));
        assert_eq!((cache.child(root, 0), cache.child(root, 1)), (None, Some(child)));
        assert_eq!((cache.child(child, 0), cache.child(child, 1)), (None, None));
        let mut seen = [0.0; 2];
        assert_eq!((cache.answer(root, &mut seen), seen), (RUNNING, [1.0, 2.0]));
        assert_eq!((cache.answer(child, &mut seen), seen), (Verdict::Satisfied, [3.0, 4.0]));
    }

    #[test]
    fn the_way_is_the_shortest() {
        let mut cache = cache(1 << 20);
        let mut nodes = vec![cache.add_root(0, RUNNING, &[0.0, 0.0]).unwrap()];
        for action in [1, 0, 0, 1] {
            nodes.push(cache.add_child(nodes[nodes.len() - 1], action, (RUNNING, 0.0), &[0.0, 0.0]).unwrap());
        }
        let mut actions = Vec::new();
        assert_eq!(cache.way(nodes[4], None, &mut actions), Origin::Reset);
        assert_eq!(actions, [1, 0, 0, 1]);
        assert!(cache.keep(nodes[1], b"one") && cache.keep(nodes[2], b"") && cache.has_state(nodes[2]));
        assert_eq!(cache.way(nodes[4], None, &mut actions), Origin::State(b""));
        assert_eq!(actions, [0, 1]);
        assert_eq!(cache.way(nodes[4], Some(nodes[3]), &mut actions), Origin::Here);
        assert_eq!(actions, [1]);
        assert_eq!(cache.way(nodes[1], Some(nodes[3]), &mut actions), Origin::State(b"one"));
        assert!(actions.is_empty());
        assert_eq!(cache.way(nodes[3], Some(nodes[3]), &mut actions), Origin::Here);
        assert!(actions.is_empty());
    }

    #[test]
    fn the_memory_is_never_exceeded() {
        for bytes in [0, 1, 30, 100, 1_000, 10_000] {
            let mut cache = cache(bytes);
            let mut node = cache.add_root(0, RUNNING, &[0.0, 0.0]);
            let (mut nodes, mut kept) = (0, 0);
            while let Some(at) = node {
                nodes += 1;
                kept += usize::from(cache.keep(at, &[7; 50]));
                node = cache.add_child(at, 0, (RUNNING, 0.0), &[0.0, 0.0]);
            }
            let states = cache.states.capacity() + cache.ends.capacity() * size_of::<usize>();
            let used = states
                + cache.entries.capacity() * size_of::<Entry>()
                + cache.children.capacity() * size_of::<Option<Node>>()
                + cache.observations.capacity() * size_of::<f64>();
            assert!(used <= bytes && states <= bytes / 2, "{bytes}: {used}, {states} of it for states");
            assert!(nodes >= bytes / 100 && kept >= bytes / 400, "{bytes}: {nodes} nodes, {kept} states");
        }
    }
}

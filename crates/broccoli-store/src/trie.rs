//! What a system has answered: a trie, whose nodes are an initial state and the actions since reset.
//!
//! Nothing else will do for a key: with hidden state, what looks alike need not go on alike. Nodes are never moved and
//! never removed, so the number of a node is good for ever, and is its number in the file, too. When the memory is used
//! up nothing more is stored.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use broccoli_core::problem::{InitialState, Reply, Verdict};

/// An initial state and the actions since reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Node(NonZeroU32);

impl Node {
    /// The node with this number, counted from 0; none if there cannot be so many.
    pub(crate) fn new(index: usize) -> Option<Node> {
        u32::try_from(index + 1).ok().and_then(NonZeroU32::new).map(Node)
    }

    pub(crate) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// The number of an action among all that the trie knows by name.
pub(crate) type ActionId = u16;

/// An action, by its name and the bits of its value.
pub(crate) type ActionKey = (String, u64);

/// What is known of a node, apart from its observation and its reward.
#[derive(Clone, Copy, Debug)]
struct Entry {
    parent: Option<Node>,
    /// The last of its children, and the next one of its parent's.
    child: Option<Node>,
    sibling: Option<Node>,
    /// Which of the states is its own, counted from 1; and of a root, which of the initial states.
    state: Option<NonZeroU32>,
    start: u32,
    /// The action that leads here from the parent.
    action: ActionId,
    verdict: Verdict,
    /// Nothing is known of it: it was in a block that is refused, or depends on one.
    is_dead: bool,
    /// Whether its answer was given to anybody.
    is_used: bool,
}

/// An answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) verdict: Verdict,
    pub(crate) reward: Option<f64>,
    pub(crate) observation: &'a [f64],
}

impl Answer<'_> {
    pub(crate) fn reply(&self) -> Reply {
        let reply = Reply::from(self.verdict);
        self.reward.map_or(reply, |reward| reply.with_reward(reward))
    }

    /// Whether another answer to the same question is the same. One of them may lack a reward.
    pub(crate) fn agrees(&self, other: &Answer<'_>) -> bool {
        let bits = |values: &[f64], i: usize| values[i].to_bits();
        let is_same = |i| bits(self.observation, i) == bits(other.observation, i);
        let rewards = self.reward.zip(other.reward);
        self.verdict == other.verdict
            && self.observation.len() == other.observation.len()
            && (0..self.observation.len()).all(is_same)
            && rewards.is_none_or(|(one, other)| one.to_bits() == other.to_bits())
    }

    pub(crate) fn shown(&self) -> String {
        let reward = self.reward.map_or(String::new(), |reward| format!(", reward {reward}"));
        format!("{:?} {:?}{reward}", self.observation, self.verdict)
    }
}

/// From where a system gets to a node by known steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Origin<'a> {
    /// From where it is.
    Here,
    /// From a saved state.
    State(&'a [u8]),
    /// From a reset.
    Reset(&'a InitialState),
}

pub(crate) struct Trie {
    observed: usize,
    entries: Vec<Entry>,
    /// Per node. A reward that is not known is NaN.
    observations: Vec<f64>,
    rewards: Vec<f64>,
    roots: BTreeMap<Vec<u64>, Node>,
    starts: Vec<InitialState>,
    actions: Vec<Option<ActionKey>>,
    /// Saved states, one after the other, and where each ends.
    states: Vec<u8>,
    ends: Vec<usize>,
    /// Memory that may still be used; and the part of it that may be used for saved states, so that they leave enough
    /// for answers.
    free: usize,
    free_for_states: usize,
    are_states_allowed: bool,
}

/// What tells initial states apart: -0 is 0.
pub(crate) fn bits_of(initial: &InitialState) -> Vec<u64> {
    initial.values().iter().map(|value| (value + 0.0).to_bits()).collect()
}

impl Trie {
    /// An empty trie of a system that observes so many values, which takes at most so many bytes.
    pub(crate) fn new(observed: usize, bytes: usize) -> Self {
        Trie {
            observed,
            entries: Vec::new(),
            observations: Vec::new(),
            rewards: Vec::new(),
            roots: BTreeMap::new(),
            starts: Vec::new(),
            actions: Vec::new(),
            states: Vec::new(),
            ends: Vec::new(),
            free: bytes,
            free_for_states: bytes / 2,
            are_states_allowed: true,
        }
    }

    pub(crate) fn observed(&self) -> usize {
        self.observed
    }

    /// How many nodes there are, dead ones included.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn initial_states(&self) -> usize {
        self.roots.len()
    }

    pub(crate) fn states(&self) -> usize {
        self.ends.len()
    }

    /// All nodes that are the answer to a step.
    pub(crate) fn transitions(&self) -> impl Iterator<Item = Node> {
        let is_one = |entry: &Entry| !entry.is_dead && entry.parent.is_some();
        let steps = self.entries.iter().enumerate().filter(move |(_, entry)| is_one(entry));
        steps.filter_map(|(index, _)| Node::new(index))
    }

    /// The node of a reset, if its answer is known.
    pub(crate) fn root(&self, initial: &InitialState) -> Option<Node> {
        self.roots.get(&bits_of(initial)).copied()
    }

    /// The node after an action, if its answer is known.
    pub(crate) fn child(&self, node: Node, action: ActionId) -> Option<Node> {
        let mut next = self.entries[node.index()].child;
        while let Some(child) = next {
            let entry = &self.entries[child.index()];
            if entry.action == action {
                return Some(child);
            }
            next = entry.sibling;
        }
        None
    }

    pub(crate) fn parent(&self, node: Node) -> Option<(Node, ActionId)> {
        let entry = &self.entries[node.index()];
        entry.parent.map(|parent| (parent, entry.action))
    }

    pub(crate) fn answer(&self, node: Node) -> Answer<'_> {
        let index = node.index();
        Answer {
            verdict: self.entries[index].verdict,
            reward: Some(self.rewards[index]).filter(|reward| !reward.is_nan()),
            observation: &self.observations[index * self.observed..][..self.observed],
        }
    }

    /// The answer is given to somebody; whether that is so for the first time.
    pub(crate) fn use_answer(&mut self, node: Node) -> bool {
        !std::mem::replace(&mut self.entries[node.index()].is_used, true)
    }

    /// A step was made again, this time with a reward.
    pub(crate) fn set_reward(&mut self, node: Node, reward: f64) {
        self.rewards[node.index()] = reward;
    }

    /// The number of an action, if it is known.
    pub(crate) fn action(&self, key: &ActionKey) -> Option<ActionId> {
        let position = self.actions.iter().position(|known| known.as_ref() == Some(key));
        position.and_then(|position| ActionId::try_from(position).ok())
    }

    /// The number of an action that is not known yet; none if there are too many.
    pub(crate) fn add_action(&mut self, key: ActionKey) -> Option<ActionId> {
        let id = ActionId::try_from(self.actions.len()).ok()?;
        self.set_action(id, key).then_some(id)
    }

    /// An action with its number; false if it is in use, or there is no room.
    pub(crate) fn set_action(&mut self, id: ActionId, key: ActionKey) -> bool {
        let index = usize::from(id);
        let more = (index + 1).saturating_sub(self.actions.len());
        let bytes = key.0.len();
        if self.actions.get(index).is_some_and(Option::is_some)
            || self.action(&key).is_some()
            || bytes > self.free
            || !make_room(&mut self.actions, more, &mut self.free)
        {
            return false;
        }
        self.free = self.free.saturating_sub(bytes);
        self.actions.resize(self.actions.len() + more, None);
        self.actions[index] = Some(key);
        true
    }

    /// What an action is called.
    pub(crate) fn name(&self, id: ActionId) -> Option<&str> {
        self.actions.get(usize::from(id))?.as_ref().map(|key| &*key.0)
    }

    pub(crate) fn has_action(&self, id: ActionId) -> bool {
        self.actions.get(usize::from(id)).is_some_and(Option::is_some)
    }

    /// Stores the answer to a reset; none if there is no room.
    pub(crate) fn add_root(&mut self, initial: &InitialState, answer: Answer<'_>) -> Option<Node> {
        let bits = bits_of(initial);
        let bytes = 4 * size_of_val(&*bits) + size_of::<InitialState>();
        if bytes > self.free || self.roots.contains_key(&bits) {
            return None;
        }
        let start = u32::try_from(self.starts.len()).ok()?;
        let entry = Entry { start, verdict: answer.verdict, ..Entry::EMPTY };
        let node = self.add(entry, answer)?;
        self.free = self.free.saturating_sub(bytes);
        self.starts
            .push(InitialState::new(bits.iter().map(|&bits| f64::from_bits(bits)).collect::<Vec<_>>()));
        self.roots.insert(bits, node);
        Some(node)
    }

    /// Stores the answer to an action after which nothing is known yet; none if there is no room.
    pub(crate) fn add_child(&mut self, parent: Node, action: ActionId, answer: Answer<'_>) -> Option<Node> {
        let sibling = self.entries[parent.index()].child;
        let verdict = answer.verdict;
        let entry = Entry { parent: Some(parent), sibling, action, verdict, ..Entry::EMPTY };
        let child = self.add(entry, answer)?;
        self.entries[parent.index()].child = Some(child);
        Some(child)
    }

    /// Adds a node of which nothing is known; false if there is no room.
    pub(crate) fn add_dead(&mut self) -> bool {
        let entry = Entry { is_dead: true, ..Entry::EMPTY };
        let observation = vec![0.0; self.observed];
        let answer = Answer { verdict: Verdict::Violated, reward: None, observation: &observation };
        self.add(entry, answer).is_some()
    }

    pub(crate) fn is_alive(&self, node: Node) -> bool {
        self.entries.get(node.index()).is_some_and(|entry| !entry.is_dead)
    }

    fn add(&mut self, entry: Entry, answer: Answer<'_>) -> Option<Node> {
        let node = Node::new(self.entries.len())?;
        let has_room = make_room(&mut self.entries, 1, &mut self.free)
            && make_room(&mut self.observations, self.observed, &mut self.free)
            && make_room(&mut self.rewards, 1, &mut self.free);
        if !has_room {
            return None;
        }
        self.entries.push(entry);
        self.observations.extend_from_slice(answer.observation);
        self.rewards.push(answer.reward.unwrap_or(f64::NAN));
        Some(node)
    }

    /// The saved state of just this node.
    pub(crate) fn state(&self, node: Node) -> Option<&[u8]> {
        let index = self.entries[node.index()].state?.get() as usize - 1;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.states[start..self.ends[index]])
    }

    /// Whether there is room for states.
    pub(crate) fn allow_states(&mut self, are_allowed: bool) {
        self.are_states_allowed = are_allowed;
    }

    /// Stores the saved state of a node that has none; whether there was room for it.
    pub(crate) fn keep(&mut self, node: Node, state: &[u8]) -> bool {
        if !self.are_states_allowed {
            return false;
        }
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

    /// The initial state that a node is reached from.
    pub(crate) fn start(&self, node: Node) -> &InitialState {
        let mut at = node;
        while let Some((parent, _)) = self.parent(at) {
            at = parent;
        }
        &self.starts[self.entries[at.index()].start as usize]
    }

    /// The shortest way to a node for a system that is at `here`: where it starts, and the nodes on it.
    pub(crate) fn way(&self, node: Node, here: Option<Node>, nodes: &mut Vec<Node>) -> Origin<'_> {
        nodes.clear();
        let mut at = node;
        let from = loop {
            if here == Some(at) {
                break Origin::Here;
            }
            if let Some(state) = self.state(at) {
                break Origin::State(state);
            }
            let Some((parent, _)) = self.parent(at) else { break Origin::Reset(self.start(at)) };
            nodes.push(at);
            at = parent;
        };
        nodes.reverse();
        from
    }
}

impl Entry {
    const EMPTY: Entry = Entry {
        parent: None,
        child: None,
        sibling: None,
        state: None,
        start: 0,
        action: 0,
        verdict: Verdict::Running,
        is_dead: false,
        is_used: false,
    };
}

/// Makes room for `more` items, by an eighth of what there is or as much as is needed, if the free memory suffices.
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
mod tests;

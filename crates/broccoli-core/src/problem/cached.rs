//! A system with a cache: to the search it looks like one that comes back to any state for nothing.
//!
//! The search has a position, a node of the cache; the system follows only when it must be asked something
//! that is not known. When the cache is full the search leaves it: its position is then the last node, and
//! the actions since.

use super::cache::{Node, Origin, Shared};
use super::{ComeBack, Instance, RunError, Verdict};

/// Where the search and the system are.
pub(super) struct Cached {
    cache: Shared,
    /// The last node on the way, and the actions since.
    node: Option<Node>,
    tail: Vec<u16>,
    /// The system's own saved state of the position, if the search came back to it from one.
    state: Vec<u8>,
    /// Where the system is, if that is a node; and whether it is where the search is.
    system: Option<Node>,
    is_here: bool,
    /// That of the cache when it was last reset.
    generation: u64,
    /// The actions that bring the system to the search.
    way: Vec<u16>,
}

impl Cached {
    pub(super) fn new(cache: Shared) -> Self {
        Cached {
            cache,
            node: None,
            tail: Vec::new(),
            state: Vec::new(),
            system: None,
            is_here: false,
            generation: 0,
            way: Vec::new(),
        }
    }

    /// Whether it is not known what an action does here. Then the system is brought here.
    pub(super) fn is_ready(&mut self, instance: &mut Instance<'_>, action: usize) -> Result<bool, RunError> {
        let is_known = |node| self.cache.lock().child(node, action).is_some();
        if self.tail.is_empty() && self.node.is_some_and(is_known) {
            return Ok(false);
        }
        self.bring(instance)?;
        Ok(true)
    }

    pub(super) fn reset(&mut self, instance: &mut Instance<'_>, initial: usize) -> Result<Verdict, RunError> {
        self.tail.clear();
        self.state.clear();
        (instance.initial, instance.steps) = (initial, 0);
        let generation = self.cache.lock().generation();
        if std::mem::replace(&mut self.generation, generation) != generation {
            self.system = None;
        }
        self.node = self.cache.lock().root(initial);
        if let Some(root) = self.node {
            self.is_here = self.system == Some(root);
            return Ok(self.cache.lock().answer(root, &mut instance.observation));
        }
        (self.system, self.is_here) = (None, false);
        let verdict = instance.reset_system(initial)?;
        self.node = self.cache.lock().add_root(initial, verdict, &instance.observation);
        (self.system, self.is_here) = (self.node, true);
        Ok(verdict)
    }

    pub(super) fn step(&mut self, instance: &mut Instance<'_>, action: usize) -> Result<Verdict, RunError> {
        if self.tail.is_empty()
            && let Some(node) = self.node
        {
            let cache = self.cache.lock();
            if let Some(child) = cache.child(node, action) {
                self.node = Some(child);
                self.is_here = self.system == Some(child);
                instance.hits += 1;
                instance.steps += 1;
                instance.reward = cache.reward(child);
                return Ok(cache.answer(child, &mut instance.observation));
            }
        }
        self.bring(instance)?;
        (self.system, self.is_here) = (None, false);
        let verdict = instance.step_system(action)?;
        let child = match self.node {
            Some(node) if self.tail.is_empty() => {
                self.cache.lock().add_child(node, action, (verdict, instance.reward), &instance.observation)
            }
            _ => None,
        };
        match child {
            Some(child) => (self.node, self.system) = (Some(child), Some(child)),
            None => self.tail.push(action as u16),
        }
        self.is_here = true;
        Ok(verdict)
    }

    /// Appends the position; and, where the cache does not know it, the system's own saved state.
    pub(super) fn save(&mut self, instance: &mut Instance<'_>, state: &mut Vec<u8>) -> Result<(), RunError> {
        let can_save = self.is_here && instance.system.come_back() != ComeBack::Replay;
        if self.tail.is_empty()
            && can_save
            && let Some(node) = self.node
            && !self.cache.lock().has_state(node)
        {
            let mut own = Vec::new();
            instance.save_system(&mut own)?;
            self.cache.lock().keep(node, &own);
        }
        state.extend(self.node.map(Node::to_bytes).unwrap_or_default());
        state.extend((self.tail.len() as u32).to_le_bytes());
        state.extend(self.tail.iter().flat_map(|action| action.to_le_bytes()));
        if can_save && !self.tail.is_empty() {
            instance.save_system(state)?;
        }
        Ok(())
    }

    /// Goes to a position; the system stays where it is.
    pub(super) fn restore(&mut self, state: &[u8]) {
        let (node, rest) = state.split_first_chunk::<4>().unwrap_or((&[0; 4], &[]));
        let (count, rest) = rest.split_first_chunk::<4>().unwrap_or((&[0; 4], &[]));
        let (tail, own) = rest.split_at(rest.len().min(2 * u32::from_le_bytes(*count) as usize));
        self.node = Node::from_bytes(*node);
        self.tail.clear();
        self.tail.extend(tail.chunks_exact(2).map(|action| u16::from_le_bytes([action[0], action[1]])));
        self.state.clear();
        self.state.extend_from_slice(own);
        self.is_here = self.tail.is_empty() && self.node.is_some() && self.system == self.node;
    }

    /// Brings the system to where the search is.
    fn bring(&mut self, instance: &mut Instance<'_>) -> Result<(), RunError> {
        if self.is_here {
            return Ok(());
        }
        let here = self.system.take();
        let steps = instance.steps;
        if self.tail.is_empty() || self.state.is_empty() {
            self.way.clear();
            let cache = self.cache.lock();
            let origin = match self.node {
                Some(node) => cache.way(node, here, &mut self.way),
                None => Origin::Reset,
            };
            self.way.extend_from_slice(&self.tail);
            match origin {
                Origin::Here => instance.steps = steps - self.way.len() as u64,
                Origin::State(state) => {
                    let state = state.to_vec();
                    drop(cache);
                    instance.steps = steps - self.way.len() as u64;
                    instance.restore_system(&state)?;
                }
                Origin::Reset => {
                    drop(cache);
                    instance.reset_system(instance.initial)?;
                }
            }
        } else {
            self.way.clear();
            instance.restore_system(&self.state)?;
        }
        for &action in &self.way {
            instance.pass()?;
            instance.replayed += 1;
            instance.step_system(usize::from(action))?;
        }
        self.is_here = true;
        self.system = self.node.filter(|_| self.tail.is_empty());
        if !self.way.is_empty()
            && instance.system.come_back() != ComeBack::Replay
            && let Some(node) = self.system
        {
            // So that this way need not be taken again.
            let mut own = Vec::new();
            instance.save_system(&mut own)?;
            self.cache.lock().keep(node, &own);
        }
        Ok(())
    }
}

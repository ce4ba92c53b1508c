//! How a system comes to where it is to be asked; and how it is asked again for some of what was read from a file.

use std::sync::Arc;

use broccoli_core::problem::{ComeBack, InitialState, Reply, SystemError};

use super::{Remembering, SHORT_STATE};
use crate::trie::{ActionId, Answer, Node, Origin};

impl Remembering {
    /// The index of an action that is known by its number.
    pub(super) fn index_of(&self, id: ActionId) -> Result<u16, SystemError> {
        let index = self.actions.iter().position(|&known| known == Some(id));
        index.map(|index| index as u16).ok_or_else(|| SystemError::new("a place of another system"))
    }

    /// The system goes to where the way to the search begins.
    pub(super) fn set_out(&mut self) -> Result<(), SystemError> {
        let there = self.there.take();
        (self.made, self.is_on_the_way) = (0, true);
        self.way.clear();
        if !self.own.is_empty() {
            self.system.restore(&self.own).map_err(|error| lost("restoring", &error))?;
            return self.arrive();
        }
        let mut nodes = Vec::new();
        let store = Arc::clone(&self.store);
        let memory = store.lock();
        let origin = match self.node {
            Some(node) => memory.trie.way(node, there, &mut nodes),
            None => Origin::Reset(&self.initial),
        };
        for &node in &nodes {
            let Some((_, id)) = memory.trie.parent(node) else { continue };
            self.way.push((self.index_of(id)?, Some(node)));
        }
        self.way.extend(self.tail.iter().map(|&action| (action, None)));
        match origin {
            Origin::Here => drop(memory),
            Origin::State(state) => {
                let state = state.to_vec();
                drop(memory);
                self.system.restore(&state).map_err(|error| lost("restoring", &error))?;
            }
            Origin::Reset(initial) => {
                let initial = initial.clone();
                drop(memory);
                self.reset_system(&initial)?;
            }
        }
        if self.way.is_empty() { self.arrive() } else { Ok(()) }
    }

    /// Resets the system on the way to somewhere, which must do what it did.
    pub(super) fn reset_system(&mut self, initial: &InitialState) -> Result<(), SystemError> {
        let reply = self.system.reset(initial, &mut self.seen)?;
        let root = self.store.lock().trie.root(initial);
        root.map_or(Ok(()), |root| self.compare(root, Reply::from(reply.verdict)))
    }

    /// The system has answered again at a node.
    pub(super) fn compare(&self, node: Node, reply: Reply) -> Result<(), SystemError> {
        let now = Answer { verdict: reply.verdict, reward: reply.reward, observation: &self.seen };
        let mut memory = self.store.lock();
        if memory.trie.answer(node).agrees(&now) { Ok(()) } else { Err(memory.differs(node, &now.shown())) }
    }

    /// The system is where the search is.
    pub(super) fn arrive(&mut self) -> Result<(), SystemError> {
        (self.is_on_the_way, self.is_here) = (false, true);
        self.there = self.node.filter(|_| self.tail.is_empty());
        let Some(node) = self.there.filter(|_| !self.way.is_empty()) else { return Ok(()) };
        // So that this way need not be taken again.
        self.keep_state(node).map_err(|error| lost("saving", &error))
    }

    /// Whether the state is kept after every step: it costs nothing, or is short and spares the next search to come back.
    pub(super) fn is_saved_always(&self) -> bool {
        match self.come_back {
            ComeBack::Replay => false,
            ComeBack::Clone => true,
            ComeBack::Snapshot => self.is_lasting && self.longest_state <= SHORT_STATE,
        }
    }

    /// Keeps the state of a node where the system is, if that helps and is not done.
    pub(super) fn keep_state(&mut self, node: Node) -> Result<(), SystemError> {
        if self.come_back == ComeBack::Replay || self.store.lock().trie.state(node).is_some() {
            return Ok(());
        }
        let mut state = Vec::new();
        self.system.save(&mut state)?;
        self.longest_state = self.longest_state.max(state.len());
        let mut memory = self.store.lock();
        if memory.trie.state(node).is_none() && !memory.keep(node, &state) {
            self.own = state;
        }
        Ok(())
    }

    /// Makes a step on the way to the search, which must do what it did.
    pub(super) fn take_way(&mut self) -> Result<(), SystemError> {
        let Some(&(action, node)) = self.way.get(self.made) else { return Ok(()) };
        // Should it fail, it has to set out anew.
        self.is_on_the_way = false;
        let reply = self.system.step(usize::from(action), &mut self.seen)?;
        if let Some(node) = node {
            self.compare(node, reply)?;
        }
        self.made += 1;
        self.is_on_the_way = true;
        if self.made == self.way.len() { self.arrive() } else { Ok(()) }
    }

    /// Begins to ask again for some of what was read.
    pub(super) fn begin_again(&mut self, nodes: Vec<Node>) -> Result<(), SystemError> {
        (self.there, self.is_here, self.is_on_the_way) = (None, false, false);
        let store = Arc::clone(&self.store);
        let memory = store.lock();
        let first = nodes.first().and_then(|&node| memory.trie.parent(node));
        self.again = Some((nodes, 0));
        let Some((parent, _)) = first else { return Ok(()) };
        match memory.trie.way(parent, None, &mut Vec::new()) {
            Origin::State(state) => {
                let state = state.to_vec();
                drop(memory);
                self.system.restore(&state).map_err(|error| lost("restoring", &error))
            }
            _ => {
                let initial = memory.trie.start(parent).clone();
                drop(memory);
                self.reset_system(&initial)
            }
        }
    }

    /// Asks again for one answer.
    pub(super) fn ask_again(&mut self) -> Result<(), SystemError> {
        let Some((nodes, asked)) = &mut self.again else { return Ok(()) };
        let (node, is_last) = (nodes[*asked], *asked + 1 == nodes.len());
        *asked += 1;
        let parent = self.store.lock().trie.parent(node);
        let Some((_, id)) = parent else { return Ok(()) };
        let action = self.index_of(id)?;
        let reply = self.system.step(usize::from(action), &mut self.seen)?;
        self.compare(node, reply)?;
        let mut memory = self.store.lock();
        memory.usage.again += 1;
        if is_last {
            self.again = None;
            memory.asking -= 1;
        }
        Ok(())
    }

    /// What was begun to be asked again is to be asked by somebody else.
    pub(super) fn hand_back(&mut self) {
        if let Some((nodes, _)) = self.again.take() {
            let mut memory = self.store.lock();
            memory.again.push(nodes);
            memory.asking -= 1;
        }
    }
}

/// The error of a system that could not save or restore its state.
pub(super) fn lost(doing: &str, error: &SystemError) -> SystemError {
    SystemError::new(format!("the system failed at {doing} its state: {error}"))
}

//! A system that remembers: to the search it looks like one that comes back to any place for nothing.
//!
//! The search has a position, a node of the trie; the system follows only when it must be asked something that is not
//! known. When the trie is full the search leaves it: its position is then the last node, and the actions since.

pub(crate) mod claims;
mod place;
mod way;

use std::ops::Deref;
use std::sync::Arc;

use broccoli_core::problem::{
    Action, ComeBack, InitialState, Memory as Remembers, Needs, Reply, System, SystemError, SystemFactory,
    Verdict,
};

use crate::memory::{Memory, Store};
use crate::trie::{ActionId, Answer, Node};
use place::Place;
use way::lost;

/// A snapshot of so many bytes is short.
const SHORT_STATE: usize = 4 << 10;

/// A factory whose systems remember what they have answered, together.
pub struct Remembered<F> {
    factory: F,
    store: Arc<Store>,
    actions: Arc<[Option<ActionId>]>,
    /// Whether an answer without a reward will not do.
    wants_rewards: bool,
}

impl<F> Remembered<F>
where
    F: Deref + Send + Sync,
    F::Target: SystemFactory,
{
    /// The same systems, with these actions, and a store for what they answer; if rewards are wanted, an answer without
    /// one is asked for again.
    pub fn new(factory: F, store: Arc<Store>, actions: &[Action], wants_rewards: bool) -> Self {
        let mut memory = store.lock();
        let id = |action: &Action| memory.action(&(action.name.clone(), (action.value + 0.0).to_bits()));
        let actions: Vec<Option<ActionId>> = actions.iter().map(id).collect();
        memory.begin(&actions);
        drop(memory);
        Remembered { factory, store, actions: actions.into(), wants_rewards }
    }
}

impl<F> SystemFactory for Remembered<F>
where
    F: Deref + Send + Sync,
    F::Target: SystemFactory,
{
    fn make(&self) -> Result<Box<dyn System>, SystemError> {
        let system = self.factory.make()?;
        let memory = self.store.lock();
        let (observed, is_lasting) = (memory.trie.observed(), memory.are_states_lasting);
        drop(memory);
        Ok(Box::new(Remembering {
            come_back: system.come_back(),
            system,
            store: Arc::clone(&self.store),
            actions: Arc::clone(&self.actions),
            wants_rewards: self.wants_rewards,
            initial: InitialState::new([0.0; 0]),
            node: None,
            tail: Vec::new(),
            own: Vec::new(),
            there: None,
            is_here: false,
            way: Vec::new(),
            made: 0,
            is_on_the_way: false,
            again: None,
            always: false,
            decided: None,
            claimed: None,
            seen: vec![0.0; observed],
            is_lasting,
            longest_state: 0,
        }))
    }

    fn is_quick(&self) -> bool {
        self.factory.is_quick()
    }
}

struct Remembering {
    system: Box<dyn System>,
    come_back: ComeBack,
    store: Arc<Store>,
    actions: Arc<[Option<ActionId>]>,
    /// Whether an answer without a reward will not do.
    wants_rewards: bool,
    /// Where the search is: the initial state, the last node on the way, and the actions since; and the system's own
    /// saved state of just this place, if the search came back to it with one.
    initial: InitialState,
    node: Option<Node>,
    tail: Vec<u16>,
    own: Vec<u8>,
    /// Where the system is, if that is a node; and whether it is where the search is.
    there: Option<Node>,
    is_here: bool,
    /// The steps that bring the system to the search: actions, and where they lead; how many are made; and whether any
    /// are to be made.
    way: Vec<(u16, Option<Node>)>,
    made: usize,
    is_on_the_way: bool,
    /// What is being asked again before the store is believed, and how much of it was.
    again: Option<(Vec<Node>, usize)>,
    /// Whether nothing is answered from memory.
    always: bool,
    /// The action that was said to need a query here. That stays so, whatever others find out meanwhile.
    decided: Option<usize>,
    /// What it says that it asks now.
    claimed: Option<(Node, ActionId)>,
    seen: Vec<f64>,
    /// Whether states go into a file; and the longest one so far.
    is_lasting: bool,
    longest_state: usize,
}

impl Remembering {
    /// The node after an action, if that is known well enough.
    fn known(&self, memory: &Memory, action: usize) -> Option<Node> {
        let (node, id) = (self.node?, (*self.actions.get(action)?)?);
        let child = memory.trie.child(node, id).filter(|_| self.tail.is_empty())?;
        (!self.wants_rewards || memory.trie.answer(child).reward.is_some()).then_some(child)
    }

    /// Whether an answer can be stored.
    fn is_storable(reply: Reply, observation: &[f64]) -> bool {
        reply.reward.is_none_or(f64::is_finite) && !observation.iter().any(|value| value.is_nan())
    }

    /// The system has made the search's own step.
    fn take_answer(&mut self, action: usize, reply: Reply, observation: &[f64]) -> Result<(), SystemError> {
        let answer = Answer { verdict: reply.verdict, reward: reply.reward, observation };
        let id = self.actions.get(action).copied().flatten();
        let mut memory = self.store.lock();
        let place = self.node.filter(|_| self.tail.is_empty()).zip(id);
        let child = match place.map(|(node, id)| (node, id, memory.trie.child(node, id))) {
            Some((_, _, Some(child))) => {
                let before = memory.trie.answer(child);
                if !before.agrees(&answer) {
                    return Err(memory.differs(child, &answer.shown()));
                }
                if let (None, Some(reward)) = (before.reward, reply.reward.filter(|it| it.is_finite())) {
                    memory.set_reward(child, reward);
                }
                Some(child)
            }
            Some((node, id, None)) if Remembering::is_storable(reply, observation) => {
                memory.add_child(node, id, answer)
            }
            _ => None,
        };
        drop(memory);
        match child {
            Some(child) => {
                (self.node, self.there) = (Some(child), Some(child));
                if self.is_saved_always() && reply.verdict == Verdict::Running {
                    self.keep_state(child).map_err(|error| lost("saving", &error))?;
                }
            }
            None => self.tail.push(action as u16),
        }
        self.is_here = true;
        self.store.lock().written();
        Ok(())
    }
}

impl Remembers for Remembering {
    fn needs(&mut self, action: usize) -> Result<Needs, SystemError> {
        let mut memory = self.store.lock();
        if let Some(refused) = &memory.refused {
            return Err(refused.clone());
        }
        if self.decided == Some(action) {
            return Ok(Needs::Query);
        }
        if !self.always {
            if self.again.is_some() {
                return Ok(Needs::Way);
            }
            if let Some(nodes) = memory.again.pop() {
                memory.asking += 1;
                drop(memory);
                self.begin_again(nodes)?;
                return Ok(Needs::Way);
            }
            if memory.is_trusted() && self.known(&memory, action).is_some() {
                return Ok(Needs::Nothing);
            }
        }
        drop(memory);
        if !self.always && self.claim(action).is_err() {
            return Ok(Needs::Nothing);
        }
        if !self.is_here && !self.is_on_the_way {
            let _working = self.work();
            self.set_out()?;
        }
        if !self.is_here {
            return Ok(Needs::Way);
        }
        self.decided = Some(action);
        Ok(Needs::Query)
    }

    fn approach(&mut self) -> Result<(), SystemError> {
        let _working = self.work();
        if self.again.is_some() { self.ask_again() } else { self.take_way() }
    }

    fn ask_always(&mut self) {
        self.always = true;
        self.hand_back();
    }

    fn complete_state(&mut self, state: &mut Vec<u8>) -> Result<(), SystemError> {
        if self.come_back != ComeBack::Clone {
            return Ok(());
        }
        if let Some(node) = self.node.filter(|_| self.tail.is_empty())
            && let Some(known) = self.store.lock().trie.state(node)
        {
            state.extend_from_slice(known);
            return Ok(());
        }
        // Hardly ever: there was no room for it.
        while !self.is_here {
            if self.is_on_the_way { self.take_way()? } else { self.set_out()? }
        }
        self.system.save(state)
    }
}

impl System for Remembering {
    fn reset(&mut self, initial: &InitialState, observation: &mut [f64]) -> Result<Reply, SystemError> {
        self.tail.clear();
        self.own.clear();
        (self.is_on_the_way, self.decided) = (false, None);
        self.initial = initial.clone();
        self.give_up_claim();
        let mut memory = self.store.lock();
        if let Some(refused) = &memory.refused {
            return Err(refused.clone());
        }
        let root = memory.trie.root(initial);
        if let Some(root) = root.filter(|_| !self.always && memory.is_trusted()) {
            memory.use_answer(root);
            let answer = memory.trie.answer(root);
            observation.copy_from_slice(answer.observation);
            (self.node, self.is_here) = (Some(root), self.there == Some(root));
            return Ok(answer.reply());
        }
        drop(memory);
        self.hand_back();
        (self.node, self.there, self.is_here) = (None, None, false);
        let reply = self.system.reset(initial, observation)?;
        let answer = Answer { verdict: reply.verdict, reward: None, observation };
        let mut memory = self.store.lock();
        let node = match memory.trie.root(initial) {
            Some(root) if memory.trie.answer(root).agrees(&answer) => Some(root),
            Some(root) => return Err(memory.differs(root, &answer.shown())),
            None if Remembering::is_storable(reply, observation) => memory.add_root(initial, answer),
            None => None,
        };
        drop(memory);
        (self.node, self.there, self.is_here) = (node, node, true);
        if let Some(node) = node.filter(|_| self.is_saved_always()) {
            self.keep_state(node).map_err(|error| lost("saving", &error))?;
            self.store.lock().written();
        }
        Ok(reply)
    }

    fn step(&mut self, action: usize, observation: &mut [f64]) -> Result<Reply, SystemError> {
        loop {
            match self.needs(action)? {
                Needs::Query => break,
                Needs::Way => self.approach()?,
                Needs::Nothing => {
                    let mut memory = self.store.lock();
                    let Some(child) = self.known(&memory, action) else { continue };
                    memory.use_answer(child);
                    let answer = memory.trie.answer(child);
                    observation.copy_from_slice(answer.observation);
                    let reply = answer.reply();
                    drop(memory);
                    self.own.clear();
                    (self.is_on_the_way, self.decided) = (false, None);
                    (self.node, self.is_here) = (Some(child), self.there == Some(child));
                    return Ok(reply);
                }
            }
        }
        (self.there, self.is_here, self.decided) = (None, false, None);
        self.own.clear();
        let working = self.work();
        let stepped = self.system.step(action, observation);
        let taken = stepped.and_then(|reply| self.take_answer(action, reply, observation).map(|()| reply));
        drop(working);
        self.give_up_claim();
        taken
    }

    /// Whatever the system itself can do: places are nodes.
    fn come_back(&self) -> ComeBack {
        ComeBack::Snapshot
    }

    fn save(&mut self, state: &mut Vec<u8>) -> Result<(), SystemError> {
        let is_saved = self.is_here && self.come_back != ComeBack::Replay;
        let node = self.node.filter(|_| self.tail.is_empty());
        if let Some(node) = node.filter(|_| is_saved) {
            self.keep_state(node)?;
        } else if is_saved && self.own.is_empty() {
            self.system.save(&mut self.own)?;
        }
        let number = self.node.map_or(0, |node| node.index() as u32 + 1);
        state.extend_from_slice(&number.to_le_bytes());
        if number == 0 {
            let values = self.initial.values();
            state.extend_from_slice(&(values.len() as u32).to_le_bytes());
            values.iter().for_each(|value| state.extend_from_slice(&value.to_le_bytes()));
        }
        state.extend_from_slice(&(self.tail.len() as u32).to_le_bytes());
        self.tail.iter().for_each(|action| state.extend_from_slice(&action.to_le_bytes()));
        state.extend_from_slice(&self.own);
        Ok(())
    }

    /// Goes to a place; the system stays where it is.
    fn restore(&mut self, state: &[u8]) -> Result<(), SystemError> {
        let mut place = Place(state);
        let (node, initial, tail) = place
            .read()
            .ok_or_else(|| SystemError::new("this is not the place of a system that remembers"))?;
        if node.is_some_and(|node| node.index() >= self.store.lock().trie.len()) {
            return Err(SystemError::new("this is a place of another system"));
        }
        self.give_up_claim();
        self.node = node;
        if let Some(initial) = initial {
            self.initial = initial;
        }
        self.tail = tail;
        self.own.clear();
        self.own.extend_from_slice(place.0);
        (self.is_on_the_way, self.decided) = (false, None);
        self.is_here = self.tail.is_empty() && self.node.is_some() && self.there == self.node;
        Ok(())
    }

    fn memory(&mut self) -> Option<&mut dyn Remembers> {
        Some(self)
    }
}

impl Drop for Remembering {
    fn drop(&mut self) {
        self.give_up_claim();
        self.hand_back();
    }
}

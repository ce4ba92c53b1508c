//! What all systems of one factory share: what is known, what of it is still to be asked again, and the file.

use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use broccoli_core::problem::{InitialState, SystemError};

use crate::file::{self, StoreError, Writer};
use crate::read::{Found, Identity};
use crate::record::{LONGEST_STATE, write_action, write_reward, write_root, write_state, write_step};
use crate::remembered::claims::Claims;
use crate::trie::{ActionId, ActionKey, Answer, Node, Trie};

/// How long an answer may wait to be written. A system that takes longer for one loses none when it is killed.
const PATIENCE: Duration = Duration::from_millis(1);
/// A block is written when it has so many bytes, at the latest.
const BLOCK: usize = 1 << 20;
/// Of what was read from a file so many steps are made again, at least and at most.
const LEAST_AGAIN: usize = 8;
const MOST_AGAIN: usize = 256;
/// A message shows so many actions.
const MOST_SHOWN: usize = 8;

/// How a store is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Answers to steps that were in the file.
    pub read: u64,
    /// Of them, those that somebody wanted to know.
    pub reused: u64,
    /// Steps that were made again to see whether the system is still the same.
    pub again: u64,
    /// Answers to steps that were added.
    pub added: u64,
}

/// What a store may take and keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// The most bytes of memory.
    pub bytes: usize,
    /// Whether saved states go into the file and are taken from it: another process has to be able to go on from them,
    /// and the system must not mind who has written them.
    pub are_states_lasting: bool,
}

/// Told what a user should know, as it happens.
pub type Tell = Box<dyn Fn(&str) + Send + Sync>;

pub(crate) struct Memory {
    pub(crate) trie: Trie,
    /// So many nodes come from a file.
    read: usize,
    /// What is to be asked again before anything that was read is believed, and how much of it is being asked: nodes
    /// one after the other, the first of them after a saved state or a reset.
    pub(crate) again: Vec<Vec<Node>>,
    pub(crate) asking: usize,
    is_begun: bool,
    /// Why nothing of it is believed any more.
    pub(crate) refused: Option<SystemError>,
    writer: Option<Writer>,
    /// The file, if there is one.
    path: Option<PathBuf>,
    tell: Tell,
    /// What is to be written: records, and how many nodes; and since when.
    records: Vec<u8>,
    nodes: usize,
    written: Instant,
    is_full: bool,
    pub(crate) are_states_lasting: bool,
    /// What somebody is asking now.
    pub(crate) claims: Claims,
    pub(crate) usage: Usage,
}

/// What systems have answered, to be shared by all that ask the same system.
pub struct Store(Mutex<Memory>, Condvar);

impl Store {
    /// An empty store in memory for a system that observes so many values; it takes at most so many bytes.
    pub fn in_memory(observed: usize, bytes: usize) -> Self {
        Store::of(Trie::new(observed, bytes), None, Box::new(|_| {}))
    }

    /// The store in a file, which is begun if it is not there. `tell` is told
    /// what a user should know: that something is damaged, that nothing more can be written.
    ///
    /// # Errors
    /// When the file is something else, of another system, in use, or cannot be read.
    pub fn open(
        path: &Path,
        identity: &Identity,
        observed: usize,
        room: Room,
        tell: Tell,
    ) -> Result<Self, StoreError> {
        let mut trie = Trie::new(observed, room.bytes);
        trie.allow_states(room.are_states_lasting);
        let (writer, found) = file::open(path, identity, &mut trie)?;
        trie.allow_states(true);
        for line in told(path, &found) {
            tell(&line);
        }
        let store = Store::of(trie, Some(writer), tell);
        {
            let mut memory = store.lock();
            memory.usage.read = memory.trie.transitions().count() as u64;
            memory.is_full = found.is_full;
            memory.are_states_lasting = room.are_states_lasting;
        }
        Ok(store)
    }

    fn of(trie: Trie, writer: Option<Writer>, tell: Tell) -> Self {
        let memory = Memory {
            read: trie.len(),
            trie,
            again: Vec::new(),
            asking: 0,
            is_begun: false,
            refused: None,
            path: writer.as_ref().map(|writer| writer.path().to_owned()),
            writer,
            tell,
            records: Vec::new(),
            nodes: 0,
            written: Instant::now(),
            is_full: false,
            are_states_lasting: false,
            claims: Claims::default(),
            usage: Usage::default(),
        };
        Store(Mutex::new(memory), Condvar::new())
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets others have the memory until one of them has an answer, or for so long.
    pub(crate) fn wait<'m>(&self, memory: MutexGuard<'m, Memory>, most: Duration) -> MutexGuard<'m, Memory> {
        self.1.wait_timeout(memory, most).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Somebody has an answer.
    pub(crate) fn notify(&self) {
        self.1.notify_all();
    }

    /// How it was used so far.
    pub fn usage(&self) -> Usage {
        self.lock().usage
    }

    /// Writes what is not written yet.
    pub fn flush(&self) {
        self.lock().write();
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.flush();
    }
}

/// What a user should know of a file that was read.
fn told(path: &Path, found: &Found) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(at) = found.refused_at {
        lines.push(format!(
            "warning: {path:?} is damaged at byte {at}: {} bytes are refused, and {} answers that depend on them",
            found.refused_bytes, found.orphans
        ));
    }
    if found.torn > 0 {
        lines.push(format!(
            "{path:?} ends within a block, as after a crash: its last {} bytes are cut off",
            found.torn
        ));
    }
    if found.is_full {
        lines.push(format!(
            "warning: {path:?} holds more than there is memory for: the rest is not used, and nothing is added"
        ));
    }
    lines
}

impl Memory {
    /// Whether what was read from a file can be believed.
    pub(crate) fn is_trusted(&self) -> bool {
        self.again.is_empty() && self.asking == 0
    }

    pub(crate) fn is_from_file(&self, node: Node) -> bool {
        node.index() < self.read
    }

    /// Chooses what is to be asked again, once: random nodes that a system with these actions can get to.
    pub(crate) fn begin(&mut self, actions: &[Option<ActionId>]) {
        if std::mem::replace(&mut self.is_begun, true) {
            return;
        }
        let is_known = |action: ActionId| actions.contains(&Some(action));
        let nodes: Vec<Node> = self.trie.transitions().collect();
        let most = (LEAST_AGAIN + 2 * nodes.len().isqrt()).min(MOST_AGAIN);
        // Other ones each time, as the store grows.
        let mut seed = nodes.len() as u64;
        let mut left = most;
        for _ in 0..4 * most {
            if left == 0 || nodes.is_empty() {
                break;
            }
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let mut at = nodes[(seed >> 33) as usize % nodes.len()];
            let (mut way, mut is_possible) = (Vec::new(), true);
            while let Some((parent, action)) = self.trie.parent(at) {
                is_possible &= is_known(action);
                way.push(at);
                at = parent;
                if self.trie.state(at).is_some() {
                    break;
                }
            }
            if is_possible {
                way.reverse();
                way.truncate(left);
                left -= way.len();
                self.again.push(way);
            }
        }
        self.again.reverse();
    }

    /// An answer is given to somebody.
    pub(crate) fn use_answer(&mut self, node: Node) {
        let is_new = self.trie.use_answer(node) && self.is_from_file(node);
        self.usage.reused += u64::from(is_new && self.trie.parent(node).is_some());
    }

    /// The system has given another answer at a node than before: why nothing goes on from here.
    pub(crate) fn differs(&mut self, node: Node, now: &str) -> SystemError {
        let mut actions = Vec::new();
        let mut at = node;
        while let Some((parent, action)) = self.trie.parent(at) {
            actions.push(self.trie.name(action).unwrap_or_default());
            at = parent;
        }
        actions.reverse();
        let way = match &actions[..] {
            [] => "the same reset".to_owned(),
            [action] => format!("the same action ({action})"),
            more if more.len() <= MOST_SHOWN => {
                format!("the same {} actions ({})", more.len(), more.join(", "))
            }
            more => {
                let last = more[more.len() - MOST_SHOWN..].join(", ");
                format!("the same {} actions (… {last})", more.len())
            }
        };
        let from = self.trie.start(node).values().to_vec();
        let before = self.trie.answer(node).shown();
        let what = format!("from initial state {from:?}, {way} gave {before} before and {now} now");
        match &self.path {
            Some(path) if self.is_from_file(node) => {
                let error = SystemError::new(format!(
                    "the system is not the one whose answers are in {path:?}, and nothing of that is used: {what}"
                ));
                self.refused = Some(error.clone());
                error
            }
            _ => SystemError::new(format!("it is not deterministic: {what}")),
        }
    }

    /// The number of an action, which is known from now on; none if there is no room.
    pub(crate) fn action(&mut self, key: &ActionKey) -> Option<ActionId> {
        if let Some(id) = self.trie.action(key) {
            return Some(id);
        }
        let id = self.trie.add_action(key.clone())?;
        write_action(id, key, &mut self.records);
        Some(id)
    }

    pub(crate) fn add_root(&mut self, initial: &InitialState, answer: Answer<'_>) -> Option<Node> {
        if self.is_full {
            return None;
        }
        let node = self.trie.add_root(initial, answer);
        match node {
            Some(node) => {
                write_root(self.trie.start(node).values(), answer, &mut self.records);
                self.nodes += 1;
                self.written();
            }
            None => self.fill_up(),
        }
        node
    }

    pub(crate) fn add_child(&mut self, parent: Node, action: ActionId, answer: Answer<'_>) -> Option<Node> {
        if self.is_full {
            return None;
        }
        let node = self.trie.add_child(parent, action, answer);
        if node.is_some() {
            write_step(parent, action, answer, &mut self.records);
            self.nodes += 1;
            self.usage.added += 1;
        } else {
            self.fill_up();
        }
        node
    }

    /// A step that was made without a reward was made again with one.
    pub(crate) fn set_reward(&mut self, node: Node, reward: f64) {
        self.trie.set_reward(node, reward);
        if !self.is_full {
            write_reward(node, reward, &mut self.records);
        }
    }

    /// Keeps a state of a node that has none; whether there is room.
    pub(crate) fn keep(&mut self, node: Node, state: &[u8]) -> bool {
        let is_kept = self.trie.keep(node, state);
        if is_kept && self.are_states_lasting && !self.is_full && state.len() <= LONGEST_STATE {
            write_state(node, state, &mut self.records);
        }
        is_kept
    }

    /// Something became known and is to be written soon.
    pub(crate) fn written(&mut self) {
        if self.writer.is_none() {
            self.records.clear();
            self.nodes = 0;
        } else if self.records.len() >= BLOCK || self.written.elapsed() >= PATIENCE {
            self.write();
        }
    }

    fn write(&mut self) {
        if self.records.is_empty() {
            return;
        }
        let (records, nodes) = (std::mem::take(&mut self.records), std::mem::take(&mut self.nodes));
        let Some(writer) = &mut self.writer else { return };
        if let Err(error) = writer.append(&records, nodes) {
            (self.tell)(&format!(
                "warning: nothing more can be remembered in {:?}: {error}; what is in it stays, and the search goes on",
                writer.path()
            ));
            self.writer = None;
        }
        self.written = Instant::now();
    }

    /// There is no more room in memory: nothing more is stored.
    fn fill_up(&mut self) {
        self.write();
        self.is_full = true;
        if let Some(writer) = self.writer.take() {
            (self.tell)(&format!(
                "the memory for what is remembered is used up: nothing more is added to {:?}",
                writer.path()
            ));
        }
    }
}

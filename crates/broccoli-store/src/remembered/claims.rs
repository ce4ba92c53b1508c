//! Nobody asks what somebody else is asking at the same time: it waits for the answer. So the number of queries does not
//! depend on who asks first.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Remembering;
use crate::memory::{Memory, Store};
use crate::trie::{ActionId, Node};

/// Who says that it will ask something and does not for so long, because its search was stopped, is not waited for.
const PATIENCE: Duration = Duration::from_millis(500);

/// A transition that somebody asks for.
type Key = (Node, ActionId);

/// What is being asked.
#[derive(Debug, Default)]
pub(crate) struct Claims(BTreeMap<Key, Claim>);

#[derive(Clone, Copy, Debug)]
struct Claim {
    /// Whether the system is at work for it; and since when that is so, or is not.
    is_busy: bool,
    since: Instant,
}

impl Claims {
    fn is_free(&self, key: Key) -> bool {
        self.0.get(&key).is_none_or(|claim| !claim.is_busy && claim.since.elapsed() > PATIENCE)
    }
}

impl Remembering {
    /// Waits until nobody else asks what an action does here, and then claims that, unless it is known now.
    pub(super) fn claim(&mut self, action: usize) -> Result<(), ()> {
        let place = self.node.filter(|_| self.tail.is_empty());
        let Some(key) = place.zip(self.actions.get(action).copied().flatten()) else { return Ok(()) };
        if self.claimed == Some(key) {
            return Ok(());
        }
        self.give_up_claim();
        let mut memory = self.store.lock();
        while !memory.claims.is_free(key) {
            memory = self.store.wait(memory, PATIENCE);
        }
        if self.is_known(&memory, action) {
            return Err(());
        }
        memory.claims.0.insert(key, Claim { is_busy: false, since: Instant::now() });
        self.claimed = Some(key);
        Ok(())
    }

    /// The system is at work for what is claimed, as long as this is there.
    pub(super) fn work(&self) -> Working {
        let working = Working { store: Arc::clone(&self.store), key: self.claimed };
        working.set(true);
        working
    }

    /// Others may ask for it.
    pub(super) fn give_up_claim(&mut self) {
        let Some(key) = self.claimed.take() else { return };
        self.store.lock().claims.0.remove(&key);
        self.store.notify();
    }

    fn is_known(&self, memory: &Memory, action: usize) -> bool {
        memory.is_trusted() && self.known(memory, action).is_some()
    }
}

/// A system at work. If it panics others may ask.
pub(super) struct Working {
    store: Arc<Store>,
    key: Option<Key>,
}

impl Working {
    fn set(&self, is_busy: bool) {
        let Some(key) = self.key else { return };
        let mut memory = self.store.lock();
        if std::thread::panicking() {
            memory.claims.0.remove(&key);
        } else {
            memory.claims.0.insert(key, Claim { is_busy, since: Instant::now() });
        }
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.set(false);
    }
}

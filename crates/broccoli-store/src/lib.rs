//! Remembers what a system has answered, so that it is not asked the same twice: not by this search, not by one that goes
//! on with it, and not by another one about the same system.
//!
//! [`Remembered`] is a factory around the factory of a system. Its systems share a [`Store`], in memory or in a file. To
//! the search they look like systems that come back to any place for nothing; the system itself follows only when
//! something is asked that is not known.

mod file;
mod memory;
mod read;
mod record;
mod remembered;
mod trie;

pub use file::{Contents, StoreError, contents, difference};
pub use memory::{Room, Store, Tell, Usage};
pub use read::{Found, Identity};
pub use remembered::Remembered;

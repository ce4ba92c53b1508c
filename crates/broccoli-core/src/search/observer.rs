//! What a search tells while it runs.

use super::{Solution, Statistics};

/// Something that happened in a search.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Trees of this size are searched from now on.
    Size(u64),
    /// A better tree was found.
    Improved(&'a Solution),
    /// Traces run up to this many steps from now on.
    Horizon(u64),
    /// No tree has a better value than this.
    Bound(u64),
    /// Another tree was considered, or some more behaviours; sent often, so an observer should be quick.
    Considered(&'a Statistics),
}

/// Is told what happens. Implemented by progress displays; any closure over [`Event`] will do.
pub trait Observer {
    /// Called for every event, in order.
    fn notify(&mut self, event: Event<'_>);
}

impl<F: FnMut(Event<'_>)> Observer for F {
    fn notify(&mut self, event: Event<'_>) {
        self(event);
    }
}

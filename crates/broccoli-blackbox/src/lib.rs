//! Systems that are somebody else's program.
//!
//! - [`Subprocess`]: any program that speaks a small protocol over standard input and output, in JSON
//!   lines or binary frames. `docs/protocol.md` describes it for those who write such a program.
//! - [`Plugin`]: a shared library with the C interface of `include/broccoli.h`.
//! - [`Watch`]: notices during a search that a system is not deterministic.
//! - [`check()`]: does a system keep the promises that the search relies on?
//!
//! Both kinds of system are factories: every system of a [`Subprocess`] is a process of its own, and
//! every system of a [`Plugin`] has a state of its own, so that workers share nothing.
//!
//! Nothing runs but the program or library that the caller names.

#[cfg(not(unix))]
compile_error!("subprocess systems rely on the pipes and process groups of Unix");

pub mod check;
mod description;
mod plugin;
mod subprocess;
mod watched;

pub use check::check;
pub use description::{ComesBack, Description};
pub use plugin::{Plugin, PluginError};
#[doc(hidden)]
pub use subprocess::read_as_everything;
pub use subprocess::{Format, Process, Program, Replies, StartError, Subprocess};
pub use watched::Watch;

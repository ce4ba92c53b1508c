//! What the tests across crates share: small systems given by tables, random ones, and an oracle that
//! uses no code of the search.

pub mod batch;
pub mod certified;
pub mod forged;
pub mod mutants;
pub mod oracle;
pub mod random;
pub mod table;
pub mod wall;

/// The code in the book's page about Rust compiles and does what it says.
#[cfg(doctest)]
#[doc = include_str!("../../docs/rust.md")]
pub struct FromRust;

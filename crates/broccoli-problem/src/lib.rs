//! Problem files: a system and a problem about it as one TOML file, `docs/problem-files.md`.
//!
//! ```
//! use broccoli_problem::ProblemFile;
//! let text = r#"
//!     [system]
//!     environment = "mountain-car"
//!     [predicates]
//!     position = { low = -1.2, high = 0.6, step = 0.18 }
//!     velocity = [-0.01, 0.0, 0.01]
//! "#;
//! let target = ProblemFile::parse(text, "plant.toml".as_ref())?.open()?;
//! assert_eq!(target.problem()?.predicate_count(), Some(9 + 3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`ProblemFile::read`] checks a file without running anything, [`ProblemFile::open`] starts the system
//! that it names. What is wrong is a [`Diagnosis`], which knows the line and column.

pub mod bytes;
mod diagnosis;
mod featured;
mod file;
mod identity;
mod judged;
mod objective;
mod open;
mod reader;
mod remember;
mod starter;
mod starts;
mod target;

pub use diagnosis::Diagnosis;
pub use file::{ProblemFile, SearchOptions, SystemSource};
pub use identity::{FileError, Identity};
pub use objective::{Lack, ObjectiveChoice, ObjectiveKind};
pub use starter::{Kind, starter};
pub use starts::initial_states;
pub use target::{FeatureError, Target, TargetDimension};

/// The JSON Schema of problem files, for editors and other programs.
pub const SCHEMA: &str = include_str!("../problem.schema.json");

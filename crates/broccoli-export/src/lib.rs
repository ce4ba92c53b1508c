//! What a search or a simulation has to say: text and reports for people, JSON and CSV for programs, and
//! trees as programs and pictures.
//!
//! Nothing here prints or measures: every function takes what is known and returns it in another
//! form, or writes it where the caller says.
//!
//! ```
//! use broccoli_core::search::Search;
//! use broccoli_environments::CARTPOLE;
//! use broccoli_export::json::{ResultJson, SystemJson};
//! use broccoli_export::text;
//!
//! let problem = CARTPOLE.problem().depth(1).build()?;
//! let outcome = Search::new(&problem, &CARTPOLE).run()?;
//! println!("{}", text::outcome(&problem, &outcome, 0.5));
//!
//! let system = SystemJson::Environment("cartpole".into());
//! let object = ResultJson::new(system, &problem, &outcome, 0.5);
//! println!("{}", serde_json::to_string(&object)?);
//! assert_eq!(object.problem.to_problem()?, problem);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod choices;
pub mod code;
pub mod csv;
pub mod difference;
pub mod drawing;
pub mod estimate;
pub mod format;
pub mod history;
pub mod json;
pub mod names;
pub mod number;
pub mod policy;
pub mod problem_file;
pub mod proof;
pub mod report;
pub mod saved;
pub mod simulation;
pub mod stages;
pub mod text;
pub mod whole;
pub mod worth;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/exports.md")]
struct ExportsPage;

//! Optimal decision-tree policies for deterministic black-box systems.
//!
//! The data takes one way: a [`Problem`](problem::Problem) and a way to make
//! [`System`](problem::System)s go into a [`Search`](search::Search), out comes an
//! [`Outcome`](search::Outcome): the best tree within the limits, the smallest among the best, and
//! what is proved about it.
//!
//! ```
//! use broccoli_core::problem::{InitialState, Objective, Problem, Reply, System, SystemError, Thresholds, Verdict};
//! use broccoli_core::search::{Search, Status};
//!
//! /// A token on a line of cells; action 0 moves it left, action 1 right; the goal is cell 5.
//! struct Token(i32);
//!
//! impl System for Token {
//!     fn reset(&mut self, initial: &InitialState, observation: &mut [f64]) -> Result<Reply, SystemError> {
//!         self.0 = initial.values()[0] as i32;
//!         observation[0] = f64::from(self.0);
//!         Ok(Verdict::Running.into())
//!     }
//!     fn step(&mut self, action: usize, observation: &mut [f64]) -> Result<Reply, SystemError> {
//!         self.0 += if action == 0 { -1 } else { 1 };
//!         observation[0] = f64::from(self.0);
//!         Ok(if self.0 == 5 { Verdict::Satisfied } else { Verdict::Running }.into())
//!     }
//! }
//!
//! let problem = Problem::builder()
//!     .dimension("cell", Thresholds::grid(0.0, 10.0, 1.0)?)
//!     .action("left", -1.0)
//!     .action("right", 1.0)
//!     .initial([2.0])
//!     .initial([9.0])
//!     .objective(Objective::reach(100))
//!     .depth(2)
//!     .build()?;
//! let outcome = Search::new(&problem, &|| Ok(Box::new(Token(0)) as Box<dyn System>)).run()?;
//!
//! assert_eq!(outcome.status, Status::Optimal);
//! let best = outcome.best.expect("an optimal outcome has a tree");
//! assert_eq!((best.value, best.tree.size()), (4, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod problem;
pub mod search;
pub mod shown;
pub mod tree;

//! The native half of the Python package `broccoli`: problems, trees and searches as Python objects.
//!
//! Thin on purpose: everything that decides an answer is in `broccoli-core`, everything that is about
//! Gymnasium, progress bars or plots is in Python. What is here holds data (`problem`, `tree`), runs a
//! search without the interpreter's lock (`search`), and takes the lock for each query of a system that
//! is written in Python (`system`). `broccoli/_broccoli.pyi` is its documentation for Python.

mod arrays;
mod batch;
mod blackbox;
mod certificate;
mod checkpoint;
mod clock;
mod evaluate;
mod number;
mod problem;
mod search;
mod state;
mod system;
mod tree;
mod watch;

/// The module `broccoli._broccoli`.
#[pyo3::pymodule]
mod _broccoli {
    #[pymodule_export]
    use super::certificate::verify;
    #[pymodule_export]
    use super::clock::Stopper;
    #[pymodule_export]
    use super::evaluate::{evaluate, trace, tree};
    #[pymodule_export]
    use super::problem::{ProblemData, environment, environments, sample, thresholds};
    #[pymodule_export]
    use super::search::{explain, search};
    #[pymodule_export]
    use super::system::PythonSystem;
    #[pymodule_export]
    use super::tree::Tree;
}

//! Every test of the command in one program: to link 24 takes longer than to run most of them.

mod actions;
mod bad_input;
mod certificates;
mod checkpoints;
mod choices;
mod common;
mod environments;
mod exhaustion;
mod exports;
mod features;
mod foreign;
mod foreign_environments;
mod gallery;
mod hostile_names;
mod limits;
mod manual;
mod noise;
mod objectives;
mod problem_files;
mod refine;
mod resuming;
mod simulate;
mod solve;
mod store;
mod suggest;

//! Memory stays flat: no engine keeps anything of the trees and traces it has left behind.
//!
//! This file has one test, so that the process is its own and the peak that Linux reports for it is
//! that of the searches.

#![cfg(target_os = "linux")]

use broccoli_core::search::{Engine, Search, Status};
use broccoli_environments::{CARTPOLE, MOUNTAIN_CAR, PENDULUM};

/// Peak memory allowed, the test program itself included.
const MOST_MIB: u64 = 48;

/// The most memory this process ever had, in MiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells the state of a process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the peak is in it");
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().expect("in KiB");
    kib / 1024
}

#[test]
fn a_row_of_table_1_takes_a_few_mib() {
    for environment in [&MOUNTAIN_CAR, &CARTPOLE, &PENDULUM] {
        let problem = environment.problem().build().unwrap();
        for engine in [Engine::Behaviour, Engine::Backtracking { pruning: true }] {
            let outcome = Search::new(&problem, environment).engine(engine).run().unwrap();
            assert_eq!(outcome.status, Status::Optimal);
            let peak = peak();
            println!("{}, {}: {peak} MiB", environment.name, engine.name());
            assert!(peak < MOST_MIB, "{}, {}: {peak} MiB", environment.name, engine.name());
        }
    }
}

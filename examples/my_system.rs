//! Your own system: a water tank whose inlet valve is commanded open or closed, and follows slowly.
//!
//! Seeing level and flow, which command brings the tank to rest at 1 m fastest, from half empty and
//! from half too full, without ever overflowing?
//! `cargo run -p broccoli-core --example my_system`

use broccoli_core::problem::{
    InitialState, Objective, Problem, Reply, System, SystemError, Thresholds, Verdict,
};
use broccoli_core::search::{Search, Status};

#[derive(Default)]
struct Tank {
    level: f64, // in m
    flow: f64,  // through the inlet, as a share of the most
}

impl Tank {
    fn reply(&self, observation: &mut [f64]) -> Result<Reply, SystemError> {
        observation.copy_from_slice(&[self.level, self.flow]);
        let at_rest = (self.level - 1.0).abs() <= 0.02 && (self.flow - 0.5).abs() <= 0.1;
        Ok(match self.level {
            2.0.. => Verdict::Violated,
            _ if at_rest => Verdict::Satisfied,
            _ => Verdict::Running,
        }
        .into())
    }
}

impl System for Tank {
    fn reset(&mut self, initial: &InitialState, observation: &mut [f64]) -> Result<Reply, SystemError> {
        (self.level, self.flow) = (initial.values()[0], initial.values()[1]);
        self.reply(observation)
    }

    /// One second: the valve follows its command with a lag of 8 s, the outlet empties the tank.
    fn step(&mut self, action: usize, observation: &mut [f64]) -> Result<Reply, SystemError> {
        self.flow += (action as f64 - self.flow) / 8.0;
        self.level = (self.level + 0.04 * self.flow - 0.02 * self.level.sqrt()).max(0.0);
        self.reply(observation)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let problem = Problem::builder()
        .dimension("level", Thresholds::grid(0.0, 2.0, 0.05)?)
        .dimension("flow", Thresholds::grid(0.0, 1.0, 0.1)?)
        .action("close", 0.0)
        .action("open", 1.0)
        .initials([[0.5, 0.5], [1.5, 0.5]].map(InitialState::from))
        .objective(Objective::reach(3600))
        .depth(2)
        .build()?;
    let outcome = Search::new(&problem, &|| Ok(Box::new(Tank::default()) as Box<dyn System>)).run()?;

    assert_eq!(outcome.status, Status::Optimal);
    let best = outcome.best.ok_or("an optimal outcome has a tree")?;
    assert_eq!((best.value, best.tree.size()), (30, 3));
    print!("{}", best.tree.drawing(&problem));
    println!("At rest after at most {} s; found with {} queries.", best.value, outcome.statistics.queries);
    println!("No tree of depth 2 on these thresholds is faster, and none as fast is smaller.");
    Ok(())
}

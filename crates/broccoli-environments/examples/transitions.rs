//! One step of an environment per line, for comparison with other implementations.
//!
//! Reads lines `environment action v0 v1 …` on standard input: the environment's name, the index of the
//! action and the state. Writes `verdict v0 v1 …` for each: what one step from there leads to. Numbers are
//! written so that reading them gives the same bits.

use std::error::Error;
use std::io::{BufWriter, Write, stdin, stdout};

use broccoli_core::problem::{InitialState, SystemFactory, Verdict};
use broccoli_environments::find;

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = BufWriter::new(stdout().lock());
    for (number, line) in stdin().lines().enumerate() {
        let reply = answer(&line?).map_err(|error| format!("line {}: {error}", number + 1))?;
        writeln!(out, "{reply}")?;
    }
    Ok(out.flush()?)
}

fn answer(line: &str) -> Result<String, Box<dyn Error>> {
    let mut words = line.split_whitespace();
    let environment = find(words.next().ok_or("an environment is missing")?)?;
    let action: usize = words.next().ok_or("an action is missing")?.parse()?;
    if action >= environment.actions.len() {
        return Err(format!("{} has no action {action}", environment.name).into());
    }
    let state = words.map(str::parse).collect::<Result<Vec<f64>, _>>()?;

    let mut system = environment.make()?;
    let mut observation = vec![0.0; environment.dimensions.len()];
    system.reset(&InitialState::new(state), &mut observation)?;
    let verdict = match system.step(action, &mut observation)?.verdict {
        Verdict::Running => "running",
        Verdict::Satisfied => "satisfied",
        Verdict::Violated => "violated",
    };
    let values: Vec<String> = observation.iter().map(|value| format!("{value:?}")).collect();
    Ok(format!("{verdict} {}", values.join(" ")))
}

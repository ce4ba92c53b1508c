//! One step of an environment per line, for comparison with other implementations.
//!
//! Reads lines `environment actions action v0 v1 …` on standard input: the environment's name, the chosen
//! actions with commas between them, the index of the one to take and the state. Writes `verdict v0 v1 …` for
//! each: the state that one step from there leads to. Numbers are written so that reading them gives the same
//! bits.

use std::error::Error;
use std::io::{BufWriter, Write, stdin, stdout};

use broccoli_core::problem::{InitialState, SystemFactory, Verdict};
use broccoli_environments::{Variant, find};

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
    let actions: Vec<&str> = words.next().ok_or("the actions are missing")?.split(',').collect();
    let action: usize = words.next().ok_or("an action is missing")?.parse()?;
    let state = words.map(str::parse).collect::<Result<Vec<f64>, _>>()?;

    let mut system = Variant::choose(environment, &actions)?.make()?;
    let mut observation = vec![0.0; environment.dimensions.len()];
    system.reset(&InitialState::new(state), &mut observation)?;
    let verdict = match system.step(action, &mut observation)?.verdict {
        Verdict::Running => "running",
        Verdict::Satisfied => "satisfied",
        Verdict::Violated => "violated",
    };
    // A saved state is the values, 8 bytes each.
    let mut saved = Vec::new();
    system.save(&mut saved)?;
    let (words, _) = saved.as_chunks::<8>();
    let values: Vec<String> = words.iter().map(|word| format!("{:?}", f64::from_le_bytes(*word))).collect();
    Ok(format!("{verdict} {}", values.join(" ")))
}

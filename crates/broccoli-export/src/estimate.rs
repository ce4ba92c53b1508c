//! What a tree does from initial states that it was not searched for: figures that estimate, and prove nothing.

use broccoli_core::problem::{Objective, Value};
use serde::Serialize;

use crate::json::ObjectiveJson;
use crate::number::counted;
use crate::simulation::{EndJson, Run};
use crate::worth;

/// The parts of the runs for which a quantile is given.
const PARTS: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// Figures over runs from fresh initial states.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// How many runs there were.
    pub runs: u64,
    /// The seed that their initial states were sampled with.
    pub seed: u64,
    /// The share that reached the goal, or survived the whole horizon.
    pub succeeded: f64,
    /// The mean of the values; of those that reached the goal, if the objective is to reach it.
    pub mean: Option<f64>,
    /// The values below or at which 5, 25, 50, 75 and 95 % of the runs are; none for runs without a value, which
    /// count as the largest.
    pub quantiles: Vec<(f64, Option<Value>)>,
    /// The worst value, if all runs have one.
    pub worst: Option<Value>,
}

impl Estimate {
    /// The figures over `runs`, whose initial states were sampled with `seed`; none without runs.
    ///
    /// ```
    /// use broccoli_core::problem::{InitialState, Objective, Value};
    /// use broccoli_core::tree::End;
    /// use broccoli_export::estimate::Estimate;
    /// use broccoli_export::simulation::Run;
    /// let run = |steps, end| Run::new(Objective::reach(100), InitialState::new([0.0]), steps, end, 0.0);
    /// let runs = [run(10, End::Satisfied), run(30, End::Satisfied), run(100, End::Horizon)];
    /// let estimate = Estimate::new(Objective::reach(100), &runs, 7).expect("there are runs");
    /// assert_eq!((estimate.mean, estimate.worst), (Some(20.0), None));
    /// assert_eq!(estimate.quantiles[2], (0.5, Some(Value::Steps(30))));
    /// ```
    pub fn new(objective: Objective, runs: &[Run], seed: u64) -> Option<Self> {
        let count = runs.len();
        // A run without a value sorts behind all others.
        let mut values: Vec<Option<Value>> = runs.iter().map(|run| run.value).collect();
        let number = |value: &Option<Value>| value.map_or(f64::INFINITY, Value::number);
        values.sort_by(|a, b| number(a).total_cmp(&number(b)));
        let (first, last) = (*values.first()?, *values.last()?);
        let good = runs.iter().filter(|run| match objective {
            Objective::Reach { .. } => run.value.is_some(),
            _ => run.end != EndJson::Violated,
        });
        let known: Vec<Value> = values.iter().copied().flatten().collect();
        let sum: f64 = known.iter().map(|value| value.number()).sum();
        let at = |part: f64| values[((part * count as f64).ceil() as usize).clamp(1, count) - 1];
        Some(Estimate {
            runs: count as u64,
            seed,
            succeeded: good.count() as f64 / count as f64,
            mean: (!known.is_empty()).then(|| sum / known.len() as f64),
            quantiles: PARTS.map(|part| (part, at(part))).to_vec(),
            worst: if objective.is_minimised() { last } else { first },
        })
    }

    /// The figures, and what they are worth.
    pub fn text(&self, objective: ObjectiveJson) -> String {
        let (done, value) = match objective {
            ObjectiveJson::Reach => ("goal reached", "steps to it, mean"),
            ObjectiveJson::Survive => ("survived", "steps, mean"),
            ObjectiveJson::Return => ("not violated", "return, mean"),
        };
        let steps = |value: Option<Value>| value.map_or("not reached".to_owned(), worth::bare);
        let quantiles = self.quantiles.iter();
        let quantiles = quantiles.map(|(part, value)| format!("{:.0} %: {}", part * 100.0, steps(*value)));
        let mean = self.mean.map_or("-".to_owned(), |mean| format!("{mean:.1}"));
        let rows = [
            (done, format!("{:.1} % of {}", self.succeeded * 100.0, counted(self.runs, "run"))),
            (value, mean),
            ("quantiles", quantiles.collect::<Vec<_>>().join(", ")),
            ("worst", steps(self.worst)),
        ];
        let mut text = format!("Fresh initial states, sampled with seed {}:\n", self.seed);
        for (name, what) in rows {
            text += &format!("  {name:17}  {what}\n");
        }
        text + "These figures are estimates. What is proved holds for the initial states, and seeds, of the search.\n"
    }
}

//! What a tree does from each initial state, as text and as JSON.

use broccoli_core::problem::{InitialState, Objective, Over, Problem, Value, rank};
use broccoli_core::tree::{End, Tree, TreeJson};
use serde::Serialize;

use crate::estimate::Estimate;
use crate::json::{ObjectiveJson, SystemJson, VERSION, is_worst};
use crate::number::{counted, grouped, list};
use crate::worth;

/// What ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EndJson {
    /// The system said that the goal is reached.
    Satisfied,
    /// The system said that the run has failed.
    Violated,
    /// The horizon was reached.
    Horizon,
}

impl EndJson {
    fn name(self) -> &'static str {
        match self {
            EndJson::Satisfied => "satisfied",
            EndJson::Violated => "violated",
            EndJson::Horizon => "horizon",
        }
    }
}

impl From<End> for EndJson {
    fn from(end: End) -> Self {
        match end {
            End::Satisfied => EndJson::Satisfied,
            End::Violated => EndJson::Violated,
            End::Horizon => EndJson::Horizon,
        }
    }
}

/// The run from one initial state.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Run {
    /// Where it started.
    pub initial: InitialState,
    /// Actions applied.
    pub steps: u64,
    /// What ended it.
    pub end: EndJson,
    /// Its value, if it has one.
    pub value: Option<Value>,
}

impl Run {
    /// A run for `objective` that ended after `steps` actions, with these rewards in all.
    pub fn new(objective: Objective, initial: InitialState, steps: u64, end: End, rewards: f64) -> Self {
        let value = objective.worth(end.verdict(), steps, rewards).map(|value| match objective {
            Objective::Return(_) => Value::Number(rewards),
            _ => Value::Steps(value),
        });
        Run { initial, steps, end: end.into(), value }
    }

    /// Its value, as the core has it.
    fn worth(&self) -> Option<u64> {
        self.value.map(|value| match value {
            Value::Steps(steps) => steps,
            Value::Number(number) => rank(number),
        })
    }
}

/// The runs of one tree from every initial state, to be serialised as one JSON object.
///
/// ```
/// use broccoli_core::tree::{End, Tree};
/// use broccoli_environments::MOUNTAIN_CAR;
/// use broccoli_export::json::SystemJson;
/// use broccoli_export::simulation::{Run, Simulation};
///
/// let problem = MOUNTAIN_CAR.problem().build()?;
/// let runs = vec![Run::new(problem.objective(), problem.initial_states()[0].clone(), 10_000, End::Horizon, 0.0)];
/// let system = SystemJson::Environment("mountain-car".into());
/// let simulation = Simulation::new(system, &problem, &Tree::Leaf(1), runs);
/// assert_eq!(simulation.value, None);
/// assert_eq!(simulation.text(), "\
/// initial state   steps  ended by  value
/// -0.51,0        10,000  horizon       -
///
/// The tree does not reach the goal within 10,000 steps.
/// ");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Simulation {
    /// The version of the format.
    pub version: u32,
    /// The black box.
    pub system: SystemJson,
    /// What is wanted.
    pub objective: ObjectiveJson,
    /// The most steps a run takes.
    pub horizon: u64,
    /// How the values of several initial states become one; the worst of them counts if nothing is said.
    #[serde(skip_serializing_if = "is_worst")]
    pub over: Over,
    /// The value over all initial states, if there is one.
    pub value: Option<Value>,
    /// The number of predicate nodes of the tree.
    pub size: u64,
    /// The depth of the tree.
    pub depth: u32,
    /// The tree.
    pub tree: TreeJson,
    /// The runs, in the order of the initial states.
    pub runs: Vec<Run>,
    /// Figures over fresh initial states, if some were run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fresh: Option<Estimate>,
    /// What failed, if the black box did; the runs are then those before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What the tree does, unless that is a matter of its worst steps.
    #[serde(skip)]
    achieved: Option<String>,
}

impl Simulation {
    /// The runs of `tree` from every initial state of `problem`.
    pub fn new(system: SystemJson, problem: &Problem, tree: &Tree, runs: Vec<Run>) -> Self {
        let objective = problem.objective();
        let values: Vec<Option<u64>> = runs.iter().map(Run::worth).collect();
        let value = problem.overall(&values);
        let sentence = value.filter(|_| !objective.is_plain()).map(|value| worth::achieved(problem, value));
        Simulation {
            version: VERSION,
            system,
            objective: objective.into(),
            horizon: objective.horizon(),
            over: objective.over(),
            value: value.and_then(|value| objective.shown(value)),
            achieved: sentence,
            size: tree.size(),
            depth: tree.depth(),
            tree: tree.to_json(problem),
            runs,
            fresh: None,
            error: None,
        }
    }

    /// The same after the black box failed: a part of the runs has no value as a whole.
    pub fn failed(self, error: impl ToString) -> Self {
        Simulation { value: None, error: Some(error.to_string()), ..self }
    }

    /// A table of the runs, and the value over all of them in a sentence.
    pub fn text(&self) -> String {
        let mut rows = vec![["initial state", "steps", "ended by", "value"].map(str::to_owned)];
        rows.extend(self.runs.iter().map(|run| {
            let value = run.value.map_or("-".to_owned(), worth::bare);
            [list(run.initial.values()), grouped(run.steps), run.end.name().to_owned(), value]
        }));
        let mut widths = [0; 4];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.len());
            }
        }
        let mut text = String::new();
        for [initial, steps, end, value] in &rows {
            let [w0, w1, w2, w3] = widths;
            text += &format!("{initial:w0$}  {steps:>w1$}  {end:w2$}  {value:>w3$}\n");
        }
        if self.error.is_none() {
            text += &format!("\n{}\n", self.sentence());
        }
        if let Some(fresh) = &self.fresh {
            text += &format!("\n{}", fresh.text(self.objective));
        }
        text
    }

    fn sentence(&self) -> String {
        let count = self.runs.len() as u64;
        let all = match count {
            1 => String::new(),
            2 => " from both initial states".to_owned(),
            _ => format!(" from all {} initial states", grouped(count)),
        };
        let several = count > 1;
        if let Some(achieved) = &self.achieved {
            return format!("{}.", achieved.replacen("this tree", "The tree", 1));
        }
        match (self.objective, self.value) {
            (ObjectiveJson::Reach, Some(Value::Steps(value))) => {
                let most = if several { "at most " } else { "" };
                format!("The tree reaches the goal{all} in {most}{}.", counted(value, "step"))
            }
            (ObjectiveJson::Survive, Some(Value::Steps(value))) if value == self.horizon => {
                format!("The tree survives the whole horizon of {}{all}.", counted(value, "step"))
            }
            (ObjectiveJson::Survive, Some(Value::Steps(value))) => {
                let least = if several { "at least " } else { "" };
                format!("The tree survives {least}{}{all}.", counted(value, "step"))
            }
            _ => {
                let failing = self.runs.iter().filter(|run| run.value.is_none()).count() as u64;
                let states = match count {
                    1 => String::new(),
                    _ => format!(" from {} of the {} initial states", grouped(failing), grouped(count)),
                };
                let horizon = counted(self.horizon, "step");
                format!("The tree does not reach the goal{states} within {horizon}.")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use broccoli_core::problem::Thresholds;

    fn simulation(objective: Objective, runs: &[(u64, End)]) -> Simulation {
        let mut builder = Problem::builder()
            .dimension("x", Thresholds::none())
            .action("a", 0.0)
            .action("b", 1.0)
            .objective(objective);
        for i in 0..runs.len() {
            builder = builder.initial([i as f64 / 8.0]);
        }
        let problem = builder.build().unwrap();
        let states = problem.initial_states().iter().cloned();
        let runs = states.zip(runs).map(|(state, &(steps, end))| Run::new(objective, state, steps, end, 0.0));
        let runs = runs.collect();
        Simulation::new(SystemJson::Environment("test".into()), &problem, &Tree::Leaf(1), runs)
    }

    #[test]
    fn values_over_all_initial_states() {
        use End::{Horizon, Satisfied, Violated};
        let (reach, survive) = (Objective::reach(1_000), Objective::survive(1_000));
        let all = [
            simulation(reach, &[(0, Satisfied), (12, Satisfied), (3, Satisfied)]),
            simulation(reach, &[(1, Satisfied)]),
            simulation(reach, &[(1, Violated), (5, Satisfied), (1_000, Horizon)]),
            simulation(survive, &[(7, Violated), (1_000, Horizon)]),
            simulation(survive, &[(4, Satisfied), (1_000, Horizon)]),
            simulation(survive, &[(0, Violated)]),
        ];
        let values = [Some(12), Some(1), None, Some(7), Some(1_000), Some(0)];
        assert_eq!(all.each_ref().map(|s| s.value), values.map(|steps| steps.map(Value::Steps)));
        insta::assert_snapshot!(all.map(|s| s.text()).join("\n"));
        let failed = simulation(reach, &[(1, Satisfied)]).failed("the system failed");
        insta::assert_snapshot!(serde_json::to_string(&failed).unwrap());
    }
}

//! What somebody has chosen for a problem about an environment: where it differs from the defaults.

use broccoli_core::problem::{ALL, InitialState, Objective, Problem, Thresholds};

use crate::Environment;

/// A part of a problem that is not as it is by default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Which part.
    pub what: String,
    /// What it is.
    pub here: String,
    /// What it is by default.
    pub default: String,
}

impl std::fmt::Display for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Choice { what, here, default } = self;
        write!(f, "{what}: {here}; by default {default}")
    }
}

impl Environment {
    /// Where a problem about this environment differs from its default problem. What is fixed, such as the
    /// names of what is observed, is not looked at.
    ///
    /// ```
    /// use broccoli_environments::MOUNTAIN_CAR;
    /// assert!(MOUNTAIN_CAR.choices(&MOUNTAIN_CAR.problem().build()?).is_empty());
    /// let deeper = MOUNTAIN_CAR.problem().depth(3).build()?;
    /// assert_eq!(MOUNTAIN_CAR.choices(&deeper)[0].to_string(), "depth: 3; by default 2");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn choices(&self, problem: &Problem) -> Vec<Choice> {
        let mut choices = Vec::new();
        let mut compare = |what: &str, here: String, default: String, is_same: bool| {
            if !is_same {
                choices.push(Choice { what: what.to_owned(), here, default });
            }
        };
        // The default grids are constants, and a test builds each of them.
        let grids = self.grids(None).unwrap_or_default();
        for (i, dimension) in problem.dimensions().iter().enumerate() {
            match grids.get(i) {
                Some(grid) => compare(
                    &format!("thresholds of {}", dimension.name),
                    thresholds(&dimension.thresholds),
                    thresholds(grid),
                    dimension.thresholds == *grid,
                ),
                None => {
                    let expression = dimension.expression.as_deref().unwrap_or("unknown");
                    let here = format!("{expression}, {}", thresholds(&dimension.thresholds));
                    compare(&format!("feature {}", dimension.name), here, "none".to_owned(), false);
                }
            }
        }
        let actions = |all: &mut dyn Iterator<Item = (&str, f64)>| {
            all.map(|(name, value)| format!("{name} ({value})")).collect::<Vec<_>>().join(", ")
        };
        let here = actions(&mut problem.actions().iter().map(|a| (a.name.as_str(), a.value)));
        let default = actions(&mut self.actions.iter().map(|a| (a.name, a.value)));
        let is_same = here == default;
        compare("actions", here, default, is_same);
        let initial = [InitialState::new(self.initial)];
        let is_same = problem.initial_states() == initial;
        compare("initial states", states(problem.initial_states()), states(&initial), is_same);
        let (here, default) = (problem.objective(), self.objective);
        compare(
            "objective",
            here.name().to_owned(),
            default.name().to_owned(),
            here.name() == default.name(),
        );
        let horizon = |objective: Objective| objective.horizon().to_string();
        compare("horizon", horizon(here), horizon(default), here.horizon() == default.horizon());
        let limits = problem.limits();
        compare("depth", limits.depth().to_string(), self.depth.to_string(), limits.depth() == self.depth);
        let most = (1u64 << limits.depth().min(63)) - 1;
        compare("predicates", limits.nodes().to_string(), most.to_string(), limits.nodes() == most);
        choices
    }
}

fn thresholds(thresholds: &Thresholds) -> String {
    if thresholds.is_all() {
        return ALL.to_owned();
    }
    match thresholds.as_slice() {
        [] => "none".to_owned(),
        few @ ([_] | [_, _] | [_, _, _]) => few.iter().map(f64::to_string).collect::<Vec<_>>().join(", "),
        [first, .., last] => format!("{} from {first} to {last}", thresholds.len()),
    }
}

fn states(states: &[InitialState]) -> String {
    match states {
        [state] => format!("{:?}", state.values()),
        several => format!("{} states", several.len()),
    }
}

//! The result of a search as one JSON object, which also holds the problem, to be run again.
//!
//! The keys and their order are a contract with other people's scripts: add keys, never change one.
//! Every float is written so that it comes back bit for bit.

use broccoli_core::problem::{
    Action, Aim, Dimension, InitialState, Objective, Over, Problem, ProblemError, Return, Value,
};
use broccoli_core::search::{Engine, Explanation, Failure, Outcome, Solution, Statistics, Status};
use broccoli_core::shown::{is_control, shown};
use broccoli_core::tree::{Interval, TreeJson};
use serde::{Deserialize, Serialize};

use crate::choices::{More, PartJson};
use crate::history::Moment;
use crate::stages::StageJson;

/// The version of the format that is written and read here.
pub const VERSION: u32 = 1;

/// JSON text that can be shown on a terminal: characters beyond ASCII that would control it are written by their
/// codes, as JSON itself asks for with those of ASCII. To a parser nothing changes.
///
/// ```
/// assert_eq!(broccoli_export::json::harmless("[\"é\u{9b}\u{202e}\"]\n".into()), "[\"é\\u009b\\u202e\"]\n");
/// ```
pub fn harmless(json: String) -> String {
    // Below these there are only the line ends and spaces of the text itself.
    let is_wrong = |c: char| c >= '\u{7f}' && is_control(c);
    if !json.contains(is_wrong) {
        return json;
    }
    let escaped = |c: char| if is_wrong(c) { format!("\\u{:04x}", c as u32) } else { c.to_string() };
    json.chars().map(escaped).collect()
}

/// What is known at the end of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StatusJson {
    /// The tree is optimal, and the smallest among the optimal.
    Optimal,
    /// No tree within the limits has a value.
    Infeasible,
    /// The search ended early; the tree, if any, is the best so far.
    Stopped,
    /// The black box failed; the tree, if any, is the best so far.
    Error,
}

impl StatusJson {
    /// The word in the JSON object.
    pub fn name(self) -> &'static str {
        match self {
            StatusJson::Optimal => "optimal",
            StatusJson::Infeasible => "infeasible",
            StatusJson::Stopped => "stopped",
            StatusJson::Error => "error",
        }
    }
}

impl From<Status> for StatusJson {
    fn from(status: Status) -> Self {
        match status {
            Status::Optimal => StatusJson::Optimal,
            Status::Infeasible => StatusJson::Infeasible,
            // Whatever is not known to be a proof must not be taken for one.
            _ => StatusJson::Stopped,
        }
    }
}

/// What is wanted; its horizon is a key of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ObjectiveJson {
    /// [`Objective::Reach`].
    Reach,
    /// [`Objective::Survive`].
    Survive,
    /// [`Objective::Return`].
    Return,
}

impl From<Objective> for ObjectiveJson {
    fn from(objective: Objective) -> Self {
        match objective {
            Objective::Reach { .. } => ObjectiveJson::Reach,
            Objective::Survive { .. } => ObjectiveJson::Survive,
            Objective::Return(_) => ObjectiveJson::Return,
        }
    }
}

/// What is said of the rewards that a return sums up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RewardsJson {
    /// Whether much or little is wanted.
    pub aim: Aim,
    /// What a reward counts for one step later.
    pub discount: f64,
    /// No reward is less.
    pub low: Option<f64>,
    /// No reward is more.
    pub high: Option<f64>,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

pub(crate) fn is_worst(over: &Over) -> bool {
    *over == Over::Worst
}

/// Where the black box comes from, for instance `{"environment":"mountain-car"}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SystemJson {
    /// A built-in environment, by name.
    Environment(String),
    /// Somebody else's program.
    Subprocess(SubprocessJson),
    /// Somebody else's shared library.
    Plugin(PluginJson),
    /// A built-in environment with noise.
    Noisy(NoisyJson),
    /// An object in Python, in words; only the Python package can run it.
    Python(String),
}

impl SystemJson {
    /// A short name for messages, safe to show.
    pub fn name(&self) -> String {
        let name = match self {
            SystemJson::Environment(name) => name.clone(),
            SystemJson::Noisy(noisy) => noisy.environment.clone(),
            SystemJson::Subprocess(subprocess) => subprocess.command.join(" "),
            SystemJson::Plugin(plugin) => plugin.path.clone(),
            SystemJson::Python(about) => about.clone(),
        };
        shown(&name).into_owned()
    }

    /// The name of a built-in environment and its noise.
    pub fn environment(&self) -> Option<(&str, f64)> {
        match self {
            SystemJson::Environment(name) => Some((name, 0.0)),
            SystemJson::Noisy(noisy) => Some((&noisy.environment, noisy.noise)),
            _ => None,
        }
    }

    /// A built-in environment with noise, or without if it is 0.
    pub fn built_in(environment: &str, noise: f64) -> Self {
        let environment = environment.to_owned();
        if noise == 0.0 {
            SystemJson::Environment(environment)
        } else {
            SystemJson::Noisy(NoisyJson { environment, noise })
        }
    }
}

/// A built-in environment whose forces are off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoisyJson {
    /// Its name.
    pub environment: String,
    /// The most by which a force is off.
    pub noise: f64,
}

/// A program that is asked over its standard input and output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubprocessJson {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The folder that it runs in.
    pub directory: String,
    /// The conditions that judge its runs.
    #[serde(flatten)]
    pub judge: JudgeJson,
}

/// A shared library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginJson {
    /// Where it is.
    pub path: String,
    /// The conditions that judge its runs.
    #[serde(flatten)]
    pub judge: JudgeJson,
}

/// When runs end, if a problem file says so and not the system.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgeJson {
    /// The condition of a run that has reached its goal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub satisfied: Option<String>,
    /// The condition of a run that has failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub violated: Option<String>,
}

/// Everything needed to run a search again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProblemJson {
    /// The black box.
    pub system: SystemJson,
    /// The dimensions of the observation, with their thresholds.
    pub dimensions: Vec<Dimension>,
    /// The actions.
    pub actions: Vec<Action>,
    /// The initial states.
    pub initial_states: Vec<InitialState>,
    /// What is wanted.
    pub objective: ObjectiveJson,
    /// The most steps a trace takes.
    pub horizon: u64,
    /// How the values of several initial states become one; the worst of them counts if nothing is said.
    #[serde(default, skip_serializing_if = "is_worst")]
    pub over: Over,
    /// What each initial state weighs, if that matters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<f64>,
    /// What is said of rewards, if these are wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewards: Option<RewardsJson>,
    /// The limit on depth.
    pub depth: u32,
    /// The limit on predicate nodes.
    pub nodes: u64,
    /// Whether traces prune; only with the engine that has the choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pruning: Option<bool>,
}

impl ProblemJson {
    /// The JSON form of a problem about `system`, searched by `engine`.
    pub fn new(system: SystemJson, problem: &Problem, engine: Engine) -> Self {
        ProblemJson {
            system,
            dimensions: problem.dimensions().to_vec(),
            actions: problem.actions().to_vec(),
            initial_states: problem.initial_states().to_vec(),
            objective: problem.objective().into(),
            horizon: problem.objective().horizon(),
            over: problem.objective().over(),
            weights: problem.weights().to_vec(),
            rewards: match problem.objective() {
                Objective::Return(Return { aim, discount, low, high, .. }) => {
                    Some(RewardsJson { aim, discount, low, high })
                }
                _ => None,
            },
            depth: problem.limits().depth(),
            nodes: problem.limits().nodes(),
            pruning: match engine {
                Engine::Backtracking { pruning } => Some(pruning),
                _ => None,
            },
        }
    }

    /// What is wanted.
    pub fn objective(&self) -> Objective {
        let horizon = self.horizon;
        let objective = match (self.objective, self.rewards) {
            (ObjectiveJson::Reach, _) => Objective::reach(horizon),
            (ObjectiveJson::Survive, _) => Objective::survive(horizon),
            (ObjectiveJson::Return, None) => Objective::maximise(horizon),
            (ObjectiveJson::Return, Some(RewardsJson { aim, discount, low, high })) => {
                Objective::Return(Return { horizon, aim, discount, low, high, over: Over::Worst })
            }
        };
        objective.across(self.over)
    }

    /// The problem, checked like any other.
    ///
    /// ```
    /// use broccoli_export::json::ProblemJson;
    /// let text = r#"{"system":{"environment":"token"}, "dimensions":[{"name":"cell","thresholds":[1,2]}],
    ///     "actions":[{"name":"left","value":0},{"name":"right","value":1}], "initial_states":[[2]],
    ///     "objective":"reach", "horizon":0, "depth":2, "nodes":3}"#;
    /// let mut json: ProblemJson = serde_json::from_str(text)?;
    /// assert!(json.to_problem().unwrap_err().to_string().contains("the horizon is 0"));
    /// json.horizon = 10;
    /// assert_eq!(json.to_problem()?.predicate_count(), Some(2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn to_problem(&self) -> Result<Problem, ProblemError> {
        let mut builder = Problem::builder()
            .initials(self.initial_states.iter().cloned())
            .objective(self.objective())
            .weights(self.weights.iter().copied())
            .depth(self.depth)
            .nodes(self.nodes);
        for dimension in &self.dimensions {
            builder = builder.dimension_like(dimension);
        }
        for action in &self.actions {
            builder = builder.action(&action.name, action.value);
        }
        builder.build()
    }
}

/// Initial states, by index from 0, for which no tree exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InfeasibleJson {
    /// No tree exists for any of these, even alone.
    pub alone: Vec<usize>,
    /// If there is a tree for each alone: no tree exists for all of these together.
    pub together: Vec<usize>,
    /// Whether the queries allowed were not enough to find out more.
    pub cut_short: bool,
    /// The queries it took.
    pub queries: u64,
}

impl From<&Explanation> for InfeasibleJson {
    fn from(explanation: &Explanation) -> Self {
        let Explanation { alone, together, is_cut_short, queries } = explanation.clone();
        InfeasibleJson { alone, together, cut_short: is_cut_short, queries }
    }
}

/// What a search did, in more detail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StatisticsJson {
    /// What ended the behaviours that were walked.
    pub behaviours: BehavioursJson,
    /// Steps that were no queries because their answers were remembered.
    pub cache_hits: u64,
    /// What became of the labels that were tried.
    pub labels: LabelsJson,
    /// Queries made when the search was resumed to see whether the system is the one that it was.
    #[serde(default, skip_serializing_if = "is_none")]
    pub queries_asked_again: u64,
    /// Of the queries, those made for hints: good trees early.
    pub queries_hints: u64,
    /// Queries made again only to come back to a state.
    pub queries_replayed: u64,
    /// Trees considered.
    pub trees: u64,
}

/// See [`Behaviours`](broccoli_core::search::Behaviours).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs, reason = "the names are those of the core")]
pub struct BehavioursJson {
    pub complete: u64,
    pub bound: u64,
    pub violated: u64,
}

/// See [`Behaviours`](broccoli_core::search::Behaviours).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs, reason = "the names are those of the core")]
pub struct LabelsJson {
    pub realisable: u64,
    pub unrealisable: u64,
}

impl From<Statistics> for StatisticsJson {
    fn from(statistics: Statistics) -> Self {
        let Statistics {
            behaviours, cache_hits, queries_asked_again, queries_hints, replayed, trees, ..
        } = statistics;
        StatisticsJson {
            behaviours: BehavioursJson {
                complete: behaviours.complete,
                bound: behaviours.bound,
                violated: behaviours.violated,
            },
            cache_hits,
            labels: LabelsJson { realisable: behaviours.realisable, unrealisable: behaviours.unrealisable },
            queries_asked_again,
            queries_hints,
            queries_replayed: replayed,
            trees,
        }
    }
}

/// The result of a search. The page of the [crate] shows how to make one; to read one back,
/// see [`Saved`](crate::saved::Saved).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResultJson {
    /// [`VERSION`].
    pub version: u32,
    /// What is known.
    pub status: StatusJson,
    /// What was wanted.
    pub objective: ObjectiveJson,
    /// The value of the tree: steps, or a number that need not be whole.
    pub value: Option<Value>,
    /// No tree has a better value than this.
    pub bound: Option<Value>,
    /// By the rewards that were seen no tree has a better value than this: an estimate, and never a proof. Only for
    /// returns whose rewards have no bound, if the search was stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Value>,
    /// The number of predicate nodes of the tree.
    pub size: Option<u64>,
    /// Whether it is proved that no smaller tree has this value. Never with a gap that ended the search: it is about
    /// the value alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest: Option<bool>,
    /// The depth of the tree.
    pub depth: Option<u32>,
    /// The best tree.
    pub tree: Option<TreeJson>,
    /// Per predicate of the tree, in preorder, which thresholds leave all traces as they are, if it may have any: those
    /// greater than the first number, up to the second; they may all be changed at once. Where there is no such end, or a
    /// dimension has a list of thresholds, `null`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intervals: Vec<Option<[Option<f64>; 2]>>,
    /// Queries, but those that come back to a state or confirm the answer.
    pub queries: u64,
    /// Queries made at the end to see whether the system does again what it did.
    #[serde(default)]
    pub queries_confirming: u64,
    /// How many of the queries no sound search could have left out, where that is known.
    pub necessary_queries: Option<u64>,
    /// Traces run, completely or in part.
    pub traces: u64,
    /// Trees considered.
    pub trees: u64,
    /// How long it took.
    pub seconds: f64,
    /// The engine's name.
    pub engine: String,
    /// How many threads it could use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<usize>,
    /// When better trees were found and bounds proved, if somebody kept a record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Moment>,
    /// The command that gave this result, word by word.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Why the search ended early, if the status is `Stopped`, for instance `"time limit"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<String>,
    /// Which initial states are to blame, if there are several and the status is `Infeasible`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub infeasible: Option<InfeasibleJson>,
    /// The searches on coarser grids and, last, this one, if it was refined; the counts above are those of
    /// all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageJson>,
    /// What the search did, in more detail.
    #[serde(default)]
    pub statistics: StatisticsJson,
    /// The price of the tree, if dimensions have prices; proved to be the least if the status is `Optimal`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<f64>,
    /// The best trees for all sizes, if they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front: Option<Vec<PartJson>>,
    /// Optimal trees, the one above first, if they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optimal_trees: Option<Vec<TreeJson>>,
    /// Whether these are all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optimal_trees_complete: Option<bool>,
    /// What failed, if the status is `Error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Everything needed to run it again.
    pub problem: ProblemJson,
}

/// The ends of an interval, as far as it has any.
fn ends(interval: Interval) -> [Option<f64>; 2] {
    [interval.low, interval.high].map(|end| Some(end).filter(|end| end.is_finite()))
}

impl ResultJson {
    /// The result of a search that ended after `seconds`.
    pub fn new(system: SystemJson, problem: &Problem, outcome: &Outcome, seconds: f64) -> Self {
        let problem_json = ProblemJson::new(system, problem, outcome.engine);
        ResultJson {
            status: outcome.status.into(),
            smallest: outcome.best.as_ref().map(|best| {
                let is_proved = outcome.bound == Some(best.value);
                outcome.status == Status::Optimal || is_proved && best.tree.size() == 0
            }),
            bound: outcome.bound.and_then(|bound| problem.objective().shown(bound)),
            estimate: outcome.estimate.and_then(|estimate| problem.objective().shown(estimate)),
            stopped_by: match outcome.status {
                Status::Stopped(reason) => Some(reason.name().to_owned()),
                _ => None,
            },
            engine: outcome.engine.name().to_owned(),
            intervals: match outcome.intervals.iter().any(Option::is_some) {
                true => outcome.intervals.iter().map(|interval| interval.map(ends)).collect(),
                false => Vec::new(),
            },
            ..ResultJson::found(problem_json, problem, outcome.best.as_ref(), outcome.statistics, seconds)
        }
    }

    /// The same with the initial states that are to blame.
    pub fn explained(self, explanation: Option<&Explanation>) -> Self {
        ResultJson { infeasible: explanation.map(InfeasibleJson::from), ..self }
    }

    /// The same with what was asked for besides the best tree.
    pub fn with(self, problem: &Problem, more: &More) -> Self {
        match more {
            More::Nothing => self,
            More::Front(parts) => {
                let parts = parts.iter().map(|part| PartJson::new(problem, part)).collect();
                ResultJson { front: Some(parts), ..self }
            }
            More::AllOptimal { trees, is_complete } => ResultJson {
                optimal_trees: Some(trees.iter().map(|tree| tree.to_json(problem)).collect()),
                optimal_trees_complete: Some(*is_complete),
                ..self
            },
        }
    }

    /// The result of a search whose black box failed after `seconds`.
    pub fn failed(system: SystemJson, problem: &Problem, failure: &Failure, seconds: f64) -> Self {
        let problem_json = ProblemJson::new(system, problem, failure.engine);
        ResultJson {
            engine: failure.engine.name().to_owned(),
            error: Some(failure.error.to_string()),
            ..ResultJson::found(problem_json, problem, failure.best.as_ref(), failure.statistics, seconds)
        }
    }

    /// What was found and what it took; nothing is proved yet.
    fn found(
        problem_json: ProblemJson,
        problem: &Problem,
        best: Option<&Solution>,
        statistics: Statistics,
        seconds: f64,
    ) -> Self {
        ResultJson {
            version: VERSION,
            status: StatusJson::Error,
            objective: problem_json.objective,
            value: best.and_then(|best| problem.objective().shown(best.value)),
            bound: None,
            estimate: None,
            size: best.map(|best| best.tree.size()),
            smallest: None,
            depth: best.map(|best| best.tree.depth()),
            tree: best.map(|best| best.tree.to_json(problem)),
            intervals: Vec::new(),
            queries: statistics.queries,
            queries_confirming: statistics.queries_confirming,
            necessary_queries: statistics.necessary_queries,
            traces: statistics.traces,
            trees: statistics.trees,
            seconds,
            engine: String::new(),
            threads: None,
            stopped_by: None,
            infeasible: None,
            stages: Vec::new(),
            statistics: statistics.into(),
            history: Vec::new(),
            command: Vec::new(),
            price: best.filter(|_| problem.has_prices()).map(|best| problem.price(&best.tree)),
            front: None,
            optimal_trees: None,
            optimal_trees_complete: None,
            error: None,
            problem: problem_json,
        }
    }
}

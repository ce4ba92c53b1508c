//! The summary that a person reads at the end of a search: the tree, what is proved about it, and
//! what it took.

use broccoli_core::problem::{Objective, Over, Problem, TreeLimits};
use broccoli_core::search::{
    Engine, Explanation, Failure, Outcome, Solution, Statistics, Status, StopReason,
};

use crate::json::StatusJson;
use crate::number::{counted, duration, grouped, list};
use crate::worth;

/// Lines of prose are broken before this column.
const WIDTH: usize = 80;
/// How many initial states are listed.
const MOST_STATES: usize = 10;

/// The summary of a search that came to its end in `seconds`.
///
/// ```
/// use broccoli_core::search::{Engine, Search};
/// use broccoli_environments::MOUNTAIN_CAR;
///
/// let problem = MOUNTAIN_CAR.problem().depth(0).build()?;
/// let outcome = Search::new(&problem, &MOUNTAIN_CAR).engine(Engine::Exhaustive).run()?;
/// assert_eq!(broccoli_export::text::outcome(&problem, &outcome, 0.02), "\
/// Infeasible: it is proved that no tree of depth 0 reaches the goal within 10,000
/// steps.
///
/// queries  20,000
/// trees    2
/// traces   2
/// time     0.02 s (exhaustive)
/// ");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn outcome(problem: &Problem, outcome: &Outcome, seconds: f64) -> String {
    let mut verdict = verdict(problem, outcome.status.into(), outcome.best.as_ref(), outcome.bound);
    if let Status::Stopped(reason) = outcome.status {
        verdict = format!("{} {verdict}", stopped(reason));
    }
    if let Some(estimate) = outcome.estimate {
        verdict += &estimated(problem, estimate);
    }
    summary(problem, outcome.best.as_ref(), &verdict, outcome.statistics, outcome.engine, seconds)
}

/// What is proved, in a sentence or two.
pub fn verdict(problem: &Problem, status: StatusJson, best: Option<&Solution>, bound: Option<u64>) -> String {
    match (status, best) {
        (StatusJson::Optimal, Some(best)) => optimal(problem, best),
        (StatusJson::Infeasible, _) => infeasible(problem),
        (_, best) => unproved(problem, best, bound),
    }
}

/// What is proved, in one sentence.
///
/// ```
/// # use broccoli_core::problem::{Objective, Problem, Thresholds};
/// # use broccoli_core::{search::Solution, tree::Tree};
/// # use broccoli_export::{json::StatusJson, text::headline};
/// # let problem = Problem::builder().dimension("x", Thresholds::list([1.0])?).action("a", 0.0)
/// #     .action("b", 1.0).initial([0.0]).objective(Objective::reach(9)).depth(2).build()?;
/// let best = Solution { tree: Tree::Leaf(0), value: 7 };
/// assert_eq!(
///     headline(&problem, StatusJson::Optimal, Some(&best), Some(7)),
///     "Optimal: no tree of depth at most 2 on these thresholds reaches the goal in fewer than 7 steps."
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn headline(
    problem: &Problem,
    status: StatusJson,
    best: Option<&Solution>,
    bound: Option<u64>,
) -> String {
    let (within, all) = (within(problem), from_all(problem));
    match (status, best, problem.objective()) {
        (_, _, objective) if !objective.is_plain() => verdict(problem, status, best, bound),
        (StatusJson::Optimal, Some(best), Objective::Reach { .. }) if best.value > 0 => {
            let steps = counted(best.value, "step");
            format!("Optimal: no tree {within} reaches the goal{all} in fewer than {steps}.")
        }
        (StatusJson::Optimal, Some(best), Objective::Survive { horizon, .. }) if best.value < horizon => {
            let steps = counted(best.value, "step");
            format!("Optimal: no tree {within} survives more than {steps}{all}.")
        }
        _ => verdict(problem, status, best, bound),
    }
}

/// The summary of a search whose black box failed after `seconds`; the failure itself is not in it.
pub fn failure(problem: &Problem, failure: &Failure, seconds: f64) -> String {
    let verdict = unproved(problem, failure.best.as_ref(), None);
    summary(problem, failure.best.as_ref(), &verdict, failure.statistics, failure.engine, seconds)
}

fn summary(
    problem: &Problem,
    best: Option<&Solution>,
    verdict: &str,
    statistics: Statistics,
    engine: Engine,
    seconds: f64,
) -> String {
    let mut text = String::new();
    if let Some(Solution { tree, .. }) = best {
        text += &format!("{}\n", tree.drawing(problem));
    }
    text += &format!("{}\n\n", wrapped(verdict));
    if let Some(Solution { tree, .. }) = best {
        text += &format!("size     {}, depth {}\n", counted(tree.size(), "predicate"), tree.depth());
        if problem.has_prices() {
            text += &format!("price    {}\n", problem.price(tree));
        }
    }
    text += &format!("queries  {}\n", queries(statistics));
    if statistics.trees > 0 {
        text += &format!("trees    {}\n", grouped(statistics.trees));
    }
    text += &format!("traces   {}\n", grouped(statistics.traces));
    let way = match engine {
        Engine::Backtracking { pruning: false } => ", no pruning",
        _ => "",
    };
    text += &format!("time     {} ({}{way})\n", duration(seconds), engine.name());
    text
}

/// The number of queries, and what is worth knowing about it.
fn queries(statistics: Statistics) -> String {
    let Statistics {
        queries,
        queries_hints,
        queries_confirming,
        queries_asked_again,
        replayed,
        cache_hits,
        necessary_queries,
        ..
    } = statistics;
    let mut lines = vec![match necessary_queries {
        Some(necessary) => format!("{}; any proof needs {}", grouped(queries), grouped(necessary)),
        None => grouped(queries),
    }];
    if queries_hints > 0 {
        lines.push(format!("{} of them for hints", grouped(queries_hints)));
    }
    if replayed > 0 {
        lines.push(format!("{} more to come back to earlier states", grouped(replayed)));
    }
    if cache_hits > 0 {
        lines.push(format!("{} answered from memory", grouped(cache_hits)));
    }
    if queries_asked_again > 0 {
        lines.push(format!("{} more to see whether the system is what it was", grouped(queries_asked_again)));
    }
    if queries_confirming > 0 {
        lines.push(format!("{} more to run the tree again", grouped(queries_confirming)));
    }
    lines.join("\n         ")
}

fn optimal(problem: &Problem, best: &Solution) -> String {
    let objective = problem.objective();
    let (value, within) = (best.value, within(problem));
    if !objective.is_plain() {
        let achieved = worth::achieved(problem, value);
        let tail = if best.tree.size() > 0 { ", and no smaller tree does equally well" } else { "" };
        return format!("Optimal: {achieved}. No tree {within} does better{tail}.");
    }
    let mut text = match achieved(problem, value) {
        Some(achieved) if value == problem.perfect() => format!("Optimal and perfect: {achieved}"),
        Some(achieved) => format!("Optimal: {achieved}"),
        None => {
            let states = match problem.initial_states().len() as u64 {
                1 => "the initial state is at the goal already".to_owned(),
                2 => "both initial states are at the goal already".to_owned(),
                count => format!("all {} initial states are at the goal already", grouped(count)),
            };
            return format!("Optimal: {states}, so no step is needed.");
        }
    };
    // The smallest trees are leaves, so about a leaf there is nothing to say.
    let smaller = best.tree.size() > 0;
    text += &match objective {
        Objective::Survive { horizon, .. } if value == horizon && smaller => {
            format!(", and no smaller tree {within} does.")
        }
        Objective::Survive { horizon, .. } if value == horizon => ".".to_owned(),
        Objective::Reach { .. } => {
            let steps = grouped(value);
            let tail =
                if smaller { format!(", and no smaller tree does it in {steps}") } else { String::new() };
            format!(". No tree {within} does it in fewer{tail}.")
        }
        _ => {
            let tail = if smaller { ", and no smaller tree as long" } else { "" };
            format!(". No tree {within} survives longer{tail}.")
        }
    };
    if problem.has_prices() {
        text += " None as good and as small has a lower price.";
    }
    text
}

fn infeasible(problem: &Problem) -> String {
    let within = within(problem);
    let all = match problem.objective().over() {
        Over::Share(_) => format!(" from {}", worth::states(problem)),
        _ => from_all(problem),
    };
    let horizon = counted(problem.objective().horizon(), "step");
    format!("Infeasible: it is proved that no tree {within} reaches the goal{all} within {horizon}.")
}

/// Why a search ended early.
fn stopped(reason: StopReason) -> &'static str {
    match reason {
        StopReason::TimeLimit => "Stopped by the time limit.",
        StopReason::QueryLimit => "Stopped by the limit on queries.",
        StopReason::Interrupted => "Interrupted.",
        StopReason::Gap => "Stopped within the gap.",
        StopReason::First => "Stopped at the first tree.",
        _ => "Stopped.",
    }
}

/// What is known of the best so far, and of better ones.
fn unproved(problem: &Problem, best: Option<&Solution>, bound: Option<u64>) -> String {
    let objective = problem.objective();
    let within = within(problem);
    // A bound that says nothing is not worth a sentence.
    let is_best = |bound| best.is_some_and(|best| best.value == bound);
    let bound = bound.filter(|&bound| bound != problem.perfect() || is_best(bound));
    let proved = bound.map(|bound| match (objective, best) {
        (_, Some(best)) if best.value == bound => {
            // A proof of the value is not one of the size.
            let tail = if best.tree.size() > 0 { ", but not that none as good is smaller" } else { "" };
            format!(" It is proved that no tree {within} has a better value{tail}.")
        }
        (objective, _) if !objective.is_plain() => {
            let bound = objective.shown(bound).map_or(String::new(), |bound| bound.to_string());
            format!(" It is proved that no tree {within} has a better value than {bound}.")
        }
        (Objective::Reach { .. }, _) => {
            format!(" It is proved that no tree {within} does it in fewer than {}.", counted(bound, "step"))
        }
        _ => {
            format!(" It is proved that no tree {within} survives more than {}.", counted(bound, "step"))
        }
    });
    let proved = proved.unwrap_or_else(|| " Nothing is proved about others.".to_owned());
    match best {
        None => format!("No tree was found so far.{proved}"),
        Some(best) => {
            let achieved = achieved(problem, best.value).unwrap_or_else(|| "no step is needed".to_owned());
            format!("The best so far: {achieved}.{proved}")
        }
    }
}

/// What is not proved, but likely by what was seen.
fn estimated(problem: &Problem, estimate: u64) -> String {
    let objective = problem.objective();
    let word = if objective.is_minimised() { "least" } else { "most" };
    let estimate = worth::about(objective.number(estimate));
    format!(
        " By the rewards seen so far the best value is at {word} about {estimate}: an estimate, not proved."
    )
}

/// Which initial states no tree serves, as a paragraph to follow the summary; empty if there is nothing
/// to say.
pub fn explanation(problem: &Problem, explanation: &Explanation) -> String {
    let Explanation { alone, together, is_cut_short, queries } = explanation;
    let states = |indices: &[usize]| {
        let shown = indices
            .iter()
            .take(MOST_STATES)
            .map(|&index| format!("{index} ({})", list(problem.initial_states()[index].values())));
        let more = indices.len().saturating_sub(MOST_STATES);
        let more = if more > 0 { format!(" and {} more", grouped(more as u64)) } else { String::new() };
        shown.collect::<Vec<_>>().join("; ") + &more
    };
    let (what, whose, cut) = match (alone.is_empty(), together.is_empty()) {
        (false, _) => ("from any of these initial states, even alone", alone, "there may be others"),
        (true, false) => {
            ("from all of these initial states together", together, "some of them may be enough")
        }
        (true, true) => return String::new(),
    };
    let cut = if *is_cut_short { format!(" ({cut}: not everything was tried)") } else { String::new() };
    let text = format!("It is proved that no tree reaches the goal {what}{cut}: {}.", states(whose));
    format!("\n{}\n\nqueries  {} to find that out\n", wrapped(&text), grouped(*queries))
}

/// What a tree of this value does, without a full stop; none if there is nothing to be done.
fn achieved(problem: &Problem, value: u64) -> Option<String> {
    let all = from_all(problem);
    let several = problem.initial_states().len() > 1;
    let steps = counted(value, "step");
    match problem.objective() {
        objective if !objective.is_plain() => Some(worth::achieved(problem, value)),
        Objective::Reach { .. } if value == 0 => None,
        Objective::Reach { .. } => {
            let in_steps = if several { "in at most" } else { "in" };
            Some(format!("this tree reaches the goal{all} {in_steps} {steps}"))
        }
        Objective::Survive { horizon, .. } if value == horizon => {
            Some(format!("this tree survives the whole horizon of {steps}{all}"))
        }
        _ => {
            let at_least = if several { "at least " } else { "" };
            Some(format!("this tree survives {at_least}{steps}{all}"))
        }
    }
}

fn from_all(problem: &Problem) -> String {
    match problem.initial_states().len() as u64 {
        1 => String::new(),
        2 => " from both initial states".to_owned(),
        count => format!(" from all {} initial states", grouped(count)),
    }
}

/// The trees searched, to follow the word "tree".
fn within(problem: &Problem) -> String {
    let limits = problem.limits();
    let (depth, nodes) = (limits.depth(), limits.nodes());
    if depth == 0 || nodes == 0 {
        return "of depth 0".to_owned();
    }
    let all = TreeLimits::new(depth, None).is_ok_and(|all| all.nodes() == nodes);
    let size = if all { String::new() } else { format!(" and size at most {}", grouped(nodes)) };
    let mut asked = problem.dimensions().iter().filter(|dimension| !dimension.thresholds.is_empty());
    let thresholds = if asked.all(|dimension| dimension.thresholds.is_all()) {
        "whatever its thresholds"
    } else {
        "on these thresholds"
    };
    format!("of depth at most {depth}{size} {thresholds}")
}

/// Breaks prose into lines of less than 80 columns.
///
/// ```
/// let line = "word ".repeat(20);
/// assert!(broccoli_export::text::wrapped(&line).lines().all(|line| line.len() < 80));
/// ```
pub fn wrapped(prose: &str) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in prose.split(' ') {
        let length = word.chars().count();
        if column > 0 && column + 1 + length >= WIDTH {
            text.push('\n');
            column = 0;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text += word;
        column += length;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use broccoli_core::problem::{InitialState, RunError, SystemError, Thresholds};
    use broccoli_core::search::Status;
    use broccoli_core::tree::Tree;

    fn problem(objective: Objective, states: usize, depth: u32, nodes: Option<u64>) -> Problem {
        let mut builder = Problem::builder()
            .dimension("x", Thresholds::list([1.0, 2.0]).unwrap())
            .action("a", 0.0)
            .action("b", 1.0)
            .initials(vec![InitialState::new([0.0]); states])
            .objective(objective)
            .depth(depth);
        if let Some(nodes) = nodes {
            builder = builder.nodes(nodes);
        }
        builder.build().unwrap()
    }

    fn solution(size: u64, value: u64) -> Solution {
        let tree = (0..size).fold(Tree::Leaf(0), |tree, _| Tree::node(0, 1.0, Tree::Leaf(1), tree));
        Solution { tree, value }
    }

    #[test]
    fn every_claim_in_a_sentence() {
        let reach = Objective::reach(10_000);
        let survive = Objective::survive(10_000);
        let claims = [
            optimal(&problem(reach, 1, 2, None), &solution(3, 104)),
            optimal(&problem(reach, 5, 2, None), &solution(3, 1_107)),
            optimal(&problem(reach, 2, 3, Some(4)), &solution(1, 1)),
            optimal(&problem(reach, 1, 0, None), &solution(0, 7)),
            optimal(&problem(reach, 1, 2, None), &solution(0, 0)),
            optimal(&problem(reach, 1_000, 2, None), &solution(0, 0)),
            optimal(&problem(survive, 1, 2, None), &solution(3, 3_082)),
            optimal(&problem(survive, 100, 3, Some(6)), &solution(3, 1)),
            optimal(&problem(survive, 1, 2, None), &solution(0, 0)),
            optimal(&problem(survive, 1, 3, None), &solution(6, 10_000)),
            optimal(&problem(survive, 3, 3, None), &solution(0, 10_000)),
            infeasible(&problem(reach, 1, 3, None)),
            infeasible(&problem(reach, 5, 1, Some(0))),
            infeasible(&problem(Objective::reach(1), 2, 3, Some(5))),
            unproved(&problem(reach, 1, 3, None), None, None),
            unproved(&problem(reach, 1, 3, None), Some(&solution(2, 120)), Some(90)),
            unproved(&problem(survive, 2, 3, None), Some(&solution(2, 120)), Some(10_000)),
            unproved(&problem(survive, 1, 3, None), Some(&solution(2, 120)), None),
            unproved(&problem(reach, 1, 3, None), None, Some(90)),
            unproved(&problem(survive, 1, 3, None), Some(&solution(2, 120)), Some(120)),
            unproved(&problem(survive, 1, 3, None), Some(&solution(2, 120)), Some(130)),
        ];
        insta::assert_snapshot!(claims.join("\n"));
    }

    #[test]
    fn why_no_tree_exists() {
        let problem = problem(Objective::reach(10), 12, 1, None);
        let of = |alone: &[usize], together: &[usize], is_cut_short| {
            let (alone, together) = (alone.to_vec(), together.to_vec());
            explanation(&problem, &Explanation { alone, together, is_cut_short, queries: 1_234 })
        };
        let all: Vec<usize> = (0..12).collect();
        let reasons =
            [of(&[3], &[], false), of(&all, &[], true), of(&[], &[0, 2], false), of(&[], &[0, 2], true)];
        insta::assert_snapshot!(reasons.join("---\n"));
        assert_eq!(of(&[], &[], true), "");
    }

    #[test]
    fn a_whole_summary() {
        let problem = problem(Objective::survive(10_000), 2, 3, Some(6));
        let statistics =
            Statistics { trees: 20_477, traces: 30_000, queries: 7_213_507, ..Statistics::default() };
        let found = Outcome {
            engine: Engine::Backtracking { pruning: false },
            status: Status::Optimal,
            best: Some(solution(1, 3_082)),
            bound: Some(3_082),
            intervals: Vec::new(),
            estimate: None,
            statistics,
        };
        insta::assert_snapshot!(outcome(&problem, &found, 0.345));
        let failed = Failure {
            engine: Engine::Exhaustive,
            error: RunError::Start(SystemError::new("no licence")),
            best: None,
            statistics,
        };
        insta::assert_snapshot!(failure(&problem, &failed, 61.0));
    }
}

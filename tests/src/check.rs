//! Runs a search with any options, and holds all that it says against brute force.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use broccoli_certificate::Form;
use broccoli_checker::Claim;
use broccoli_core::problem::{ComeBack, Over, RunError, SystemFactory};
use broccoli_core::search::{Front, HintTuning, Optima, Outcome, Search, Status, StopReason, Tuning, join};
use broccoli_core::tree::Tree;
use proptest::strategy::{BoxedStrategy, Strategy};
use serde::{Deserialize, Serialize};

use crate::batch::{Made, batched};
use crate::certified::{Bytes, read, verify, verify_alone};
use crate::jittery::jittery;
use crate::options::{self, Answer, Back, EngineName, Halt, Options, Proof};
use crate::oracle;
use crate::pieces::{Pieces, Posed, engine_of};
use crate::remembering;
use crate::table::TableProblem;

/// A problem, and the ways in which it is searched. Its JSON form is what a failure prints and
/// `tests/regressions/` can hold.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Case {
    /// The problem.
    #[serde(flatten)]
    pub table: TableProblem,
    /// The ways.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Options>,
}

/// In how many ways each problem is solved, on average.
const WAYS: usize = 3;

/// Problems with some of the ways to solve them.
pub fn in_some_ways(tables: BoxedStrategy<TableProblem>) -> BoxedStrategy<Case> {
    let ways = proptest::collection::vec(options::options(), 1..2 * WAYS);
    (tables, ways).prop_map(|(table, options)| Case { table, options }).boxed()
}

/// Runs the searches of a case; what they say must be true, and the same where it must be. `ran` is told the options
/// that were in force.
///
/// # Errors
/// What is wrong, in words.
pub fn check(case: &Case, ran: impl Fn(&Options)) -> Result<(), String> {
    let mut truth = Truth::new(&case.table)?;
    truth.answer(EngineName::Behaviour, &[], None)?;
    if truth.is_proved && case.table.objective.is_plain() && !case.table.is_without_grid() {
        // Its rules are the hardest to get right, and each is of use on few problems only.
        truth.answer(EngineName::Backtracking, &[], None)?;
    }
    for options in &case.options {
        let options = truth.fitted(options.clone());
        ran(&options);
        truth.check(&options).map_err(|wrong| format!("{options:?}\n{wrong}"))?;
    }
    Ok(())
}

/// More trees than this are too many for brute force.
const MOST_TREES: u64 = 100_000;

/// What brute force knows of a problem; or if it has too many trees, what a plain search says.
struct Truth<'t> {
    table: &'t TableProblem,
    best: Option<(f64, u64)>,
    is_proved: bool,
    /// The answers of searches without options, by engine, prices and constants.
    answers: BTreeMap<(EngineName, Vec<u64>, String), Outcome>,
}

/// What a search has said.
enum Said {
    Outcome(Outcome),
    Front(Front),
    Optima(Optima),
}

impl<'t> Truth<'t> {
    fn new(table: &'t TableProblem) -> Result<Self, String> {
        let predicates: usize = table.thresholds.iter().map(Vec::len).sum();
        let trees = oracle::tree_count(predicates as u64, table.actions() as u64, table.nodes, table.depth);
        let is_proved = trees <= MOST_TREES;
        let best = match is_proved {
            true => oracle::best_number(table),
            false => {
                let (problem, factory) = (table.problem(), table.factory(ComeBack::Clone));
                let outcome = Search::new(&problem, &factory).run().map_err(|failure| failure.to_string())?;
                outcome.best.map(|best| (table.objective.number(best.value), best.tree.size()))
            }
        };
        Ok(Truth { table, best, is_proved, answers: BTreeMap::new() })
    }

    /// The options without those that mean nothing for this problem or for each other.
    fn fitted(&self, mut options: Options) -> Options {
        let is_plain = self.table.objective.is_plain();
        options.prices.truncate(self.table.thresholds.len());
        if !self.is_proved {
            options.engine = EngineName::Behaviour;
            options.prices.clear();
            if let Answer::Front | Answer::All = options.answer {
                options.answer = Answer::Best;
            }
        }
        if options.engine != EngineName::Behaviour {
            (options.threads, options.cache, options.memory, options.tuning) = (1, None, None, None);
            options.proof = Proof::No;
            if let Halt::Pieces(share) = options.halt {
                options.halt = Halt::At(share);
            }
            options.answer = match options.answer {
                Answer::InParts(_) => Answer::Best,
                answer => answer,
            };
        }
        if options.engine == EngineName::Exhaustive {
            options.gap = 0;
        }
        // What the command line refuses, see the table in docs/choices.md.
        let is_choice = matches!(options.answer, Answer::Front | Answer::All) || !options.prices.is_empty();
        if is_choice {
            (options.gap, options.first) = (0, false);
        }
        if let Answer::InParts(_) = options.answer {
            (options.first, options.halt) = (false, Halt::Never);
        }
        if let (true, Halt::Pieces(share)) = (is_choice, options.halt) {
            options.halt = Halt::At(share);
        }
        if options.answer != Answer::Best {
            options.proof = Proof::No;
        }
        if !is_plain {
            options.proof = Proof::No;
        }
        if options.rows.is_some() && options.back == Back::Replay {
            options.back = Back::Snapshot; // rows are states
        }
        options
    }

    /// The answer of an engine without any option but prices and constants, which is checked when it is first asked for.
    fn answer(
        &mut self,
        engine: EngineName,
        prices: &[f64],
        tuning: Option<Tuning>,
    ) -> Result<Outcome, String> {
        let key = (engine, prices.iter().map(|price| price.to_bits()).collect(), format!("{tuning:?}"));
        if let Some(answer) = self.answers.get(&key) {
            return Ok(answer.clone());
        }
        let (problem, factory) = (self.table.priced(prices), self.table.factory(ComeBack::Clone));
        let mut search = Search::new(&problem, &factory).engine(engine_of(engine));
        if let Some(tuning) = tuning {
            search = search.tuning(tuning);
        }
        let outcome = search.run().map_err(|failure| failure.to_string())?;
        self.check_proved(&outcome).map_err(|wrong| format!("{engine:?}, no options: {wrong}"))?;
        let predicates = outcome.best.as_ref().map_or(0, |best| best.tree.predicates().len());
        let is_whole = !self.table.is_without_grid() || outcome.intervals.len() == predicates;
        is(is_whole, || format!("no intervals: {outcome:?}"))?;
        self.answers.insert(key, outcome.clone());
        Ok(outcome)
    }

    fn check(&mut self, options: &Options) -> Result<(), String> {
        let is_paper = matches!(options.engine, EngineName::Backtracking | EngineName::WithoutPruning);
        let needs_list = options.engine != EngineName::Behaviour;
        if is_paper && !self.table.objective.is_plain() || needs_list && self.table.is_without_grid() {
            return self.check_refused(options);
        }
        let answer = self.answer(options.engine, &options.prices, options.tuning)?;
        let (said, proof) = self.run(options, &answer)?;
        match &said {
            Said::Front(front) => {
                check_front(self.table, front)?;
                let is_stopped = matches!(front.outcome.status, Status::Stopped(_));
                is(!is_stopped || options.halt != Halt::Never, || format!("{front:?}"))?;
                let last = front.parts.last().ok_or("an empty front")?;
                let is_same = !is_unsteered(options) || last.best == answer.best || is_stopped;
                is(is_same, || format!("{last:?} instead of {answer:?}"))?;
            }
            Said::Optima(optima) => self.check_all(options, optima, &answer)?,
            Said::Outcome(outcome) => self.check_outcome(options, outcome, &answer)?,
        }
        match (&said, proof) {
            (Said::Outcome(outcome), Some(bytes)) => self.check_proof(options, outcome, &bytes),
            _ => Ok(()),
        }
    }

    /// An engine for plain objectives, or for lists of thresholds, refuses the others.
    fn check_refused(&self, options: &Options) -> Result<(), String> {
        let (problem, factory) = (self.table.problem(), self.table.factory(ComeBack::Clone));
        let refused = Search::new(&problem, &factory).engine(engine_of(options.engine)).run();
        let is_refused =
            refused.as_ref().is_err_and(|failure| matches!(failure.error, RunError::Unsupported { .. }));
        is(is_refused, || format!("{refused:?} instead of a refusal"))
    }

    /// The tree to start from: any, or the answer.
    fn start(&self, raw: u32, answer: &Outcome) -> Tree {
        match &answer.best {
            Some(best) if raw == u32::MAX => best.tree.clone(),
            _ => {
                let mut draw = crate::numbers(raw.into());
                let mut left = draw() % (self.table.nodes + 1);
                self.random_tree(&mut draw, self.table.depth, &mut left)
            }
        }
    }

    /// A tree of up to this depth, which takes its predicates from those that are left.
    fn random_tree(&self, draw: &mut impl FnMut() -> u64, depth: u32, left: &mut u64) -> Tree {
        let predicates: Vec<(usize, f64)> = self
            .table
            .thresholds
            .iter()
            .enumerate()
            .flat_map(|(dimension, thresholds)| thresholds.iter().map(move |&t| (dimension, t)))
            .collect();
        if depth == 0 || *left == 0 || predicates.is_empty() {
            return Tree::Leaf(draw() as usize % self.table.actions());
        }
        *left -= 1;
        let (dimension, mut threshold) = predicates[draw() as usize % predicates.len()];
        if self.table.has_all(dimension) {
            // At a value, or one bit beside it.
            let beside = [threshold, threshold.next_up(), threshold.next_down()][draw() as usize % 3];
            threshold = if beside.is_finite() { beside } else { threshold };
        }
        let yes = self.random_tree(draw, depth - 1, left);
        let no = self.random_tree(draw, depth - 1, left);
        Tree::node(dimension, threshold, yes, no)
    }

    fn run(&self, options: &Options, answer: &Outcome) -> Result<(Said, Option<Vec<u8>>), String> {
        let table = self.table;
        let problem = table.priced(&options.prices);
        let back = match options.back {
            Back::Clone => ComeBack::Clone,
            Back::Snapshot => ComeBack::Snapshot,
            Back::Replay => ComeBack::Replay,
        };
        let factory: Box<dyn SystemFactory> = match (options.rows, options.threads) {
            (Some(rows), _) => Box::new(batched(table.factory(back), rows, &Made::default())),
            (None, 1) => Box::new(table.factory(back)),
            (None, _) => Box::new(jittery(table.factory(back))),
        };
        let factory = remembering(&problem, &*factory, options.cache);
        let start = options.start.map(|raw| self.start(raw, answer));
        let posed = Posed { problem: &problem, factory: &*factory, options, start };
        let needed = all_queries(answer);
        let failed = |failure: Box<broccoli_core::search::Failure>| failure.to_string();
        let at = match options.halt {
            Halt::At(share) => Some(needed * u64::from(share) / 100),
            _ => None,
        };
        fn limited(search: Search<'_>, at: Option<u64>) -> Search<'_> {
            match at {
                Some(queries) => search.query_limit(queries),
                None => search,
            }
        }
        match options.answer {
            Answer::Front => Ok((Said::Front(limited(posed.search()?, at).front().map_err(failed)?), None)),
            Answer::All => {
                let optima = limited(posed.search()?, at).all_optimal(NonZeroUsize::MAX).map_err(failed)?;
                Ok((Said::Optima(optima), None))
            }
            Answer::InParts(parts) => {
                let parts = NonZeroUsize::new(parts).ok_or("no parts")?;
                let (so_far, parts) = posed.search()?.split(parts).map_err(failed)?;
                let solve = |part| {
                    let search = Search::new(&problem, &*factory).gap(f64::from(options.gap) / 100.0);
                    search.solve_subproblem(part).map_err(|error| error.to_string())
                };
                let outcomes = parts.into_iter().rev().map(solve).collect::<Result<Vec<_>, _>>()?;
                Ok((Said::Outcome(join(problem.objective(), so_far, outcomes)), None))
            }
            Answer::Best => {
                let bytes = Bytes::default();
                let form = match options.proof {
                    Proof::No => None,
                    Proof::Light => Some(Form::Light),
                    Proof::Full => Some(Form::Full),
                };
                let mut pieces = Pieces::new(&problem, form, &bytes);
                let outcome = match options.halt {
                    Halt::Pieces(share) => pieces.run(&posed, 1 + needed * u64::from(share) / 100)?,
                    _ => pieces.once(limited(posed.search()?, at))?,
                };
                pieces.end(&problem, &*factory, &outcome)?;
                Ok((Said::Outcome(outcome), form.map(|_| bytes.get())))
            }
        }
    }

    /// Whether a search that was to end had a reason not to, and what it says then.
    fn check_outcome(&self, options: &Options, outcome: &Outcome, answer: &Outcome) -> Result<(), String> {
        check_statistics(outcome)?;
        let Status::Stopped(reason) = outcome.status else {
            self.check_proved(outcome)?;
            let is_one = !matches!(options.answer, Answer::InParts(_));
            let is_same = is_unsteered(options) && is_one;
            is(!is_same || outcome.best == answer.best, || format!("{outcome:?}\ninstead of {answer:?}"))?;
            if is_same && self.has_same_queries(options) {
                let (queries, expected) = (outcome.statistics.queries, answer.statistics.queries);
                is(queries == expected, || format!("{queries} queries instead of {expected}"))?;
            }
            return self.check_price(options, outcome, is_one);
        };
        self.check_stopped(outcome)?;
        let is_unproved = reason != StopReason::Gap || outcome.statistics.necessary_queries.is_none();
        is(is_unproved, || format!("the queries of a proof that does not exist: {outcome:?}"))?;
        let is_explained = match reason {
            StopReason::Gap => options.gap > 0 && self.is_within(options.gap, outcome),
            StopReason::First => options.first,
            StopReason::QueryLimit => matches!(options.halt, Halt::At(_)),
            _ => false,
        };
        is(is_explained, || format!("stopped: {outcome:?}"))
    }

    /// Whether a search that comes to its end makes as many queries as one without options. Traces that are remembered
    /// when a search is stopped within a chunk are not written down.
    fn has_same_queries(&self, options: &Options) -> bool {
        let is_whole = !matches!(options.halt, Halt::Pieces(_)) || self.table.initial.len() == 1;
        is_whole && options.cache.is_none() && options.prices.is_empty() && options.answer == Answer::Best
    }

    /// Of the best trees one with the least price is chosen.
    fn check_price(&self, options: &Options, outcome: &Outcome, is_one: bool) -> Result<(), String> {
        match &outcome.best {
            Some(best) if is_one && !options.prices.is_empty() => {
                let optima = oracle::optima(self.table, &options.prices);
                let prices = &options.prices;
                let price = |tree: &Tree| oracle::price(tree, prices);
                let is_cheapest = match self.table.is_without_grid() {
                    true => optima.first().is_some_and(|tree| price(tree) == price(&best.tree)),
                    false => optima.contains(&best.tree),
                };
                is(is_cheapest, || format!("{best:?} is not one of the cheapest"))
            }
            _ => Ok(()),
        }
    }

    fn check_all(&self, options: &Options, optima: &Optima, answer: &Outcome) -> Result<(), String> {
        let expected = oracle::optima(self.table, &options.prices);
        self.check_outcome(options, &optima.outcome, answer)?;
        if self.table.is_without_grid() {
            return self.check_all_behaviours(optima, &expected);
        }
        is(optima.trees.iter().all(|tree| expected.contains(tree)), || format!("{optima:?}"))?;
        if let Status::Optimal = optima.outcome.status {
            let is_all = optima.is_complete && optima.trees.len() == expected.len();
            is(is_all, || format!("{} trees, not {}", optima.trees.len(), expected.len()))?;
            is(optima.trees.first() == optima.outcome.best.as_ref().map(|best| &best.tree), || {
                format!("{:?} is not the first", optima.outcome.best)
            })?;
        }
        Ok(())
    }

    /// The same where there are too many thresholds to list all trees: each does something else than the others or splits
    /// otherwise, each is as good, and whatever an optimal tree does one of them does.
    fn check_all_behaviours(&self, optima: &Optima, expected: &[Tree]) -> Result<(), String> {
        let horizon = self.table.objective.horizon();
        let does = |tree: &Tree| -> Vec<Vec<usize>> {
            self.table
                .initial
                .iter()
                .map(|&initial| oracle::actions(self.table, tree, initial, horizon))
                .collect()
        };
        let best = self.best;
        for (place, tree) in optima.trees.iter().enumerate() {
            let found = oracle::number(self.table, tree).map(|value| (value, tree.size()));
            is(found == best, || format!("{tree:?} is worth {found:?}, not {best:?}"))?;
            is(!optima.trees[..place].contains(tree), || format!("{tree:?} is there twice"))?;
        }
        if let Status::Optimal = optima.outcome.status {
            let found: BTreeSet<_> = optima.trees.iter().map(does).collect();
            let missing = expected.iter().find(|tree| !found.contains(&does(tree)));
            is(optima.is_complete && missing.is_none(), || format!("{missing:?} is missing in {optima:?}"))?;
            is(optima.trees.first() == optima.outcome.best.as_ref().map(|best| &best.tree), || {
                format!("{:?} is not the first", optima.outcome.best)
            })?;
        }
        Ok(())
    }

    /// The certificate verifies, and claims what the outcome says.
    fn check_proof(&self, options: &Options, outcome: &Outcome, bytes: &[u8]) -> Result<(), String> {
        let (problem, factory) = (self.table.priced(&options.prices), self.table.factory(ComeBack::Clone));
        verify(bytes, &problem, &factory).map_err(|error| format!("certificate: {error}; {outcome:?}"))?;
        if options.proof == Proof::Full {
            verify_alone(bytes).map_err(|error| format!("certificate alone: {error}"))?;
        }
        let (certificate, _) = read(bytes)?;
        let is_same = match (&certificate.claim, outcome.status) {
            (Claim::Optimal(_), Status::Optimal) | (Claim::Infeasible, Status::Infeasible) => true,
            (Claim::Bound { bound, .. }, Status::Stopped(_)) => outcome.bound == Some(*bound),
            _ => false,
        };
        is(is_same, || format!("{:?} is claimed of {outcome:?}", certificate.claim))
    }

    fn number(&self, value: u64) -> f64 {
        self.table.objective.number(value)
    }

    /// Whether the value is within the gap of the bound.
    fn is_within(&self, percent: u16, outcome: &Outcome) -> bool {
        let (Some(best), Some(bound)) = (&outcome.best, outcome.bound) else { return false };
        let (value, bound) = (self.number(best.value), self.number(bound));
        (value - bound).abs() <= f64::from(percent) / 100.0 * value.abs().max(1.0) * (1.0 + 1e-12)
    }

    /// A search that came to its end says what brute force says.
    fn check_proved(&self, outcome: &Outcome) -> Result<(), String> {
        let found = outcome.best.as_ref().map(|best| (self.number(best.value), best.tree.size()));
        is(found == self.best, || format!("(value, size) is {found:?}, not {:?}", self.best))?;
        let status = if self.best.is_some() { Status::Optimal } else { Status::Infeasible };
        let bound = outcome.bound.map(|bound| self.number(bound));
        let is_said = outcome.status == status && bound == self.best.map(|(value, _)| value);
        is(is_said, || format!("status {:?}, bound {bound:?}", outcome.status))?;
        self.check_tree(outcome)
    }

    /// A search that was stopped says nothing that brute force knows to be false.
    fn check_stopped(&self, outcome: &Outcome) -> Result<(), String> {
        let bound = self.number(outcome.bound.ok_or("a stopped search has a bound")?);
        let is_better = |a: f64, b: f64| if self.table.objective.is_minimised() { a < b } else { a > b };
        is(self.best.is_none_or(|(value, _)| !is_better(value, bound)), || {
            format!("the bound is {bound}, the optimum {:?}", self.best)
        })?;
        self.check_tree(outcome)
    }

    /// The tree is one of the problem's, and is worth what is claimed.
    fn check_tree(&self, outcome: &Outcome) -> Result<(), String> {
        let Some(best) = &outcome.best else { return Ok(()) };
        let (value, rerun) = (self.number(best.value), oracle::number(self.table, &best.tree));
        is(rerun == Some(value), || format!("{best:?} claims {value} but gives {rerun:?}"))?;
        let is_within = best.tree.depth() <= self.table.depth && best.tree.size() <= self.table.nodes;
        is(is_within, || format!("{best:?} is beyond the limits"))?;
        self.check_intervals(outcome, &best.tree)
    }

    /// With any other threshold of an interval all traces are the same.
    fn check_intervals(&self, outcome: &Outcome, tree: &Tree) -> Result<(), String> {
        let predicates = tree.predicates();
        let is_known = outcome.intervals.len() == predicates.len();
        is(is_known || outcome.intervals.is_empty(), || format!("{:?}", outcome.intervals))?;
        let horizon = self.table.objective.horizon();
        let traces = |tree: &Tree| -> Vec<Vec<usize>> {
            self.table
                .initial
                .iter()
                .map(|&initial| oracle::actions(self.table, tree, initial, horizon))
                .collect()
        };
        let expected = traces(tree);
        for (place, (interval, (dimension, threshold))) in
            outcome.intervals.iter().zip(predicates).enumerate()
        {
            let Some(interval) = interval else {
                is(!self.table.has_all(dimension), || format!("predicate {place} has no interval"))?;
                continue;
            };
            is(interval.low < threshold && threshold <= interval.high, || {
                format!("{threshold} in {interval:?}")
            })?;
            for other in [interval.low.next_up(), interval.high].into_iter().filter(|other| other.is_finite())
            {
                let changed = with_threshold(tree, &mut (place as u64), other);
                is(traces(&changed) == expected, || {
                    format!("{other} for {threshold} in {interval:?}: {tree:?}")
                })?;
            }
            // It goes on to the values that were told apart.
            let seen = |end: f64| {
                let is_end = |value: f64| value == end || end == f64::MAX && value == f64::INFINITY;
                end.is_infinite()
                    || self.table.states.iter().any(|state| is_end(state.observation[dimension]))
            };
            is(seen(interval.low) && seen(interval.high), || format!("{interval:?} ends nowhere"))?;
        }
        Ok(())
    }
}

/// Whether nothing is asked for that leads the search another way: then it finds the same tree.
fn is_unsteered(options: &Options) -> bool {
    // With what the system answered, each trace is run anew, and that takes other steps. And where memory is short it
    // matters how much of it a saved state takes.
    let has_no_hints = |tuning: Tuning| tuning.hints == HintTuning::OFF;
    let is_short = |tuning: Tuning| tuning.most_leaf_bytes.min(tuning.most_recall_bytes) < 1 << 20;
    options.start.is_none()
        && options.memory.is_none()
        && !options.tuning.is_some_and(is_short)
        // A hint that was stopped is begun again, and may find another tree that is as good.
        && (options.halt == Halt::Never || options.tuning.is_some_and(has_no_hints))
        && options.proof != Proof::Full
}

/// The same tree with another threshold in the predicate with this place in preorder.
fn with_threshold(tree: &Tree, place: &mut u64, other: f64) -> Tree {
    let Tree::Node { dimension, threshold, yes, no } = tree else { return tree.clone() };
    let threshold = if *place == 0 { other } else { *threshold };
    *place = place.wrapping_sub(1);
    let yes = with_threshold(yes, place, other);
    Tree::node(*dimension, threshold, yes, with_threshold(no, place, other))
}

/// All queries of a search but those that confirm its answer.
fn all_queries(outcome: &Outcome) -> u64 {
    let statistics = &outcome.statistics;
    statistics.queries + statistics.replayed
}

/// No count has gone below zero.
fn check_statistics(outcome: &Outcome) -> Result<(), String> {
    let s = outcome.statistics;
    let counts = [s.trees, s.traces, s.queries, s.replayed, s.cache_hits];
    is(counts.iter().all(|count| *count < 1 << 40), || format!("{s:?}"))
}

/// An error unless the condition holds.
///
/// # Errors
/// With what is wrong, in words.
pub fn is(condition: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if condition { Ok(()) } else { Err(what()) }
}

/// Checks that a front has each limit in one part, and that what it claims of each is true.
///
/// # Errors
/// What is wrong, in words.
pub fn check_front(table: &TableProblem, front: &Front) -> Result<(), String> {
    let limited = |nodes| oracle::best_number(&TableProblem { nodes, ..table.clone() });
    let truth: Vec<Option<(f64, u64)>> = (0..=table.nodes).map(limited).collect();
    let number = |value: u64| table.objective.number(value);
    let is_better = |a: f64, b: f64| if table.objective.is_minimised() { a < b } else { a > b };
    let mut next = 0;
    for part in &front.parts {
        is(*part.sizes.start() == next && !part.sizes.is_empty(), || format!("a gap before {part:?}"))?;
        next = part.sizes.end() + 1;
        let found = part.best.as_ref().map(|best| (number(best.value), best.tree.size()));
        for nodes in part.sizes.clone() {
            let best = truth[nodes as usize];
            let is_true = match part.status {
                Status::Optimal => {
                    found == best && found.is_some() && part.bound.map(number) == best.map(|best| best.0)
                }
                Status::Infeasible => found.is_none() && best.is_none() && part.bound.is_none(),
                _ => {
                    let bound = number(part.bound.ok_or("no bound")?);
                    best.is_none_or(|(value, _)| !is_better(value, bound))
                        && found.is_none_or(|(value, _)| best.is_some_and(|best| !is_better(value, best.0)))
                }
            };
            is(is_true, || format!("{part:?} at {nodes}, where the best is {best:?}"))?;
        }
        if let Some(best) = &part.best {
            is(best.tree.size() == *part.sizes.start(), || format!("{best:?} is not of the first size"))?;
            is(oracle::number(table, &best.tree) == Some(number(best.value)), || {
                format!("{best:?} has another value")
            })?;
        }
    }
    is(next == table.nodes + 1, || format!("the front ends at {next}"))?;
    let values = front.parts.iter().filter_map(|part| part.best.as_ref()).map(|best| number(best.value));
    let values: Vec<f64> = values.collect();
    is(values.windows(2).all(|pair| is_better(pair[1], pair[0])), || format!("{values:?}"))
}

/// What kind of problem it is: its objective, how it counts over the initial states, and whether there are several.
pub fn kind(table: &TableProblem) -> Vec<String> {
    let over = match table.objective.over() {
        Over::Share(_) => "over share".to_owned(),
        over => format!("over {over:?}"),
    };
    let states = if table.initial.len() > 1 { "several" } else { "1" };
    let grid = if table.is_without_grid() { "without" } else { "with" };
    let (objective, states) = (format!("objective {}", table.objective.name()), format!("states {states}"));
    vec![objective, over, states, format!("{grid} grid")]
}

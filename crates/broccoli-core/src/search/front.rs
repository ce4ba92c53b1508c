//! The front of size against value: the best tree for every limit on the number of predicates, in one run.
//!
//! From above: first the problem as it is. If its best tree has s predicates, that is also the best for every
//! limit from s on, so the next limit is s - 1, and so on down to a lone leaf or to a limit within which no
//! tree has a value. Each search settles all limits down to the size of its tree, so there are as many
//! searches as there are answers. (From below each size needs a search of its own, though with a good tree to
//! start from; that took 1.3 times the queries on the environments of the paper.)

use std::ops::RangeInclusive;

use super::observer::Later;
use super::{Failure, Outcome, Search, Solution, Status};

/// What is known about trees of limited size.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontPart {
    /// The limits on predicate nodes that this is about.
    pub sizes: RangeInclusive<u64>,
    /// What is proved for each of them.
    pub status: Status,
    /// The best tree within each of them, if there is one. Its size is the first of the limits.
    pub best: Option<Solution>,
    /// No tree within these limits has a better value.
    pub bound: Option<u64>,
}

/// The best trees for all sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct Front {
    /// All limits on predicate nodes, from 0 to that of the problem, each in one part, the smallest first.
    /// Each part with a tree has a better value than the one before.
    pub parts: Vec<FrontPart>,
    /// The outcome for the largest limit, with what the whole front took. It is stopped if any part is.
    pub outcome: Outcome,
}

impl<'a> Search<'a> {
    /// Finds the best tree for every number of predicate nodes up to the problem's limit: the answer for each
    /// part is that of a search with this limit. Limits on time and queries are for all of it. There is no
    /// [gap](Search::gap), [first](Search::first) tree, [keeper](Search::keeper) or
    /// [witness](Search::witness).
    ///
    /// ```
    /// use broccoli_core::search::{Search, Status};
    /// # use broccoli_core::problem::*;
    /// # struct Token(f64);
    /// # impl System for Token {
    /// #     fn reset(&mut self, initial: &InitialState, seen: &mut [f64]) -> Result<Reply, SystemError> {
    /// #         self.0 = initial.values()[0];
    /// #         seen[0] = self.0;
    /// #         Ok(Verdict::Running.into())
    /// #     }
    /// #     fn step(&mut self, action: usize, seen: &mut [f64]) -> Result<Reply, SystemError> {
    /// #         self.0 += if action == 0 { -1.0 } else { 2.0 };
    /// #         seen[0] = self.0;
    /// #         Ok(if self.0 == 4.0 { Verdict::Satisfied } else { Verdict::Running }.into())
    /// #     }
    /// # }
    /// # let problem = Problem::builder().dimension("x", Thresholds::grid(0.0, 9.0, 1.0)?)
    /// #     .action("a", 0.0).action("b", 1.0).initial([1.0]).objective(Objective::reach(60)).depth(2).build()?;
    /// # let factory = || Ok(Box::new(Token(0.0)) as Box<dyn System>);
    /// let front = Search::new(&problem, &factory).front()?;
    /// let values: Vec<_> = front.parts.iter().map(|part| part.best.as_ref().map(|best| best.value)).collect();
    /// assert_eq!(values, [None, Some(3)]); // no lone leaf reaches the goal, and one predicate is enough
    /// assert_eq!((front.parts[1].sizes.clone(), front.parts[1].status), (1..=3, Status::Optimal));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the system fails, or is not deterministic; the failure keeps the best tree for the largest limit.
    pub fn front(mut self) -> Result<Front, Box<Failure>> {
        let objective = self.problem.objective();
        let (mut observer, mut start) = (self.observer.take(), self.start.take());
        let mut most = self.problem.limits().nodes();
        let mut parts: Vec<FrontPart> = Vec::new();
        let mut whole: Option<Outcome> = None;
        loop {
            let before = whole.as_ref().map(|whole| whole.statistics);
            let made = before.map_or(0, |s| s.queries + s.replayed);
            let problem = self.problem.limited_to(most);
            let mut later = observer.as_deref_mut().map(|observer| Later { observer, before });
            let search = Search {
                observer: later.as_mut().map(|later| later as _),
                query_limit: self.query_limit.map(|limit| limit.saturating_sub(made)),
                start: start.take(),
                ..self.for_problem(&problem)
            };
            let outcome = search.run().map_err(|mut failure| {
                if let Some(whole) = &whole {
                    failure.best.clone_from(&whole.best);
                    failure.statistics = whole.statistics + failure.statistics;
                }
                failure
            })?;
            let Outcome { status, best, mut bound, statistics, .. } = outcome.clone();
            // What holds for a larger limit holds for this one, too.
            let above = parts.last().and_then(|part| part.bound);
            if let (Some(own), Some(above)) = (bound, above)
                && objective.is_better(own, above)
            {
                bound = Some(above);
            }
            let least = best.as_ref().map_or(0, |best| best.tree.size());
            let is_stopped = matches!(status, Status::Stopped(_));
            parts.push(FrontPart { sizes: least..=most, status, best, bound });
            if is_stopped && least > 0 {
                parts.push(FrontPart { sizes: 0..=least - 1, status, best: None, bound });
            }
            let whole = match &mut whole {
                None => whole.insert(outcome),
                Some(whole) => {
                    whole.statistics = whole.statistics + statistics;
                    whole.status = if is_stopped { status } else { whole.status };
                    whole
                }
            };
            if is_stopped || least == 0 {
                parts.reverse();
                return Ok(Front { parts, outcome: whole.clone() });
            }
            most = least - 1;
        }
    }
}

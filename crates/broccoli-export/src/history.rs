//! The course of a search: when better trees were found and better bounds proved.

use broccoli_core::problem::{Objective, Value};
use broccoli_core::search::{Event, Observer};
use serde::{Deserialize, Serialize};

/// Something worth remembering: a better tree, with value and size, or a better bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// Since the search began.
    pub seconds: f64,
    /// The queries made, as last counted.
    pub queries: u64,
    /// The value of the best tree from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Its number of predicate nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// No tree has a better value than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Value>,
}

/// Keeps the history of a search that it observes. It has no clock of its own: it is given one.
///
/// ```
/// # use broccoli_core::search::Search;
/// # use broccoli_environments::MOUNTAIN_CAR as car;
/// use broccoli_export::history::History;
/// # let problem = car.problem().depth(2).build()?;
/// let started = std::time::Instant::now();
/// let mut history = History::new(problem.objective(), move || started.elapsed().as_secs_f64());
/// let outcome = Search::new(&problem, &car).observer(&mut history).run()?;
/// let last = history.into_moments().into_iter().rfind(|moment| moment.value.is_some());
/// assert_eq!(last.and_then(|moment| moment.value), outcome.best.and_then(|best| problem.objective().shown(best.value)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct History<C> {
    objective: Objective,
    clock: C,
    queries: u64,
    moments: Vec<Moment>,
}

impl<C: Fn() -> f64> History<C> {
    /// A history of a search for this; the clock tells the seconds since it began.
    pub fn new(objective: Objective, clock: C) -> Self {
        History { objective, clock, queries: 0, moments: Vec::new() }
    }

    /// Goes on with an earlier history.
    pub fn after(mut self, earlier: Vec<Moment>) -> Self {
        self.moments = earlier;
        self
    }

    /// Everything so far, in order.
    pub fn moments(&self) -> &[Moment] {
        &self.moments
    }

    /// Everything that was kept, in order.
    pub fn into_moments(self) -> Vec<Moment> {
        self.moments
    }

    fn keep(&mut self, value: Option<u64>, size: Option<u64>, bound: Option<u64>) {
        let shown = |value| self.objective.shown(value);
        let (value, bound) = (value.and_then(shown), bound.and_then(shown));
        self.moments.push(Moment { seconds: (self.clock)(), queries: self.queries, value, size, bound });
    }
}

impl<C: Fn() -> f64> Observer for History<C> {
    fn notify(&mut self, event: Event<'_>) {
        match event {
            Event::Considered(statistics) => self.queries = statistics.queries,
            Event::Improved(better) => self.keep(Some(better.value), Some(better.size), None),
            Event::Bound(bound) => self.keep(None, None, Some(bound)),
            _ => {}
        }
    }
}

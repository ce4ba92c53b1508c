//! What a search tells Python while it runs.

use std::time::Instant;

use broccoli_core::search::{Event, Observer};
use pyo3::prelude::*;

use crate::clock::{Clock, OFTEN};
use crate::number::Number;
use crate::problem::ProblemData;
use crate::tree::Tree;

/// Tells Python what happens, and keeps the history.
pub struct Watch<'a> {
    problem: &'a ProblemData,
    clock: &'a Clock<'a>,
    on_event: Option<Py<PyAny>>,
    told: Instant,
    queries: u64,
    value: Option<u64>,
    size: Option<u64>,
    bound: Option<u64>,
    /// How many queries are still to come, at least and at most.
    to_come: Option<(u64, u64)>,
    /// Queries, seconds, value and bound whenever one of the latter changed.
    pub history: Vec<(u64, f64, Option<Number>, Option<Number>)>,
}

impl<'a> Watch<'a> {
    pub fn new(problem: &'a ProblemData, clock: &'a Clock<'a>, on_event: Option<Py<PyAny>>) -> Self {
        let told = Instant::now();
        let bound = Some(problem.core().perfect());
        Watch {
            problem,
            clock,
            on_event,
            told,
            queries: 0,
            value: None,
            size: None,
            bound,
            to_come: None,
            history: Vec::new(),
        }
    }

    fn number(&self, value: Option<u64>) -> Option<Number> {
        value.and_then(|value| Number::of(self.problem.core().objective(), value))
    }

    fn remember(&mut self) {
        let seconds = self.clock.started.elapsed().as_secs_f64();
        self.history.push((self.queries, seconds, self.number(self.value), self.number(self.bound)));
    }

    fn tell(&mut self, tree: Option<Tree>) {
        let Some(on_event) = &self.on_event else { return };
        self.told = Instant::now();
        Python::attach(|py| {
            let (value, bound) = (self.number(self.value), self.number(self.bound));
            let event = (self.queries, value, self.size, bound, tree, self.to_come);
            if let Err(error) = on_event.bind(py).call1(event) {
                self.clock.stop_with(py, error);
            }
        });
    }
}

impl Observer for Watch<'_> {
    fn notify(&mut self, event: Event<'_>) {
        match event {
            Event::Improved(improvement) => {
                (self.value, self.size) = (Some(improvement.value), Some(improvement.size));
                self.remember();
                if self.on_event.is_some() {
                    let tree = Tree::of(improvement.tree(), self.problem.core());
                    self.tell(Some(tree));
                }
            }
            Event::Bound(bound) => {
                self.bound = Some(bound);
                self.remember();
            }
            Event::Forecast(forecast) => self.to_come = Some((forecast.least, forecast.most)),
            Event::Considered(statistics) => {
                self.queries = statistics.queries;
                self.clock.look_for_signals();
                if self.on_event.is_some() && self.told.elapsed() >= OFTEN {
                    self.tell(None);
                }
            }
            _ => {}
        }
    }
}

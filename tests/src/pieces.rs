//! A search with any options, run in one piece or in several, with a certificate or without.

use std::num::NonZeroUsize;
use std::sync::Arc;

use broccoli_certificate::{Certificate as Written, Form, Mark};
use broccoli_core::problem::{Problem, SystemFactory};
use broccoli_core::search::{Checkpoint, Engine, Keeper, Outcome, Search, Status, StopReason};
use broccoli_core::tree::Tree;

use crate::certified::{Bytes, begin};
use crate::options::{EngineName, Options};

/// A search that can be begun again and again.
pub(crate) struct Posed<'s> {
    pub(crate) problem: &'s Problem,
    pub(crate) factory: &'s dyn SystemFactory,
    pub(crate) options: &'s Options,
    pub(crate) start: Option<Tree>,
}

impl Posed<'_> {
    pub(crate) fn search(&self) -> Result<Search<'_>, String> {
        let Posed { problem, factory, options, start } = self;
        let threads = NonZeroUsize::new(options.threads).ok_or("no threads")?;
        let mut search = Search::new(problem, *factory).engine(engine_of(options.engine));
        search = search.threads(threads).gap(f64::from(options.gap) / 100.0);
        if options.first {
            search = search.first();
        }
        if let Some(bytes) = options.memory {
            search = search.memory_limit(bytes);
        }
        if let Some(tuning) = options.tuning {
            search = search.tuning(tuning);
        }
        if let Some(tree) = start {
            search = search.start(tree.clone()).map_err(|error| error.to_string())?;
        }
        Ok(search)
    }
}

/// A search that is run in one piece or in several, with a certificate or without.
pub(crate) struct Pieces<'b> {
    form: Option<Form>,
    bytes: &'b Bytes,
    certificate: Option<Arc<Written>>,
}

/// Keeps the last checkpoint, with the mark of the certificate at that time.
struct Last {
    certificate: Option<Arc<Written>>,
    kept: Option<(String, Option<Mark>)>,
}

impl Keeper for Last {
    fn is_due(&mut self) -> bool {
        false
    }
    fn keep(&mut self, checkpoint: &Checkpoint) {
        let mark = self.certificate.as_ref().map(|written| written.mark().expect("memory can be written to"));
        self.kept = Some((serde_json::to_string(checkpoint).expect("a checkpoint is plain data"), mark));
    }
}

impl<'b> Pieces<'b> {
    pub(crate) fn new(problem: &Problem, form: Option<Form>, bytes: &'b Bytes) -> Self {
        Pieces { form, bytes, certificate: form.map(|form| begin(problem, form, bytes)) }
    }

    fn witnessed<'s>(&self, search: Search<'s>) -> Search<'s> {
        match &self.certificate {
            Some(certificate) => search.witness(certificate.clone()),
            None => search,
        }
    }

    pub(crate) fn once(&self, search: Search<'_>) -> Result<Outcome, String> {
        self.witnessed(search).run().map_err(|failure| failure.to_string())
    }

    /// Stops the search after so many queries, again and again; each time through JSON.
    pub(crate) fn run(&mut self, posed: &Posed<'_>, queries: u64) -> Result<Outcome, String> {
        let mut limit = queries;
        let mut kept: Option<String> = None;
        for _ in 0..200 {
            let mut last = Last { certificate: self.certificate.clone(), kept: None };
            let mut next = posed.search()?;
            if let Some(json) = &kept {
                let checkpoint = serde_json::from_str(json).map_err(|error| error.to_string())?;
                next = next.resume(checkpoint).map_err(|error| error.to_string())?;
            }
            let next = self.witnessed(next.query_limit(limit)).keeper(&mut last);
            let outcome = next.run().map_err(|failure| failure.to_string())?;
            if outcome.status != Status::Stopped(StopReason::QueryLimit) {
                return Ok(outcome);
            }
            let (json, mark) = last.kept.ok_or("a stopped search was not kept")?;
            kept = Some(json);
            if let (Some(form), Some(mark)) = (self.form, mark) {
                self.bytes.cut(mark);
                let written = Written::go_on(Box::new(self.bytes.clone()), form, mark);
                self.certificate = Some(Arc::new(written));
            }
            // To come back to where it was may take all the queries that it is allowed.
            limit += 1 + limit / 4;
        }
        Err("it never ends".to_owned())
    }

    pub(crate) fn end(
        &self,
        problem: &Problem,
        factory: &dyn SystemFactory,
        outcome: &Outcome,
    ) -> Result<(), String> {
        match &self.certificate {
            Some(written) => written.end(problem, factory, outcome).map_err(|error| error.to_string()),
            None => Ok(()),
        }
    }
}

pub(crate) fn engine_of(name: EngineName) -> Engine {
    match name {
        EngineName::Behaviour => Engine::Behaviour,
        EngineName::Backtracking => Engine::Backtracking { pruning: true },
        EngineName::WithoutPruning => Engine::Backtracking { pruning: false },
        EngineName::Exhaustive => Engine::Exhaustive,
    }
}

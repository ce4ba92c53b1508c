//! The options of a search that begins.

use std::time::Duration;

use broccoli_core::problem::Problem;
use broccoli_core::search::Engine;
use broccoli_core::tree::Tree;
use broccoli_problem::Target;
use clap::{Args, ValueEnum};

use crate::certificate::{CertificateFile, CertificateOptions};
use crate::complaint::Complaint;
use crate::numbers::fraction;
use crate::remember::Remembered;
use crate::running::{Kept, Plan, RunOptions, SearchError, Searched, Session, Wanted};

/// The options about the search.
#[derive(Debug, Args)]
pub struct SearchOptions {
    /// The algorithm; all give the same answer [default: behaviour]
    #[arg(long)]
    engine: Option<EngineName>,

    /// Consider every tree that is not trivially redundant (backtracking only)
    #[arg(long)]
    no_pruning: bool,

    /// Stop when the value is proved to be this close to the optimum, such as 5% or 0.05
    #[arg(long, value_name = "GAP", allow_hyphen_values = true, value_parser = fraction)]
    gap: Option<f64>,

    #[command(flatten)]
    run: RunOptions,
}

/// The engines by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EngineName {
    /// Behaviours instead of trees: trees that act alike are run once
    Behaviour,
    /// Trees in increasing size, pruned by what earlier runs have shown
    Backtracking,
    /// Every tree, for checking the others on small problems
    Exhaustive,
}

impl SearchOptions {
    /// Refuses a certificate from an engine that has none to give.
    pub fn check_certificate(
        &self,
        certificate: &CertificateOptions,
        target: &Target,
        problem: &Problem,
    ) -> Result<(), Complaint> {
        if certificate.is_wanted() && !problem.objective().is_plain() {
            return Err(Complaint::input(
                "--certificate: there are certificates for reach and survive from the worst initial state only",
            ));
        }
        match self.engine()?.or(target.search.engine) {
            Some(engine) if engine != Engine::Behaviour && certificate.is_wanted() => {
                let name = engine.name();
                Err(Complaint::input(format!(
                    "--certificate works with --engine behaviour only: {name} leaves no evidence"
                )))
            }
            _ => Ok(()),
        }
    }

    /// Refuses what does not go together with a front, with all optimal trees or with prices.
    pub fn check_wanted(
        &self,
        wanted: Wanted,
        target: &Target,
        has_prices: bool,
        is_kept: bool,
        is_certified: bool,
    ) -> Result<(), Complaint> {
        let what = match wanted {
            Wanted::Front => "--pareto",
            Wanted::AllOptimal(_) => "--all-optimal",
            Wanted::Best if has_prices => "a problem with prices",
            Wanted::Best => return Ok(()),
        };
        let asked = &target.search;
        let refused = [
            (is_kept, "--checkpoint", "only a search for the best tree can be resumed"),
            (
                self.gap.is_some() || asked.gap.is_some(),
                "--gap",
                "it takes trees that are proved to be optimal",
            ),
            (
                self.run.is_first() || asked.first,
                "--first or --good-enough",
                "it takes trees that are proved to be optimal",
            ),
            (
                is_certified && wanted == Wanted::Front,
                "--certificate",
                "a certificate is about one limit on the size: give --nodes N instead",
            ),
        ];
        match refused.into_iter().find(|(is_given, ..)| *is_given) {
            Some((_, option, why)) => {
                Err(Complaint::input(format!("{what} does not go together with {option}: {why}")))
            }
            None => Ok(()),
        }
    }

    /// Lets the systems of a target remember what they answer.
    pub fn remember(&self, target: &mut Target) -> Result<Remembered, Complaint> {
        let engine = self.engine()?.or(target.search.engine);
        self.run.remember(target, engine)
    }

    /// Runs the search, with a tree to start from if there is one, keeps it if it is to be kept, and writes
    /// its certificate if there is to be one.
    pub fn run(
        &self,
        target: &Target,
        problem: &Problem,
        start: Option<Tree>,
        kept: Option<Kept>,
        certificate: Option<CertificateFile>,
        wanted: Wanted,
    ) -> Result<Searched, SearchError> {
        let plan = Plan { start, certificate, wanted, ..self.plan(target, problem)? };
        if kept.is_some() && plan.engine.is_some_and(|engine| engine != Engine::Behaviour) {
            return Err(Complaint::input("--checkpoint works with --engine behaviour only").into());
        }
        self.run.run_in(&mut Session::new(), target, problem, plan, kept)
    }

    /// Runs one of the searches of a session.
    pub fn run_in(
        &self,
        session: &mut Session,
        target: &Target,
        problem: &Problem,
        start: Option<Tree>,
    ) -> Result<Searched, SearchError> {
        let plan = Plan { start, ..self.plan(target, problem)? };
        self.run.run_in(session, target, problem, plan, None)
    }

    /// A search for the best tree, as the options and the target ask for it.
    fn plan(&self, target: &Target, problem: &Problem) -> Result<Plan, SearchError> {
        let asked = &target.search;
        let engine = self.engine()?.or(asked.engine);
        if let Some(engine) = engine {
            engine.check(problem).map_err(|error| Complaint::input(error.to_string()))?;
        }
        Ok(Plan {
            engine,
            gap: self.gap.or(asked.gap),
            start: None,
            resumed: None,
            patience: Duration::ZERO,
            certificate: None,
            wanted: Wanted::Best,
        })
    }

    /// Whether the first tree is enough.
    pub fn is_first(&self, target: &Target) -> bool {
        self.run.is_first() || target.search.first
    }

    /// The engine that was asked for; none leaves the choice to the library.
    fn engine(&self) -> Result<Option<Engine>, Complaint> {
        match (self.engine, self.no_pruning) {
            (None, false) => Ok(None),
            (None | Some(EngineName::Backtracking), no_pruning) => {
                Ok(Some(Engine::Backtracking { pruning: !no_pruning }))
            }
            (Some(EngineName::Behaviour), false) => Ok(Some(Engine::Behaviour)),
            (Some(EngineName::Exhaustive), false) => Ok(Some(Engine::Exhaustive)),
            (Some(_), true) => Err(Complaint::input(
                "--no-pruning works with --engine backtracking only: the other engines have no pruning to leave out",
            )),
        }
    }
}

//! Puts a problem file and its system together.

use std::ops::Range;
use std::sync::Arc;

use broccoli_blackbox::{Description, Plugin, Subprocess};
use broccoli_core::problem::{SystemFactory, Thresholds, sample};
use broccoli_expression::Condition;

use crate::diagnosis::{Diagnosis, Flaw};
use crate::file::{Feature, Placed, ProblemFile, SystemSource};
use crate::identity::Source;
use crate::judged::Conditions;
use crate::objective::Says;
use crate::starts::{MOST_STATES, MOST_VALUES, Starts};
use crate::target::{FeatureError, Target};

impl ProblemFile {
    /// Starts the system that the file names, and completes the problem with what it says about itself.
    /// Nothing but that program or library is run.
    ///
    /// # Errors
    /// When the system cannot be started, or the file and the system do not fit together.
    pub fn open(&self) -> Result<Target, Diagnosis> {
        let target = self.open_without_predicates()?;
        self.check_predicates(&target).map_err(|flaw| self.diagnosis(flaw))?;
        Ok(target)
    }

    /// The same for a file that may have no predicates yet.
    ///
    /// # Errors
    /// As those of [`ProblemFile::open`].
    pub fn open_without_predicates(&self) -> Result<Target, Diagnosis> {
        let failed =
            |what: String| self.diagnosis(Flaw::new(self.system_place.clone(), what).label("this system"));
        let mut target = match self.system() {
            SystemSource::Environment(environment) => {
                let mut target = Target::environment(environment);
                if let Some(Placed { value: words, place }) = &self.actions {
                    let chosen = target.choose_actions(words);
                    chosen.map_err(|what| self.diagnosis(Flaw::new(place.clone(), what)))?;
                }
                if let Some(Placed { value: noise, place }) = &self.noise {
                    let chosen = target.choose_noise(*noise);
                    chosen.map_err(|what| self.diagnosis(Flaw::new(place.clone(), what)))?;
                }
                target
            }
            SystemSource::Subprocess(program) => {
                let subprocess =
                    Subprocess::new(program.clone()).map_err(|error| failed(error.to_string()))?;
                let description = subprocess.description().clone();
                let source = Source::program(program, &description);
                let promise = "its hello needs \"rewards\": true";
                self.judged(&description, source, Arc::new(subprocess), promise)?
            }
            SystemSource::Plugin(path) => {
                let plugin = Plugin::load(path).map_err(|error| failed(error.to_string()))?;
                let description = plugin.description().clone();
                let source = Source::library(path, &description);
                self.judged(&description, source, Arc::new(plugin), "its flags need BROCCOLI_REWARDS")?
            }
        };
        self.complete(&mut target).map_err(|flaw| self.diagnosis(flaw))?;
        Ok(target)
    }

    /// A foreign system with the file's conditions, if it has any; `promise` is what it takes to promise rewards.
    fn judged(
        &self,
        description: &Description,
        source: Source,
        factory: Arc<dyn SystemFactory>,
        promise: &'static str,
    ) -> Result<Target, Diagnosis> {
        let condition = |placed: &Option<Placed<String>>| match placed {
            None => Ok(None),
            Some(Placed { value, place }) => {
                Condition::parse(value, &description.observations).map(Some).map_err(|error| {
                    self.diagnosis(Flaw::inside(place.clone(), value, error.place, error.message))
                })
            }
        };
        let (satisfied, violated) = (condition(&self.satisfied)?, condition(&self.violated)?);
        // With any condition the file alone judges.
        let own = satisfied.is_none() && violated.is_none();
        let says = Says {
            satisfied: satisfied.is_some() || own && description.verdicts,
            violated: violated.is_some() || own && description.verdicts,
            rewards: description.rewards,
            promise,
        };
        let conditions = (!own).then_some(Conditions { satisfied, violated });
        let source = if own {
            source
        } else {
            let (satisfied_text, violated_text) = self.conditions();
            source.judged(satisfied_text, violated_text)
        };
        Ok(Target::foreign(description, says, source, factory, conditions))
    }

    /// Refuses a file without thresholds, unless its trees are to be leaves.
    fn check_predicates(&self, target: &Target) -> Result<(), Flaw> {
        if target.depth == 0 || target.dimensions.iter().any(|d| !d.thresholds.is_empty()) {
            return Ok(());
        }
        let names: Vec<&str> = target.dimensions.iter().map(|d| d.name.as_str()).collect();
        let flaw = Flaw::new(self.predicates_place.clone().unwrap_or(0..0), "no dimension has a predicate")
            .label("[predicates] is empty or missing");
        Err(flaw.help(format!(
            "give thresholds to at least one of: {}; or leave the section out, and all numbers are thresholds",
            names.join(", ")
        )))
    }

    /// Writes what the file says over the target.
    fn complete(&self, target: &mut Target) -> Result<(), Flaw> {
        for Feature { name, expression } in &self.features {
            target.add_feature(&name.value, &expression.value).map_err(|error| match error {
                FeatureError::Expression(error) => {
                    Flaw::inside(expression.place.clone(), &expression.value, error.place, error.message)
                }
                error @ (FeatureError::Twice(_) | FeatureError::Count) => {
                    Flaw::new(name.place.clone(), error.to_string())
                }
            })?;
        }
        for predicates in &self.predicates {
            let Placed { value: name, place } = &predicates.dimension;
            let dimension = target.dimension(name).map_err(|what| Flaw::new(place.clone(), what))?;
            if let Some(thresholds) = &predicates.thresholds {
                dimension.thresholds.clone_from(thresholds);
            }
            dimension.range = predicates.range.or(dimension.range);
            dimension.price = predicates.price.unwrap_or(dimension.price);
        }
        target.needs_no_grid =
            target.is_foreign && self.predicates.iter().all(|predicates| predicates.thresholds.is_none());
        if target.needs_no_grid {
            target.dimensions.iter_mut().for_each(|dimension| dimension.thresholds = Thresholds::all());
        }
        if let Some(Placed { value: names, place }) = &self.only {
            target.ask_only(names).map_err(|what| Flaw::new(place.clone(), what))?;
        }
        if let Some(Placed { value: names, place }) = &self.without {
            target.ask_without(names).map_err(|what| Flaw::new(place.clone(), what))?;
        }
        if let Some(Placed { value: seeds, place }) = &self.seeds {
            if !target.is_foreign && target.noise() == 0.0 {
                let message = format!("{:?} has no noise, and seeds change nothing", target.name);
                return Err(Flaw::new(place.clone(), message).help("add noise = … to [system]"));
            }
            target.seeds = Some(seeds.clone());
        }
        if let Some(ranges) = &self.ranges {
            self.check_values(target, ranges.value.len(), &ranges.place)?;
            target.ranges = Some(ranges.value.clone());
        }
        match &self.starts {
            Some(Placed { value: Starts::List(states), place }) => {
                for state in states {
                    self.check_values(target, state.values().len(), place)?;
                }
                target.initial.clone_from(states);
            }
            Some(Placed { value: Starts::Samples { count, seed }, place }) => match &target.ranges {
                Some(ranges) if count * ranges.len() > MOST_VALUES => {
                    let message = format!(
                        "{count} initial states of {} values are more than {MOST_VALUES} numbers",
                        ranges.len()
                    );
                    return Err(Flaw::new(place.clone(), message));
                }
                Some(ranges) => target.initial = sample(ranges, *count, *seed),
                None => {
                    let flaw = Flaw::new(place.clone(), "there are no ranges to sample from");
                    return Err(flaw.help("add ranges = [[low, high], …] to [initial], one pair per value"));
                }
            },
            None if target.initial.is_empty() => {
                let flaw =
                    Flaw::new(0..0, "there is no initial state").label("[initial] is missing or empty");
                return Err(flaw.help("give [initial] one of: states, file, samples"));
            }
            None => {}
        }
        if let Some(Placed { value: seeds, place }) = &self.seeds {
            let (states, values) =
                (target.initial.len(), target.initial.iter().map(|s| s.values().len() + 1));
            let count = states.saturating_mul(seeds.len());
            if count > MOST_STATES || values.sum::<usize>().saturating_mul(seeds.len()) > MOST_VALUES {
                let message = format!("{states} initial states with {} seeds each are too many", seeds.len());
                let help =
                    format!("at most {MOST_STATES} runs, of {MOST_VALUES} numbers in all, are allowed");
                return Err(Flaw::new(place.clone(), message).help(help));
            }
        }
        if target.noise() != 0.0
            && target.starts().iter().any(|state| Some(state.values().len()) != target.initial_values)
        {
            let flaw = Flaw::new(self.system_place.clone(), "noise needs seeds");
            return Err(flaw.help("add seeds = 20, or a list of them, to [initial]"));
        }
        match &self.objective {
            Some(Placed { value: choice, place }) => {
                target.choose_objective(choice).map_err(|message| Flaw::new(place.clone(), message))?;
            }
            None if target.is_foreign => {
                let flaw = Flaw::new(0..0, "there is no objective").label("[objective] is missing");
                return Err(flaw.help(
                    "add [objective] with kind = \"reach\", \"survive\" or \"return\", and horizon = …",
                ));
            }
            None => {}
        }
        target.depth = self.depth.unwrap_or(target.depth);
        target.nodes = self.nodes;
        target.search = self.search;
        target.remember = self.remember.clone();
        Ok(())
    }

    fn check_values(&self, target: &Target, given: usize, place: &Range<usize>) -> Result<(), Flaw> {
        match target.given_values() {
            Some(expected) if expected != given => {
                let name = &target.name;
                let seed = match target.seeds {
                    Some(_) => " besides its seed",
                    None if target.noise() != 0.0 => ", the last one a seed",
                    None => "",
                };
                let message =
                    format!("an initial state of {name:?} has {expected} values{seed}, not {given}");
                Err(Flaw::new(place.clone(), message))
            }
            _ => Ok(()),
        }
    }
}

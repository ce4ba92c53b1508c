//! Where the problem of a search came from: what a search that is resumed must find as it was.
//!
//! A search believes what its system told it before it was interrupted. So the problem as the target poses it and the
//! identity of the system are compared. What cannot be seen from outside, the library finds out: it asks the system again
//! for a sample of its answers.

use broccoli_core::search::Engine;
use broccoli_export::difference::differences;
use broccoli_export::json::{ProblemJson, SystemJson};
use broccoli_problem::{Identity, Target};
use serde::{Deserialize, Serialize};

use crate::target::is_file;

/// Where the problem of a search came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// Whether the target is an environment by its name, and not a problem file.
    is_environment: bool,
    /// The problem as the target poses it, before any option; none if it takes options to pose one.
    problem: Option<ProblemJson>,
    /// The gap that a problem file asks for.
    gap: Option<f64>,
}

/// What is not as it was, in words.
#[derive(Default)]
pub struct Changes {
    /// What makes it another problem, or another system.
    pub essential: Vec<String>,
    /// Where the system is, and the hashes of its files: it may be the same all the same.
    pub files: Vec<String>,
}

impl Origin {
    /// The origin of a problem about a target that no option has changed yet, and what the user called it.
    pub fn new(name: Option<&str>, target: &Target, system: &SystemJson) -> Self {
        let problem = target.problem().ok();
        Origin {
            is_environment: !name.is_some_and(is_file),
            problem: problem.map(|problem| ProblemJson::new(system.clone(), &problem, Engine::Behaviour)),
            gap: target.search.gap,
        }
    }

    /// Whether it is a built-in environment by itself.
    pub fn is_environment(&self) -> bool {
        self.is_environment
    }

    /// What is not as it was.
    pub fn changes(&self, now: &Origin) -> Changes {
        let mut changes = Changes::default();
        // What a system is, is the matter of its identity, but for where it is.
        let system = self.problem.as_ref().map(|problem| problem.system.clone());
        let other = now.problem.clone().map(|now| match system.clone() {
            Some(system) => ProblemJson { system, ..now },
            None => now,
        });
        let told = differences(&self.problem, &other).into_iter().map(|what| format!("the problem's {what}"));
        changes.essential.extend(told);
        let told = differences(&self.gap, &now.gap).into_iter();
        changes
            .essential
            .extend(told.map(|what| format!("the search's {}", what.replacen("`all`", "`gap`", 1))));
        let place = |problem: &Option<ProblemJson>| match problem.as_ref().map(|problem| &problem.system) {
            Some(SystemJson::Subprocess(program)) => Some(program.directory.clone()),
            Some(SystemJson::Plugin(plugin)) => Some(plugin.path.clone()),
            _ => None,
        };
        if let (Some(then), Some(now)) = (place(&self.problem), place(&now.problem))
            && then != now
        {
            changes.files.push(format!("the system was in {then:?}, and now it is in {now:?}"));
        }
        changes
    }
}

impl Changes {
    /// Adds how a system is not what it was.
    pub fn add(&mut self, then: &Identity, now: &Identity) {
        let told = differences(&then.without_files(), &now.without_files()).into_iter();
        self.essential.extend(told.map(|what| format!("the system's {what}")));
        let short = |hash: &str| hash.chars().take("sha256 ".len() + 12).collect::<String>();
        let quoted = |name: &str| {
            name.split_once(' ').map_or(name.to_owned(), |(file, name)| format!("{file} {name:?}"))
        };
        for (name, then) in then.texts().filter(|(name, _)| Identity::is_file(name)) {
            match now.get(name) {
                Some(now) if now == then => {}
                Some(now) => self.files.push(format!(
                    "the {} of the system is not what it was: {}…, and now {}…",
                    quoted(name),
                    short(then),
                    short(now)
                )),
                None => self.files.push(format!("the {} of the system is not there any more", quoted(name))),
            }
        }
        let is_new = |name: &&str| Identity::is_file(name) && then.get(name).is_none();
        let new = now.texts().map(|(name, _)| name).filter(is_new);
        self.files.extend(new.map(|name| format!("the {} of the system was not there", quoted(name))));
    }

    /// All of them.
    pub fn list(&self) -> Vec<String> {
        self.essential.iter().chain(&self.files).cloned().collect()
    }

    /// All of them in one line.
    pub fn all(&self) -> Option<String> {
        const MOST: usize = 8;
        let all = self.list();
        let more = all.len().saturating_sub(MOST);
        let told = all[..all.len().min(MOST)].join("; ");
        match (all.len(), more) {
            (0, _) => None,
            (_, 0) => Some(told),
            _ => Some(format!("{told}; and {more} more")),
        }
    }
}

//! Where the problem of a search came from: what a search that is resumed must find as it was.
//!
//! A search believes what its system told it before it was interrupted. So the problem as the target poses it, what
//! the system says about itself and the files that make it up are compared. What cannot be seen from outside, the
//! library finds out: it asks the system again for a sample of its answers.

use std::fs::File;
use std::io;
use std::path::Path;

use broccoli_core::problem::Action;
use broccoli_core::search::Engine;
use broccoli_export::difference::difference;
use broccoli_export::json::{ProblemJson, SystemJson};
use broccoli_problem::Target;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::complaint::Complaint;
use crate::target::is_file;

/// Where the problem of a search came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// Whether the target is an environment by its name, and not a problem file.
    is_environment: bool,
    /// The problem as the target poses it, before any option; none if it takes options to pose one.
    problem: Option<ProblemJson>,
    /// What the system says about itself.
    hello: Hello,
    /// The files of a foreign system that are known.
    files: Vec<Hashed>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Hello {
    name: String,
    observations: Vec<String>,
    actions: Vec<Action>,
    initial_values: Option<usize>,
}

/// A file and the hash of what is in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Hashed {
    path: String,
    sha256: String,
}

impl Origin {
    /// The origin of a problem about a target that no option has changed yet, and what the user called it.
    pub fn new(name: Option<&str>, target: &Target, system: &SystemJson) -> Result<Self, Complaint> {
        let problem = target.problem().ok();
        let names = target.dimensions.iter().filter(|dimension| dimension.expression.is_none());
        let files = files(system).into_iter().map(|path| {
            let cannot =
                |error| Complaint::input(format!("{path:?}, of the system, cannot be read: {error}"));
            Ok(Hashed { sha256: hash(&path).map_err(cannot)?, path })
        });
        Ok(Origin {
            is_environment: !name.is_some_and(is_file),
            problem: problem.map(|problem| ProblemJson::new(system.clone(), &problem, Engine::Behaviour)),
            hello: Hello {
                name: target.name.clone(),
                observations: names.map(|dimension| dimension.name.clone()).collect(),
                actions: target.actions.clone(),
                initial_values: target.initial_values,
            },
            files: files.collect::<Result<_, Complaint>>()?,
        })
    }

    /// Whether it is a built-in environment by itself.
    pub fn is_environment(&self) -> bool {
        self.is_environment
    }

    /// What is not as it was, in words.
    pub fn change(&self, now: &Origin) -> Option<String> {
        let file = self.files.iter().find_map(|file| {
            let is_there = |other: &&Hashed| other.path == file.path;
            match now.files.iter().find(is_there) {
                Some(other) if other == file => None,
                Some(_) => Some(format!("the file {:?} of the system is not what it was", file.path)),
                None => Some(format!("the file {:?} of the system is not there any more", file.path)),
            }
        });
        file.or_else(|| difference(&self.problem, &now.problem).map(|what| format!("the problem's {what}")))
            .or_else(|| difference(&self.hello, &now.hello).map(|what| format!("the system's {what}")))
            .or_else(|| difference(&self.files, &now.files).map(|what| format!("the system's files: {what}")))
    }
}

/// The files that a foreign system is known to be made of: the program and its arguments, as far as they are files,
/// or the library.
fn files(system: &SystemJson) -> Vec<String> {
    match system {
        SystemJson::Plugin(plugin) => vec![plugin.path.clone()],
        SystemJson::Subprocess(program) => {
            let values =
                program.command.iter().flat_map(|word| [Some(&**word), word.split_once('=').map(|w| w.1)]);
            let paths = values.flatten().map(|word| Path::new(&program.directory).join(word));
            let files = paths.filter(|path| path.is_file());
            files.map(|path| path.to_string_lossy().into_owned()).collect()
        }
        SystemJson::Environment(_) | SystemJson::Noisy(_) | SystemJson::Python(_) => Vec::new(),
    }
}

fn hash(path: &str) -> io::Result<String> {
    let mut hasher = Sha256::new();
    io::copy(&mut File::open(path)?, &mut Writer(&mut hasher))?;
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

struct Writer<'a>(&'a mut Sha256);

impl io::Write for Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

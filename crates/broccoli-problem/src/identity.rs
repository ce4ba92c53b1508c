//! What a system is, in texts that can be written down and compared later: whoever relies on answers that a system gave
//! earlier has to know that it is the same system.
//!
//! An identity is a map from names to texts. It holds what decides the answers, as far as it can be seen from outside:
//! which program or library it is, what that says about itself, the hashes of its files, and what was chosen about it.
//! Initial states, thresholds and what is wanted are the problem's, not the system's, unless they change the answers.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use broccoli_blackbox::{ComesBack, Description, Program};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::target::Target;

/// What the names of files begin with.
const FILE: &str = "file ";
/// What the names of features begin with.
const FEATURE: &str = "feature ";
/// The names of conditions.
const WANTED: [&str; 2] = ["satisfied when", "violated when"];

/// What a system is.
///
/// ```
/// use broccoli_problem::{Identity, Target};
/// let mut target = Target::environment(broccoli_environments::find("pendulum")?);
/// let before: Identity = target.identity()?;
/// assert_eq!(before.get("environment"), Some("pendulum"));
/// target.choose_noise(0.1)?;
/// assert_ne!(target.identity()?, before);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Identity(BTreeMap<String, String>);

impl Identity {
    /// The names and their texts, in order.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, text)| (&**name, &**text))
    }

    /// The text with this name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|text| &**text)
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this is the name of a file's hash. A file can be another and do the same, which nobody can see from it.
    pub fn is_file(name: &str) -> bool {
        name.starts_with(FILE)
    }

    /// The same without the hashes of files.
    #[must_use]
    pub fn without_files(&self) -> Self {
        let texts = self.0.iter().filter(|(name, _)| !Identity::is_file(name));
        Identity(texts.map(|(name, text)| (name.clone(), text.clone())).collect())
    }
}

/// A file of a system that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{path:?}, a file of the system, cannot be read: {error}")]
pub struct FileError {
    path: PathBuf,
    error: io::Error,
}

/// What is known of a foreign system from its problem file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
    texts: Vec<(&'static str, String)>,
    /// Its files, and what they are called in the problem file.
    files: Vec<(String, PathBuf)>,
}

impl Source {
    /// A program that has introduced itself.
    pub(crate) fn program(program: &Program, description: &Description) -> Self {
        let mut source = Source::described("program", description);
        // With the ends of its words, which a line without them would hide.
        source.texts.push(("command", format!("{:?}", program.command)));
        if let Some((name, arguments)) = program.command.split_first() {
            source.files.extend(program_file(name, &program.directory).map(|path| (name.clone(), path)));
            let words = arguments.iter().flat_map(|word| [Some(&**word), word.split_once('=').map(|w| w.1)]);
            let files = words.flatten().map(|word| (word.to_owned(), program.directory.join(word)));
            source.files.extend(files.filter(|(_, path)| path.is_file()));
        }
        source
    }

    /// A library that has introduced itself.
    pub(crate) fn library(path: &Path, description: &Description) -> Self {
        let mut source = Source::described("library", description);
        source.files.push(("library".to_owned(), path.to_owned()));
        source
    }

    fn described(kind: &str, description: &Description) -> Self {
        let Description { name, observations, actions, comes_back, initial, verdicts, rewards } = description;
        let comes_back = match comes_back {
            ComesBack::Stateless(values) => format!("to a state of {values} values"),
            ComesBack::Snapshot => "to snapshots".to_owned(),
            ComesBack::Reset => "by a reset".to_owned(),
        };
        let yes_or_no = |is_so: &bool| if *is_so { "yes" } else { "no" }.to_owned();
        let actions = actions.iter().map(|action| (&action.name, action.value)).collect::<Vec<_>>();
        let initial = initial.map_or("any number".to_owned(), |values| values.to_string());
        Source {
            texts: vec![
                ("system", kind.to_owned()),
                ("name", name.clone()),
                ("observations", format!("{observations:?}")),
                ("actions", format!("{actions:?}")),
                ("comes back", comes_back),
                ("values of an initial state", initial),
                ("gives verdicts", yes_or_no(verdicts)),
                ("gives rewards", yes_or_no(rewards)),
            ],
            files: Vec::new(),
        }
    }

    /// The conditions that judge it, if there are any.
    pub(crate) fn judged(mut self, satisfied: Option<&str>, violated: Option<&str>) -> Self {
        let given = WANTED
            .into_iter()
            .zip([satisfied, violated])
            .filter_map(|(name, text)| Some((name, text?.to_owned())));
        self.texts.extend(given);
        self
    }
}

/// Where a program is found that a command names.
fn program_file(name: &str, directory: &Path) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(directory.join(name)).filter(|path| path.is_file());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file())
}

impl Target {
    /// What the system is, as it is now. Its files are read.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub fn identity(&self) -> Result<Identity, FileError> {
        let mut texts = BTreeMap::new();
        let mut add = |name: &str, text: String| _ = texts.insert(name.to_owned(), text);
        match &self.source {
            Some(source) => {
                source.texts.iter().for_each(|(name, text)| add(name, text.clone()));
                for (name, path) in &source.files {
                    let wrong = |error| FileError { path: path.clone(), error };
                    add(&format!("{FILE}{name}"), format!("sha256 {}", hash(path).map_err(wrong)?));
                }
            }
            None => {
                let actions = self.actions.iter().map(|action| (&action.name, action.value));
                add("system", "environment".to_owned());
                add("environment", self.name.clone());
                add("version", env!("CARGO_PKG_VERSION").to_owned());
                add("actions", format!("{:?}", actions.collect::<Vec<_>>()));
                add("noise", self.noise().to_string());
                // Runs end otherwise where rewards are wanted.
                add(
                    "rewards",
                    if self.objective.wants_rewards() { "wanted" } else { "not wanted" }.to_owned(),
                );
            }
        }
        for dimension in &self.dimensions {
            if let Some(expression) = &dimension.expression {
                add(&format!("{FEATURE}{}", dimension.name), expression.clone());
            }
        }
        Ok(Identity(texts))
    }

    /// What the system itself is, whatever is wanted of it: what is remembered of it serves other conditions, features and,
    /// of a built-in environment, actions.
    ///
    /// # Errors
    /// When one of its files cannot be read.
    pub fn bare_identity(&self) -> Result<BTreeMap<String, String>, FileError> {
        let Identity(mut texts) = self.identity()?;
        texts.retain(|name, _| !WANTED.contains(&&**name) && !name.starts_with(FEATURE));
        if self.source.is_none() {
            texts.remove("actions");
        }
        Ok(texts)
    }
}

fn hash(path: &Path) -> io::Result<String> {
    let mut hasher = Hasher(Sha256::new());
    io::copy(&mut File::open(path)?, &mut hasher)?;
    Ok(hasher.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

struct Hasher(Sha256);

impl Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

//! Files to start from: a commented problem file and, for a foreign system, a small system that runs.

use broccoli_environments::Environment;

/// What to start from.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A built-in environment.
    Environment(&'static Environment),
    /// A program, in Python.
    Subprocess,
    /// A shared library, in C.
    Plugin,
}

/// The files of a start, as names and contents; the first is the problem file. Systems are called `name`.
///
/// ```
/// use broccoli_problem::{Kind, ProblemFile, starter};
/// let files = starter(Kind::Environment(broccoli_environments::find("pendulum")?), "swing");
/// let (name, text) = &files[0];
/// let problem = ProblemFile::parse(text, name.as_ref())?.open()?.problem()?;
/// assert_eq!(problem, broccoli_environments::find("pendulum")?.problem().build()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn starter(kind: Kind, name: &str) -> Vec<(String, String)> {
    let fill = |text: &str| text.replace("@NAME@", name);
    let problem = |text: &str| (format!("{name}.toml"), fill(text));
    match kind {
        Kind::Environment(environment) => {
            vec![problem(&of_environment(include_str!("../starters/environment.toml"), environment))]
        }
        Kind::Subprocess => vec![
            problem(include_str!("../starters/subprocess.toml")),
            (format!("{name}.py"), fill(include_str!("../starters/system.py"))),
            (
                "broccoli_system.py".to_owned(),
                include_str!("../../../examples/python/broccoli_system.py").to_owned(),
            ),
        ],
        Kind::Plugin => vec![
            problem(include_str!("../starters/plugin.toml")),
            (format!("{name}.c"), fill(include_str!("../starters/system.c"))),
            ("broccoli.h".to_owned(), include_str!("../../../include/broccoli.h").to_owned()),
        ],
    }
}

fn literals<'a>(names: impl Iterator<Item = &'a str>) -> String {
    format!("{:?}", names.collect::<Vec<_>>())
}

fn of_environment(text: &str, environment: &Environment) -> String {
    let predicate = |d: &broccoli_environments::DimensionInfo| {
        let (low, high) = d.range;
        format!("{} = {{ low = {low:?}, high = {high:?}, step = {:?} }}\n", d.name, d.step)
    };
    text.replace("@ENVIRONMENT@", environment.name)
        .replace("@PREDICATES@", &environment.dimensions.iter().map(predicate).collect::<String>())
        .replace("@ACTIONS@", &literals(environment.actions.iter().map(|a| a.name)))
        .replace("@INITIAL@", &format!("{:?}", environment.initial))
        .replace("@OBJECTIVE@", environment.objective.name())
        .replace("@HORIZON@", &environment.objective.horizon().to_string())
        .replace("@DEPTH@", &environment.depth.to_string())
}

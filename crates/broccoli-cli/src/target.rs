//! What the commands work on: a built-in environment, or a problem file with its system.

use std::path::Path;

use broccoli_blackbox::check::{Broken, Effort, Promise, check};
use broccoli_core::problem::{Action, Instance, Objective, Problem, RunError, SystemError, Verdict};
use broccoli_export::difference::difference;
use broccoli_export::json::{JudgeJson, PluginJson, ProblemJson, SubprocessJson, SystemJson};
use broccoli_export::number::{counted, list};
use broccoli_problem::{Diagnosis, ProblemFile, SystemSource, Target};

use crate::complaint::Complaint;
use crate::environments::find;

/// Whether a name on the command line is a problem file.
pub fn is_file(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
}

/// The target with this name, its system started, and what to write about the system into results.
pub fn resolve(name: &str) -> Result<(Target, SystemJson), Complaint> {
    resolve_by(name, ProblemFile::open)
}

/// The same, where a problem file is opened in this way.
pub fn resolve_by(
    name: &str,
    open: impl Fn(&ProblemFile) -> Result<Target, Diagnosis>,
) -> Result<(Target, SystemJson), Complaint> {
    if !is_file(name) {
        let environment = find(name).map_err(|complaint| {
            if Path::new(name).is_file() {
                complaint.help("the name of a problem file ends in .toml")
            } else {
                complaint
            }
        })?;
        return Ok((Target::environment(environment), SystemJson::built_in(environment.name, 0.0)));
    }
    let file = ProblemFile::read(Path::new(name)).map_err(|diagnosis| {
        let complaint = Complaint::diagnosis(&diagnosis);
        if Path::new(name).exists() {
            complaint
        } else {
            complaint.help(format!("`broccoli init {name}` writes one"))
        }
    })?;
    let target = open(&file).map_err(|diagnosis| Complaint::diagnosis(&diagnosis))?;
    let system = described(system_json(&file), &target);
    Ok((target, system))
}

/// The built-in environment that a saved problem is about, with the choices that were made; none if the
/// system is somebody's program, which is never run because a file names it.
pub fn built_in(problem: &ProblemJson) -> Option<Result<Target, String>> {
    let (name, _) = problem.system.environment()?;
    let found = broccoli_environments::find(name).map_err(|error| error.to_string());
    Some(found.and_then(|environment| adopted(Target::environment(environment), problem)))
}

/// The system of a saved problem: a built-in environment, or what the user has `named` for `command`, if it is the
/// same.
pub fn of_saved(
    problem: &ProblemJson,
    named: Option<&str>,
    command: &str,
    complaint: impl Fn(String) -> Complaint,
) -> Result<Target, Complaint> {
    let (target, system) = of_saved_as_posed(problem, named, command, &complaint)?;
    let target = adopted(target, problem).map_err(&complaint)?;
    let (expected, given) = (&problem.system, described(system, &target));
    match difference(expected, &given) {
        None => Ok(target),
        Some(_) if expected.name() != given.name() => {
            let (expected, given) = (expected.name(), given.name());
            Err(complaint(format!("its system is `{expected}`, and that of TARGET `{given}`")))
        }
        Some(what) => Err(complaint(format!("the system of TARGET is not the same: {what}"))),
    }
}

/// The same as it is by itself, without the choices that the problem makes, and whatever it is.
pub fn of_saved_as_posed(
    problem: &ProblemJson,
    named: Option<&str>,
    command: &str,
    complaint: impl Fn(String) -> Complaint,
) -> Result<(Target, SystemJson), Complaint> {
    match (named, problem.system.environment()) {
        (Some(name), _) => resolve(name),
        (None, Some((name, _))) => {
            let environment =
                broccoli_environments::find(name).map_err(|error| complaint(error.to_string()))?;
            Ok((Target::environment(environment), SystemJson::built_in(environment.name, 0.0)))
        }
        (None, None) => {
            let name = problem.system.name();
            Err(complaint(format!("its system is `{name}`, which is run only if you name it"))
                .help(format!("give the problem file: broccoli {command} FILE PROBLEM.toml")))
        }
    }
}

/// A target with the choices that a saved problem made.
pub fn adopted(mut target: Target, problem: &ProblemJson) -> Result<Target, String> {
    adopt(&mut target, problem)?;
    Ok(target)
}

/// Makes the choices that a saved problem made, as far as the target leaves them open.
pub fn adopt(target: &mut Target, problem: &ProblemJson) -> Result<(), String> {
    for dimension in &problem.dimensions {
        let is_new = || target.dimensions.iter().all(|d| d.name != dimension.name);
        if let Some(expression) = dimension.expression.as_ref().filter(|_| is_new()) {
            let added = target.add_feature(&dimension.name, expression);
            added.map_err(|error| format!("its feature {:?}: {error}", dimension.name))?;
        }
    }
    if target.is_foreign {
        return Ok(());
    }
    let noise = problem.system.environment().map_or(0.0, |(_, noise)| noise);
    if noise != 0.0 && target.noise() == 0.0 {
        target.choose_noise(noise)?;
    }
    target.set_objective(problem.objective())?;
    let names: Vec<&str> = problem.actions.iter().map(|action| action.name.as_str()).collect();
    target.choose_actions(&names)?;
    match problem.actions.iter().zip(&target.actions).find(|(saved, action)| saved.value != action.value) {
        Some((saved, action)) => {
            let Action { name, value } = action;
            Err(format!("its action {name:?} has the value {}, not {value}", saved.value))
        }
        None => Ok(()),
    }
}

/// What to write about the system of a target into results.
pub fn described(system: SystemJson, target: &Target) -> SystemJson {
    match system.environment() {
        Some((name, _)) => SystemJson::built_in(name, target.noise()),
        None => system,
    }
}

/// What it takes to run the system of a file again, from any folder.
fn system_json(file: &ProblemFile) -> SystemJson {
    let absolute = |path: &Path| {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        path.to_string_lossy().into_owned()
    };
    let (satisfied, violated) = file.conditions();
    let judge = JudgeJson { satisfied: satisfied.map(str::to_owned), violated: violated.map(str::to_owned) };
    match file.system() {
        SystemSource::Environment(environment) => SystemJson::Environment(environment.name.to_owned()),
        SystemSource::Subprocess(program) => SystemJson::Subprocess(SubprocessJson {
            command: program.command.clone(),
            directory: absolute(&program.directory),
            judge,
        }),
        SystemSource::Plugin(path) => SystemJson::Plugin(PluginJson { path: absolute(path), judge }),
    }
}

/// A short look at a foreign system before it is relied on.
/// The initial states whose run is over before the first step, as far as they were looked at.
pub fn short_check(target: &Target, problem: &Problem) -> Result<Vec<(usize, Verdict)>, RunError> {
    match check(problem, &*target.factory_without_memory(), Effort::SHORT) {
        Ok(report) => Ok(report.over),
        Err(broken) => Err(run_error(&broken, problem)),
    }
}

/// The same of a system that needs no check.
pub fn over_at_reset(target: &Target, problem: &Problem) -> Result<Vec<(usize, Verdict)>, RunError> {
    let mut instance = Instance::new(problem, &*target.factory)?;
    let reset = |initial| Ok((initial, instance.reset(initial)?));
    let all: Result<Vec<_>, RunError> = (0..problem.initial_states().len()).map(reset).collect();
    Ok(all?.into_iter().filter(|(_, verdict)| *verdict != Verdict::Running).collect())
}

/// What is to be said of initial states whose run is over before the first step: in words, the first few of them.
pub fn over_words(problem: &Problem, over: &[(usize, Verdict)]) -> Vec<String> {
    const MOST: usize = 5;
    let objective = problem.objective();
    let consequence = |verdict| match (objective, verdict) {
        (Objective::Reach { .. }, Verdict::Violated) => "no tree reaches the goal from there",
        (Objective::Reach { .. }, _) => "every tree has reached the goal there, in 0 steps",
        (Objective::Survive { .. }, Verdict::Violated) => "every tree has failed there, after 0 steps",
        (Objective::Survive { .. }, _) => "every tree survives from there",
        (Objective::Return(_), _) => "every tree has a return of 0 from there",
    };
    let word = |verdict| if verdict == Verdict::Violated { "violated" } else { "satisfied" };
    let told = over.iter().take(MOST).map(|&(initial, verdict)| {
        let values = list(problem.initial_states()[initial].values());
        let (word, consequence) = (word(verdict), consequence(verdict));
        format!("initial state {initial} ({values}) is {word} before the first step: {consequence}")
    });
    let more = over.len().saturating_sub(MOST);
    let more = (more > 0)
        .then(|| format!("{} more are over before the first step", counted(more as u64, "initial state")));
    told.chain(more).collect()
}

/// A broken promise as the failure of the step that showed it.
fn run_error(broken: &Broken, problem: &Problem) -> RunError {
    let what = match broken.promise {
        Promise::Answers => broken.what.clone(),
        promise => format!("it breaks the promise that {}: {}", promise.words(), broken.what),
    };
    let (initial, source) = (broken.initial, SystemError::new(what));
    if let Some(doing) = broken.doing {
        return RunError::ComeBack { doing, initial, step: broken.actions.len() as u64, source };
    }
    match broken.actions.last() {
        None => RunError::Reset { initial, source },
        Some(&action) => {
            let action = problem.actions()[action].name.clone();
            RunError::Step { initial, step: broken.actions.len() as u64, action, source }
        }
    }
}

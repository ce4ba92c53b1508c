//! The paper's environments as Python programs, C programs and C plug-ins, from `examples/`: the answers
//! must be those of the built-in environments.
//!
//! The built-ins take sine and cosine from `libm`, Python and C from the C library, so that observations
//! can differ in the last bit. Therefore not the trees and queries are compared but value and size, on
//! grids and horizons for which no run comes that close to a threshold.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{json, run, stderr, stdout};
use tempfile::TempDir;

const NAMES: [(&str, &str); 3] =
    [("mountain_car", "mountain-car"), ("pendulum", "pendulum"), ("cartpole", "cartpole")];

fn examples(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(folder)
}

/// Builds the examples in C, somewhere else than in the sources.
fn built() -> TempDir {
    let folder = TempDir::new().expect("a folder");
    let out = format!("OUT={}", folder.path().display());
    let make = Command::new("make").arg("--quiet").arg(out).current_dir(examples("c")).output();
    let make = make.expect("`make` is installed");
    assert!(make.status.success() && make.stderr.is_empty(), "{}", String::from_utf8_lossy(&make.stderr));
    for entry in fs::read_dir(examples("c")).expect("the examples") {
        let path = entry.expect("an example").path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            fs::copy(&path, folder.path().join(path.file_name().expect("a name"))).expect("a copy");
        }
    }
    folder
}

/// Status, value and size of the answer to a problem file.
fn answer(problem: &Path, flags: &[&str]) -> [serde_json::Value; 3] {
    let mut arguments = vec!["solve", problem.to_str().expect("a path in UTF-8"), "--json"];
    arguments.extend(flags);
    let output = run(&arguments);
    assert_eq!(output.status.code(), Some(0), "{problem:?}: {}", stderr(&output));
    let object = json(&output);
    ["status", "value", "size"].map(|key| object[key].clone())
}

/// The same problem about the built-in environment.
fn built_in(problem: &Path, name: &str) -> [serde_json::Value; 3] {
    let text = fs::read_to_string(problem).expect("a problem file");
    let (_, rest) = text.split_once("[predicates]").expect("predicates");
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("problem.toml");
    fs::write(&path, format!("[system]\nenvironment = {name:?}\n[predicates]{rest}")).expect("a file");
    answer(&path, &[])
}

#[test]
fn python_programs() {
    for (file, name) in NAMES {
        let problem = examples("python").join(format!("{file}.toml"));
        assert_eq!(answer(&problem, &[]), built_in(&problem, name), "{name}");
    }
}

#[test]
fn c_programs_and_plugins() {
    let folder = built();
    for (file, name) in NAMES {
        for kind in ["program", "plugin"] {
            let problem = folder.path().join(format!("{file}_{kind}.toml"));
            let expected = built_in(&problem, name);
            assert_eq!(answer(&problem, &[]), expected, "{name}, {kind}");
            if kind == "program" {
                let json = folder.path().join(format!("{file}_json.toml"));
                let text = fs::read_to_string(&problem).expect("a problem file");
                fs::write(&json, text.replace("[predicates]", "format = \"json\"\n\n[predicates]"))
                    .expect("a file");
                assert_eq!(answer(&json, &["--no-check"]), expected, "{name}, JSON");
            }
        }
    }
}

#[test]
fn every_example_keeps_its_promises_and_can_be_simulated() {
    let folder = built();
    let python = |name: &str| examples("python").join(name);
    let c = |name: &str| folder.path().join(name);
    for problem in [
        python("mountain_car.toml"),
        python("pendulum.toml"),
        python("cartpole.toml"),
        c("cartpole_program.toml"),
        c("pendulum_plugin.toml"),
    ] {
        let path = problem.to_str().expect("a path in UTF-8");
        let output = run(&["check", path, "--json"]);
        assert_eq!(output.status.code(), Some(0), "{path}: {}", stdout(&output));
        assert_eq!(json(&output)["kept"], true);
    }
    let problem = c("pendulum_plugin.toml");
    let path = problem.to_str().expect("a path in UTF-8");
    let result = folder.path().join("result.json");
    let solved = run(&["solve", path, "--json"]);
    fs::write(&result, &solved.stdout).expect("a file");
    let object = json(&solved);
    assert!(
        object["problem"]["system"]["plugin"]["path"].as_str().is_some_and(|p| p.ends_with("pendulum.so"))
    );
    let output = run(&["simulate", path, result.to_str().expect("a path"), "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(json(&output)["value"], object["value"]);
    assert!(stderr(&output).is_empty(), "{}", stderr(&output));

    // The same tree on another version of the system: allowed, and said.
    let other = c("pendulum_program.toml");
    let output = run(&["simulate", other.to_str().expect("a path"), result.to_str().expect("a path")]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("and runs on `./pendulum`"), "{}", stderr(&output));

    // What a result names is not run; what the user names is.
    let result = result.to_str().expect("a path");
    let output = run(&["prove", result]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("which is run only if you name it"), "{}", stderr(&output));
    let disguised = folder.path().join("disguised.json");
    let mut object = object;
    object["problem"]["system"] = serde_json::json!({ "environment": path });
    fs::write(&disguised, object.to_string()).expect("a file");
    let output = run(&["prove", disguised.to_str().expect("a path")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("there is no environment"), "{}", stderr(&output));
    let output = run(&["prove", result, path, "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));

    // The problem is that of the result, whatever the file says of it, unless options say more.
    let options = ["--depth", "1", "--horizon", "5000", "--initial", "-0.5,0", "--initial", "-0.6,0"];
    let solved = run(&[&["solve", path, "--json"], &options[..]].concat());
    fs::write(result, &solved.stdout).expect("a file");
    let expected = json(&solved)["problem"].clone();
    let proved = json(&run(&["prove", result, path, "--json"]));
    assert_eq!((&proved["verdict"], &proved["best"]["problem"]), (&"optimal".into(), &expected));
    let proved = run(&["prove", result, path, "--horizon", "4500"]);
    let said = stdout(&proved);
    let problem = "\nproblem  reach the goal in the fewest steps, within 4,500 steps; 2 initial states, depth 1, 1 node\n";
    assert!(said.contains(problem), "{said}");
}

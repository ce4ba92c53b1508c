//! Every exported program is built and run, in its own language, on thousands of random observations,
//! every threshold and the floats beside it; each must give the action of the tree.
//!
//! C, Rust and Python run wherever their tools are. ONNX and Structured Text need Python packages:
//! `cargo xtask test` installs them and names their Python in `BROCCOLI_PYTHON`; then nothing may be
//! missing. Without, what is missing is skipped, loudly.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cases;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use broccoli_core::tree::Tree;
use broccoli_export::code::{self, Program};
use broccoli_export::policy::Policy;
use broccoli_expression::Expression;

use cases::{cases, derived, observations};

/// A language: how its program is written into a folder and which command then runs it.
type Language = (&'static str, fn(&Policy, &Path) -> Option<Command>);

const LANGUAGES: [Language; 5] = [
    ("C", |policy, folder| {
        fs::write(folder.join("policy.c"), code::c(&Program::new(policy).unwrap())).unwrap();
        gcc(policy, folder, &[])
    }),
    ("Rust", |policy, folder| {
        fs::write(folder.join("policy.rs"), code::rust(&Program::new(policy).unwrap())).unwrap();
        fs::copy(drivers().join("main.rs"), folder.join("main.rs")).unwrap();
        let mut rustc = Command::new("rustc");
        rustc.args(["--edition", "2021", "-D", "warnings", "-o"]).arg(folder.join("program"));
        built(rustc.arg(folder.join("main.rs"))).then(|| Command::new(folder.join("program")))
    }),
    ("Python", |policy, folder| {
        fs::write(folder.join("policy.py"), code::python(&Program::new(policy).unwrap())).unwrap();
        python("run_python.py", folder.join("policy.py"), true)
    }),
    ("ONNX", |policy, folder| {
        fs::write(folder.join("policy.onnx"), code::onnx(&Program::new(policy).unwrap()).ok()?).unwrap();
        python("run_onnx.py", folder.join("policy.onnx"), false)
    }),
    ("Structured Text", |policy, folder| {
        fs::write(folder.join("policy.st"), code::structured_text(&Program::new(policy).unwrap()).ok()?)
            .unwrap();
        python("run_structured_text.py", folder.join("policy.st"), false)
    }),
];

#[test]
fn every_program_acts_like_its_tree() {
    for (name, policy) in cases() {
        let observations = observations(&policy);
        let bits = |x: &Vec<f64>| x.iter().map(|v| format!("{:016x}", v.to_bits())).collect::<Vec<_>>();
        let input: String = observations.iter().map(|x| bits(x).join(" ") + "\n").collect();
        let expected: Vec<usize> = observations.iter().map(|x| policy.tree.action(x)).collect();
        for (language, prepare) in LANGUAGES {
            let folder = tempfile::tempdir().unwrap();
            let Some(mut command) = prepare(&policy, folder.path()) else {
                skip(language);
                continue;
            };
            let found = actions(&mut command, &input);
            assert_eq!(found.len(), expected.len(), "{language}, {name}: lines of output");
            for ((x, found), expected) in observations.iter().zip(&found).zip(&expected) {
                assert_eq!(found, expected, "{language}, {name}: the action at {x:?}");
            }
        }
    }
}

/// The thresholds that the tree compares a dimension with.
fn thresholds(tree: &Tree, of: usize, found: &mut Vec<f64>) {
    if let Tree::Node { dimension, threshold, yes, no } = tree {
        if *dimension == of {
            found.push(*threshold);
        }
        thresholds(yes, of, found);
        thresholds(no, of, found);
    }
}

#[test]
fn derived_dimensions_are_computed_by_the_program_or_refused() {
    for (name, policy) in derived() {
        let dimensions = policy.problem.dimensions();
        let features = dimensions.iter().filter_map(|d| d.expression.as_deref());
        let features: Vec<Expression> =
            features.map(|text| Expression::parse(text, &["x", "the \"y\""]).unwrap()).collect();
        let is_exact = features.iter().all(|f| f.functions().iter().all(|function| function.is_exact()));
        let (mut input, mut expected) = (String::new(), Vec::new());
        for x in observations(&policy) {
            let mut whole = x[..2].to_vec();
            whole.extend(features.iter().map(|feature| feature.value(&x[..2])));
            // Where the last bit may differ, only what is not decided by it.
            let is_near = |(dimension, value): (usize, &f64)| {
                let mut near = Vec::new();
                thresholds(&policy.tree, dimension, &mut near);
                near.iter().any(|t| (value - t).abs() <= 1e-9 * value.abs().max(1.0))
            };
            if is_exact || !whole.iter().enumerate().any(is_near) {
                let bits: Vec<String> = x[..2].iter().map(|v| format!("{:016x}", v.to_bits())).collect();
                input += &(bits.join(" ") + "\n");
                expected.push(policy.tree.action(&whole));
            }
        }
        assert!(expected.len() > 4_000 && (0..3).all(|action| expected.contains(&action)), "{name}");
        for (language, prepare) in &LANGUAGES[..3] {
            let folder = tempfile::tempdir().unwrap();
            let Some(mut command) = prepare(&policy, folder.path()) else {
                skip(language);
                continue;
            };
            assert!(actions(&mut command, &input) == expected, "{language}, {name}");
        }
        let program = Program::new(&policy).unwrap();
        for refused in [
            code::onnx(&program).unwrap_err().to_string(),
            code::structured_text(&program).unwrap_err().to_string(),
            code::c_fixed(&program, 16).unwrap_err().to_string(),
        ] {
            assert!(refused.contains("cannot compute"), "{refused}");
        }
    }
}

#[test]
fn fixed_point_is_exact_on_every_number_it_can_represent() {
    for (name, policy) in cases() {
        for bits in [0, 3, 16, 31] {
            let program = Program::new(&policy).unwrap();
            let Ok(text) = code::c_fixed(&program, bits) else { continue };
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("policy.c"), text).unwrap();
            let Some(mut command) = gcc(&policy, folder.path(), &["-DFIXED"]) else { return skip("C") };
            let scale = f64::from(1_u32 << bits);
            // The integers around every observation, and the extremes.
            let mut inputs: Vec<Vec<i32>> = vec![];
            for x in observations(&policy).iter().take(2_000) {
                inputs
                    .extend([-1.0, 0.0, 1.0].map(|more| {
                        x.iter().map(|v| ((v * scale).ceil() + more) as i32).collect::<Vec<_>>()
                    }));
            }
            inputs
                .extend([i32::MIN, i32::MAX].map(|extreme| vec![extreme; policy.problem.dimensions().len()]));
            let line = |x: &Vec<i32>| x.iter().map(i32::to_string).collect::<Vec<_>>().join(" ") + "\n";
            let found = actions(&mut command, &inputs.iter().map(line).collect::<String>());
            assert_eq!(found.len(), inputs.len(), "{name}: lines of output");
            for (x, found) in inputs.iter().zip(found) {
                let values: Vec<f64> = x.iter().map(|n| f64::from(*n) / scale).collect();
                assert_eq!(found, policy.tree.action(&values), "{name}, {bits} bits, at {x:?}");
            }
        }
    }
}

/// How many values a program is given.
fn observed(policy: &Policy) -> usize {
    policy.problem.dimensions().iter().filter(|d| d.expression.is_none()).count()
}

/// Builds `policy.c` with every warning an error.
fn gcc(policy: &Policy, folder: &Path, more: &[&str]) -> Option<Command> {
    let mut gcc = Command::new("gcc");
    gcc.args(["-std=c99", "-pedantic", "-O2", "-Wall", "-Wextra", "-Werror", "-Wconversion", "-Wshadow"]);
    gcc.args(more).arg(format!("-DDIMENSIONS={}", observed(policy)));
    gcc.arg(drivers().join("main.c"))
        .arg(folder.join("policy.c"))
        .arg("-o")
        .arg(folder.join("program"))
        .arg("-lm");
    built(&mut gcc).then(|| Command::new(folder.join("program")))
}

/// A driver in Python; `plain` if it needs no package.
fn python(driver: &str, file: PathBuf, plain: bool) -> Option<Command> {
    let python = match std::env::var_os("BROCCOLI_PYTHON") {
        Some(python) => python,
        None if plain => "python3".into(),
        None => return None,
    };
    let there = Command::new(&python).arg("--version").output().is_ok_and(|output| output.status.success());
    let mut command = Command::new(&python);
    command.arg("-B").arg(drivers().join(driver)).arg(file);
    there.then_some(command)
}

/// Runs a compiler: false if there is none, and no second chance if it refuses the program.
fn built(compiler: &mut Command) -> bool {
    match compiler.output() {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
            true
        }
        Err(_) => false,
    }
}

/// What a program answers to the lines of `input`.
fn actions(command: &mut Command, input: &str) -> Vec<usize> {
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || pipe.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    writer.join().unwrap().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(|line| line.parse().unwrap()).collect()
}

fn drivers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/exports")
}

fn skip(language: &str) {
    assert!(std::env::var_os("BROCCOLI_PYTHON").is_none(), "{language} cannot be run here");
    eprintln!("SKIPPED: {language}: its tools are missing; `cargo xtask test --only exports` installs them");
}

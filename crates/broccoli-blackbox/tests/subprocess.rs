//! Programs as systems: both formats, batches, and the three ways to come back to a state.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use broccoli_blackbox::check::{Effort, check};
use broccoli_blackbox::{ComesBack, Format, Plugin, Program, Subprocess};
use broccoli_core::problem::{ComeBack, InitialState, Problem, System, SystemFactory, Verdict};
use tempfile::TempDir;

/// The examples in C, built once.
static BUILT: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = TempDir::new().expect("a folder");
    let out = format!("OUT={}", folder.path().display());
    let make = Command::new("make").arg("--quiet").arg(out).current_dir(examples("c")).status();
    assert!(make.expect("`make` is installed").success());
    folder
});

fn examples(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(folder)
}

fn c(name: &str, format: Format) -> Subprocess {
    let mut program = Program::new([format!("./{name}")], BUILT.path());
    program.format = Some(format);
    Subprocess::new(program).expect("the program starts")
}

fn python(name: &str, format: Format) -> Subprocess {
    let mut program = Program::new(["python3", &format!("{name}.py")], examples("python"));
    program.format = Some(format);
    Subprocess::new(program).expect("the program starts")
}

/// The observations and verdicts of a run.
fn trace(system: &mut dyn System, initial: &[f64], actions: &[usize]) -> Vec<(Vec<u64>, Verdict)> {
    let mut observation = vec![0.0; initial.len()];
    let bits = |observation: &[f64]| observation.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    let reply = system.reset(&InitialState::new(initial), &mut observation).expect("an answer");
    let mut moments = vec![(bits(&observation), reply.verdict)];
    for &action in actions {
        let reply = system.step(action, &mut observation).expect("an answer");
        moments.push((bits(&observation), reply.verdict));
    }
    moments
}

#[test]
fn every_way_to_ask_for_the_same_dynamics_gives_the_same_bits() {
    let actions: Vec<usize> = (0..60).map(|i| usize::from(i % 7 < 4)).collect();
    for (name, initial) in
        [("mountain_car", vec![-0.51, 0.0]), ("cartpole", vec![0.013, -0.02, 0.047, 0.025])]
    {
        let plugin = Plugin::load(&BUILT.path().join(format!("{name}.so"))).unwrap();
        let expected = trace(&mut *plugin.make().unwrap(), &initial, &actions);
        for format in [Format::Json, Format::Binary] {
            let subprocess = c(name, format);
            let process = subprocess.start().unwrap();
            assert_eq!(process.format(), format);
            assert_eq!(subprocess.description().observations, plugin.description().observations);
            assert_eq!(subprocess.description().actions, plugin.description().actions);
            let mut system = subprocess.make().unwrap();
            assert_eq!(trace(&mut *system, &initial, &actions), expected, "{name}, {format:?}");
            let mut system = python(name, format).make().unwrap();
            let python = trace(&mut *system, &initial, &actions);
            // Python's programs leave some verdicts to the problem file, and use the same C library.
            assert!(python.iter().zip(&expected).all(|(a, b)| a.0 == b.0), "{name}, {format:?}, Python");
        }
    }
}

/// A counter whose rewards are what it shows, negated: stateless, and as an object.
const COUNTER: &str = r#"
import sys
from broccoli_system import RUNNING, serve

class Counter:
    name = "counter"
    observations = ["count"]
    actions = {"still": 0.0, "up": 1.0}
    come_back = "stateless"
    state = initial = 1
    verdicts = False
    rewards = True

    def reset(self, initial):
        return initial, RUNNING, initial

    def step(self, state, action):
        state = [state[0] + action]
        return (state, RUNNING, state, -state[0]) if state[0] < 9 else (state, RUNNING, state)

class Object(Counter):
    come_back = "reset"

    def reset(self, initial):
        self.count = initial
        return self.count, RUNNING

    def step(self, action):
        self.count = [self.count[0] + action]
        return self.count, RUNNING, -self.count[0]

serve(Counter() if sys.argv[1] == "stateless" else Object())
"#;

/// Whatever prints, in Python or below it, does not get in the way of the messages.
const CHATTY: &str = r#"
import os
from broccoli_system import RUNNING, serve

class Chatty:
    name = "chatty"
    observations = ["count"]
    actions = {"still": 0.0, "up": 1.0}
    come_back = "reset"
    initial = 1
    verdicts = False

    def __init__(self):
        print("a model is loaded")

    def reset(self, initial):
        print("reset", flush=True)
        self.count = initial[0]
        return [self.count], RUNNING

    def step(self, action):
        os.write(1, b"a library in C prints\n")
        os.system("echo and so does a program")
        self.count += action
        return [self.count], RUNNING

serve(Chatty())
"#;

#[test]
fn prints_go_to_standard_error() {
    let folder = TempDir::new().unwrap();
    std::fs::copy(examples("python").join("broccoli_system.py"), folder.path().join("broccoli_system.py"))
        .unwrap();
    std::fs::write(folder.path().join("chatty.py"), CHATTY).unwrap();
    for format in [Format::Json, Format::Binary] {
        let mut program = Program::new(["python3", "chatty.py"], folder.path());
        program.format = Some(format);
        let mut system = Subprocess::new(program).unwrap().make().unwrap();
        let seen: Vec<f64> =
            trace(&mut *system, &[2.0], &[1, 0, 1]).iter().map(|(bits, _)| f64::from_bits(bits[0])).collect();
        assert_eq!(seen, [2.0, 3.0, 3.0, 4.0]);
    }
}

/// The same in C, to be built with `serve.c`.
const COUNTER_C: &str = r#"
#include "broccoli.h"
static int32_t reset(const double *initial, void *state, double *observation)
{
    *observation = *(double *)state = *initial;
    return BROCCOLI_RUNNING;
}
static int32_t step(void *state, uint32_t action, double *observation)
{
    observation[0] = *(double *)state += action;
    observation[1] = -observation[0];
    return BROCCOLI_RUNNING;
}
static const char *const observations[] = {"count"}, *const actions[] = {"still", "up"};
static const double values[] = {0, 1};
static const broccoli_system counter = {BROCCOLI_ABI, 8, 1, 2, 1, BROCCOLI_REWARDS, "counter", observations,
                                        actions, values, reset, step, 0};
const broccoli_system *broccoli_plugin(void) { return &counter; }
"#;

#[test]
fn the_helpers_give_rewards_in_both_formats() {
    let folder = TempDir::new().expect("a folder");
    let helper = examples("python").join("broccoli_system.py");
    std::fs::copy(helper, folder.path().join("broccoli_system.py")).expect("the helper is copied");
    std::fs::write(folder.path().join("counter.py"), COUNTER).expect("written");
    std::fs::write(folder.path().join("counter.c"), COUNTER_C).expect("written");
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    let built = Command::new("cc")
        .arg("-I")
        .arg(include)
        .args(["-o", "counter", "counter.c"])
        .arg(std::path::absolute(examples("c").join("serve.c")).expect("a path"))
        .current_dir(folder.path())
        .status();
    assert!(built.expect("`cc` is installed").success());

    for format in [Format::Json, Format::Binary] {
        for command in
            [&["python3", "counter.py", "stateless"][..], &["python3", "counter.py", "reset"], &["./counter"]]
        {
            let mut program = Program::new(command.iter().copied(), folder.path());
            program.format = Some(format);
            let subprocess = Subprocess::new(program).expect("the program starts");
            assert!(subprocess.description().rewards, "{command:?}");
            let mut system = subprocess.make().expect("a process");
            let mut observation = [0.0];
            let reply = system.reset(&InitialState::new([2.0]), &mut observation).expect("an answer");
            assert_eq!((observation, reply.reward), ([2.0], None), "{command:?}, {format:?}");
            for (action, count) in [(1, 3.0), (0, 3.0), (1, 4.0)] {
                let reply = system.step(action, &mut observation).expect("an answer");
                assert_eq!((observation, reply.reward), ([count], Some(-count)), "{command:?}, {format:?}");
            }
            if command.last() == Some(&"stateless") {
                system.reset(&InitialState::new([8.0]), &mut observation).expect("an answer");
                let error = system.step(1, &mut observation).expect_err("no reward").to_string();
                let expected = "ValueError: a step returns 4 values, the last one its reward, not 3";
                assert!(error.contains(expected), "{error}");
            }
        }
    }
}

#[test]
fn a_batch_is_as_many_steps() {
    for (mut process, name) in [
        (c("mountain_car", Format::Json).start().unwrap(), "C, JSON"),
        (c("mountain_car", Format::Binary).start().unwrap(), "C, binary"),
        (python("mountain_car", Format::Json).start().unwrap(), "Python, JSON"),
        (python("mountain_car", Format::Binary).start().unwrap(), "Python, binary"),
    ] {
        // Large enough to fill the pipe more than once: neither side may wait for the other.
        for count in [0, 1, 2, 3, 5000] {
            let states: Vec<f64> = (0..count).flat_map(|i| [-1.0 + 0.0003 * i as f64, 0.01]).collect();
            let actions: Vec<usize> = (0..count).map(|i| i % 2).collect();
            let batch = process.step_batch(&states, &actions).unwrap().clone();
            assert_eq!((batch.len(), batch.is_empty()), (count, count == 0), "{name}");
            for index in (0..count).step_by(97) {
                let state = &states[2 * index..2 * index + 2];
                let bytes: Vec<u8> = state.iter().flat_map(|v| v.to_le_bytes()).collect();
                process.restore(&bytes).unwrap();
                let mut observation = [0.0; 2];
                let reply = process.step(actions[index], &mut observation).unwrap();
                assert_eq!(observation, batch.observations[2 * index..2 * index + 2], "{name}");
                assert_eq!(observation, batch.states[2 * index..2 * index + 2], "{name}");
                assert_eq!(reply.verdict, batch.verdicts[index], "{name}");
            }
        }
        assert!(process.step_batch(&[0.0; 3], &[0]).unwrap_err().to_string().contains("need 1 × 2 values"));
    }
    let mut reset_only = python("cartpole", Format::Binary).start().unwrap();
    assert!(reset_only.step_batch(&[], &[0]).is_err());
}

#[test]
fn three_ways_to_come_back() {
    for (name, comes_back, come_back) in [
        ("mountain_car", ComesBack::Stateless(2), ComeBack::Clone),
        ("pendulum", ComesBack::Snapshot, ComeBack::Snapshot),
        ("cartpole", ComesBack::Reset, ComeBack::Replay),
    ] {
        for format in [Format::Json, Format::Binary] {
            let subprocess = python(name, format);
            assert_eq!(subprocess.description().comes_back, comes_back);
            let environment = broccoli_environments::find(&name.replace('_', "-")).unwrap();
            let problem: Problem = environment.problem().build().unwrap();
            let report = check(&problem, &subprocess, Effort::SHORT).unwrap();
            assert_eq!(report.come_back, come_back);
        }
    }
    let mut system = python("cartpole", Format::Json).make().unwrap();
    assert!(system.save(&mut Vec::new()).is_err() && system.restore(&[]).is_err());
    let mut system = python("mountain_car", Format::Json).make().unwrap();
    assert!(system.restore(&[0; 15]).unwrap_err().to_string().contains("has 16 bytes, not 15"));
}

#[test]
fn an_exception_in_the_program_is_its_answer_and_the_end_of_it() {
    let mut system = python("pendulum", Format::Binary).make().unwrap();
    let mut observation = [0.0; 2];
    let error = system.reset(&InitialState::new([1.0]), &mut observation).unwrap_err().to_string();
    assert!(error.contains("it reports an error: ValueError: not enough values to unpack"), "{error}");
    // What failed once fails again, with the same words.
    let again = system.reset(&InitialState::new([1.0, 0.0]), &mut observation).unwrap_err().to_string();
    assert_eq!(again, error);
}

#[test]
fn libraries_that_are_no_plugins_are_refused() {
    let folder = TempDir::new().unwrap();
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    let good = std::fs::read_to_string(examples("c").join("mountain_car.c")).unwrap();
    let load = |name: &str, source: &str| {
        let (source_path, path) =
            (folder.path().join(format!("{name}.c")), folder.path().join(format!("{name}.so")));
        std::fs::write(&source_path, source).unwrap();
        let mut cc = Command::new("cc");
        cc.args(["-std=c11", "-shared", "-fPIC", "-o"]).arg(&path).arg(&source_path).arg("-I").arg(&include);
        assert!(cc.arg("-lm").status().unwrap().success());
        Plugin::load(&path).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(load("good", &good), Ok(()));
    for (name, from, to, message) in [
        ("abi", ".abi = BROCCOLI_ABI", ".abi = 2", "has version 2 of the interface"),
        ("null", "return &mountain_car", "return 0", "says that it cannot work"),
        ("entry", "broccoli_plugin(void) {", "other(void) {", "has no function `broccoli_plugin`"),
        ("step", ".step = step", ".step = 0", "has no reset or no step"),
        ("actions", ".action_count = 2", ".action_count = 1", "its action_count is 1: it must be from 2"),
        (
            "state",
            ".state_size = 2 * sizeof(double)",
            ".state_size = 1 << 30",
            "its state_size is 1073741824",
        ),
        ("names", ".observation_names = observations", ".observation_names = 0", "has no observation_names"),
        ("same", "{\"left\", \"right\"}", "{\"left\", \"left\"}", "two of its actions are called \"left\""),
        ("utf8", "\"position\"", "\"\\xff\"", "that is not UTF-8"),
        ("value", "{0.0, 2.0}", "{0.0, INFINITY}", "the value of its action \"right\" is not finite"),
    ] {
        assert!(good.contains(from), "{from}");
        let error = load(name, &good.replace(from, to)).unwrap_err();
        assert!(error.contains(message), "{name}: {error}");
    }
    let error = Plugin::load(&folder.path().join("nothing.so")).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("is no file"), "{error}");
    let text = folder.path().join("text.so");
    std::fs::write(&text, "no library").unwrap();
    assert!(Plugin::load(&text).map(|_| ()).unwrap_err().to_string().contains("cannot be loaded"));

    // Errors at run time: a negative code, explained or not, and a code that is no verdict.
    for (name, code, message) in [
        ("negative", "-7", "plug-in \"mountain-car\" reports error -7: no fuel"),
        ("seven", "7", "returned 7, which is no verdict"),
    ] {
        let source = good
            .replace("    double *s = state;\n    double direction", &format!("    if (action == 1) return {code};\n    double *s = state;\n    double direction"))
            .replace("static const broccoli_system", "static const char *words(int32_t code) { (void)code; return \"no fuel\"; }\nstatic const broccoli_system")
            .replace(".step = step", ".step = step, .error = words");
        load(name, &source).unwrap();
        let mut system = Plugin::load(&folder.path().join(format!("{name}.so"))).unwrap().make().unwrap();
        let mut observation = [0.0; 2];
        system.reset(&InitialState::new([0.0, 0.0]), &mut observation).unwrap();
        assert!(system.step(0, &mut observation).is_ok());
        let error = system.step(1, &mut observation).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
        assert!(system.step(2, &mut observation).unwrap_err().to_string().contains("no action number 2"));
        assert!(system.reset(&InitialState::new([0.0]), &mut observation).is_err());
        assert!(system.restore(&[0; 3]).is_err());
    }
}

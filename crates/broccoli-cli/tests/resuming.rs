//! What a search that is resumed must find as it was, and what it must leave alone.

#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::{json, run, stderr};
use tempfile::TempDir;

const PROBLEM: &str = r#"[system]
command = ["python3", "car.py"]
satisfied = "position >= 0.5"
[predicates]
position = { low = -1.2, high = 0.6, step = 0.3 }
velocity = { low = -0.07, high = 0.07, step = 0.035 }
[initial]
states = [[-0.5, 0.0]]
[objective]
kind = "reach"
horizon = 150
[tree]
depth = 2
"#;

/// A folder with a program, a problem about it, and a search that was stopped.
struct Stopped {
    folder: TempDir,
}

impl Stopped {
    fn new(options: &[&str]) -> Self {
        let folder = TempDir::new().expect("a folder");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/foreign/car.py");
        let stopped = Stopped { folder };
        fs::copy(source, stopped.path("car.py")).expect("the program is copied");
        stopped.write("constants.json", "[0.001, 0.0025, 3.0]");
        stopped.write("car.toml", PROBLEM);
        let output = stopped.run(
            &[&["solve", "car.toml", "--checkpoint", "s.ckpt", "--query-limit", "400"], options].concat(),
        );
        assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
        stopped
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("it can be written");
    }

    /// Runs the command in the folder.
    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_broccoli"));
        command.args(arguments).current_dir(self.folder.path()).env("BROCCOLI_THREADS", "1");
        command.output().expect("the command runs")
    }

    /// Resumes the search, which is refused.
    fn refused(&self, what: &str) {
        let kept = fs::read(self.path("s.ckpt")).expect("a checkpoint");
        let output = self.run(&["resume", "s.ckpt", "car.toml", "--no-check"]);
        assert_eq!(output.status.code(), Some(2), "{what}: {}", stderr(&output));
        assert!(stderr(&output).contains(what), "{what}: {}", stderr(&output));
        assert!(kept == fs::read(self.path("s.ckpt")).expect("a checkpoint"), "it stays as it was");
    }
}

#[test]
fn a_program_that_has_changed_is_refused() {
    let stopped = Stopped::new(&[]);
    let script = fs::read_to_string(stopped.path("car.py")).expect("the program");
    stopped.write("car.py", &script.replace("-1.2)", "-1.25)"));
    stopped.refused("car.py\" of the system is not what it was");
    stopped.write("car.py", &script);
    // What nobody can see from outside shows in what the program answers.
    for constants in ["[0.0010000001, 0.0025, 3.0]", "[0.001, 0.0024, 3.0]", "[0.001, 0.0025, 3.1]"] {
        stopped.write("constants.json", constants);
        stopped.refused("the system has changed since the checkpoint was made: at step ");
    }
    stopped.write("constants.json", "[0.001, 0.0025, 3.0]");
    let whole = json(&stopped.run(&["solve", "car.toml", "--json"]));
    let resumed = stopped.run(&["resume", "s.ckpt", "car.toml", "--json"]);
    assert_eq!(resumed.status.code(), Some(0), "{}", stderr(&resumed));
    let resumed = json(&resumed);
    for key in ["status", "value", "bound", "size", "tree"] {
        assert_eq!(resumed[key], whole[key], "{key}");
    }
    // All that the 400 queries have answered, with the ways there.
    assert!(resumed["statistics"]["queries_asked_again"].as_u64() >= Some(400), "{resumed}");
}

#[test]
fn a_problem_file_that_has_changed_is_refused() {
    let stopped = Stopped::new(&[]);
    for (old, new, what) in [
        ("step = 0.3", "step = 0.2", "the problem's `dimensions[0].thresholds"),
        ("[[-0.5, 0.0]]", "[[-0.4, 0.0]]", "`initial_states[0][0]` was -0.5, and now it is -0.4"),
        ("[[-0.5, 0.0]]", "[[-0.5, 0.0], [0, 0]]", "`initial_states` had 1 entries, and now it has 2"),
        ("horizon = 150", "horizon = 151", "`horizon` was 150, and now it is 151"),
        ("depth = 2", "depth = 3", "`depth` was 2, and now it is 3"),
        (
            ">= 0.5\"",
            ">= 0.4\"",
            "satisfied when` was \"position >= 0.5\", and now it is \"position >= 0.4\"",
        ),
        ("\"reach\"", "\"survive\"", "`objective` was \"reach\", and now it is \"survive\""),
        ("[\"python3\", ", "[\"python3\", \"-B\", ", "command"),
    ] {
        assert!(PROBLEM.contains(old));
        stopped.write("car.toml", &PROBLEM.replace(old, new));
        stopped.refused(what);
    }
}

/// A file that is another may do the same: the user knows, and the system is asked.
#[test]
fn another_file_of_the_same_system() {
    let stopped = Stopped::new(&[]);
    let script = fs::read_to_string(stopped.path("car.py")).expect("the program");
    stopped.write("car.py", &format!("{script}# Nothing has changed.\n"));
    stopped.refused("say --same-system");
    let again = ["resume", "s.ckpt", "car.toml", "--no-check", "--same-system"];
    stopped.write("constants.json", "[0.0010000001, 0.0025, 3.0]");
    let output = stopped.run(&again);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("has changed since the checkpoint was made"), "{}", stderr(&output));
    stopped.write("constants.json", "[0.001, 0.0025, 3.0]");
    // No word helps against another problem.
    stopped.write("car.toml", &PROBLEM.replace("horizon = 150", "horizon = 151"));
    let output = stopped.run(&again);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("`horizon` was 150, and now it is 151; the file"),
        "{}",
        stderr(&output)
    );
    stopped.write("car.toml", PROBLEM);
    let output = stopped.run(&again);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("is not what it was"), "{}", stderr(&output));
}

/// A certificate says what the system was.
#[test]
fn a_certificate_of_a_system_that_has_changed() {
    let stopped = Stopped::new(&[]);
    let solved = stopped.run(&["solve", "car.toml", "--certificate", "car.proof"]);
    assert_eq!(solved.status.code(), Some(0), "{}", stderr(&solved));
    let verify = || stopped.run(&["verify", "car.proof", "car.toml", "--json"]);
    assert_eq!(json(&verify())["changed"].as_array().map(Vec::len), Some(0));
    let script = fs::read_to_string(stopped.path("car.py")).expect("the program");
    stopped.write("car.py", &format!("{script}# Nothing has changed.\n"));
    let output = verify();
    let told = json(&output);
    assert_eq!((output.status.code(), &told["status"]), (Some(0), &"verified".into()), "{told}");
    let changed = told["changed"][0].as_str().expect("what has changed");
    assert!(
        changed.starts_with("the file \"car.py\" of the system is not what it was: sha256 "),
        "{changed}"
    );
    let text = stopped.run(&["verify", "car.proof", "car.toml"]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("changed  the file \"car.py\""), "{text}");
}

/// Who keeps a search in a file is told to others from the beginning, also before the first checkpoint.
#[test]
fn two_searches_with_one_checkpoint() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("s.ckpt");
    let text = file.to_str().expect("UTF-8");
    let problem = ["solve", "mountain-car", "--depth", "4", "--step", "0.06,0.005", "--checkpoint", text];
    let mut first = Command::new(env!("CARGO_BIN_EXE_broccoli"));
    first.args(problem).args(["--threads", "1", "--checkpoint-interval", "1h"]);
    let mut first = first.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let started = Instant::now();
    let is_owned = || fs::read_to_string(folder.path().join(".s.ckpt.lock")).is_ok_and(|id| !id.is_empty());
    while !is_owned() {
        assert!(started.elapsed() < Duration::from_secs(60), "nobody owns it");
        std::thread::sleep(Duration::from_millis(10));
    }
    let refused = run(&problem);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    let owner = format!("another process keeps its search there: process {}", first.id());
    assert!(stderr(&refused).contains(&owner), "{}", stderr(&refused));
    first.kill().expect("it is there");
    first.wait().expect("it ends");
    // What it left behind belongs to nobody.
    let output = run(&[&problem[..], &["--query-limit", "100"]].concat());
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "only the checkpoint is left");
}

/// Options of the first command are not those of the file.
#[test]
fn the_hint_is_a_command_that_works() {
    let stopped = Stopped::new(&["--depth", "1", "--step", "0.25,0.02", "--horizon", "140"]);
    fs::rename(stopped.path("s.ckpt"), stopped.path("it's s.ckpt")).expect("it can be renamed");
    let output = stopped.run(&["resume", "it's s.ckpt", "car.toml", "--query-limit", "200", "--no-check"]);
    let said = stderr(&output);
    let hint = said.lines().find_map(|line| line.split('`').nth(1)).expect("a command");
    assert!(hint.ends_with(" car.toml"), "{hint}");
    let command = hint.replacen("broccoli", env!("CARGO_BIN_EXE_broccoli"), 1);
    let mut shell = Command::new("sh");
    let output = shell.args(["-c", &command]).current_dir(stopped.folder.path()).output().expect("a shell");
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", stderr(&output));
}

/// A second process does not go on with a search that one goes on with.
#[test]
fn two_resumes_at_once() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("s.ckpt");
    let text = file.to_str().expect("UTF-8");
    let problem = ["solve", "mountain-car", "--depth", "4", "--step", "0.06,0.005"];
    let output = run(&[&problem[..], &["--query-limit", "20000", "--checkpoint", text]].concat());
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    let mut first = Command::new(env!("CARGO_BIN_EXE_broccoli"));
    first.args(["resume", text, "--threads", "1", "--checkpoint-interval", "10ms"]);
    let mut first = first.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    // Once it has written to the file it goes on with the search; before, the second could have come first.
    let before = fs::read(&file).expect("it is there");
    let started = Instant::now();
    while fs::read(&file).expect("it is there") == before {
        assert!(started.elapsed() < Duration::from_secs(60), "nothing is written");
        std::thread::sleep(Duration::from_millis(10));
    }
    let refused = run(&["resume", text, "--query-limit", "0"]);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    let owner = format!("another process is going on with this search: process {}", first.id());
    assert!(stderr(&refused).contains(&owner), "{}", stderr(&refused));
    // Not even after the first has replaced the file some times.
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(run(&["resume", text, "--query-limit", "0"]).status.code(), Some(2));
    first.kill().expect("it is there");
    first.wait().expect("it ends");
    assert_eq!(run(&["resume", text, "--query-limit", "0"]).status.code(), Some(4));
}

/// A tree that could not be run to its end is run when the search is resumed.
#[test]
fn a_search_that_is_stopped_in_the_tree_to_start_from_is_kept() {
    let folder = TempDir::new().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (tree, file) = (path("tree.json"), path("s.ckpt"));
    let whole = json(&run(&["solve", "mountain-car", "--json", "--save", &tree]));
    let output =
        run(&["solve", "mountain-car", "--start", &tree, "--checkpoint", &file, "--query-limit", "50"]);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    assert!(stderr(&output).contains("`broccoli resume "), "{}", stderr(&output));
    let resumed = json(&run(&["resume", &file, "--json"]));
    for key in ["status", "value", "bound", "size", "tree"] {
        assert_eq!(resumed[key], whole[key], "{key}");
    }
}

/// What a checkpoint says of a certificate is believed only as far as the user names the file, and as the file is
/// that certificate.
#[test]
fn no_file_is_cut_that_is_not_the_certificate() {
    let folder = TempDir::new().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (file, proof, other) = (path("s.ckpt"), path("a proof"), path("other"));
    let options = ["--query-limit", "30000", "--checkpoint", &file, "--certificate", &proof];
    let output = run(&[&["solve", "pendulum"], &options[..]].concat());
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    let whole = fs::read(&proof).expect("a certificate");
    let refused = run(&["resume", &file]);
    assert_eq!(refused.status.code(), Some(2));
    let hint = format!("--certificate '{proof}'");
    assert!(stderr(&refused).contains(&hint), "{}", stderr(&refused));
    // Of another problem, and one of this problem with another byte in it: the end is the same.
    run(&["solve", "pendulum", "--horizon", "9000", "--query-limit", "30000", "--certificate", &other]);
    let mut damaged = whole.clone();
    damaged[whole.len() / 3] ^= 1;
    let contents =
        [fs::read(&other).expect("a certificate"), damaged, vec![0; 1 << 20], b"Dear diary".to_vec()];
    for content in contents {
        fs::write(&other, &content).expect("it can be written");
        let refused = run(&["resume", &file, "--certificate", &other]);
        assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
        assert!(stderr(&refused).contains("cannot be gone on with"), "{}", stderr(&refused));
        assert!(fs::read(&other).expect("a file") == content, "it stays as it was");
    }
    assert_eq!(fs::read(&proof).expect("a certificate"), whole);
    // It may have been moved.
    fs::rename(&proof, &other).expect("it can be renamed");
    let resumed = run(&["resume", &file, "--certificate", &other]);
    assert_eq!(resumed.status.code(), Some(0), "{}", stderr(&resumed));
    assert_eq!(json(&run(&["verify", &other, "--json"]))["claim"], "optimal");
}

#[test]
fn a_certificate_overwrites_certificates_only() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("letter.txt");
    let text = file.to_str().expect("UTF-8");
    fs::write(&file, "Dear reader").expect("it can be written");
    let refused = run(&["solve", "pendulum", "--depth", "1", "--certificate", text]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        stderr(&refused).contains("is not a certificate, so it is not overwritten"),
        "{}",
        stderr(&refused)
    );
    assert_eq!(fs::read(&file).expect("a file"), b"Dear reader");
    fs::write(&file, "").expect("it can be written");
    for _ in 0..2 {
        assert_eq!(run(&["solve", "pendulum", "--depth", "1", "--certificate", text]).status.code(), Some(3));
        assert_eq!(run(&["verify", text]).status.code(), Some(0));
    }
}

/// Files may grow to some blocks and no more: as if the disk were full.
#[test]
fn a_full_disk_does_not_cut_a_result() {
    let folder = TempDir::new().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    for (option, name) in [("--save", "best.json"), ("--report", "best.html")] {
        fs::write(path(name), "all that was found before").expect("it can be written");
        let output = Command::new("sh")
            .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_broccoli")])
            .args(["solve", "mountain-car", option])
            .arg(path(name))
            .output()
            .expect("there is a shell");
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains("cannot be written"), "{}", stderr(&output));
        assert_eq!(fs::read(path(name)).expect("a file"), b"all that was found before");
    }
    let tree = path("tree.json");
    let tree = tree.to_str().expect("UTF-8");
    run(&["solve", "mountain-car", "--save", tree]);
    fs::write(path("trace.csv"), "all that was found before").expect("it can be written");
    let limited = |arguments: &[&str]| {
        let mut shell = Command::new("sh");
        shell.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_broccoli")]);
        shell.args(arguments).current_dir(folder.path()).output().expect("there is a shell")
    };
    let output = limited(&["simulate", "mountain-car", tree, "--trace", "trace.csv"]);
    assert_ne!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(fs::read(path("trace.csv")).expect("a file"), b"all that was found before");
    let output = limited(&["init", "new.toml", "--subprocess"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 4, "nothing is left behind");
}

/// A link stays a link, and a mode stays a mode.
#[test]
fn what_is_replaced_stays_what_it_is() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = TempDir::new().expect("a folder");
    let (file, link) = (folder.path().join("best.json"), folder.path().join("link.json"));
    fs::write(&file, "{}").expect("it can be written");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("it is ours");
    symlink(&file, &link).expect("links can be made");
    let save = |path: &Path| run(&["solve", "mountain-car", "--save", path.to_str().expect("UTF-8")]);
    assert_eq!(save(&link).status.code(), Some(0));
    assert!(link.is_symlink());
    let there = fs::metadata(&file).expect("it is there");
    assert_eq!((there.permissions().mode() & 0o777, there.len() > 100), (0o640, true));
}

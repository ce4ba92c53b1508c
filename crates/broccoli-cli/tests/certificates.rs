//! `solve --certificate` and `verify`: exit codes, forms, foreign systems, searches that were killed.

#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::{json, run, stderr, stdout};

/// A folder, and a file in it that does not exist yet.
fn place() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("proof");
    (directory, file)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

fn solve(arguments: &[&str], file: &Path) -> i32 {
    let output = run(&[&["solve"], arguments, &["--certificate", text(file)]].concat());
    output.status.code().unwrap_or_else(|| panic!("{}", stderr(&output)))
}

#[test]
fn both_forms_verify_and_say_what_was_checked() {
    let (_directory, file) = place();
    for form in ["light", "full"] {
        assert_eq!(solve(&["pendulum", "--certificate-form", form], &file), 0);
        let output = run(&["verify", text(&file)]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let said = stdout(&output);
        assert!(said.contains("Verified. Optimal: this tree reaches the goal in 46 steps."), "{said}");
        assert!(said.contains("system   pendulum, 88 thresholds, 1 initial state, horizon 10,000"), "{said}");
        assert!(said.contains("checked  9,205 behaviours, 71,455 labels, 126,054 transitions"), "{said}");
        assert!(said.contains("126,054 of them asked of the system"), "{said}");
        assert!(!said.contains("choices"), "{said}");
    }
    for all in [&["--json"][..], &["--json", "--replay"]] {
        let replayed = run(&[&["verify", text(&file)], all].concat());
        assert_eq!(replayed.status.code(), Some(0));
        let replayed = json(&replayed);
        assert_eq!((&replayed["status"], &replayed["claim"]), (&"verified".into(), &"optimal".into()));
        assert_eq!(replayed["checked"]["transitions_asked"], replayed["checked"]["transitions"]);
        assert_eq!(replayed["checked"]["answers_asked"], replayed["checked"]["answers"]);
    }
}

/// What the system was not asked for is never told as if it were proved.
#[test]
fn without_the_system_only_the_record_is_verified() {
    let (_directory, file) = place();
    assert_eq!(solve(&["pendulum", "--certificate-form", "full"], &file), 0);
    for (option, opening) in [
        ("--record-only", "Verified for the recorded answers; the system was not run."),
        ("--replay=1%", "Verified for the recorded answers; the system was asked again for 1,"),
    ] {
        let output = run(&["verify", text(&file), option]);
        assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
        let said = stdout(&output);
        assert!(said.starts_with(opening), "{said}");
        assert!(
            said.contains("What it claims: a tree of 3 predicates reaches the goal in 46 steps."),
            "{said}"
        );
        assert!(!said.contains("Verified. ") && !said.contains("Optimal:"), "{said}");
        let output = run(&["verify", text(&file), option, "--json"]);
        let said = json(&output);
        assert_eq!((said["status"].as_str(), output.status.code()), (Some("recorded"), Some(4)), "{said}");
        let asked = said["checked"]["transitions_asked"].as_u64().expect("a number");
        // All 46 steps of the tree, and a hundredth of the others.
        let expected = if option == "--record-only" { 0..1 } else { 1_000..1_600 };
        assert!(expected.contains(&asked), "{said}");
    }
    let both = run(&["verify", text(&file), "--record-only", "--replay"]);
    assert_eq!(both.status.code(), Some(2), "{}", stderr(&both));
}

/// The claim, the traces and the evidence of a full certificate whose answers were made up agree with each
/// other. Whoever runs the system for any share of it runs it for all that the tree does.
#[test]
fn made_up_answers_are_found_out_whatever_share_is_asked_for() {
    let (_directory, file) = place();
    assert_eq!(solve(&["mountain-car", "--certificate-form", "full"], &file), 0);
    let genuine = std::fs::read(&file).expect("it is there");
    let (start, right) = (0b10, 0b1000);
    let at = |position: f64, velocity: f64, verdict: u8| {
        let bytes = [position.to_le_bytes(), velocity.to_le_bytes()].concat();
        [&[verdict << 3 | 4], &bytes[..], &[0]].concat()
    };
    let (first, goal) = (at(-0.51, 0.0, 0), at(0.6, 0.07, 1));
    let claim = r#"{"claim":"optimal","bound":1,"value":1,"size":0,"depth":0,"tree":{"action":1}}"#;
    let forged = |form: &str| {
        with_blocks(&genuine, |kind, content| match kind {
            b'P' => {
                let text = String::from_utf8(content).expect("text");
                vec![(b'P', text.replace(r#""form":"full""#, &format!(r#""form":"{form}""#)).into_bytes())]
            }
            b'C' if form == "light" => {
                vec![(b'L', vec![start]), (b'C', claim.as_bytes().to_vec())]
            }
            b'C' => vec![
                (b'L', [&[start], &first[..]].concat()),
                (b'T', [&[start], &first[..], &[right], &goal[..]].concat()),
                (b'C', claim.as_bytes().to_vec()),
            ],
            _ => Vec::new(),
        })
    };
    std::fs::write(&file, forged("full")).expect("it can be written");
    let recorded = run(&["verify", text(&file), "--record-only"]);
    assert_eq!(recorded.status.code(), Some(4), "{}{}", stdout(&recorded), stderr(&recorded));
    for option in ["--replay=1%", "--replay=50%", "--replay", "--json"] {
        let refuted = run(&["verify", text(&file), option]);
        assert_eq!(refuted.status.code(), Some(5), "{}{}", stdout(&refuted), stderr(&refuted));
        assert!(stdout(&refuted).contains("the system answers otherwise"), "{}", stdout(&refuted));
    }
    std::fs::write(&file, forged("light")).expect("it can be written");
    assert_eq!(run(&["verify", text(&file)]).status.code(), Some(5));
}

/// The tree that is printed is the one that is run, also where its traces are recorded.
#[test]
fn a_tree_with_the_traces_of_another_is_refuted() {
    let (_directory, file) = place();
    assert_eq!(solve(&["mountain-car", "--certificate-form", "full"], &file), 0);
    let genuine = std::fs::read(&file).expect("it is there");
    let mirrored = with_blocks(&genuine, |kind, content| match kind {
        b'C' => {
            let text = String::from_utf8(content).expect("text");
            let [left, right] = [r#""action":0"#, r#""action":1"#];
            assert!(text.contains(left) && text.contains(right), "{text}");
            let text = text.replace(left, "?").replace(right, left).replace('?', right);
            vec![(kind, text.into_bytes())]
        }
        _ => vec![(kind, content)],
    });
    std::fs::write(&file, mirrored).expect("it can be written");
    for option in ["--record-only", "--replay"] {
        let refuted = run(&["verify", text(&file), option]);
        assert_eq!(refuted.status.code(), Some(5), "{}{}", stdout(&refuted), stderr(&refuted));
        let said = stdout(&refuted);
        assert!(said.contains("the tree takes the action") && !said.contains("Optimal:"), "{said}");
    }
}

/// What is fixed must be so, and what somebody has chosen is told.
#[test]
fn a_problem_about_a_built_in_is_compared_with_it() {
    let (_directory, file) = place();
    assert_eq!(solve(&["mountain-car", "--depth", "0", "--certificate-form", "full"], &file), 3);
    let genuine = std::fs::read(&file).expect("it is there");
    for (from, to, said) in [
        (
            r#""name":"velocity""#,
            r#""name":"speed""#,
            "position, speed, but those of mountain-car are position, velocity",
        ),
        (r#""name":"right","value":2.0"#, r#""name":"right","value":3.0"#, "has the value 3, not 2"),
        (
            r#""name":"velocity""#,
            r#""name":"velocity","expression":"position""#,
            "derived as \"position\", and that of mountain-car is observed",
        ),
        ("[-0.51,0.0]", "[-0.51]", "its initial state 0 has 1 values, not 2"),
    ] {
        std::fs::write(&file, with_problem(&genuine, from, to)).expect("it can be written");
        for options in [&[][..], &["--record-only"]] {
            let refused = run(&[&["verify", text(&file)], options].concat());
            assert_eq!(refused.status.code(), Some(2), "{}", stdout(&refused));
            assert!(stderr(&refused).contains(said), "{}", stderr(&refused));
        }
    }
    let options = ["--thresholds", "3", "--horizon", "90", "--samples", "2", "--actions", "left,coast"];
    let code = solve(&[&["mountain-car", "--depth", "1"], &options[..]].concat(), &file);
    assert!(matches!(code, 0 | 3), "{code}");
    let output = run(&["verify", text(&file)]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = stdout(&output);
    for choice in [
        "choices  thresholds of position: ",
        "; by default 35 from -1.15 to 0.55",
        "         actions: left (0), coast (1); by default left (0), right (2)",
        "         initial states: 2 states; by default [-0.51, 0.0]",
        "         horizon: 90; by default 10000",
        "         depth: 1; by default 2",
    ] {
        assert!(said.contains(choice), "{choice}: {said}");
    }
    let told = json(&run(&["verify", text(&file), "--json"]));
    let whats: Vec<&str> =
        told["choices"].as_array().expect("a list").iter().filter_map(|c| c["what"].as_str()).collect();
    let expected =
        ["thresholds of position", "thresholds of velocity", "actions", "initial states", "horizon", "depth"];
    assert_eq!(whats, expected, "{told}");
}

/// Files that were made to exhaust whoever reads them are refused within what is allowed.
#[test]
fn verify_keeps_to_its_limits() {
    let (_directory, file) = place();
    assert_eq!(solve(&["mountain-car", "--depth", "0"], &file), 3);
    let genuine = std::fs::read(&file).expect("it is there");
    let refused = |bytes: &[u8], options: &[&str], what: &str| {
        std::fs::write(&file, bytes).expect("it can be written");
        // Under a limit of the operating system, too: a file of some kB must not need 400 MB.
        let script = "ulimit -v 400000; exec \"$@\"";
        let program = env!("CARGO_BIN_EXE_broccoli");
        let mut command = Command::new("bash");
        let output =
            command.args(["-c", script, "bash", program, "verify", text(&file)]).args(options).output();
        let output = output.expect("there is a shell");
        assert_eq!(output.status.code(), Some(2), "{}{}", stdout(&output), stderr(&output));
        assert!(stderr(&output).contains(what), "{}", stderr(&output));
    };
    let bomb = with_blocks(&genuine, |kind, content| match kind {
        b'P' => vec![(b'P', format!(r#"{{"x":[{}0]}}"#, r#"{"":0},"#.repeat(1_200_000)).into_bytes())],
        _ => vec![(kind, content)],
    });
    refused(&bomb, &[], "of memory, which is the limit");
    // With leave to be so large it is read, and is no problem.
    refused(&bomb, &["--memory", "1GiB"], "unknown field `x`");
    let endless = r#""claim":"optimal","bound":5,"value":5,"size":0,"depth":0,"tree":{"action":0}"#;
    let endless =
        with_blocks(&with_problem(&genuine, r#""horizon":10000"#, r#""horizon":9223372036854775808"#), {
            |kind, content| match kind {
                b'C' => vec![(b'C', format!("{{{endless}}}").into_bytes())],
                _ => vec![(kind, content)],
            }
        });
    refused(&endless, &["--work", "100000000"], "more than 100000000 units of work, which is the limit");
    refused(&endless, &[], "which is the limit");
    assert_eq!(run(&["verify", "/dev/zero"]).status.code(), Some(2));
}

#[test]
fn every_kind_of_answer_has_a_certificate() {
    let (_directory, file) = place();
    for (arguments, code, claim) in [
        (&["mountain-car", "--depth", "0"][..], 3, "infeasible"),
        (&["pendulum", "--query-limit", "20000"], 4, "bound"),
        (&["pendulum", "--gap", "40%"], 4, "bound"),
        (&["mountain-car", "--first", "--samples", "3"], 4, "bound"),
        (&["cartpole", "--samples", "3", "--threads", "3"], 0, "optimal"),
    ] {
        assert_eq!(solve(arguments, &file), code, "{arguments:?}");
        let output = run(&["verify", text(&file), "--json"]);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
        assert_eq!(json(&output)["claim"], claim, "{arguments:?}");
    }
}

#[test]
fn what_is_wrong_is_told() {
    let (directory, file) = place();
    assert_eq!(solve(&["pendulum", "--depth", "1"], &file), 3);
    let whole = std::fs::read(&file).expect("it is there");
    let says = |bytes: &[u8], code: i32, what: &str| {
        std::fs::write(&file, bytes).expect("it can be written");
        let output = run(&["verify", text(&file)]);
        let said = stdout(&output) + &stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(what), "{said}");
    };
    says(&whole[..whole.len() - 1], 2, "it is cut short: it does not end with a claim");
    says(b"something else", 2, "it is not a certificate");
    says(&[&whole[..21], &[9, 0, 0, 0], &whole[25..]].concat(), 2, "of version 9, and this program reads");
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    says(&flipped, 2, "the checksum of block");
    let missing = run(&["verify", text(&directory.path().join("nowhere"))]);
    assert_eq!(missing.status.code(), Some(2));
    std::fs::write(&file, &whole).expect("it can be written");
    let replay = run(&["verify", text(&file), "--replay"]);
    assert_eq!(replay.status.code(), Some(2));
    assert!(stderr(&replay).contains("--replay works with full certificates only"), "{}", stderr(&replay));
    let small = run(&["verify", text(&file), "--memory", "1KiB"]);
    assert_eq!(small.status.code(), Some(2));
    assert!(stderr(&small).contains("more than 1024 bytes of memory"), "{}", stderr(&small));

    for engine in ["backtracking", "exhaustive"] {
        let other = directory.path().join("other");
        let refused = run(&["solve", "pendulum", "--engine", engine, "--certificate", text(&other)]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(stderr(&refused).contains(&format!("{engine} leaves no evidence")), "{}", stderr(&refused));
        assert!(!other.exists());
    }
    let nowhere = directory.path().join("no/such/folder");
    assert_eq!(run(&["solve", "pendulum", "--certificate", text(&nowhere)]).status.code(), Some(2));
}

/// The claim of another problem's certificate does not follow: here, of the same with another horizon.
#[test]
fn a_wrong_claim_is_refuted_with_the_first_wrong_step() {
    let (_directory, file) = place();
    // The goal is reached in 104 steps, so within 103 it is not.
    assert_eq!(solve(&["mountain-car", "--horizon", "103"], &file), 3);
    let bytes = std::fs::read(&file).expect("it is there");
    let changed = with_problem(&bytes, "\"horizon\":103", "\"horizon\":104");
    std::fs::write(&file, changed).expect("it can be written");
    let output = run(&["verify", text(&file)]);
    assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
    let said = stdout(&output);
    assert!(said.contains("Refuted: the certificate does not prove what it claims."), "{said}");
    assert!(said.contains("step 103"), "{said}");
    let output = run(&["verify", text(&file), "--json"]);
    assert_eq!((json(&output)["status"].as_str(), output.status.code()), (Some("refuted"), Some(5)));
    assert!(json(&output)["refutation"]["step"].as_u64().is_some());
}

/// Changes the text of the first block, and writes all checksums anew.
fn with_problem(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    with_blocks(bytes, |kind, content| {
        if kind != b'P' {
            return vec![(kind, content)];
        }
        let text = String::from_utf8(content).expect("text");
        assert!(text.contains(from), "{text}");
        vec![(kind, text.replace(from, to).into_bytes())]
    })
}

/// Puts others in the place of each block, given by its kind and content, and writes all checksums anew.
fn with_blocks(bytes: &[u8], replaced: impl Fn(u8, Vec<u8>) -> Vec<(u8, Vec<u8>)>) -> Vec<u8> {
    use std::io::{Read, Write};
    let mut out = bytes[..25].to_vec();
    let (mut rest, mut checksum) = (&bytes[25..], 0);
    while !rest.is_empty() {
        let stored = u32::from_le_bytes(rest[13..17].try_into().expect("4 bytes")) as usize;
        let mut content = Vec::new();
        flate2::read::ZlibDecoder::new(&rest[17..17 + stored]).read_to_end(&mut content).expect("zlib");
        for (kind, content) in replaced(rest[0], content) {
            let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(&content).expect("memory");
            let stored = encoder.finish().expect("memory");
            let start = out.len();
            out.push(kind);
            out.extend(&rest[1..9]);
            out.extend((content.len() as u32).to_le_bytes());
            out.extend((stored.len() as u32).to_le_bytes());
            out.extend(stored);
            let mut hasher = crc32fast::Hasher::new_with_initial(checksum);
            hasher.update(&out[start..]);
            checksum = hasher.finalize();
            out.extend(checksum.to_le_bytes());
        }
        rest = &rest[17 + stored + 4..];
    }
    out
}

/// A search that is killed again and again, and resumed, ends with a certificate that verifies.
#[test]
fn a_search_that_was_killed_ends_with_a_certificate_that_verifies() {
    for (threads, form) in [("1", "light"), ("2", "full")] {
        let (directory, file) = place();
        let checkpoint = directory.path().join("search.ckpt");
        let options = ["--json", "--threads", threads, "--checkpoint-interval", "20ms"];
        let begin = ["solve", "mountain-car", "--depth", "3", "--step", "0.12,0.01"];
        let certificate = ["--certificate", text(&file), "--certificate-form", form];
        let begin = [&begin[..], &certificate, &options, &["--checkpoint", text(&checkpoint)]].concat();
        let resume = [&["resume", text(&checkpoint), "--certificate", text(&file)][..], &options].concat();
        let mut killed = 0;
        for time in [60, 150, 220, 90, 300] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_broccoli"));
            command.args(if checkpoint.exists() { &resume } else { &begin });
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
            std::thread::sleep(Duration::from_millis(time));
            if child.try_wait().expect("it is there").is_none() {
                killed += 1;
                child.kill().expect("it is there");
            }
            child.wait().expect("it ends");
        }
        assert!(killed > 1, "killed {killed} times only");
        let output = run(if checkpoint.exists() { &resume } else { &begin });
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let verified = run(&["verify", text(&file), "--json"]);
        assert_eq!(verified.status.code(), Some(0), "{}{}", stdout(&verified), stderr(&verified));
    }
}

#[test]
fn a_resumed_search_needs_its_certificate_or_leave_to_do_without() {
    let (directory, file) = place();
    let checkpoint = directory.path().join("search.ckpt");
    let options = ["pendulum", "--query-limit", "30000", "--checkpoint", text(&checkpoint)];
    assert_eq!(solve(&options, &file), 4);
    assert_eq!(run(&["verify", text(&file)]).status.code(), Some(0), "a stopped search claims its bound");
    std::fs::rename(&file, directory.path().join("away")).expect("it can be moved");
    let named = ["resume", text(&checkpoint), "--certificate", text(&file)];
    let refused = run(&named);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("--no-certificate"), "{}", stderr(&refused));
    std::fs::write(&file, vec![0; 1 << 20]).expect("it can be written");
    let refused = run(&named);
    assert!(stderr(&refused).contains("it is not the one that the search has begun"), "{}", stderr(&refused));
    std::fs::rename(directory.path().join("away"), &file).expect("it can be moved");
    let again = run(&[&named[..], &["--query-limit", "30000"]].concat());
    assert_eq!(again.status.code(), Some(4), "{}", stderr(&again));
    let resumed = run(&named);
    assert_eq!(resumed.status.code(), Some(0), "{}", stderr(&resumed));
    let verified = run(&["verify", text(&file), "--json"]);
    assert_eq!(json(&verified)["claim"], "optimal", "{}", stderr(&verified));
    assert_eq!(verified.status.code(), Some(0));
}

/// A disk that is full ends no search, but the user is told, and the exit code says so.
#[cfg(target_os = "linux")]
#[test]
fn a_certificate_that_cannot_be_written_is_told_of_after_the_answer() {
    let output = run(&["solve", "pendulum", "--depth", "1", "--certificate", "/dev/full"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    // Later, when the search is running: no file of this process may grow beyond some KiB.
    let (_directory, file) = place();
    let script = format!(
        "trap '' XFSZ; ulimit -f 8; exec {} solve pendulum --threads 1 --certificate-form full --certificate {}",
        env!("CARGO_BIN_EXE_broccoli"),
        text(&file)
    );
    let output = Command::new("bash").args(["-c", &script]).output().expect("there is a shell");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(
        stdout(&output).contains("Optimal: this tree reaches the goal in 46 steps"),
        "{}",
        stdout(&output)
    );
    assert!(stderr(&output).contains("is of no use: it cannot be written"), "{}", stderr(&output));
    assert_eq!(run(&["verify", text(&file)]).status.code(), Some(2));
}

/// A program that only a certificate names is not run.
#[test]
fn a_foreign_system_is_run_only_if_it_is_named() {
    let (directory, file) = place();
    let problem = directory.path().join("plant.toml");
    let made = run(&["init", text(&problem), "--subprocess"]);
    assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
    assert_eq!(solve(&[text(&problem)], &file), 0);
    let refused = run(&["verify", text(&file)]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("which is run only if you name it"), "{}", stderr(&refused));
    let verified = run(&["verify", text(&file), text(&problem)]);
    assert_eq!(verified.status.code(), Some(0), "{}", stderr(&verified));
    let other = run(&["verify", text(&file), "pendulum"]);
    assert_eq!(other.status.code(), Some(2));
    assert_eq!(solve(&[text(&problem), "--certificate-form", "full"], &file), 0);
    let recorded = run(&["verify", text(&file)]);
    assert_eq!(recorded.status.code(), Some(4), "a full one needs no system, but then proves less");
    assert!(stdout(&recorded).starts_with("Verified for the recorded answers;"), "{}", stdout(&recorded));
    assert_eq!(run(&["verify", text(&file), text(&problem)]).status.code(), Some(0));
    assert_eq!(run(&["verify", text(&file), "--replay=5%"]).status.code(), Some(2), "what should it ask?");
}

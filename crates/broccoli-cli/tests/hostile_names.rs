//! Names that would control a terminal, from every file and program that has names: nothing of them gets there.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::common::{broccoli, run};

/// Colours, a cleared line, a second verdict on a line of its own, C1 codes, writing from right to left.
const NAME: &str = "a\u{1b}[2K\r\nFORGED: optimal\n\t\u{7f}\u{9b}31m\u{202e}b\u{2028}FORGED\u{2066}\u{61c}";

/// Whether a character would control a terminal.
fn is_control(c: char) -> bool {
    c.is_control() && c != '\n'
        || "\u{61c}\u{200e}\u{200f}\u{2028}\u{2029}".contains(c)
        || ('\u{202a}'..='\u{202e}').contains(&c)
        || ('\u{2066}'..='\u{2069}').contains(&c)
}

/// Checks what a command has written, and returns it.
fn check(arguments: &[&str], output: &Output) -> String {
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let place = text.find(is_control).map(|at| text[at..].chars().take(20).collect::<String>());
    assert_eq!(place, None, "{arguments:?}: {text:?}");
    for line in text.lines() {
        assert!(!line.trim_start().starts_with("FORGED"), "{arguments:?}: {text}");
    }
    assert!(!text.is_empty(), "{arguments:?} says nothing");
    text
}

fn checked(arguments: &[&str]) -> String {
    check(arguments, &run(arguments))
}

/// A program with hostile names for everything, which fails in a hostile way on request.
const PROGRAM: &str = r#"
import json, sys
NAME = json.loads(sys.argv[1])
fails = sys.argv[2:]
for line in sys.stdin:
    message = json.loads(line)
    kind = message["type"]
    if kind == "hello":
        if "hello" in fails:
            sys.stderr.write(NAME)
            answer = {"error": NAME}
        else:
            actions = [{"name": NAME + str(i), "value": i} for i in range(2)]
            answer = {"type": "hello", "protocol": 1, "name": NAME, "observations": [NAME, "x"], "actions": actions,
                      "come_back": "stateless", "state": 1, "initial": 1, "verdicts": True, "format": "json"}
    elif kind == "reset":
        x = message["initial"][0]
        answer = {"observation": [x, x], "verdict": "running", "state": [x]}
    elif "step" in fails:
        sys.stderr.write(NAME)
        answer = {"error": NAME}
    else:
        def step(one):
            x = one["state"][0] + (1 if one["action"] else -1)
            return {"observation": [x, x], "verdict": "satisfied" if x > 3 else "running", "state": [x]}
        answer = {"replies": [step(one) for one in message["steps"]]} if kind == "steps" else step(message)
    print(json.dumps(answer), flush=True)
"#;

/// Writes a problem file about the program.
fn plant(folder: &Path, name: &str, fails: &str) -> String {
    fs::write(folder.join("program.py"), PROGRAM).expect("a file");
    let argument =
        serde_json::to_string(&serde_json::to_string(NAME).expect("text is JSON")).expect("it works");
    let key = serde_json::to_string(NAME).expect("text is JSON").replace('\u{7f}', "\\u007f");
    let argument = argument.replace('\u{7f}', "\\u007f");
    let text = format!(
        "[system]\ncommand = [\"python3\", \"program.py\", {argument}, {fails:?}]\n[predicates]\n{key} = [0.5, 1.5]\n\
         [initial]\nstates = [[0], [1]]\n[objective]\nkind = \"reach\"\nhorizon = 9\n[tree]\ndepth = 1\n"
    );
    let path = folder.join(name);
    fs::write(&path, text).expect("it works");
    path.to_str().expect("a plain path").to_owned()
}

#[test]
fn programs() {
    let folder = tempfile::tempdir().expect("it works");
    let inside = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let file = plant(folder.path(), "plant.toml", "nothing");
    let (best, proof) = (inside("best.json"), inside("best.proof"));
    let told = checked(&["solve", &file, "--save", &best, "--certificate", &proof]);
    assert!(told.contains("\\u{1b}[2K") && told.contains("FORGED"), "the names are shown: {told}");
    for arguments in [
        vec!["solve", &file, "--json"],
        vec!["solve", &file, "--use", "y"],
        vec!["solve", &file, "--initial", "1,2"],
        vec!["solve", &file, "--front"],
        vec!["solve", &file, "--all"],
        vec!["check", &file],
        vec!["check", &file, "--json"],
        vec!["suggest", &file],
        vec!["simulate", &file, &best],
        vec!["simulate", &file, &best, "--trace", "-"],
        vec!["simulate", "mountain-car", &best],
        vec!["prove", &best, &file],
        vec!["prove", &best],
        vec!["report", &best, "-o", "-"],
        vec!["report", &best, &file, "-o", "-"],
        vec!["verify", &proof],
        vec!["verify", &proof, &file],
        vec!["verify", &proof, &file, "--json"],
    ] {
        checked(&arguments);
    }
    for format in ["text", "json", "dot", "svg", "tikz", "c", "c-fixed", "rust", "python", "st"] {
        checked(&["export", &best, "--format", format]);
    }
    for fails in ["hello", "step"] {
        let file = plant(folder.path(), "fails.toml", fails);
        for command in ["solve", "check"] {
            checked(&[command, &file]);
        }
    }
}

#[test]
fn files() {
    let folder = tempfile::tempdir().expect("it works");
    let inside = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (best, edited) = (inside("best.json"), inside("edited.json"));
    assert!(run(&["solve", "mountain-car", "--thresholds", "3", "--save", &best]).status.success());
    let result: Value = serde_json::from_str(&fs::read_to_string(&best).unwrap()).expect("it works");
    let places: [&[&str]; 12] = [
        &["problem", "system", "environment"],
        &["problem", "dimensions", "0", "name"],
        &["problem", "dimensions", "0", "expression"],
        &["problem", "actions", "1", "name"],
        &["problem", "objective"],
        &["tree", "name"],
        &["engine"],
        &["version"],
        &["status"],
        &["command"],
        &["stopped_by"],
        &["tree", NAME],
    ];
    for place in places {
        let mut result = result.clone();
        let (last, before) = place.split_last().expect("it works");
        let parent = before.iter().fold(&mut result, |value, key| match key.parse::<usize>() {
            Ok(index) => &mut value[index],
            Err(_) => &mut value[*key],
        });
        parent[*last] = if *last == "command" { json!([NAME, "solve"]) } else { json!(NAME) };
        fs::write(&edited, result.to_string()).expect("it works");
        for arguments in [
            vec!["simulate", "mountain-car", &edited],
            vec!["prove", &edited],
            vec!["export", &edited, "--format", "text"],
            vec!["report", &edited, "-o", "-"],
        ] {
            checked(&arguments);
        }
    }
    // Problem files, with the line that is wrong, and the CSV beside one.
    let toml = inside("plant.toml");
    fs::write(inside("states.csv"), format!("1,2\n3,{}\n", NAME.replace('\n', " "))).expect("it works");
    for text in [
        format!("[system]\nenvironment = 'mountain-car' # {NAME}\n[tree]\ndeep = 3"),
        "[system]\nenvironment = \"\\u001b[2K\\nFORGED\"\n".to_owned(),
        "[system]\nenvironment = \"mountain-car\"\n[tree]\n\"\\u001b\\nFORGED\\u202e\" = 1\n".to_owned(),
        "[system]\nenvironment = \"mountain-car\" # \u{202e}\u{9b}\r\n[tree]\r\n\tdeep = 1\r\n".to_owned(),
        "[system]\nenvironment = \"mountain-car\"\n[initial]\nfile = \"states.csv\"\n".to_owned(),
        "[system]\nenvironment = \"mountain-car\"\n[[features]]\nname = \"e\"\nexpression = \"position + \\u001b\"\n".to_owned(),
    ] {
        fs::write(&toml, text).expect("it works");
        checked(&["solve", &toml]);
    }
    // Arguments, which may be names of files that somebody else has chosen.
    for arguments in
        [vec!["verify", NAME], vec![NAME], vec!["solve", "mountain-car", NAME], vec!["solve", NAME]]
    {
        let output = broccoli(&arguments).output().expect("it works");
        check(&arguments, &output);
    }
}

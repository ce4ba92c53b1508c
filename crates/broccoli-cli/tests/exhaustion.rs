//! Files that ask for more than there is: refused with a message that states the bound, and quickly.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::common::{broccoli, run, stderr};

/// A result with a tree for mountain-car.
fn result(folder: &Path) -> Value {
    let path = folder.join("best.json");
    let path = path.to_str().expect("a plain path");
    assert!(run(&["solve", "mountain-car", "--thresholds", "3", "--save", path]).status.success());
    serde_json::from_str(&fs::read_to_string(path).expect("it works")).expect("it works")
}

/// The commands that read results, on this one.
fn told(folder: &Path, result: &Value) -> [(Option<i32>, String); 4] {
    let (path, page) = (folder.join("edited.json"), folder.join("page.html"));
    fs::write(&path, result.to_string()).expect("it works");
    let (path, page) = (path.to_str().expect("a plain path"), page.to_str().expect("a plain path"));
    [
        ["simulate", "mountain-car", path].to_vec(),
        ["prove", path, "--query-limit", "1000"].to_vec(),
        ["report", path, "-o", page].to_vec(),
        ["export", path, "--format", "c"].to_vec(),
    ]
    .map(|arguments| {
        let output = run(&arguments);
        (output.status.code(), stderr(&output))
    })
}

#[test]
fn results() {
    let folder = tempfile::tempdir().expect("it works");
    let good = result(folder.path());
    let feature = |expression: String| json!({"name": "sum", "thresholds": [0], "expression": expression});
    let leaf = json!({"action": 0});
    let mut wide = leaf.clone();
    for depth in 0..17 {
        wide = json!({"feature": 0, "threshold": depth, "true": wide, "false": wide});
    }
    type Edit = Box<dyn Fn(&mut Value)>;
    let wrong: [(&str, Edit); 5] = [
        (
            "at most 2000 numbers, names and signs",
            Box::new(move |result| {
                let sum = vec!["position"; 60_000].join(" + ");
                result["problem"]["dimensions"].as_array_mut().expect("it works").push(feature(sum));
                result["tree"] =
                    json!({"feature": 2, "threshold": 0, "true": {"action": 0}, "false": {"action": 1}});
            }),
        ),
        (
            "at most 256 are allowed|there are 256 features already",
            Box::new(|result| {
                let many = (0..300)
                    .map(|i| json!({"name": format!("f{i}"), "thresholds": [], "expression": "position"}));
                result["problem"]["dimensions"].as_array_mut().expect("it works").extend(many);
            }),
        ),
        (
            "has 1001 bytes: at most 1000 are allowed|no action|its dimensions are|does not observe",
            Box::new(|result| result["problem"]["dimensions"][0]["name"] = json!("n".repeat(1_001))),
        ),
        (
            "there are 131071 predicates: at most 65535 are allowed",
            Box::new(move |result| result["tree"] = wide.clone()),
        ),
        (
            "nested more than 127 levels deep",
            Box::new(|result| {
                let deep = (0..200).fold(
                    json!({"action": 0}),
                    |tree, _| json!({"feature": 0, "threshold": 0, "true": tree, "false": {"action": 1}}),
                );
                result["tree"] = deep;
            }),
        ),
    ];
    for (message, edit) in wrong {
        let mut result = good.clone();
        edit(&mut result);
        for (code, said) in told(folder.path(), &result) {
            assert_eq!(code, Some(2), "{message}: {said}");
            assert!(message.split('|').any(|message| said.contains(message)), "{message}: {said}");
        }
    }
}

/// A report shows a part of endless runs; simulate wants to be told how long they may be.
#[test]
fn horizons() {
    let folder = tempfile::tempdir().expect("it works");
    let mut endless = result(folder.path());
    endless["problem"]["horizon"] = json!(u64::MAX);
    endless["problem"]["initial_states"] = json!(vec![[-0.5, 0.0]; 2]);
    endless["tree"] = json!({"action": 0});
    let [simulate, prove, report, export] = told(folder.path(), &endless);
    for (code, said) in [simulate, prove] {
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("for more than 10,000,000,000 steps in all, say --horizon K"), "{said}");
    }
    assert_eq!((report.0, export.0), (Some(0), Some(0)));
    let page = fs::read_to_string(folder.path().join("page.html")).expect("it works");
    assert!(page.contains("The horizon is longer than a report can be"), "no note");
    let file = folder.path().join("edited.json");
    let shorter = ["simulate", "mountain-car", file.to_str().expect("a plain path"), "--horizon", "50"];
    assert!(run(&shorter).status.success());
}

#[test]
fn problem_files() {
    let folder = tempfile::tempdir().expect("it works");
    let path = folder.path().join("plant.toml");
    let system = "[system]\nenvironment = \"mountain-car\"\n";
    let sum = vec!["position"; 60_000].join(" + ");
    let noisy = "[system]\nenvironment = \"mountain-car\"\nnoise = 0.1\n";
    for (text, message) in [
        (format!("{system}[[features]]\nname = \"sum\"\nexpression = \"{sum}\"\n"), "at most 2000 numbers"),
        (
            format!("{system}[predicates]\nposition = {{ low = -1, high = 1, step = 1e-300 }}\n"),
            "65535 are allowed",
        ),
        (
            format!("{system}{}", "[[features]]\nname = \"f\"\nexpression = \"position\"\n".repeat(300)),
            "at most 256",
        ),
        (format!("{noisy}[initial]\nsamples = 1000000\nseeds = 1000000\n"), "are too many"),
        (format!("{system}[tree]\ndepth = {}1{}\n", "[".repeat(100_000), "]".repeat(100_000)), "not TOML"),
        (format!("{system}[{}]\n", vec!["a"; 50_000].join(".")), "error"),
        (format!("{system}[initial]\nfile = \"/dev/zero\"\n"), "longer than"),
        ("#".repeat((16 << 20) + 1), "longer than 16777216 bytes"),
    ] {
        fs::write(&path, text).expect("it works");
        let output = run(&["solve", path.to_str().expect("a plain path")]);
        let said: String = stderr(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(output.status.code(), Some(2), "{message}: {}", &said[..said.len().min(500)]);
        assert!(said.contains(message), "{message}: {}", &said[..said.len().min(500)]);
    }
}

#[test]
fn files_without_an_end() {
    for arguments in [["simulate", "mountain-car", "/dev/zero"], ["export", "/dev/zero", "--format=c"]] {
        let output = broccoli(&arguments).output().expect("it works");
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("it is longer than 67108864 bytes"), "{}", stderr(&output));
    }
}

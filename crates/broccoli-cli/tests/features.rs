//! Derived features from a problem file to every output.

use std::fs;
use std::path::Path;

use crate::common::{json, run, stderr, stdout};
use tempfile::TempDir;

const PREDICATES: &str = r#"
    [[features]]
    name = "energy"
    expression = "0.5*velocity^2 + 0.0025*(sin(3*position)/3)"
    [[features]]
    name = "along"
    expression = "velocity * abs(velocity)"
    [predicates]
    position = []
    velocity = []
    energy = [-0.0007, -0.0003, 0.0001]
    along = [-1e-6, 0, 1e-6]
    [initial]
    states = [[-0.51, 0], [-0.45, 0]]
    [objective]
    kind = "reach"
    horizon = 300
"#;

/// Solves the car with this system; the result and where it was saved.
fn solved(folder: &Path, system: &str) -> (serde_json::Value, String, String) {
    let path = |name: &str| folder.join(name).to_str().expect("a name").to_owned();
    let (file, saved) = (path("plant.toml"), path("best.json"));
    fs::write(&file, format!("[system]\n{system}\n{PREDICATES}")).expect("a file");
    let output = run(&["solve", &file, "--save", &saved, "--report", &path("report.html"), "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    (json(&output), file, saved)
}

#[test]
fn features_are_in_every_output() {
    let folder = TempDir::new().unwrap();
    let (result, file, saved) = solved(folder.path(), "environment = \"mountain-car\"");
    let energy = &result["problem"]["dimensions"][2];
    assert_eq!(energy["expression"], "0.5*velocity^2 + 0.0025*(sin(3*position)/3)");
    assert!(result["tree"]["feature"].as_u64().unwrap() >= 2, "{}", result["tree"]);

    let trace = folder.path().join("trace.csv").to_str().unwrap().to_owned();
    for target in ["mountain-car", &file] {
        let simulated = json(&run(&["simulate", target, &saved, "--trace", &trace, "--json"]));
        assert_eq!(simulated["value"], result["value"], "{target}");
    }
    let heading = fs::read_to_string(&trace).unwrap().lines().next().unwrap().to_owned();
    assert!(heading.contains("position,velocity,energy,along"), "{heading}");
    assert_eq!(json(&run(&["prove", &saved, "--json"]))["verdict"], "optimal");
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("[[features]]"), "the problem file in the report");

    for format in ["c", "rust", "python"] {
        let program = stdout(&run(&["export", &saved, "-f", format]));
        assert!(program.contains("x_energy") || program.contains("x_along"), "{program}");
    }
    for format in ["onnx", "st", "c-fixed"] {
        let refused = run(&["export", &saved, "-f", format, "-o", &trace]);
        assert_eq!(refused.status.code(), Some(2), "{format}");
        assert!(stderr(&refused).contains(&format!("{format} cannot compute")), "{}", stderr(&refused));
    }
}

/// The same car as a program in Python, whose cosine may differ in the last bit.
#[test]
fn features_of_a_foreign_system() {
    let folder = TempDir::new().unwrap();
    let (built_in, ..) = solved(folder.path(), "environment = \"mountain-car\"");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/python/mountain_car.py");
    let script = script.canonicalize().unwrap();
    let (foreign, ..) = solved(folder.path(), &format!("command = [\"python3\", {script:?}]"));
    for key in ["status", "value", "size"] {
        assert_eq!(foreign[key], built_in[key], "{key}");
    }
}

#[test]
fn a_result_with_a_broken_expression_is_refused() {
    let folder = TempDir::new().unwrap();
    let (_, _, saved) = solved(folder.path(), "environment = \"mountain-car\"");
    let text = fs::read_to_string(&saved).unwrap().replace("sin(3*position)", "sine(3*position)");
    fs::write(&saved, text).unwrap();
    for command in
        [vec!["simulate", "mountain-car", &saved], vec!["prove", &saved], vec!["export", &saved, "-f", "c"]]
    {
        let output = run(&command);
        assert_eq!(output.status.code(), Some(2), "{command:?}");
        assert!(stderr(&output).contains("did you mean \"sin\"?"), "{command:?}: {}", stderr(&output));
    }
}

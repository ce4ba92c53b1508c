//! Problem files: what is read, what is refused and with which words, and that the schema agrees.

use std::fs;
use std::path::{Path, PathBuf};

use broccoli_problem::{Diagnosis, Kind, ProblemFile, SCHEMA, starter};
use insta::assert_snapshot;
use miette::Diagnostic;
use tempfile::TempDir;

fn parse(text: &str) -> Result<ProblemFile, Diagnosis> {
    ProblemFile::parse(text, Path::new("plant.toml"))
}

/// Whether the schema accepts a file.
struct Schema {
    schemas: boon::Schemas,
    index: boon::SchemaIndex,
}

impl Schema {
    fn new() -> Self {
        let mut schemas = boon::Schemas::new();
        let mut compiler = boon::Compiler::new();
        let schema: serde_json::Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
        compiler.add_resource("problem.json", schema).expect("a new name");
        let index = compiler.compile("problem.json", &mut schemas).expect("a schema");
        Schema { schemas, index }
    }

    fn accepts(&self, text: &str) -> Result<(), String> {
        let table: toml::Table = text.parse().map_err(|error| format!("{error}"))?;
        let value = serde_json::to_value(table).expect("TOML without dates");
        self.schemas.validate(&value, self.index).map_err(|error| format!("{error:#}"))
    }
}

/// Every problem file in the repository's examples.
fn examples() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut files = Vec::new();
    for folder in
        [root.clone(), root.join("python"), root.join("c"), root.join("plugin-rust"), root.join("../gallery")]
    {
        let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        files.extend(entries.filter(|path| path.extension().is_some_and(|e| e == "toml")));
    }
    files.retain(|path| !path.ends_with("Cargo.toml"));
    files.sort();
    files
}

#[test]
fn examples_and_starters_are_read_and_fit_the_schema() {
    let schema = Schema::new();
    let examples = examples();
    assert!(examples.len() >= 20, "{examples:?}");
    for path in examples {
        ProblemFile::read(&path).unwrap_or_else(|wrong| panic!("{path:?}: {wrong}"));
        let text = fs::read_to_string(&path).unwrap();
        schema.accepts(&text).unwrap_or_else(|wrong| panic!("{path:?}: {wrong}"));
    }
    let environments = broccoli_environments::ALL.into_iter().map(Kind::Environment);
    for kind in environments.chain([Kind::Subprocess, Kind::Plugin]) {
        let (name, text) = starter(kind, "plant").swap_remove(0);
        let file = ProblemFile::parse(&text, Path::new(&name)).unwrap();
        schema.accepts(&text).unwrap_or_else(|wrong| panic!("{kind:?}: {wrong}"));
        if let Kind::Environment(environment) = kind {
            let target = file.open().unwrap();
            assert_eq!(target.problem().unwrap(), environment.problem().build().unwrap());
        }
    }
}

#[test]
fn the_documentation_shows_a_good_file_and_every_key() {
    let shown = include_str!("../../../docs/problem-files.md");
    let example = shown.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    assert!(parse(example).is_ok());
    let schema = Schema::new();
    assert_eq!(schema.accepts(example), Ok(()));
    let schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap();
    for (section, contents) in schema["properties"].as_object().unwrap() {
        let contents = contents.get("items").unwrap_or(contents);
        let heading = if section == "features" { "[[features]]" } else { &format!("[{section}]") };
        assert!(shown.contains(&format!("## `{heading}`")), "{section}");
        let keys = contents.get("properties").and_then(|keys| keys.as_object());
        for key in keys.into_iter().flat_map(|keys| keys.keys()) {
            assert!(shown.contains(&format!("| `{key}` |")), "{section}.{key}");
        }
    }
}

#[test]
fn files_and_parts_of_files_in_the_book_are_read() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let schema = Schema::new();
    let mut count = 0;
    for entry in fs::read_dir(docs).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let page = fs::read_to_string(&path).unwrap();
        for block in page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()) {
            let text = if block.contains("[system]") { block.to_owned() } else { format!("{GOOD}{block}") };
            parse(&text).unwrap_or_else(|wrong| panic!("{path:?}: {wrong}\n{block}"));
            schema.accepts(&text).unwrap_or_else(|wrong| panic!("{path:?}: {wrong}\n{block}"));
            count += 1;
        }
    }
    assert!(count >= 3, "{count}");
}

const GOOD: &str = "[system]\nenvironment = \"mountain-car\"\n";

/// Files that are wrong by their form alone: the reader and the schema must both say so.
const BAD_FORM: &[&str] = &[
    "",
    "[predicates]\nx = [1]\n",
    "[system]\n",
    "[system]\nenvironment = \"lunar-lander\"\n",
    "[system]\nenvironment = \"mountain_car\"\n",
    "[system]\nenvironment = 3\n",
    "[system]\nenvironment = \"pendulum\"\ncommand = [\"a\"]\n",
    "[system]\nenvironment = \"pendulum\"\ntimeout = 3\n",
    "[system]\nenvironment = \"pendulum\"\nsatisfied = \"angle > 0\"\n",
    "[system]\nenvironment = \"pendulum\"\nactions = 5\n",
    "[system]\nenvironment = \"pendulum\"\nactions = [1]\n",
    "[system]\nenvironment = \"pendulum\"\nactions = [1, true]\n",
    "[system]\ncommand = [\"a\"]\nactions = [1, 2]\n",
    "[system]\ncommand = [\"a\"]\nnoise = 1\n",
    "[system]\nenvironment = \"pendulum\"\nnoise = -1\n",
    "[system]\nenvironment = \"pendulum\"\n[initial]\nseeds = 0\n",
    "[system]\nenvironment = \"pendulum\"\n[initial]\nseeds = []\n",
    "[system]\nenvironment = \"pendulum\"\n[initial]\nseeds = [1.5]\n",
    "[system]\nplugin = \"a.so\"\nactions = [1, 2]\n",
    "[system]\nenvironment = \"pendulum\"\n[search]\nremember = 3\n",
    "[system]\nplugin = \"\"\n",
    "[system]\nplugin = \"a.so\"\nformat = \"json\"\n",
    "[system]\ncommand = \"python3 plant.py\"\n",
    "[system]\ncommand = []\n",
    "[system]\ncommand = [\"a\", 1]\n",
    "[system]\ncommand = [\"a\"]\ntimeout = 0\n",
    "[system]\ncommand = [\"a\"]\ntimeout = \"10s\"\n",
    "[system]\ncommand = [\"a\"]\nformat = \"jsn\"\n",
    "[system]\ncomand = [\"a\"]\n",
    "[sistem]\ncommand = [\"a\"]\n",
    "[system]\nenvironment = \"pendulum\"\n[predicates]\nangle = 3\n",
    "[system]\nenvironment = \"pendulum\"\n[predicates]\nangle = [1, \"2\"]\n",
    "[system]\nenvironment = \"pendulum\"\n[predicates]\nangle = { low = 0, high = 1 }\n",
    "[system]\nenvironment = \"pendulum\"\n[predicates]\nangle = { low = 0, hig = 1, step = 0.1 }\n",
    "[system]\nenvironment = \"pendulum\"\n[predicates]\nangle = { low = 0, high = 1, step = 0.1, count = 3 }\n",
    "[system]\nenvironment = \"pendulum\"\n[predicates]\nangle = { low = 0, high = 1, count = 2.5 }\n",
    "[system]\nenvironment = \"pendulum\"\n[predicates]\nangle = { low = 0, high = 1, step = 0 }\n",
    "[system]\nenvironment = \"pendulum\"\n[predicates]\nangle = {}\n",
    "[system]\nenvironment = \"pendulum\"\n[predicates]\nangle = { price = -1 }\n",
    "[system]\nenvironment = \"pendulum\"\n[predicates]\nangle = { price = \"2\" }\n",
    "[system]\nenvironment = \"pendulum\"\n[predicates]\nangle = { list = [1], low = 0 }\n",
    "[system]\nenvironment = \"pendulum\"\n[predicates]\nangle = { list = 3 }\n",
    "[system]\nenvironment = \"pendulum\"\n[tree]\nuse = []\n",
    "[system]\nenvironment = \"pendulum\"\n[tree]\nuse = \"angle\"\n",
    "[system]\nenvironment = \"pendulum\"\n[tree]\nwithout = [1]\n",
    "[system]\nenvironment = \"pendulum\"\n[features]\nenergy = \"velocity^2\"\n",
    "[system]\nenvironment = \"pendulum\"\n[[features]]\nname = \"energy\"\n",
    "[system]\nenvironment = \"pendulum\"\n[[features]]\nname = \"\"\nexpression = \"angle\"\n",
    "[system]\nenvironment = \"pendulum\"\n[[features]]\nname = \"a\"\nexpression = \"angle\"\nstep = 1\n",
    "[system]\nenvironment = \"pendulum\"\n[initial]\nstates = []\n",
    "[system]\nenvironment = \"pendulum\"\n[initial]\nstates = [1, 2]\n",
    "[system]\nenvironment = \"pendulum\"\n[initial]\nsamples = 0\n",
    "[system]\nenvironment = \"pendulum\"\n[initial]\nsamples = 3\nstates = [[0, 0]]\n",
    "[system]\nenvironment = \"pendulum\"\n[initial]\nseed = 3\n",
    "[system]\nenvironment = \"pendulum\"\n[initial]\nsamples = 3\nranges = [[0, 1, 2]]\n",
    "[system]\nenvironment = \"pendulum\"\n[objective]\nkind = \"reach\"\n",
    "[system]\nenvironment = \"pendulum\"\n[objective]\nkind = \"survives\"\nhorizon = 3\n",
    "[system]\nenvironment = \"pendulum\"\n[objective]\nkind = \"reach\"\nhorizon = 0\n",
    "[system]\nenvironment = \"pendulum\"\n[tree]\ndepth = 17\n",
    "[system]\nenvironment = \"pendulum\"\n[tree]\ndepth = -1\n",
    "[system]\nenvironment = \"pendulum\"\n[search]\nengine = \"behavior\"\n",
    "[system]\nenvironment = \"pendulum\"\n[search]\npruning = true\n",
    "[system]\nenvironment = \"pendulum\"\n[search]\nfirst = 1\n",
    "[system]\nenvironment = \"pendulum\"\n[search]\ngap = 5\n",
    "[system]\nenvironment = \"pendulum\"\n[search]\ntime_limit = \"30s\"\n",
];

/// Files that are wrong in ways that a schema cannot express.
#[rustfmt::skip]
const BAD_MEANING: &[&str] = &[
    "[system\n",
    "[system]\nenvironment = \"pendulum\"\nenvironment = \"pendulum\"\n",
    "[system]\ncommand = [\"a\"]\nsatisfied = \"x >\"\n",
    "[system]\ncommand = [\"a\"]\nviolated = \"x = 3\"\n",
    "[system]\nenvironment = \"pendulum\"\nactions = [-2, 2.5]\n",
    "[system]\nenvironment = \"pendulum\"\nnoise = 0.1\n",
    "[system]\nenvironment = \"pendulum\"\nnoise = 0.1\n[initial]\nstates = [[0, 0]]\n",
    "[system]\nenvironment = \"pendulum\"\nnoise = 0.1\n[initial]\nstates = [[0, 0, 0]]\nseeds = 3\n",
    "[system]\nenvironment = \"pendulum\"\n[initial]\nseeds = 3\n",
    "[system]\nenvironment = \"pendulum\"\nactions = [1, \"+1\"]\n",
    "[system]\nenvironment = \"mountain-car\"\nactions = [\"left\", \"cost\"]\n",
    "[system]\nenvironment = \"pendulum\"\n[predicates]\nangle = { low = 1, high = 0, step = 0.1 }\n",
    "[system]\nenvironment = \"pendulum\"\n[predicates]\nangle = { low = 0, high = inf, step = 0.1 }\n",
    "[system]\nenvironment = \"pendulum\"\n[predicates]\nangle = [nan]\n",
    "[system]\nenvironment = \"pendulum\"\n[predicates]\nangle = { low = 0, high = 1, step = 2 }\n",
    "[system]\nenvironment = \"pendulum\"\n[predicates]\nangel = [0.5]\n",
    "[system]\nenvironment = \"pendulum\"\n[predicates]\nangle = []\nvelocity = []\n",
    "[system]\nenvironment = \"pendulum\"\n[predicates]\nangle = { price = inf }\n",
    "[system]\nenvironment = \"pendulum\"\n[tree]\nuse = [\"angel\"]\n",
    "[system]\nenvironment = \"pendulum\"\n[predicates]\nangle = []\n[tree]\nuse = [\"angle\"]\n",
    "[system]\nenvironment = \"pendulum\"\n[tree]\nwithout = [\"angle\", \"velocity\"]\n",
    "[system]\nenvironment = \"pendulum\"\n[initial]\nstates = [[0]]\n",
    "[system]\nenvironment = \"pendulum\"\n[initial]\nfile = \"no-such-file.csv\"\n",
    "[system]\nenvironment = \"pendulum\"\n[initial]\nsamples = 3\nranges = [[0, 1]]\n",
    "[system]\nenvironment = \"pendulum\"\n[initial]\nsamples = 3\nranges = [[1, 0], [0, 1]]\n",
    "[system]\nenvironment = \"pendulum\"\n[tree]\ndepth = 2\nnodes = 4\n",
    "[system]\nenvironment = \"pendulum\"\n[[features]]\nname = \"angle\"\nexpression = \"velocity\"\n",
    "[system]\nenvironment = \"pendulum\"\n[[features]]\nname = \"energy\"\nexpression = \"0.5*velocity^2 +\"\n",
    "[system]\nenvironment = \"pendulum\"\n[[features]]\nname = \"energy\"\nexpression = \"0.5*velocty^2\"\n",
    "[system]\nenvironment = \"pendulum\"\n[[features]]\nname = \"energy\"\nexpression = \"cosine(angle)\"\n",
    "[system]\nenvironment = \"pendulum\"\n[[features]]\nname = \"up\"\nexpression = \"angle > 0\"\n",
    "[system]\nplugin = \"no-such-library.so\"\n",
    "[system]\ncommand = [\"./no-such-program\"]\n",
];

/// What is said about a file: place, message, label, help.
fn said(text: &str) -> String {
    let wrong = match parse(text).and_then(|file| file.open()) {
        Ok(_) => panic!("this is accepted:\n{text}"),
        Err(wrong) => wrong,
    };
    let (line, column) = wrong.line_and_column().expect("a place");
    let label = wrong
        .labels()
        .and_then(|mut labels| labels.next())
        .and_then(|label| label.label().map(str::to_owned));
    let help = wrong.help().map(|help| format!("\n    help: {help}")).unwrap_or_default();
    let label = label.unwrap_or_default();
    let text = text.trim_end().replace('\n', " ⏎ ");
    let here = std::env::current_dir().expect("a folder").display().to_string();
    format!("{text}\n  {line}:{column} {wrong} [{label}]{help}\n").replace(&here, "HERE")
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    assert!(parse(GOOD).unwrap().open().is_ok());
    let schema = Schema::new();
    let mut all = String::new();
    for text in BAD_FORM {
        assert!(schema.accepts(text).is_err(), "the schema accepts:\n{text}");
        all += &said(text);
    }
    for text in BAD_MEANING {
        all += &said(text);
    }
    assert_snapshot!(all);
}

#[test]
fn initial_states_from_a_file_and_from_samples() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("plant.toml");
    let open = |csv: &str| {
        fs::write(folder.path().join("starts.csv"), csv).unwrap();
        let text = format!("{GOOD}[initial]\nfile = \"starts.csv\"\n");
        ProblemFile::parse(&text, &path)
            .and_then(|file| file.open())
            .map(|target| target.initial.iter().map(|state| state.values().to_vec()).collect::<Vec<_>>())
    };
    let expected = vec![vec![-0.5, 0.0], vec![-0.4, 1e-3]];
    assert_eq!(open("-0.5,0\n-0.4,1e-3\n").unwrap(), expected);
    assert_eq!(open("position, velocity\n# a comment\n -0.5, 0\n-0.4,1e-3").unwrap(), expected);
    for (csv, message) in [
        ("", "holds no initial state"),
        ("position,velocity\n", "holds no initial state"),
        ("-0.5,0\n-0.4\n", "found record with 1 fields"),
        ("-0.5,0\n-0.4,zero\n", "line 2: \"zero\" is not a finite number"),
        ("-0.5,0\n-0.4,NaN\n", "line 2: \"NaN\" is not a finite number"),
        ("-0.5,x\n", "line 1: \"x\" is not a finite number"),
        ("1,2,3\n", "has 2 values, not 3"),
    ] {
        let wrong = open(csv).unwrap_err().to_string();
        assert!(wrong.contains(message), "{csv:?}: {wrong}");
    }
    let samples = parse(&format!("{GOOD}[initial]\nsamples = 5\nseed = 3\n")).unwrap().open().unwrap();
    assert_eq!(samples.initial, broccoli_environments::find("mountain-car").unwrap().sample(5, 3));
}

#[test]
fn actions_by_names_and_values() {
    let schema = Schema::new();
    let names = |environment: &str, actions: &str| {
        let text = format!("[system]\nenvironment = \"{environment}\"\nactions = {actions}\n");
        assert_eq!(schema.accepts(&text), Ok(()));
        let target = parse(&text).unwrap().open().unwrap();
        let actions = target.actions.iter().map(|action| (action.name.clone(), action.value));
        actions.collect::<Vec<_>>()
    };
    let action = |name: &str, value: f64| (name.to_owned(), value);
    assert_eq!(
        names("mountain-car", "[\"left\", \"coast\", 2]"),
        [action("left", 0.0), action("coast", 1.0), action("right", 2.0)]
    );
    assert_eq!(
        names("pendulum", "[-2, 0, \"+0.5\", 2]"),
        [action("-2", -2.0), action("0", 0.0), action("+0.5", 0.5), action("+2", 2.0)]
    );
}

#[test]
fn dimensions_that_a_tree_may_ask_and_their_prices() {
    let schema = Schema::new();
    let dimensions = |rest: &str| {
        let text = format!("[system]\nenvironment = \"cartpole\"\n{rest}\n");
        assert_eq!(schema.accepts(&text), Ok(()));
        let problem = parse(&text).unwrap().open().unwrap().problem().unwrap();
        problem.dimensions().iter().map(|d| (d.thresholds.len(), d.price)).collect::<Vec<_>>()
    };
    let default = dimensions("");
    let counts: Vec<u64> = default.iter().map(|(count, _)| *count).collect();
    let (some, all) = ("[tree]\nuse = [\"theta\", \"x_dot\"]", [0, counts[1], counts[2], 0]);
    assert_eq!(dimensions(some).iter().map(|d| d.0).collect::<Vec<_>>(), all);
    let both = "[tree]\nuse = [\"theta\", \"x_dot\"]\nwithout = [\"theta\"]";
    assert_eq!(dimensions(both).iter().map(|d| d.0).collect::<Vec<_>>(), [0, counts[1], 0, 0]);
    let priced = "[predicates]\nx = { price = 2 }\nx_dot = { list = [0.5, 1], price = 0.25 }\n\
                  theta = { low = -1, high = 1, step = 0.5, price = 0 }";
    assert_eq!(dimensions(priced), [(counts[0], 2.0), (2, 0.25), (3, 0.0), (counts[3], 0.0)]);
}

#[test]
fn every_state_is_run_with_every_seed() {
    let schema = Schema::new();
    let starts = |initial: &str| {
        let text = format!("[system]\nenvironment = \"pendulum\"\nnoise = 0.1\n[initial]\n{initial}\n");
        assert_eq!(schema.accepts(&text), Ok(()));
        let problem = parse(&text).unwrap().open().unwrap().problem().unwrap();
        problem.initial_states().iter().map(|state| state.values().to_vec()).collect::<Vec<_>>()
    };
    let product = [[0.5, 0.0, 3.0], [0.5, 0.0, 7.0], [0.6, 0.1, 3.0], [0.6, 0.1, 7.0]];
    assert_eq!(starts("states = [[0.5, 0], [0.6, 0.1]]\nseeds = [3, 7]"), product);
    assert_eq!(starts("states = [[0.5, 0, 3], [0.5, 0, 7], [0.6, 0.1, 3], [0.6, 0.1, 7]]"), product);
    assert_eq!(starts("seeds = 2"), [[-0.665, -0.024, 0.0], [-0.665, -0.024, 1.0]]);
    assert_eq!(starts("samples = 5\nseed = 3\nseeds = 4").len(), 20);
}

#[test]
fn the_schema_knows_every_environment() {
    let schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap();
    let known = &schema["properties"]["system"]["properties"]["environment"]["enum"];
    let names: Vec<&str> = broccoli_environments::ALL.iter().map(|e| e.name).collect();
    assert_eq!(known, &serde_json::json!(names));
}

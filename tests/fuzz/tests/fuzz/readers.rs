//! The readers, each with inputs to begin with, ways to change them that keep their structure, and what commands do
//! with what is accepted.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use broccoli_certificate::{Form, Live};
use broccoli_checker::{Certificate, Limits};
use broccoli_core::problem::{Objective, Over, Problem, Thresholds};
use broccoli_core::search::{Checkpoint, Keeper, Search};
use broccoli_core::shown::is_control;
use broccoli_environments::MOUNTAIN_CAR;
use broccoli_export::format::{Format, Options};
use broccoli_export::json::{ProblemJson, ResultJson, SystemJson};
use broccoli_export::policy::Policy;
use broccoli_export::report::{Observed, Report};
use broccoli_export::saved::Saved;
use broccoli_expression::{Condition, Expression};
use broccoli_problem::{ProblemFile, SystemSource, initial_states};
use broccoli_store::{Identity, Remembered, Room, Store, contents};
use broccoli_tests::certified::certify;
use broccoli_tests::mutants::{Content, Parts};
use serde_json::{Value, json};

use super::dice::{Dice, bytes, hostile_text, json as mutate_json};

/// What reads files or messages of other people.
pub struct Reader {
    /// Its name, and that of the folder with what was once found.
    pub name: &'static str,
    /// Good inputs.
    seeds: fn() -> Vec<Vec<u8>>,
    /// Something that is nearly good.
    mutate: fn(&mut Dice, &[u8]) -> Vec<u8>,
    /// Reads it, and does with it what commands do; whether it was accepted.
    pub run: fn(&[u8]) -> bool,
    /// The memory that this may take, per byte and in all.
    pub memory: (usize, usize),
    corpus: OnceLock<Vec<Vec<u8>>>,
}

impl Reader {
    const fn new(
        name: &'static str,
        seeds: fn() -> Vec<Vec<u8>>,
        mutate: fn(&mut Dice, &[u8]) -> Vec<u8>,
        run: fn(&[u8]) -> bool,
        memory: (usize, usize),
    ) -> Self {
        Reader { name, seeds, mutate, run, memory, corpus: OnceLock::new() }
    }

    /// The input of a case.
    pub fn case(&self, seed: u64, case: u64) -> Vec<u8> {
        let corpus = self.corpus.get_or_init(self.seeds);
        match corpus.get(case as usize) {
            Some(unchanged) => unchanged.clone(),
            None => {
                let mut dice = Dice::new(seed, self.name, case);
                let from = dice.below(corpus.len());
                (self.mutate)(&mut dice, &corpus[from])
            }
        }
    }
}

const MIB: usize = 1 << 20;
/// The memory that a certificate may take, by what the checker is told.
const CERTIFICATE_MEMORY: usize = 16 * MIB;
const CERTIFICATE_WORK: u64 = 50_000_000;

/// All of them.
pub static READERS: [Reader; 9] = [
    Reader::new("expression", expressions, |dice, from| bytes(dice, from, &WORDS), expression, (256, MIB)),
    Reader::new("csv", tables, |dice, from| bytes(dice, from, &WORDS), csv, (64, 2 * MIB)),
    Reader::new("problem", problems, toml_mutant, problem_file, (256, 512 * MIB)),
    Reader::new("tree", trees, json_mutant, saved, (400, 64 * MIB)),
    Reader::new("result", results, json_mutant, saved, (400, 64 * MIB)),
    Reader::new("message", messages, message_mutant, message, (64, 4 * MIB)),
    Reader::new("checkpoint", checkpoints, checkpoint_mutant, checkpoint, (256, 64 * MIB)),
    Reader::new("store", stores, store_mutant, store, (64, 64 * MIB)),
    Reader::new("certificate", certificates, certificate_mutant, certificate, (64, 8 * CERTIFICATE_MEMORY)),
];

const WORDS: [&str; 30] = [
    "(",
    ")",
    "-",
    "not ",
    " and ",
    " or ",
    "x",
    "y",
    "+",
    "*",
    "/",
    "^2",
    "^",
    "abs(",
    "max(",
    ",",
    "1e308",
    "9e-999",
    "=",
    "<=",
    "`",
    "\n",
    "\"",
    "#",
    "[",
    "{",
    "\u{1b}[2J",
    "\u{202e}",
    "[a]\n",
    "nan",
];

fn owned(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// Nothing that people are shown controls their terminal.
fn check_shown(text: &str) {
    assert!(!text.contains(|c| c != '\n' && is_control(c)), "shown: {:?}", &text[..text.len().min(500)]);
}

fn expressions() -> Vec<Vec<u8>> {
    let long = vec!["x"; 1_000].join(" + ");
    owned(&[
        "0.5*x^2 + 9.8*max(y, 1, -x)",
        "abs(x) > 2.4 or not (y < 1 and `z 1` != 3)",
        "sqrt(x) / exp(ln(y)) - atan2(x, y)^16",
        "((((x))))*-(-(y - 1)/2/3)",
        &long,
    ])
}

fn expression(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let names = ["x", "y", "z 1"];
    let condition =
        Condition::parse(&text, &names).map(|condition| condition.clone().holds(&[1.0, f64::NAN, -3.0]));
    let number = Expression::parse(&text, &names).map(|number| {
        let normal = number.normal(&names);
        if let Ok(again) = Expression::parse(&normal, &names) {
            let at = [0.3, -2.0, 7.0];
            assert_eq!(again.value(&at).to_bits(), number.value(&at).to_bits(), "{normal}");
        }
        number.inputs().len() + number.functions().len()
    });
    condition.is_ok() || number.is_ok()
}

fn tables() -> Vec<Vec<u8>> {
    owned(&["x, v\n-0.5, 0\n0.1, 2\n", "# only numbers\n1\n2\n3e5\n", "\"1\",\"2\"\n\" 3\",4\r\n"])
}

fn csv(bytes: &[u8]) -> bool {
    initial_states(bytes)
        .is_ok_and(|states| states.iter().all(|state| state.values().iter().all(|v| v.is_finite())))
}

fn problems() -> Vec<Vec<u8>> {
    owned(&[
        include_str!("../../../../examples/mountain-car.toml"),
        include_str!("../../../../gallery/pendulum-energy.toml"),
        include_str!("../../../../gallery/mountain-car-noise.toml"),
        include_str!("../../../../gallery/mountain-car-forces.toml"),
        include_str!("../../../../examples/c/cartpole_program.toml"),
        "[system]\nenvironment = \"cartpole\"\n[initial]\nsamples = 5\nseed = 1\n[objective]\nkind = \"survive\"\n\
         horizon = 100\nover = \"mean\"\n[tree]\ndepth = 3\nnodes = 4\nuse = [\"theta\"]\n[search]\nengine = \"exhaustive\"\n\
         time_limit = 2\ngap = 0.5\n[predicates]\ntheta = { low = -0.2, high = 0.2, count = 7, price = 2 }\n",
    ])
}

fn toml_mutant(dice: &mut Dice, from: &[u8]) -> Vec<u8> {
    const VALUES: [&str; 24] = [
        "1e-300",
        "-1",
        "0",
        "9223372036854775807",
        "1000000",
        "65535",
        "nan",
        "inf",
        "true",
        "\"\"",
        "[]",
        "[[]]",
        "{}",
        "1e308",
        "[1, 2, 3]",
        "[[0, 1], [2, 3]]",
        "\"\\u001b[2J\"",
        "{ low = -1, high = 1, step = 1e-300 }",
        "{ low = -1e308, high = 1e308, count = 65535 }",
        "[0.5, -0.5]",
        "\"mountain-car\"",
        "\"x\"",
        "1_0",
        "0x7f",
    ];
    let text = String::from_utf8_lossy(from).into_owned();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..1 + dice.below(4) {
        let (at, other) = (dice.below(lines.len()), dice.below(lines.len()));
        match dice.below(7) {
            0 => drop(lines.remove(at)),
            1 => lines.swap(at, other),
            2 => {
                let line = lines[other].clone();
                let count = dice.amount().min(2_000);
                lines.splice(at..at, vec![line; count]);
            }
            3..6 => {
                if let Some((key, _)) = lines[at].split_once('=') {
                    let value = match dice.below(4) {
                        0 => format!("[{}]", vec![*dice.pick(&VALUES); dice.amount().min(5_000)].join(", ")),
                        1 => format!("{}1{}", "[".repeat(dice.amount()), "]".repeat(dice.amount())),
                        _ => (*dice.pick(&VALUES)).to_owned(),
                    };
                    lines[at] = format!("{key}= {value}");
                }
            }
            _ => {
                let key = vec!["a"; dice.amount()].join(".");
                lines.insert(at, format!("{key} = {}", dice.pick(&VALUES)));
            }
        }
        if lines.is_empty() {
            lines.push(hostile_text(dice));
        }
    }
    let text = lines.join("\n").into_bytes();
    if dice.once_in(4) { bytes(dice, &text, &WORDS) } else { text }
}

fn problem_file(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let file = match ProblemFile::parse(text, Path::new("/nowhere/plant.toml")) {
        Ok(file) => file,
        Err(diagnosis) => {
            check_shown(&diagnosis.to_string());
            return false;
        }
    };
    // Other systems would be run.
    if !matches!(file.system(), SystemSource::Environment(_)) {
        return true;
    }
    match file.open().map(|target| target.problem()) {
        Ok(problem) => problem.is_ok(),
        Err(diagnosis) => {
            check_shown(&diagnosis.to_string());
            false
        }
    }
}

/// A small problem about a built-in environment.
fn small(grid: usize, depth: u32, objective: Objective, expression: Option<&str>) -> Problem {
    let mut builder = Problem::builder();
    for dimension in MOUNTAIN_CAR.dimensions {
        let (low, high) = dimension.range;
        builder = builder.dimension(dimension.name, Thresholds::count(low, high, grid).unwrap_or_default());
    }
    if let Some(expression) = expression {
        builder = builder.dimension_like(&broccoli_core::problem::Dimension {
            name: "derived".to_owned(),
            thresholds: Thresholds::list([0.0]).unwrap_or_default(),
            expression: Some(expression.to_owned()),
            price: 0.0,
        });
    }
    for action in MOUNTAIN_CAR.actions {
        builder = builder.action(action.name, action.value);
    }
    let problem = builder.initial([-0.5, 0.0]).initial([-0.4, 0.0]).objective(objective).depth(depth).build();
    problem.expect("a good problem")
}

fn result_of(problem: &Problem) -> ResultJson {
    let outcome =
        Search::new(problem, &MOUNTAIN_CAR).query_limit(100_000).run().expect("the car never fails");
    ResultJson::new(SystemJson::Environment("mountain-car".to_owned()), problem, &outcome, 0.5)
}

fn results() -> Vec<Vec<u8>> {
    let problems = [
        small(3, 2, Objective::reach(300), None),
        small(2, 1, Objective::survive(50), None),
        small(1, 1, Objective::survive(20).across(Over::Mean), None),
    ];
    let mut all: Vec<Vec<u8>> = problems
        .iter()
        .map(|problem| {
            let mut result = serde_json::to_value(result_of(problem)).expect("a result is JSON");
            result["command"] = json!(["broccoli", "solve", "mountain-car"]);
            result["history"] = json!([{"seconds": 0.1, "queries": 5, "value": 104, "size": 3, "bound": 90}]);
            result.to_string().into_bytes()
        })
        .collect();
    let featured = small(2, 1, Objective::reach(200), Some("0.5*velocity^2 + sin(3*position)"));
    let mut result = serde_json::to_value(result_of(&problems[0])).expect("a result is JSON");
    result["problem"]["dimensions"] = json!(featured.dimensions());
    result["tree"]["feature"] = json!(2);
    result["tree"]["name"] = json!("derived");
    all.push(result.to_string().into_bytes());
    all
}

fn trees() -> Vec<Vec<u8>> {
    let leaf = || json!({"action": 1, "name": "right"});
    let mut deep = leaf();
    for depth in 0..40 {
        deep = json!({"feature": depth % 2, "threshold": 0.01 * f64::from(depth), "true": deep, "false": leaf()});
    }
    [
        leaf(),
        deep,
        json!({"feature": 1, "name": "velocity", "threshold": 0.0, "true": leaf(), "false": {"action": 0}}),
    ]
    .map(|tree| tree.to_string().into_bytes())
    .to_vec()
}

fn json_mutant(dice: &mut Dice, from: &[u8]) -> Vec<u8> {
    let mut value: Value = serde_json::from_slice(from).unwrap_or_default();
    mutate_json(dice, &mut value);
    let text = value.to_string().into_bytes();
    if dice.once_in(5) {
        bytes(dice, &text, &["{", "[", "\"", ",", "1", "null", "\\u0000", "\u{9b}"])
    } else {
        text
    }
}

/// Reads a result or a tree, and exports, reports and runs it.
fn saved(input: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(input) else { return false };
    match Saved::read(text) {
        Err(_) => false,
        Ok(Saved::Tree(tree)) => {
            let problem = small(3, 2, Objective::reach(100), None);
            tree.check(&problem).is_ok_and(|tree| {
                check_shown(&tree.drawing(&problem).to_string());
                Observed::run(&problem, &MOUNTAIN_CAR, &tree, 1_000).is_ok()
            })
        }
        Ok(Saved::Result(result)) => {
            check_shown(&result.problem.system.name());
            let problem = result.problem.to_problem();
            let mut page = Report { result: &result, observed: None, fresh: None, note: None };
            if let Ok(policy) = Policy::new(&result) {
                for format in Format::ALL.into_iter().filter(|format| *format != Format::Png) {
                    if let Ok(bytes) = format.export(&policy, Options::default())
                        && !format.is_binary()
                    {
                        check_shown(std::str::from_utf8(&bytes).expect("text"));
                    }
                }
                let fits = policy.problem.dimensions().len() == 2
                    && policy.problem.actions().len() == 2
                    && policy.problem.initial_states().iter().all(|state| state.values().len() == 2)
                    && policy.problem.objective().horizon() < 1_000;
                if fits {
                    page.observed = Observed::run(&policy.problem, &MOUNTAIN_CAR, &policy.tree, 1_000).ok();
                }
            }
            if let Ok(html) = page.html() {
                check_shown(&html);
            }
            if let (Ok(problem), Some(tree)) = (&problem, &result.tree)
                && let Ok(tree) = tree.check(problem)
            {
                check_shown(&format!("{} {}", tree.drawing(problem), tree.one_line(problem)));
            }
            problem.is_ok()
        }
    }
}

fn messages() -> Vec<Vec<u8>> {
    let mut all = owned(&[
        r#"{"observation":[1.5,-0],"verdict":"satisfied","reward":1,"state":[1e-300]}"#,
        r#"{"type":"hello","protocol":1,"name":"n","observations":["a","b"],"actions":[{"name":"x","value":0},{"name":"y","value":1}],"come_back":"stateless","state":1,"verdicts":true,"format":"binary","info":{"a":[1]}}"#,
        r#"{"snapshot":"text"}"#,
        r#"{"restored":true}"#,
        r#"{"error":"it is empty"}"#,
    ]);
    let reply = r#"{"observation":[1,2],"verdict":"running","reward":0.5,"state":[3]}"#;
    all.push(format!("{{\"replies\":[{}]}}\n", [reply; 3].join(",")).into_bytes());
    for (kind, words) in [(129_u8, 5 * 3), (129, 5), (130, 2), (131, 0), (255, 1)] {
        let mut frame = ((8 * words) as u32).to_le_bytes().to_vec();
        frame.extend([kind, 0, 0, 0]);
        frame.extend(vec![0; 8 * words]);
        all.push(frame);
    }
    all
}

fn message_mutant(dice: &mut Dice, from: &[u8]) -> Vec<u8> {
    if from.first() == Some(&b'{') && dice.once_in(2) {
        return json_mutant(dice, from);
    }
    let mut frame = bytes(dice, from, &["\0", "{", "[", "\n", "\u{ff}"]);
    if from.first() != Some(&b'{') && frame.len() >= 8 && !dice.once_in(3) {
        // A length that is right again.
        let length = (frame.len() - 8) as u32;
        frame[..4].copy_from_slice(&length.to_le_bytes());
    }
    frame
}

fn message(bytes: &[u8]) -> bool {
    broccoli_blackbox::read_as_everything(bytes) > 0
}

/// The problem that checkpoints are about.
fn checkpointed() -> &'static Problem {
    static PROBLEM: OnceLock<Problem> = OnceLock::new();
    PROBLEM.get_or_init(|| small(5, 2, Objective::reach(300), None))
}

/// Keeps every checkpoint.
#[derive(Default)]
struct All(Vec<Checkpoint>);

impl Keeper for All {
    fn is_due(&mut self) -> bool {
        self.0.len() < 3
    }

    fn keep(&mut self, checkpoint: &Checkpoint) {
        self.0.push(checkpoint.clone());
    }
}

/// As JSON, which the Python package writes, and as the command writes them.
fn checkpoints() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for queries in [200, 1_000, 3_000] {
        let mut kept = All::default();
        let search = Search::new(checkpointed(), &MOUNTAIN_CAR).query_limit(queries).keeper(&mut kept);
        search.run().expect("the car never fails");
        for checkpoint in &kept.0 {
            all.push(serde_json::to_vec(checkpoint).expect("a checkpoint is JSON"));
            all.push([&[0], &postcard::to_stdvec(checkpoint).expect("it can be written")[..]].concat());
        }
    }
    all
}

fn checkpoint_mutant(dice: &mut Dice, from: &[u8]) -> Vec<u8> {
    match from.first() {
        Some(b'{') => json_mutant(dice, from),
        _ => {
            [&[0], &bytes(dice, from.get(1..).unwrap_or_default(), &["\0", "\u{7f}", "\u{ff}"])[..]].concat()
        }
    }
}

fn checkpoint(bytes: &[u8]) -> bool {
    let read: Option<Checkpoint> = match bytes.split_first() {
        Some((0, rest)) => postcard::from_bytes(rest).ok(),
        _ => serde_json::from_slice(bytes).ok(),
    };
    let Some(checkpoint) = read else { return false };
    let search = Search::new(checkpointed(), &MOUNTAIN_CAR).query_limit(2_000);
    search.resume(checkpoint).is_ok_and(|search| search.run().is_ok())
}

/// Stores of the car, with and without rewards.
fn stores() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for problem in [small(1, 1, Objective::reach(60), None), small(2, 1, Objective::survive(40), None)] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("store");
        for queries in [50, 500] {
            let opened = Store::open(&path, &Identity::new(), 2, STORE_ROOM, Box::new(|_| {}));
            let store = Arc::new(opened.expect("a store"));
            let car = Remembered::new(&MOUNTAIN_CAR, Arc::clone(&store), problem.actions(), false);
            Search::new(&problem, &car).query_limit(queries).run().expect("the car never fails");
            store.flush();
            all.push(std::fs::read(&path).expect("a store"));
        }
    }
    all
}

const STORE_ROOM: Room = Room { bytes: 16 * MIB, are_states_lasting: true };
/// What a block begins with, the length of its records, and where their checksum and that of the head are.
const BLOCK: &[u8; 4] = b"\xb7blk";
const BLOCK_HEAD: usize = 24;

/// Bytes are changed; and half of the time the checksums are right again, as whoever knows the format would have it.
fn store_mutant(dice: &mut Dice, from: &[u8]) -> Vec<u8> {
    let mut mutant = bytes(dice, from, &["\0", "\u{7f}", "\u{ff}"]);
    if dice.once_in(2) {
        return mutant;
    }
    let mut at = 0;
    while let Some(found) = mutant.get(at..).and_then(|rest| rest.windows(4).position(|word| word == BLOCK)) {
        at += found;
        let Some(head) = mutant.get(at..at + BLOCK_HEAD) else { break };
        let length = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        let end = mutant.len().min(at.saturating_add(BLOCK_HEAD).saturating_add(length));
        let length = end - at - BLOCK_HEAD;
        mutant[at + 4..at + 8].copy_from_slice(&(length as u32).to_le_bytes());
        let records = crc32fast::hash(&mutant[at + BLOCK_HEAD..end]);
        mutant[at + 16..at + 20].copy_from_slice(&records.to_le_bytes());
        let own = crc32fast::hash(&mutant[at..at + 20]);
        mutant[at + 20..at + 24].copy_from_slice(&own.to_le_bytes());
        at = end;
    }
    mutant
}

/// What is in a file is read, and used; one that was made by hand may be noticed to be of another car, and no more.
fn store(bytes: &[u8]) -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    std::fs::write(&path, bytes).expect("a file");
    let is_read = contents(&path, STORE_ROOM.bytes).is_ok();
    let opened = Store::open(&path, &Identity::new(), 2, STORE_ROOM, Box::new(|_| {}));
    let Ok(store) = opened else { return is_read };
    let problem = small(1, 1, Objective::reach(60), None);
    let car = Remembered::new(&MOUNTAIN_CAR, Arc::new(store), problem.actions(), false);
    let _ = Search::new(&problem, &car).query_limit(300).run();
    assert!(contents(&path, STORE_ROOM.bytes).is_ok(), "what was opened can be read");
    is_read
}

fn certificates() -> Vec<Vec<u8>> {
    let problems = [
        small(2, 2, Objective::reach(120), None),
        small(1, 1, Objective::reach(60), None),
        small(2, 1, Objective::survive(40), None),
    ];
    let mut all = Vec::new();
    for problem in &problems {
        for form in [Form::Full, Form::Light] {
            let (_, bytes) =
                certify(problem, &MOUNTAIN_CAR, form, |search| search).expect("the car never fails");
            all.push(bytes);
        }
    }
    let (_, stopped) = certify(&problems[0], &MOUNTAIN_CAR, Form::Full, |search| search.query_limit(300))
        .expect("it is stopped");
    all.push(stopped);
    all
}

fn certificate_mutant(dice: &mut Dice, from: &[u8]) -> Vec<u8> {
    if dice.once_in(6) {
        return bytes(dice, from, &["\0", "P", "E", "L", "T", "C"]);
    }
    let mut parts = Parts::new(from, 2);
    for _ in 0..1 + dice.below(3) {
        let (at, other) = (dice.below(parts.blocks.len()), dice.below(parts.blocks.len()));
        match (dice.below(12), &mut parts.blocks[at].content) {
            (0, _) => drop(parts.blocks.remove(at)),
            (1, _) => parts.blocks.swap(at, other),
            (2, _) => {
                let block = parts.blocks[other].clone();
                parts.blocks.insert(at, block);
            }
            (3, _) => parts.blocks[at].claimed_length = Some(dice.draw() as u32),
            (4, _) => parts.blocks[at].task = dice.draw() >> dice.below(64),
            (_, Content::Json(value)) => mutate_json(dice, value),
            (_, Content::Events(events)) if !events.is_empty() => {
                let (at, other) = (dice.below(events.len()), dice.below(events.len()));
                match dice.below(7) {
                    0 => drop(events.remove(at)),
                    1 => events.swap(at, other),
                    2 => {
                        let event = events[other].clone();
                        let count = dice.amount().min(50_000);
                        events.splice(at..at, vec![event; count]);
                    }
                    3 => events[at].kind = dice.draw() % 8,
                    4 => events[at].argument = dice.draw() >> dice.below(64),
                    5 => events[at].observation = bytes(dice, &events[at].observation, &["\0", "\u{7f}"]),
                    _ => events.truncate(at),
                }
            }
            (_, Content::Text(_) | Content::Events(_)) => {}
        }
        if parts.blocks.is_empty() {
            return Vec::new();
        }
    }
    parts.bytes()
}

fn certificate(bytes: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Header {
        problem: ProblemJson,
    }
    let limits = Limits { memory: CERTIFICATE_MEMORY, work: CERTIFICATE_WORK };
    let Ok(certificate) = Certificate::read(bytes, limits) else { return false };
    let header = serde_json::from_str::<Header>(&certificate.header);
    let Some(problem) = header.ok().and_then(|header| header.problem.to_problem().ok()) else { return false };
    let is_car = problem.dimensions().len() == 2
        && problem.actions().len() == 2
        && problem.initial_states().iter().all(|state| state.values().len() == 2);
    let alone = certificate.is_full.then(|| certificate.check(None, 0.0, limits));
    if let Some(Err(failure)) = &alone {
        check_shown(&failure.to_string());
    }
    let with = Live::new(&problem, &MOUNTAIN_CAR).ok().filter(|_| is_car);
    let with = with.map(|mut live| certificate.check(Some(&mut live), 1.0, limits));
    alone.is_some_and(|checked| checked.is_ok()) || with.is_some_and(|checked| checked.is_ok())
}

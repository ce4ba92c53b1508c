//! Certificates that are wrong: no checker accepts one unless what it claims is true all the same.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use broccoli_certificate::Form;
use broccoli_checker::{
    Certificate, Claim, Failure, Limits, Thresholds, TooMuch, Tree as CheckedTree, Unreadable,
};
use broccoli_core::problem::{ALL, ComeBack, Objective, Problem};
use broccoli_core::tree::Tree;
use broccoli_tests::certified::{Live, certify, verify};
use broccoli_tests::forged::{self, forge};
use broccoli_tests::mutants::{Block, Content, Event, LABEL, Parts, START};
use broccoli_tests::oracle;
use broccoli_tests::random::{Wanted, scattered, structured, with_and_without_grid};
use broccoli_tests::table::{State, TableProblem};
use broccoli_tests::wall::run;
use serde_json::{Value, json};

const MOST_TREES: u64 = 500;
const LIMITS: Limits = Limits { memory: 16 << 20, work: 100_000_000 };

/// Numbers that look random, the same in every run.
struct Dice(u64);

impl Dice {
    fn draw(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below.max(1)
    }
}

/// What a checker says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Said {
    Verified,
    Refuted,
    Unreadable,
}

/// Checks a certificate; a full one against all answers of the system, if it is to be.
fn said(bytes: &[u8], table: &TableProblem, is_replayed: bool) -> Result<(Said, String), String> {
    let certificate = match Certificate::read(bytes, LIMITS) {
        Ok(certificate) => certificate,
        Err(error) => return Ok((Said::Unreadable, error.to_string())),
    };
    let problem = live_problem(table, &certificate);
    let factory = table.factory(ComeBack::Clone);
    let mut live = Live::new(&problem, &factory).map_err(|error| error.to_string())?;
    let checked = if certificate.is_full && !is_replayed {
        certificate.check(None, 0.0, LIMITS)
    } else {
        certificate.check(Some(&mut live), 1.0, LIMITS)
    };
    match checked {
        Ok(_) => Ok((Said::Verified, String::new())),
        Err(Failure::Refuted(wrong)) => Ok((Said::Refuted, wrong.to_string())),
        Err(other) => Err(other.to_string()),
    }
}

/// The problem as the certificate has it, as far as the system needs it.
fn live_problem(table: &TableProblem, certificate: &Certificate) -> Problem {
    let mut live = table.clone();
    live.initial = initial_states(certificate);
    live.problem()
}

fn initial_states(certificate: &Certificate) -> Vec<usize> {
    let header: Value = serde_json::from_str(&certificate.header).expect("it was read");
    let states = header["problem"]["initial_states"].as_array().expect("it was read");
    states.iter().map(|state| state[0].as_f64().expect("the index of a state") as usize).collect()
}

/// Whether the claim of a certificate is true, by brute force; none if there are too many trees.
fn is_true(table: &TableProblem, certificate: &Certificate) -> Option<bool> {
    let problem = &certificate.problem;
    let list = |thresholds: &Thresholds| match thresholds {
        Thresholds::List(list) => list.clone(),
        Thresholds::All => Vec::new(),
    };
    let table = TableProblem {
        thresholds: problem.thresholds.iter().map(list).collect(),
        initial: initial_states(certificate),
        objective: match problem.objective {
            broccoli_checker::Objective::Reach => Objective::reach(problem.horizon),
            broccoli_checker::Objective::Survive => Objective::survive(problem.horizon),
        },
        depth: problem.depth,
        nodes: u64::from(problem.nodes),
        ..table.clone()
    };
    let table = table.without_grid(problem.thresholds.iter().map(|t| *t == Thresholds::All).collect());
    let predicates: usize = table.thresholds.iter().map(Vec::len).sum();
    let count = oracle::tree_count(predicates as u64, table.actions() as u64, table.nodes, table.depth);
    if count > forged::MOST_TREES {
        return None;
    }
    let best = oracle::best(&table);
    let has_value = certificate.claim.solution().is_none_or(|solution| {
        let tree = core_tree(&problem.thresholds, &solution.tree);
        oracle::value(&table, &tree) == Some(solution.value)
            && (tree.size(), tree.depth()) == (solution.size, solution.depth)
    });
    Some(
        has_value
            && match &certificate.claim {
                Claim::Optimal(claimed) => best == Some((claimed.value, claimed.size)),
                Claim::Infeasible => best.is_none(),
                Claim::Bound { bound, .. } => {
                    best.is_none_or(|(value, _)| !problem.objective.is_better(value, *bound))
                }
            },
    )
}

fn core_tree(thresholds: &[Thresholds], tree: &CheckedTree) -> Tree {
    match tree {
        CheckedTree::Leaf(action) => Tree::Leaf(usize::from(*action)),
        CheckedTree::Node { dimension, threshold, branches } => {
            let [yes, no] = [&branches[0], &branches[1]].map(|branch| core_tree(thresholds, branch));
            let threshold = thresholds[*dimension].threshold(*threshold).expect("it was read");
            Tree::node(*dimension, threshold, yes, no)
        }
    }
}

/// Certificates of random problems, and of searches for them that were stopped early.
fn over_random_certificates(share: f64, check: impl Fn(&TableProblem, Form, &[u8]) -> Result<(), String>) {
    let check = |table: &TableProblem| {
        let problem = table.problem();
        for form in [Form::Light, Form::Full] {
            for limit in [u64::MAX, 7] {
                let factory = table.factory(ComeBack::Clone);
                let (_, bytes) = certify(&problem, &factory, form, |search| search.query_limit(limit))?;
                check(table, form, &bytes)?;
            }
        }
        Ok(())
    };
    for wanted in [Wanted::Reach, Wanted::Survive] {
        run(share, with_and_without_grid(scattered(wanted, MOST_TREES), MOST_TREES), check);
        run(share, with_and_without_grid(structured(wanted, MOST_TREES), MOST_TREES), check);
    }
}

/// Each way to damage a certificate is noticed, unless the claim is true all the same.
#[test]
fn a_damaged_certificate_that_is_accepted_claims_what_is_true() {
    let dice = std::cell::RefCell::new(Dice(7));
    let tally: std::cell::RefCell<BTreeMap<&'static str, BTreeMap<Said, u64>>> = Default::default();
    over_random_certificates(0.0006, |table, _, bytes| {
        for _ in 0..40 {
            let mut parts = Parts::new(bytes, table.thresholds.len());
            let Some(way) = parts.damage(&mut |below| dice.borrow_mut().draw(below)) else { continue };
            let damaged = parts.bytes();
            let (said, why) = said(&damaged, table, true)?;
            *tally.borrow_mut().entry(way).or_default().entry(said).or_default() += 1;
            if said == Said::Verified {
                let certificate = Certificate::read(&damaged, LIMITS).map_err(|error| error.to_string())?;
                if is_true(table, &certificate) == Some(false) {
                    return Err(format!("{way}: {:?} is accepted", certificate.claim));
                }
            } else if why.is_empty() {
                return Err(format!("{way}: it is refused without a word"));
            }
        }
        Ok(())
    });
    let tally = tally.into_inner();
    for (way, said) in &tally {
        let refused: u64 = said.iter().filter(|(said, _)| **said != Said::Verified).map(|(_, n)| n).sum();
        let is_rare = said.values().sum::<u64>() < 50;
        assert!(refused > 0 || is_rare, "{way} was never noticed: {said:?}");
    }
    assert!(tally.len() > 20, "{tally:?}");
    println!("{tally:#?}");
}

/// A tree, a value, a size, a bound or traces that do not belong to the evidence are noticed, also where the
/// system is not run, unless the claim is true all the same.
#[test]
fn a_forged_claim_that_is_accepted_is_true() {
    let dice = std::cell::RefCell::new(Dice(5));
    let tally: std::cell::RefCell<BTreeMap<&'static str, [u64; 3]>> = Default::default();
    over_random_certificates(0.001, |table, form, bytes| {
        for _ in 0..40 {
            let mut parts = Parts::new(bytes, table.thresholds.len());
            let Some(forgery) = forge(&mut parts, table, &mut |below| dice.borrow_mut().draw(below)) else {
                continue;
            };
            let forged = parts.bytes();
            let is_true = Certificate::read(&forged, LIMITS).ok().and_then(|read| is_true(table, &read));
            let mut tally = tally.borrow_mut();
            let [all, untrue, accepted] = tally.entry(forgery.way).or_default();
            (*all, *untrue) = (*all + 1, *untrue + u64::from(is_true == Some(false)));
            for is_replayed in [true, false] {
                let (said, _) = said(&forged, table, is_replayed)?;
                *accepted += u64::from(said == Said::Verified);
                let must_hold = is_replayed || forgery.is_genuine;
                if said == Said::Verified && must_hold && is_true != Some(true) {
                    return Err(format!("{form:?}, {}, replayed {is_replayed}: accepted", forgery.way));
                }
            }
        }
        Ok(())
    });
    let tally = tally.into_inner();
    println!("all, untrue, accepted: {tally:#?}");
    assert_eq!(tally.len(), 11, "{tally:?}");
    for (way, [all, untrue, accepted]) in &tally {
        // With other traces the claim stays true, but its evidence is gone.
        assert!(*all > 50 && (*untrue > 20 || *accepted < 2 * all), "{way}: {tally:?}");
    }
    assert!(tally.values().any(|[.., accepted]| *accepted > 20), "some forgeries are true: {tally:?}");
}

/// A behaviour that is left out, with all that comes after it, is missed exactly if the checker comes to it.
#[test]
fn a_behaviour_that_is_left_out_is_missed() {
    let missed = std::cell::Cell::new(0);
    over_random_certificates(0.0005, |table, form, bytes| {
        let parts = Parts::new(bytes, table.thresholds.len());
        let paths = parts.clone().paths();
        if paths.len() > 150 {
            return Ok(());
        }
        let needed = verify(bytes, &table.problem(), &table.factory(ComeBack::Clone))?.labels;
        let mut refuted = 0;
        for path in &paths {
            let mut parts = parts.clone();
            parts.leave_out(path);
            let (said, why) = said(&parts.bytes(), table, true)?;
            let is_missed = said == Said::Refuted && why.contains("is not looked into");
            if !is_missed && said != Said::Verified {
                return Err(format!("{form:?}, {path:?}: {why}"));
            }
            refuted += u64::from(is_missed);
        }
        missed.set(missed.get() + refuted);
        if refuted == needed { Ok(()) } else { Err(format!("{form:?}: {needed} needed, {refuted} missed")) }
    });
    assert!(missed.get() > 100, "{} behaviours were missed", missed.get());
}

/// Files that were cut or have a bit flipped cannot be read; files of random blocks and events are refused
/// without a panic, whatever is in them, and take no more memory than allowed.
#[test]
fn damaged_files_are_unreadable_and_nothing_makes_the_reader_panic() {
    let dice = std::cell::RefCell::new(Dice(3));
    let draw = |below: u64| dice.borrow_mut().draw(below);
    over_random_certificates(0.0005, |table, _, bytes| {
        for _ in 0..20 {
            let cut = draw(bytes.len() as u64) as usize;
            let (said_of_cut, _) = said(&bytes[..cut], table, false)?;
            let mut flipped = bytes.to_vec();
            flipped[cut] ^= 1 << draw(8);
            let (said_of_flipped, why) = said(&flipped, table, false)?;
            if (said_of_cut, said_of_flipped) != (Said::Unreadable, Said::Unreadable) {
                return Err(format!("byte {cut} of {}: {said_of_flipped:?} {why}", bytes.len()));
            }
            let mut longer = bytes.to_vec();
            longer.push(0);
            assert_eq!(said(&longer, table, false)?.0, Said::Unreadable);

            // Events of pure chance, with good checksums.
            let mut parts = Parts::new(bytes, table.thresholds.len());
            let events = (0..draw(60)).map(|_| Event {
                kind: draw(8),
                argument: if draw(9) == 0 { u64::MAX >> (3 + draw(60)) } else { draw(4) },
                observation: (0..8 * table.thresholds.len()).map(|_| draw(256) as u8).collect(),
                state: vec![0; draw(5) as usize],
            });
            let block = Block {
                kind: b'L',
                task: draw(9),
                claimed_length: None,
                content: Content::Events(events.collect()),
            };
            let place = 1 + draw(parts.blocks.len() as u64 - 1) as usize;
            parts.blocks.insert(place, block);
            said(&parts.bytes(), table, false)?;
            // And JSON of pure chance.
            damage_json(parts.problem(), &draw);
            damage_json(parts.claim(), &draw);
            if let Ok(certificate) = Certificate::read(&parts.bytes(), LIMITS) {
                let _ = certificate.check(None, 0.0, LIMITS);
            }
        }
        Ok(())
    });
}

/// Replaces something somewhere in a JSON value.
fn damage_json(value: &mut Value, draw: &dyn Fn(u64) -> u64) {
    let inside: Option<&mut Value> = match value {
        Value::Array(values) if draw(6) > 0 => {
            let place = draw(values.len() as u64) as usize;
            values.get_mut(place)
        }
        Value::Object(map) if draw(6) > 0 => {
            let place = draw(map.len() as u64) as usize;
            map.values_mut().nth(place)
        }
        _ => None,
    };
    match inside {
        Some(inside) => damage_json(inside, draw),
        None => {
            *value = match draw(7) {
                0 => Value::Null,
                1 => u64::MAX.into(),
                2 => 3.into(),
                3 => (-1).into(),
                4 => "x".into(),
                5 => Value::Array(Vec::new()),
                _ => 1e300.into(),
            }
        }
    }
}

/// A small file that would take a lot of memory is refused.
#[test]
fn a_file_that_blows_up_is_refused() {
    let table = TableProblem {
        thresholds: vec![vec![1.0]],
        states: vec![State { observation: vec![0.0], next: vec![0, 0], verdict: '.', rewards: Vec::new() }],
        initial: vec![0],
        objective: Objective::reach(3),
        weights: Vec::new(),
        all: Vec::new(),
        depth: 1,
        nodes: 1,
    };
    let problem = table.problem();
    let factory = table.factory(ComeBack::Clone);
    let (_, bytes) = certify(&problem, &factory, Form::Light, |search| search).expect("it runs");
    for kind in [LABEL, START] {
        let mut parts = Parts::new(&bytes, 1);
        let content = Content::Events(vec![Event::new(kind, 0); 10_000_000]);
        parts.blocks.insert(1, Block { kind: b'L', task: 99, claimed_length: None, content });
        let bomb = parts.bytes();
        assert!(bomb.len() < 100_000, "{} bytes", bomb.len());
        assert_eq!(Certificate::read(&bomb, LIMITS).err(), Some(TooMuch::Memory(LIMITS.memory).into()));
    }
    // A problem that is mostly white space.
    let mut parts = Parts::new(&bytes, 1);
    parts.problem()["system"] = " ".repeat(10_000_000).into();
    assert_eq!(Certificate::read(&parts.bytes(), LIMITS).err(), Some(TooMuch::Memory(LIMITS.memory).into()));
    // A block that says it is longer than it can be.
    let mut parts = Parts::new(&bytes, 1);
    parts.blocks[0].claimed_length = Some(u32::MAX);
    let lie = Certificate::read(&parts.bytes(), Limits { memory: usize::MAX, ..LIMITS }).err();
    assert_eq!(lie, Some(Unreadable::Damaged("a block cannot be as long as it says".into())));
    parts.blocks[0].claimed_length = Some(1_000);
    let lie = Certificate::read(&parts.bytes(), LIMITS).err();
    assert_eq!(lie, Some(Unreadable::Damaged("a block is not as long as it says".into())));
}

/// The checker in Python, written from the specification, says the same of good and of damaged certificates.
#[test]
fn the_checker_in_python_says_the_same() {
    let dice = std::cell::RefCell::new(Dice(11));
    let files = std::cell::RefCell::new(Files::new());
    let expected: std::cell::RefCell<Vec<(Said, bool, String)>> = Default::default();
    over_random_certificates(0.0003, |table, _, bytes| {
        let mut all = vec![(bytes.to_vec(), "as it was", false)];
        for _ in 0..6 {
            let mut parts = Parts::new(bytes, table.thresholds.len());
            if let Some(way) = parts.damage(&mut |below| dice.borrow_mut().draw(below)) {
                all.push((parts.bytes(), way, false));
            }
            let mut parts = Parts::new(bytes, table.thresholds.len());
            if let Some(forgery) = forge(&mut parts, table, &mut |below| dice.borrow_mut().draw(below)) {
                let read = Certificate::read(&parts.bytes(), LIMITS).ok();
                let is_true = read.and_then(|read| is_true(table, &read)) == Some(true);
                all.push((parts.bytes(), forgery.way, forgery.is_genuine && !is_true));
            }
        }
        for (bytes, way, is_untrue) in all {
            let (said, why) = said(&bytes, table, false)?;
            let about = format!("{way}: {why}\n{}", serde_json::to_string(table).unwrap_or_default());
            expected.borrow_mut().push((said, is_untrue, about));
            files.borrow_mut().add(&bytes, table);
        }
        Ok(())
    });
    let expected = expected.into_inner();
    let all = files.into_inner().said_in_python();
    let mut verified = 0;
    assert_eq!(all.len(), expected.len());
    for ((python, line), (said, is_untrue, way)) in all.iter().zip(&expected) {
        verified += u32::from(*python == Said::Verified);
        // Where one sees that something is wrong with the file the other may see what is wrong with the proof.
        let is_same = (*python == Said::Verified) == (*said == Said::Verified);
        assert!(is_same, "Python: {line}; Rust: {said:?}, {way}");
        assert!(*python != Said::Verified || !is_untrue, "Python accepts what is not true: {way}");
    }
    assert!(verified as usize > expected.len() / 10, "{verified} of {}", expected.len());
}

/// Certificates in files, for the checker in Python.
struct Files {
    folder: tempfile::TempDir,
    paths: Vec<PathBuf>,
}

impl Files {
    fn new() -> Self {
        Files { folder: tempfile::tempdir().expect("a folder"), paths: Vec::new() }
    }

    /// Adds a certificate, and the system that it is about.
    fn add(&mut self, certificate: &[u8], table: &TableProblem) {
        let path = self.folder.path().join(self.paths.len().to_string());
        std::fs::write(&path, certificate).expect("it can be written");
        let states = serde_json::to_string(table).expect("a table is plain data");
        std::fs::write(path.with_extension("table"), states).expect("it can be written");
        self.paths.push(path);
    }

    /// What the checker in Python says of each, and its words.
    fn said_in_python(&self) -> Vec<(Said, String)> {
        let checker = concat!(env!("CARGO_MANIFEST_DIR"), "/certificates/checker.py");
        let output = Command::new("python3").arg("-B").arg(checker).args(&self.paths).output();
        let output = output.expect("there is python3");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let lines = String::from_utf8(output.stdout).expect("text");
        let said = |line: &str| match line.split(':').next() {
            Some("verified") => Said::Verified,
            Some("refuted") => Said::Refuted,
            _ => Said::Unreadable,
        };
        lines.lines().map(|line| (said(line), line.to_owned())).collect()
    }
}

/// Without a grid both checkers tell apart all values but the two zeros, and infinity from the greatest number.
#[test]
fn both_checkers_know_what_all_thresholds_tell_apart() {
    let (least, low, high) = (f64::from_bits(1), f64::NEG_INFINITY, f64::INFINITY);
    let pairs = [
        (low, f64::MIN, true),
        (f64::MIN, f64::MIN.next_up(), true),
        (-1.0f64, (-1.0f64).next_up(), true),
        (-least, -0.0, true),
        (-least, 0.0, true),
        (-0.0, 0.0, false),
        (-0.0, least, true),
        (1.0, 1.0f64.next_up(), true),
        (f64::MAX.next_down(), f64::MAX, true),
        (f64::MAX.next_down(), high, true),
        (f64::MAX, high, false),
        (low, high, true),
    ];
    let mut files = Files::new();
    let mut expected = Vec::new();
    let mut add = |parts: &Parts, table: &TableProblem, is_right: bool, about: String| {
        let bytes = parts.bytes();
        let (said, why) = said(&bytes, table, true).expect("a system in a table does not fail");
        assert_eq!(said == Said::Verified, is_right, "{about}: {why}");
        files.add(&bytes, table);
        expected.push((is_right, about));
    };
    for (a, b, is_told_apart) in pairs {
        for (first, second, form) in
            [(a, b, Form::Light), (b, a, Form::Light), (a, b, Form::Full), (b, a, Form::Full)]
        {
            let about = |what: &str| format!("{first:e}, then {second:e}, {form:?}: {what}");
            // Without any predicate no tree acts in one state otherwise than in the other, as it has to.
            let none = two_states(first, second);
            let all = none.clone().without_grid(vec![true]);
            let certified = |table: &TableProblem| {
                let (problem, factory) = (table.problem(), table.factory(ComeBack::Clone));
                let (outcome, bytes) = certify(&problem, &factory, form, |search| search).expect("it runs");
                (outcome.best.is_some(), Parts::new(&bytes, 1))
            };
            let (has_tree, mut parts) = certified(&none);
            assert!(!has_tree);
            add(&parts, &none, true, about("no thresholds"));
            parts.problem()["dimensions"][0]["thresholds"] = json!(ALL);
            add(&parts, &all, !is_told_apart, about("all in place of none"));

            let (has_tree, mut parts) = certified(&all);
            assert_eq!(has_tree, is_told_apart, "{}", about("all"));
            add(&parts, &all, true, about("all"));
            if has_tree {
                // The predicate is true of the greater value from its least threshold on up to the value itself.
                let ends = [(a.next_up(), true), (b, true), (a, false), (b.next_up(), false)];
                for (threshold, is_right) in ends.into_iter().filter(|(threshold, _)| threshold.is_finite()) {
                    parts.claim()["tree"]["threshold"] = json!(threshold);
                    add(&parts, &all, is_right, about("another threshold"));
                }
            }
            parts.problem()["dimensions"][0]["thresholds"] = json!([]);
            add(&parts, &none, !has_tree, about("none in place of all"));
        }
    }
    for ((python, line), (is_right, about)) in files.said_in_python().iter().zip(&expected) {
        assert_eq!(*python == Said::Verified, *is_right, "{about}: {line}");
    }
}

/// From the first state action 0 leads on, from the second action 1, and then it is done.
fn two_states(first: f64, second: f64) -> TableProblem {
    let state = |observation, next: [usize; 2], verdict| State {
        observation: vec![observation],
        next: next.to_vec(),
        verdict,
        rewards: Vec::new(),
    };
    TableProblem {
        thresholds: vec![Vec::new()],
        states: vec![state(first, [1, 0], '.'), state(second, [1, 2], '.'), state(second, [2, 2], '+')],
        initial: vec![0],
        objective: Objective::reach(10),
        weights: Vec::new(),
        all: Vec::new(),
        depth: 1,
        nodes: 1,
    }
}

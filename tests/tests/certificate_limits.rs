//! Files that were made to exhaust whoever checks them take no more memory and work than is allowed.
//!
//! This file has one test, so that what is counted is that of the file at hand.

use std::alloc::{GlobalAlloc, Layout, System as Allocator};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use broccoli_checker::{Certificate, Failure, Limits, System, TooMuch, Unreadable, Verdict};
use broccoli_tests::mutants::{BACK, Block, Content, Event, LABEL, Parts, START};
use serde_json::{Value, json};

/// Counts the bytes that are allocated, and the most there ever were.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn grown(bytes: usize) {
    PEAK.fetch_max(NOW.fetch_add(bytes, Relaxed) + bytes, Relaxed);
}

// SAFETY: everything is passed on as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: as above.
        unsafe { Allocator.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { Allocator.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        NOW.fetch_sub(layout.size(), Relaxed);
        grown(size);
        // SAFETY: as above.
        unsafe { Allocator.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// A system that always goes on; what it shows is the number of the step, once per dimension.
struct Endless {
    step: u64,
}

impl System for Endless {
    fn reset(&mut self, _: usize, observation: &mut [f64]) -> Result<Verdict, String> {
        self.step = 0;
        observation.fill(0.0);
        Ok(Verdict::Running)
    }
    fn step(&mut self, _: u16, observation: &mut [f64]) -> Result<Verdict, String> {
        self.step += 1;
        observation.fill(self.step as f64);
        Ok(Verdict::Running)
    }
    fn save(&mut self) -> Option<Vec<u8>> {
        Some(self.step.to_le_bytes().to_vec())
    }
    fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        self.step = u64::from_le_bytes(state.try_into().map_err(|_| "not a state")?);
        Ok(())
    }
}

fn problem(actions: usize, thresholds: usize, horizon: u64) -> Value {
    json!({"form": "light", "identity": {}, "problem": {
        "system": {"environment": "endless"},
        "dimensions": [{"name": "x", "thresholds": (1..=thresholds).collect::<Vec<_>>()}],
        "actions": (0..actions).map(|a| json!({"name": format!("a{a}"), "value": a})).collect::<Vec<_>>(),
        "initial_states": [[0.0]],
        "objective": "reach", "horizon": horizon, "depth": 16, "nodes": 60_000,
    }})
}

fn block(kind: u8, content: Content) -> Block {
    Block { kind, task: 0, claimed_length: None, content }
}

fn light(header: Value, events: Vec<Vec<Event>>, claim: Value) -> Vec<u8> {
    let last = events.len();
    let events = events
        .into_iter()
        .enumerate()
        .map(|(place, events)| block(if place + 1 == last { b'L' } else { b'E' }, Content::Events(events)));
    let first = block(b'P', Content::Json(header));
    Parts::of([first].into_iter().chain(events).chain([block(b'C', Content::Json(claim))]).collect()).bytes()
}

fn infeasible() -> Value {
    json!({"claim": "infeasible"})
}

/// Reads and checks a file as `verify` does without options. Which limit it reached, if one.
fn limit_reached(name: &str, file: &[u8]) -> Option<TooMuch> {
    let limits = Limits::of_file(file.len());
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    let reached = match Certificate::read(file, limits) {
        Err(Unreadable::TooMuch(limit)) => Some(limit),
        Err(_) => None,
        Ok(certificate) => match certificate.check(Some(&mut Endless { step: 0 }), 1.0, limits) {
            Err(Failure::TooMuch(limit)) => Some(limit),
            _ => None,
        },
    };
    let taken = PEAK.load(Relaxed) - before;
    println!("{name}: {} bytes, {} MiB of {} MiB, {reached:?}", file.len(), taken >> 20, limits.memory >> 20);
    assert!(taken <= limits.memory, "{name}: {taken} bytes of memory, and {} are allowed", limits.memory);
    reached
}

#[test]
fn no_file_takes_more_than_its_length_allows() {
    let text_bomb = |text: String| {
        Parts::of(vec![block(b'P', Content::Text(text)), block(b'C', Content::Json(json!({})))]).bytes()
    };
    let is_memory = |reached| matches!(reached, Some(TooMuch::Memory(_)));
    let is_work = |reached| matches!(reached, Some(TooMuch::Work(_)));

    // JSON that would be a hundred times as large as a tree of values.
    let pairs = r#"{"":0},"#.repeat(1_200_000);
    let bomb = text_bomb(format!(r#"{{"form":"light","x":[{pairs}0]}}"#));
    assert!(bomb.len() < 100_000 && is_memory(limit_reached("JSON", &bomb)));
    // As much of it as is let through, where the problem has lists.
    let header = problem(2, 1, 9).to_string();
    for (key, more) in [("\"initial_states\":[", "[],"), ("\"thresholds\":[", "0,"), ("\"system\":", "[0,")] {
        let many = header.replace(key, &format!("{key}{}", more.repeat((2 << 20) / more.len() - 500)));
        limit_reached(key, &text_bomb(many));
    }
    // Many siblings, and the one that is found last again and again.
    let there_and_back = |label| [Event::new(LABEL, label), Event::new(BACK, 1)];
    let first = (0..60_000).flat_map(there_and_back).collect();
    let slow = (0..500_000).flat_map(|_| there_and_back(0)).collect();
    let file = light(problem(60_000, 1, 9), vec![first, slow], infeasible());
    assert!(is_work(limit_reached("labels that are hard to find", &file)));
    // A record that is large when it is read.
    let file = light(problem(2, 1, 9), vec![vec![Event::new(LABEL, 0); 4_000_000]], infeasible());
    assert!(is_memory(limit_reached("many labels", &file)));
    // A trace without an end, of the tree and of the only behaviour.
    let tree =
        json!({"claim": "optimal", "bound": 5, "value": 5, "size": 0, "depth": 0, "tree": {"action": 0}});
    let file = light(problem(2, 1, u64::MAX), vec![vec![Event::new(START, 0)]], tree);
    assert!(limit_reached("an endless trace of the tree", &file).is_some());
    let events = vec![Event::new(START, 0), Event::new(LABEL, 0), Event::new(BACK, 1), Event::new(LABEL, 1)];
    let mut header = problem(2, 0, u64::MAX);
    (header["problem"]["depth"], header["problem"]["nodes"]) = (json!(0), json!(0));
    let file = light(header, vec![events], infeasible());
    assert!(limit_reached("an endless trace of a behaviour", &file).is_some());
    // Behaviours with many labels, each of which must be told apart from all others.
    let mut events = vec![Event::new(START, 0)];
    for _ in 0..4_000 {
        events.extend([Event::new(LABEL, 0), Event::new(BACK, 1), Event::new(LABEL, 1)]);
    }
    let file = light(problem(2, 30_000, u64::MAX), vec![events], infeasible());
    assert!(limit_reached("many labels on many thresholds", &file).is_some());
}

//! Forgeries: certificates whose evidence is genuine and whose claim is another one, with good checksums.
//! Whoever checks them must not believe what is printed unless it is true.

use broccoli_core::tree::Tree;
use serde_json::{Value, json};

use crate::mutants::{Block, Content, Event, LABEL, Parts, REPLY, START};
use crate::oracle;
use crate::table::TableProblem;

/// The most trees that brute force is asked to try for a forged problem.
pub const MOST_TREES: u64 = 200_000;

/// A forged certificate.
pub struct Forgery {
    /// What was done to it.
    pub way: &'static str,
    /// Whether all transitions in it, with their actions, are the system's own.
    pub is_genuine: bool,
}

/// Forges a certificate of a table's problem in one way, with numbers from `draw`, which are below what it is
/// given; none if there is nothing here to forge like that.
pub fn forge(parts: &mut Parts, table: &TableProblem, draw: &mut dyn FnMut(u64) -> u64) -> Option<Forgery> {
    let genuine = |way| Some(Forgery { way, is_genuine: true });
    let is_optimal = parts.claim()["claim"] == "optimal";
    let printed = parts.claim()["tree"].clone();
    match draw(10) {
        0 => {
            mirror(inner(&mut parts.claim()["tree"], draw)?);
            genuine("a predicate of the tree mirrored")
        }
        1 => {
            // The same size and depth, so that nothing else gives it away.
            mirror_all(&mut parts.claim()["tree"]);
            (printed != parts.claim()["tree"]).then_some(())?;
            genuine("the whole tree mirrored")
        }
        2 => {
            let tree = random_tree(table, table.depth, draw);
            printed.is_object().then_some(())?;
            print(parts, &tree);
            genuine("another tree, the value kept")
        }
        3 => {
            let tree = random_tree(table, table.depth, draw);
            let value = oracle::value(table, &tree)?;
            print(parts, &tree);
            parts.claim()["value"] = json!(value);
            parts.claim()["claim"] = json!("optimal");
            parts.claim()["bound"] = json!(value);
            set_traces(parts, traces(table, &tree));
            genuine("another tree, with its own value and traces")
        }
        4 => {
            let tree = random_tree(table, table.depth, draw);
            printed.is_object().then_some(())?;
            set_traces(parts, traces(table, &tree));
            genuine("the traces of another tree")
        }
        5 => {
            let value = other_value(&parts.claim()["value"], table, draw)?;
            parts.claim()["value"] = json!(value);
            if is_optimal {
                parts.claim()["bound"] = json!(value);
            }
            genuine("another value")
        }
        6 => {
            let size = draw(table.nodes + 2);
            printed.is_object().then_some(())?;
            parts.claim()["size"] = json!(size);
            genuine("another size")
        }
        7 => {
            let bound = draw(table.objective.horizon() + 2);
            parts.claim()["bound"] = json!(bound);
            parts.claim()["claim"] = json!("bound");
            if draw(2) == 0 {
                for key in ["tree", "value", "size", "depth"] {
                    parts.claim()[key] = Value::Null;
                }
                parts.blocks.retain(|block| block.kind != b'T');
            }
            genuine("another bound")
        }
        8 => {
            let dimension = draw(table.thresholds.len() as u64) as usize;
            let all = (0..table.thresholds.len()).map(|d| table.has_all(d) != (d == dimension)).collect();
            let way = parts.other_thresholds(dimension, draw)?;
            // Where all are thresholds there may be too many trees for brute force.
            let predicates: usize = table.clone().without_grid(all).thresholds.iter().map(Vec::len).sum();
            let count =
                oracle::tree_count(predicates as u64, table.actions() as u64, table.nodes, table.depth);
            (count <= MOST_TREES).then_some(())?;
            genuine(way)
        }
        _ => {
            // The answers are those of another tree, and the actions are said to be this one's.
            let tree = random_tree(table, table.depth, draw);
            printed.is_object().then_some(())?;
            print(parts, &tree);
            let block = parts.blocks.iter_mut().find(|block| block.kind == b'T')?;
            let Content::Events(events) = &mut block.content else { return None };
            let mut seen = Vec::new();
            for event in events {
                match event.kind {
                    REPLY => seen = event.values(),
                    LABEL => event.argument = tree.action(&seen) as u64,
                    _ => {}
                }
            }
            Some(Forgery { way: "actions of the traces rewritten", is_genuine: false })
        }
    }
}

/// A predicate of a tree; none if it is a lone leaf.
fn inner<'t>(tree: &'t mut Value, draw: &mut dyn FnMut(u64) -> u64) -> Option<&'t mut Value> {
    tree.get("feature")?;
    let mut tree = tree;
    loop {
        let side = ["true", "false"][draw(2) as usize];
        if draw(2) == 0 || tree[side].get("feature").is_none() {
            return Some(tree);
        }
        tree = &mut tree[side];
    }
}

fn mirror(tree: &mut Value) {
    let yes = tree["true"].take();
    tree["true"] = std::mem::replace(&mut tree["false"], yes);
}

fn mirror_all(tree: &mut Value) {
    if tree.get("feature").is_some() {
        mirror_all(&mut tree["true"]);
        mirror_all(&mut tree["false"]);
        mirror(tree);
    }
}

/// A tree of chance within a depth.
fn random_tree(table: &TableProblem, depth: u32, draw: &mut dyn FnMut(u64) -> u64) -> Tree {
    let dimension = draw(table.thresholds.len() as u64) as usize;
    let thresholds = &table.thresholds[dimension];
    if depth == 0 || thresholds.is_empty() || draw(4) == 0 {
        return Tree::Leaf(draw(table.actions() as u64) as usize);
    }
    let threshold = thresholds[draw(thresholds.len() as u64) as usize];
    let mut branch = || random_tree(table, depth - 1, draw);
    Tree::node(dimension, threshold, branch(), branch())
}

/// Prints a tree in the claim, with the size and depth that it has.
fn print(parts: &mut Parts, tree: &Tree) {
    let claim = parts.claim();
    claim["tree"] = tree_json(tree);
    claim["size"] = json!(tree.size());
    claim["depth"] = json!(tree.depth());
}

fn tree_json(tree: &Tree) -> Value {
    match tree {
        Tree::Leaf(action) => json!({"action": action}),
        Tree::Node { dimension, threshold, yes, no } => json!({
            "feature": dimension, "threshold": threshold, "true": tree_json(yes), "false": tree_json(no),
        }),
    }
}

/// Another value that a tree could have.
fn other_value(value: &Value, table: &TableProblem, draw: &mut dyn FnMut(u64) -> u64) -> Option<u64> {
    let other = draw(table.objective.horizon() + 1);
    (value.as_u64()? != other).then_some(other)
}

/// The genuine traces of a tree, as a full certificate has them.
fn traces(table: &TableProblem, tree: &Tree) -> Vec<Event> {
    let mut events = Vec::new();
    for (index, &initial) in table.initial.iter().enumerate() {
        events.push(Event::new(START, index as u64));
        let mut at = initial;
        for step in 0.. {
            let state = &table.states[at];
            let verdict = [".", "+", "-"].iter().position(|v| v.starts_with(state.verdict)).unwrap_or(0);
            let observation = state.observation.iter().flat_map(|value| value.to_le_bytes()).collect();
            events.push(Event { observation, ..Event::new(REPLY, verdict as u64) });
            if verdict > 0 || step == table.objective.horizon() {
                break;
            }
            let action = tree.action(&state.observation);
            events.push(Event::new(LABEL, action as u64));
            at = state.next[action];
        }
    }
    events
}

/// Puts other traces into a full certificate.
fn set_traces(parts: &mut Parts, events: Vec<Event>) {
    if !parts.is_full() {
        return;
    }
    parts.blocks.retain(|block| block.kind != b'T');
    let place = parts.blocks.len() - 1;
    let content = Content::Events(events);
    parts.blocks.insert(place, Block { kind: b'T', task: 0, claimed_length: None, content });
}

//! Wrong certificates: valid ones taken apart, damaged, and put together again with good checksums.

use std::collections::BTreeSet;
use std::io::{Read, Write};

use broccoli_core::problem::ALL;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde_json::{Value, json};

const HEAD: usize = 21 + 4;

/// A certificate taken apart.
#[derive(Clone, Debug)]
pub struct Parts {
    head: Vec<u8>,
    /// The blocks in the order of the file.
    pub blocks: Vec<Block>,
    dimensions: usize,
}

/// A block.
#[derive(Clone, Debug)]
pub struct Block {
    /// Its kind.
    pub kind: u8,
    /// Its task.
    pub task: u64,
    /// How long it says that its content is, if that is a lie.
    pub claimed_length: Option<u32>,
    /// What is in it.
    pub content: Content,
}

/// What is in a block.
#[derive(Clone, Debug)]
pub enum Content {
    /// The problem, or the claim.
    Json(Value),
    /// What was made to look like JSON.
    Text(String),
    /// Events.
    Events(Vec<Event>),
}

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its kind.
    pub kind: u64,
    /// Its argument.
    pub argument: u64,
    /// The observation behind a reply, as bytes.
    pub observation: Vec<u8>,
    /// The state behind a reply.
    pub state: Vec<u8>,
}

/// The kinds of events that are spoken of.
pub const LABEL: u64 = 0;
/// See [`LABEL`].
pub const BACK: u64 = 1;
/// See [`LABEL`].
pub const START: u64 = 2;
/// See [`LABEL`].
pub const REPLY: u64 = 4;

impl Parts {
    /// Takes a valid certificate apart.
    ///
    /// # Panics
    /// If it is not valid.
    pub fn new(bytes: &[u8], dimensions: usize) -> Self {
        let mut parts = Parts { head: bytes[..HEAD].to_vec(), blocks: Vec::new(), dimensions };
        let mut rest = &bytes[HEAD..];
        while !rest.is_empty() {
            let kind = rest[0];
            let task = u64::from_le_bytes(rest[1..9].try_into().expect("8 bytes"));
            let stored = u32::from_le_bytes(rest[13..17].try_into().expect("4 bytes")) as usize;
            let mut content = Vec::new();
            ZlibDecoder::new(&rest[17..17 + stored]).read_to_end(&mut content).expect("it is valid");
            let content = match kind {
                b'P' | b'C' => Content::Json(serde_json::from_slice(&content).expect("it is valid")),
                _ => Content::Events(events(&content, dimensions)),
            };
            parts.blocks.push(Block { kind, task, claimed_length: None, content });
            rest = &rest[17 + stored + 4..];
        }
        parts
    }

    /// A certificate of these blocks, light and with any number of dimensions.
    pub fn of(blocks: Vec<Block>) -> Self {
        Parts { head: [&b"broccoli certificate\n"[..], &[3, 0, 0, 0]].concat(), blocks, dimensions: 0 }
    }

    /// Puts it together again.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.head.clone();
        let mut checksum = 0;
        for block in &self.blocks {
            let content = match &block.content {
                Content::Json(json) => json.to_string().into_bytes(),
                Content::Text(text) => text.clone().into_bytes(),
                Content::Events(events) => events.iter().flat_map(Event::bytes).collect(),
            };
            let start = bytes.len();
            bytes.push(block.kind);
            bytes.extend(block.task.to_le_bytes());
            bytes.extend(block.claimed_length.unwrap_or(content.len() as u32).to_le_bytes());
            let stored = compressed(&content);
            bytes.extend((stored.len() as u32).to_le_bytes());
            bytes.extend(stored);
            let mut hasher = crc32fast::Hasher::new_with_initial(checksum);
            hasher.update(&bytes[start..]);
            checksum = hasher.finalize();
            bytes.extend(checksum.to_le_bytes());
        }
        bytes
    }

    /// The problem.
    pub fn problem(&mut self) -> &mut Value {
        &mut self.json(0)["problem"]
    }

    /// The claim.
    pub fn claim(&mut self) -> &mut Value {
        let last = self.blocks.len() - 1;
        self.json(last)
    }

    fn json(&mut self, block: usize) -> &mut Value {
        match &mut self.blocks[block].content {
            Content::Json(json) => json,
            _ => panic!("a valid certificate begins and ends with JSON"),
        }
    }

    /// Whether it holds what the system answered.
    pub fn is_full(&mut self) -> bool {
        self.json(0)["form"] == "full"
    }

    /// The events of all blocks.
    pub fn event_lists(&mut self) -> Vec<&mut Vec<Event>> {
        self.events_of(|_| true)
    }

    /// The events of the evidence, which lead through the behaviours.
    fn evidence(&mut self) -> Vec<&mut Vec<Event>> {
        self.events_of(|kind| kind != b'T')
    }

    fn events_of(&mut self, is_wanted: impl Fn(u8) -> bool) -> Vec<&mut Vec<Event>> {
        let wanted = self.blocks.iter_mut().filter(|block| is_wanted(block.kind));
        let events = wanted.filter_map(|block| match &mut block.content {
            Content::Events(events) => Some(events),
            _ => None,
        });
        events.filter(|events| !events.is_empty()).collect()
    }

    /// The labels of all behaviours.
    pub fn paths(&mut self) -> BTreeSet<Vec<u64>> {
        let mut paths = BTreeSet::new();
        for events in self.evidence() {
            let mut path = Vec::new();
            for event in events {
                event.walk(&mut path);
                paths.insert(path.clone());
            }
        }
        paths.remove(&Vec::new());
        paths
    }

    /// Leaves out a behaviour, given by its labels, and all that has more labels.
    pub fn leave_out(&mut self, labels: &[u64]) {
        for events in self.evidence() {
            let (mut path, mut written) = (Vec::new(), Vec::new());
            let mut left = Vec::new();
            for event in std::mem::take(events) {
                event.walk(&mut path);
                if path.starts_with(labels) {
                    continue;
                }
                let shared = path.iter().zip(&written).take_while(|(a, b)| a == b).count();
                if shared < written.len() {
                    left.push(Event::new(BACK, (written.len() - shared) as u64));
                }
                left.extend(path[shared..].iter().map(|&label| Event::new(LABEL, label)));
                written.clone_from(&path);
                if !matches!(event.kind, LABEL | BACK) {
                    left.push(event);
                }
            }
            *events = left;
        }
    }

    /// Damages it in one way, with numbers from `draw`, which are below what it is given. The name of the way;
    /// none if there is nothing here to damage like that.
    pub fn damage(&mut self, draw: &mut dyn FnMut(u64) -> u64) -> Option<&'static str> {
        let way = draw(5);
        match way {
            0 => self.damage_problem(draw),
            1 => self.damage_claim(draw),
            2 => self.damage_blocks(draw),
            _ => self.damage_events(draw),
        }
    }

    fn damage_problem(&mut self, draw: &mut dyn FnMut(u64) -> u64) -> Option<&'static str> {
        let dimensions = self.dimensions;
        let problem = self.problem();
        match draw(6) {
            0 => nudge(&mut problem["horizon"], draw).map(|()| "horizon"),
            1 => nudge(&mut problem["depth"], draw).map(|()| "depth"),
            2 => nudge(&mut problem["nodes"], draw).map(|()| "nodes"),
            3 => {
                let is_reach = problem["objective"] == "reach";
                problem["objective"] = json!(if is_reach { "survive" } else { "reach" });
                Some("objective")
            }
            4 => {
                let dimension = draw(dimensions as u64) as usize;
                match problem["dimensions"][dimension]["thresholds"].as_array_mut() {
                    Some(thresholds) if draw(3) > 0 => {
                        let place = draw(thresholds.len().max(1) as u64) as usize;
                        let threshold = thresholds.get_mut(place)?;
                        match draw(2) {
                            0 => drop(thresholds.remove(place)),
                            _ => *threshold = json!(threshold.as_f64()? + 0.5),
                        }
                        Some("thresholds")
                    }
                    _ => self.other_thresholds(dimension, draw),
                }
            }
            _ => {
                let states = problem["initial_states"].as_array_mut()?;
                let place = draw(states.len() as u64) as usize;
                match draw(2) {
                    0 if states.len() > 1 => drop(states.remove(place)),
                    _ => states.push(json!([0.0])),
                }
                Some("initial states")
            }
        }
    }

    /// Puts the word for all thresholds in the place of a list; or a list in the place of the word: that of the tree's
    /// own thresholds, or any.
    pub fn other_thresholds(
        &mut self,
        dimension: usize,
        draw: &mut dyn FnMut(u64) -> u64,
    ) -> Option<&'static str> {
        let mut list = Vec::new();
        if draw(3) > 0 {
            list_thresholds(&self.claim()["tree"], dimension, &mut list);
        }
        for _ in 0..draw(3) {
            list.push(draw(7) as f64 / 2.0);
        }
        list.sort_by(f64::total_cmp);
        list.dedup();
        let thresholds = &mut self.problem()["dimensions"][dimension]["thresholds"];
        if thresholds.is_array() {
            *thresholds = json!(ALL);
            Some("all thresholds for a list")
        } else {
            *thresholds = json!(list);
            Some("a list for all thresholds")
        }
    }

    fn damage_claim(&mut self, draw: &mut dyn FnMut(u64) -> u64) -> Option<&'static str> {
        let claim = self.claim();
        match draw(5) {
            0 => {
                nudge(&mut claim["value"], draw)?;
                if claim["claim"] == "optimal" {
                    claim["bound"] = claim["value"].clone();
                }
                Some("value")
            }
            1 => nudge(&mut claim["size"], draw).map(|()| "size"),
            2 => nudge(&mut claim["bound"], draw).map(|()| "bound"),
            3 => {
                claim["claim"] = json!(["optimal", "infeasible", "bound"][draw(3) as usize]);
                Some("kind of claim")
            }
            _ => {
                let mut tree = claim.get_mut("tree")?;
                while tree.get("feature").is_some() && draw(3) > 0 {
                    tree = &mut tree[["true", "false"][draw(2) as usize]];
                }
                match tree.get("feature") {
                    None => {
                        nudge(&mut tree["action"], draw)?;
                        Some("action of the tree")
                    }
                    Some(_) if draw(2) == 0 => {
                        let yes = tree["true"].take();
                        tree["true"] = std::mem::replace(&mut tree["false"], yes);
                        Some("children of the tree")
                    }
                    Some(_) => {
                        let threshold = tree["threshold"].as_f64()?;
                        let other = [threshold + 1.0, threshold.next_up(), threshold.next_down()];
                        tree["threshold"] = json!(other[draw(3) as usize]);
                        Some("threshold of the tree")
                    }
                }
            }
        }
    }

    fn damage_blocks(&mut self, draw: &mut dyn FnMut(u64) -> u64) -> Option<&'static str> {
        let count = self.blocks.len() as u64;
        let block = draw(count) as usize;
        match draw(4) {
            0 => {
                self.blocks.remove(block);
                Some("block left out")
            }
            1 => {
                self.blocks.swap(block, draw(count) as usize);
                Some("blocks swapped")
            }
            2 => {
                let copy = self.blocks[block].clone();
                self.blocks.insert(draw(count) as usize, copy);
                Some("block repeated")
            }
            _ => {
                let block = &mut self.blocks[block];
                block.kind = if block.kind == b'L' { b'E' } else { b'L' };
                Some("kind of block")
            }
        }
    }

    fn damage_events(&mut self, draw: &mut dyn FnMut(u64) -> u64) -> Option<&'static str> {
        let mut lists = self.event_lists();
        let list = draw(lists.len().max(1) as u64) as usize;
        let events = lists.get_mut(list)?;
        let place = draw(events.len() as u64) as usize;
        let is_reply = events[place].kind == REPLY;
        match draw(6) {
            0 => {
                events.remove(place);
                Some("event left out")
            }
            1 => {
                let other = draw(events.len() as u64) as usize;
                events.swap(place, other);
                Some("events swapped")
            }
            2 => {
                let copy = events[place].clone();
                events.insert(place, copy);
                Some("event repeated")
            }
            3 if is_reply => {
                let bit = draw(8 * events[place].observation.len() as u64);
                events[place].observation[(bit / 8) as usize] ^= 1 << (bit % 8);
                Some("bit of an observation")
            }
            4 if is_reply && !events[place].state.is_empty() => {
                let bit = draw(8 * events[place].state.len() as u64);
                events[place].state[(bit / 8) as usize] ^= 1 << (bit % 8);
                Some("bit of a state")
            }
            5 => {
                let end = events.len().min(place + 1 + draw(8) as usize);
                events.drain(place..end);
                Some("events left out")
            }
            _ => {
                let way = ["label", "back", "start", "end", "verdict"][events[place].kind as usize];
                events[place].argument ^= 1 + draw(2);
                Some(way)
            }
        }
    }
}

/// Adds the thresholds of a tree in a dimension.
fn list_thresholds(tree: &Value, dimension: usize, list: &mut Vec<f64>) {
    if tree["feature"] == dimension {
        // -0 is 0, and a list has it once.
        list.extend(tree["threshold"].as_f64().map(|threshold| threshold + 0.0));
    }
    for side in ["true", "false"].iter().filter_map(|side| tree.get(side)) {
        list_thresholds(side, dimension, list);
    }
}

/// One more or one less.
fn nudge(number: &mut Value, draw: &mut dyn FnMut(u64) -> u64) -> Option<()> {
    let value = number.as_u64()?;
    *number = json!(if draw(2) == 0 { value + 1 } else { value.checked_sub(1)? });
    Some(())
}

impl Event {
    /// An event without data behind it.
    pub fn new(kind: u64, argument: u64) -> Self {
        Event { kind, argument, observation: Vec::new(), state: Vec::new() }
    }

    /// The observation behind a reply.
    pub fn values(&self) -> Vec<f64> {
        let value = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().unwrap_or_default());
        self.observation.chunks(8).map(value).collect()
    }

    /// Goes where the event leads.
    fn walk(&self, path: &mut Vec<u64>) {
        match self.kind {
            LABEL => path.push(self.argument),
            BACK => path.truncate(path.len() - self.argument as usize),
            _ => {}
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        push_number(&mut bytes, self.argument << 3 | self.kind);
        if self.kind == REPLY {
            bytes.extend(&self.observation);
            push_number(&mut bytes, self.state.len() as u64);
            bytes.extend(&self.state);
        }
        bytes
    }
}

fn events(mut bytes: &[u8], dimensions: usize) -> Vec<Event> {
    let mut events = Vec::new();
    while !bytes.is_empty() {
        let number = number(&mut bytes);
        let (kind, argument) = (number & 7, number >> 3);
        let mut event = Event::new(kind, argument);
        if kind == REPLY {
            let (observation, rest) = bytes.split_at(8 * dimensions);
            bytes = rest;
            let length = self::number(&mut bytes) as usize;
            let (state, rest) = bytes.split_at(length);
            bytes = rest;
            (event.observation, event.state) = (observation.to_vec(), state.to_vec());
        }
        events.push(event);
    }
    events
}

fn number(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    value
}

fn push_number(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Compresses bytes as a block has them.
///
/// # Panics
/// Never: memory can be written to.
pub fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory can be written to");
    encoder.finish().expect("memory can be written to")
}

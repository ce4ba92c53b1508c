//! The evidence: behaviours as a tree, in which a node is a behaviour and its children have one label more.

use crate::{Unreadable, Verdict};

/// The behaviour without any label.
pub(crate) const ROOT: u32 = 0;
const NONE: u32 = u32::MAX;

/// What ended a behaviour in the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Violated,
    Bound,
    Complete,
}

#[derive(Clone, Copy)]
struct Node {
    label: u16,
    end: Option<End>,
    child: u32,
    sibling: u32,
    first: u32,
    last: u32,
}

/// What happened between two labels: a trace was started, or the system answered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    Start(u32),
    /// The observation is given by its index, the state by its place.
    Reply {
        verdict: Verdict,
        observation: u32,
        state: std::ops::Range<usize>,
    },
}

#[derive(Default)]
pub(crate) struct Record {
    dimensions: usize,
    nodes: Vec<Node>,
    /// The items of a node are a list: each with the next one.
    items: Vec<(Item, u32)>,
    observations: Vec<f64>,
    states: Vec<u8>,
    /// How much memory it may take.
    limit: usize,
}

/// What events may say.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    pub(crate) actions: u64,
    pub(crate) initial_states: u64,
    pub(crate) has_replies: bool,
}

impl Record {
    pub(crate) fn new(dimensions: usize, limit: usize) -> Self {
        let mut record = Record { dimensions, limit, ..Record::default() };
        record.nodes.push(Node { label: 0, end: None, child: NONE, sibling: NONE, first: NONE, last: NONE });
        record
    }

    /// Adds the events of a block, which begin without any label.
    pub(crate) fn read(&mut self, mut events: &[u8], rules: Rules) -> Result<(), Unreadable> {
        let mut path = vec![ROOT];
        while !events.is_empty() {
            let number = number(&mut events)?;
            let node = path.last().copied().unwrap_or(ROOT);
            match (number & 7, number >> 3) {
                (0, label) if label < rules.actions => path.push(self.child_or_new(node, label as u16)?),
                (1, count) if count < path.len() as u64 => path.truncate(path.len() - count as usize),
                (2, initial) if initial < rules.initial_states => {
                    self.push(node, Item::Start(initial as u32))?;
                }
                (3, end @ 0..=2) => {
                    let end = [End::Violated, End::Bound, End::Complete][end as usize];
                    self.nodes[node as usize].end = Some(end);
                }
                (4, verdict @ 0..=2) if rules.has_replies => {
                    let verdict = [Verdict::Running, Verdict::Satisfied, Verdict::Violated][verdict as usize];
                    let reply = self.reply(&mut events, verdict)?;
                    self.push(node, reply)?;
                }
                _ => return Err(damaged("an event makes no sense")),
            }
        }
        Ok(())
    }

    fn reply(&mut self, events: &mut &[u8], verdict: Verdict) -> Result<Item, Unreadable> {
        let observation = index(self.observations.len() / self.dimensions)?;
        for _ in 0..self.dimensions {
            let (bytes, rest) =
                events.split_first_chunk().ok_or_else(|| damaged("an answer is cut short"))?;
            *events = rest;
            let value = f64::from_bits(u64::from_le_bytes(*bytes));
            if value.is_nan() {
                return Err(damaged("an observation is not a number"));
            }
            self.observations.push(value);
        }
        let length = usize::try_from(number(events)?).ok().filter(|length| *length <= events.len());
        let (state, rest) = events.split_at(length.ok_or_else(|| damaged("a state is cut short"))?);
        *events = rest;
        let start = self.states.len();
        self.states.extend_from_slice(state);
        Ok(Item::Reply { verdict, observation, state: start..self.states.len() })
    }

    fn child_or_new(&mut self, node: u32, label: u16) -> Result<u32, Unreadable> {
        if let Some(child) = self.child(node, label) {
            return Ok(child);
        }
        let child = index(self.nodes.len())?;
        let sibling = std::mem::replace(&mut self.nodes[node as usize].child, child);
        self.nodes.push(Node { label, end: None, child: NONE, sibling, first: NONE, last: NONE });
        self.check_memory().map(|()| child)
    }

    fn push(&mut self, node: u32, item: Item) -> Result<(), Unreadable> {
        let place = index(self.items.len())?;
        let node = &mut self.nodes[node as usize];
        if node.last == NONE {
            node.first = place;
        } else {
            self.items[node.last as usize].1 = place;
        }
        node.last = place;
        self.items.push((item, NONE));
        self.check_memory()
    }

    fn check_memory(&self) -> Result<(), Unreadable> {
        let taken = self.nodes.len() * size_of::<Node>()
            + self.items.len() * size_of::<(Item, u32)>()
            + self.observations.len() * size_of::<f64>()
            + self.states.len();
        if taken <= self.limit { Ok(()) } else { Err(Unreadable::TooLarge(self.limit)) }
    }

    /// The behaviour with this label more, if it is there.
    pub(crate) fn child(&self, node: u32, label: u16) -> Option<u32> {
        let mut child = self.nodes[node as usize].child;
        while child != NONE && self.nodes[child as usize].label != label {
            child = self.nodes[child as usize].sibling;
        }
        (child != NONE).then_some(child)
    }

    pub(crate) fn end(&self, node: u32) -> Option<End> {
        self.nodes[node as usize].end
    }

    /// The place of the first item of a node.
    pub(crate) fn first(&self, node: u32) -> u32 {
        self.nodes[node as usize].first
    }

    /// The item at a place, and the place of the next one.
    pub(crate) fn item(&self, place: u32) -> Option<(&Item, u32)> {
        self.items.get(place as usize).map(|(item, next)| (item, *next))
    }

    pub(crate) fn observation(&self, index: u32) -> &[f64] {
        &self.observations[index as usize * self.dimensions..][..self.dimensions]
    }

    pub(crate) fn state(&self, place: std::ops::Range<usize>) -> &[u8] {
        &self.states[place]
    }

    /// How many behaviours there are, with and without an end.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }
}

/// Reads a number: seven bits a byte, the lowest first; the highest bit says that more follow.
fn number(events: &mut &[u8]) -> Result<u64, Unreadable> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = events.split_first().ok_or_else(|| damaged("a number is cut short"))?;
        *events = rest;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            break;
        }
        value |= bits << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(damaged("a number is too large"))
}

fn index(length: usize) -> Result<u32, Unreadable> {
    u32::try_from(length).ok().filter(|index| *index != NONE).ok_or(Unreadable::TooLarge(NONE as usize))
}

fn damaged(what: &str) -> Unreadable {
    Unreadable::Damaged(what.to_owned())
}

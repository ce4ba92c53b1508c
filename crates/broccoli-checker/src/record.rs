//! The evidence: behaviours as a tree, in which a node is a behaviour and its children have one label more.

use crate::limits::{Meter, SIBLING, TooMuch};
use crate::{Unreadable, Verdict};

/// The behaviour without any label.
pub(crate) const ROOT: u32 = 0;
/// A node of its own, for the traces of the tree.
pub(crate) const TRACES: u32 = 1;
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
    /// The action that was applied; in the traces of the tree only, elsewhere the labels tell it.
    Step(u16),
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
}

/// The verdicts by their numbers.
const VERDICTS: [Verdict; 3] = [Verdict::Running, Verdict::Satisfied, Verdict::Violated];

/// What events may say.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    pub(crate) actions: u64,
    pub(crate) initial_states: u64,
    pub(crate) has_replies: bool,
}

impl Record {
    pub(crate) fn new(dimensions: usize) -> Self {
        let mut record = Record { dimensions, ..Record::default() };
        let node = Node { label: 0, end: None, child: NONE, sibling: NONE, first: NONE, last: NONE };
        record.nodes.extend([node; 2]);
        record
    }

    /// Adds the events of a block, which begin without any label.
    pub(crate) fn read(
        &mut self,
        mut events: &[u8],
        rules: Rules,
        meter: &mut Meter,
    ) -> Result<(), Unreadable> {
        let beside = events.len();
        let mut path = vec![ROOT];
        while !events.is_empty() {
            meter.spend(1)?;
            meter.holds(beside + path.len() * 2 * size_of::<u32>() + self.taken())?;
            let number = number(&mut events)?;
            let node = path.last().copied().unwrap_or(ROOT);
            match (number & 7, number >> 3) {
                (0, label) if label < rules.actions => {
                    path.push(self.child_or_new(node, label as u16, meter)?);
                }
                (1, count) if count < path.len() as u64 => path.truncate(path.len() - count as usize),
                (2, initial) if initial < rules.initial_states => {
                    self.push(node, Item::Start(initial as u32))?;
                }
                (3, end @ 0..=2) => {
                    let end = [End::Violated, End::Bound, End::Complete][end as usize];
                    self.nodes[node as usize].end = Some(end);
                }
                (4, verdict @ 0..=2) if rules.has_replies => {
                    let reply = self.reply(&mut events, VERDICTS[verdict as usize])?;
                    self.push(node, reply)?;
                }
                _ => return Err(damaged("an event makes no sense")),
            }
        }
        Ok(())
    }

    /// Adds the events of the tree's traces.
    pub(crate) fn read_traces(
        &mut self,
        mut events: &[u8],
        rules: Rules,
        meter: &mut Meter,
    ) -> Result<(), Unreadable> {
        let beside = events.len();
        while !events.is_empty() {
            meter.spend(1)?;
            meter.holds(beside + self.taken())?;
            let number = number(&mut events)?;
            let item = match (number & 7, number >> 3) {
                (0, action) if action < rules.actions => Item::Step(action as u16),
                (2, initial) if initial < rules.initial_states => Item::Start(initial as u32),
                (4, verdict @ 0..=2) => self.reply(&mut events, VERDICTS[verdict as usize])?,
                _ => return Err(damaged("an event of the tree's traces makes no sense")),
            };
            self.push(TRACES, item)?;
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

    fn child_or_new(&mut self, node: u32, label: u16, meter: &mut Meter) -> Result<u32, Unreadable> {
        for (child, known) in self.children(node) {
            if known == label {
                return Ok(child);
            }
            meter.spend(SIBLING)?;
        }
        let child = index(self.nodes.len())?;
        let sibling = std::mem::replace(&mut self.nodes[node as usize].child, child);
        self.nodes.push(Node { label, end: None, child: NONE, sibling, first: NONE, last: NONE });
        Ok(child)
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
        Ok(())
    }

    /// The bytes that it takes. A list may have room for twice as much as is in it.
    pub(crate) fn taken(&self) -> usize {
        2 * (self.nodes.len() * size_of::<Node>()
            + self.items.len() * size_of::<(Item, u32)>()
            + self.observations.len() * size_of::<f64>()
            + self.states.len())
    }

    /// The behaviours with one label more, and these labels.
    pub(crate) fn children(&self, node: u32) -> impl Iterator<Item = (u32, u16)> {
        let mut next = self.nodes[node as usize].child;
        std::iter::from_fn(move || {
            let child = self.nodes.get(next as usize)?;
            Some((std::mem::replace(&mut next, child.sibling), child.label))
        })
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

    /// Whether the answers at two places are the same, bit for bit.
    pub(crate) fn is_same_answer(&self, a: u32, b: u32) -> bool {
        let answer = |place| match self.item(place) {
            Some((Item::Reply { verdict, observation, .. }, _)) => {
                Some((*verdict, self.observation(*observation).iter().map(|value| value.to_bits())))
            }
            _ => None,
        };
        match (answer(a), answer(b)) {
            (Some((verdict, seen)), Some((other, also))) => verdict == other && seen.eq(also),
            _ => false,
        }
    }

    pub(crate) fn state(&self, place: std::ops::Range<usize>) -> &[u8] {
        &self.states[place]
    }

    /// How many behaviours there are, with and without an end.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len() - 1
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
    u32::try_from(length)
        .ok()
        .filter(|index| *index != NONE)
        .ok_or(Unreadable::TooMuch(TooMuch::Memory(NONE as usize)))
}

fn damaged(what: &str) -> Unreadable {
    Unreadable::Damaged(what.to_owned())
}

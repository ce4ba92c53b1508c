//! Traces remembered, so that a later one that begins alike need not be run again.
//!
//! With several initial states a trace is run once for each behaviour that the traces before it have led to, and
//! most of these behaviours differ in cells that it never comes to. What a trace does depends on the labels of its
//! cells alone. So per initial state a tree is kept: its nodes are the places where a trace came to a cell for the
//! first time, was stopped, or ended, and which one comes next is a matter of the label. Between two nodes the trace
//! is forced, however long that takes.
//!
//! The tasks of a chunk read one [`Trie`], which does not change meanwhile. What each of them adds is kept apart and
//! comes to the trie when the chunk is folded.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::places::Places;
use super::walk::Position;
use crate::problem::{Problem, Verdict};

/// Index of a node. Those that a task adds follow on those of the trie.
pub(super) type Node = u32;
const NONE: Node = Node::MAX;

/// Where a trace came to a new cell, or was stopped, or ended.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Record {
    steps: u64,
    /// What its rewards sum up to.
    #[serde(with = "super::leaves::bits")]
    total: f64,
    verdict: Verdict,
    /// The node before it, and the action that leads from there to it; or none, and its initial state.
    parent: Node,
    after: u32,
}

/// Remembered traces.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Trie {
    dimensions: usize,
    actions: usize,
    records: Vec<Record>,
    cells: Vec<u16>,
    /// Per initial state its first node; and per node and action, the next one.
    roots: Vec<Node>,
    next: Vec<Node>,
    /// The states of the system there.
    #[serde(skip)]
    places: Places,
}

impl Trie {
    pub(super) fn new(problem: &Problem) -> Self {
        Trie {
            dimensions: problem.dimensions().len(),
            actions: problem.actions().len(),
            roots: vec![NONE; problem.initial_states().len()],
            ..Trie::default()
        }
    }

    /// An empty one of the same problem.
    fn empty(&self) -> Self {
        Trie {
            dimensions: self.dimensions,
            actions: self.actions,
            roots: vec![NONE; self.roots.len()],
            ..Trie::default()
        }
    }

    /// What it takes in memory, without its places.
    fn bytes(&self) -> usize {
        self.records.len() * size_of::<Record>() + 2 * self.cells.len() + size_of::<Node>() * self.next.len()
    }

    fn len(&self) -> Node {
        self.records.len() as Node
    }

    fn cell(&self, node: Node) -> &[u16] {
        &self.cells[node as usize * self.dimensions..][..self.dimensions]
    }

    fn link(&mut self, parent: Node, after: u32) -> &mut Node {
        match parent {
            NONE => &mut self.roots[after as usize],
            parent => &mut self.next[parent as usize * self.actions + after as usize],
        }
    }

    fn push(&mut self, record: Record, cell: &[u16]) {
        self.records.push(record);
        self.cells.extend_from_slice(cell);
        self.next.extend(std::iter::repeat_n(NONE, self.actions));
    }

    /// Adds what a task has found out. Another task may have found out the same.
    pub(super) fn add(&mut self, added: &Added) {
        let first = added.first;
        let mut numbers: Vec<Node> = Vec::with_capacity(added.own.records.len());
        for (index, record) in added.own.records.iter().enumerate() {
            let parent = match record.parent {
                NONE => NONE,
                parent if parent < first => parent,
                parent => numbers[(parent - first) as usize],
            };
            let number = self.len();
            let link = self.link(parent, record.after);
            if *link == NONE {
                *link = number;
                self.push(Record { parent, ..*record }, added.own.cell(index as Node));
                self.places.push(added.own.places.state(index as u32));
                numbers.push(number);
            } else {
                numbers.push(*link);
            }
        }
    }

    /// The places are not known any more.
    pub(super) fn forget_places(&mut self) {
        self.places = Places::default();
    }

    /// Whether it can be one of this problem.
    pub(super) fn is_of(&self, problem: &Problem) -> bool {
        let (records, initials) = (self.records.len(), problem.initial_states().len());
        let is_node = |node: &Node| *node == NONE || (*node as usize) < records;
        let is_record = |(index, record): (usize, &Record)| {
            let link = match record.parent {
                NONE => self.roots.get(record.after as usize),
                parent if (parent as usize) < index && (record.after as usize) < self.actions => {
                    self.next.get(parent as usize * self.actions + record.after as usize)
                }
                _ => None,
            };
            link == Some(&(index as Node)) && record.steps <= problem.objective().horizon()
        };
        let thresholds = problem.dimensions().iter().map(|dimension| dimension.thresholds.len());
        (self.dimensions, self.actions) == (problem.dimensions().len(), problem.actions().len())
            && self.roots.len() == initials
            && self.cells.len() == records * self.dimensions
            && self.next.len() == records * self.actions
            && self.roots.iter().chain(&self.next).all(is_node)
            && self.cells.iter().zip(thresholds.cycle()).all(|(&rank, most)| usize::from(rank) <= most)
            && self.records.iter().enumerate().all(is_record)
    }
}

/// What a task adds to a trie.
#[derive(Clone, Debug, Default)]
pub(super) struct Added {
    own: Trie,
    /// The number of its first node.
    first: Node,
    /// What comes after nodes of the trie.
    links: BTreeMap<(Node, u32), Node>,
}

impl Added {
    /// The places are not known any more.
    pub(super) fn forget_places(&mut self) {
        self.own.forget_places();
    }
}

/// Where the next node of the trace that is being run belongs.
#[derive(Clone, Copy, Debug)]
enum Pen {
    /// Nothing is written down.
    Up,
    /// It comes after this node and action; or it is the first one of an initial state.
    After(Node, u32),
}

/// A trie with what a task adds to it.
#[derive(Debug)]
pub(super) struct Recall {
    trie: Arc<Trie>,
    added: Added,
    most_bytes: usize,
    pen: Pen,
    /// Which of the labelled cells the present trace has seen; and those, in a list.
    is_seen: Vec<bool>,
    seen: Vec<u32>,
    is_full: bool,
    wants_place: bool,
}

impl Recall {
    /// One that remembers nothing, until a task [begins](Recall::begin).
    pub(super) fn new() -> Self {
        Recall {
            trie: Arc::default(),
            added: Added::default(),
            most_bytes: 0,
            pen: Pen::Up,
            is_seen: Vec::new(),
            seen: Vec::new(),
            is_full: true,
            wants_place: false,
        }
    }

    /// Begins a task, or goes on with one that has added something before. Up to so many bytes are remembered in all.
    pub(super) fn begin(&mut self, trie: Arc<Trie>, added: Option<Added>, most_bytes: usize) {
        self.stop();
        let first = trie.len();
        self.added = added.unwrap_or_else(|| Added { own: trie.empty(), first, links: BTreeMap::new() });
        self.is_full = trie.bytes() + self.added.own.bytes() >= most_bytes;
        (self.trie, self.most_bytes) = (trie, most_bytes);
    }

    /// What the task has added.
    pub(super) fn end(&mut self) -> Added {
        self.stop();
        self.is_full = true;
        self.trie = Arc::default();
        std::mem::take(&mut self.added)
    }

    /// Whether the place where the system is now is to be kept; says so once.
    #[inline]
    pub(super) fn wants_place(&mut self) -> bool {
        std::mem::take(&mut self.wants_place)
    }

    /// Keeps the place of the last node that was added. If places take too much memory it is not saved, and the way
    /// there is to act as the labels say: what is remembered does not depend on how large the states of a system are.
    pub(super) fn keep_place<E>(&mut self, save: impl FnOnce(&mut Places) -> Result<(), E>) -> Result<(), E> {
        let places = &mut self.added.own.places;
        if self.trie.places.bytes() + places.bytes() > self.most_bytes {
            places.push(&[]);
        } else {
            save(places)?;
        }
        if self.trie.bytes() + self.added.own.bytes() > self.most_bytes {
            self.is_full = true;
            self.stop();
        }
        Ok(())
    }

    /// Where a node lies, and its number there.
    #[inline]
    fn part(&self, node: Node) -> (&Trie, Node) {
        match node.checked_sub(self.added.first) {
            Some(own) => (&self.added.own, own),
            None => (&*self.trie, node),
        }
    }

    fn record(&self, node: Node) -> &Record {
        let (part, node) = self.part(node);
        &part.records[node as usize]
    }

    pub(super) fn root(&self, initial: usize) -> Option<Node> {
        let known = |trie: &Trie| trie.roots.get(initial).copied().filter(|&node| node != NONE);
        known(&self.trie).or_else(|| known(&self.added.own))
    }

    pub(super) fn steps(&self, node: Node) -> u64 {
        self.record(node).steps
    }

    pub(super) fn total(&self, node: Node) -> f64 {
        self.record(node).total
    }

    pub(super) fn verdict(&self, node: Node) -> Verdict {
        self.record(node).verdict
    }

    pub(super) fn cell(&self, node: Node) -> &[u16] {
        let (part, node) = self.part(node);
        part.cell(node)
    }

    /// The state of the system in a node; empty if the way there is to act as the labels say.
    pub(super) fn state(&self, node: Node) -> &[u8] {
        let (part, node) = self.part(node);
        part.places.state(node)
    }

    /// The node that comes before.
    pub(super) fn parent(&self, node: Node) -> Option<Node> {
        Some(self.record(node).parent).filter(|&node| node != NONE)
    }

    /// The node that comes after an action, if it is known.
    pub(super) fn next(&self, node: Node, action: usize) -> Option<Node> {
        let (part, own) = self.part(node);
        let next = part.next[own as usize * part.actions + action];
        match next {
            NONE if node < self.added.first => self.added.links.get(&(node, action as u32)).copied(),
            next => Some(next).filter(|&next| next != NONE),
        }
    }

    /// A trace from this initial state is about to be run; it is written down unless its start is known.
    pub(super) fn start(&mut self, initial: usize) {
        if !self.is_full && self.root(initial).is_none() {
            self.pen = Pen::After(NONE, initial as u32);
        }
    }

    /// The trace is about to be run from this node on; it is written down unless that is known.
    pub(super) fn go_on(&mut self, node: Node, action: usize) {
        if !self.is_full && self.next(node, action).is_none() {
            self.pen = Pen::After(node, action as u32);
        }
    }

    /// The trace is not written down from here.
    #[inline]
    pub(super) fn stop(&mut self) {
        self.pen = Pen::Up;
        for index in self.seen.drain(..) {
            self.is_seen[index as usize] = false;
        }
    }

    /// Whether the trace is written down.
    #[inline]
    pub(super) fn is_writing(&self) -> bool {
        !matches!(self.pen, Pen::Up)
    }

    /// The trace has come to a labelled cell; says whether for the first time.
    pub(super) fn see(&mut self, index: u32) -> bool {
        if self.is_seen.len() <= index as usize {
            self.is_seen.resize(index as usize + 1, false);
        }
        let is_new = !std::mem::replace(&mut self.is_seen[index as usize], true);
        if is_new {
            self.seen.push(index);
        }
        is_new
    }

    /// The trace is here: a new node, if the trace is written down. Unless the trace was stopped or has ended, the
    /// next one comes after this action.
    pub(super) fn write(
        &mut self,
        at: Position,
        verdict: Verdict,
        cell: &[u16],
        action: Option<usize>,
    ) -> Option<Node> {
        let Pen::After(parent, after) = std::mem::replace(&mut self.pen, Pen::Up) else { return None };
        let first = self.added.first;
        let node = first + self.added.own.len();
        match parent.checked_sub(first) {
            Some(own) if parent != NONE => *self.added.own.link(own, after) = node,
            None => {
                self.added.links.insert((parent, after), node);
            }
            Some(_) => *self.added.own.link(NONE, after) = node,
        }
        self.added.own.push(Record { steps: at.steps, total: at.total, verdict, parent, after }, cell);
        if verdict == Verdict::Running {
            self.wants_place = true;
        } else {
            self.added.own.places.push(&[]);
        }
        if let Some(action) = action {
            self.pen = Pen::After(node, action as u32);
        }
        Some(node)
    }
}

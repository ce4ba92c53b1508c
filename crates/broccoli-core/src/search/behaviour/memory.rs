//! Traces remembered, so that a later one that begins alike need not be run again.
//!
//! With several initial states a trace is run once for each behaviour that the traces before it have led
//! to, and most of these behaviours differ in cells that it never comes to. What a trace does depends on
//! the labels of its cells alone. So per initial state a tree is kept: its nodes are the places where a
//! trace came to a cell for the first time, or was stopped, and which one comes next is a matter of the
//! label. Between two nodes the trace is forced, however long that takes.

use super::walk::Position;
use crate::problem::Verdict;

/// Index of a node.
pub(super) type Node = u32;
const NONE: Node = Node::MAX;

/// Where a trace came to a new cell, or was stopped, or ended.
#[derive(Clone, Copy, Debug)]
struct Record {
    steps: u64,
    /// What its rewards sum up to, as the walk keeps it.
    total: u64,
    verdict: Verdict,
    /// The node before it.
    parent: Node,
    /// The number of its place; of no interest if the trace has ended.
    place: u32,
}

/// Where the next node of the trace that is being run belongs.
#[derive(Clone, Copy, Debug)]
enum Pen {
    /// Nothing is written down.
    Up,
    /// It is the first one of an initial state.
    Root(usize),
    /// It comes after this action in this node.
    After(Node, usize),
}

#[derive(Debug)]
pub(super) struct Memory {
    dimensions: usize,
    actions: usize,
    /// Per initial state.
    roots: Vec<Node>,
    records: Vec<Record>,
    /// Their cells, and per action the nodes that come next.
    cells: Vec<u16>,
    next: Vec<Node>,
    places: u32,
    pen: Pen,
    /// Which of the labelled cells the present trace has seen; and those, in a list.
    is_seen: Vec<bool>,
    seen: Vec<u32>,
    is_full: bool,
    wants_place: bool,
}

impl Memory {
    pub(super) fn new(dimensions: usize, actions: usize, initials: usize) -> Self {
        Memory {
            dimensions,
            actions,
            roots: vec![NONE; initials],
            records: Vec::new(),
            cells: Vec::new(),
            next: Vec::new(),
            places: 0,
            pen: Pen::Up,
            is_seen: Vec::new(),
            seen: Vec::new(),
            is_full: false,
            wants_place: false,
        }
    }

    /// What it takes, without its places.
    pub(super) fn bytes(&self) -> usize {
        self.records.len() * size_of::<Record>() + 2 * self.cells.len() + size_of::<Node>() * self.next.len()
    }

    /// Nothing more is remembered than what is there.
    pub(super) fn close(&mut self) {
        self.is_full = true;
        self.stop();
    }

    /// Whether the place where the system is now is to be kept as the next one; says so once.
    #[inline]
    pub(super) fn wants_place(&mut self) -> bool {
        std::mem::take(&mut self.wants_place)
    }

    pub(super) fn root(&self, initial: usize) -> Option<Node> {
        Some(self.roots[initial]).filter(|&node| node != NONE)
    }

    pub(super) fn steps(&self, node: Node) -> u64 {
        self.records[node as usize].steps
    }

    pub(super) fn total(&self, node: Node) -> u64 {
        self.records[node as usize].total
    }

    pub(super) fn verdict(&self, node: Node) -> Verdict {
        self.records[node as usize].verdict
    }

    pub(super) fn place(&self, node: Node) -> u32 {
        self.records[node as usize].place
    }

    pub(super) fn cell(&self, node: Node) -> &[u16] {
        &self.cells[node as usize * self.dimensions..][..self.dimensions]
    }

    /// The node that comes before.
    pub(super) fn parent(&self, node: Node) -> Option<Node> {
        Some(self.records[node as usize].parent).filter(|&node| node != NONE)
    }

    /// The node that comes after an action, if it is known.
    pub(super) fn next(&self, node: Node, action: usize) -> Option<Node> {
        Some(self.next[node as usize * self.actions + action]).filter(|&node| node != NONE)
    }

    /// A trace from this initial state is about to be run; it is written down unless its start is known.
    pub(super) fn start(&mut self, initial: usize) {
        if !self.is_full && self.roots[initial] == NONE {
            self.pen = Pen::Root(initial);
        }
    }

    /// The trace is about to be run from this node on; it is written down unless that is known.
    pub(super) fn go_on(&mut self, node: Node, action: usize) {
        if !self.is_full && self.next(node, action).is_none() {
            self.pen = Pen::After(node, action);
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

    /// The trace is here: a new node, if the trace is written down. Unless the trace was
    /// stopped or has ended, the next one comes after this action.
    pub(super) fn write(
        &mut self,
        at: Position,
        verdict: Verdict,
        cell: &[u16],
        action: Option<usize>,
    ) -> Option<Node> {
        let (parent, link) = match std::mem::replace(&mut self.pen, Pen::Up) {
            Pen::Up => return None,
            Pen::Root(initial) => (NONE, &mut self.roots[initial]),
            Pen::After(node, action) => (node, &mut self.next[node as usize * self.actions + action]),
        };
        debug_assert_eq!(*link, NONE, "what is remembered is not run again to be written down");
        let node = self.records.len() as Node;
        *link = node;
        self.records.push(Record { steps: at.steps, total: at.worst, verdict, parent, place: self.places });
        self.cells.extend_from_slice(cell);
        self.next.extend(std::iter::repeat_n(NONE, self.actions));
        if verdict == Verdict::Running {
            self.places += 1;
            self.wants_place = true;
        }
        if let Some(action) = action {
            self.pen = Pen::After(node, action);
        }
        Some(node)
    }
}

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

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::places::Places;
use super::realise::are_cells;
use super::walk::Position;
use crate::problem::{Instance, Problem, Rank, RunError, Verdict};
use crate::search::sample::Stop;

/// Number of an initial state, or of a node: the nodes of a trie come after the initial states, and those that a task
/// adds come after the nodes of the trie.
pub(super) type Node = u32;
const NONE: Node = Node::MAX;

/// Where a trace came to a new cell, or was stopped, or ended.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) steps: u64,
    /// What its rewards sum up to.
    #[serde(with = "super::leaves::bits")]
    pub(super) total: f64,
    pub(super) verdict: Verdict,
    /// The node before it, and the action that leads from there to it; or its initial state, and 0.
    parent: Node,
    after: u32,
}

/// Remembered traces: those of all tasks that were folded, or what a task adds to them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::search) struct Trie {
    dimensions: usize,
    actions: usize,
    /// The number of its first node.
    first: Node,
    records: Vec<Record>,
    cells: Vec<Rank>,
    /// Per node and action, the next node; and what comes after those before its first node.
    #[serde(skip)]
    next: Vec<Node>,
    #[serde(skip)]
    links: BTreeMap<(Node, u32), Node>,
    /// The states of the system there.
    #[serde(skip)]
    places: Places,
}

impl Trie {
    pub(super) fn new(problem: &Problem) -> Self {
        let (dimensions, actions) = (problem.dimensions().len(), problem.actions().len());
        Trie { dimensions, actions, first: problem.initial_states().len() as Node, ..Trie::default() }
    }

    /// Nothing is remembered any more. No new node has the number of an old one.
    pub(super) fn forget(&mut self) {
        let Trie { dimensions, actions, .. } = *self;
        *self = Trie { dimensions, actions, first: self.end(), ..Trie::default() };
    }

    /// Whether there are numbers for many more nodes.
    fn has_numbers(&self) -> bool {
        self.end() < NONE / 2
    }

    /// What it takes in memory, without its places.
    pub(super) fn bytes(&self) -> usize {
        self.records.len() * size_of::<Record>()
            + size_of::<Rank>() * self.cells.len()
            + size_of::<Node>() * self.next.len()
    }

    /// The number after that of its last node.
    fn end(&self) -> Node {
        self.first + self.records.len() as Node
    }

    /// The cells of up to so many of its nodes, evenly spread.
    pub(super) fn some_cells(&self, most: usize) -> impl Iterator<Item = &[Rank]> {
        let (count, chosen) = (self.records.len(), self.records.len().min(most));
        (0..chosen).map(move |index| self.cell(self.first + (index * count / chosen) as Node))
    }

    fn cell(&self, node: Node) -> &[Rank] {
        &self.cells[(node - self.first) as usize * self.dimensions..][..self.dimensions]
    }

    /// The node that comes after a node and an action, if it is known here.
    fn next(&self, node: Node, action: u32) -> Option<Node> {
        let next = match node.checked_sub(self.first) {
            Some(own) => self.next.get(own as usize * self.actions + action as usize),
            None => self.links.get(&(node, action)),
        };
        next.copied().filter(|&next| next != NONE)
    }

    /// Adds a node, but not its place.
    fn push(&mut self, record: Record, cell: &[Rank]) -> Node {
        let Record { parent, after, .. } = record;
        let node = self.end();
        match parent.checked_sub(self.first) {
            Some(own) => self.next[own as usize * self.actions + after as usize] = node,
            None => _ = self.links.insert((parent, after), node),
        }
        self.records.push(record);
        self.cells.extend_from_slice(cell);
        self.next.extend(std::iter::repeat_n(NONE, self.actions));
        node
    }

    /// Adds what a task has found out. Another task may have found out the same; or it has stopped elsewhere on the same
    /// way, and then what this one has found out from there on is left out.
    pub(super) fn add(&mut self, added: &Trie) {
        let mut numbers: Vec<Option<Node>> = Vec::with_capacity(added.records.len());
        for (index, record) in (0..).zip(&added.records) {
            let own = record.parent.checked_sub(added.first);
            let parent = own.map_or(Some(record.parent), |own| numbers[own as usize]);
            numbers.push(parent.and_then(|parent| match self.next(parent, record.after) {
                Some(known) => Some(known).filter(|&known| self.record(known).steps == record.steps),
                None => {
                    self.places.push(added.places.state(index));
                    Some(self.push(Record { parent, ..*record }, added.cell(added.first + index)))
                }
            }));
        }
    }

    fn record(&self, node: Node) -> &Record {
        &self.records[(node - self.first) as usize]
    }

    /// The traces, those first that were added last: the initial state, and the places where it came to something new.
    pub(in crate::search) fn traces(&self) -> impl Iterator<Item = (usize, Vec<Stop<'_>>)> {
        let own = |node: Node| node.checked_sub(self.first).map(|own| own as usize);
        let mut goes_on = vec![false; self.records.len()];
        self.records.iter().filter_map(|record| own(record.parent)).for_each(|parent| goes_on[parent] = true);
        let last = (0..self.records.len()).rev().filter(move |&index| !goes_on[index]);
        last.map(move |last| {
            let (mut node, mut action, mut stops) = (self.first + last as Node, None, Vec::new());
            loop {
                let Record { steps, verdict, parent, after, .. } = *self.record(node);
                stops.push(Stop { steps, verdict, cell: self.cell(node), action });
                if own(parent).is_none() {
                    stops.reverse();
                    return (parent as usize, stops);
                }
                (node, action) = (parent, Some(after as u16));
            }
        })
    }

    /// The places are not known any more.
    pub(super) fn forget_places(&mut self) {
        self.places = Places::unsaved(self.records.len());
    }

    /// Whether what was read can be of this problem. If so, all that was not written down is there again but the places.
    pub(super) fn restore(&mut self, problem: &Problem) -> bool {
        let Trie { first, records, cells, .. } = std::mem::replace(self, Trie::new(problem));
        let initials = self.first;
        if first < initials || first >= NONE / 2 || !are_cells(&cells, records.len(), problem) {
            return false;
        }
        self.first = first;
        for (record, cell) in records.into_iter().zip(cells.chunks(self.dimensions)) {
            let is_new = (record.parent < initials || (first..self.end()).contains(&record.parent))
                && (record.after as usize) < self.actions
                && self.next(record.parent, record.after).is_none();
            if !is_new || record.steps > problem.objective().horizon() {
                return false;
            }
            self.push(record, cell);
        }
        self.forget_places();
        true
    }
}

/// Traces that are run before the search begins, to be remembered.
pub(in crate::search) struct KnownTraces<'p> {
    problem: &'p Problem,
    trie: Trie,
    /// Where the next node belongs, and the cells that the trace has come to.
    pen: (Node, u32),
    seen: BTreeSet<Vec<Rank>>,
}

impl<'p> KnownTraces<'p> {
    pub(in crate::search) fn new(problem: &'p Problem) -> Self {
        KnownTraces { problem, trie: Trie::new(problem), pen: (NONE, 0), seen: BTreeSet::new() }
    }

    /// The trace from this initial state begins.
    pub(in crate::search) fn begin(&mut self, initial: usize) {
        self.pen = (initial as Node, 0);
        self.seen.clear();
    }

    /// The trace is here, and takes this action, or ends. (Sums of rewards are another matter: see [`Tally`]. They are not
    /// remembered.)
    ///
    /// [`Tally`]: crate::problem::measure::Tally
    pub(in crate::search) fn tell(
        &mut self,
        instance: &mut Instance<'_>,
        verdict: Verdict,
        action: Option<usize>,
    ) -> Result<(), RunError> {
        if self.problem.objective().wants_rewards() {
            return Ok(());
        }
        let mut cell = vec![0; self.trie.dimensions];
        self.problem.cell(instance.observation(), &mut cell);
        if action.is_some() && self.seen.contains(&cell) {
            return Ok(());
        }
        let (parent, after) = self.pen;
        let record = Record { steps: instance.steps(), total: 0.0, verdict, parent, after };
        let node = self.trie.push(record, &cell);
        match verdict {
            Verdict::Running => self.trie.places.save(instance)?,
            _ => self.trie.places.push(&[]),
        }
        self.pen = (node, action.unwrap_or(0) as u32);
        self.seen.insert(cell);
        Ok(())
    }

    pub(in crate::search) fn end(self) -> Trie {
        self.trie
    }
}

/// A trie with what a task adds to it.
#[derive(Debug, Default)]
pub(super) struct Recall {
    trie: Arc<Trie>,
    added: Trie,
    most_bytes: usize,
    has_room: bool,
    /// Where the next node of the trace that is being run belongs, if it is written down: after this node and action.
    pen: Option<(Node, u32)>,
    /// The number of the present trace; and per labelled cell, that of the last one that has seen it.
    trace: u64,
    seen: Vec<u64>,
    wants_place: bool,
    /// The place of the node after the one whose place is wanted.
    later_place: Option<Vec<u8>>,
}

impl Recall {
    /// Begins a task, or goes on with one that has added something before. Up to so many bytes are remembered in all.
    pub(super) fn begin(&mut self, trie: Arc<Trie>, added: Option<Trie>, most_bytes: usize) {
        self.stop();
        let Trie { dimensions, actions, .. } = *trie;
        let empty = || Trie { dimensions, actions, first: trie.end(), ..Trie::default() };
        self.added = added.unwrap_or_else(empty);
        self.has_room = trie.has_numbers() && trie.bytes() + self.added.bytes() < most_bytes;
        (self.trie, self.most_bytes) = (trie, most_bytes);
    }

    /// What the task has added.
    pub(super) fn end(&mut self) -> Trie {
        self.stop();
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
        let places = &mut self.added.places;
        if self.trie.places.bytes() + places.bytes() > self.most_bytes {
            places.push(&[]);
        } else {
            save(places)?;
        }
        if let Some(state) = self.later_place.take() {
            places.push(&state);
        }
        if self.trie.bytes() + self.added.bytes() >= self.most_bytes {
            self.has_room = false;
            self.stop();
        }
        Ok(())
    }

    /// The trie that has a node, and its index there.
    #[inline]
    fn part(&self, node: Node) -> (&Trie, usize) {
        let part = if node < self.added.first { &*self.trie } else { &self.added };
        (part, (node - part.first) as usize)
    }

    pub(super) fn record(&self, node: Node) -> &Record {
        let (part, index) = self.part(node);
        &part.records[index]
    }

    pub(super) fn cell(&self, node: Node) -> &[Rank] {
        self.part(node).0.cell(node)
    }

    /// The state of the system in a node; empty if the way there is to act as the labels say.
    pub(super) fn state(&self, node: Node) -> &[u8] {
        let (part, index) = self.part(node);
        part.places.state(index as u32)
    }

    /// The node that comes before.
    pub(super) fn parent(&self, node: Node) -> Option<Node> {
        Some(self.record(node).parent).filter(|&parent| parent >= self.trie.first)
    }

    /// Whether this is a node, and not an initial state.
    pub(super) fn is_node(&self, node: Node) -> bool {
        node >= self.trie.first
    }

    /// Whether a node was remembered when the task began: then its number stays.
    pub(super) fn is_old(&self, node: Node) -> bool {
        (self.trie.first..self.trie.end()).contains(&node)
    }

    /// The last node of a trace from this initial state that has come so many steps far, what was done there, and the node
    /// that comes next if that is known, too. `node` is an old one before it on the trace, if there is one; `label` knows
    /// what was done in each cell.
    pub(super) fn catch_up(
        &self,
        node: Node,
        initial: u32,
        steps: u64,
        label: impl Fn(&[Rank]) -> Option<u16>,
    ) -> (Node, Option<u16>, Option<Node>) {
        let mut node = if self.is_old(node) { node } else { initial };
        loop {
            let action = if self.is_node(node) { label(self.cell(node)) } else { Some(0) };
            match action.and_then(|action| self.next(node, action.into())) {
                Some(next) if self.record(next).steps <= steps => node = next,
                next => return (node, action, next),
            }
        }
    }

    /// The node that comes after a node and an action, or an initial state and 0, if it is known.
    pub(super) fn next(&self, node: Node, action: usize) -> Option<Node> {
        self.trie.next(node, action as u32).or_else(|| self.added.next(node, action as u32))
    }

    /// A trace from this initial state begins: its first node, or it is about to be run and is written down.
    pub(super) fn start(&mut self, initial: usize) -> Option<Node> {
        self.go_on(initial as Node, 0)
    }

    /// The trace goes on from this node: the next one, or the trace is about to be run from here and is written down.
    pub(super) fn go_on(&mut self, node: Node, action: usize) -> Option<Node> {
        let next = self.next(node, action);
        if next.is_none() {
            self.go_on_writing(node, action);
        }
        next
    }

    /// The trace is not written down from here.
    #[inline]
    pub(super) fn stop(&mut self) {
        self.pen = None;
        self.trace += 1;
    }

    /// Whether the trace is written down.
    #[inline]
    pub(super) fn is_writing(&self) -> bool {
        self.pen.is_some()
    }

    /// The running trace has gone on from this node with this action, and come to no new cell since: it is written down
    /// from there.
    pub(super) fn go_on_writing(&mut self, node: Node, action: usize) {
        if self.has_room {
            self.pen = Some((node, action as u32));
        }
    }

    /// The trace has come to a labelled cell; says whether for the first time.
    pub(super) fn see(&mut self, index: u32) -> bool {
        if self.seen.len() <= index as usize {
            self.seen.resize(index as usize + 1, 0);
        }
        std::mem::replace(&mut self.seen[index as usize], self.trace) != self.trace
    }

    /// The trace is here: a new node, if the trace is written down. Unless the trace was stopped or has ended, the
    /// next one comes after this action.
    pub(super) fn write(
        &mut self,
        at: Position,
        verdict: Verdict,
        cell: &[Rank],
        action: Option<usize>,
    ) -> Option<Node> {
        let (parent, after) = self.pen.take()?;
        let record = Record { steps: at.steps, total: at.total, verdict, parent, after };
        let node = self.added.push(record, cell);
        if verdict == Verdict::Running {
            self.wants_place = true;
        } else {
            self.added.places.push(&[]);
        }
        self.pen = action.map(|action| (node, action as u32));
        Some(node)
    }

    /// How many nodes the task has added.
    pub(super) fn added(&self) -> usize {
        self.added.records.len()
    }

    /// The place of the node that was added last is not where the system is now.
    pub(super) fn keep_other_place(&mut self, state: &[u8]) {
        if self.added.places.len() + 1 < self.added() {
            // Places come in the order of their nodes: first the system keeps that of the one before.
            self.later_place = Some(state.to_vec());
            return;
        }
        self.wants_place = false;
        let Ok(()) = self.keep_place(|places| {
            places.push(state);
            Ok::<(), Infallible>(())
        });
    }
}

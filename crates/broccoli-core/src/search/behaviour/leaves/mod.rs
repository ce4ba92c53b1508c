//! Leaves: behaviours set aside to be gone on with, written down compactly.
//!
//! The labels of all leaves form a tree in which a leaf's labels are the way from the root. So what leaves have in
//! common is kept once, and a leaf can be gone on with in any order.

pub(super) mod bits;

use serde::{Deserialize, Serialize};

use super::labels::{Given, NOT_TOLD, append};
use super::places::Places;
use super::realise::{are_cells, is_action};
use super::recall::Node;
use super::version_space::Cost;
use super::walk::Position;
use crate::problem::{Objective, Problem, Rank};

/// A behaviour that was set aside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaf<'a> {
    pub(super) at: Position,
    /// How many labels it has.
    pub(super) labels: u32,
    /// How many predicates these take, if that is known.
    pub(super) cost: Option<Cost>,
    /// The cell that its trace has reached, and the label that this is to be given, if it is to be.
    pub(super) cell: &'a [Rank],
    pub(super) label: Option<u16>,
    /// The initial states whose traces are complete or running, in the order of the walk.
    pub(super) started: &'a [u32],
    /// The values of those that are complete, if the walk keeps them.
    pub(super) values: &'a [f64],
}

impl Leaf<'_> {
    /// Whether its next trace is still to be started.
    pub(super) fn is_waiting(&self) -> bool {
        self.started.len() == self.at.trace as usize
    }
}

/// A leaf without its cell. There can be one for each label of each behaviour, so it is small.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Record {
    share: f64,
    steps: u64,
    group: u32,
    /// How many labels it has, and the last of them, or `NONE`.
    labels: u32,
    last: u32,
    /// The label that its cell is to be given, or `NO_LABEL`.
    label: u16,
    /// The predicates that the labels take, or `NOT_KNOWN`. It is not written down: what is read may be anything.
    #[serde(skip, default = "not_known")]
    cost: u16,
}

/// What leaves that are set aside one after the other have in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Group {
    trace: u32,
    worst: u64,
    #[serde(with = "bits")]
    total: f64,
    started: Vec<u32>,
    #[serde(with = "bits::several")]
    values: Vec<f64>,
}

/// A label in the tree of labels.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Label {
    /// The label before, or `NONE`.
    parent: u32,
    label: u16,
    /// Within how many predicates it follows from those before, or `NOT_KNOWN`. It is not written down, either.
    #[serde(skip, default = "not_known")]
    implied_within: u16,
    /// The steps of its trace when it was given.
    steps: u64,
}

const NONE: u32 = u32::MAX;
const NOT_KNOWN: u16 = u16::MAX;
const NO_LABEL: u16 = u16::MAX;

fn not_known() -> u16 {
    NOT_KNOWN
}

/// A number of predicates, if it is known and not too large.
fn number_or_not_known(nodes: Option<Cost>) -> u16 {
    nodes.and_then(|nodes| u16::try_from(nodes).ok()).unwrap_or(NOT_KNOWN)
}

fn known(nodes: u16) -> Option<Cost> {
    (nodes != NOT_KNOWN).then_some(Cost::from(nodes))
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Leaves {
    dimensions: usize,
    records: Vec<Record>,
    cells: Vec<Rank>,
    groups: Vec<Group>,
    labels: Vec<Label>,
    label_cells: Vec<Rank>,
    /// Per leaf, the last place on its way that was remembered. Nothing depends on it but time, so it is not written down.
    #[serde(skip)]
    nodes: Vec<Node>,
    /// The places that their traces have reached: fewer than leaves if the last ones are still to be saved, and none of
    /// leaves that wait. Not written down, as no other process could come back to them.
    #[serde(skip)]
    pub(super) places: Places,
    /// The labels of the last leaf, and how many of them the walk still has.
    #[serde(skip)]
    path: Vec<u32>,
    #[serde(skip)]
    shared: usize,
}

impl Leaves {
    pub(super) fn new(dimensions: usize) -> Self {
        Leaves { dimensions, ..Leaves::default() }
    }

    /// One leaf, from which everything starts.
    pub(super) fn root(dimensions: usize, objective: Objective) -> Self {
        let worst = match objective {
            Objective::Survive { horizon, .. } if objective.is_plain() => horizon,
            _ => 0,
        };
        let (mut leaves, none) = (Leaves::new(dimensions), Leaves::default());
        let at = Position { worst, share: 1.0, ..Position::default() };
        let cell = &vec![0; dimensions];
        let leaf = Leaf { at, labels: 0, cost: Some(0), cell, label: None, started: &[], values: &[] };
        leaves.push(leaf, |index| none.label(index as u32));
        leaves
    }

    pub(super) fn dimensions(&self) -> usize {
        self.dimensions
    }

    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    /// About how much memory they take.
    pub(super) fn bytes(&self) -> usize {
        let group = |group: &Group| size_of::<Group>() + 4 * group.started.len() + 8 * group.values.len();
        size_of::<Record>() * self.records.len()
            + size_of::<Label>() * self.labels.len()
            + size_of::<Rank>() * (self.cells.len() + self.label_cells.len())
            + size_of::<Node>() * self.nodes.len()
            + self.groups.iter().map(group).sum::<usize>()
            + self.places.bytes()
    }

    /// The leaves so far; there are none from now on. A copy takes no more memory than it needs, and the room for the
    /// next ones stays.
    pub(super) fn take(&mut self) -> Leaves {
        let taken = self.clone();
        self.records.clear();
        self.cells.clear();
        self.groups.clear();
        self.labels.clear();
        self.label_cells.clear();
        self.nodes.clear();
        self.places.keep_first(0);
        self.path.clear();
        self.shared = 0;
        taken
    }

    /// The same leaves, of which only the labels are known.
    pub(super) fn without_places(&self) -> Leaves {
        Leaves { places: Places::default(), ..self.clone() }
    }

    /// The walk has taken back labels: only the first `count` are still those of the last leaf.
    #[inline]
    pub(super) fn share_at_most(&mut self, count: usize) {
        self.shared = self.shared.min(count);
    }

    /// Writes a leaf down. `label` gives each of its labels.
    pub(super) fn push<'p>(&mut self, leaf: Leaf<'_>, label: impl Fn(usize) -> (&'p [Rank], Given)) {
        let count = leaf.labels as usize;
        self.path.truncate(self.shared);
        for index in self.shared..count {
            let (cell, Given { label, implied_within, steps, .. }) = label(index);
            let parent = self.path.last().copied().unwrap_or(NONE);
            self.path.push(self.labels.len() as u32);
            let implied_within = number_or_not_known(implied_within);
            self.labels.push(Label { parent, label, implied_within, steps });
            append(&mut self.label_cells, cell);
        }
        self.shared = self.path.len();
        let group = self.group(&leaf);
        let Leaf { at, labels, cost, cell, label, .. } = leaf;
        self.records.push(Record {
            share: at.share,
            steps: at.steps,
            group,
            labels,
            last: count.checked_sub(1).map_or(NONE, |last| self.path[last]),
            label: label.unwrap_or(NO_LABEL),
            cost: number_or_not_known(cost),
        });
        append(&mut self.cells, cell);
        self.nodes.push(at.node);
    }

    /// The group of a leaf that is written down now.
    fn group(&mut self, leaf: &Leaf<'_>) -> u32 {
        let Leaf { at: Position { trace, worst, total, .. }, started, values, .. } = *leaf;
        let is_same = |group: &Group| {
            (group.trace, group.worst, group.total.to_bits()) == (trace, worst, total.to_bits())
                && (&*group.started, &*group.values) == (started, values)
        };
        if !self.groups.last().is_some_and(is_same) {
            let (started, values) = (started.to_vec(), values.to_vec());
            self.groups.push(Group { trace, worst, total, started, values });
        }
        self.groups.len() as u32 - 1
    }

    /// Some of the leaves, in this order.
    pub(super) fn part(&self, order: &[u32]) -> Leaves {
        let mut part = Leaves::new(self.dimensions);
        let mut path = Vec::new();
        for &leaf in order {
            part.share_at_most(self.path(leaf as usize, &mut path));
            part.push(self.leaf(leaf as usize), |index| self.label(path[index]));
            part.places.push(self.places.state(leaf));
        }
        part
    }

    /// Adds all leaves of others behind these.
    pub(super) fn append(&mut self, others: &Leaves) {
        self.places.append(&others.places, self.records.len());
        self.nodes.resize(self.records.len(), Node::MAX);
        self.nodes.extend((0..others.len()).map(|leaf| others.node(leaf)));
        let (labels, groups) = (self.labels.len() as u32, self.groups.len() as u32);
        let moved = |index: u32| if index == NONE { NONE } else { index + labels };
        self.labels.extend(others.labels.iter().map(|&label| Label { parent: moved(label.parent), ..label }));
        self.label_cells.extend_from_slice(&others.label_cells);
        self.records.extend(others.records.iter().map(|&record| Record {
            group: record.group + groups,
            last: moved(record.last),
            ..record
        }));
        self.cells.extend_from_slice(&others.cells);
        self.groups.extend_from_slice(&others.groups);
        self.path.clear();
        self.shared = 0;
    }

    /// Writes into `path` the labels of a leaf, in the order in which they were given, instead of those of
    /// another leaf; how many the two have in common.
    pub(super) fn path(&self, leaf: usize, path: &mut Vec<u32>) -> usize {
        let Record { labels, last: mut next, .. } = self.records[leaf];
        let mut count = labels as usize;
        path.resize(count, NONE);
        while count > 0 && path[count - 1] != next {
            path[count - 1] = next;
            next = self.labels[next as usize].parent;
            count -= 1;
        }
        count
    }

    /// A label by its index, with its cell. It has no slot yet.
    pub(super) fn label(&self, index: u32) -> (&[Rank], Given) {
        let Label { label, implied_within, steps, .. } = self.labels[index as usize];
        let cell = &self.label_cells[index as usize * self.dimensions..][..self.dimensions];
        (cell, Given { label, implied_within: known(implied_within), points: NOT_TOLD, steps, slot: 0 })
    }

    /// How likely it seems of each leaf that its trace goes on for long: it has gone on for long, and through few
    /// cells, as one that goes round and round does.
    pub(super) fn promises(&self, label_price: u64) -> impl Iterator<Item = i64> {
        let price = move |labels: u32| u64::from(labels).saturating_mul(label_price).min(1 << 40) as i64;
        self.records.iter().map(move |record| (record.steps as i64).saturating_sub(price(record.labels)))
    }

    pub(super) fn leaf(&self, leaf: usize) -> Leaf<'_> {
        let Record { share, steps, group, labels, label, cost, .. } = self.records[leaf];
        let Group { trace, worst, total, started, values } = &self.groups[group as usize];
        let (trace, worst, total, node) = (*trace, *worst, *total, self.node(leaf));
        let at = Position { trace, node, steps, worst, total, share };
        let cell = &self.cells[leaf * self.dimensions..][..self.dimensions];
        let label = Some(label).filter(|&label| label != NO_LABEL);
        Leaf { at, labels, cost: known(cost), cell, label, started, values }
    }

    fn node(&self, leaf: usize) -> Node {
        self.nodes.get(leaf).copied().unwrap_or(Node::MAX)
    }

    /// Whether they can be leaves of this problem: they may come from a checkpoint that somebody has changed.
    pub(super) fn are_of(&self, problem: &Problem) -> bool {
        let Some(depths) = self.depths(problem) else { return false };
        self.dimensions == problem.dimensions().len()
            && are_cells(&self.label_cells, self.labels.len(), problem)
            && are_cells(&self.cells, self.records.len(), problem)
            && self.groups.iter().all(|group| group.is_of(problem))
            && self.records.iter().all(|record| self.is_leaf(record, &depths, problem))
    }

    /// How many labels there are up to each, if they form a tree.
    fn depths(&self, problem: &Problem) -> Option<Vec<u32>> {
        let mut depths: Vec<u32> = Vec::with_capacity(self.labels.len());
        for label in &self.labels {
            let before = if label.parent == NONE { 0 } else { *depths.get(label.parent as usize)? };
            let fits = is_action(label.label, problem) && label.steps <= problem.objective().horizon();
            depths.push(fits.then_some(before + 1)?);
        }
        Some(depths)
    }

    fn is_leaf(&self, record: &Record, depths: &[u32], problem: &Problem) -> bool {
        let Some(Group { trace, started, .. }) = self.groups.get(record.group as usize) else { return false };
        let labels = if record.last == NONE { Some(&0) } else { depths.get(record.last as usize) };
        // All that are complete, and the one that runs unless it is still to be started.
        let is_waiting = *trace as usize == started.len() && record.steps == 0;
        labels == Some(&record.labels)
            && (record.label == NO_LABEL || is_action(record.label, problem))
            && record.steps <= problem.objective().horizon()
            && (is_waiting || *trace as usize + 1 == started.len())
            && (0.0..=1.0).contains(&record.share)
    }
}

impl Group {
    fn is_of(&self, problem: &Problem) -> bool {
        let objective = problem.objective();
        let states = problem.initial_states().len();
        let is_state = |&state: &u32| (state as usize) < states;
        let is_worth = match objective.is_plain() {
            true => self.values.is_empty() && self.worst <= objective.horizon(),
            false => {
                self.values.len() == self.trace as usize
                    && self.values.iter().chain([&self.total]).all(|value| !value.is_nan())
            }
        };
        let are_few = (self.trace as usize) < states && self.started.len() <= states;
        is_worth && are_few && self.started.iter().all(is_state)
    }
}

//! The leaves of a round: behaviours set aside to be gone on with, written down compactly.
//!
//! The labels of all leaves form a tree in which a leaf's labels are the way from the root, so what
//! leaves have in common is kept once, and a leaf can be gone on with in any order.

pub(super) mod bits;
mod check;

use serde::{Deserialize, Serialize};

use super::labels::append;
use super::version_space::Cost;
use super::walk::Position;
use crate::problem::Objective;

/// A behaviour that was set aside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaf<'a> {
    pub(super) at: Position,
    /// How many labels it has.
    pub(super) labels: u32,
    /// How many predicates these take, if that is known.
    pub(super) cost: Option<Cost>,
    /// The cell that its trace has reached, and the label that this is to be given, if it is to be.
    pub(super) cell: &'a [u16],
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

/// What leaves that are set aside one after the other have in common.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Group {
    trace: u32,
    worst: u64,
    #[serde(with = "bits")]
    total: f64,
    /// Where its initial states end, and their values; they start where those of the group before end.
    started: u32,
    values: u32,
}

/// A leaf. There can be one for each label of each behaviour, so it is small.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Record {
    share: f64,
    group: u32,
    /// How many labels it has.
    labels: u32,
    reaches: LeafCell,
}

/// What its trace has reached.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum LeafCell {
    /// The cell that other leaves give this label in the tree of labels. It is to be given another one instead.
    Instead { of: u32, label: u16 },
    /// A cell for which there is no such label, with this number.
    New(u32),
}

/// The last label before a cell, or `NONE`; the label that it is to be given, or `NO_LABEL`; and the steps until
/// there.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Reached {
    last: u32,
    label: u16,
    /// The predicates that the labels take, or `NOT_KNOWN`. Not written down, as what follows is not.
    #[serde(skip, default = "not_known")]
    cost: u16,
    steps: u64,
}

/// A label in the tree of labels.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Label {
    /// The label before, or `NONE`.
    parent: u32,
    label: u16,
    /// Within how many predicates it follows from those before, if it is known to, else `NOT_KNOWN`. Not written
    /// down: what is read may be anything, and without this it is looked at again.
    #[serde(skip, default = "not_known")]
    implied_within: u16,
    /// The steps of its trace when it was given.
    steps: u64,
}

/// A label of a leaf: the cell, the label, [within how many predicates](super::labels::Given) it follows from
/// those before, the steps at which it was given.
pub(super) type LeafLabel<'p> = (&'p [u16], u16, Option<Cost>, u64);

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
    reached: Vec<Reached>,
    cells: Vec<u16>,
    groups: Vec<Group>,
    started: Vec<u32>,
    #[serde(with = "bits::several")]
    values: Vec<f64>,
    labels: Vec<Label>,
    label_cells: Vec<u16>,
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
        let mut leaves = Leaves::new(dimensions);
        let at = Position { trace: 0, steps: 0, worst, total: 0.0, share: 1.0 };
        let cell = &vec![0; dimensions];
        let leaf = Leaf { at, labels: 0, cost: Some(0), cell, label: None, started: &[], values: &[] };
        leaves.push(leaf, |_| (&[], 0, None, 0));
        leaves
    }

    pub(super) fn dimensions(&self) -> usize {
        self.dimensions
    }

    pub(super) fn clear(&mut self) {
        self.records.clear();
        self.reached.clear();
        self.cells.clear();
        self.groups.clear();
        self.started.clear();
        self.values.clear();
        self.labels.clear();
        self.label_cells.clear();
        self.path.clear();
        self.shared = 0;
    }

    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// About how much memory they take.
    pub(super) fn bytes(&self) -> usize {
        let cell = 2 * self.dimensions;
        size_of::<Record>() * self.records.len()
            + (size_of::<Reached>() + cell) * self.reached.len()
            + size_of::<Group>() * self.groups.len()
            + (size_of::<Label>() + cell) * self.labels.len()
            + 4 * self.started.len()
            + 8 * self.values.len()
    }

    /// The walk has taken back labels: only the first `count` are still those of the last leaf.
    #[inline]
    pub(super) fn share_at_most(&mut self, count: usize) {
        self.shared = self.shared.min(count);
    }

    /// Writes a leaf down. `label` gives each of its labels.
    pub(super) fn push<'p>(&mut self, leaf: Leaf<'_>, label: impl Fn(usize) -> LeafLabel<'p>) {
        let count = leaf.labels as usize;
        if self.shared < count {
            self.path.truncate(self.shared);
        }
        let mut parent = self.path.last().copied().unwrap_or(NONE);
        let first = self.labels.len() as u32;
        self.path.extend((first..).take(count.saturating_sub(self.shared)));
        self.labels.extend((self.shared..count).zip(first..).map(|(index, own)| {
            let (_, label, implied_within, steps) = label(index);
            let parent = std::mem::replace(&mut parent, own);
            Label { parent, label, implied_within: number_or_not_known(implied_within), steps }
        }));
        (self.shared..count).for_each(|index| append(&mut self.label_cells, label(index).0));
        self.shared = count;
        let Leaf { at, cost, cell, label, .. } = leaf;
        let instead = self.path.get(count).copied().filter(|&instead| {
            let Label { label: other, steps, .. } = self.labels[instead as usize];
            label.is_some_and(|label| label != other) && steps == at.steps && self.label_cell(instead) == cell
        });
        let reaches = match (instead, label) {
            (Some(of), Some(label)) => LeafCell::Instead { of, label },
            _ => {
                let last = count.checked_sub(1).map_or(NONE, |last| self.path[last]);
                let (label, cost) = (label.unwrap_or(NO_LABEL), number_or_not_known(cost));
                self.reached.push(Reached { last, label, cost, steps: at.steps });
                append(&mut self.cells, cell);
                LeafCell::New(self.reached.len() as u32 - 1)
            }
        };
        let group = self.group(&leaf);
        self.records.push(Record { share: at.share, group, labels: leaf.labels, reaches });
    }

    /// Writes down leaves that differ from the last one in this: each has only so many of its labels, another label
    /// after these, and a share of its own.
    #[inline]
    pub(super) fn push_shorter(&mut self, leaves: impl ExactSizeIterator<Item = (u32, u16, f64)>) {
        let (path, group) = (&self.path, self.groups.len() as u32 - 1);
        self.records.extend(leaves.map(|(labels, label, share)| {
            let of = path[labels as usize];
            Record { share, group, labels, reaches: LeafCell::Instead { of, label } }
        }));
    }

    /// The group of a leaf that is written down now.
    fn group(&mut self, leaf: &Leaf<'_>) -> u32 {
        let Position { trace, worst, total, .. } = leaf.at;
        let last = self.groups.len().checked_sub(1).map(|last| (last, self.groups[last]));
        match last {
            Some((last, group))
                if (group.trace, group.worst, group.total.to_bits()) == (trace, worst, total.to_bits())
                    && self.of_group(last) == (leaf.started, leaf.values) =>
            {
                last as u32
            }
            _ => {
                self.started.extend_from_slice(leaf.started);
                self.values.extend_from_slice(leaf.values);
                let (started, values) = (self.started.len() as u32, self.values.len() as u32);
                self.groups.push(Group { trace, worst, total, started, values });
                self.groups.len() as u32 - 1
            }
        }
    }

    /// The initial states of a group, and their values.
    fn of_group(&self, group: usize) -> (&[u32], &[f64]) {
        let (start, first) = match group.checked_sub(1).map(|before| self.groups[before]) {
            None => (0, 0),
            Some(before) => (before.started as usize, before.values as usize),
        };
        let Group { started, values, .. } = self.groups[group];
        (&self.started[start..started as usize], &self.values[first..values as usize])
    }

    /// Adds a leaf of others.
    pub(super) fn push_from(&mut self, others: &Leaves, leaf: usize) {
        let mut path = Vec::new();
        others.path(leaf, &mut path);
        let is_same = |(other, own): &(&u32, &u32)| others.label(**other) == self.label(**own);
        let shared = path.iter().zip(&self.path).take_while(is_same).count();
        self.shared = shared;
        self.push(others.leaf(leaf), |index| others.label(path[index]));
    }

    /// Some of the leaves, in this order.
    pub(super) fn part(&self, agenda: &[u32]) -> Leaves {
        let mut part = Leaves::new(self.dimensions);
        let mut path = Vec::new();
        for &leaf in agenda {
            part.share_at_most(self.path(leaf as usize, &mut path));
            part.push(self.leaf(leaf as usize), |index| self.label(path[index]));
        }
        part
    }

    /// Adds all leaves of others behind these.
    pub(super) fn append(&mut self, others: &Leaves) {
        let (labels, reached) = (self.labels.len() as u32, self.reached.len() as u32);
        let (started, values) = (self.started.len() as u32, self.values.len() as u32);
        let groups = self.groups.len() as u32;
        let moved = |index: u32| if index == NONE { NONE } else { index + labels };
        self.labels.extend(others.labels.iter().map(|&label| Label { parent: moved(label.parent), ..label }));
        self.label_cells.extend_from_slice(&others.label_cells);
        self.records.extend(others.records.iter().map(|&record| {
            let reaches = match record.reaches {
                LeafCell::Instead { of, label } => LeafCell::Instead { of: moved(of), label },
                LeafCell::New(number) => LeafCell::New(number + reached),
            };
            Record { group: record.group + groups, reaches, ..record }
        }));
        self.reached
            .extend(others.reached.iter().map(|&reached| Reached { last: moved(reached.last), ..reached }));
        self.cells.extend_from_slice(&others.cells);
        self.groups.extend(others.groups.iter().map(|&group| Group {
            started: group.started + started,
            values: group.values + values,
            ..group
        }));
        self.started.extend_from_slice(&others.started);
        self.values.extend_from_slice(&others.values);
        self.path.clear();
        self.shared = 0;
    }

    /// Writes into `path` the labels of a leaf, in the order in which they were given, instead of those of
    /// another leaf; how many the two have in common.
    pub(super) fn path(&self, leaf: usize, path: &mut Vec<u32>) -> usize {
        let Record { labels, reaches, .. } = self.records[leaf];
        let mut next = match reaches {
            LeafCell::Instead { of, .. } => self.labels[of as usize].parent,
            LeafCell::New(number) => self.reached[number as usize].last,
        };
        let mut count = labels as usize;
        path.resize(count, NONE);
        while count > 0 && path[count - 1] != next {
            path[count - 1] = next;
            next = self.labels[next as usize].parent;
            count -= 1;
        }
        count
    }

    /// The label that the cell of a leaf has instead in other leaves, after the same labels, if it is known.
    pub(super) fn instead(&self, leaf: usize) -> Option<u32> {
        match self.records[leaf].reaches {
            LeafCell::Instead { of, .. } => Some(of),
            LeafCell::New(_) => None,
        }
    }

    fn label_cell(&self, label: u32) -> &[u16] {
        &self.label_cells[label as usize * self.dimensions..][..self.dimensions]
    }

    /// A label by its index.
    pub(super) fn label(&self, label: u32) -> LeafLabel<'_> {
        let Label { label: given, implied_within, steps, .. } = self.labels[label as usize];
        let cell = self.label_cell(label);
        (cell, given, known(implied_within), steps)
    }

    /// How likely it seems of each leaf that its trace goes on for long: it has gone on for long, and through few
    /// cells, as one that goes round and round does.
    pub(super) fn promises(&self, label_price: u64) -> impl Iterator<Item = i64> {
        let price = move |labels: u32| u64::from(labels).saturating_mul(label_price).min(1 << 40) as i64;
        let promise = move |record: &Record| self.steps(record) as i64 - price(record.labels);
        self.records.iter().map(promise)
    }

    fn steps(&self, record: &Record) -> u64 {
        match record.reaches {
            LeafCell::Instead { of, .. } => self.labels[of as usize].steps,
            LeafCell::New(number) => self.reached[number as usize].steps,
        }
    }

    pub(super) fn leaf(&self, leaf: usize) -> Leaf<'_> {
        let record = &self.records[leaf];
        let Group { trace, worst, total, .. } = self.groups[record.group as usize];
        let (started, values) = self.of_group(record.group as usize);
        let (cell, label, cost) = match record.reaches {
            LeafCell::Instead { of, label } => (self.label_cell(of), Some(label), None),
            LeafCell::New(number) => {
                let number = number as usize;
                let Reached { label, cost, .. } = self.reached[number];
                let cell = &self.cells[number * self.dimensions..][..self.dimensions];
                (cell, Some(label).filter(|&label| label != NO_LABEL), known(cost))
            }
        };
        let at = Position { trace, steps: self.steps(record), worst, total, share: record.share };
        Leaf { at, labels: record.labels, cost, cell, label, started, values }
    }
}

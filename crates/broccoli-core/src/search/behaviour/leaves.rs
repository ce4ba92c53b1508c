//! The leaves of a round: behaviours set aside to be gone on with, written down compactly.
//!
//! The labels of all leaves form a tree in which a leaf's labels are the way from the root, so what
//! leaves have in common is kept once, and a leaf can be gone on with in any order.

use serde::{Deserialize, Serialize};

use super::labels::append;
use super::version_space::Cost;
use super::walk::Position;
use crate::problem::{Objective, Problem};

/// A behaviour that was set aside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaf<'a> {
    pub(super) at: Position,
    /// How many labels it has.
    pub(super) labels: u32,
    /// The cell that its trace has reached, and the label that this is to be given, if it is to be.
    pub(super) cell: &'a [u16],
    pub(super) label: Option<u16>,
    /// The initial states whose traces are complete or running, in the order of the walk.
    pub(super) started: &'a [u32],
    /// The values of those that are complete, if the walk keeps them.
    pub(super) values: &'a [f64],
}

/// What a label takes away from the promise of a leaf, in steps.
const LABEL_PRICE: i64 = 3;

impl Leaf<'_> {
    /// Whether its next trace is still to be started.
    pub(super) fn is_waiting(&self) -> bool {
        self.started.len() == self.at.trace as usize
    }
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Record {
    at: Position,
    label: Option<u16>,
    /// How many labels it has, and the last one, or `NONE`.
    labels: u32,
    last: u32,
    /// The label that the cell has instead in leaves before, or `NONE`. Not written down: it only saves work.
    #[serde(skip, default = "none")]
    instead: u32,
    /// Where its initial states end, and their values; they start where those of the leaf before end.
    started: u32,
    values: u32,
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

fn none() -> u32 {
    NONE
}

fn not_known() -> u16 {
    NOT_KNOWN
}

/// For how many leaves room is made beforehand, at most; and in bytes, for any part of them.
pub(super) const MOST_ROOM: usize = 1 << 17;
const MOST_ROOM_BYTES: usize = 16 << 20;

/// Makes room for so many more, or for a lot.
pub(super) fn reserve<T>(list: &mut Vec<T>, more: usize) {
    list.reserve(more.min(MOST_ROOM_BYTES / size_of::<T>()));
}

/// Floats are written as their bits: infinity is a value, and not every format has it.
mod as_bits {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(values.iter().map(|value| value.to_bits()))
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
        Ok(Vec::<u64>::deserialize(deserializer)?.into_iter().map(f64::from_bits).collect())
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Leaves {
    dimensions: usize,
    records: Vec<Record>,
    /// The cells that the leaves have reached.
    cells: Vec<u16>,
    started: Vec<u32>,
    #[serde(with = "as_bits")]
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
        let at = Position { trace: 0, steps: 0, worst, share: 1.0 };
        let cell = &vec![0; dimensions];
        leaves.push(Leaf { at, labels: 0, cell, label: None, started: &[], values: &[] }, |_| {
            (&[], 0, None, 0)
        });
        leaves
    }

    pub(super) fn dimensions(&self) -> usize {
        self.dimensions
    }

    pub(super) fn clear(&mut self) {
        self.records.clear();
        self.cells.clear();
        self.started.clear();
        self.values.clear();
        self.labels.clear();
        self.label_cells.clear();
        self.path.clear();
        self.shared = 0;
    }

    /// Makes room for so many leaves that are like others, or for a lot, so that they need not be moved while they
    /// become more.
    pub(super) fn make_room(&mut self, leaves: usize, others: &Leaves) {
        let leaves = leaves.min(MOST_ROOM);
        let of = |count: usize| leaves.saturating_mul(count).div_ceil(others.len().max(1));
        reserve(&mut self.records, leaves);
        reserve(&mut self.cells, leaves.saturating_mul(self.dimensions));
        reserve(&mut self.started, of(others.started.len()));
        reserve(&mut self.labels, of(others.labels.len()));
        reserve(&mut self.label_cells, of(others.label_cells.len()));
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
        (size_of::<Record>() + cell) * self.records.len()
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
        for index in self.shared..count {
            let (cell, label, implied_within, steps) = label(index);
            let parent = self.path.last().copied().unwrap_or(NONE);
            self.path.push(self.labels.len() as u32);
            let implied_within =
                implied_within.map_or(NOT_KNOWN, |nodes| nodes.min(Cost::from(NOT_KNOWN)) as u16);
            self.labels.push(Label { parent, label, implied_within, steps });
            append(&mut self.label_cells, cell);
        }
        self.shared = count;
        let instead = self.path.get(count).copied().filter(|&instead| {
            leaf.label.is_some_and(|label| label != self.labels[instead as usize].label)
                && self.label_cell(instead) == leaf.cell
        });
        append(&mut self.cells, leaf.cell);
        self.started.extend_from_slice(leaf.started);
        self.values.extend_from_slice(leaf.values);
        self.records.push(Record {
            at: leaf.at,
            label: leaf.label,
            labels: leaf.labels,
            last: count.checked_sub(1).map_or(NONE, |last| self.path[last]),
            instead: instead.unwrap_or(NONE),
            started: self.started.len() as u32,
            values: self.values.len() as u32,
        });
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
        let (labels, started) = (self.labels.len() as u32, self.started.len() as u32);
        let values = self.values.len() as u32;
        let moved = |index: u32| if index == NONE { NONE } else { index + labels };
        self.labels.extend(others.labels.iter().map(|&label| Label { parent: moved(label.parent), ..label }));
        self.label_cells.extend_from_slice(&others.label_cells);
        self.records.extend(others.records.iter().map(|&record| Record {
            last: moved(record.last),
            instead: moved(record.instead),
            started: started + record.started,
            values: values + record.values,
            ..record
        }));
        self.cells.extend_from_slice(&others.cells);
        self.started.extend_from_slice(&others.started);
        self.values.extend_from_slice(&others.values);
        self.path.clear();
        self.shared = 0;
    }

    /// Whether they can be leaves of this problem; for those that come from outside.
    pub(super) fn are_of(&self, problem: &Problem) -> bool {
        let dimensions = problem.dimensions();
        let thresholds = || dimensions.iter().map(|dimension| dimension.thresholds.len());
        let are_cells = |cells: &[u16], count: usize| {
            Some(cells.len()) == count.checked_mul(dimensions.len())
                && cells.iter().zip(thresholds().cycle()).all(|(&rank, most)| usize::from(rank) <= most)
        };
        let is_action = |label: u16| usize::from(label) < problem.actions().len();
        let mut count = Vec::new();
        let are_labels = self.labels.iter().enumerate().all(|(index, label)| {
            let before =
                if label.parent == NONE { Some(0) } else { count.get(label.parent as usize).copied() };
            count.push(before.unwrap_or(0) + 1);
            before.is_some() && count.len() == index + 1 && is_action(label.label)
        });
        let objective = problem.objective();
        let (mut start, mut first) = (0, 0);
        let are_records = self.records.iter().all(|record| {
            let values = self.values.get(first..record.values as usize);
            first = record.values as usize;
            let is_worth = |values: &[f64]| match objective.is_plain() {
                true => values.is_empty() && record.at.worst <= objective.horizon(),
                false => {
                    values.len() == record.at.trace as usize
                        && values
                            .iter()
                            .chain([&f64::from_bits(record.at.worst)])
                            .all(|value| !value.is_nan())
                }
            };
            let labels = if record.last == NONE { Some(&0) } else { count.get(record.last as usize) };
            let started = self.started.get(start..record.started as usize);
            start = record.started as usize;
            labels == Some(&record.labels)
                && record.label.is_none_or(is_action)
                && record.at.steps <= objective.horizon()
                && values.is_some_and(is_worth)
                && (0.0..=1.0).contains(&record.at.share)
                && started.is_some_and(|started| {
                    let are_states =
                        started.iter().all(|&state| (state as usize) < problem.initial_states().len());
                    // All that are complete, and the one that runs unless it is still to be started.
                    let trace = record.at.trace as usize;
                    let is_waiting = trace == started.len() && record.at.steps == 0;
                    are_states && (is_waiting || trace + 1 == started.len())
                })
        });
        self.dimensions == dimensions.len()
            && are_cells(&self.label_cells, self.labels.len())
            && are_cells(&self.cells, self.records.len())
            && are_labels
            && are_records
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

    /// The label that the cell of a leaf has instead in other leaves, after the same labels, if it is known.
    pub(super) fn instead(&self, leaf: usize) -> Option<u32> {
        Some(self.records[leaf].instead).filter(|&instead| instead != NONE)
    }

    fn label_cell(&self, label: u32) -> &[u16] {
        &self.label_cells[label as usize * self.dimensions..][..self.dimensions]
    }

    /// A label by its index.
    pub(super) fn label(&self, label: u32) -> LeafLabel<'_> {
        let Label { label: given, implied_within, steps, .. } = self.labels[label as usize];
        let cell = self.label_cell(label);
        let implied_within = (implied_within != NOT_KNOWN).then_some(Cost::from(implied_within));
        (cell, given, implied_within, steps)
    }

    /// How likely it seems of each leaf that its trace goes on for long: it has gone on for long, and through few
    /// cells, as one that goes round and round does.
    pub(super) fn promises(&self) -> impl Iterator<Item = i64> {
        self.records.iter().map(|record| record.at.steps as i64 - LABEL_PRICE * i64::from(record.labels))
    }

    pub(super) fn leaf(&self, leaf: usize) -> Leaf<'_> {
        let before = leaf.checked_sub(1).map(|before| &self.records[before]);
        let (start, first) =
            before.map_or((0, 0), |before| (before.started as usize, before.values as usize));
        let record = &self.records[leaf];
        Leaf {
            at: record.at,
            label: record.label,
            labels: record.labels,
            cell: &self.cells[leaf * self.dimensions..][..self.dimensions],
            started: &self.started[start..record.started as usize],
            values: &self.values[first..record.values as usize],
        }
    }
}

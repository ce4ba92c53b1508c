//! Whether leaves that come from outside, from a checkpoint or a subproblem, can be those of a problem.

use super::{Group, LeafCell, Leaves, NO_LABEL, NONE, Reached, Record};
use crate::problem::Problem;

impl Leaves {
    /// Whether they can be leaves of this problem.
    pub(in super::super) fn are_of(&self, problem: &Problem) -> bool {
        let count = problem.dimensions().len();
        let Some(depths) = self.depths(problem) else { return false };
        self.dimensions == count
            && are_cells(&self.label_cells, self.labels.len(), problem)
            && are_cells(&self.cells, self.reached.len(), problem)
            && self.are_groups(problem)
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
        let depth = |last: u32| if last == NONE { Some(0) } else { depths.get(last as usize).copied() };
        let (labels, steps) = match record.reaches {
            LeafCell::Instead { of, label } => {
                let Some(other) = self.labels.get(of as usize) else { return false };
                if label == other.label || !is_action(label, problem) {
                    return false;
                }
                (depth(other.parent), other.steps)
            }
            LeafCell::New(number) => {
                let Some(&Reached { last, label, steps, .. }) = self.reached.get(number as usize) else {
                    return false;
                };
                if label != NO_LABEL && !is_action(label, problem) {
                    return false;
                }
                (depth(last), steps)
            }
        };
        let Some(&Group { trace, .. }) = self.groups.get(record.group as usize) else { return false };
        let started = self.of_group(record.group as usize).0.len();
        // All that are complete, and the one that runs unless it is still to be started.
        let is_waiting = trace as usize == started && steps == 0;
        labels == Some(record.labels)
            && steps <= problem.objective().horizon()
            && (is_waiting || trace as usize + 1 == started)
            && (0.0..=1.0).contains(&record.share)
    }

    fn are_groups(&self, problem: &Problem) -> bool {
        let objective = problem.objective();
        let (mut start, mut first) = (0, 0);
        self.groups.iter().all(|group| {
            let started = self.started.get(start..group.started as usize);
            let values = self.values.get(first..group.values as usize);
            (start, first) = (group.started as usize, group.values as usize);
            let is_worth = |values: &[f64]| match objective.is_plain() {
                true => values.is_empty() && group.worst <= objective.horizon(),
                false => {
                    values.len() == group.trace as usize
                        && values.iter().chain([&group.total]).all(|value| !value.is_nan())
                }
            };
            let is_state = |&state: &u32| (state as usize) < problem.initial_states().len();
            values.is_some_and(is_worth) && started.is_some_and(|started| started.iter().all(is_state))
        })
    }
}

fn are_cells(cells: &[u16], count: usize, problem: &Problem) -> bool {
    let dimensions = problem.dimensions();
    let thresholds = dimensions.iter().map(|dimension| dimension.thresholds.len());
    Some(cells.len()) == count.checked_mul(dimensions.len())
        && cells.iter().zip(thresholds.cycle()).all(|(&rank, most)| usize::from(rank) <= most)
}

fn is_action(label: u16, problem: &Problem) -> bool {
    usize::from(label) < problem.actions().len()
}

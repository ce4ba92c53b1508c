//! Every constant of the search in one place.

use serde::{Deserialize, Serialize};

use crate::problem::SystemFactory;

/// What makes the search quicker or slower, and never changes what is true: which rounds there are, how the work is
/// shared out, how much memory is taken. Of several trees that are equally good and equally small it can change which
/// one is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuning {
    /// `reach`: after how many steps the first round cuts the traces.
    pub first_cut: u64,
    /// `reach`: by what the cut grows from round to round, in percent.
    pub cut_growth: u64,
    /// How much hints may do.
    pub hints: HintTuning,
    /// `survive`: what a label takes away from the promise of a behaviour, in steps.
    pub label_price: u64,
    /// `survive`: the behaviours of a round come in bands of equal promise, up to one part in so many of them.
    pub in_bands: usize,
    /// A chunk of several tasks makes one part in so many of all steps before: all but the first task may be in vain.
    pub chunk_share: u64,
    /// One of a single task makes as many as all before, since nothing of it is in vain, and so many at least.
    pub least_chunk: u64,
    /// A chunk has several tasks as soon as each can have so many steps, …
    pub least_task: u64,
    /// … and never more than this.
    pub most_tasks: usize,
    /// So many it has in any case, as soon as there are so many leaves: more than 1 only where those who do tasks mostly
    /// wait. Then hints and the walk never wait for each other.
    pub first_tasks: usize,
    /// How much memory behaviours that are set aside may take before nothing more is.
    pub most_leaf_bytes: usize,
    /// How much memory remembered traces may take.
    pub most_recall_bytes: usize,
}

/// How much the local search beside the walk may do, in queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HintTuning {
    /// So many local searches run side by side, each in a task of its own and with other random numbers; the first one
    /// always does, the others as far as it would have to do more in a chunk than a task should.
    pub climbers: usize,
    /// Which random numbers are drawn. What is found early differs from seed to seed; what is proved does not.
    pub seed: u64,
    /// Hints make as many queries as the walk up to this number, …
    pub first: u64,
    /// (up to this one as long as there is no tree, but some trace reaches the goal), …
    pub near: u64,
    /// … and up to so many percent of those that they had made when one last improved the best tree; …
    pub patience: u64,
    /// (for one of the walk so many, while it has not made one part in `parts` of the steps that are expected), …
    pub eager: u64,
    /// See there.
    pub parts: u64,
    /// … and then one for so many steps of the walk, …
    pub share: u64,
    /// … or one for so many where no tree has been found, …
    pub share_first: u64,
    /// … or one for so many as soon as the walk has made `late` steps, as the proof is far away then, …
    pub share_late: u64,
    /// See there.
    pub late: u64,
    /// … as long as they do not make so many times as many without improving the best tree.
    pub stale: u64,
    /// Means, sums and shares over the initial states, and returns of few trees: one for so many steps of the walk.
    pub share_mean: u64,
    /// `return`, if there are many trees: for one step of the walk hints make so many queries, …
    pub returns: u64,
    /// … and more as soon as it has made so many.
    pub late_returns: u64,
    /// The worst of several initial states: as soon as the walk has made `late` steps, those on coarser grids make so many
    /// percent of its steps, as long as the best tree becomes better now and then.
    pub ladder: u64,
    /// Neither are done later on where trees have no more predicates than this: those are walked soon enough.
    pub few_nodes: u64,
}

impl Default for HintTuning {
    fn default() -> Self {
        HintTuning {
            climbers: 1,
            seed: 1,
            first: 1_024,
            near: 1 << 15,
            patience: 150,
            eager: 3,
            parts: 512,
            share: 12,
            share_first: 8,
            share_late: 1,
            late: 1 << 18,
            stale: 8,
            share_mean: 2,
            returns: 3,
            late_returns: 1 << 16,
            ladder: 300,
            // As many as a tree of depth 2 has.
            few_nodes: 3,
        }
    }
}

impl HintTuning {
    /// No hints: only the walk.
    pub const OFF: HintTuning = HintTuning {
        climbers: 1,
        seed: 0,
        first: 0,
        near: 0,
        patience: 0,
        eager: 0,
        parts: u64::MAX,
        share: u64::MAX,
        share_first: u64::MAX,
        share_late: u64::MAX,
        late: 0,
        stale: 0,
        share_mean: u64::MAX,
        returns: 0,
        late_returns: u64::MAX,
        ladder: 0,
        few_nodes: u64::MAX,
    };

    fn bounded(self) -> Self {
        HintTuning {
            climbers: self.climbers.clamp(1, 64),
            parts: self.parts.max(1),
            share: self.share.max(1),
            share_first: self.share_first.max(1),
            share_late: self.share_late.max(1),
            share_mean: self.share_mean.max(1),
            ..self
        }
    }
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning {
            first_cut: 2,
            cut_growth: 133,
            hints: HintTuning::default(),
            label_price: 3,
            in_bands: 4,
            chunk_share: 16,
            least_chunk: 64,
            least_task: 8_192,
            most_tasks: 256,
            first_tasks: 1,
            most_leaf_bytes: 256 << 20,
            most_recall_bytes: 32 << 20,
        }
    }
}

impl Tuning {
    /// For the systems that a factory makes.
    pub fn of(factory: &dyn SystemFactory) -> Self {
        match factory.is_quick() && factory.rows().is_none() {
            true => Tuning::default(),
            false => Tuning::for_slow_systems(),
        }
    }

    /// For systems that take long for a query, or make many at a time: many tasks from the beginning, as those who wait
    /// for such a system cost more than steps in vain. They are short at first, so that there are many leaves soon.
    pub fn for_slow_systems() -> Self {
        Tuning {
            least_chunk: 512,
            least_task: 64,
            first_tasks: 64,
            first_cut: 8,
            most_tasks: 1_024,
            hints: HintTuning { climbers: 8, ..HintTuning::default() },
            ..Tuning::default()
        }
    }

    /// The same with every number in a range that makes sense.
    pub(super) fn bounded(self) -> Self {
        Tuning {
            cut_growth: self.cut_growth.max(101),
            hints: self.hints.bounded(),
            in_bands: self.in_bands.max(1),
            chunk_share: self.chunk_share.max(1),
            least_chunk: self.least_chunk.clamp(1, 1 << 40),
            least_task: self.least_task.max(1),
            most_tasks: self.most_tasks.clamp(1, 1 << 16),
            first_tasks: self.first_tasks.clamp(1, self.most_tasks.clamp(1, 1 << 16)),
            ..self
        }
    }

    /// The cut after this one.
    pub(super) fn next_cut(&self, cut: u64) -> u64 {
        let grown = u128::from(cut) * u128::from(self.cut_growth) / 100;
        u64::try_from(grown).unwrap_or(u64::MAX).max(cut.saturating_add(1))
    }

    /// The steps of the next chunk, after so many, and its tasks.
    pub(super) fn chunk(&self, steps: u64) -> (u64, usize) {
        let tasks = steps / self.chunk_share / self.least_task;
        let tasks = tasks.clamp(self.first_tasks as u64, self.most_tasks as u64);
        let share = if tasks > 1 { self.chunk_share } else { 1 };
        ((steps / share).max(self.least_chunk), tasks as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_and_chunks_grow() {
        let tuning = Tuning::default();
        assert_eq!((tuning.next_cut(2), tuning.next_cut(300)), (3, 399));
        assert_eq!(tuning.next_cut(u64::MAX), u64::MAX);
        assert_eq!(tuning.chunk(0), (64, 1));
        assert_eq!(tuning.chunk(16 * 8_192 * 3), (3 * 8_192, 3));
        assert_eq!(tuning.chunk(u64::MAX).1, 256);
        let zero: Tuning = serde_json::from_value(serde_json::json!({
            "first_cut": 0, "cut_growth": 0, "hints": {"climbers": 0, "seed": 0, "first": 0, "near": 0, "patience": 0, "eager": 0, "parts": 0, "share": 0, "share_first": 0, "share_late": 0, "late": 0, "stale": 0, "share_mean": 0, "returns": 0, "late_returns": 0, "ladder": 0, "few_nodes": 0}, "label_price": 0, "in_bands": 0,
            "chunk_share": 0, "least_chunk": 0, "least_task": 0, "most_tasks": 0, "first_tasks": 0, "most_leaf_bytes": 0,
            "most_recall_bytes": 0,
        }))
        .expect("numbers");
        assert_eq!(zero.bounded().chunk(5), (5, 1));
    }
}

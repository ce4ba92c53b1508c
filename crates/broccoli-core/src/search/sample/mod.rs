//! A sample of what a system has answered, for a search that is resumed to ask again: a search believes what it
//! was told before, so a system that has changed since would give a wrong answer, and a proof of it.
//!
//! The lanes write runs down as they make them, which takes no query. A *run* is the way to a place, given by labels as
//! for a leaf, and what the system answered to the next steps, as digests. Of a quick system, which is part of this
//! program, a run begins every so many transitions; of any other all are written down. When there are too many runs every
//! second one goes, and the next ones begin half as often. So the sample spans the whole search, and takes a bounded
//! amount of memory.
//!
//! A constant that only limits something, or only ends runs, changes few answers: those at the ends. So the runs with the
//! least and the largest value of each dimension are kept besides, for each verdict; see [`Extremes`].

mod extremes;
mod run;
mod sampler;

use serde::{Deserialize, Serialize};

use self::extremes::Extremes;
pub(super) use self::run::{Answer, Stop};
use self::run::{Run, trace_again};
pub(super) use self::sampler::{Sampler, Shared, Step};
use super::behaviour::Trie;
use crate::problem::{Instance, Problem, RunError};

/// The most runs in a sample: of a quick system, and of any other; and what they may take, in words of four bytes.
const MOST_OF_QUICK: usize = 64;
const MOST_RUNS: usize = 1 << 14;
const MOST_WEIGHT: usize = 1 << 20;
/// How many transitions of a quick system a lane leaves out between two runs, at first.
const FIRST_PAUSE: u64 = 15;
/// The most steps that are made again, unless there is time for more: some, and more after more queries, up to a limit.
const LEAST_STEPS: u64 = 8;
const MOST_STEPS: u64 = 1 << 12;

/// How many steps may be made again in any case after so many queries. They are made each time the search is resumed, so
/// they grow slower than the search: one that is resumed often, for few queries each, must get on.
fn most_steps(queries: u64) -> u64 {
    (LEAST_STEPS + 2 * queries.isqrt()).min(MOST_STEPS)
}

/// Some of the runs of a search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Sample {
    runs: Vec<Run>,
    /// What the runs take.
    weight: usize,
    /// The most runs.
    most: usize,
    /// How many transitions a lane leaves out between two runs.
    pause: u64,
    extremes: Extremes,
}

impl Sample {
    /// That of a search which begins.
    pub(super) fn new(is_quick: bool) -> Self {
        let (most, pause) = if is_quick { (MOST_OF_QUICK, FIRST_PAUSE) } else { (MOST_RUNS, 0) };
        Sample { runs: Vec::new(), weight: 0, most, pause, extremes: Extremes::new(is_quick) }
    }

    /// Whether it can be one of this problem.
    pub(super) fn is_of(&self, problem: &Problem) -> bool {
        let weight = self.runs.iter().map(Run::weight).sum::<usize>();
        self.most <= MOST_RUNS
            && self.runs.len() <= self.most
            && self.weight == weight
            && self.runs.iter().all(|run| run.is_of(problem))
            && self.extremes.is_of(problem)
    }

    /// Adds a run; how many transitions to leave out before the next one begins.
    fn add(&mut self, run: Run) -> u64 {
        self.weight += run.weight();
        self.runs.push(run);
        while self.runs.len() > self.most || self.weight > MOST_WEIGHT && self.runs.len() > 1 {
            self.thin_out();
            self.pause = self.pause.saturating_mul(2).saturating_add(1);
        }
        self.pause
    }

    /// Drops every second run, and never the first.
    fn thin_out(&mut self) {
        let mut is_kept = false;
        self.runs.retain(|_| {
            is_kept = !is_kept;
            is_kept
        });
        self.weight = self.runs.iter().map(Run::weight).sum();
    }

    /// All runs in the order in which they are to be made again: drawn at random, and in between those with extreme
    /// answers. Another number draws another order.
    fn order(&self, number: u64) -> Vec<&Run> {
        let mut runs: Vec<&Run> = self.runs.iter().collect();
        let mut random = number;
        for left in (1..runs.len()).rev() {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            runs.swap(left, ((random >> 33) % (left as u64 + 1)) as usize);
        }
        let mut order = Vec::with_capacity(runs.len());
        let (mut drawn, mut extremes) = (runs.into_iter(), self.extremes.runs());
        loop {
            let before = order.len();
            order.extend(drawn.next());
            order.extend(extremes.next());
            if order.len() == before {
                return order;
            }
        }
    }

    /// Asks the system again for what it answered: for some of it in any case, and as long as `has_time` for more, in
    /// the end also for the traces that are remembered, the newest first.
    ///
    /// # Errors
    /// When it answers something else, or the system fails or is stopped.
    pub(super) fn run_again(
        &self,
        problem: &Problem,
        queries: u64,
        trie: &Trie,
        has_time: &dyn Fn() -> bool,
        instance: &mut Instance<'_>,
    ) -> Result<(), RunError> {
        let mut left = most_steps(queries);
        for (index, run) in self.order(queries).into_iter().enumerate() {
            // The first is made however long it is: there is none that is known to be shorter.
            if index == 0 || run.steps() <= left || has_time() {
                run.again(problem, instance)?;
                left = left.saturating_sub(run.steps());
            }
        }
        for (initial, stops) in trie.traces() {
            if !has_time() {
                break;
            }
            trace_again(problem, instance, initial, &stops)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Verdict;

    /// A sample of a lane that only ever goes ahead, in runs of so many steps.
    fn sample_of(transitions: u64, length: u64, is_quick: bool) -> Sample {
        let shared = Shared::new(Sample::new(is_quick));
        let mut sampler = Sampler::new(shared.clone(), 1);
        let mut at = 0;
        for now in 0..transitions {
            if now >= at {
                let number = now % length + 1;
                let observation = [now as f64];
                let answer = Answer::new(&observation, Verdict::Running, 0.0);
                let (goes_on, is_last) = (number > 1, number == length);
                let step = Step { initial: 0, number, action: 0, goes_on, answer, is_last };
                at = sampler.take(now, step, Vec::new);
            }
        }
        sampler.end(transitions);
        shared.copy()
    }

    #[test]
    fn a_sample_is_bounded_and_spans_the_search() {
        for transitions in [1, 20, 1_000, 100_000] {
            for length in [1, 7, 150, 2_000] {
                let sample = sample_of(transitions, length, true);
                assert!((1..=MOST_OF_QUICK).contains(&sample.runs.len()));
                assert_eq!(sample.runs[0].before, 0, "the first run is always there");
                assert_eq!(sample.order(transitions).len(), sample.runs.len());
            }
        }
        assert!(sample_of(100_000, 20, true).runs.len() > MOST_OF_QUICK / 8);
    }

    /// As long as there is room all is written down of a system that is not quick, and then evenly less.
    #[test]
    fn all_is_written_down_of_a_system_that_is_not_quick() {
        for length in [1, 7, 150, 2_000] {
            let sample = sample_of(10_000, length, false);
            assert_eq!(sample.runs.iter().map(|run| run.answers.len()).sum::<usize>(), 10_000);
        }
        let sample = sample_of(2_000_000, 150, false);
        assert!((MOST_WEIGHT / 4..=MOST_WEIGHT).contains(&sample.weight), "{}", sample.weight);
        assert!(sample.runs.len() <= MOST_RUNS);
    }
}

//! The paper's Algorithm 1, made sound.
//!
//! Trees are enumerated by shape in increasing size; the nodes of a shape are *variables* that take
//! their values in a fixed order, the last one changing fastest. A full assignment is a tree: it is
//! run, and the run stops as soon as it cannot beat the incumbent.
//!
//! **Distances.** A predicate `x >= t` keeps the smallest value of `x` that it found true in any run
//! since it was assigned, its distance `d`. Once all assignments of the later variables are done,
//! the thresholds in `(t, d]` need not be tried: with each of them every one of those runs would
//! have been the same, step by step. A predicate that was never true skips the rest of its
//! dimension. With several initial states only one trace counts, the one that shows that the tree
//! is no better than the incumbent: a better tree must change that trace.
//!
//! **Why the paper's rules together are unsound.** The argument needs each assignment of the later
//! variables to have been run. The paper also discards, unrun, trees with two equal subtrees. Whether
//! subtrees are equal depends on the thresholds in them: a discarded tree can stop being discarded,
//! and be the best one, at a threshold that the distance then jumps over. So with distances only
//! nodes with two equal *leaves* are discarded: this depends on no threshold, and such a tree acts
//! like a smaller one, which came earlier. Without distances (`pruning: false`) every tree with equal
//! subtrees, or with a predicate that an ancestor already decides, is discarded; that is sound, and
//! reproduces the tree counts of the paper's "not prune" column.

mod assignment;
mod evaluation;

use std::ops::ControlFlow;

use self::assignment::Assignment;
use self::evaluation::{Evaluation, Judgement};
use super::progress::Progress;
use super::shape::Shape;
use crate::problem::{Problem, RunError, SystemFactory};

pub(super) fn search(
    problem: &Problem,
    factory: &dyn SystemFactory,
    pruning: bool,
    progress: &mut Progress<'_>,
) -> Result<(), RunError> {
    let mut evaluation = Evaluation::new(problem, progress.instance(problem, factory)?);
    let limits = problem.limits();
    let largest = if problem.predicate_count() == Some(0) { 0 } else { limits.nodes() };
    for size in 0..=largest {
        if progress.is_settled(size) {
            break;
        }
        progress.size(size);
        let ended = Shape::for_each(size, limits.depth(), |shape| {
            let mut assignment = Assignment::new(problem, shape, pruning);
            while assignment.advance() {
                let judged = evaluation.judge(assignment.tree(), progress.value_to_beat(size));
                let (traces, queries) = evaluation.cost();
                progress.ran(traces, queries);
                match judged {
                    Err(error) => return ControlFlow::Break(Err(error)),
                    Ok(judgement) => {
                        progress.considered();
                        if let Judgement::Better(value) = judgement {
                            progress.improved(assignment.tree().to_tree(), value);
                            if progress.is_settled(size) {
                                return ControlFlow::Break(Ok(()));
                            }
                        }
                        assignment.learn(evaluation.distances());
                    }
                }
            }
            ControlFlow::Continue(())
        });
        if let ControlFlow::Break(result) = ended {
            return result;
        }
    }
    Ok(())
}

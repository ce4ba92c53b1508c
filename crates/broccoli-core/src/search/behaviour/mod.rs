//! The behaviour engine.

mod bounds;
mod driver;
mod labels;
mod realise;
mod version_space;
mod walk;

use self::driver::Driver;
use self::realise::{Labelled, smallest_tree};
use self::walk::{Ask, Walk};
use super::progress::Progress;
use crate::problem::{Problem, RunError, SystemFactory};

fn search_with<S: bounds::Store>(
    problem: &Problem,
    factory: &dyn SystemFactory,
    progress: &mut Progress<'_>,
) -> Result<(), RunError> {
    let mut driver = Driver::new(problem, factory)?;
    let limits = problem.limits();
    let mut walk = Walk::<S>::new(problem, limits.nodes(), None, None);
    let mut ask = walk.start();
    loop {
        match ask {
            Ask::Done => break,
            Ask::Found { value, size } => {
                let labels: Vec<Labelled> =
                    (walk.behaviour()).map(|(cell, label)| Labelled { cell: cell.to_vec(), label }).collect();
                if let Some(tree) = smallest_tree(problem, &labels, limits.depth(), u64::from(size)) {
                    debug_assert_eq!(tree.size(), u64::from(size));
                    progress.improved(tree, value);
                }
                ask = walk.resume();
            }
            _ => {
                let verdict = driver.answer(ask)?;
                ask = walk.tell(verdict, driver.cell());
            }
        }
    }
    progress.considered(driver.traces(), driver.queries());
    Ok(())
}

pub(super) fn search(
    problem: &Problem,
    factory: &dyn SystemFactory,
    progress: &mut Progress<'_>,
) -> Result<(), RunError> {
    match (problem.dimensions().len(), problem.actions().len()) {
        (1, 2) => search_with::<bounds::Inline<1, 2>>(problem, factory, progress),
        (2, 2) => search_with::<bounds::Inline<2, 2>>(problem, factory, progress),
        (4, 2) => search_with::<bounds::Inline<4, 2>>(problem, factory, progress),
        _ => search_with::<bounds::Arena>(problem, factory, progress),
    }
}

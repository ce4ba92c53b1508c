//! That values are Broccoli's, and that what the arena spares changes nothing.

use broccoli_core::search::value;

use super::*;
use crate::anytime::problems::{Named, problems};

const BUDGET: Budget = Budget { queries: u64::MAX, seconds: 1e6 };

/// Nothing is cut short but by what is needed.
fn arena<'p>(problem: &'p Problem, factory: &dyn SystemFactory) -> Arena<'p> {
    let horizon = problem.objective().horizon();
    Arena { cut: horizon, ..Arena::new(problem, factory, BUDGET).unwrap() }
}

/// Trees drawn at random, and some that are better where it does not take long to find any.
fn trees(named: &Named) -> Vec<Ranked> {
    let (problem, factory) = (&named.problem, &*named.target.factory);
    let mut dice = Dice::new(7);
    let space = Space::new(problem).unwrap();
    let mut trees: Vec<Ranked> = (0..4).map(|_| space.random(&mut dice)).collect();
    if !named.name.starts_with("pendulum-d") {
        let mut arena = Arena::new(problem, factory, BUDGET).unwrap();
        trees.extend((0..2).map(|_| arena.start(&mut dice, 20).unwrap().tree));
        trees.push(space.mutated(&trees[5], &mut dice).0);
    }
    trees
}

#[test]
fn values_are_broccolis_and_giving_up_changes_no_comparison() {
    let mut compared = 0;
    for named in problems(&[], false).unwrap() {
        let (problem, factory) = (&named.problem, &*named.target.factory);
        let full = |tree: &Ranked| arena(problem, factory).score(tree.clone(), None).unwrap().unwrap();
        let all: Vec<Known> = trees(&named).iter().map(full).collect();
        for known in &all {
            let shown = Space::new(problem).unwrap().shown(&known.tree);
            let expected = value(problem, factory, &shown).unwrap();
            assert_eq!(known.value, expected, "{}: {shown:?}", named.name);
            for other in &all {
                let mut arena = arena(problem, factory);
                let found = arena.score(known.tree.clone(), Some(other.score)).unwrap();
                let expected = Some(known.score).filter(|score| *score <= other.score);
                assert_eq!(found.map(|found| found.score), expected, "{}: {shown:?}", named.name);
                assert_eq!(arena.run.points.len(), usize::from(expected.is_some() && known.value.is_some()));
                compared += usize::from(known.score.failed == 0 && known.score < other.score);
            }
        }
    }
    assert!(compared > 300, "{compared}");
}

#[test]
fn a_change_that_is_never_come_to_changes_nothing() {
    for named in problems(&["cartpole-d3".to_owned(), "pendulum-return".to_owned()], false).unwrap() {
        let (problem, factory) = (&named.problem, &*named.target.factory);
        let mut dice = Dice::new(3);
        let mut arena = arena(problem, factory);
        let mut spared = 0;
        for _ in 0..30 {
            let known = arena.start(&mut dice, 1).unwrap();
            let (tree, place) = arena.space.mutated(&known.tree, &mut dice);
            let before = arena.run.queries;
            let changed = arena.changed(&known, tree.clone(), place, Score::WORST).unwrap().unwrap();
            if arena.run.queries == before {
                spared += 1;
                assert_eq!(arena.score(tree, None).unwrap().unwrap().value, changed.value);
            }
        }
        assert!(spared > 0);
    }
}

#[test]
fn queries_end_a_run_and_a_cache_spares_them() {
    let named = problems(&["cartpole-d2".to_owned()], false).unwrap().remove(0);
    let tree = Space::new(&named.problem).unwrap().random(&mut Dice::new(1));
    let budget = Budget { queries: 5, seconds: 1e6 };
    let mut few = Arena::new(&named.problem, &*named.target.factory, budget).unwrap();
    assert!(matches!(few.score(tree.clone(), None), Err(Ended::Spent)));
    assert_eq!((few.run.queries, few.run.is_late, few.run.points.len()), (5, false, 0));
    let mut cached = arena(&named.problem, &*named.target.factory);
    cached.count_distinct().unwrap();
    cached.score(tree.clone(), None).unwrap();
    let first = cached.run.queries;
    cached.score(tree, None).unwrap();
    assert!(first > 0 && cached.run.queries == first);
}

//! The version space against the plain recursion, and its memory.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::problem::Thresholds;
use crate::search::behaviour::bounds::{Arena, Long, Registers, Short};
use crate::search::behaviour::realise::{Labelled, least_nodes};

/// Pushes the points that fit, takes some back now and then, and compares every answer with the plain recursion.
fn check<S: Store>(
    dimensions: usize,
    labels: usize,
    (depth, nodes): (u32, Cost),
    moves: &[([Rank; 4], u16, u8)],
) -> Result<(), TestCaseError> {
    let mut space = VersionSpace::<S>::new(vec![7; dimensions], labels, depth, nodes);
    let mut points: Vec<Labelled> = Vec::new();
    for &(cell, label, back) in moves {
        let (cell, label) = (cell[..dimensions].to_vec(), label % labels as u16);
        if points.iter().any(|point| point.cell == cell) {
            continue;
        }
        let before = space.cost();
        points.push(Labelled { cell: cell.clone(), label });
        let all: Vec<&Labelled> = points.iter().collect();
        let expected = least_nodes(&all, depth, u64::from(nodes));
        for most in 0..=nodes {
            let fit = space.fit(&Point::new(&cell, label), most);
            let is_within = |cost: Cost| expected.is_some_and(|least| least <= cost.into());
            let is_right = match fit {
                Fit::Within(cost) => cost <= most && is_within(cost),
                Fit::No => !is_within(most),
                Fit::Unknown => true,
            };
            prop_assert!(is_right, "{fit:?} within {most}, and it is {expected:?}");
        }
        let pushed = space.push(&Point::new(&cell, label));
        prop_assert_eq!(pushed.then(|| u64::from(space.cost())), expected);
        if pushed {
            prop_assert_eq!(space.cost_of_first(points.len() - 1), before);
        } else {
            points.pop();
            prop_assert_eq!(space.cost(), before);
        }
        if usize::from(back) < points.len() && back % 3 == 0 {
            points.truncate(usize::from(back));
            space.pop_to(points.len());
        }
        prop_assert_eq!(space.len(), points.len());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_the_plain_recursion(
        depth in 0..=4u32,
        nodes in 0..=15u32,
        moves in vec((any::<[u8; 4]>().prop_map(|cell| cell.map(|rank| Rank::from(rank % 8))), 0..3u16, 0..24u8), 0..24),
    ) {
        let limits = (depth, nodes.min((1 << depth) - 1));
        for dimensions in 1..=4 {
            check::<Registers<Short>>(dimensions, 2, limits, &moves)?;
            check::<Registers<Long>>(dimensions, 2, limits, &moves)?;
        }
        check::<Arena>(1, 3, limits, &moves)?;
        check::<Arena>(2, 2, limits, &moves)?;
        check::<Arena>(3, 3, limits, &moves)?;
    }

    /// Labels that two or three predicates tell apart, but for a few: with labels at random, hardly any points fit
    /// within so few predicates.
    #[test]
    fn agrees_where_few_predicates_do(
        depth in 2..=4u32,
        nodes in 2..=4u32,
        predicates in any::<[(usize, u8, bool); 3]>(),
        moves in vec((any::<[u8; 4]>().prop_map(|cell| cell.map(|rank| Rank::from(rank % 8))), 0..12u8, 0..48u8), 0..48),
    ) {
        let limits = (depth, nodes.min((1 << depth) - 1));
        let labelled = |dimensions: usize| -> Vec<([Rank; 4], u16, u8)> {
            let is = |cell: &[Rank; 4], (dimension, threshold, is_above): (usize, u8, bool)| {
                (cell[dimension % dimensions] > Rank::from(threshold % 7)) == is_above
            };
            let [a, b, c] = predicates;
            let label = |cell: &[Rank; 4]| is(cell, a) && is(cell, b) || limits.1 > 2 && is(cell, c);
            moves.iter().map(|&(cell, noise, back)| (cell, u16::from(label(&cell) ^ (noise == 0)), back)).collect()
        };
        for dimensions in 1..=4 {
            check::<Registers<Short>>(dimensions, 2, limits, &labelled(dimensions))?;
            check::<Registers<Long>>(dimensions, 2, limits, &labelled(dimensions))?;
        }
        check::<Arena>(2, 2, limits, &labelled(2))?;
    }
}

/// Ranks use all 16 bits, or all that numbers have: what is told apart does not depend on where they lie.
#[test]
fn ranks_of_all_sizes() {
    let short = Rank::from(u16::MAX);
    check_ranks::<Registers<Short>>(short, [1, 2, 1 << 15, (1 << 15) + 1, short - 1, short]);
    let long = Thresholds::all().len();
    check_ranks::<Registers<Long>>(long, [1, 2, long / 2, long / 2 + 1, long - 1, long]);
    check_ranks::<Arena>(long, [1, 2, long / 2, long / 2 + 1, long - 1, long]);
}

fn check_ranks<S: Store>(most: Rank, some: [Rank; 6]) {
    for high in some {
        for place in 0..4 {
            let mut space = VersionSpace::<S>::new(vec![most; 4], 2, 1, 1);
            let cell = |rank: Rank| [0, 1, 2, 3].map(|other| if other == place { rank } else { 7 });
            assert!(space.push(&Point::new(&cell(0), 0)));
            assert!(space.push(&Point::new(&cell(high), 1)), "0 is told from {high}");
            assert_eq!(space.cost(), 1);
            if let Some(beyond) = Some(high + 1).filter(|&beyond| beyond <= most) {
                let fit = space.fit(&Point::new(&cell(beyond), 0), 1);
                assert_eq!(fit, Fit::No, "one predicate does not do for both sides of {high}");
            }
        }
    }
}

/// Thousands of thresholds cost no more than the points that tell them apart.
#[test]
fn thousands_of_thresholds_take_little_memory() {
    let mut space = VersionSpace::<Registers<Short>>::new(vec![2_000; 4], 2, 3, 7);
    let mut random = 1u64;
    let mut draw = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let mut most = 0;
    for _ in 0..2_000 {
        let cell = [draw(2_001), draw(2_001), draw(2_001), draw(2_001)];
        let label = u16::from(cell[0] > 700) ^ u16::from(cell[1] > 1_200 && cell[2] > 300);
        space.push(&Point::new(&cell, label));
        let entries: usize = space.entries.iter().map(|entries| entries.len).sum();
        most = most.max(entries * size_of::<Entry<<Registers<Short> as Store>::Bounds>>());
    }
    assert_eq!(space.len(), 2_000, "every label is that of a tree of depth 3");
    assert!(most < 1 << 30, "{most} bytes");
}

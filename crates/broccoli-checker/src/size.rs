//! Which labels a tree can give: the fewest predicates that tell points apart, from scratch each time.

/// A cell with its label.
#[derive(Clone, Copy, Debug)]
pub struct Point<'a> {
    /// The ranks.
    pub cell: &'a [u32],
    /// The action.
    pub label: u16,
}

/// The fewest predicates, at most `most`, of a tree of at most this depth that gives every point its label;
/// none if there is no such tree.
///
/// Points of one label need no predicate. All others need a first one, which has some of the points on its
/// false side and the rest on its true side; both sides are then told apart with one level less. Beyond that
/// nothing is clever, but this: with a greater threshold the false side has more points, so it needs no
/// fewer predicates, and the true side has fewer.
///
/// ```
/// use broccoli_checker::{Point, least_size};
/// let point = |rank: &'static [u32], label| Point { cell: rank, label };
/// let points = [point(&[0], 7), point(&[3], 5), point(&[9], 7)];
/// assert_eq!(least_size(&points[..2], 1, 3), Some(1));
/// assert_eq!(least_size(&points, 1, 3), None);
/// assert_eq!(least_size(&points, 2, 3), Some(2));
/// ```
pub fn least_size(points: &[Point<'_>], depth: u32, most: u32) -> Option<u32> {
    if points.windows(2).all(|pair| pair[0].label == pair[1].label) {
        return Some(0);
    }
    if depth == 0 || most == 0 {
        return None;
    }
    if depth == 1 {
        return one_level(points.iter()).pop().flatten();
    }
    let (mut best, mut most) = (None, most);
    for dimension in 0..points[0].cell.len() {
        if let Some(size) = best_split(points, dimension, depth, most) {
            best = Some(size);
            most = size - 1;
        }
        if most == 0 {
            break;
        }
    }
    best
}

/// The same with a first predicate on this dimension.
fn best_split(points: &[Point<'_>], dimension: usize, depth: u32, mut most: u32) -> Option<u32> {
    let mut points = points.to_vec();
    points.sort_unstable_by_key(|point| point.cell[dimension]);
    let rank = |place: usize| points[place].cell[dimension];
    let splits: Vec<usize> = (1..points.len()).filter(|&place| rank(place - 1) < rank(place)).collect();
    let mut best = None;
    if depth == 2 {
        // One level below it does with bounds, which are made point by point from either end.
        let falses = one_level(points.iter());
        let trues = one_level(points.iter().rev());
        let size = |&place: &usize| Some(1 + falses[place]? + trues[points.len() - place]?);
        return splits.iter().filter_map(size).min().filter(|size| *size <= most);
    }
    let side = |points, most: u32| least_size(points, depth - 1, most);
    let first = splits.partition_point(|&place| side(&points[place..], most - 1).is_none());
    for &place in &splits[first..] {
        if most == 0 {
            break;
        }
        let Some(no) = side(&points[..place], most - 1) else { break };
        if let Some(yes) = side(&points[place..], most - 1 - no) {
            best = Some(1 + no + yes);
            most = no + yes;
        }
    }
    best
}

/// For the first 0, 1, 2, … points: the fewest predicates of a tree of depth at most 1. That is 0 for one
/// label, and 1 for two whose ranks do not overlap in some dimension.
fn one_level<'p, 'a: 'p>(points: impl Iterator<Item = &'p Point<'a>>) -> Vec<Option<u32>> {
    let mut sizes = vec![Some(0)];
    // Per label, the least and greatest rank in every dimension.
    let mut bounds: Vec<(u16, Vec<(u32, u32)>)> = Vec::new();
    for point in points {
        if sizes.last() == Some(&None) {
            sizes.push(None); // it gets no better with more points
            continue;
        }
        match bounds.iter_mut().find(|(label, _)| *label == point.label) {
            Some((_, ranges)) => {
                for (range, &rank) in ranges.iter_mut().zip(point.cell) {
                    *range = (range.0.min(rank), range.1.max(rank));
                }
            }
            None => bounds.push((point.label, point.cell.iter().map(|&rank| (rank, rank)).collect())),
        }
        let are_apart = |(a, b): (&(u32, u32), &(u32, u32))| a.1 < b.0 || b.1 < a.0;
        sizes.push(match &bounds[..] {
            [_] => Some(0),
            [a, b] if a.1.iter().zip(&b.1).any(are_apart) => Some(1),
            _ => None,
        });
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plain recursion over every threshold.
    fn naive(points: &[Point<'_>], ranks: u32, depth: u32) -> Option<u32> {
        if points.iter().all(|point| point.label == points[0].label) {
            return Some(0);
        }
        let depth = depth.checked_sub(1)?;
        let split = |(dimension, threshold): (usize, u32)| {
            let (yes, no): (Vec<_>, Vec<_>) = points.iter().partition(|p| p.cell[dimension] > threshold);
            Some(1 + naive(&yes, ranks, depth)? + naive(&no, ranks, depth)?)
        };
        (0..2).flat_map(|d| (0..ranks).map(move |t| (d, t))).filter_map(split).min()
    }

    #[test]
    fn it_says_what_plain_recursion_says() {
        let mut random = 1u64;
        let mut draw = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        let mut seen = [0; 6];
        for _ in 0..3_000 {
            let count = 1 + draw(9) as usize;
            let cells: Vec<[u32; 2]> = (0..count).map(|_| [draw(5) as u32, draw(5) as u32]).collect();
            let labels = 2 + draw(2);
            let point = |cell| Point { cell, label: 0 };
            let mut points: Vec<Point<'_>> = cells.iter().map(|cell| point(&cell[..])).collect();
            points.sort_by_key(|point| point.cell);
            points.dedup_by_key(|point| point.cell);
            points.iter_mut().for_each(|point| point.label = draw(labels) as u16);
            for depth in 0..=3 {
                let least = naive(&points, 5, depth);
                seen[least.map_or(5, |least| least.min(4)) as usize] += 1;
                for most in 0..=7 {
                    let expected = least.filter(|least| *least <= most);
                    assert_eq!(least_size(&points, depth, most), expected, "{points:?} {depth} {most}");
                }
            }
        }
        assert!(seen.iter().all(|count| *count > 50), "{seen:?}");
    }
}

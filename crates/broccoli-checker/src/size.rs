//! Which labels a tree can give: the fewest predicates that tell points apart, from scratch each time.
//!
//! All is counted, a unit for each rank of a point that is looked at. When the work is used up everything
//! returns at once, and the caller has to ask the meter whether the answer means anything.

use crate::limits::Meter;
use crate::problem::{Rank, Thresholds};

/// A cell with its label.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point<'a> {
    /// The ranks.
    pub(crate) cell: &'a [Rank],
    /// The action.
    pub(crate) label: u16,
}

/// The fewest predicates, at most `most`, of a tree of at most this depth that gives every point its label;
/// none if there is no such tree.
///
/// Points of one label need no predicate. All others need a first one, which has some of the points on its
/// false side and the rest on its true side; both sides are then told apart with one level less. Nothing is
/// clever beyond that, but this: with a greater threshold the false side has more points, so it needs no
/// fewer predicates, and the true side has fewer.
pub(crate) fn least_size(points: &[Point<'_>], depth: u32, most: u32, meter: &mut Meter) -> Option<u32> {
    meter.spend(looked_at(points)).ok()?;
    let Some(other) = points.iter().position(|point| point.label != points[0].label) else { return Some(0) };
    if depth == 0 || most == 0 {
        return None;
    }
    if one_predicate_does(points, points[other].label) {
        return Some(1);
    }
    let (mut best, mut most) = (None, most);
    for dimension in 0..points[0].cell.len() {
        if depth > 1 && most > 1 {
            let size = best_split(points, dimension, depth, most, meter);
            best = size.or(best);
            most = size.map_or(most, |size| size - 1);
        }
    }
    best
}

/// The ranks of all points, to be counted as work.
fn looked_at(points: &[Point<'_>]) -> u64 {
    points.iter().map(|point| 1 + point.cell.len() as u64).sum()
}

/// Whether there are two labels only, the first point's and `other`, and their ranks do not overlap in some
/// dimension.
fn one_predicate_does(points: &[Point<'_>], other: u16) -> bool {
    let first = points[0].label;
    points.iter().all(|point| point.label == first || point.label == other)
        && (0..points[0].cell.len()).any(|dimension| {
            let mut ranges = [(Rank::MAX, 0); 2];
            for point in points {
                let range = &mut ranges[usize::from(point.label == other)];
                let rank = point.cell[dimension];
                *range = (range.0.min(rank), range.1.max(rank));
            }
            ranges[0].1 < ranges[1].0 || ranges[1].1 < ranges[0].0
        })
}

/// The fewest predicates with a first one on this dimension.
fn best_split(
    points: &[Point<'_>],
    dimension: usize,
    depth: u32,
    mut most: u32,
    meter: &mut Meter,
) -> Option<u32> {
    meter.spend(8 * points.len() as u64).ok()?; // about what sorting takes
    let mut points = points.to_vec();
    points.sort_unstable_by_key(|point| point.cell[dimension]);
    let rank = |place: usize| points[place].cell[dimension];
    let places: Vec<usize> = (1..points.len()).filter(|&place| rank(place - 1) < rank(place)).collect();
    let mut side = |points, most| least_size(points, depth - 1, most, meter);
    let first = places.partition_point(|&place| side(&points[place..], most - 1).is_none());
    let mut best = None;
    for &place in &places[first..] {
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

/// The first predicates that trees which give some points their labels can have. With more points there are
/// only fewer of them, so it pays to remember them.
#[derive(Clone, Debug)]
pub(crate) struct Firsts {
    depth: u32,
    most: u32,
    splits: Vec<Split>,
}

/// First predicates that are true and false of the same points: those with index `low` to `high`, each true where
/// the rank is greater; and the fewest predicates that their false and their true side need.
#[derive(Clone, Copy, Debug)]
struct Split {
    dimension: usize,
    low: Rank,
    high: Rank,
    sizes: [u32; 2],
}

impl Split {
    /// Those of them that are false of a rank, and those that are true.
    fn cut(self, rank: Rank) -> [Option<Split>; 2] {
        let is_false = Split { low: self.low.max(rank), ..self };
        let is_true = rank.checked_sub(1).map(|last| Split { high: self.high.min(last), ..self });
        [Some(is_false), is_true].map(|part| part.filter(|part| part.low <= part.high))
    }
}

impl Firsts {
    /// The bytes that they take.
    pub(crate) fn taken(&self) -> usize {
        self.splits.capacity() * size_of::<Split>()
    }

    /// Those of trees of at most this depth and size without any point.
    pub(crate) fn new(thresholds: &[Thresholds], depth: u32, most: u32) -> Self {
        let predicates = thresholds.iter().map(Thresholds::predicates).enumerate();
        let splits = predicates.filter_map(|(dimension, predicates)| {
            predicates.map(|(low, high)| Split { dimension, low, high, sizes: [0, 0] })
        });
        Firsts { depth, most, splits: splits.collect() }
    }

    /// Those that are left with the last of these points, if they are those of all points before it; and the
    /// fewest predicates of a tree, if there is any.
    pub(crate) fn with_last(&self, points: &[Point<'_>], meter: &mut Meter) -> Option<(u32, Firsts)> {
        let (last, _) = points.split_last()?;
        let is_uniform = points.iter().all(|point| point.label == last.label);
        let mut least = is_uniform.then_some(0);
        let mut splits: Vec<Split> = Vec::new();
        let mut side = Vec::new();
        for split in self.splits.iter().filter(|_| self.depth > 0 && self.most > 0) {
            for (is_last_true, part) in split.cut(last.cell[split.dimension]).into_iter().enumerate() {
                let Some(Split { dimension, low, mut sizes, .. }) = part else { continue };
                meter.spend(points.len() as u64).ok()?;
                side.clear();
                let is_true = |point: &Point<'_>| usize::from(point.cell[dimension] > low);
                side.extend(points.iter().filter(|point| is_true(point) == is_last_true));
                let other = sizes[1 - is_last_true];
                let Some(size) = least_size(&side, self.depth - 1, self.most - 1, meter) else { continue };
                if 1 + size + other <= self.most {
                    sizes[is_last_true] = size;
                    least = Some(least.map_or(1 + size + other, |least: u32| least.min(1 + size + other)));
                    splits.extend(part.map(|part| Split { sizes, ..part }));
                }
            }
        }
        least.map(|least| (least, Firsts { splits, ..*self }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;

    #[test]
    fn a_few_points_need_few_predicates() {
        let point = |rank: &'static [Rank], label| Point { cell: rank, label };
        let points = [point(&[0], 7), point(&[3], 5), point(&[9], 7)];
        let mut meter = Meter::new(Limits { memory: 0, work: 1_000 });
        assert_eq!(least_size(&points[..2], 1, 3, &mut meter), Some(1));
        assert_eq!(least_size(&points, 1, 3, &mut meter), None);
        assert_eq!(least_size(&points, 2, 3, &mut meter), Some(2));
        assert_eq!(meter.has_work(), Ok(()));
    }

    /// Chance labels on many points make the deepest recursion; it ends soon after the work does.
    #[test]
    fn work_that_is_used_up_ends_the_recursion() {
        let cells: Vec<[Rank; 2]> = (0..2_000).map(|i| [i, i * 7_919 % 2_000]).collect();
        let labels = (0..2_000u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 62) as u16);
        let points: Vec<Point<'_>> =
            cells.iter().zip(labels).map(|(cell, label)| Point { cell, label }).collect();
        let limits = Limits { memory: 0, work: 1_000_000 };
        let mut meter = Meter::new(limits);
        assert_eq!(least_size(&points, 16, u32::MAX, &mut meter), None);
        assert_eq!(meter.has_work(), Err(crate::TooMuch::Work(limits.work)));
        // What is counted after that is what every call counts before it returns.
        assert!(meter.work < 50 * limits.work, "{}", meter.work);
    }

    /// Plain recursion over every threshold.
    fn naive(points: &[Point<'_>], ranks: Rank, depth: u32) -> Option<u32> {
        if points.iter().all(|point| point.label == points[0].label) {
            return Some(0);
        }
        let depth = depth.checked_sub(1)?;
        let split = |(dimension, threshold): (usize, Rank)| {
            let (yes, no): (Vec<_>, Vec<_>) = points.iter().partition(|p| p.cell[dimension] > threshold);
            Some(1 + naive(&yes, ranks, depth)? + naive(&no, ranks, depth)?)
        };
        (0..2).flat_map(|d| (0..ranks).map(move |t| (d, t))).filter_map(split).min()
    }

    #[test]
    fn both_say_what_plain_recursion_says() {
        let mut random = 1u64;
        let mut draw = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        let five = || Thresholds::List((1..=5).map(f64::from).collect());
        let thresholds = [five(), five()];
        let mut seen = [0; 6];
        for _ in 0..3_000 {
            let count = 1 + draw(9) as usize;
            let cells: Vec<[Rank; 2]> = (0..count).map(|_| [draw(5), draw(5)]).collect();
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
                    let mut meter = Meter::new(Limits { memory: 0, work: u64::MAX });
                    assert_eq!(
                        least_size(&points, depth, most, &mut meter),
                        expected,
                        "{points:?} {depth} {most}"
                    );
                    let mut firsts = Some((0, Firsts::new(&thresholds, depth, most)));
                    for count in 1..=points.len() {
                        firsts =
                            firsts.and_then(|(_, firsts)| firsts.with_last(&points[..count], &mut meter));
                    }
                    assert_eq!(firsts.map(|(least, _)| least), expected, "{points:?} {depth} {most}");
                }
            }
        }
        assert!(seen.iter().all(|count| *count > 50), "{seen:?}");
    }
}

//! Eight numbers in wide registers, one for each direction: up in each of four dimensions, and then down.
//!
//! [`Short`] holds ranks among listed thresholds in 16 bits. [`Long`] holds ranks among all numbers as the numbers
//! themselves, as registers compare those well.

use wide::{f64x2, i16x8};

use crate::problem::{Rank, value_of_rank};

/// Eight numbers.
pub(in super::super) trait Lanes: Copy + Default + PartialEq {
    /// One of them.
    type Lane: Copy + PartialOrd;
    /// Less than any rank, in all places: those of no point.
    const NOTHING: Self;
    /// At least any rank, and any complement.
    const ALL: Self::Lane;

    /// A rank.
    fn lane(rank: Rank) -> Self::Lane;
    /// Turns the order round.
    fn complement(lane: Self::Lane) -> Self::Lane;
    fn new(lanes: [Self::Lane; 8]) -> Self;
    /// The greater one in each place.
    fn max(self, other: Self) -> Self;
    /// Whether one is greater in some place.
    fn exceeds(self, other: Self) -> bool;
    /// A bit for each place in which one is greater.
    fn exceeding(self, other: Self) -> u8;
    /// The complements, each in the place of the opposite direction.
    fn opposite(self) -> Self;
}

/// Ranks among listed thresholds.
pub(in super::super) type Short = i16x8;

impl Lanes for Short {
    type Lane = i16;
    const NOTHING: Self = i16x8::splat(i16::MIN);
    const ALL: i16 = i16::MAX;

    /// Ranks have no sign, and registers compare numbers that have one.
    #[inline(always)]
    fn lane(rank: Rank) -> i16 {
        (rank as u16 ^ 1 << 15).cast_signed()
    }

    #[inline(always)]
    fn complement(lane: i16) -> i16 {
        !lane
    }

    #[inline(always)]
    fn new(lanes: [i16; 8]) -> Self {
        i16x8::new(lanes)
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        i16x8::max(self, other)
    }

    #[inline(always)]
    fn exceeds(self, other: Self) -> bool {
        self.simd_gt(other).any()
    }

    #[inline(always)]
    fn exceeding(self, other: Self) -> u8 {
        self.simd_gt(other).to_bitmask() as u8
    }

    #[inline(always)]
    fn opposite(self) -> Self {
        let [a, b, c, d, e, f, g, h] = self.to_array();
        !i16x8::new([e, f, g, h, a, b, c, d])
    }
}

/// Ranks among all finite numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in super::super) struct Long([f64x2; 4]);

impl Lanes for Long {
    type Lane = f64;
    const NOTHING: Self = Long([f64x2::splat(f64::NEG_INFINITY); 4]);
    const ALL: f64 = f64::INFINITY;

    #[inline(always)]
    fn lane(rank: Rank) -> f64 {
        value_of_rank(rank)
    }

    #[inline(always)]
    fn complement(lane: f64) -> f64 {
        -lane
    }

    #[inline(always)]
    fn new([a, b, c, d, e, f, g, h]: [f64; 8]) -> Self {
        Long([[a, b], [c, d], [e, f], [g, h]].map(f64x2::new))
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        let (Long([a, b, c, d]), Long([e, f, g, h])) = (self, other);
        Long([a.fast_max(e), b.fast_max(f), c.fast_max(g), d.fast_max(h)])
    }

    #[inline(always)]
    fn exceeds(self, other: Self) -> bool {
        let (Long([a, b, c, d]), Long([e, f, g, h])) = (self, other);
        (a.simd_gt(e) | b.simd_gt(f) | c.simd_gt(g) | d.simd_gt(h)).any()
    }

    #[inline(always)]
    fn exceeding(self, other: Self) -> u8 {
        let (Long(one), Long(other)) = (self, other);
        (0..4).fold(0, |bits, place| {
            bits | (one[place].simd_gt(other[place]).to_bitmask() as u8) << (2 * place)
        })
    }

    #[inline(always)]
    fn opposite(self) -> Self {
        let Long([a, b, c, d]) = self;
        Long([-c, -d, -a, -b])
    }
}

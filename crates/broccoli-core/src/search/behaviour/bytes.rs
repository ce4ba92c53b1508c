//! Sixteen numbers of 8 bits, all of them looked at at once; like [`super::lanes`], but for two halves of eight.

#[cfg(target_arch = "x86_64")]
mod of_machine {
    use std::arch::x86_64::{
        __m128i, _mm_adds_epu8, _mm_and_si128, _mm_cmpeq_epi8, _mm_max_epu8, _mm_min_epu8, _mm_movemask_epi8,
        _mm_set_epi64x, _mm_set1_epi8, _mm_set1_epi64x, _mm_setzero_si128, _mm_shuffle_epi32,
        _mm_shufflehi_epi16, _mm_shufflelo_epi16, _mm_subs_epu8, _mm_unpacklo_epi8,
    };

    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Bytes(__m128i);

    /// Instructions that work on registers alone.
    macro_rules! of_sse2 {
        ($instructions:expr) => {
            // SAFETY: every x86-64 machine has SSE2, and nothing else is asked for.
            unsafe { $instructions }
        };
    }

    impl Bytes {
        /// The same eight in both halves, the first one in the lowest bits.
        #[inline(always)]
        pub(crate) fn twice(eight: u64) -> Self {
            Bytes(of_sse2!(_mm_set1_epi64x(eight.cast_signed())))
        }

        #[inline(always)]
        pub(crate) fn zero() -> Self {
            Bytes(of_sse2!(_mm_setzero_si128()))
        }

        /// By place, a bit for each that is equal to that of another.
        #[inline(always)]
        pub(crate) fn equal(self, other: Self) -> u16 {
            of_sse2!(_mm_movemask_epi8(_mm_cmpeq_epi8(self.0, other.0))) as u16
        }

        /// By place, a bit for each that is at most that of another.
        #[inline(always)]
        pub(crate) fn at_most(self, other: Self) -> u16 {
            Bytes(of_sse2!(_mm_subs_epu8(self.0, other.0))).equal(Bytes::zero())
        }

        /// Ones in all bits where one of the first eight numbers is at most that of another, else zeros; in each
        /// place that of the one in the given place.
        #[inline(always)]
        pub(crate) fn at_most_in<const PLACE: usize>(self, other: Self) -> Self {
            Bytes(of_sse2!({
                let at_most = _mm_cmpeq_epi8(_mm_subs_epu8(self.0, other.0), _mm_setzero_si128());
                let twice = _mm_unpacklo_epi8(at_most, at_most);
                match PLACE {
                    0 => _mm_shuffle_epi32::<0b00_00_00_00>(_mm_shufflelo_epi16::<0b00_00_00_00>(twice)),
                    1 => _mm_shuffle_epi32::<0b00_00_00_00>(_mm_shufflelo_epi16::<0b01_01_01_01>(twice)),
                    2 => _mm_shuffle_epi32::<0b00_00_00_00>(_mm_shufflelo_epi16::<0b10_10_10_10>(twice)),
                    3 => _mm_shuffle_epi32::<0b00_00_00_00>(_mm_shufflelo_epi16::<0b11_11_11_11>(twice)),
                    4 => _mm_shuffle_epi32::<0b10_10_10_10>(_mm_shufflehi_epi16::<0b00_00_00_00>(twice)),
                    5 => _mm_shuffle_epi32::<0b10_10_10_10>(_mm_shufflehi_epi16::<0b01_01_01_01>(twice)),
                    6 => _mm_shuffle_epi32::<0b10_10_10_10>(_mm_shufflehi_epi16::<0b10_10_10_10>(twice)),
                    _ => _mm_shuffle_epi32::<0b10_10_10_10>(_mm_shufflehi_epi16::<0b11_11_11_11>(twice)),
                }
            }))
        }

        /// Of each two the greater one.
        #[inline(always)]
        pub(crate) fn max(self, other: Self) -> Self {
            Bytes(of_sse2!(_mm_max_epu8(self.0, other.0)))
        }

        /// Of each two the lesser one.
        #[inline(always)]
        pub(crate) fn min(self, other: Self) -> Self {
            Bytes(of_sse2!(_mm_min_epu8(self.0, other.0)))
        }

        /// The bits that both have.
        #[inline(always)]
        pub(crate) fn and(self, other: Self) -> Self {
            Bytes(of_sse2!(_mm_and_si128(self.0, other.0)))
        }

        /// One half as it is, and zeros in the other one.
        #[inline(always)]
        pub(crate) fn half(self, half: usize) -> Self {
            static HALVES: [[i64; 2]; 2] = [[-1, 0], [0, -1]];
            let [low, high] = HALVES[half];
            self.and(Bytes(of_sse2!(_mm_set_epi64x(high, low))))
        }

        /// The halves, the second one first.
        #[inline(always)]
        pub(crate) fn swapped(self) -> Self {
            Bytes(of_sse2!(_mm_shuffle_epi32::<0b01_00_11_10>(self.0)))
        }

        /// Whether the first four and the last four of the other half, and the last four and the first four, all
        /// add up to the greatest number there is or more.
        #[inline(always)]
        pub(crate) fn halves_reach_across(self) -> bool {
            const MIRROR: i32 = 0b00_01_10_11;
            let sums = of_sse2!(_mm_adds_epu8(self.0, _mm_shuffle_epi32::<MIRROR>(self.0)));
            Bytes(sums).equal(Bytes(of_sse2!(_mm_set1_epi8(-1)))) == u16::MAX
        }
    }
}

#[cfg(any(not(target_arch = "x86_64"), test))]
#[cfg_attr(target_arch = "x86_64", allow(dead_code, reason = "only the tests use it"))]
mod of_arrays {
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Bytes(pub(super) [u8; 16]);

    fn bits(is: impl Fn(usize) -> bool) -> u16 {
        (0..16).filter(|&place| is(place)).fold(0, |bits, place| bits | 1 << place)
    }

    impl Bytes {
        /// The same eight in both halves, the first one in the lowest bits.
        #[inline(always)]
        pub(crate) fn twice(eight: u64) -> Self {
            let eight = eight.to_le_bytes();
            Bytes(std::array::from_fn(|place| eight[place % 8]))
        }

        #[inline(always)]
        pub(crate) fn zero() -> Self {
            Bytes([0; 16])
        }

        /// By place, a bit for each that is equal to that of another.
        #[inline(always)]
        pub(crate) fn equal(self, other: Self) -> u16 {
            bits(|place| self.0[place] == other.0[place])
        }

        /// By place, a bit for each that is at most that of another.
        #[inline(always)]
        pub(crate) fn at_most(self, other: Self) -> u16 {
            bits(|place| self.0[place] <= other.0[place])
        }

        /// Ones in all bits where one of the first eight numbers is at most that of another, else zeros; in each
        /// place that of the one in the given place.
        #[inline(always)]
        pub(crate) fn at_most_in<const PLACE: usize>(self, other: Self) -> Self {
            Bytes([if self.0[PLACE] <= other.0[PLACE] { u8::MAX } else { 0 }; 16])
        }

        /// Of each two the greater one.
        #[inline(always)]
        pub(crate) fn max(self, other: Self) -> Self {
            Bytes(std::array::from_fn(|place| self.0[place].max(other.0[place])))
        }

        /// Of each two the lesser one.
        #[inline(always)]
        pub(crate) fn min(self, other: Self) -> Self {
            Bytes(std::array::from_fn(|place| self.0[place].min(other.0[place])))
        }

        /// The bits that both have.
        #[inline(always)]
        pub(crate) fn and(self, other: Self) -> Self {
            Bytes(std::array::from_fn(|place| self.0[place] & other.0[place]))
        }

        /// One half as it is, and zeros in the other one.
        #[inline(always)]
        pub(crate) fn half(self, half: usize) -> Self {
            Bytes(std::array::from_fn(|place| if place / 8 == half { self.0[place] } else { 0 }))
        }

        /// The halves, the second one first.
        #[inline(always)]
        pub(crate) fn swapped(self) -> Self {
            Bytes(std::array::from_fn(|place| self.0[(place + 8) % 16]))
        }

        /// Whether the first four and the last four of the other half, and the last four and the first four, all
        /// add up to the greatest number there is or more.
        #[inline(always)]
        pub(crate) fn halves_reach_across(self) -> bool {
            (0..8).all(|place| self.0[place].saturating_add(self.0[8 + (place + 4) % 8]) == u8::MAX)
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) use self::of_arrays::Bytes;
#[cfg(target_arch = "x86_64")]
pub(super) use self::of_machine::Bytes;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Bytes, of_arrays};

    fn numbers() -> impl Strategy<Value = [u64; 2]> {
        let number =
            prop_oneof![Just(0), Just(1), Just(u8::MAX), Just(u8::MAX - 1), Just(1 << 7), any::<u8>()];
        let eight = proptest::array::uniform8(number).prop_map(u64::from_le_bytes);
        proptest::array::uniform2(eight)
    }

    proptest! {
        #[test]
        fn machine_and_arrays_agree(a in numbers(), b in numbers(), half in 0..2usize) {
            let of = |[a, b]: [u64; 2]| Bytes::twice(a).half(0).max(Bytes::twice(b).half(1));
            let plain_of = |[a, b]: [u64; 2]| {
                of_arrays::Bytes::twice(a).half(0).max(of_arrays::Bytes::twice(b).half(1))
            };
            let (own, other) = (of(a), of(b));
            let (plain, plain_other) = (plain_of(a), plain_of(b));
            prop_assert_eq!(plain.0.to_vec(), a.map(u64::to_le_bytes).concat());
            prop_assert_eq!(numbers_of(own), plain.0);
            prop_assert_eq!(own.equal(other), plain.equal(plain_other));
            prop_assert_eq!(own.at_most(other), plain.at_most(plain_other));
            prop_assert_eq!(numbers_of(own.max(other)), plain.max(plain_other).0);
            prop_assert_eq!(numbers_of(own.min(other)), plain.min(plain_other).0);
            prop_assert_eq!(numbers_of(own.and(other)), plain.and(plain_other).0);
            prop_assert_eq!(numbers_of(own.half(half)), plain.half(half).0);
            prop_assert_eq!(numbers_of(own.swapped()), plain.swapped().0);
            prop_assert_eq!(own.halves_reach_across(), plain.halves_reach_across());
            let masks = [
                own.at_most_in::<0>(other), own.at_most_in::<1>(other), own.at_most_in::<2>(other),
                own.at_most_in::<3>(other), own.at_most_in::<4>(other), own.at_most_in::<5>(other),
                own.at_most_in::<6>(other), own.at_most_in::<7>(other),
            ];
            for (place, mask) in masks.into_iter().enumerate() {
                prop_assert_eq!(numbers_of(mask), [if plain.0[place] <= plain_other.0[place] { 255 } else { 0 }; 16]);
            }
        }
    }

    /// By trying them all: there is no other way to look at one number.
    fn numbers_of(bytes: Bytes) -> [u8; 16] {
        let mut numbers = [0; 16];
        for number in 0..=u8::MAX {
            let equal = bytes.equal(Bytes::twice(u64::from_le_bytes([number; 8])));
            (0..16).filter(|place| equal >> place & 1 == 1).for_each(|place| numbers[place] = number);
        }
        numbers
    }
}

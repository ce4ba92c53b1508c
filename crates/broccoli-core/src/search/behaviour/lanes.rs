//! Eight numbers of 16 bits, all of them looked at at once.
//!
//! Plain arrays would do, and do where there is nothing better; but compilers take them apart again, and most
//! of a search is spent on these few functions.

#[cfg(target_arch = "x86_64")]
mod of_machine {
    use std::arch::x86_64::{
        __m128i, _mm_add_epi16, _mm_adds_epu16, _mm_and_si128, _mm_andnot_si128, _mm_cmpeq_epi16,
        _mm_movemask_epi8, _mm_or_si128, _mm_packs_epi16, _mm_set_epi16, _mm_set1_epi16, _mm_setzero_si128,
        _mm_shuffle_epi32, _mm_shufflehi_epi16, _mm_shufflelo_epi16, _mm_sub_epi16, _mm_subs_epu16,
    };

    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Lanes(__m128i);

    /// Instructions that work on registers alone.
    macro_rules! of_sse2 {
        ($instructions:expr) => {
            // SAFETY: every x86-64 machine has SSE2, and nothing else is asked for.
            unsafe { $instructions }
        };
    }

    impl Lanes {
        #[inline(always)]
        pub(crate) fn new(numbers: [u16; 8]) -> Self {
            let [a, b, c, d, e, f, g, h] = numbers.map(u16::cast_signed);
            Lanes(of_sse2!(_mm_set_epi16(h, g, f, e, d, c, b, a)))
        }

        #[inline(always)]
        pub(crate) fn zero() -> Self {
            Lanes(of_sse2!(_mm_setzero_si128()))
        }

        #[inline(always)]
        pub(crate) fn greatest() -> Self {
            Lanes(of_sse2!(_mm_set1_epi16(-1)))
        }

        /// Ones in all bits, or zeros.
        #[inline(always)]
        pub(crate) fn all(ones: bool) -> Self {
            Lanes(of_sse2!(_mm_set1_epi16(-i16::from(ones))))
        }

        /// Whether all are equal to those of another.
        #[inline(always)]
        fn equal(self, other: Self) -> bool {
            of_sse2!(_mm_movemask_epi8(_mm_cmpeq_epi16(self.0, other.0))) == 0xffff
        }

        #[inline(always)]
        pub(crate) fn is_zero(self) -> bool {
            self.equal(Lanes::zero())
        }

        /// Whether none is greater than that of another.
        #[inline(always)]
        pub(crate) fn are_within(self, other: Self) -> bool {
            Lanes(of_sse2!(_mm_subs_epu16(self.0, other.0))).is_zero()
        }

        /// Of each two the greater one.
        #[inline(always)]
        pub(crate) fn max(self, other: Self) -> Self {
            Lanes(of_sse2!(_mm_add_epi16(_mm_subs_epu16(self.0, other.0), other.0)))
        }

        /// By place, a bit for each that is greater than that of another.
        #[inline(always)]
        pub(crate) fn greater(self, other: Self) -> u8 {
            let at_most = self.at_most(other).0;
            !of_sse2!(_mm_movemask_epi8(_mm_packs_epi16(at_most, at_most))) as u8
        }

        /// Ones in all bits where a number is at most that of another, else zeros.
        #[inline(always)]
        pub(crate) fn at_most(self, other: Self) -> Self {
            Lanes(of_sse2!(_mm_cmpeq_epi16(_mm_subs_epu16(self.0, other.0), _mm_setzero_si128())))
        }

        /// The number in one place in all of them.
        #[inline(always)]
        pub(crate) fn spread<const PLACE: usize>(self) -> Self {
            Lanes(of_sse2!(match PLACE {
                0 => _mm_shuffle_epi32::<0b00_00_00_00>(_mm_shufflelo_epi16::<0b00_00_00_00>(self.0)),
                1 => _mm_shuffle_epi32::<0b00_00_00_00>(_mm_shufflelo_epi16::<0b01_01_01_01>(self.0)),
                2 => _mm_shuffle_epi32::<0b00_00_00_00>(_mm_shufflelo_epi16::<0b10_10_10_10>(self.0)),
                3 => _mm_shuffle_epi32::<0b00_00_00_00>(_mm_shufflelo_epi16::<0b11_11_11_11>(self.0)),
                4 => _mm_shuffle_epi32::<0b10_10_10_10>(_mm_shufflehi_epi16::<0b00_00_00_00>(self.0)),
                5 => _mm_shuffle_epi32::<0b10_10_10_10>(_mm_shufflehi_epi16::<0b01_01_01_01>(self.0)),
                6 => _mm_shuffle_epi32::<0b10_10_10_10>(_mm_shufflehi_epi16::<0b10_10_10_10>(self.0)),
                _ => _mm_shuffle_epi32::<0b10_10_10_10>(_mm_shufflehi_epi16::<0b11_11_11_11>(self.0)),
            }))
        }

        /// The bits that both have.
        #[inline(always)]
        pub(crate) fn and(self, other: Self) -> Self {
            Lanes(of_sse2!(_mm_and_si128(self.0, other.0)))
        }

        /// The bits that another does not have.
        #[inline(always)]
        pub(crate) fn and_not(self, other: Self) -> Self {
            Lanes(of_sse2!(_mm_andnot_si128(other.0, self.0)))
        }

        /// Of each two the lesser one.
        #[inline(always)]
        pub(crate) fn min(self, other: Self) -> Self {
            Lanes(of_sse2!(_mm_sub_epi16(self.0, _mm_subs_epu16(self.0, other.0))))
        }

        /// A number in one place, and the greatest there is in all others.
        #[inline(always)]
        pub(crate) fn only(place: u16, number: u16) -> Self {
            let places = Lanes::new([0, 1, 2, 3, 4, 5, 6, 7]).0;
            Lanes(of_sse2!({
                let is_other = _mm_cmpeq_epi16(
                    _mm_cmpeq_epi16(places, _mm_set1_epi16(place.cast_signed())),
                    _mm_setzero_si128(),
                );
                _mm_or_si128(is_other, _mm_set1_epi16(number.cast_signed()))
            }))
        }

        /// Whether the first four and the last four of another, and the last four and the first four, all add
        /// up to the greatest number there is or more.
        #[inline(always)]
        pub(crate) fn all_reach_across(self, other: Self) -> bool {
            const SWAP: i32 = 0b01_00_11_10;
            let sums = of_sse2!(_mm_adds_epu16(self.0, _mm_shuffle_epi32::<SWAP>(other.0)));
            Lanes(sums).equal(Lanes::greatest())
        }
    }
}

#[cfg(any(not(target_arch = "x86_64"), test))]
#[cfg_attr(target_arch = "x86_64", allow(dead_code, reason = "only the tests use it"))]
mod of_arrays {
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Lanes(pub(super) [u16; 8]);

    impl Lanes {
        #[inline(always)]
        pub(crate) fn new(numbers: [u16; 8]) -> Self {
            Lanes(numbers)
        }

        #[inline(always)]
        pub(crate) fn zero() -> Self {
            Lanes([0; 8])
        }

        #[inline(always)]
        pub(crate) fn greatest() -> Self {
            Lanes([u16::MAX; 8])
        }

        /// Ones in all bits, or zeros.
        #[inline(always)]
        pub(crate) fn all(ones: bool) -> Self {
            Lanes([if ones { u16::MAX } else { 0 }; 8])
        }

        #[inline(always)]
        pub(crate) fn is_zero(self) -> bool {
            self.0 == [0; 8]
        }

        /// Whether none is greater than that of another.
        #[inline(always)]
        pub(crate) fn are_within(self, other: Self) -> bool {
            self.0.iter().zip(other.0).all(|(&own, other)| own <= other)
        }

        /// Of each two the greater one.
        #[inline(always)]
        pub(crate) fn max(self, other: Self) -> Self {
            Lanes(std::array::from_fn(|i| self.0[i].max(other.0[i])))
        }

        /// By place, a bit for each that is greater than that of another.
        #[inline(always)]
        pub(crate) fn greater(self, other: Self) -> u8 {
            (0..8).filter(|&i| self.0[i] > other.0[i]).fold(0, |bits, i| bits | 1 << i)
        }

        /// Ones in all bits where a number is at most that of another, else zeros.
        #[inline(always)]
        pub(crate) fn at_most(self, other: Self) -> Self {
            Lanes(std::array::from_fn(|i| if self.0[i] <= other.0[i] { u16::MAX } else { 0 }))
        }

        /// The number in one place in all of them.
        #[inline(always)]
        pub(crate) fn spread<const PLACE: usize>(self) -> Self {
            Lanes([self.0[PLACE]; 8])
        }

        /// The bits that both have.
        #[inline(always)]
        pub(crate) fn and(self, other: Self) -> Self {
            Lanes(std::array::from_fn(|i| self.0[i] & other.0[i]))
        }

        /// The bits that another does not have.
        #[inline(always)]
        pub(crate) fn and_not(self, other: Self) -> Self {
            Lanes(std::array::from_fn(|i| self.0[i] & !other.0[i]))
        }

        /// Of each two the lesser one.
        #[inline(always)]
        pub(crate) fn min(self, other: Self) -> Self {
            Lanes(std::array::from_fn(|i| self.0[i].min(other.0[i])))
        }

        /// A number in one place, and the greatest there is in all others.
        #[inline(always)]
        pub(crate) fn only(place: u16, number: u16) -> Self {
            Lanes(std::array::from_fn(|i| if i == usize::from(place) { number } else { u16::MAX }))
        }

        /// Whether the first four and the last four of another, and the last four and the first four, all add
        /// up to the greatest number there is or more.
        #[inline(always)]
        pub(crate) fn all_reach_across(self, other: Self) -> bool {
            (0..8).all(|i| self.0[i].saturating_add(other.0[(i + 4) % 8]) == u16::MAX)
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) use self::of_arrays::Lanes;
#[cfg(target_arch = "x86_64")]
pub(super) use self::of_machine::Lanes;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Lanes, of_arrays};

    fn numbers() -> impl Strategy<Value = [u16; 8]> {
        let number =
            prop_oneof![Just(0), Just(1), Just(u16::MAX), Just(u16::MAX - 1), Just(1 << 15), any::<u16>()];
        proptest::array::uniform8(number)
    }

    proptest! {
        #[test]
        fn machine_and_arrays_agree(a in numbers(), b in numbers(), place in 0..8u16) {
            let (own, other) = (Lanes::new(a), Lanes::new(b));
            let (plain, plain_other) = (of_arrays::Lanes::new(a), of_arrays::Lanes::new(b));
            prop_assert_eq!(own.is_zero(), plain.is_zero());
            prop_assert_eq!(own.are_within(other), plain.are_within(plain_other));
            prop_assert_eq!(own.all_reach_across(other), plain.all_reach_across(plain_other));
            prop_assert_eq!(numbers_of(own.max(other)), plain.max(plain_other).0);
            prop_assert_eq!(numbers_of(own.min(other)), plain.min(plain_other).0);
            prop_assert_eq!(numbers_of(own.at_most(other)), plain.at_most(plain_other).0);
            prop_assert_eq!(own.greater(other), plain.greater(plain_other));
            prop_assert_eq!(numbers_of(own.and(other)), plain.and(plain_other).0);
            let only = of_arrays::Lanes::only(place, a[usize::from(place)]);
            prop_assert_eq!(numbers_of(Lanes::only(place, a[usize::from(place)])), only.0);
            prop_assert_eq!(spread(own).map(numbers_of), a.map(|number| [number; 8]));
        }
    }

    fn spread(lanes: Lanes) -> [Lanes; 8] {
        [
            lanes.spread::<0>(),
            lanes.spread::<1>(),
            lanes.spread::<2>(),
            lanes.spread::<3>(),
            lanes.spread::<4>(),
            lanes.spread::<5>(),
            lanes.spread::<6>(),
            lanes.spread::<7>(),
        ]
    }

    /// By bisection: there is no other way to look at one number.
    fn numbers_of(lanes: Lanes) -> [u16; 8] {
        std::array::from_fn(|place| {
            let is_at_most = |number: u32| {
                let mut most = [u16::MAX; 8];
                most[place] = number as u16;
                lanes.are_within(Lanes::new(most))
            };
            let (mut low, mut high) = (0, u32::from(u16::MAX));
            while low < high {
                let middle = (low + high) / 2;
                if is_at_most(middle) { high = middle } else { low = middle + 1 }
            }
            low as u16
        })
    }

    #[test]
    fn reach_across() {
        // Ranges 2 to 3 and 3 to 5 overlap, 2 to 3 and 4 to 5 do not.
        let range = |low: u16, high: u16| Lanes::new([high, 9, 9, 9, !low, !9, !9, !9]);
        assert!(range(2, 3).all_reach_across(range(3, 5)) && range(3, 5).all_reach_across(range(2, 3)));
        assert!(!range(2, 3).all_reach_across(range(4, 5)) && !range(4, 5).all_reach_across(range(2, 3)));
    }
}

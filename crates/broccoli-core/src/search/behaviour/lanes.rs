//! Eight numbers of 16 bits, all of them looked at at once.
//!
//! Plain arrays would do, and do where there is nothing better; but compilers take them apart again, and most
//! of a search is spent on these few functions.

#[cfg(target_arch = "x86_64")]
mod of_machine {
    use std::arch::x86_64::{
        __m128i, _mm_add_epi16, _mm_adds_epu16, _mm_and_si128, _mm_cmpeq_epi16, _mm_movemask_epi8,
        _mm_set_epi16, _mm_set1_epi16, _mm_setzero_si128, _mm_shuffle_epi32, _mm_subs_epu16,
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

        /// Themselves, or zeros.
        #[inline(always)]
        pub(crate) fn only_if(self, is_wanted: bool) -> Self {
            Lanes(of_sse2!(_mm_and_si128(self.0, _mm_set1_epi16(-i16::from(is_wanted)))))
        }

        /// Whether the first four and the last four of another, and the last four and the first four, all add
        /// up to the greatest number there is or more.
        #[inline(always)]
        pub(crate) fn all_reach_across(self, other: Self) -> bool {
            const SWAP: i32 = 0b01_00_11_10;
            let sums = of_sse2!(_mm_adds_epu16(self.0, _mm_shuffle_epi32::<SWAP>(other.0)));
            Lanes(sums).equal(Lanes(of_sse2!(_mm_set1_epi16(-1))))
        }
    }
}

#[cfg(any(not(target_arch = "x86_64"), test))]
#[cfg_attr(target_arch = "x86_64", allow(dead_code, reason = "only the tests use it"))]
mod of_arrays {
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Lanes([u16; 8]);

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

        /// Themselves, or zeros.
        #[inline(always)]
        pub(crate) fn only_if(self, is_wanted: bool) -> Self {
            if is_wanted { self } else { Lanes::zero() }
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
        fn machine_and_arrays_agree(a in numbers(), b in numbers(), is_wanted: bool) {
            let own = (Lanes::new(a), Lanes::new(b));
            let plain = (of_arrays::Lanes::new(a), of_arrays::Lanes::new(b));
            prop_assert_eq!(own.0.is_zero(), plain.0.is_zero());
            prop_assert_eq!(own.0.are_within(own.1), plain.0.are_within(plain.1));
            prop_assert_eq!(own.0.all_reach_across(own.1), plain.0.all_reach_across(plain.1));
            // What is within both is equal.
            let greater = Lanes::new(std::array::from_fn(|i| a[i].max(b[i])));
            let max = own.0.max(own.1);
            prop_assert!(max.are_within(greater) && greater.are_within(max));
            let some = own.0.only_if(is_wanted);
            let wanted = if is_wanted { own.0 } else { Lanes::zero() };
            prop_assert!(some.are_within(wanted) && wanted.are_within(some));
        }
    }

    #[test]
    fn reach_across() {
        // Ranges 2 to 3 and 3 to 5 overlap, 2 to 3 and 4 to 5 do not.
        let range = |low: u16, high: u16| Lanes::new([high, 9, 9, 9, !low, !9, !9, !9]);
        assert!(range(2, 3).all_reach_across(range(3, 5)) && range(3, 5).all_reach_across(range(2, 3)));
        assert!(!range(2, 3).all_reach_across(range(4, 5)) && !range(4, 5).all_reach_across(range(2, 3)));
    }
}

//! A stack of plain values, with room to write on top of it.

use std::ops::Range;

pub(super) struct Stack<T> {
    /// The values, and above them what was there before, to be written over.
    items: Vec<T>,
    len: usize,
}

impl<T> Default for Stack<T> {
    fn default() -> Self {
        Stack { items: Vec::new(), len: 0 }
    }
}

impl<T: Copy> Stack<T> {
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Drops all but the first values.
    #[inline(always)]
    pub(super) fn truncate(&mut self, len: usize) {
        debug_assert!(len <= self.len);
        self.len = len;
    }

    pub(super) fn push(&mut self, item: T) {
        match self.items.get_mut(self.len) {
            Some(place) => *place = item,
            None => self.items.push(item),
        }
        self.len += 1;
    }

    #[inline(always)]
    pub(super) fn items(&self, range: Range<usize>) -> &[T] {
        &self.items[range]
    }

    #[inline(always)]
    pub(super) fn item(&self, index: usize) -> &T {
        &self.items[index]
    }

    /// Some values, and room above the stack for twice as many.
    #[inline(always)]
    pub(super) fn with_room(&mut self, range: Range<usize>) -> (&[T], &mut [T]) {
        let room = 2 * range.len();
        if self.len + room > self.items.len() {
            self.enlarge(self.len + room);
        }
        let (values, above) = self.items.split_at_mut(self.len);
        (&values[range], &mut above[..room])
    }

    #[cold]
    fn enlarge(&mut self, len: usize) {
        if let Some(&any) = self.items.first() {
            self.items.resize(len.next_power_of_two(), any);
        }
    }

    /// Two values change places.
    #[inline(always)]
    pub(super) fn swap(&mut self, one: usize, other: usize) {
        if one != other {
            self.items.swap(one, other);
        }
    }

    /// So many values that were written above the stack are part of it.
    #[inline(always)]
    pub(super) fn grow(&mut self, count: usize) {
        self.len += count;
    }
}

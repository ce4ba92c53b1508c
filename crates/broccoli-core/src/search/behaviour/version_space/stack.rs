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

    /// Sees to it that so many values can be written above the stack, if there are any to copy.
    #[inline(always)]
    pub(super) fn make_room(&mut self, count: usize) {
        if self.len + count > self.items.len() {
            self.enlarge(self.len + count);
        }
    }

    #[cold]
    fn enlarge(&mut self, len: usize) {
        if let Some(&any) = self.items.first() {
            self.items.resize(len.next_power_of_two(), any);
        }
    }

    /// Copies a value to a place above the stack, to be changed there. (A changed copy that is written there
    /// would have to wait until it is changed.)
    #[inline(always)]
    pub(super) fn copy(&mut self, from: usize, to: usize) -> &mut T {
        self.items[to] = self.items[from];
        &mut self.items[to]
    }

    /// Two values change places.
    #[inline(always)]
    pub(super) fn swap(&mut self, one: usize, other: usize) {
        if one != other {
            self.items.swap(one, other);
        }
    }

    /// What was written above the stack is part of it.
    #[inline(always)]
    pub(super) fn grow_to(&mut self, len: usize) {
        self.len = len;
    }
}

//! A stack of plain values, with room to write on top of it.

use std::ops::Range;

#[derive(Default)]
pub(super) struct Stack<T> {
    /// The values, and above them what was there before, to be written over.
    pub(super) items: Vec<T>,
    pub(super) len: usize,
}

impl<T: Copy + Default> Stack<T> {
    pub(super) fn push(&mut self, item: T) {
        match self.items.get_mut(self.len) {
            Some(place) => *place = item,
            None => self.items.push(item),
        }
        self.len += 1;
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
        self.items.resize(len.next_power_of_two(), T::default());
    }
}

//! Shapes: trees without predicates and actions.
//!
//! Both tree-enumerating engines take the shapes of each size in turn and fill in their nodes.

use std::ops::ControlFlow;

/// A binary tree whose nodes are numbered in preorder, the true child first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// The true and false child of a predicate node; `None` for a leaf.
    pub(super) children: Vec<Option<[usize; 2]>>,
}

impl Shape {
    /// Calls `visit` with every shape of exactly `size` predicate nodes and at most `depth` deep,
    /// until it breaks. Shapes are made one at a time: there can be very many.
    pub(super) fn for_each<B>(
        size: u64,
        depth: u32,
        mut visit: impl FnMut(&Shape) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        if size > capacity(depth) {
            return ControlFlow::Continue(());
        }
        let mut kinds = Vec::new();
        extend(&mut kinds, &mut vec![depth], size, &mut |kinds| visit(&Shape::from_preorder(kinds)))
    }

    /// The shape whose preorder is `kinds`: true for a predicate node, false for a leaf.
    fn from_preorder(kinds: &[bool]) -> Shape {
        let mut children = vec![None; kinds.len()];
        // Children are numbered after their parent: building from the back, the roots of the
        // subtrees to the right of a node are the open ones, the nearest last.
        let mut open = Vec::new();
        for (node, &is_predicate) in kinds.iter().enumerate().rev() {
            if is_predicate && let (Some(yes), Some(no)) = (open.pop(), open.pop()) {
                children[node] = Some([yes, no]);
            }
            open.push(node);
        }
        Shape { children }
    }
}

/// How many predicate nodes fit in a tree of this depth.
fn capacity(depth: u32) -> u64 {
    (1 << depth) - 1
}

/// Extends a preorder in every way. `open` holds the depth left at each place still to be filled,
/// the next one last; `size` predicate nodes are still to be placed, and there is room for them.
fn extend<B>(
    kinds: &mut Vec<bool>,
    open: &mut Vec<u32>,
    size: u64,
    visit: &mut impl FnMut(&[bool]) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let Some(depth) = open.pop() else {
        return visit(kinds);
    };
    if size > 0 && depth > 0 {
        kinds.push(true);
        open.extend([depth - 1, depth - 1]);
        extend(kinds, open, size - 1, visit)?;
        open.truncate(open.len() - 2);
        kinds.pop();
    }
    if size <= open.iter().map(|&d| capacity(d)).sum() {
        kinds.push(false);
        extend(kinds, open, size, visit)?;
        kinds.pop();
    }
    open.push(depth);
    ControlFlow::Continue(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(size: u64, depth: u32) -> usize {
        let mut count = 0;
        let _ = Shape::for_each(size, depth, |shape| {
            assert_eq!(shape.children.iter().flatten().count() as u64, size);
            count += 1;
            ControlFlow::<()>::Continue(())
        });
        count
    }

    #[test]
    fn shapes_are_counted_by_catalan_numbers_within_the_depth() {
        assert_eq!([0, 1, 2, 3, 4, 5].map(|size| count(size, 16)), [1, 1, 2, 5, 14, 42]);
        assert_eq!([0, 1, 2, 3, 4].map(|size| count(size, 2)), [1, 1, 2, 1, 0]);
        assert_eq!([4, 5, 6, 7, 8].map(|size| count(size, 3)), [6, 6, 4, 1, 0]);
        assert_eq!(count(1, 0), 0);
    }
}

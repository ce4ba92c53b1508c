//! The answers that were looked at, by the actions before them. A system is deterministic: from the same
//! initial state the same actions have the same answer, wherever in a file it is recorded.

use crate::limits::{Meter, SIBLING, TooMuch};

const NONE: u32 = u32::MAX;

/// A tree of actions. Its first nodes are the initial states.
pub(crate) struct Known {
    nodes: Vec<Node>,
}

#[derive(Clone, Copy)]
struct Node {
    action: u16,
    child: u32,
    sibling: u32,
    /// Where the answer is recorded.
    item: u32,
}

impl Known {
    pub(crate) fn new(initial_states: usize) -> Self {
        Known { nodes: vec![Node { action: 0, child: NONE, sibling: NONE, item: NONE }; initial_states] }
    }

    /// The answer to a reset is recorded at `item`; where it was found earlier, if it was.
    pub(crate) fn start(&mut self, initial: usize, item: u32) -> Option<u32> {
        let known = &mut self.nodes[initial].item;
        if *known == NONE {
            *known = item;
        }
        (*known != item).then_some(*known)
    }

    /// The answer to an action after those that lead to `place` is recorded at `item`: the place that it
    /// leads to, and where the answer was found earlier, if it was.
    pub(crate) fn step(
        &mut self,
        place: u32,
        action: u16,
        item: u32,
        meter: &mut Meter,
    ) -> Result<(u32, Option<u32>), TooMuch> {
        let mut child = self.nodes[place as usize].child;
        while let Some(node) = self.nodes.get(child as usize) {
            if node.action == action {
                return Ok((child, Some(node.item)));
            }
            meter.spend(SIBLING)?;
            child = node.sibling;
        }
        let child = u32::try_from(self.nodes.len()).map_err(|_| TooMuch::Memory(meter.memory()))?;
        let sibling = std::mem::replace(&mut self.nodes[place as usize].child, child);
        self.nodes.push(Node { action, child: NONE, sibling, item });
        Ok((child, None))
    }

    /// The bytes that it takes. The list may have room for twice as much as is in it.
    pub(crate) fn taken(&self) -> usize {
        2 * self.nodes.len() * size_of::<Node>()
    }
}

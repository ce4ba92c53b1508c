//! Where the nodes of a tree go: a level per row, every node above the middle of its children, no two
//! boxes closer than a gap.

use broccoli_core::problem::Problem;
use broccoli_core::tree::Tree;

use crate::names::visible;

/// The size of the letters, to which everything else is proportional.
pub(super) const FONT_SIZE: f64 = 14.0;
/// The height of a box.
pub(super) const BOX_HEIGHT: f64 = 30.0;
/// From one row to the next.
pub(super) const ROW: f64 = 76.0;
const GAP: f64 = 22.0;
const MARGIN: f64 = 14.0;
const PADDING: f64 = 12.0;
const LONGEST_LABEL: usize = 40;

/// A tree with a place for every node.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// The width of the whole picture.
    pub width: f64,
    /// Its height.
    pub height: f64,
    /// The nodes in preorder: a node's index is its number everywhere in a report.
    pub nodes: Vec<Placed>,
}

/// A node and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// The middle of its box.
    pub x: f64,
    /// The middle of its box.
    pub y: f64,
    /// The width of its box.
    pub width: f64,
    /// What is written in the box, shortened if it is very long.
    pub label: String,
    /// The same in full.
    pub full_label: String,
    /// The action of a leaf.
    pub action: Option<usize>,
    /// The parent's index, and whether this is its true child.
    pub parent: Option<(usize, bool)>,
}

impl Layout {
    /// The layout of `tree`, with the names of `problem`.
    pub fn new(problem: &Problem, tree: &Tree) -> Self {
        let mut layout = Layout { width: 0.0, height: 0.0, nodes: Vec::new() };
        let extent = layout.place(problem, tree, 0, None);
        for node in &mut layout.nodes {
            node.x += MARGIN - extent.0;
        }
        layout.width = (extent.1 - extent.0 + 2.0 * MARGIN).ceil();
        layout.height = f64::from(tree.depth()) * ROW + BOX_HEIGHT + 2.0 * MARGIN;
        layout
    }

    /// Places a subtree with its root's box in the middle at 0 and returns its left and right end.
    fn place(
        &mut self,
        problem: &Problem,
        tree: &Tree,
        depth: u32,
        parent: Option<(usize, bool)>,
    ) -> (f64, f64) {
        let full_label = visible(&label(problem, tree));
        let shown = shortened(&full_label);
        let width = text_width(&shown) + 2.0 * PADDING;
        let index = self.nodes.len();
        self.nodes.push(Placed {
            x: 0.0,
            y: MARGIN + BOX_HEIGHT / 2.0 + f64::from(depth) * ROW,
            width,
            label: shown,
            full_label,
            action: match tree {
                Tree::Leaf(action) => Some(*action),
                Tree::Node { .. } => None,
            },
            parent,
        });
        let mut extent = (-width / 2.0, width / 2.0);
        if let Tree::Node { yes, no, .. } = tree {
            let left = self.place(problem, yes, depth + 1, Some((index, true)));
            let middle = self.nodes.len();
            let right = self.place(problem, no, depth + 1, Some((index, false)));
            // The children's middles are this far from ours, so that the subtrees do not touch.
            let offset = (left.1 - right.0 + GAP) / 2.0;
            self.nodes[index + 1..middle].iter_mut().for_each(|node| node.x -= offset);
            self.nodes[middle..].iter_mut().for_each(|node| node.x += offset);
            extent.0 = f64::min(extent.0, left.0 - offset);
            extent.1 = f64::max(extent.1, right.1 + offset);
        }
        extent
    }
}

/// What a node says.
fn label(problem: &Problem, tree: &Tree) -> String {
    match tree {
        Tree::Leaf(action) => problem.actions()[*action].name.clone(),
        Tree::Node { dimension, threshold, .. } => {
            format!("{} ≥ {}", problem.dimensions()[*dimension].name, short_number(*threshold))
        }
    }
}

/// A number in as few characters as give it back exactly.
pub(crate) fn short_number(value: f64) -> String {
    let (plain, scientific) = (format!("{value}"), format!("{value:e}"));
    if plain.len() <= scientific.len().max(8) { plain } else { scientific }
}

fn shortened(label: &str) -> String {
    match label.char_indices().nth(LONGEST_LABEL) {
        None => label.to_owned(),
        // The end of a predicate is its threshold, the more important part.
        Some(_) => {
            let letters: Vec<char> = label.chars().collect();
            let half = LONGEST_LABEL / 2;
            letters[..half].iter().chain(&['…']).chain(&letters[letters.len() - half..]).collect()
        }
    }
}

/// About how wide a text is in a usual font, rather too wide than too narrow.
fn text_width(text: &str) -> f64 {
    let ems = text.chars().map(|c| match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' => 0.34,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.98,
        'A'..='Z' | '≥' | '<' | '>' | '=' | '+' => 0.8,
        '\u{2e80}'.. => 1.1,
        _ => 0.64,
    });
    ems.sum::<f64>() * FONT_SIZE
}

#[cfg(test)]
mod tests {
    use super::*;
    use broccoli_core::problem::{Objective, Thresholds};

    #[test]
    fn no_boxes_overlap_and_all_are_inside() {
        let problem = Problem::builder()
            .dimension("a rather long name of a dimension, indeed a very long one", Thresholds::none())
            .action("a", 0.0)
            .action("another name", 1.0)
            .initial([0.0])
            .objective(Objective::reach(1))
            .build()
            .unwrap();
        fn grow(depth: u32, kind: u32) -> Tree {
            match (depth, kind % 4) {
                (0, _) | (_, 3) => Tree::Leaf((kind % 2) as usize),
                _ => Tree::node(0, f64::from(kind), grow(depth - 1, kind + 1), grow(depth - 1, kind * 3 + 1)),
            }
        }
        for kind in 0..20 {
            let layout = Layout::new(&problem, &grow(5, kind));
            for (i, a) in layout.nodes.iter().enumerate() {
                assert!(a.x - a.width / 2.0 >= 0.0 && a.x + a.width / 2.0 <= layout.width);
                assert!(a.y > 0.0 && a.y < layout.height);
                for b in layout.nodes[i + 1..].iter().filter(|b| b.y == a.y) {
                    assert!((a.x - b.x).abs() >= (a.width + b.width) / 2.0 + GAP - 1e-9);
                }
            }
        }
    }

    #[test]
    fn numbers_are_short_and_exact() {
        let numbers = [-0.45, 0.0, 1e300, 5e-324, 0.1 + 0.2, 10_000.0, 1e-7];
        let texts = numbers.map(short_number);
        assert_eq!(texts, ["-0.45", "0", "1e300", "5e-324", "0.30000000000000004", "10000", "1e-7"]);
        assert!(texts.iter().zip(numbers).all(|(text, number)| text.parse() == Ok(number)));
    }
}

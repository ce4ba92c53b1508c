//! Trees as text: drawn over several lines for people, or on one line.

use std::fmt::{self, Display, Formatter};

use super::Tree;
use crate::problem::Problem;
use crate::shown::shown;

impl Tree {
    /// The tree drawn over several lines, with the names of `problem`'s dimensions and actions.
    ///
    /// ```
    /// use broccoli_core::problem::{Objective, Problem, Thresholds};
    /// use broccoli_core::tree::Tree;
    /// # let problem = Problem::builder()
    /// #     .dimension("speed", Thresholds::none()).action("brake", 0.0).action("coast", 1.0)
    /// #     .initial([0.0]).objective(Objective::reach(1)).build()?;
    /// let tree = Tree::node(0, 0.5, Tree::Leaf(0), Tree::Leaf(1));
    /// assert_eq!(tree.drawing(&problem).to_string(), "\
    /// speed >= 0.5
    /// ├─ yes: brake
    /// └─ no:  coast
    /// ");
    /// assert_eq!(tree.one_line(&problem).to_string(), "speed >= 0.5 ? brake : coast");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn drawing<'a>(&'a self, problem: &'a Problem) -> Drawing<'a> {
        Drawing { tree: self, problem }
    }

    /// The tree on one line: `predicate ? true child : false child`.
    pub fn one_line<'a>(&'a self, problem: &'a Problem) -> OneLine<'a> {
        OneLine { tree: self, problem }
    }
}

/// Displays a tree over several lines; see [`Tree::drawing`].
pub struct Drawing<'a> {
    tree: &'a Tree,
    problem: &'a Problem,
}

impl Display for Drawing<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.draw(self.tree, "", f)
    }
}

impl Drawing<'_> {
    /// Writes the rest of the present line, then the children, each line behind `indent`.
    fn draw(&self, tree: &Tree, indent: &str, f: &mut Formatter<'_>) -> fmt::Result {
        match tree {
            Tree::Leaf(action) => writeln!(f, "{}", shown(&self.problem.actions()[*action].name)),
            Tree::Node { dimension, threshold, yes, no } => {
                let name = shown(&self.problem.dimensions()[*dimension].name);
                writeln!(f, "{name} >= {threshold}")?;
                write!(f, "{indent}├─ yes: ")?;
                self.draw(yes, &format!("{indent}│  "), f)?;
                write!(f, "{indent}└─ no:  ")?;
                self.draw(no, &format!("{indent}   "), f)
            }
        }
    }
}

/// Displays a tree on one line; see [`Tree::one_line`].
pub struct OneLine<'a> {
    tree: &'a Tree,
    problem: &'a Problem,
}

impl Display for OneLine<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let child = |tree| OneLine { tree, problem: self.problem };
        match self.tree {
            Tree::Leaf(action) => write!(f, "{}", shown(&self.problem.actions()[*action].name)),
            Tree::Node { dimension, threshold, yes, no } => {
                write!(f, "{} >= {threshold}", shown(&self.problem.dimensions()[*dimension].name))?;
                for (mark, tree) in [('?', yes), (':', no)] {
                    match **tree {
                        Tree::Leaf(_) => write!(f, " {mark} {}", child(tree))?,
                        Tree::Node { .. } => write!(f, " {mark} ({})", child(tree))?,
                    }
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Objective, Thresholds};

    #[test]
    fn nested_trees_in_both_forms() {
        let problem = Problem::builder()
            .dimension("speed", Thresholds::none())
            .dimension("height", Thresholds::none())
            .action("brake", 0.0)
            .action("coast", 1.0)
            .initial([0.0])
            .objective(Objective::reach(1))
            .build()
            .unwrap();
        let leaf = Tree::Leaf;
        let yes = |inner| Tree::node(0, -0.5, inner, leaf(1));
        let no = |inner| Tree::node(1, 1e-7, leaf(0), inner);
        let forms = [
            (leaf(1), "coast", "coast\n"),
            (
                yes(no(leaf(1))),
                "speed >= -0.5 ? (height >= 0.0000001 ? brake : coast) : coast",
                "\
speed >= -0.5
├─ yes: height >= 0.0000001
│  ├─ yes: brake
│  └─ no:  coast
└─ no:  coast
",
            ),
            (
                no(yes(yes(leaf(0)))),
                "height >= 0.0000001 ? brake : (speed >= -0.5 ? (speed >= -0.5 ? brake : coast) : coast)",
                "\
height >= 0.0000001
├─ yes: brake
└─ no:  speed >= -0.5
   ├─ yes: speed >= -0.5
   │  ├─ yes: brake
   │  └─ no:  coast
   └─ no:  coast
",
            ),
        ];
        for (tree, one_line, drawing) in forms {
            assert_eq!(tree.one_line(&problem).to_string(), one_line);
            assert_eq!(tree.drawing(&problem).to_string(), drawing);
        }
    }
}

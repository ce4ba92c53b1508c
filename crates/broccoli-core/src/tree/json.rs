//! The JSON form of a tree, and reading it back with every field checked.
//!
//! A predicate is `{"feature":int,"name":str,"threshold":float,"true":TREE,"false":TREE}`, a leaf is
//! `{"action":int,"name":str}`. Names may be left out when a person writes the file; where they are
//! given they must be the names of that dimension and action, so that a tree made for another system
//! is not run by mistake.

use serde::{Deserialize, Serialize};

use super::Tree;
use crate::problem::{MAX_DEPTH, Problem};

/// The JSON form. [`Tree::to_json`] makes it, [`TreeJson::check`] turns it back into a tree.
///
/// ```
/// use broccoli_core::tree::{Tree, TreeJson};
/// # use broccoli_core::problem::{Objective, Problem, Thresholds};
/// # let problem = Problem::builder()
/// #     .dimension("speed", Thresholds::none()).action("brake", 0.0).action("coast", 1.0)
/// #     .initial([0.0]).objective(Objective::reach(1)).build()?;
/// let tree = Tree::node(0, 0.5, Tree::Leaf(0), Tree::Leaf(1));
/// let text = serde_json::to_string(&tree.to_json(&problem))?;
/// assert_eq!(text, r#"{"feature":0,"name":"speed","threshold":0.5,"true":{"action":0,"name":"brake"},"false":{"action":1,"name":"coast"}}"#);
/// assert_eq!(serde_json::from_str::<TreeJson>(&text)?.check(&problem)?, tree);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeJson {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    feature: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    action: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
    #[serde(default, rename = "true", skip_serializing_if = "Option::is_none")]
    yes: Option<Box<TreeJson>>,
    #[serde(default, rename = "false", skip_serializing_if = "Option::is_none")]
    no: Option<Box<TreeJson>>,
}

/// The most predicate nodes of a tree that is read: those of a full tree of the largest depth.
const MAX_SIZE: usize = (1 << MAX_DEPTH) - 1;

/// Why a JSON tree is not a tree for a problem.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TreeError {
    /// More predicate nodes than any tree that is searched has.
    #[error("there are {0} predicates: at most {MAX_SIZE} are allowed")]
    Size(usize),
    /// The fields are neither those of a predicate nor those of a leaf.
    #[error(
        "at {path}: a node has either \"feature\", \"threshold\", \"true\" and \"false\" (a predicate) \
         or \"action\" (a leaf), and may have \"name\""
    )]
    Fields {
        /// Where in the tree, for instance `root.true.false`.
        path: String,
    },
    /// An index is out of range.
    #[error("at {path}: {what} {index} does not exist: there are {count}, counted from 0")]
    Index {
        /// Where in the tree.
        path: String,
        /// `"feature"` or `"action"`.
        what: &'static str,
        /// The index.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A name does not belong to its index.
    #[error("at {path}: {what} {index} is named {expected:?}, not {found:?}")]
    Name {
        /// Where in the tree.
        path: String,
        /// `"feature"` or `"action"`.
        what: &'static str,
        /// The index.
        index: usize,
        /// The problem's name for it.
        expected: String,
        /// The name in the file.
        found: String,
    },
    /// A threshold is not a finite number.
    #[error("at {path}: the threshold is {threshold}: it must be a finite number")]
    Threshold {
        /// Where in the tree.
        path: String,
        /// The threshold.
        threshold: f64,
    },
}

impl Tree {
    /// The JSON form, with the names of `problem`.
    pub fn to_json(&self, problem: &Problem) -> TreeJson {
        match self {
            Tree::Leaf(action) => TreeJson {
                action: Some(*action),
                name: Some(problem.actions()[*action].name.clone()),
                ..TreeJson::default()
            },
            Tree::Node { dimension, threshold, yes, no } => TreeJson {
                feature: Some(*dimension),
                name: Some(problem.dimensions()[*dimension].name.clone()),
                threshold: Some(*threshold),
                yes: Some(Box::new(yes.to_json(problem))),
                no: Some(Box::new(no.to_json(problem))),
                ..TreeJson::default()
            },
        }
    }
}

impl TreeJson {
    /// Checks every index, name and threshold against `problem`. Thresholds need not be the
    /// problem's own, and the tree may exceed its limits.
    ///
    /// # Errors
    /// The first thing that is wrong, in preorder, with its place in the tree.
    pub fn check(&self, problem: &Problem) -> Result<Tree, TreeError> {
        match self.size() {
            size if size > MAX_SIZE => Err(TreeError::Size(size)),
            _ => self.check_at("root", problem),
        }
    }

    /// How many predicate nodes it has, whatever is in them.
    fn size(&self) -> usize {
        let children = self.yes.iter().chain(&self.no);
        usize::from(self.feature.is_some()) + children.map(|child| child.size()).sum::<usize>()
    }

    fn check_at(&self, path: &str, problem: &Problem) -> Result<Tree, TreeError> {
        let name = self.name.as_deref();
        match self {
            TreeJson {
                action: Some(action), feature: None, threshold: None, yes: None, no: None, ..
            } => {
                let known = problem.actions().get(*action).map(|a| a.name.as_str());
                check_index(path, "action", *action, name, known, problem.actions().len())?;
                Ok(Tree::Leaf(*action))
            }
            TreeJson {
                action: None,
                feature: Some(feature),
                threshold: Some(threshold),
                yes: Some(yes),
                no: Some(no),
                ..
            } => {
                let known = problem.dimensions().get(*feature).map(|d| d.name.as_str());
                check_index(path, "feature", *feature, name, known, problem.dimensions().len())?;
                if !threshold.is_finite() {
                    return Err(TreeError::Threshold { path: path.to_owned(), threshold: *threshold });
                }
                let yes = yes.check_at(&format!("{path}.true"), problem)?;
                let no = no.check_at(&format!("{path}.false"), problem)?;
                Ok(Tree::node(*feature, *threshold, yes, no))
            }
            _ => Err(TreeError::Fields { path: path.to_owned() }),
        }
    }
}

fn check_index(
    path: &str,
    what: &'static str,
    index: usize,
    found: Option<&str>,
    known: Option<&str>,
    count: usize,
) -> Result<(), TreeError> {
    let Some(expected) = known else {
        return Err(TreeError::Index { path: path.to_owned(), what, index, count });
    };
    match found {
        Some(found) if found != expected => Err(TreeError::Name {
            path: path.to_owned(),
            what,
            index,
            expected: expected.to_owned(),
            found: found.to_owned(),
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Objective, Thresholds};

    fn problem() -> Problem {
        Problem::builder()
            .dimension("speed", Thresholds::none())
            .dimension("height", Thresholds::none())
            .action("brake", 0.0)
            .action("coast", 1.0)
            .initial([0.0])
            .objective(Objective::reach(1))
            .build()
            .expect("a problem")
    }

    /// Reads a tree; an error is its message.
    fn read(text: &str) -> Result<Tree, String> {
        let json: TreeJson = serde_json::from_str(text).map_err(|error| error.to_string())?;
        json.check(&problem()).map_err(|error| error.to_string())
    }

    #[test]
    fn trees_come_back_as_they_were() {
        let leaf = Tree::Leaf;
        let trees = [
            leaf(1),
            Tree::node(1, 0.1 + 0.2, leaf(0), leaf(1)),
            Tree::node(
                0,
                -1e-300,
                Tree::node(1, 5e300, leaf(0), leaf(0)),
                Tree::node(0, -0.0, leaf(1), leaf(0)),
            ),
        ];
        for tree in trees {
            let text = serde_json::to_string(&tree.to_json(&problem())).unwrap();
            assert_eq!(read(&text), Ok(tree), "{text}");
        }
    }

    #[test]
    fn names_may_be_left_out_and_fields_come_in_any_order() {
        let text = r#"{"false":{"action":1},"true":{"name":"brake","action":0},"threshold":2,"feature":1}"#;
        assert_eq!(read(text), Ok(Tree::node(1, 2.0, Tree::Leaf(0), Tree::Leaf(1))));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let node =
            |yes: &str, no: &str| format!(r#"{{"feature":0,"threshold":0.5,"true":{yes},"false":{no}}}"#);
        let (brake, bad) = (r#"{"action":0}"#, r#"{"action":2}"#);
        let fields = "a node has either \"feature\", \"threshold\", \"true\" and \"false\" (a predicate) \
                      or \"action\" (a leaf), and may have \"name\"";
        let no_action = "action 2 does not exist: there are 2, counted from 0";
        let wrong = [
            // Neither a predicate nor a leaf, or both.
            ("{}".to_owned(), format!("at root: {fields}")),
            (r#"{"action":0,"feature":0}"#.to_owned(), format!("at root: {fields}")),
            (r#"{"action":0,"threshold":1}"#.to_owned(), format!("at root: {fields}")),
            (r#"{"name":"brake"}"#.to_owned(), format!("at root: {fields}")),
            (node(brake, r#"{"feature":0,"threshold":1}"#), format!("at root.false: {fields}")),
            (node(brake, "null"), format!("at root: {fields}")),
            // Indices out of range; the first in preorder is told.
            (bad.to_owned(), format!("at root: {no_action}")),
            (node(brake, &node(bad, bad)), format!("at root.false.true: {no_action}")),
            (
                node(brake, brake).replace(r#""feature":0"#, r#""feature":7"#),
                "at root: feature 7 does not exist: there are 2, counted from 0".to_owned(),
            ),
            // Names of something else.
            (
                node(r#"{"action":0,"name":"coast"}"#, brake),
                r#"at root.true: action 0 is named "brake", not "coast""#.to_owned(),
            ),
            (
                node(brake, brake).replace(r#""feature":0"#, r#""feature":1,"name":"speed""#),
                r#"at root: feature 1 is named "height", not "speed""#.to_owned(),
            ),
        ];
        for (text, message) in wrong {
            assert_eq!(read(&text), Err(message), "{text}");
        }
    }

    /// JSON has no infinities, but other formats that serde reads do.
    #[test]
    fn a_threshold_is_a_finite_number() {
        for threshold in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            let leaf = || Box::new(Tree::Leaf(0).to_json(&problem()));
            let json = TreeJson {
                feature: Some(0),
                threshold: Some(threshold),
                yes: Some(leaf()),
                no: Some(leaf()),
                ..TreeJson::default()
            };
            let message = json.check(&problem()).unwrap_err().to_string();
            assert_eq!(message, format!("at root: the threshold is {threshold}: it must be a finite number"));
        }
    }

    #[test]
    fn what_is_not_such_an_object_is_refused() {
        let wrong = [
            (r#"{"action":0,"colour":1}"#, "unknown field `colour`"),
            (r#"{"action":0,"action":0}"#, "duplicate field `action`"),
            (r#"{"action":-1}"#, "invalid value: integer `-1`"),
            (r#"{"action":0.5}"#, "invalid type: floating point `0.5`"),
            (r#"{"action":"brake"}"#, "invalid type: string \"brake\""),
            (r#"{"feature":0,"threshold":1e999}"#, "number out of range"),
            (r#"{"feature":0,"threshold":1,"true":{"action""#, "EOF while parsing"),
            ("3", "invalid type: integer `3`"),
        ];
        for (text, message) in wrong {
            let error = read(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}

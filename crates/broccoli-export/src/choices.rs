//! What a search gives besides its best tree: the best tree of every size, or all optimal trees.

use broccoli_core::problem::{Dimension, Problem, Rank, Value};
use broccoli_core::search::{FrontPart, Status};
use broccoli_core::tree::{Tree, TreeJson};
use serde::{Deserialize, Serialize};

use crate::drawing::escaped;
use crate::json::{ResultJson, StatusJson};
use crate::number::{counted, grouped};
use crate::worth;

/// What was asked for besides the best tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum More {
    /// Nothing.
    #[default]
    Nothing,
    /// The best trees for all sizes: [`Front::parts`](broccoli_core::search::Front::parts).
    Front(Vec<FrontPart>),
    /// Optimal trees, see [`Optima`](broccoli_core::search::Optima).
    AllOptimal {
        /// The trees, that of the outcome first.
        trees: Vec<Tree>,
        /// Whether they are all.
        is_complete: bool,
    },
}

impl More {
    /// What there is to read after the summary of the search.
    pub fn text(&self, problem: &Problem) -> String {
        match self {
            More::Nothing => String::new(),
            More::Front(parts) => front(problem, parts),
            More::AllOptimal { trees, is_complete } => all_optimal(problem, trees, *is_complete),
        }
    }
}

/// What is known about trees of at most so many predicates: a row of the front.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartJson {
    /// The least limit on predicate nodes that this is about; the size of the tree, if there is one.
    pub size: u64,
    /// The largest limit: up to here, more predicates bring nothing.
    pub up_to: u64,
    /// The value of the best tree within these limits.
    pub value: Option<Value>,
    /// No tree within these limits has a better value.
    pub bound: Option<Value>,
    /// What is proved for each of these limits.
    pub status: StatusJson,
    /// The best tree.
    pub tree: Option<TreeJson>,
}

impl PartJson {
    /// The JSON form of a part of a front.
    pub fn new(problem: &Problem, part: &FrontPart) -> Self {
        PartJson {
            size: *part.sizes.start(),
            up_to: *part.sizes.end(),
            value: part.best.as_ref().and_then(|best| problem.objective().shown(best.value)),
            bound: part.bound.and_then(|bound| problem.objective().shown(bound)),
            status: part.status.into(),
            tree: part.best.as_ref().map(|best| best.tree.to_json(problem)),
        }
    }

    fn sizes(&self) -> String {
        match self.size == self.up_to {
            true => grouped(self.size),
            false => format!("{}-{}", grouped(self.size), grouped(self.up_to)),
        }
    }

    fn value(&self) -> String {
        self.value.map_or("\u{2013}".to_owned(), worth::bare)
    }

    fn proved(&self, problem: &Problem) -> String {
        let trivial = problem.objective().shown(problem.perfect());
        let bound = self.bound.filter(|&bound| Some(bound) != trivial).map(worth::bare);
        match (self.status, bound) {
            (StatusJson::Optimal, _) => "optimal".to_owned(),
            (StatusJson::Infeasible, _) => "no tree reaches the goal".to_owned(),
            (_, Some(bound)) if problem.objective().is_minimised() => format!("not proved; at least {bound}"),
            (_, Some(bound)) => format!("not proved; at most {bound}"),
            (_, None) => "not proved".to_owned(),
        }
    }
}

/// The table of a front, and its trees on a line each.
fn front(problem: &Problem, parts: &[FrontPart]) -> String {
    let rows: Vec<PartJson> = parts.iter().map(|part| PartJson::new(problem, part)).collect();
    let width = |cell: fn(&PartJson) -> String, least| {
        rows.iter().map(|row| cell(row).chars().count()).max().unwrap_or(0).max(least)
    };
    let (sizes, values) = (width(PartJson::sizes, 4), width(PartJson::value, 5));
    let mut text = format!("\n{:<sizes$}  {:>values$}  proved\n", "size", "value");
    for row in &rows {
        let proved = row.proved(problem);
        text += &format!("{:<sizes$}  {:>values$}  {proved}\n", row.sizes(), row.value());
    }
    text.push('\n');
    for best in parts.iter().filter_map(|part| part.best.as_ref()) {
        text += &format!("size {}: {}\n", best.tree.size(), best.tree.one_line(problem));
    }
    if parts.iter().any(|part| matches!(part.status, Status::Stopped(_))) {
        text += "\nThe front is not complete: where nothing is proved there may be better trees.\n";
    }
    text
}

fn all_optimal(problem: &Problem, trees: &[Tree], is_complete: bool) -> String {
    let Some(first) = trees.first() else { return String::new() };
    let count = trees.len() as u64;
    let mut text = match (is_complete, count) {
        (true, 1) => return "\nIt is the only optimal tree.\n".to_owned(),
        (true, _) => format!("\nThere are {} optimal trees:\n", grouped(count)),
        (false, _) => format!("\nThere are at least {}:\n", counted(count, "optimal tree")),
    };
    for (number, tree) in (1..).zip(trees) {
        text += &format!("\n{number}.");
        if number > 1 && problem.without_grid().is_none() {
            let share = percent(share_differing(problem, first, tree));
            text += &format!(" acts differently from the first in {share} of the cells");
        }
        text += &format!("\n{}", tree.drawing(problem));
    }
    text
}

fn percent(share: f64) -> String {
    match 100.0 * share {
        0.0 => "none".to_owned(),
        percent if percent < 0.1 => "less than 0.1 %".to_owned(),
        percent => format!("{percent:.1} %"),
    }
}

/// The share of all cells of a problem in which two trees act differently. Most of them may never be seen.
///
/// ```
/// use broccoli_core::problem::{Objective, Problem, Thresholds};
/// use broccoli_core::tree::Tree;
/// use broccoli_export::choices::share_differing;
/// # let problem = Problem::builder().dimension("x", Thresholds::list([1.0, 2.0, 3.0])?)
/// #     .action("a", 0.0).action("b", 1.0).initial([0.0]).objective(Objective::reach(1)).depth(1).build()?;
/// let at = |threshold| Tree::node(0, threshold, Tree::Leaf(0), Tree::Leaf(1));
/// assert_eq!(share_differing(&problem, &at(1.0), &at(2.0)), 0.25); // in one of four cells
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn share_differing(problem: &Problem, a: &Tree, b: &Tree) -> f64 {
    let all: Vec<(Rank, Rank)> = problem.dimensions().iter().map(|d| (0, d.thresholds.len())).collect();
    differing(problem, a, b, &all)
}

/// The same of the cells whose ranks are within these ranges, as a share of all cells.
fn differing(problem: &Problem, a: &Tree, b: &Tree, ranks: &[(Rank, Rank)]) -> f64 {
    match (a, b) {
        (Tree::Leaf(a), Tree::Leaf(b)) if a == b => 0.0,
        (Tree::Leaf(_), Tree::Leaf(_)) => {
            let share = |((low, high), d): (&(Rank, Rank), &Dimension)| {
                (high - low + 1) as f64 / (d.thresholds.len() + 1) as f64
            };
            ranks.iter().zip(problem.dimensions()).map(share).product()
        }
        (Tree::Leaf(_), Tree::Node { .. }) => differing(problem, b, a, ranks),
        (Tree::Node { dimension, threshold, yes, no }, _) => {
            let (low, high) = ranks[*dimension];
            // The predicate is true from this rank on.
            let first = problem.dimensions()[*dimension].thresholds.rank(*threshold).max(1);
            let side = |tree: &Tree, (low, high): (Rank, Rank)| {
                let mut ranks = ranks.to_vec();
                ranks[*dimension] = (low, high);
                if low > high { 0.0 } else { differing(problem, tree, b, &ranks) }
            };
            side(yes, (low.max(first), high)) + side(no, (low, high.min(first - 1)))
        }
    }
}

/// The sections of a report about this, if there is anything to show.
pub(crate) fn html(result: &ResultJson, problem: &Problem) -> String {
    let line = |tree: &TreeJson| match tree.check(problem) {
        Ok(tree) => escaped(&tree.one_line(problem).to_string()),
        Err(error) => escaped(&error.to_string()),
    };
    let section = |id: &str, title: &str, table: String| {
        format!(
            "<section aria-labelledby=\"{id}-title\"><h2 id=\"{id}-title\">{title}</h2>\
             <div class=\"scroll\"><table>{table}</table></div></section>"
        )
    };
    let mut html = String::new();
    if let Some(parts) = &result.front {
        let row = |part: &PartJson| {
            let (sizes, value, proved) = (part.sizes(), part.value(), part.proved(problem));
            let tree = part.tree.as_ref().map(line).unwrap_or_default();
            format!("<tr><th scope=\"row\">{sizes}</th><td>{value}</td><td>{proved}</td><td>{tree}</td></tr>")
        };
        let head =
            ["size", "value", "proved", "best tree"].map(|name| format!("<th scope=\"col\">{name}</th>"));
        let rows: String = parts.iter().map(row).collect();
        let table = format!("<thead><tr>{}</tr></thead><tbody>{rows}</tbody>", head.concat());
        html += &section("front", "Size against value", table);
    }
    if let Some(trees) = &result.optimal_trees {
        let row = |(number, tree): (usize, &TreeJson)| {
            format!("<tr><th scope=\"row\">{number}</th><td>{}</td></tr>", line(tree))
        };
        let rows: String = (1..).zip(trees).map(row).collect();
        let is_complete = result.optimal_trees_complete == Some(true);
        let title = if is_complete { "All optimal trees" } else { "Optimal trees, perhaps not all" };
        html += &section("optima", title, format!("<tbody>{rows}</tbody>"));
    }
    html
}

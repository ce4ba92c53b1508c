//! The report: one HTML file that shows a result, with nothing outside of it.
//!
//! What a reader needs without a script is written here: the verdict, the tree, the tables. The plots,
//! the animation and everything that moves are drawn by the script from the data in the page.
//!
//! Names and files are not trusted. Text is escaped; data is JSON in which no tag can be written; the
//! script puts text into the page as text; and the page's policy lets run no script but that one and
//! makes no request.

mod observed;
mod tables;

pub use observed::{DrawnTrace, Observed, Visits};
pub use tables::Fresh;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use broccoli_core::problem::Problem;
use broccoli_core::search::Solution;
use broccoli_core::tree::Tree;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::choices;
use crate::drawing::{ACTION_COLOURS, Colours, Theme, escaped, svg};
use crate::json::{ResultJson, harmless};
use crate::number::grouped;
use crate::policy::{Policy, PolicyError};
use crate::{text, worth};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");
const SCRIPT: &str =
    concat!(include_str!("helpers.js"), include_str!("scenes.js"), include_str!("script.js"));

/// Everything that a report shows.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// The result.
    pub result: &'a ResultJson,
    /// The runs of its tree, if it has one and the system can be run here.
    pub observed: Option<Observed>,
    /// Runs from fresh initial states, if the system says where those come from.
    pub fresh: Option<Fresh>,
    /// Why there is less to see than usual, if so.
    pub note: Option<String>,
}

impl Report<'_> {
    /// The report as one HTML file.
    ///
    /// # Errors
    /// When the problem or the tree of the result is not well formed.
    pub fn html(&self) -> Result<String, PolicyError> {
        let result = self.result;
        let policy = match Policy::new(result) {
            Ok(policy) => Some(policy),
            Err(PolicyError::NoTree(_)) => None,
            Err(error) => return Err(error),
        };
        let problem = result.problem.to_problem()?;
        let system = result.problem.system.name();
        let tree = policy.as_ref().map(|policy| &policy.tree);
        let read = |value| problem.objective().read(value);
        let best =
            tree.zip(result.value).map(|(tree, value)| Solution { tree: tree.clone(), value: read(value) });
        let bound = result.bound.map(read);
        let headline = text::headline(&problem, result.status, best.as_ref(), bound);
        let verdict = text::verdict(&problem, result.status, best.as_ref(), bound);
        let verdict =
            if verdict == headline { String::new() } else { format!("<p>{}</p>", escaped(&verdict)) };
        let digest = BASE64_STANDARD.encode(Sha256::digest(SCRIPT));
        let fill = |name: &str| match name {
            "policy" => format!(
                "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; \
                 base-uri 'none'; form-action 'none'"
            ),
            "title" => escaped(&format!("{system}: {headline}")),
            "style" => STYLE.to_owned() + &palette(),
            "system" => escaped(&system),
            "status" => result.status.name().to_owned(),
            "headline" => escaped(&headline),
            "verdict" => verdict.clone(),
            "facts" => tables::facts(result),
            "notes" => self.notes(&policy),
            "tree" => policy.as_ref().map_or_else(no_tree, |policy| svg(policy, Theme::Page)),
            "choices" => choices::html(result, &problem),
            "robustness" => tables::robustness(&problem, tree, self.observed.as_ref()),
            "fresh" => tables::fresh(result, &problem, self.fresh.as_ref()),
            "statistics" => tables::statistics(result),
            "command" => tables::command(result),
            "problem" => tables::problem(result),
            "data" => island(&self.data(&problem, &system, tree)),
            "script" => SCRIPT.to_owned(),
            "version" => env!("CARGO_PKG_VERSION").to_owned(),
            _ => String::new(),
        };
        Ok(filled(PAGE, fill))
    }

    /// What a reader must know about what is not shown, or shown in part.
    fn notes(&self, policy: &Option<Policy>) -> String {
        let mut notes: Vec<String> = self.note.iter().cloned().collect();
        if let Some(observed) = &self.observed {
            if policy.is_some() && self.result.value != observed.value {
                let said = |value: Option<_>| value.map_or("none".to_owned(), worth::bare);
                notes.push(format!(
                    "The result claims the value {}, but run again the tree has {}. Do not trust this result.",
                    said(self.result.value),
                    said(observed.value)
                ));
            }
            let stride = observed.coarsest() as u64;
            if stride > 1 {
                notes.push(format!(
                    "To keep this file small, traces are drawn with every {} state or more often, of {} in all; \
                     the worst trace is drawn in full where it has at most 20,000 states. Counts \
                     and intervals are of all states.",
                    ordinal(stride),
                    grouped(observed.state_count)
                ));
            }
            if observed.traces.len() < observed.trace_count {
                let (drawn, all) = (observed.traces.len() as u64, observed.trace_count as u64);
                notes.push(format!("{} of the {} traces are drawn.", grouped(drawn), grouped(all)));
            }
        }
        notes.iter().map(|note| format!("<p class=\"note\">{}</p>", escaped(note))).collect()
    }

    /// What the script draws from.
    fn data(&self, problem: &Problem, system: &str, tree: Option<&Tree>) -> Value {
        let mut nodes = Vec::new();
        if let Some(tree) = tree {
            table(tree, None, &mut nodes);
        }
        let dimensions: Vec<&str> = problem.dimensions().iter().map(|d| d.name.as_str()).collect();
        let actions: Vec<&str> = problem.actions().iter().map(|a| a.name.as_str()).collect();
        let values: Vec<f64> = problem.actions().iter().map(|a| a.value).collect();
        let initial: Vec<&[f64]> = match &self.observed {
            Some(observed) => {
                observed.traces.iter().map(|t| problem.initial_states()[t.initial].values()).collect()
            }
            None => Vec::new(),
        };
        json!({
            "system": system,
            "minimised": problem.objective().is_minimised(),
            "value": self.result.value,
            "bound": self.result.bound,
            "status": self.result.status,
            "dimensions": dimensions,
            "actions": actions,
            "values": values,
            "nodes": nodes,
            "initial": initial,
            "observed": self.observed,
            "history": self.result.history,
            "queries": self.result.queries,
            "seconds": self.result.seconds,
        })
    }
}

/// The nodes in preorder, each with the index of its parent.
fn table(tree: &Tree, parent: Option<usize>, nodes: &mut Vec<Value>) {
    let index = nodes.len();
    match tree {
        Tree::Leaf(action) => nodes.push(json!({ "parent": parent, "action": action })),
        Tree::Node { dimension, threshold, yes, no } => {
            let no_index = index + 2 + 2 * yes.size() as usize;
            nodes.push(json!({
                "parent": parent, "dimension": dimension, "threshold": threshold,
                "yes": index + 1, "no": no_index,
            }));
            table(yes, Some(index), nodes);
            table(no, Some(index), nodes);
        }
    }
}

/// JSON that can stand in a script element: nothing in it can be taken for a tag.
fn island(data: &Value) -> String {
    let text = harmless(data.to_string());
    text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// The template with every `{{name}}` replaced, in one pass: what is filled in is not looked at again.
fn filled(template: &str, fill: impl Fn(&str) -> String) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, after)) = after.split_once("}}") else { break };
        text += before;
        text += &fill(name);
        rest = after;
    }
    text + rest
}

/// The colours of actions, in both surroundings.
fn palette() -> String {
    let rules = |of: fn(&Colours) -> (&'static str, &'static str)| -> String {
        let rule = |(i, colours): (usize, &Colours)| {
            let (fill, line) = of(colours);
            format!(" --a{i}: {fill}; --a{i}-line: {line};")
        };
        format!(":root {{{} }}\n", ACTION_COLOURS.iter().enumerate().map(rule).collect::<String>())
    };
    let classes: String = (0..ACTION_COLOURS.len())
        .map(|i| format!(".a{i} {{ --fill: var(--a{i}); --line: var(--a{i}-line); }}\n"))
        .collect();
    let light = rules(|c| (c.light, c.light_line));
    let dark = rules(|c| (c.dark, c.dark_line));
    format!("{light}@media screen and (prefers-color-scheme: dark) {{ {dark} }}\n{classes}")
}

fn no_tree() -> String {
    "<p class=\"note\">There is no tree to show.</p>".to_owned()
}

/// `2` as "2nd".
fn ordinal(number: u64) -> String {
    let ending = match (number % 10, number % 100) {
        (1, rest) if rest != 11 => "st",
        (2, rest) if rest != 12 => "nd",
        (3, rest) if rest != 13 => "rd",
        _ => "th",
    };
    format!("{}{ending}", grouped(number))
}

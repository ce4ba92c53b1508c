//! A tree in the language of Graphviz.

use super::layout::Layout;
use super::palette::colours;
use crate::names::comment;
use crate::policy::Policy;

/// The tree as a Graphviz graph.
pub fn dot(policy: &Policy) -> String {
    let mut text: String = policy.about().iter().map(|line| format!("// {}\n", comment(line))).collect();
    text += "digraph policy {\n    node [fontname=\"sans-serif\", shape=box];\n    edge [fontname=\"sans-serif\"];\n";
    for (i, node) in Layout::new(&policy.problem, &policy.tree).nodes.iter().enumerate() {
        let style = match node.action {
            Some(action) => {
                let colours = colours(action);
                format!("style=filled, fillcolor=\"{}\", color=\"{}\"", colours.light, colours.light_line)
            }
            None => "style=rounded".to_owned(),
        };
        text += &format!("    n{i} [label={}, {style}];\n", quoted(&node.full_label));
        if let Some((parent, yes)) = node.parent {
            text += &format!("    n{parent} -> n{i} [label=\"{}\"];\n", if yes { "yes" } else { "no" });
        }
    }
    text + "}\n"
}

/// A quoted string. Backslashes would begin escapes of Graphviz, and it decodes HTML entities.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '&' => out += "&amp;",
            c => out.push(c),
        }
    }
    out + "\""
}

//! A tree for LaTeX, in the style of the figures of *In Search of Trees*: rounded predicates, coloured
//! leaves, names such as `theta_dot` as mathematics. It needs the package `tikz` and any LaTeX engine.

use broccoli_core::problem::Problem;
use broccoli_core::tree::Tree;

use super::layout::{Layout, short_number};
use crate::names::comment;
use crate::policy::Policy;

const FILLS: [&str; 6] = [
    "cyan!20!white",
    "pink!40!white",
    "green!15!white",
    "yellow!25!white",
    "violet!15!white",
    "gray!20!white",
];
const GREEK: [(&str, char); 22] = [
    ("alpha", 'α'),
    ("beta", 'β'),
    ("gamma", 'γ'),
    ("delta", 'δ'),
    ("epsilon", 'ε'),
    ("zeta", 'ζ'),
    ("eta", 'η'),
    ("theta", 'θ'),
    ("iota", 'ι'),
    ("kappa", 'κ'),
    ("lambda", 'λ'),
    ("mu", 'μ'),
    ("nu", 'ν'),
    ("xi", 'ξ'),
    ("pi", 'π'),
    ("rho", 'ρ'),
    ("sigma", 'σ'),
    ("tau", 'τ'),
    ("phi", 'φ'),
    ("chi", 'χ'),
    ("psi", 'ψ'),
    ("omega", 'ω'),
];

/// The tree as a `tikzpicture`.
pub fn tikz(policy: &Policy) -> String {
    let about = policy.about();
    let mut text: String = about.iter().map(|line| format!("% {}\n", comment(line))).collect();
    text += "% Needs \\usepackage{tikz}.\n\\begin{tikzpicture}[\n    x=0.25mm, y=-0.14mm,\n";
    text += "    l/.style={rectangle,draw,minimum width=8mm},\n    n/.style={rectangle,draw,rounded corners},\n]\n";
    let layout = Layout::new(&policy.problem, &policy.tree);
    let mut labels = Vec::new();
    collect(&policy.problem, &policy.tree, &mut labels);
    for (i, (node, label)) in layout.nodes.iter().zip(labels).enumerate() {
        text +=
            &format!("    \\node[{}] (n{i}) at ({:.0},{:.0}) {{{}}};\n", label.0, node.x, node.y, label.1);
        if let Some((parent, _)) = node.parent {
            text += &format!("    \\draw (n{parent}) -- (n{i});\n");
        }
    }
    text + "\\end{tikzpicture}\n"
}

/// Style and text of every node, in preorder.
fn collect(problem: &Problem, tree: &Tree, labels: &mut Vec<(String, String)>) {
    match tree {
        Tree::Leaf(action) => {
            let fill = FILLS[action % FILLS.len()];
            labels.push((format!("l,fill={fill}"), name(&problem.actions()[*action].name)));
        }
        Tree::Node { dimension, threshold, yes, no } => {
            let name = name(&problem.dimensions()[*dimension].name);
            labels.push(("n".to_owned(), format!("{name} $\\geq {}$", number(*threshold))));
            collect(problem, yes, labels);
            collect(problem, no, labels);
        }
    }
}

fn number(value: f64) -> String {
    let text = short_number(value);
    match text.split_once('e') {
        Some((digits, exponent)) => format!("{digits} \\cdot 10^{{{exponent}}}"),
        None => text,
    }
}

/// A name: mathematics if it looks like a symbol, else text with every special character escaped.
fn name(name: &str) -> String {
    let (stem, dotted) = name.strip_suffix("_dot").map_or((name, false), |stem| (stem, true));
    let greek = GREEK.iter().find(|(word, letter)| *word == stem || stem.chars().eq([*letter]));
    let symbol = match greek {
        Some((word, _)) => Some(format!("\\{word}")),
        None if stem.len() == 1 && stem.chars().all(|c| c.is_ascii_alphabetic()) => Some(stem.to_owned()),
        None => None,
    };
    match symbol {
        Some(symbol) if dotted => format!("$\\dot{{{symbol}}}$"),
        Some(symbol) => format!("${symbol}$"),
        None if name.parse::<f64>().is_ok_and(f64::is_finite) => format!("${name}$"),
        None => name.chars().map(character).collect(),
    }
}

/// A character as text, for every engine: pdfTeX knows few beyond ASCII, so others become their codes.
fn character(c: char) -> String {
    match c {
        '\\' => "\\textbackslash{}".to_owned(),
        '~' => "\\textasciitilde{}".to_owned(),
        '^' => "\\textasciicircum{}".to_owned(),
        '<' => "\\textless{}".to_owned(),
        '>' => "\\textgreater{}".to_owned(),
        '|' => "\\textbar{}".to_owned(),
        '"' => "{\\char34}".to_owned(),
        '{' | '}' | '$' | '&' | '#' | '%' | '_' => format!("\\{c}"),
        // In braces, or two hyphens would become a dash.
        '-' | '\'' | '`' | '?' | '!' | ',' => format!("{{{c}}}"),
        ' ' => "\\ ".to_owned(),
        c if c.is_ascii_graphic() || ('À'..='ÿ').contains(&c) && !"ÐðÞþ×÷".contains(c) => {
            c.to_string()
        }
        c => match GREEK.iter().find(|(_, letter)| *letter == c) {
            Some((word, _)) => format!("$\\{word}$"),
            None => format!("[U+{:04X}]", c as u32),
        },
    }
}

//! A tree as SVG, in light, in dark, or in the colours that the viewer prefers.

use std::fmt::Write;

use broccoli_core::problem::Problem;
use broccoli_core::tree::Tree;

use super::layout::{BOX_HEIGHT, FONT_SIZE, Layout};
use super::palette::{ACTION_COLOURS, Colours};
use crate::names::visible;
use crate::policy::Policy;

/// The surroundings that a picture is made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Light, or dark where the viewer prefers that.
    #[default]
    Auto,
    /// Light.
    Light,
    /// Dark.
    Dark,
    /// None of its own: a page that holds the picture has the style for it.
    Page,
}

/// The tree as SVG. Every node is a group of the class `node` with its number in `data-node`.
pub fn svg(policy: &Policy, theme: Theme) -> String {
    let title = format!("Decision tree for {}", policy.system);
    tree_svg(&policy.problem, &policy.tree, theme, &title, &policy.about().join(" "))
}

/// The same of any tree with the names of `problem`, under this title and description.
pub fn tree_svg(problem: &Problem, tree: &Tree, theme: Theme, title: &str, description: &str) -> String {
    let layout = Layout::new(problem, tree);
    let (width, height) = (layout.width, layout.height);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"tree\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" font-size=\"{FONT_SIZE}\" \
         font-family=\"'DejaVu Sans', Verdana, sans-serif\">\n<title>{}</title>\n<desc>{}</desc>\n",
        escaped(title),
        escaped(description),
    );
    text += &style(theme);
    if theme != Theme::Page {
        text += "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n";
    }
    for (i, node) in layout.nodes.iter().enumerate() {
        let Some((parent, yes)) = node.parent else { continue };
        let from = &layout.nodes[parent];
        let (start, end) = (from.y + BOX_HEIGHT / 2.0, node.y - BOX_HEIGHT / 2.0);
        let (x0, x1) = (from.x, node.x);
        let _ = writeln!(
            text,
            "<g class=\"edge\" data-edge=\"{i}\"><path d=\"M{x0:.1} {start:.1} C{x0:.1} {bend:.1} {x1:.1} {bend:.1} \
             {x1:.1} {end:.1}\"/><text x=\"{at:.1}\" y=\"{up:.1}\" text-anchor=\"{anchor}\">{word}</text></g>",
            bend = (start + end) / 2.0,
            at = if yes { x1 - 6.0 } else { x1 + 6.0 },
            up = end - 6.0,
            anchor = if yes { "end" } else { "start" },
            word = if yes { "yes" } else { "no" },
        );
    }
    for (i, node) in layout.nodes.iter().enumerate() {
        let (x, y) = (node.x - node.width / 2.0, node.y - BOX_HEIGHT / 2.0);
        let (class, round) = match node.action {
            Some(action) => (format!("leaf a{}", action % ACTION_COLOURS.len()), 3.0),
            None => ("predicate".to_owned(), BOX_HEIGHT / 2.0),
        };
        let _ = writeln!(
            text,
            "<g class=\"node {class}\" data-node=\"{i}\"><title>{}</title><rect x=\"{x:.1}\" y=\"{y:.1}\" \
             width=\"{:.1}\" height=\"{BOX_HEIGHT}\" rx=\"{round}\"/><text x=\"{:.1}\" y=\"{:.1}\" \
             text-anchor=\"middle\">{}</text></g>",
            escaped(&node.full_label),
            node.width,
            node.x,
            node.y + FONT_SIZE * 0.35,
            escaped(&node.label),
        );
    }
    text + "</svg>\n"
}

fn style(theme: Theme) -> String {
    let light = || rules("#ffffff", "#1b2631", "#f4f6f8", "#7b8794", |c: &Colours| (c.light, c.light_line));
    let dark = || rules("#15191e", "#e6eaee", "#232a32", "#8b97a3", |c: &Colours| (c.dark, c.dark_line));
    let rules = match theme {
        Theme::Page => return String::new(),
        Theme::Light => light(),
        Theme::Dark => dark(),
        Theme::Auto => format!("{}@media (prefers-color-scheme: dark) {{\n{}}}\n", light(), dark()),
    };
    format!("<style>\n{rules}</style>\n")
}

fn rules(
    ground: &str,
    ink: &str,
    fill: &str,
    line: &str,
    of: fn(&Colours) -> (&'static str, &'static str),
) -> String {
    let mut css = format!(
        ".ground {{ fill: {ground} }}\ntext {{ fill: {ink} }}\n.edge path {{ fill: none; stroke: {line} }}\n\
         .edge text {{ fill: {line}; font-size: 11px }}\n.predicate rect {{ fill: {fill}; stroke: {line} }}\n"
    );
    for (i, colours) in ACTION_COLOURS.iter().enumerate() {
        let (fill, line) = of(colours);
        css += &format!(".a{i} rect {{ fill: {fill}; stroke: {line} }}\n");
    }
    css
}

/// Text for XML and HTML: markup is escaped, and it is made [`visible`].
///
/// ```
/// assert_eq!(broccoli_export::drawing::escaped("<a & \"b\"\u{0}>"), "&lt;a &amp; &quot;b&quot;\u{fffd}&gt;");
/// ```
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            c => out.push(c),
        }
    }
    out
}

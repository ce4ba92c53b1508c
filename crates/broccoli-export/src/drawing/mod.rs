//! Trees as pictures: SVG and PNG with a layout of our own, Graphviz DOT, and TikZ for LaTeX.

mod dot;
mod layout;
mod palette;
mod png;
mod svg;
mod tikz;

pub use dot::dot;
pub use layout::{Layout, Placed};
pub use palette::{ACTION_COLOURS, Colours, colours};
pub use png::{PngError, png};
pub use svg::{Theme, escaped, svg, tree_svg};
pub use tikz::tikz;

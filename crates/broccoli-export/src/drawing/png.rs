//! A tree as PNG: its SVG, drawn here with a font that is part of the program. The font has Latin, Greek
//! and Cyrillic letters.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};

use super::svg::{Theme, svg};
use crate::policy::Policy;

const FONT: &[u8] = include_bytes!("../../fonts/DejaVuSans-subset.ttf");
/// Pixels per unit of the layout, for sharp letters.
const SCALE: f32 = 2.0;
/// A picture with more pixels than this is drawn smaller.
const MOST_PIXELS: f32 = 64e6;

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
#[error("the tree cannot be drawn: {0}")]
pub struct PngError(String);

/// The tree as PNG, in light or dark; [`Theme::Auto`] is light.
///
/// # Errors
/// When the tree is too large for a picture.
pub fn png(policy: &Policy, theme: Theme) -> Result<Vec<u8>, PngError> {
    let theme = if theme == Theme::Dark { Theme::Dark } else { Theme::Light };
    let mut fonts = Database::new();
    fonts.load_font_data(FONT.to_vec());
    let options =
        Options { fontdb: Arc::new(fonts), font_family: "DejaVu Sans".to_owned(), ..Options::default() };
    let tree = Tree::from_str(&svg(policy, theme), &options).map_err(|error| PngError(error.to_string()))?;
    let (width, height) = (tree.size().width(), tree.size().height());
    let scale = SCALE.min((MOST_PIXELS / (width * height)).sqrt());
    let pixels = |length: f32| (length * scale).ceil() as u32;
    let mut pixmap = Pixmap::new(pixels(width), pixels(height))
        .ok_or_else(|| PngError(format!("{width} by {height} is too large")))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| PngError(error.to_string()))
}

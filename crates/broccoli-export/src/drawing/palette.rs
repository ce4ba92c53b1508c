//! The colours of actions, in light and in dark surroundings. Every action also has its name in every
//! picture, so colour is never the only sign.

/// Fill and line of an action, in light and in dark surroundings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colours {
    /// The fill in light surroundings.
    pub light: &'static str,
    /// The line in light surroundings.
    pub light_line: &'static str,
    /// The fill in dark surroundings.
    pub dark: &'static str,
    /// The line in dark surroundings.
    pub dark_line: &'static str,
}

/// The colours of the first actions; further ones begin again.
pub const ACTION_COLOURS: [Colours; 8] = [
    colour("#cde7f7", "#1f77a8", "#12405a", "#5bb8e8"),
    colour("#fcd9cf", "#c2482a", "#5c2a1c", "#f2906f"),
    colour("#d5efd0", "#34813a", "#1f4a24", "#77c97d"),
    colour("#fdeebf", "#96700a", "#4d3d0e", "#e3bd50"),
    colour("#e5dcf5", "#6f4bb0", "#3a2a5c", "#b497ea"),
    colour("#f9d5e8", "#ad3b7c", "#562040", "#e98cc0"),
    colour("#cdefe9", "#0f7f72", "#0d463f", "#57c9ba"),
    colour("#e3e3e3", "#5f5f5f", "#3c3c3c", "#b5b5b5"),
];

/// The colours of an action.
pub fn colours(action: usize) -> Colours {
    ACTION_COLOURS[action % ACTION_COLOURS.len()]
}

const fn colour(
    light: &'static str,
    light_line: &'static str,
    dark: &'static str,
    dark_line: &'static str,
) -> Colours {
    Colours { light, light_line, dark, dark_line }
}

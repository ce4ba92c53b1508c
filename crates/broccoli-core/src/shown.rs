//! Text that somebody else wrote, made safe to show.
//!
//! Names come from files and programs of other people. On a terminal a control character in one could move
//! the cursor, hide what was printed or draw a verdict of its own; a character that reorders what is around
//! it could do the same to a reader. Whatever shows such text to people takes it through here, where it
//! enters a sentence; what writes to a terminal does it once more, for what somebody forgot.

use std::borrow::Cow;

/// Whether a character controls what shows it: ASCII and other control characters, line ends among them, and
/// what separates lines and paragraphs or changes the direction of writing in Unicode.
///
/// ```
/// use broccoli_core::shown::is_control;
/// assert!("\u{1b}\n\u{7f}\u{9b}\u{61c}\u{2028}\u{202e}\u{2066}".chars().all(is_control));
/// assert!(!"aé速θ̇ -…".chars().any(is_control));
/// ```
pub fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text on one line: every character that [`is_control`] as its code.
///
/// ```
/// use broccoli_core::shown::shown;
/// assert_eq!(shown("speed"), "speed");
/// assert_eq!(shown("a\u{1b}[2K\nVerified."), r"a\u{1b}[2K\nVerified.");
/// ```
pub fn shown(text: &str) -> Cow<'_, str> {
    escaped(text, is_control)
}

/// The same of text that has lines: only their ends stay.
///
/// ```
/// use broccoli_core::shown::shown_lines;
/// assert_eq!(shown_lines("a\n\u{9b}2K\r\n"), "a\n\\u{9b}2K\\r\n");
/// ```
pub fn shown_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c != '\n' && is_control(c))
}

fn escaped(text: &str, is_wrong: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_wrong) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_wrong(c) {
            true => out.extend(c.escape_debug()),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

//! Names that users chose, made harmless for the place they are put in.
//!
//! A dimension or an action may be called anything. Exports never trust that: a name becomes an
//! identifier, text in a comment or a string only through here (or through the escaping of its own format).

use std::collections::BTreeSet;

use broccoli_core::shown::is_control;

/// A part of an identifier: lower-case letters, digits and single underscores, at most 24 of them.
///
/// Exports put `x_` before it, so that no keyword of any language can come out.
///
/// ```
/// use broccoli_export::names::identifier;
/// let names = ["theta_dot", "Speed, m/s", "class", "__", "速度"];
/// assert_eq!(names.map(identifier), ["theta_dot", "speed_m_s", "class", "", ""]);
/// ```
pub fn identifier(name: &str) -> String {
    let letters = name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' });
    let letters: String = letters.collect();
    let words: Vec<&str> = letters.split('_').filter(|word| !word.is_empty()).collect();
    let mut text = words.join("_");
    text.truncate(24);
    text.trim_end_matches('_').to_owned()
}

/// One identifier per name, all different even where case does not count.
///
/// ```
/// use broccoli_export::names::identifiers;
/// assert_eq!(identifiers(&["speed", "Speed", "速度", "speed_2"]), ["x_speed", "x_speed_1", "x_2", "x_speed_2"]);
/// ```
pub fn identifiers(names: &[impl AsRef<str>]) -> Vec<String> {
    let mut all: Vec<String> = Vec::with_capacity(names.len());
    let mut taken = BTreeSet::new();
    for (index, name) in names.iter().enumerate() {
        let stem = identifier(name.as_ref());
        let mut candidate = if stem.is_empty() { format!("x_{index}") } else { format!("x_{stem}") };
        while !taken.insert(candidate.clone()) {
            candidate = format!("{candidate}_{index}");
        }
        all.push(candidate);
    }
    all
}

/// Text that can stand on one line of a comment in any of the languages: letters and digits of any
/// script and visible ASCII stay, anything else is written as its code, and the ends of comments are
/// taken apart.
///
/// ```
/// use broccoli_export::names::comment;
/// assert_eq!(comment("θ̇ */ int\nx"), r"θ\u{307} * / int\u{a}x");
/// ```
pub fn comment(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut last = ' ';
    for c in text.chars() {
        if c == ' ' || c.is_ascii_graphic() || c.is_alphanumeric() {
            let pair = [last, c];
            if [['*', '/'], ['/', '*'], ['(', '*'], ['*', ')'], ['/', '/']].contains(&pair) {
                out.push(' ');
            }
            out.push(c);
        } else {
            out += &format!("\\u{{{:x}}}", c as u32);
        }
        last = c;
    }
    out
}

/// Text to be shown: line breaks become spaces, and characters that control or reorder what is around
/// them a replacement sign.
///
/// ```
/// assert_eq!(broccoli_export::names::visible("a\nb\u{0}\u{202e}"), "a b\u{fffd}\u{fffd}");
/// ```
pub fn visible(text: &str) -> String {
    let visible = |c: char| match c {
        '\n' | '\r' | '\t' => ' ',
        '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        c if is_control(c) => '\u{fffd}',
        c => c,
    };
    text.chars().map(visible).collect()
}

/// A word as a shell takes it.
///
/// ```
/// use broccoli_export::names::shell_word;
/// assert_eq!(shell_word("plant.toml"), "plant.toml");
/// assert_eq!(shell_word("my plant's.toml"), "'my plant'\\''s.toml'");
/// ```
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:+%@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

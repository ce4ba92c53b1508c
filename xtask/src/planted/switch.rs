//! Puts switches into a source file: every planted bug is compiled in, and one is chosen when a test is run.
//!
//! The unit is the body of a function. `{ body }` becomes `{ if chosen(7) { body with bug 7 } else { body } }`, so a
//! bug may change whatever stands in a body: an expression, a pattern, an arm, several statements. Bugs in one body
//! become a chain of `if`s, and each branch has one of them only. Of a function within a function the innermost counts.
//! A function that returns an `impl` of some trait cannot have two bodies: there the text must be an expression, and
//! that is the unit.
//!
//! Rust is not parsed for this. Comments, strings and characters are blanked, and then it is enough to look for `fn`
//! and to count brackets. What is misunderstood does not compile, or the bug is not caught: both are noticed.

use std::ops::Range;

use anyhow::{Context, Result, ensure};

/// A replacement in a file.
pub(super) struct Change<'a> {
    /// The number that chooses it.
    pub(super) number: usize,
    /// What it is called, for a comment and for messages.
    pub(super) id: &'a str,
    /// Text that occurs exactly once in the file …
    pub(super) find: &'a str,
    /// … and what takes its place.
    pub(super) replace: &'a str,
}

/// The function that every switch calls; it stands at the end of a crate's root.
pub(super) fn chooser(variable: &str) -> String {
    format!(
        r#"
#[inline(always)]
pub(crate) fn is_planted(number: usize) -> bool {{
    static CHOSEN: std::sync::LazyLock<usize> = std::sync::LazyLock::new(|| {{
        std::env::var("{variable}").ok().and_then(|number| number.parse().ok()).unwrap_or(usize::MAX)
    }});
    *CHOSEN == number
}}
"#
    )
}

/// The contents of a file with a switch for every change.
pub(super) fn switched(contents: &str, changes: &[Change<'_>]) -> Result<String> {
    let bodies = bodies(&blanked(contents))?;
    let mut placed = Vec::new();
    for change in changes {
        let place = place(contents, change)?;
        let Change { id, find, .. } = change;
        // The last one that begins before it is the innermost.
        let body = bodies.iter().rfind(|body| body.range.start < place.start && place.end < body.range.end);
        let body = body.with_context(|| {
            format!("{id}: {find:?} is not within the body of a function, so it cannot be switched")
        })?;
        ensure!(!body.is_const, "{id}: {find:?} is in a function that is const, so it cannot be switched");
        let unit = if body.is_opaque { place.clone() } else { body.range.clone() };
        placed.push(Placed { unit, place, change });
    }
    let mut units: Vec<Range<usize>> = placed.iter().map(|placed| placed.unit.clone()).collect();
    units.sort_by_key(|unit| (unit.start, std::cmp::Reverse(unit.end)));
    units.dedup();
    for (unit, next) in units.iter().zip(units.iter().skip(1)) {
        let overlap = || format!("{:?} and {:?} overlap", &contents[unit.clone()], &contents[next.clone()]);
        ensure!(next.start >= unit.end || next.end <= unit.end, overlap());
    }
    Ok(rewrite(contents, 0..contents.len(), &units, &placed))
}

/// Where the text of a change is.
fn place(contents: &str, change: &Change<'_>) -> Result<Range<usize>> {
    let Change { id, find, replace, .. } = change;
    let count = contents.matches(find).count();
    ensure!(count == 1, "{id}: {find:?} must occur exactly once, and occurs {count} times");
    ensure!(find != replace, "{id}: the replacement changes nothing");
    let start = contents.find(find).unwrap_or_default();
    Ok(start..start + find.len())
}

/// A change with its place, and the place of what is there twice because of it.
struct Placed<'a> {
    unit: Range<usize>,
    place: Range<usize>,
    change: &'a Change<'a>,
}

/// The text of a range, with switches in all units in it, which are sorted by where they begin.
fn rewrite(contents: &str, range: Range<usize>, units: &[Range<usize>], placed: &[Placed<'_>]) -> String {
    let mut text = String::new();
    let mut at = range.start;
    let mut rest = units;
    while let Some((unit, after)) = rest.split_first() {
        text += &contents[at..unit.start];
        // An expression has no braces of its own.
        let mut signs = ["{ ", " }", "", ""];
        for Placed { place, change, .. } in placed.iter().filter(|placed| placed.unit == *unit) {
            if place == unit {
                signs = ["(", ")", "{ ", " }"];
            }
            let [open, _, begin, end] = signs;
            text += if text.ends_with(" else ") { "" } else { open };
            let (before, behind) = (&contents[unit.start..place.start], &contents[place.end..unit.end]);
            let Change { number, id, replace, .. } = change;
            let branch = format!("{begin}{before}{replace}{behind}{end}");
            text += &format!("if crate::is_planted({number} /* {id} */) {branch} else ");
        }
        let [_, close, begin, end] = signs;
        // What is inside has its own switches, in the branch without a change of this unit.
        let inner = after.partition_point(|other| other.start < unit.end);
        text += begin;
        text += &rewrite(contents, unit.clone(), &after[..inner], placed);
        text += end;
        text += close;
        (at, rest) = (unit.end, &after[inner..]);
    }
    text + &contents[at..range.end]
}

/// The body of a function, with its braces.
struct Body {
    range: Range<usize>,
    is_const: bool,
    /// Whether the function returns an `impl` of some trait, and so one type only, which has no name.
    is_opaque: bool,
}

/// The bodies of all functions, in the order in which they begin.
fn bodies(code: &[u8]) -> Result<Vec<Body>> {
    let mut bodies = Vec::new();
    let mut at = 0;
    // Whether `const` stands before the `fn`, perhaps with `unsafe` or `extern` between them.
    let mut is_const = false;
    while at < code.len() {
        let length = code[at..].iter().take_while(|byte| is_word(**byte)).count();
        match &code[at..at + length] {
            b"" => {
                if !code[at].is_ascii_whitespace() {
                    is_const = false;
                }
                at += 1;
                continue;
            }
            b"const" => is_const = true,
            b"unsafe" | b"extern" => {}
            b"fn" => {
                if let Some(range) = body(code, at + length)? {
                    let is_opaque = is_opaque(&code[at + length..range.start]);
                    bodies.push(Body { range, is_const, is_opaque });
                }
                is_const = false;
            }
            _ => is_const = false,
        }
        at += length;
    }
    Ok(bodies)
}

/// Whether a signature has `impl` outside brackets, and so in the type of the result.
fn is_opaque(signature: &[u8]) -> bool {
    let mut depth = 0_usize;
    signature.iter().enumerate().any(|(at, byte)| {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && signature[at..].starts_with(b"impl ")
    })
}

/// The body of the function whose `fn` ends here, if it has one.
fn body(code: &[u8], from: usize) -> Result<Option<Range<usize>>> {
    let mut depth = 0_usize;
    let mut start = None;
    for (at, byte) in code.iter().enumerate().skip(from) {
        match byte {
            b'{' if depth == 0 && start.is_none() => {
                start = Some(at);
                depth = 1;
            }
            b'(' | b'[' | b'{' => depth += 1,
            // Where a type such as `fn()` ends, there is no body.
            b')' | b']' | b'}' if depth == 0 => return Ok(None),
            b')' | b']' | b'}' => {
                depth -= 1;
                if let Some(start) = start.filter(|_| depth == 0) {
                    return Ok(Some(start..at + 1));
                }
            }
            b';' if depth == 0 => return Ok(None),
            _ => {}
        }
    }
    ensure!(start.is_none(), "the brackets do not match");
    Ok(None)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The source with blanks for everything in comments, strings and characters; every byte keeps its place.
fn blanked(source: &str) -> Vec<u8> {
    let bytes = source.as_bytes();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let is_in_word = at > 0 && is_word(bytes[at - 1]);
        let length = match rest {
            [b'/', b'/', ..] => rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
            [b'/', b'*', ..] => comment(rest),
            [b'"', ..] => string(rest),
            [b'r', b'"' | b'#', ..] if !is_in_word => raw(rest, 1),
            [b'b' | b'c', b'r', b'"' | b'#', ..] if !is_in_word => raw(rest, 2),
            [b'\'', ..] => character(&source[at..]),
            _ => 0,
        };
        code[at..at + length].fill(b' ');
        at += length.max(1);
    }
    code
}

/// How long a comment is that may have others in it.
fn comment(rest: &[u8]) -> usize {
    let (mut at, mut depth) = (0, 0_usize);
    while at < rest.len() {
        match &rest[at..] {
            [b'/', b'*', ..] => (at, depth) = (at + 2, depth + 1),
            [b'*', b'/', ..] => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

fn string(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// How long a raw string is, if it is one; `r#name` is a word.
fn raw(rest: &[u8], prefix: usize) -> usize {
    let hashes = rest[prefix..].iter().take_while(|byte| **byte == b'#').count();
    let open = prefix + hashes;
    if rest.get(open) != Some(&b'"') {
        return 0;
    }
    let end: Vec<u8> = std::iter::once(b'"').chain(std::iter::repeat_n(b'#', hashes)).collect();
    let close = rest[open + 1..].windows(end.len()).position(|window| window == end);
    close.map_or(rest.len(), |close| open + 1 + close + end.len())
}

/// How long a character is; a lifetime has none.
fn character(rest: &str) -> usize {
    let mut letters = rest.char_indices().skip(1);
    match letters.next() {
        Some((_, '\\')) => {
            letters.next();
            rest[3..].find('\'').map_or(0, |end| 3 + end + 1)
        }
        Some(_) => match letters.next() {
            Some((at, '\'')) => at + 1,
            _ => 0,
        },
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change<'a>(number: usize, find: &'a str, replace: &'a str) -> Change<'a> {
        Change { number, id: "bug", find, replace }
    }

    #[test]
    fn a_switch_stands_around_the_body_and_leaves_the_rest() {
        let source = "fn a() -> u8 { 1 }\nfn b() -> u8 { 2 }\n";
        let text = switched(source, &[change(7, "1", "3")]).unwrap();
        let body = "{ if crate::is_planted(7 /* bug */) { 3 } else { 1 } }";
        assert_eq!(text, format!("fn a() -> u8 {body}\nfn b() -> u8 {{ 2 }}\n"));
    }

    #[test]
    fn changes_in_one_body_and_in_bodies_within_bodies_compose() {
        let source = "fn a() { let x = 1 + 2; fn b() { 5 } }";
        let changes = [change(0, "1", "9"), change(1, "2", "8"), change(2, "5", "6")];
        let text = switched(source, &changes).unwrap();
        let first = "{ let x = 9 + 2; fn b() { 5 } }";
        let second = "{ let x = 1 + 8; fn b() { 5 } }";
        let inner = "{ if crate::is_planted(2 /* bug */) { 6 } else { 5 } }";
        let expected = format!(
            "fn a() {{ if crate::is_planted(0 /* bug */) {first} else if crate::is_planted(1 /* bug */) {second} \
             else {{ let x = 1 + 2; fn b() {inner} }} }}"
        );
        assert_eq!(text, expected);
    }

    #[test]
    fn where_a_body_cannot_be_there_twice_an_expression_is() {
        let source = "fn a(x: &impl Fn() -> u8) -> impl Fn(u8) -> u8 { move |y| y + (1, 2).0 }";
        let text = switched(source, &[change(0, "(1, 2)", "(3, 4)"), change(1, "(1, 2).0", "5")]).unwrap();
        let inner = "(if crate::is_planted(0 /* bug */) { (3, 4) } else { (1, 2) })";
        let outer = format!("(if crate::is_planted(1 /* bug */) {{ 5 }} else {{ {inner}.0 }})");
        assert_eq!(text, source.replace("(1, 2).0", &outer));
        let both = switched(source, &[change(0, "y + (1", "(0"), change(1, "(1, 2).0", "5")]);
        assert!(both.unwrap_err().to_string().contains("overlap"));
    }

    #[test]
    fn brackets_and_words_in_comments_and_strings_do_not_count() {
        let source = "fn a<'a>(x: fn(u8) -> u8, y: [u8; 2]) -> &'a str where u8: Copy {\n // } fn\n /* } /* } */ } */\n \
                      let _ = ('}', '\\'', b'{', \"}\\\"}\", r#\"}\"}\"#, 'ä'); 1 }\ntrait T { fn c(&self); fn d(&self) { 2 } }";
        let text = switched(source, &[change(0, "1 }", "0 }")]).unwrap_err().to_string();
        assert!(text.contains("is not within the body"), "{text}");
        let text = switched(source, &[change(0, "; 1", "; 0"), change(1, " 2 ", " 3 ")]).unwrap();
        assert_eq!(text.matches("is_planted").count(), 2);
        assert!(
            text.ends_with("fn d(&self) { if crate::is_planted(1 /* bug */) { 3 } else { 2 } } }"),
            "{text}"
        );
        assert!(text.contains("'ä'); 0 } else {\n // } fn"), "{text}");
    }

    #[test]
    fn what_cannot_be_switched_is_an_error_that_says_why() {
        let error =
            |source: &str, find: &str| switched(source, &[change(0, find, "x")]).unwrap_err().to_string();
        assert_eq!(error("fn a() { 1; 1 }", "1"), "bug: \"1\" must occur exactly once, and occurs 2 times");
        assert_eq!(error("fn a() {}", "1"), "bug: \"1\" must occur exactly once, and occurs 0 times");
        assert_eq!(error("fn a() { x }", "x"), "bug: the replacement changes nothing");
        assert!(error("const A: u8 = 1; fn a() {}", "1").contains("is not within the body of a function"));
        assert!(error("pub const unsafe fn a() { 1 }", "1").contains("is in a function that is const"));
        assert!(switched("const A: u8 = 2; fn a() { 1 }", &[change(0, "1", "x")]).is_ok());
        assert!(error("fn a() { 1", "1").contains("brackets"));
    }
}

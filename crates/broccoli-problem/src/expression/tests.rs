//! What expressions mean, and what is said of mistakes in them.

use super::*;
use proptest::prelude::*;

const NAMES: [&str; 3] = ["x", "y", "+2"];

fn holds(text: &str, values: [f64; 3]) -> bool {
    Condition::parse(text, &NAMES).unwrap_or_else(|error| panic!("{text}: {error}")).holds(&values)
}

#[test]
fn operators_bind_as_they_do_everywhere() {
    assert!(holds("1 + 2 * 3 == 7", [0.0; 3]));
    assert!(holds("(1 + 2) * 3 == 9", [0.0; 3]));
    assert!(holds("8 / 2 / 2 == 2 and 8 - 2 - 2 == 4", [0.0; 3]));
    assert!(holds("- 2 * - 3 == 6", [0.0; 3]));
    assert!(holds("x > 1 or x < 0 and y > 5", [2.0, 0.0, 0.0]));
    assert!(!holds("(x > 1 or x < 0) and y > 5", [2.0, 0.0, 0.0]));
    assert!(holds("not x > 1 and not (y == 1)", [0.0; 3]));
    assert!(holds("not not x == 0", [0.0; 3]));
    assert!(holds("max(x, y, 3) - min(1e0, 2) == 2", [0.0; 3]));
    assert!(holds("abs(x) <= 2.5e-1 and sqrt(y) == 3", [-0.25, 9.0, 0.0]));
    assert!(holds("`+2` >= 1_000", [0.0, 0.0, 1000.0]));
    assert!(holds("abs(x) > 12 * 2 * pi / 360", [0.21, 0.0, 0.0]));
}

#[test]
fn nan_satisfies_nothing_but_differs() {
    for sign in ["<", "<=", ">", ">=", "=="] {
        assert!(!holds(&format!("x {sign} x"), [f64::NAN; 3]));
    }
    assert!(holds("x != x", [f64::NAN; 3]));
    assert!(!holds("min(x, y) < 9 or max(y, x) > 0", [f64::NAN, 1.0, 0.0]));
}

#[test]
fn mistakes_are_named_and_placed() {
    for (text, message, place) in [
        ("", "the condition ends too early", 0..0),
        ("x", "this is a number", 0..1),
        ("x > ", "the condition ends too early", 4..4),
        ("x = 1", "`=` means nothing here; equality is `==`", 2..3),
        ("x > 1 && y > 1", "`&` means nothing here; write `and`", 6..7),
        ("0 < x < 1", "comparisons do not chain", 6..7),
        ("(x > 1", "a closing `)` is missing", 6..6),
        ("x > 1)", "an operator such as", 5..6),
        ("z > 1", "there is no observation \"z\"", 0..1),
        ("sin(x) > 1", "there is no function `sin`", 0..3),
        ("abs(x, y) > 1", "`abs` takes one value, not 2", 10..11),
        ("(x > 1) + 2 > 3", "this is a condition, not a number", 0..7),
        ("x and y > 1", "this is a number, not a condition", 0..1),
        ("not x", "this is a number, not a condition", 4..5),
        ("x > 1e999", "`1e999` is not a finite number", 4..9),
        ("x > 1.2.3", "`1.2.3` is not a finite number", 4..9),
        ("`x > 1", "a closing backquote is missing", 0..6),
    ] {
        let error = Condition::parse(text, &NAMES).unwrap_err();
        assert!(error.message.starts_with(message), "{text:?}: {}", error.message);
        assert_eq!(error.place, place, "{text:?}: {}", error.message);
    }
}

#[test]
fn nesting_ends_somewhere() {
    for open in ["(", "-", "not ", "abs("] {
        let error = Condition::parse(&open.repeat(100_000), &NAMES).unwrap_err();
        assert!(error.message.contains("nested more than"), "{open}: {}", error.message);
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in "[-xyz0-9.()<>=!+*/, eandortp`|é]{0,30}") {
        if let Err(error) = Condition::parse(&text, &NAMES) {
            prop_assert!(text.get(error.place.clone()).is_some(), "{:?}", error);
        }
    }
}

//! How two things that are written as JSON differ, in words.

use serde::Serialize;
use serde_json::Value;

use crate::names::visible;

/// The first difference between what was and what is: the place, then and now.
///
/// ```
/// use broccoli_export::difference::difference;
/// let (then, now) = (serde_json::json!({"horizon": 10, "depth": 2}), serde_json::json!({"horizon": 10, "depth": 3}));
/// assert_eq!(difference(&then, &now).unwrap(), "`depth` was 2, and now it is 3");
/// assert_eq!(difference(&then, &then), None);
/// ```
pub fn difference(then: &impl Serialize, now: &impl Serialize) -> Option<String> {
    differences(then, now).into_iter().next()
}

/// All differences, in the order of the places; of a list only the first.
pub fn differences(then: &impl Serialize, now: &impl Serialize) -> Vec<String> {
    let value = |of: Result<Value, serde_json::Error>| of.unwrap_or(Value::Null);
    let mut found = Vec::new();
    between("", &value(serde_json::to_value(then)), &value(serde_json::to_value(now)), &mut found);
    found
}

/// The differences at or below a place.
fn between(place: &str, then: &Value, now: &Value, found: &mut Vec<String>) {
    if then == now {
        return;
    }
    let name = if place.is_empty() { "all" } else { place };
    match (then, now) {
        (Value::Object(before), Value::Object(after)) => {
            let below = |key: &str| if place.is_empty() { key.to_owned() } else { format!("{place}.{key}") };
            let keys = before.keys().chain(after.keys().filter(|key| !before.contains_key(*key)));
            let of = |values: &serde_json::Map<String, Value>, key| {
                values.get(key).unwrap_or(&Value::Null).clone()
            };
            keys.for_each(|key| between(&below(key), &of(before, key), &of(after, key), found));
        }
        (Value::Array(before), Value::Array(after)) => {
            let first = before.iter().zip(after).position(|(then, now)| then != now);
            match first {
                Some(i) => between(&format!("{place}[{i}]"), &before[i], &after[i], found),
                None => {
                    let (then, now) = (before.len(), after.len());
                    found.push(format!("`{name}` had {then} entries, and now it has {now}"));
                }
            }
        }
        _ => {
            let (was, is) = shown(then, now);
            found.push(format!("`{name}` was {was}, and now it is {is}"));
        }
    }
}

/// How much of a value is shown, in characters, and how much of what is the same at its beginning.
const LONGEST: usize = 120;
const SAME: usize = 40;

/// Both values so that they can be told apart.
fn shown(then: &Value, now: &Value) -> (String, String) {
    let text = |value: &Value| match value {
        Value::Null => "not given".to_owned(),
        value => visible(&value.to_string()),
    };
    let (then, now) = (text(then), text(now));
    let same = then.chars().zip(now.chars()).take_while(|(then, now)| then == now).count();
    // Letters of two scripts can look alike.
    let next = |text: &str| text.chars().nth(same);
    let code = |c: Option<char>| {
        c.filter(|c| c.is_alphabetic()).map_or("another".to_owned(), |c| format!("U+{:04X}", u32::from(c)))
    };
    let is_strange = |c: Option<char>| c.is_some_and(|c| !c.is_ascii());
    let codes = is_strange(next(&then)) || is_strange(next(&now));
    let part = |text: &str| {
        let left_out = if same > LONGEST - SAME { same - SAME } else { 0 };
        let mut part: String = text.chars().skip(left_out).take(LONGEST).collect();
        if left_out > 0 {
            part.insert(0, '…');
        }
        if text.chars().count() > left_out + LONGEST {
            part.push('…');
        }
        if codes { format!("{part} (its character {} is {})", same, code(next(text))) } else { part }
    };
    (part(&then), part(&now))
}

#[cfg(test)]
mod tests {
    use super::{difference, differences};
    use serde_json::json;

    #[test]
    fn the_place_is_named() {
        let then = json!({"a": [{"b": [1, 2]}], "c": null, "d": "x"});
        for (now, what) in [
            (json!({"a": [{"b": [1, 3]}], "c": null, "d": "x"}), "`a[0].b[1]` was 2, and now it is 3"),
            (json!({"a": [{"b": [1, 2, 3]}], "d": "x"}), "`a[0].b` had 2 entries, and now it has 3"),
            (json!({"a": [{"b": [1, 2]}], "c": true, "d": "x"}), "`c` was not given, and now it is true"),
            (json!({"a": [{"b": [1, 2]}]}), "`d` was \"x\", and now it is not given"),
        ] {
            assert_eq!(difference(&then, &now).as_deref(), Some(what));
        }
    }

    #[test]
    fn all_places_are_named() {
        let (then, now) =
            (json!({"a": 1, "b": {"c": 2, "d": [3, 4]}}), json!({"a": 2, "b": {"c": 5, "d": [6, 7]}}));
        let expected =
            ["`a` was 1, and now it is 2", "`b.c` was 2, and now it is 5", "`b.d[0]` was 3, and now it is 6"];
        assert_eq!(differences(&then, &now), expected);
    }

    #[test]
    fn what_looks_alike_is_told_apart() {
        let long = "x >= 1 and ".repeat(30);
        let told = difference(&format!("{long}y"), &format!("{long}z")).expect("they differ");
        assert!(told.contains("and y\", and now it is …") && told.ends_with("and z\""), "{told}");
        let told = difference(&"speed", &"sp\u{435}ed").expect("they differ");
        assert!(told.contains("(its character 3 is U+0065)") && told.contains("U+0435"), "{told}");
    }
}

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
    let value = |of: Result<Value, serde_json::Error>| of.unwrap_or(Value::Null);
    between("", &value(serde_json::to_value(then)), &value(serde_json::to_value(now)))
}

/// The first difference at or below a place.
fn between(place: &str, then: &Value, now: &Value) -> Option<String> {
    if then == now {
        return None;
    }
    let name = if place.is_empty() { "all" } else { place };
    match (then, now) {
        (Value::Object(before), Value::Object(after)) => {
            let below = |key: &str| if place.is_empty() { key.to_owned() } else { format!("{place}.{key}") };
            let none = Value::Null;
            let keys = before.keys().chain(after.keys().filter(|key| !before.contains_key(*key)));
            keys.into_iter().find_map(|key| {
                let of = |values: &serde_json::Map<String, Value>| values.get(key).unwrap_or(&none).clone();
                between(&below(key), &of(before), &of(after))
            })
        }
        (Value::Array(before), Value::Array(after)) => {
            let mut pairs = before.iter().zip(after).zip(0..);
            let first = pairs.find_map(|((then, now), i)| between(&format!("{place}[{i}]"), then, now));
            first.or_else(|| {
                let (then, now) = (before.len(), after.len());
                Some(format!("`{name}` had {then} entries, and now it has {now}"))
            })
        }
        _ => Some(format!("`{name}` was {}, and now it is {}", shown(then), shown(now))),
    }
}

/// The longest value that is shown, in characters.
const LONGEST: usize = 120;

fn shown(value: &Value) -> String {
    let text = match value {
        Value::Null => return "not given".to_owned(),
        value => visible(&value.to_string()),
    };
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::difference;
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
}

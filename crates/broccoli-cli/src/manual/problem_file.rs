//! The reference of problem files, as Markdown: their JSON Schema in tables.

use std::fmt::Write;

use broccoli_problem::SCHEMA;
use serde_json::Value;

use crate::complaint::Complaint;

const HEAD: &str = "\
# Keys of problem files

<!-- Written by `cargo xtask book`. Edit crates/broccoli-problem/problem.schema.json instead. -->

This is the JSON Schema of problem files in tables; `broccoli init --schema` prints the schema itself.
[Problem files](../problem-files.md) explains what the keys are for.
";

/// The page.
pub fn page() -> Result<String, Complaint> {
    let schema: Value = serde_json::from_str(SCHEMA)
        .map_err(|error| Complaint::other(format!("the schema of problem files is not JSON: {error}")))?;
    let mut page = HEAD.to_owned();
    for (name, section) in properties(&schema) {
        // A list of tables, or one table.
        let table = section.get("items").unwrap_or(section);
        let heading = if table == section { format!("[{name}]") } else { format!("[[{name}]]") };
        let needed = if is_required(&schema, name) { " Required." } else { "" };
        let _ = writeln!(page, "\n## `{heading}`\n\n{}{needed}", description(section));
        if let Some(any) = table.get("additionalProperties").filter(|any| any.is_object()) {
            let _ = writeln!(page, "\nEach value: {}.", kind(&schema, any));
        }
        for (index, (key, value)) in properties(table).enumerate() {
            if index == 0 {
                page += "\n| key | value | meaning |\n|---|---|---|\n";
            }
            let needed = if is_required(table, key) { "; required" } else { "" };
            let _ = writeln!(page, "| `{key}` | {}{needed} | {} |", kind(&schema, value), description(value));
        }
    }
    Ok(page)
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

fn description(schema: &Value) -> &str {
    schema.get("description").and_then(Value::as_str).unwrap_or_default()
}

fn is_required(schema: &Value, key: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|required| required.iter().any(|name| name == key))
}

/// What a value may be, in words.
fn kind(root: &Value, schema: &Value) -> String {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        return root.pointer(name.trim_start_matches('#')).map_or(String::new(), |schema| kind(root, schema));
    }
    let list = |key: &str| schema.get(key).and_then(Value::as_array);
    let joined = |kinds: Vec<String>| kinds.join(" or ");
    if let Some(values) = list("enum") {
        return joined(values.iter().map(|value| format!("`{value}`")).collect());
    }
    let limits = |low, high| limits(schema, low, high);
    match schema.get("type").and_then(Value::as_str) {
        Some("array") => {
            let items = schema.get("items").map_or(String::new(), |schema| kind(root, schema));
            format!("list{} of {items}", limits("minItems", "maxItems"))
        }
        Some("object") => {
            let keys = properties(schema).map(|(key, value)| format!("`{key}`: {}", kind(root, value)));
            format!("table with {}", keys.collect::<Vec<_>>().join(", "))
        }
        Some("string") => "text".to_owned(),
        Some("boolean") => "`true` or `false`".to_owned(),
        Some("integer") => format!("whole number{}", limits("minimum", "maximum")),
        Some(other) => format!("{other}{}", limits("minimum", "maximum")),
        None => {
            let alternatives = list("oneOf").or(list("anyOf")).into_iter().flatten();
            joined(alternatives.map(|schema| kind(root, schema)).collect())
        }
    }
}

/// The limits of a number or of the length of a list.
fn limits(schema: &Value, low: &str, high: &str) -> String {
    let above = schema.get("exclusiveMinimum").map(|low| format!("above {low}"));
    let high = schema.get(high);
    match (schema.get(low), high) {
        (Some(low), Some(high)) if low == high => format!(" ({low})"),
        (Some(low), Some(high)) => format!(" ({low} to {high})"),
        (Some(low), None) => format!(" ({low} or more)"),
        (None, _) => {
            let limits: Vec<String> =
                above.into_iter().chain(high.map(|high| format!("at most {high}"))).collect();
            if limits.is_empty() { String::new() } else { format!(" ({})", limits.join(", ")) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_described() {
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        for (name, section) in properties(&schema) {
            assert_ne!(description(section), "", "[{name}] has no description in the schema");
            for (key, value) in properties(section.get("items").unwrap_or(section)) {
                assert_ne!(description(value), "", "{key} in [{name}] has no description in the schema");
            }
        }
    }

    #[test]
    fn values_are_put_into_words() {
        let kind = |text: &str| kind(&Value::Null, &serde_json::from_str(text).unwrap());
        assert_eq!(kind(r#"{"type": "integer", "minimum": 0, "maximum": 16}"#), "whole number (0 to 16)");
        assert_eq!(kind(r#"{"enum": ["a", "b"]}"#), r#"`"a"` or `"b"`"#);
        let pair = r#"{"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "number"}}"#;
        assert_eq!(kind(pair), "list (2) of number");
        let share = r#"{"type": "number", "exclusiveMinimum": 0, "maximum": 1}"#;
        assert_eq!(kind(share), "number (above 0, at most 1)");
    }
}

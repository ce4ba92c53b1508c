//! Rust: one function and two constants, without the standard library.

use super::{Program, Syntax, commented, decimal, statements};

const SYNTAX: Syntax = Syntax {
    test: "if {x} >= {t} {",
    otherwise: "} else {",
    end: Some("}"),
    answer: |action| action.to_string(),
};

/// The program in Rust.
pub fn rust(program: &Program<f64>) -> String {
    let count = program.action_names.len();
    let names: Vec<String> = program.action_names.iter().map(|name| string(name)).collect();
    let values: Vec<String> = program.action_values.iter().map(decimal).collect();
    let mut text = commented(program, "//");
    text += "\n/// The names of the actions.\n";
    text += &format!("pub const ACTION_NAMES: [&str; {count}] = [{}];\n", names.join(", "));
    text += "\n/// The values that the system is given.\n";
    text += &format!("pub const ACTION_VALUES: [f64; {count}] = [{}];\n", values.join(", "));
    text += "\n/// The index of the action for the observation `x`.\n#[rustfmt::skip]\n";
    let x = if program.inputs.iter().any(|input| input.used) { "x" } else { "_" };
    text += &format!("pub fn policy({x}: &[f64; {}]) -> usize {{\n", program.inputs.len());
    for (i, input) in program.inputs.iter().enumerate().filter(|(_, input)| input.used) {
        text += &format!("    let {} = x[{i}];\n", input.identifier);
    }
    text + &statements(program, &program.root, &SYNTAX, &decimal, 1) + "}\n"
}

/// A string literal.
fn string(text: &str) -> String {
    let mut literal = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => literal.extend(['\\', c]),
            c if c == ' ' || c.is_ascii_graphic() || c.is_alphanumeric() => literal.push(c),
            c => literal += &format!("\\u{{{:x}}}", c as u32),
        }
    }
    literal + "\""
}

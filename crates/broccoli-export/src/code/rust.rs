//! Rust: one function and two constants; without the standard library, unless a feature needs it.

use broccoli_expression::Function;

use super::features::Arithmetic;
use super::{Feature, Program, Syntax, commented, decimal, statements};

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
    let arithmetic = Arithmetic { inputs: &program.inputs, function, quotient: None };
    for Feature { identifier, expression, .. } in program.used_features() {
        text += &format!("    let {identifier} = {};\n", expression.write(&arithmetic));
    }
    text + &statements(program, &program.root, &SYNTAX, &decimal, 1) + "}\n" + &helpers(program)
}

fn function(function: Function) -> &'static str {
    match function {
        Function::Abs => "f64::abs",
        Function::Atan2 => "f64::atan2",
        Function::Cos => "f64::cos",
        Function::Exp => "f64::exp",
        Function::Ln => "f64::ln",
        Function::Max => "maximum",
        Function::Min => "minimum",
        Function::Sin => "f64::sin",
        Function::Sqrt => "f64::sqrt",
        Function::Tan => "f64::tan",
    }
}

/// Functions of our own; a NaN stays one.
fn helpers(program: &Program<f64>) -> String {
    let mut text = String::new();
    for (which, name, sign) in [(Function::Min, "minimum", '<'), (Function::Max, "maximum", '>')] {
        if program.calls(Some(which)) {
            text += &format!(
                "\nfn {name}(a: f64, b: f64) -> f64 {{\n    \
                 if b {sign} a || b.is_nan() {{ b }} else {{ a }}\n}}\n"
            );
        }
    }
    if program.calls(None) {
        text += "\nfn power(base: f64, exponent: u32) -> f64 {\n    \
                 (0..exponent).fold(1.0, |product, _| product * base)\n}\n";
    }
    text
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
